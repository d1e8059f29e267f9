"""The forms of answers, as the component `answer` draws them, and the values that each accepts.

A form never contains the right answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

MessagePart = str | dict[str, Any]
"""A part of a message: plain text, or a token as `token` returns it."""


def token(label: str, color: int = -1) -> dict[str, Any]:
    """Return a token for a message, drawn as it looks in a text."""
    return {"label": label, "color": color}


def _is_whole(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


class Form(ABC):
    """The way in which a question is answered."""

    kind: ClassVar[str]

    def payload(self) -> dict[str, Any]:
        """Return the data for the browser, as plain JSON values."""
        return {"kind": self.kind} | vars(self)

    @abstractmethod
    def accepts(self, given: Any) -> bool:
        """Return whether a value that a browser sent is an answer."""


@dataclass(frozen=True)
class PairForm(Form):
    """Click a pair of neighbors in a text.

    Attributes:
        timeline: The text as it is now (`bpeviz.views.player.timeline`), without later steps.
        pairs: The index of the left token of each pair that may be merged.
    """

    kind = "pair"
    timeline: dict[str, Any]
    pairs: list[int]

    def accepts(self, given: Any) -> bool:
        return type(given) is int and given in self.pairs


@dataclass(frozen=True)
class BoundariesForm(Form):
    """Set the boundaries inside a short text, each given by the number of characters before it."""

    kind = "boundaries"
    text: str

    def accepts(self, given: Any) -> bool:
        return (
            isinstance(given, list)
            and all(_is_whole(one, 1, len(self.text) - 1) for one in given)
            and given == sorted({*given})
        )


@dataclass(frozen=True)
class NumberForm(Form):
    """Choose a whole number from `low` to `high`."""

    kind = "number"
    low: int
    high: int
    unit: str

    def accepts(self, given: Any) -> bool:
        return _is_whole(given, self.low, self.high)


@dataclass(frozen=True)
class CurveForm(Form):
    """Draw a curve by its values, from 0 to `high`, at some positions; the first one is given."""

    kind = "curve"
    handles: list[int]
    first: int
    high: int
    xTitle: str  # noqa: N815 (a name of the payload)
    yTitle: str  # noqa: N815

    def accepts(self, given: Any) -> bool:
        return (
            isinstance(given, list)
            and len(given) == len(self.handles)
            and all(_is_whole(one, 0, self.high) for one in given)
            and given[0] == self.first
        )


@dataclass(frozen=True)
class OrderForm(Form):
    """Put items into their order.

    Attributes:
        items: The tokens of each item.
        hints: A remark beside each item, or none at all.
    """

    kind = "order"
    items: Sequence[Sequence[dict[str, Any]]]
    hints: Sequence[str] = ()

    def accepts(self, given: Any) -> bool:
        return (
            isinstance(given, list)
            and all(type(one) is int for one in given)
            and sorted(given) == list(range(len(self.items)))
        )


@dataclass(frozen=True)
class ChoiceForm(Form):
    """Choose one of a few answers, by its index."""

    kind = "choice"
    options: Sequence[str]

    def accepts(self, given: Any) -> bool:
        return _is_whole(given, 0, len(self.options) - 1)
