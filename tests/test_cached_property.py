"""Tests of `bpeviz.cached_property`."""

from __future__ import annotations

from threading import Barrier, Event, Thread

from bpeviz.cached_property import cached_property


class Slow:
    """An object whose value is computed when an event allows it."""

    def __init__(self) -> None:
        self.begun, self.allowed = Event(), Event()
        self.computed = 0

    @cached_property
    def value(self) -> list[int]:
        """The value."""
        self.computed += 1
        self.begun.set()
        assert self.allowed.wait(10)
        return [self.computed]


def test_other_object_does_not_wait_for_one_that_is_computing() -> None:
    slow, other = Slow(), Slow()
    thread = Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(10)
    other.allowed.set()
    assert other.value == [1]  # it would wait for `slow` forever
    slow.allowed.set()
    thread.join(10)


def test_threads_that_read_at_once_get_the_same_object() -> None:
    one = Slow()
    together = Barrier(4)
    found = []

    def read() -> None:
        together.wait(10)
        found.append(one.value)

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    one.allowed.set()
    for thread in threads:
        thread.join(10)
    assert len(found) == 4
    assert all(value is found[0] for value in found)
