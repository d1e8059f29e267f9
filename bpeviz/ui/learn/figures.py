"""Computations of the chapters of Learn, and the known answers that they quote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

import regex

import bpeviz
from bpeviz.core.merges import Merge
from bpeviz.core.training import MergeTraining
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.ui.learn.engine import merges_of

PASSAGE_TOKENS = {"english": 496, "burmese": 1_480}
"""Tokens of the passage of “Many texts” under GPT-4o."""

# ---- when to stop

NEW_TEXT = (
    "Una olla de algo más vaca que carnero, salpicón las más noches, duelos y quebrantos los "
    "sábados, lantejas los viernes, algún palomino de añadidura los domingos, consumían las tres "
    "partes de su hacienda."
)
"""The second sentence of Don Quijote, of 209 bytes."""

NEAR = 4
"""The most merges between the right stop line and one that is near."""


class StopLine(NamedTuple):
    """The tokens of a training text and of a new text after each merge, from 0 merges on.

    Attributes:
        training: The training history.
        seen: The tokens of the training text. [merges + 1].
        new: The tokens of the new text. [merges + 1].
    """

    training: MergeTraining
    seen: list[int]
    new: list[int]

    @property
    def last(self) -> int:
        """The last merge that shortens the new text, 0 if none does."""
        return self.new.index(self.new[-1])

    def is_near(self, step: int) -> bool:
        """Return whether a stop line is at most `NEAR` merges from the right one."""
        return abs(step - self.last) <= NEAR


def stop_line(text: str, new: str, merges: int = 40) -> StopLine:
    """Train on a text, and count the tokens of it and of a new text after each merge."""
    training = merges_of(text, merges=merges)
    seen, unseen = (training.boundaries(each).token_counts.tolist() for each in (text, new))
    return StopLine(training, seen, unseen)


def percent(counts: Sequence[int]) -> list[float]:
    """Return numbers of tokens in percent of the bytes, which are the tokens of 0 merges."""
    return [100 * count / (counts[0] or 1) for count in counts]


# ---- fences

FENCED_TEXT = "casa. rosa. casa, cosa. rosa, prosa."
"""A text with words before both marks, and of which all end alike."""

_WORD, _MARK = r"[\p{L}\p{M}\p{N}]", r"[^\p{L}\p{M}\p{N}\s]"
_JOINED = regex.compile(rf"{_WORD}\s*{_MARK}|{_MARK}\s*{_WORD}|{_WORD}\s+{_WORD}")


def joins(text: str) -> bool:
    """Return whether a token or a pre-token joins a word with a mark or with the next word."""
    return _JOINED.search(text) is not None


@dataclass(frozen=True)
class FencedPreTokenizer(PreTokenizer):
    """Splits one text at given places. Any other text is one pre-token.

    Attributes:
        parts: The parts of that text.
    """

    parts: tuple[str, ...] = ()

    def pre_tokens(self, text: str) -> list[str]:
        return [*self.parts] if text == "".join(self.parts) else super().pre_tokens(text)


class Fenced(NamedTuple):
    """A text with fences, and its training.

    Attributes:
        training: The training history.
        tokens: The tokens of the text after the last merge.
        merges: Each merge, and whether its token joins a word with a mark or with the next word.
        apart: Whether no merge can: whether no pre-token does.
    """

    training: MergeTraining
    tokens: int
    merges: list[tuple[Merge, bool]]
    apart: bool


def fenced(text: str, fences: Iterable[int], merges: int = 6) -> Fenced:
    """Train on a text whose merges cross no fence.

    Args:
        text: The text, cleaned.
        fences: The characters before which there is a fence, each inside the text.
        merges: The largest number of merges.
    """
    places = pairwise([0, *sorted(fences), len(text)])
    parts = tuple(part for start, end in places if (part := text[start:end]))
    trained = bpeviz.train(Counter(parts), merges=merges, pattern="none")
    assert isinstance(trained, MergeTraining)  # noqa: S101 (for the type)
    training = replace(trained, pre_tokenizer=FencedPreTokenizer(pattern="none", parts=parts))
    tokenizer = training.at_step(training.steps)
    raw = [tokenizer.token_bytes(merge.new_id) for merge in training.merges]
    joining = [joins(token.decode(errors="ignore")) for token in raw]
    tokens = int(training.boundaries(text).token_counts[-1])
    marked = [*zip(training.merges, joining, strict=True)]
    return Fenced(training, tokens, marked, not any(map(joins, parts)))


def fences_of(text: str) -> list[int]:
    """Return the fences that the pattern of GPT-2 places in a text."""
    return [*accumulate(map(len, pretokenize(text, "gpt2", "")))][:-1]
