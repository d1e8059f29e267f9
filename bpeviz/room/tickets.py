"""Tickets, which addresses of a leader's page contain: for one request of one browser."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

TICKET_SECONDS = 60
"""The time until a ticket expires."""

MOST_TICKETS = 1_000
"""The most tickets that are not used yet."""

PARAMETER = "ticket"
"""The parameter of an address that has a ticket."""


@dataclass(frozen=True)
class Ticket:
    """A permission.

    Attributes:
        letters: The letters of the room.
        nonce: The nonce of its leader.
        browser: The browser that may use it, as `bpeviz.ui.runtime.user` names it.
    """

    letters: str
    nonce: str
    browser: str


class Tickets:
    """The tickets of a server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tickets: dict[str, tuple[float, Ticket]] = {}
        self._lock = threading.Lock()

    def issue(self, ticket: Ticket) -> str:
        """Store a ticket; return its random name."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            now = self._clock()
            valid = [item for item in self._tickets.items() if item[1][0] > now]
            self._tickets = dict(valid[-MOST_TICKETS + 1 :])
            self._tickets[name] = now + TICKET_SECONDS, ticket
        return name

    def take(self, name: str, browser: str) -> Ticket | None:
        """Return a ticket, once, if it is valid.

        Args:
            name: Its name.
            browser: The browser that uses it; "" if it is not known.
        """
        with self._lock:
            ends, ticket = self._tickets.get(name, (0.0, None))
            if ticket is None or ends <= self._clock() or not browser:
                return None
            if ticket.browser != browser:
                return None
            del self._tickets[name]
            return ticket


TICKETS = Tickets()
"""The tickets of this server."""
