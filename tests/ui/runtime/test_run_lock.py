"""The run lock: one page runs at a time, and a slow one does not block the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Event, Lock

import pytest

from bpeviz import context
from bpeviz.pretokenizers import expressions
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.cache import Cache

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
    monkeypatch.setattr(run_lock, "LOCK_SECONDS", 10 * WAIT)


def acquires() -> bool:
    with run_lock.hold():
        return True


def served(elsewhere: Elsewhere, users: list[str]) -> list[int]:
    """Return the order of the runs of these users, which wait for the run of user "a"."""
    order: list[int] = []

    def page(number: int) -> bool:
        names.user = users[number]
        with run_lock.hold():
            order.append(number)
        return True

    names.user = "a"
    with run_lock.hold():
        waiting = []
        for number in range(len(users)):
            waiting.append(elsewhere(lambda number=number: page(number)))
            while len(run_lock._pages._waiting) < len(waiting):
                time.sleep(0.001)
    assert all(one.result(WAIT) for one in waiting)
    return order


names = threading.local()


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the users of threads."""
    user = context.Context(lambda: getattr(names, "user", ""), run_lock.released)
    monkeypatch.setattr(context, "_current", user)


def assert_blocked(waiting: Future[bool]) -> None:
    with pytest.raises(TimeoutError):
        waiting.result(0.05)


@pytest.mark.parametrize("patience", [WAIT, 0.0])
def test_run_lock_serializes_page_runs(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    monkeypatch.setattr(run_lock, "LOCK_SECONDS", patience)
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
    monkeypatch.setattr(run_lock, "LOCK_SECONDS", 0.01)
    started, go_on = Event(), Event()

    def second() -> bool:
        with run_lock.hold():
            monkeypatch.setattr(run_lock, "LOCK_SECONDS", WAIT)
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
def test_run_takes_its_lock_again_after_an_error_but_not_after_a_stop(
    elsewhere: Elsewhere,
) -> None:
    class Stop(BaseException):
        """Like Streamlit's exception that stops a script run."""

    with run_lock.hold():
        with pytest.raises(ZeroDivisionError), run_lock.released():
            _ = 1 / 0
        blocked = elsewhere(acquires)
        assert_blocked(blocked)
    assert blocked.result(WAIT)
    with run_lock.hold():
        with pytest.raises(Stop), run_lock.released():
            raise Stop
        assert elsewhere(acquires).result(WAIT)


@pytest.mark.usefixtures("patient")
def test_run_keeps_its_turn_when_it_takes_a_lock_again(elsewhere: Elsewhere) -> None:
    order = []

    def trains() -> bool:
        with run_lock.hold():
            with run_lock.released():
                began.set()
                assert queued.wait(WAIT)
            order.append("first")
        return True

    def comes_later() -> bool:
        with run_lock.hold():
            order.append("later")
        return True

    began, queued = Event(), Event()
    first = elsewhere(trains)
    assert began.wait(WAIT)
    with run_lock.hold():
        later = elsewhere(comes_later)
        while len(run_lock._pages._waiting) < 1:
            time.sleep(0.001)
        queued.set()
        while len(run_lock._pages._waiting) < 2:
            time.sleep(0.001)
    assert first.result(WAIT)
    assert later.result(WAIT)
    assert order == ["first", "later"]


@pytest.mark.usefixtures("patient")
def test_run_that_waits_for_the_value_of_another_run_holds_no_lock(elsewhere: Elsewhere) -> None:
    cache = Cache(1_000)
    began, waits = Event(), Event()

    def slow() -> str:
        with run_lock.released():  # as a run that waits for a worker
            began.set()
            assert waits.wait(WAIT)
        return "value"

    def page() -> bool:
        with run_lock.hold():
            return cache.get_or_create("key", slow) == "value"

    first = elsewhere(page)
    assert began.wait(WAIT)
    second = elsewhere(page)
    while cache._creating["key"][1] != [2]:
        time.sleep(0.001)
    waits.set()  # now the first run takes the lock again, while it creates the value
    assert first.result(WAIT)
    assert second.result(WAIT)
    assert elsewhere(acquires).result(WAIT)


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
                expressions.ends("((){50000})", "a slow one", 1.0)
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


@pytest.mark.usefixtures("patient", "named")
@pytest.mark.parametrize(
    ("users", "expected"),
    [
        ("bcde", [0, 1, 2, 3]),
        ("aaba", [2, 0, 1, 3]),
        ("aabab", [2, 0, 4, 1, 3]),
        ("", []),
    ],
)
def test_runs_are_served_in_order_but_not_two_of_a_user_before_others(
    elsewhere: Elsewhere, users: str, expected: list[int]
) -> None:
    assert served(elsewhere, [*users]) == expected
