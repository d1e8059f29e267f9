"""Messages between a room and its members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from bpeviz.text import clean

TEXT_CHARACTERS = 100
"""The most characters of a text in a message."""

_TEXTS = "do", "key"
_NUMBERS = "step", "content", "part", "vote", "answer"


@dataclass(frozen=True)
class Display:
    """The display of the leader's player beside its step; by default, it is at rest.

    Attributes:
        playing: Whether it plays.
        speed: How fast.
        lit: The token that is pointed at, its text and atom.
    """

    playing: bool = False
    speed: float = 1
    lit: list[int] | None = None


@dataclass(frozen=True)
class Invitation:
    """How to join a room.

    Attributes:
        address: The address for followers.
        invitation: The address that opens the room, also without the password.
        qr: The QR code of the invitation as the address of an image, or "".
        word: The room word, which opens the room in place of a password, or "" without one.
        notes: Why others cannot open these addresses, or "".
    """

    address: str = ""
    invitation: str = ""
    qr: str = ""
    word: str = ""
    notes: str = ""


@dataclass(frozen=True)
class Message:
    """A message of a member. What it does not contain, or not as a valid value, is empty.

    Attributes:
        do: The command of the leader.
        step: The step of the leader's player.
        content: The number of the content that it is about.
        part: The part of the run sheet to go to.
        vote: The number of the vote that is answered.
        answer: The answer.
        key: The key of a question of Learn.
        display: The display of the leader's player.
    """

    do: str = ""
    step: int | None = None
    content: int | None = None
    part: int | None = None
    vote: int | None = None
    answer: int | None = None
    key: str = ""
    display: Display = Display()

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Message:
        """Return the message of a JSON object."""
        speed, lit = values.get("speed"), values.get("lit")
        display = Display(
            values.get("playing") is True,
            speed if isinstance(speed, int | float) else Display.speed,
            lit if _is_place(lit) else None,
        )
        valid: dict[str, Any] = {
            name: clean(text[:TEXT_CHARACTERS])
            for name in _TEXTS
            if isinstance(text := values.get(name), str)
        }
        valid |= {name: values[name] for name in _NUMBERS if _is_number(values.get(name))}
        return cls(display=display, **valid)


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_place(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))
