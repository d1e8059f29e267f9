"""One page is computed at a time, and a slow one does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Event, Lock

import pytest

from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.run_lock import turn

WAIT = 20.0
"""Seconds for what comes at once, on a machine that is busy."""

Elsewhere = Callable[[Callable[[], bool]], Future[bool]]


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with ThreadPoolExecutor() as pool:
        yield pool.submit


def comes() -> bool:
    with turn():
        return True


@pytest.mark.parametrize("patience", [WAIT, 0.0])
def test_pages_are_computed_one_at_a_time(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    monkeypatch.setattr(run_lock, "PATIENCE", patience)
    alone = Lock()
    together = Event()
    begin = Barrier(4)

    def page() -> bool:
        begin.wait(WAIT)
        for _ in range(200):
            with turn(), turn():  # the page, and a part of it
                if not alone.acquire(blocking=False):
                    together.set()
                    continue
                together.wait(0.0001)
                alone.release()
        return True

    assert all(one.result(WAIT) for one in [elsewhere(page) for _ in range(4)])
    assert together.is_set() == (not patience)  # without patience they are not: it can be seen


def test_a_slow_page_loses_its_turn_to_one_other(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lock, "PATIENCE", 0.01)
    came, goes_on = Event(), Event()

    def second() -> bool:
        with turn():
            monkeypatch.setattr(run_lock, "PATIENCE", WAIT)
            came.set()
            return goes_on.wait(WAIT)

    with turn():
        waiting = elsewhere(second)
        assert came.wait(WAIT)
    # The first one has left a turn that it had no longer: the second one still has it.
    third = elsewhere(comes)
    with pytest.raises(TimeoutError):
        third.result(0.05)
    goes_on.set()
    assert waiting.result(WAIT)
    assert third.result(WAIT)


def test_who_waits_for_something_gives_up_the_turn(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lock, "PATIENCE", 10 * WAIT)
    with turn():
        run_lock.give_up()
        run_lock.give_up()  # once more is no harm
        with turn():
            assert elsewhere(comes).result(WAIT)
    run_lock.give_up()  # nor without a turn


def test_a_page_that_fails_leaves_the_turn(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lock, "PATIENCE", 10 * WAIT)
    with pytest.raises(ZeroDivisionError), turn():
        _ = 1 / 0
    assert elsewhere(comes).result(WAIT)
