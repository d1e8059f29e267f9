"""Users of a server, and their shares of its places for concurrent requests."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

current: Callable[[], str] = str
"""Returns the identity of the user whose work runs in this thread, or an empty text: a program has
no users, and no shares. `bpeviz.ui` replaces it."""


class NoPlaceError(TimeoutError):
    """A request got no place in time.

    Attributes:
        own: Whether the user has the whole share already, so that the user's own requests are the
            reason.
    """

    def __init__(self, *, own: bool) -> None:
        super().__init__("No place was free in time.")
        self.own = own


class Places:
    """Places for requests, as many as may run at once. A user has at most a share of them.

    A free place goes to the waiting user with the fewest places; among equals, to the oldest
    request. So many requests of one user do not delay those of others.

    Attributes:
        most: The number of places.
        share: The most places of a user.
    """

    def __init__(self, most: int, share: int) -> None:
        self.most, self.share = most, share
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._waiting: dict[threading.Event, str] = {}  # the oldest first

    @property
    def missing(self) -> int:
        """How many more places would be in use if there were enough of them."""
        with self._lock:
            wanted = Counter(user for user in self._waiting.values() if self._may_have(user))
            requests = sum(
                min(number, self.share - self._held[user]) if user else number
                for user, number in wanted.items()
            )
            return requests - (self.most - self._held.total())

    def take(self, user: str, seconds: float, wait: Callable[[], None] = lambda: None) -> None:
        """Take a place, if need be after waiting for it.

        Args:
            user: The user.
            seconds: The longest time to wait.
            wait: Called before this thread waits.

        Raises:
            NoPlaceError: No place was free in time.
        """
        turn = threading.Event()
        with self._lock:
            self._waiting[turn] = user
            self._serve()
        if turn.is_set():
            return
        try:
            wait()
            turn.wait(seconds)
        finally:
            with self._lock:
                own = not self._may_have(user)
                self._waiting.pop(turn, None)
        if not turn.is_set():
            raise NoPlaceError(own=own)

    def release(self, user: str) -> None:
        """Release a place of a user."""
        with self._lock:
            self._held[user] -= 1
            if not self._held[user]:
                del self._held[user]
            self._serve()

    def _may_have(self, user: str) -> bool:
        return not user or self._held[user] < self.share

    def _serve(self) -> None:
        """Give the free places to waiting requests."""
        while self._held.total() < self.most:
            next_one = min(
                (turn for turn, user in self._waiting.items() if self._may_have(user)),
                key=lambda turn: self._held[self._waiting[turn]],
                default=None,
            )
            if next_one is None:
                return
            self._held[self._waiting.pop(next_one)] += 1
            next_one.set()
