"""Places that users share: no user takes them from the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from bpeviz.users import NoPlaceError, Places

WAIT = 60.0


def eventually(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)


class Request:
    """A request in a thread. It holds its place until `leave` is called."""

    def __init__(self, places: Places, user: str) -> None:
        self.places, self.user = places, user
        self.served, self.leaving = threading.Event(), threading.Event()
        before = len(places._waiting)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        eventually(lambda: self.served.is_set() or len(places._waiting) > before)

    def run(self) -> None:
        self.places.take(self.user, WAIT)
        self.served.set()
        assert self.leaving.wait(WAIT)
        self.places.release(self.user)

    def leave(self) -> None:
        self.leaving.set()
        self.thread.join(WAIT)


def test_program_has_no_users_and_no_shares() -> None:
    places = Places(3, 1)
    for _ in range(3):
        places.take("", 0)
    with pytest.raises(NoPlaceError) as full:
        places.take("", 0)
    assert not full.value.own


def test_user_with_the_whole_share_does_not_get_another_place() -> None:
    places = Places(4, 2)
    for user in ("a", "a", "b"):
        places.take(user, 0)
    with pytest.raises(NoPlaceError) as own:
        places.take("a", 0.001)
    assert own.value.own
    places.take("c", 0)
    with pytest.raises(NoPlaceError) as full:
        places.take("b", 0.001)
    assert not full.value.own
    places.release("a")
    places.take("b", 0)


def test_free_place_goes_to_the_user_with_the_fewest_places() -> None:
    places = Places(3, 2)
    held = [Request(places, user) for user in ("a", "a", "b")]
    first, second, other = (Request(places, user) for user in ("b", "a", "c"))
    held[0].leave()
    eventually(other.served.is_set)
    assert not first.served.is_set()
    assert not second.served.is_set()
    held[1].leave()  # "a" has none now, and "b" has one
    eventually(second.served.is_set)
    assert not first.served.is_set()
    for one in (held[2], other, second):
        one.leave()
    eventually(first.served.is_set)
    first.leave()
    assert places.missing == -3


def test_places_missing_are_those_that_users_may_have() -> None:
    places = Places(2, 2)
    requests = [Request(places, user) for user in ("a", "a", "a", "a")]
    assert places.missing == 0  # other places would not help
    requests += [Request(places, user) for user in ("b", "b", "b")]
    assert places.missing == 2
    for one in requests:
        one.leaving.set()
    for one in requests:
        one.thread.join(WAIT)
    assert places.missing == -2


@settings(max_examples=examples(200))
@given(
    st.integers(1, 4),
    st.integers(1, 3),
    st.lists(st.tuples(st.booleans(), st.sampled_from(["", "a", "b", "c"])), max_size=40),
)
def test_places_are_never_exceeded(most: int, share: int, actions: list[tuple[bool, str]]) -> None:
    places, held = Places(most, share), list[str]()
    for takes, user in actions:
        if takes:
            may_have = len(held) < most and (not user or held.count(user) < share)
            try:
                places.take(user, 0)
            except NoPlaceError:
                assert not may_have
            else:
                assert may_have
                held.append(user)
        elif user in held:
            held.remove(user)
            places.release(user)
        assert places.missing == len(held) - most
