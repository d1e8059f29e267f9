"""One page is computed at a time, and none waits for long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from bpeviz.ui import turns
from bpeviz.ui.turns import turn

WAIT = 20.0


@pytest.fixture
def elsewhere() -> Iterator[Callable[[Callable[[], bool]], Future[bool]]]:
    with ThreadPoolExecutor() as pool:
        yield pool.submit


Elsewhere = Callable[[Callable[[], bool]], Future[bool]]


def comes() -> bool:
    """Take the turn and leave it; tell whether it was had."""
    with turn():
        return turns._mine.has


def test_pages_are_computed_one_at_a_time(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "PATIENCE", WAIT)
    together, most = [0], [0]
    begin = Barrier(4)

    def page() -> bool:
        begin.wait(WAIT)
        for _ in range(200):
            with turn():
                together[0] += 1
                most[0] = max(most[0], together[0])
                with turn():  # a part of the page
                    assert turns._mine.has
                together[0] -= 1
        return True

    assert all(one.result(WAIT) for one in [elsewhere(page) for _ in range(4)])
    assert most[0] == 1


def test_nobody_waits_for_a_slow_page_for_long(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 0.01)
    with turn():
        assert not elsewhere(comes).result(WAIT)  # it came without
        assert turns._mine.has
    assert elsewhere(comes).result(WAIT)


def test_who_waits_for_something_gives_up_the_turn(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "PATIENCE", WAIT)
    goes_on = Event()

    def slow() -> bool:
        with turn():
            turns.give_up()
            turns.give_up()  # once more is no harm
            with turn():
                return goes_on.wait(WAIT) and not turns._mine.has

    waiting = elsewhere(slow)
    assert elsewhere(comes).result(WAIT)
    goes_on.set()
    assert waiting.result(WAIT)


def test_a_page_that_fails_leaves_the_turn(elsewhere: Elsewhere) -> None:
    with pytest.raises(ZeroDivisionError), turn():
        _ = 1 / 0
    assert elsewhere(comes).result(WAIT)
    assert comes()
