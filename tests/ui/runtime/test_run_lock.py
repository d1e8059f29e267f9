"""The run lock: one page runs at a time, and a slow one does not block the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Barrier, Event, Lock

import pytest

from bpeviz.pretokenizers import sandbox
from bpeviz.ui.runtime import fragments, run_lock

WAIT = 20.0
"""Seconds within which a busy machine does what takes no time."""

Elsewhere = Callable[[Callable[[], bool]], Future[bool]]


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with ThreadPoolExecutor() as pool:
        yield pool.submit


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the lock never expire."""
    monkeypatch.setattr(run_lock, "PATIENCE", 10 * WAIT)


def acquires() -> bool:
    with run_lock.hold():
        return True


def served(
    elsewhere: Elsewhere, names: list[str], hold: Callable[[str], AbstractContextManager[None]]
) -> list[str]:
    """Return the order in which runs get the lock that wait for it in the order of `names`."""
    order: list[str] = []

    def page(name: str) -> bool:
        with hold(name):
            order.append(name)
        return True

    with run_lock.hold():
        waiting = []
        for name in names:
            waiting.append(elsewhere(lambda name=name: page(name)))
            while len(run_lock._short._waiting) < len(waiting):
                time.sleep(0.001)
        time.sleep(0.01)  # this user holds the lock for some time
    assert all(one.result(WAIT) for one in waiting)
    return order


def assert_blocked(waiting: Future[bool]) -> None:
    with pytest.raises(TimeoutError):
        waiting.result(0.05)


@pytest.mark.parametrize("patience", [WAIT, 0.0])
def test_run_lock_serializes_page_runs(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    monkeypatch.setattr(run_lock, "PATIENCE", patience)
    alone = Lock()
    together = Event()
    begin = Barrier(4)

    def page() -> bool:
        begin.wait(WAIT)
        for _ in range(200):
            with run_lock.hold(), run_lock.hold():  # a page and its fragment
                if not alone.acquire(blocking=False):
                    together.set()
                    continue
                together.wait(0.0001)
                alone.release()
        return True

    assert all(one.result(WAIT) for one in [elsewhere(page) for _ in range(4)])
    assert together.is_set() == (not patience)  # without patience the overlap is visible


def test_slow_run_loses_the_lock_to_one_other_run(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lock, "PATIENCE", 0.01)
    started, go_on = Event(), Event()

    def second() -> bool:
        with run_lock.hold():
            monkeypatch.setattr(run_lock, "PATIENCE", WAIT)
            started.set()
            return go_on.wait(WAIT)

    with run_lock.hold():
        waiting = elsewhere(second)
        assert started.wait(WAIT)
    # The first run released a lock that it had lost: the second one still holds it.
    third = elsewhere(acquires)
    assert_blocked(third)
    go_on.set()
    assert waiting.result(WAIT)
    assert third.result(WAIT)


@pytest.mark.usefixtures("patient")
def test_released_lets_others_run_and_takes_the_lock_again(elsewhere: Elsewhere) -> None:
    with run_lock.hold():
        with run_lock.released():
            assert elsewhere(acquires).result(WAIT)
        blocked = elsewhere(acquires)
        assert_blocked(blocked)
    assert blocked.result(WAIT)
    with run_lock.released():  # without a lock this does nothing
        assert elsewhere(acquires).result(WAIT)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("block", [run_lock.released, run_lock.training])
def test_run_takes_its_lock_again_after_an_error_but_not_after_a_stop(
    elsewhere: Elsewhere, block: Callable[[], AbstractContextManager[None]]
) -> None:
    class Stop(BaseException):
        """Like Streamlit's exception that stops a script run."""

    with run_lock.hold():
        with pytest.raises(ZeroDivisionError), block():
            _ = 1 / 0
        blocked = elsewhere(acquires)
        assert_blocked(blocked)
    assert blocked.result(WAIT)
    with run_lock.hold():
        with pytest.raises(Stop), block():
            raise Stop
        assert elsewhere(acquires).result(WAIT)


@pytest.mark.usefixtures("patient")
def test_runs_on_long_texts_wait_only_for_each_other(elsewhere: Elsewhere) -> None:
    def long() -> bool:
        with run_lock.hold(long=True):
            return True

    with run_lock.hold():
        blocked = elsewhere(acquires)
        assert_blocked(blocked)
        assert elsewhere(long).result(WAIT)
        run_lock.text_is_long()
        assert blocked.result(WAIT)
        waiting = elsewhere(long)
        assert_blocked(waiting)
        with run_lock.released():
            assert waiting.result(WAIT)
        waiting = elsewhere(long)
        assert_blocked(waiting)
    assert waiting.result(WAIT)


@pytest.mark.usefixtures("patient")
def test_short_trainings_wait_only_for_each_other(elsewhere: Elsewhere) -> None:
    def train() -> bool:
        with run_lock.hold(), run_lock.training(), run_lock.training():
            return True

    with run_lock.hold():
        with run_lock.training():
            assert elsewhere(acquires).result(WAIT)
            waiting = elsewhere(train)
            assert_blocked(waiting)
        assert_blocked(waiting)
        blocked = elsewhere(acquires)
        assert_blocked(blocked)
    assert waiting.result(WAIT)
    assert blocked.result(WAIT)
    with run_lock.training():  # without a lock this does nothing
        assert elsewhere(train).result(WAIT)


@pytest.mark.usefixtures("patient")
def test_run_keeps_its_turn_when_it_takes_a_lock_again(elsewhere: Elsewhere) -> None:
    order = []

    def trains() -> bool:
        with run_lock.hold():
            with run_lock.training():
                began.set()
                assert queued.wait(WAIT)
            order.append("first")
        return True

    def comes_later() -> bool:
        with run_lock.hold():
            order.append("later")
        return True

    run_lock._short._durations.clear()
    began, queued = Event(), Event()
    first = elsewhere(trains)
    assert began.wait(WAIT)
    with run_lock.hold():
        later = elsewhere(comes_later)
        while len(run_lock._short._waiting) < 1:
            time.sleep(0.001)
        queued.set()
        while len(run_lock._short._waiting) < 2:
            time.sleep(0.001)
    assert first.result(WAIT)
    assert later.result(WAIT)
    assert order == ["first", "later"]


@pytest.mark.usefixtures("patient")
def test_long_text_moves_this_run_and_the_next_ones(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments.st, "session_state", {})
    with fragments.script_run():
        fragments.text_has(fragments.LONG_TEXT)
        blocked = elsewhere(acquires)
        assert_blocked(blocked)
        fragments.text_has(fragments.LONG_TEXT + 1)
        assert blocked.result(WAIT)
    with fragments.script_run():
        assert elsewhere(acquires).result(WAIT)
        fragments.page_begins()
    with fragments.script_run():
        assert_blocked(blocked := elsewhere(acquires))
    assert blocked.result(WAIT)


@pytest.mark.usefixtures("patient")
def test_others_run_while_cached_values_are_measured(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[bool] = []
    monkeypatch.setattr(
        fragments.cache, "measure_if_due", lambda: found.append(elsewhere(acquires).result(WAIT))
    )
    with fragments.script_run(), fragments.script_run():  # a page and its fragment
        pass
    assert found == [True]


@pytest.mark.usefixtures("patient")
def test_failed_run_releases_the_lock(elsewhere: Elsewhere) -> None:
    with pytest.raises(ZeroDivisionError), run_lock.hold():
        _ = 1 / 0
    assert elsewhere(acquires).result(WAIT)


@pytest.mark.slow
def test_slow_regular_expression_releases_the_lock(elsewhere: Elsewhere, patient: None) -> None:
    began = Event()

    def page() -> bool:
        with run_lock.hold():
            began.set()
            with pytest.raises(TimeoutError):
                sandbox.ends("((){50000})", "a slow one", 3.0)
            return not elsewhere_held.is_set()

    elsewhere_held = Event()
    slow = elsewhere(page)
    assert began.wait(WAIT)
    with run_lock.hold():
        assert not slow.done()  # it still waits for its child
        elsewhere_held.set()
        assert_blocked(slow)
        elsewhere_held.clear()
    assert slow.result(WAIT)


@pytest.mark.parametrize(
    ("head_start", "expected"),
    [(10 * WAIT, ["short", "short", "long", "long"]), (0.0, ["long", "short", "long", "short"])],
)
def test_short_runs_come_first_unless_a_long_one_has_waited(
    elsewhere: Elsewhere,
    patient: None,
    monkeypatch: pytest.MonkeyPatch,
    head_start: float,
    expected: list[str],
) -> None:
    monkeypatch.setattr(run_lock, "_HEAD_START", head_start)
    monkeypatch.setattr(run_lock, "_LITTLE", WAIT)
    lock = run_lock._RunLock()
    monkeypatch.setattr(run_lock, "_short", lock)
    lock._durations.update(long=0.05, short=0.01)
    kinds = ["long", "short", "long", "short"]
    assert served(elsewhere, kinds, lambda kind: run_lock.hold(kind)) == expected


@pytest.mark.usefixtures("patient")
def test_usual_duration_follows_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(run_lock, "monotonic", lambda: now[0])
    lock = run_lock._RunLock()
    monkeypatch.setattr(run_lock, "_short", lock)
    for seconds in (*[2.0] * 5, *[1.0] * 50):
        with run_lock.hold("page"):
            now[0] += seconds
        if now[0] == 10:
            assert lock._durations == {"page": pytest.approx(2)}
    assert lock._durations["page"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("little", "expected"),
    [
        (0.0, ["second", "first", "first", "first"]),
        (WAIT, ["first", "first", "second", "first"]),
    ],
)
def test_user_who_held_the_lock_for_long_waits_for_others(
    elsewhere: Elsewhere,
    patient: None,
    monkeypatch: pytest.MonkeyPatch,
    little: float,
    expected: list[str],
) -> None:
    """Six tabs of one user wait for each other; the run of another user comes before them."""
    monkeypatch.setattr(run_lock, "_LITTLE", little)
    names = threading.local()
    monkeypatch.setattr(run_lock.users, "current", lambda: getattr(names, "user", "first"))
    monkeypatch.setattr(run_lock, "_short", run_lock._RunLock())

    def hold(user: str) -> AbstractContextManager[None]:
        names.user = user
        return run_lock.hold()

    assert served(elsewhere, ["first", "first", "second", "first"], hold) == expected


def test_time_that_a_user_held_the_lock_fades(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(run_lock, "monotonic", lambda: clock[0])
    lock = run_lock._RunLock()
    run = run_lock._Run("a", "page", lock)
    lock.acquire(run)
    clock[0] = 0.8
    lock.release(run)
    recent = lock._accounts.used
    assert recent("a", clock[0]) == 0.8
    assert recent("a", clock[0] + run_lock._HALF_LIFE) == 0.4
    assert recent("a", clock[0] + 21 * run_lock._HALF_LIFE) < 1e-6
    assert recent("b", clock[0]) == 0.0


def test_time_with_either_lock_counts_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(run_lock, "monotonic", lambda: clock[0])
    short = run_lock._RunLock()
    long = run_lock._RunLock(short)
    for lock in (short, long):
        run = run_lock._Run("a", "page", lock)
        lock.acquire(run)
        clock[0] += 1.0
        lock.release(run)
    assert short._excess(run) == long._excess(run) > 1.0
    assert run_lock._long._accounts is run_lock._short._accounts
