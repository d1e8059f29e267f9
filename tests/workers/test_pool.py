"""Pools of workers: no user takes the places of others, and every worker ends."""

from __future__ import annotations

import signal
import threading
import time
from math import inf
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
from helpers.processes import PATIENCE, eventually
from helpers.properties import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bpeviz.pretokenizers import expressions
from bpeviz.workers import child, pool
from bpeviz.workers.child import Child, EndedError, StartError
from bpeviz.workers.pool import BusyError, Places, Pool, Request


class Fake:
    """A worker without a process; `kill` ends its work."""

    def __init__(self, key: object = None) -> None:
        self.killed = threading.Event()
        self.process = SimpleNamespace(kill=self.killed.set, poll=lambda: None)
        self.deadline, self.memory = inf, inf
        self.began = time.monotonic()
        self.is_slow = self.ended = False

    def resident(self) -> int:
        return 0

    def spent(self) -> float:
        return time.monotonic() - self.began

    def lower_priority(self) -> None:
        self.is_slow = True

    def overdue(self) -> TimeoutError:
        return TimeoutError()

    def end(self) -> int:
        self.ended = True
        return -9

    def failure(self) -> Exception:
        return EndedError(self.end())


def fakes(places: int, share: int, **more: Any) -> Pool:
    return Pool(Fake, Places(places, share), **more)


class Work:
    """A request in a thread, which works until `leave` is called or its worker is killed."""

    def __init__(self, pool: Pool, user: str, *, slow: bool = False) -> None:
        self.pool, self.request = pool, Request(user, slow=slow)
        self.served, self.leaving = threading.Event(), threading.Event()
        self.error: Exception | None = None
        self.child: Any = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        eventually(lambda: self.served.is_set() or self.waits or not self.thread.is_alive())

    @property
    def waits(self) -> bool:
        with self.pool._lock:  # a request that does not wait is in the list for a moment
            return self.request in self.pool._waiting

    def run(self) -> None:
        try:
            with self.pool.worker(self.request) as self.child:
                self.served.set()
                while not self.leaving.wait(0.002):
                    if self.child.killed.is_set():
                        raise BrokenPipeError
        except Exception as error:
            self.error = error

    def leave(self) -> None:
        self.leaving.set()
        self.thread.join(PATIENCE)


def test_program_has_no_users_and_no_shares() -> None:
    full = fakes(3, 1, patience=0.001)
    held = [Work(full, "") for _ in range(3)]
    with pytest.raises(BusyError) as busy, full.worker(Request("")):
        pass
    assert not busy.value.own
    for one in held:
        one.leave()


def test_user_with_the_whole_share_does_not_get_another_place() -> None:
    shared = fakes(4, 2, patience=0.001)
    held = [Work(shared, user) for user in ("a", "a", "b")]
    with pytest.raises(BusyError) as own, shared.worker(Request("a")):
        pass
    assert own.value.own
    with pytest.raises(BusyError) as last, shared.worker(Request("b")):
        pass
    assert not last.value.own  # the last place is for those who have none
    with shared.worker(Request("c")):
        pass
    for one in held:
        one.leave()


def test_free_place_goes_to_the_user_with_the_fewest_places_and_users_alternate() -> None:
    one = fakes(1, 1)
    working = Work(one, "a")
    waiting = [Work(one, user) for user in ("b", "b", "c", "b")]
    order = []
    while any(other.waits for other in waiting):
        working.leave()
        (working,) = [other for other in waiting if not other.waits and other not in order]
        assert working.served.wait(PATIENCE)
        order.append(working)
    working.leave()
    assert [waiting.index(other) for other in order] == [0, 2, 1, 3]


@settings(max_examples=examples(60))
@given(
    st.integers(1, 4),
    st.integers(1, 3),
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["", "a", "b", "c"]), st.booleans()),
        max_size=25,
    ),
)
def test_places_and_shares_are_never_exceeded_and_no_place_stays_free(
    places: int, share: int, actions: list[tuple[int, str, bool]]
) -> None:
    shared = fakes(places, share, slow=Places(2))
    works: list[Work] = []

    def check() -> None:
        for slow, most, own in ((False, places, share), (True, 2, 1)):
            running = [one.user for one in shared._running if one.slow == slow]
            assert len(running) <= most
            for user in {*running} - {""}:
                assert running.count(user) <= own
            for one in shared._waiting:
                if one.slow == slow and one.user not in running:
                    assert len(running) == most

    for leaves, user, slow in actions:
        if leaves and (served := [one for one in works if not one.waits]):
            left = served[leaves % len(served)]
            left.leave()
            works.remove(left)
        else:
            works.append(Work(shared, user, slow=slow))
        check()
    while works:
        next(one for one in works if not one.waits).leave()
        works = [one for one in works if one.thread.is_alive()]
        check()
    assert not shared._running
    assert not shared._waiting
    assert len(shared._idle) <= places + 2


def test_slow_request_leaves_the_last_idle_worker_to_quick_ones() -> None:
    shared = fakes(1, 1, slow=Places(2))
    shared.spares = 2
    shared.start_spare()
    shared.start_spare()
    first, second = (child for _, child in shared._idle)
    shared.spares = 0
    with shared.worker(Request("a", slow=True)) as slow:
        assert slow is first
        with shared.worker(Request("b", slow=True)) as other:
            assert other not in (first, second)
            with shared.worker(Request("c")) as quick:
                assert quick is second


def test_slow_request_moves_to_a_place_for_slow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0.01)
    shared = fakes(1, 1, slow=Places(1), slow_after=0.01)
    slow = Work(shared, "a")
    eventually(lambda: slow.request.slow)
    assert slow.child.is_slow
    quick = Work(shared, "b")
    assert quick.served.is_set()
    eventually(lambda: monotonic_passed(quick))
    assert quick.error is None  # nobody needs its place
    third = Work(shared, "c")
    eventually(third.served.is_set)
    assert isinstance(quick.error, BusyError)
    assert not quick.error.own
    slow.leave()
    third.leave()
    assert slow.child.ended  # a worker of low priority is not reused
    assert not third.child.ended


def monotonic_passed(work: Work) -> bool:
    return work.child.spent() > 0.1


def test_slow_request_beside_another_one_of_its_user_is_stopped_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0.01)
    shared = fakes(2, 2, slow=Places(1), slow_after=0.01)
    first = Work(shared, "a")
    eventually(lambda: first.request.slow)
    second = Work(shared, "a")
    other = Work(shared, "b")
    third = Work(shared, "c")
    eventually(lambda: third.served.is_set())
    (stopped,) = [one for one in (second, other) if one.error is not None]
    assert stopped.error.own == (stopped is second)
    for one in (first, second, other, third):
        one.leave()


def test_waiting_slow_requests_are_limited() -> None:
    shared = fakes(1, 1, slow=Places(1, waiting=2, own_waiting=1))
    held = [Work(shared, user, slow=True) for user in "aba"]
    own, full = Work(shared, "b", slow=True), Work(shared, "c", slow=True)
    assert own.error.own
    assert not full.error.own
    assert [shared.ahead(one.request) for one in held] == [0, 1, 2]
    for one in held:
        shared.stop(one.request, TimeoutError("stopped"))
    eventually(lambda: not any(one.thread.is_alive() for one in held))
    assert {str(one.error) for one in held} == {"stopped"}
    assert not shared._running


def test_idle_worker_whose_deadline_has_passed_is_not_stopped() -> None:
    quick = fakes(1, 1)
    with quick.worker(Request()) as first:
        first.deadline = 0.0
    for _ in range(2):
        with quick.worker(Request()) as worker:
            time.sleep(0.1)  # before the request has a deadline of its own
            assert cast(Any, worker) is first
            assert not cast(Any, worker).killed.is_set()


def test_deadline_and_memory_limit_stop_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(pool, "WATCHED", True)
    shared = fakes(2, 2)
    late, large = Work(shared, "a"), Work(shared, "b")
    late.child.deadline = 0.0
    large.child.memory = -1
    eventually(lambda: late.error is not None and large.error is not None)
    assert type(late.error) is TimeoutError
    assert type(large.error) is MemoryError


def test_only_its_own_work_counts_as_time_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_START", 0.05)
    monkeypatch.setattr(child, "_RUN", "import time; time.sleep(60)")
    slow = Pool(lambda key: Child("nothing", __file__), Places(1))
    with pytest.raises(StartError, match="did not start"), slow.worker(Request("")) as worker:
        worker.ask(0, seconds=0.01, memory=0)


def test_request_on_a_busy_machine_is_not_said_to_be_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "LEAST", 0.2)

    def ask_stopped() -> None:
        with expressions._pool.worker(Request("")) as worker:
            worker.process.send_signal(signal.SIGSTOP)
            worker.ask(0, b"a", b"a", seconds=1, memory=1 << 26, clock=0.1)

    expressions.run(0, "a", "a", 10.0, "")  # the worker has started
    with pytest.raises(StartError, match="is busy"):
        ask_stopped()


def test_spare_worker_replaces_one_that_works_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0.01)
    shared = fakes(1, 1, slow=Places(1), slow_after=0.01)
    shared.spares = 1
    shared.start_spare()
    ((_, spare),) = shared._idle
    long = Work(shared, "a")
    assert long.child is spare
    eventually(lambda: len(shared._idle) == 1)
    next_one = Work(shared, "b")
    assert next_one.child is not spare
    for one in (long, next_one):
        one.leave()
    shared.close()
    assert not shared._idle


def test_reason_of_a_failure_is_the_error_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failure(code: int) -> Exception:
        ended = SimpleNamespace(end=lambda: code, _ready=True)
        return Child.failure(cast(Child, ended))

    assert isinstance(failure(child._OUT_OF_TIME), child.OvertimeError)
    assert isinstance(failure(child._OUT_OF_TIME + 1), EndedError)
    for error, reason in (
        (OSError("no place"), "no place"),
        (OSError(12, "no memory"), "no memory"),
    ):
        monkeypatch.setattr("subprocess.Popen", Mock(side_effect=error))
        with pytest.raises(StartError, match=f"^{reason}"):
            Child("nothing")


def test_worker_that_cannot_start_is_a_transient_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    missing = Pool(lambda key: Child("nothing"), Places(1))
    with pytest.raises(StartError, match="No such file"), missing.worker(Request("")):
        pass
    monkeypatch.undo()
    ends = Pool(lambda key: Child("nothing", __file__), Places(1))
    with pytest.raises(StartError, match="did not start"), ends.worker(Request("")) as child:
        child.ask(0, seconds=1.0, memory=0)

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    shared = fakes(1, 1)
    with pytest.raises(StartError, match="thread"), shared.worker(Request("")):
        pass
    assert not shared._running
