"""Tickets: one use, one minute, one browser, one purpose."""

from __future__ import annotations

from bpeviz.room import tickets
from bpeviz.room.tickets import Ticket, Tickets


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


LEAD = Ticket("KXQF", "nonce", "browser a")
PAGE = Ticket("KXQF", "nonce", "browser a", "/Compare?s=x")


def test_ticket_is_valid_once_for_one_browser_and_one_purpose() -> None:
    own = Tickets(Clock())
    for ticket, is_page in ((LEAD, False), (PAGE, True)):
        name = own.issue(ticket)
        assert own.take(name, "browser b", is_page=is_page) is None
        assert own.take(name, "", is_page=is_page) is None
        assert own.take(name, "browser a", is_page=not is_page) is None
        assert own.take(name, "browser a", is_page=is_page) is ticket
        assert own.take(name, "browser a", is_page=is_page) is None
    assert own.take("", "browser a", is_page=True) is None
    refused = own.issue(Ticket("KXQF", "nonce", ""))
    assert own.take(refused, "", is_page=False) is None, "a browser that refuses cookies"


def test_ticket_expires() -> None:
    clock = Clock()
    own = Tickets(clock)
    early, late = own.issue(PAGE), own.issue(LEAD)
    clock.now += tickets.TICKET_SECONDS - 0.1
    assert own.take(early, "browser a", is_page=True)
    clock.now += 0.1
    assert own.take(late, "browser a", is_page=False) is None


def test_tickets_are_bounded() -> None:
    own = Tickets(Clock())
    names = [own.issue(PAGE) for _ in range(tickets.MOST_TICKETS + 1)]
    assert len({*names}) == len(names)
    valid = [own.take(name, "browser a", is_page=True) is not None for name in names]
    assert valid == [False, *[True] * tickets.MOST_TICKETS]
