"""The forms of answers, as the component `answer` draws them, and the values that each accepts.

A form never contains the right answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

SAME_CURVE = 0.1
"""The largest distance of two curves that are the same mistake."""

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

    def matches(self, given: Any, other: Any) -> bool:
        """Return whether two answers are the same."""
        return bool(given == other)

    def difference(self, given: Any, marks: Mapping[str, Any]) -> list[MessagePart]:
        """Return how an answer differs from the right one, without telling that."""
        return []

    @abstractmethod
    def words(self, given: Any) -> str:
        """Return an answer as text."""


@dataclass(frozen=True)
class PairForm(Form):
    """Click a pair of neighbors in a text.

    Attributes:
        timeline: The text as it is now (`bpeviz.views.player.timeline`), without later steps.
        pairs: The index of the left token of each pair that may be merged.
        tokens: The tokens of the text as it is now.
    """

    kind = "pair"
    timeline: dict[str, Any]
    pairs: list[int]
    tokens: Sequence[dict[str, Any]]

    def payload(self) -> dict[str, Any]:
        return {"kind": self.kind, "timeline": self.timeline, "pairs": self.pairs}

    def accepts(self, given: Any) -> bool:
        return type(given) is int and given in self.pairs

    def matches(self, given: Any, other: Any) -> bool:
        return self.words(given) == self.words(other)

    def words(self, given: Any) -> str:
        return "+".join(item["label"] for item in self.tokens[given : given + 2])


@dataclass(frozen=True)
class BoundariesForm(Form):
    """Set the boundaries inside a short text, each given by the number of characters before it.

    Attributes:
        text: The text.
        fixed: The places without a choice, such as those beside a space.
    """

    kind = "boundaries"
    text: str
    fixed: Sequence[int] = ()

    def accepts(self, given: Any) -> bool:
        return (
            isinstance(given, list)
            and all(_is_whole(place, 1, len(self.text) - 1) for place in given)
            and {*given}.isdisjoint(self.fixed)
            and given == sorted({*given})
        )

    def difference(self, given: Any, marks: Mapping[str, Any]) -> list[MessagePart]:
        first = min({*given} ^ {*marks["right"]})
        same = max((place for place in given if place < first), default=0)
        if same:
            return ["Up to here you are right: ", token(self.text[:same]), ". Look again after it."]
        return ["Look again at the first token: it has another length."]

    def words(self, given: Any) -> str:
        cuts = [0, *given, len(self.text)]
        return " | ".join(self.text[start:end] for start, end in pairwise(cuts))


@dataclass(frozen=True)
class NumberForm(Form):
    """Choose a whole number from `low` to `high`."""

    kind = "number"
    low: int
    high: int
    unit: str

    def accepts(self, given: Any) -> bool:
        return _is_whole(given, self.low, self.high)

    def difference(self, given: Any, marks: Mapping[str, Any]) -> list[MessagePart]:
        if abs(given - marks["right"]) == 1:
            return [f"{given:,} is only one away."]
        return [f"It is {'more' if given < marks['right'] else 'less'} than {given:,}."]

    def words(self, given: Any) -> str:
        return f"{given:,}"


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
            and all(_is_whole(value, 0, self.high) for value in given)
            and given[0] == self.first
        )

    def matches(self, given: Any, other: Any) -> bool:
        return self.distance(given, other) <= SAME_CURVE

    def distance(self, given: Sequence[int], other: Sequence[int]) -> float:
        """Return the mean distance of two curves, as a share of their first value."""
        away = [abs(mine - theirs) for mine, theirs in zip(given[1:], other[1:], strict=True)]
        return sum(away) / max(1, len(away)) / max(1, self.first)

    def difference(self, given: Any, marks: Mapping[str, Any]) -> list[MessagePart]:
        true = dict(marks["points"])
        away = sum(value - true[at] for at, value in zip(self.handles, given, strict=True))
        if away < 0:
            return ["Your curve falls too fast: most merges save only a few tokens."]
        return ["Your curve stays too high: the merges save more than that."]

    def words(self, given: Any) -> str:
        return ", ".join(f"{value:,}" for value in given)


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
            and all(type(place) is int for place in given)
            and sorted(given) == list(range(len(self.items)))
        )

    def difference(self, given: Any, marks: Mapping[str, Any]) -> list[MessagePart]:
        same = sum(mine == other for mine, other in zip(given, marks["order"], strict=True))
        are = "row is" if same == 1 else "rows are"
        return [f"{same} of {len(given)} {are} in the right place."]

    def words(self, given: Any) -> str:
        return ", ".join(" + ".join(part["label"] for part in self.items[i]) for i in given)


@dataclass(frozen=True)
class ChoiceForm(Form):
    """Choose one of a few answers, by its key. The browser draws them in an order of its own.

    Attributes:
        options: The words of each answer, by their keys.
    """

    kind = "choice"
    options: Mapping[str, str]

    def accepts(self, given: Any) -> bool:
        return isinstance(given, str) and given in self.options

    def words(self, given: Any) -> str:
        return self.options[given]
