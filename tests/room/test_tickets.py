"""Tickets: one use, one minute, one browser."""

from __future__ import annotations

from helpers.clock import Clock

from bpeviz.room import tickets
from bpeviz.room.tickets import Ticket, Tickets

LEAD = Ticket("KXQF", "nonce", "browser a")


def test_ticket_is_valid_once_for_one_browser() -> None:
    own = Tickets(Clock())
    name = own.issue(LEAD)
    assert own.take(name, "browser b") is own.take(name, "") is None
    assert own.take(name, "browser a") is LEAD
    assert own.take(name, "browser a") is None
    assert own.take("", "browser a") is None
    refused = own.issue(Ticket("KXQF", "nonce", ""))
    assert own.take(refused, "") is None, "a browser that refuses cookies"


def test_ticket_expires() -> None:
    clock = Clock()
    own = Tickets(clock)
    early, late = own.issue(LEAD), own.issue(LEAD)
    clock.now += tickets.TICKET_SECONDS - 0.1
    assert own.take(early, "browser a")
    clock.now += 0.1
    assert own.take(late, "browser a") is None


def test_tickets_are_bounded() -> None:
    own = Tickets(Clock())
    names = [own.issue(LEAD) for _ in range(tickets.MOST_TICKETS + 1)]
    assert len({*names}) == len(names)
    valid = [own.take(name, "browser a") is not None for name in names]
    assert valid == [False, *[True] * tickets.MOST_TICKETS]
