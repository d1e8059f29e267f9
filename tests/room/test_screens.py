"""Codes of second screens: for one use, for two minutes."""

from __future__ import annotations

from bpeviz.room.screens import CODE_SECONDS, MOST, SIZE, WaitingScreens
from bpeviz.room.server_key import LETTERS


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_code_admits_its_device_once() -> None:
    waiting = WaitingScreens(Clock())
    code = waiting.code("phone")
    assert len(code) == SIZE
    assert {*code} <= {*LETTERS}
    assert waiting.code("phone") == code, "the page is loaded again"
    assert waiting.admit(f" {code.lower()} ") == "phone"
    assert waiting.admit(code) == ""
    assert waiting.admit("") == ""


def test_code_expires_after_two_minutes() -> None:
    clock = Clock()
    waiting = WaitingScreens(clock)
    code = waiting.code("phone")
    clock.now = CODE_SECONDS - 1
    assert waiting.code("phone") == code
    clock.now = CODE_SECONDS
    assert waiting.admit(code) == ""
    assert waiting.admit(waiting.code("phone")) == "phone"


def test_waiting_devices_are_bounded() -> None:
    waiting = WaitingScreens(Clock())
    codes = [waiting.code(f"phone {i}") for i in range(MOST + 5)]
    assert [waiting.admit(code) for code in codes[:5]] == [""] * 5
    assert waiting.admit(codes[-1]) == f"phone {MOST + 4}"
