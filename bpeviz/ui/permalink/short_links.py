"""Short links, whose values the server stores in memory for a limited time."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from bpeviz import limits

MARK = "~"
"""Begins the name of a short link. Packed values of other links never contain it."""

_RANDOM_BYTES = 9
"""72 random bits: to guess one of 1,000 links takes 10^8 years at 1,000 tries a second."""


@dataclass
class _Link:
    packed: str
    user: str
    expires: float


class ShortLinks:
    """The short links of all users, bounded in number, in bytes and in time.

    If there are too many, the oldest links of the user with the most bytes are removed, so that a
    user cannot displace the links of all others.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._links: OrderedDict[str, _Link] = OrderedDict()
        """By name, the oldest first."""
        self._names: dict[bytes, str] = {}
        """The names by digest of user and values: a second press gives the same link."""

    def put(self, packed: str, user: str) -> str | None:
        """Store the packed values of a link.

        Args:
            packed: The values, as `codec.pack` returns them.
            user: Identifies the user.

        Returns:
            The name of the link, or None if the values are too long.
        """
        if len(packed) > limits.SHORT_LINK * 1_000:
            return None
        with self._lock:
            self._expire()
            digest = _digest(packed, user)
            name = self._names.setdefault(digest, MARK + secrets.token_urlsafe(_RANDOM_BYTES))
            expires = self._clock() + limits.SHORT_LINK_HOURS * 3600
            self._links[name] = _Link(packed, user, expires)
            self._links.move_to_end(name)
            self._forget_excess(name)
            return name

    def get(self, name: str) -> str | None:
        """Return the packed values of a link, or None if it is unknown or has expired."""
        with self._lock:
            self._expire()
            found = self._links.get(name)
            return None if found is None else found.packed

    def _expire(self) -> None:
        now = self._clock()
        for name, link in [*self._links.items()]:
            if link.expires > now:
                break
            self._forget(name)

    def _forget_excess(self, newest: str) -> None:
        counts, sizes = Counter[str](), Counter[str]()
        for link in self._links.values():
            counts[link.user] += 1
            sizes[link.user] += len(link.packed)
        user = self._links[newest].user
        while True:
            if counts[user] > limits.USER_SHORT_LINKS:
                from_user = user
            elif (
                len(self._links) > limits.SHORT_LINKS
                or sizes.total() > limits.SHORT_LINK_BYTES * 1_000_000
            ):
                from_user = sizes.most_common(1)[0][0]
            else:
                return
            oldest = next(name for name, link in self._links.items() if link.user == from_user)
            counts[from_user] -= 1
            sizes[from_user] -= len(self._links[oldest].packed)
            self._forget(oldest)

    def _forget(self, name: str) -> None:
        link = self._links.pop(name)
        del self._names[_digest(link.packed, link.user)]


def _digest(packed: str, user: str) -> bytes:
    return hashlib.blake2b(f"{user}\n{packed}".encode(), digest_size=16).digest()


SHORT_LINKS = ShortLinks()
"""The short links of this server."""
