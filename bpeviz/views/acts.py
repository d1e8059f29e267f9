"""The acts of tasks: what the user does on the stage, and the answers that each accepts.

An answer is a whole number, so that a browser can store it and a room can vote on it; a typed text
is itself, and ids are a list. An act never contains the right answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, compress
from typing import ClassVar, Generic, Literal, TypeGuard, TypeVar

from bpeviz.text import counted
from bpeviz.views.payloads import Answer, MessagePart, Style, TokenPart, VoteChoice

Verdict = Literal["right", "near", "wrong"]
Given = TypeVar("Given", bound=Answer)


def token(label: str, color: int = -1) -> TokenPart:
    """Return a token for a message, drawn as it looks in a text."""
    return {"label": label, "color": color}


def token_with_id(label: str, token_id: int) -> TokenPart:
    """Return a token for a message, with its id below it."""
    return {"label": label, "color": -1, "id": token_id}


def parts_of(words: str) -> list[MessagePart]:
    """Return words as a message; what is between backticks is a token."""
    return [token(part) if i % 2 else part for i, part in enumerate(words.split("`"))]


@dataclass(frozen=True)
class Judgment(Generic[Given]):
    """The result of a question, computed by the engine.

    Attributes:
        verdict: How the answer compares with the right one; "right" without an answer.
        message: The right answer, and how the given one differs.
        right: A right answer.
    """

    verdict: Verdict
    message: Sequence[MessagePart]
    right: Given | None = None


def _is_list(given: object) -> TypeGuard[list[int]]:
    """Return whether a value is a list of whole numbers."""
    return isinstance(given, list) and all(type(number) is int for number in given)


def option(
    value: int, words: str, tokens: Sequence[Style] = (), ids: Sequence[int] = ()
) -> VoteChoice:
    """Return an answer, or a part of one, that a room counts: as words or as tokens."""
    return {"value": value, "tokens": tokens, "words": words, "ids": ids}


class Act(ABC, Generic[Given]):
    """What the user does to answer a question."""

    kind: ClassVar[str]
    is_live: bool = False
    """Whether each change is judged at once, and none counts as a try."""

    @property
    def places(self) -> Sequence[int]:
        """The atoms of the text after which there is a place to choose."""
        return ()

    @property
    def options(self) -> Sequence[VoteChoice]:
        """The answers that a room counts, or their parts; none depends on the right one."""
        return ()

    def values(self, given: Given) -> Iterable[int]:
        """Return the values of the options that an answer consists of."""
        return (given,) if isinstance(given, int) else ()

    @abstractmethod
    def accepts(self, given: object) -> TypeGuard[Given]:
        """Return whether a value that a browser sent is an answer."""

    def matches(self, given: Given, other: Given) -> bool:
        """Return whether two answers are the same."""
        return bool(given == other)

    def difference(self, given: Given, right: Given) -> list[MessagePart]:
        """Return how an answer differs from the right one, without telling that."""
        return []

    @abstractmethod
    def words(self, given: Given) -> str:
        """Return an answer as text."""


@dataclass(frozen=True)
class PairAct(Act[int]):
    """Choose a pair between two tokens: the answer is the last atom of the left one.

    Attributes:
        pairs: The tokens of the pair at each place.
        offered: The places to choose from by buttons, if not all in the text.
        ids: The ids of each pair, where it has no place.
    """

    kind = "pair"
    pairs: Mapping[int, Sequence[TokenPart]]
    offered: Sequence[int] = ()
    ids: Mapping[int, Sequence[int]] = field(default_factory=dict)

    @property
    def places(self) -> Sequence[int]:
        return [] if self.offered else [*self.pairs]

    @property
    def options(self) -> Sequence[VoteChoice]:
        looks = {
            i: [(part["label"], part["color"]) for part in self.pairs[i]] for i in self.offered
        }
        listed = sorted(self.offered, key=self.words)
        return [option(i, self.words(i), looks[i], self.ids.get(i, ())) for i in listed]

    def accepts(self, given: object) -> TypeGuard[int]:
        return type(given) is int and given in (self.offered or self.pairs)

    def matches(self, given: int, other: int) -> bool:
        return self.words(given) == self.words(other)

    def words(self, given: int) -> str:
        return " + ".join(part["label"] for part in self.pairs[given])


@dataclass(frozen=True)
class BoundariesAct(Act[int]):
    """Place boundaries: the answer has a bit for each place.

    Attributes:
        pieces: The text between two places, one more than there are places.
        after: The atom before each place.
        is_live: Whether each change is judged at once.
    """

    kind = "boundaries"
    pieces: Sequence[str]
    after: Sequence[int]
    is_live: bool = False

    @property
    def places(self) -> Sequence[int]:
        return self.after

    @property
    def options(self) -> Sequence[VoteChoice]:
        befores = enumerate(accumulate(self.pieces[:-1]))
        return [option(i, f"a boundary after “{before}”") for i, before in befores]

    def values(self, given: int) -> Iterable[int]:
        return (i for i in range(len(self.after)) if given >> i & 1)

    def accepts(self, given: object) -> TypeGuard[int]:
        return type(given) is int and 0 <= given < 1 << len(self.after)

    def parts(self, given: int) -> list[str]:
        """Return the text between the boundaries of an answer."""
        parts = [self.pieces[0]]
        for place, piece in enumerate(self.pieces[1:]):
            if given >> place & 1:
                parts.append(piece)
            else:
                parts[-1] += piece
        return parts

    def difference(self, given: int, right: int) -> list[MessagePart]:
        first = ((given ^ right) & -(given ^ right)).bit_length() - 1
        same = self.parts(given & ((1 << first) - 1))[:-1]
        if not same:
            return ["Look again at the first token: it has another length."]
        return ["Up to here you are right: ", token("".join(same)), ". Look again after it."]

    def words(self, given: int) -> str:
        return " | ".join(self.parts(given))


def bits_of(after: Sequence[int], atoms: Sequence[int]) -> int:
    """Return the answer that has a boundary after each of some atoms."""
    return sum(1 << place for place, atom in enumerate(after) if atom in atoms)


def atoms_of(after: Sequence[int], given: int) -> list[int]:
    """Return the atoms after which an answer has a boundary."""
    return [*compress(after, (given >> place & 1 for place in range(len(after))))]


@dataclass(frozen=True)
class StopAct(Act[int]):
    """Set the stop line on the track, after a number of steps.

    Attributes:
        last: The last step.
        unit: The name of several steps.
    """

    kind = "stop"
    last: int
    unit: str = "merges"

    @property
    def options(self) -> Sequence[VoteChoice]:
        return [option(step, self.words(step)) for step in range(self.last + 1)]

    def accepts(self, given: object) -> TypeGuard[int]:
        return type(given) is int and 0 <= given <= self.last

    def difference(self, given: int, right: int) -> list[MessagePart]:
        return [f"Look at more than {given:,} {self.unit}." if given < right else "Stop earlier."]

    def words(self, given: int) -> str:
        return f"after {counted(given, self.unit.removesuffix('s'))}"


@dataclass(frozen=True)
class TypeAct(Act[str]):
    """Type a text.

    Attributes:
        longest: The most characters.
    """

    kind = "type"
    is_live = True
    longest: int

    def accepts(self, given: object) -> TypeGuard[str]:
        return isinstance(given, str) and len(given) <= self.longest

    def words(self, given: str) -> str:
        return f"“{given}”"


@dataclass(frozen=True)
class IdsAct(Act[list[int]]):
    """Take ids away: the answer has those that are left, in their order.

    Attributes:
        ids: The ids at first.
    """

    kind = "ids"
    is_live = True
    ids: tuple[int, ...]

    def accepts(self, given: object) -> TypeGuard[list[int]]:
        return _is_list(given) and not Counter(given) - Counter(self.ids)

    def words(self, given: list[int]) -> str:
        return " ".join(map(str, given))


@dataclass(frozen=True)
class BeliefAct(Act[int]):
    """Pick one of a few sentences, which are in the order of their words."""

    kind = "belief"
    sentences: tuple[str, ...]

    @property
    def options(self) -> Sequence[VoteChoice]:
        return [option(i, words) for i, words in enumerate(self.sentences)]

    def accepts(self, given: object) -> TypeGuard[int]:
        return type(given) is int and 0 <= given < len(self.sentences)

    def words(self, given: int) -> str:
        return self.sentences[given]
