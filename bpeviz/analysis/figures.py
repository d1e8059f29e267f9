"""Figures that measure boundaries: of a text under a tokenizer, or of a tokenizer over many texts.

Each function is a figure, whose decorator declares its meaning, direction, format and name. Tables
of pages, files and the command line derive from these.
"""

# ruff: noqa: D103  # the decorator has the description

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log10
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bpeviz.analysis import metrics
from bpeviz.analysis.metrics import Column, Spans
from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents, whole_text

ALPHA = 2.5
"""The order of the Rényi entropy."""

_WORSE = {"fewer": "more", "more": "fewer", "smaller": "a larger", "lower": "a higher"}


Direction = Literal["", "fewer", "more", "smaller", "lower"]


@dataclass(frozen=True)
class Figure:
    """A number that describes a tokenizer.

    Attributes:
        of: Returns the value for a `Measured` or a `Total`, or None where it is not defined or a
            part of it is not known.
        meaning: The meaning; a table of metrics replaces its fields.
        better: The direction that is better, or "" if neither is.
        form: The format of its values.
        key: Its name in code, JSON and CSV.
        name: Its name within a sentence, which includes its unit.
        source: The paper or the program that defines it.
    """

    of: Callable[[Any], float | None]
    meaning: str
    better: Direction
    form: str
    key: str
    name: str
    source: str

    @property
    def title(self) -> str:
        """Its name as a title."""
        return self.name[0].upper() + self.name[1:]

    @property
    def worse(self) -> str:
        """The worse direction with the name, as in "fewer bytes per token"."""
        return f"{_WORSE[self.better]} {self.name}"

    def text(self, value: float | None) -> str:
        """Return a value for readers.

        >>> [gini.text(0.12345), whole_words.text(0.0001), tokens.text(1234), cost.text(None)]
        ['0.123', 'less than 0.1%', '1,234', '–']
        """
        if value is None:
            return "–"
        is_share = self.form.endswith("%")
        return "less than 0.1%" if is_share and 0 < value < 0.0005 else format(value, self.form)


def _figure(
    meaning: str = "", better: Direction = "", form: str = ".2f", **names: str
) -> Callable[[Callable[[Any], float | None]], Figure]:
    """Return a decorator that makes a function a figure, by default of the same name."""

    def declare(of: Callable[[Any], float | None]) -> Figure:
        key = of.__name__
        defaults = {"key": key, "name": key.replace("_", " "), "source": ""}
        return Figure(of, meaning, better, form, **defaults | names)

    return declare


@dataclass(frozen=True)
class Measured:
    """A text under a tokenizer. Figures are None if they need what is None.

    Attributes:
        text: The text.
        words: The starts and ends of the words, none if words are not known.
        baseline: The column whose boundaries these are compared with.
        column: The tokenizer with the boundaries of the text.
        special_tokens: The number of special tokens around the text, or around all its documents.
        lines: The tokens of each line or document that is parallel to one of the reference text.
        reference: The tokens of these lines of the reference text.
        price: The price of a million tokens.
    """

    text: str
    words: Spans
    baseline: Column | None
    column: Column
    special_tokens: int = 0
    lines: NDArray[np.int64] | None = None
    reference: NDArray[np.int64] | None = None
    price: float | None = None

    @property
    def breaks(self) -> int:
        """The number of line ends in the text that are between documents."""
        return len(self.column.breaks)

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return self.column.tokens + self.special_tokens

    @cached_property
    def ids(self) -> NDArray[np.int32]:
        """The ids of the tokens [tokens]."""
        ids: NDArray[np.int32] = self.column.ids[self.column.ids != DROPPED_ID]
        return ids

    def per_token(self, amount: int) -> float | None:
        """Return a part of an amount for each token."""
        return amount / self.tokens if self.tokens else None

    @cached_property
    def inside(self) -> NDArray[np.int64]:
        """The number of boundaries inside each word [words]."""
        return metrics.boundaries_inside(self.column, *self.words)

    @cached_property
    def agreement(self) -> metrics.Agreement:
        """The agreement with the baseline, or with itself if there is none."""
        baseline = self.baseline or self.column
        return metrics.agreement(self.column.separations, baseline.separations)


def measure(
    text: str | Documents,
    columns: Sequence[Column],
    baseline: int | None = None,
    prices: Mapping[str, float] | None = None,
) -> list[Measured]:
    """Return the columns of a text, all compared with column number `baseline` if there is one.

    Args:
        text: The text, or documents, of which each is encoded alone.
        columns: The columns.
        baseline: The index of the baseline, or None.
        prices: The price of a million tokens by the name of the tokenizer.
    """
    text = whole_text(text)
    words, prices = metrics.word_spans(text), prices or {}
    other = None if baseline is None else columns[baseline]
    return [
        Measured(text, words, other, column, price=prices.get(column.name)) for column in columns
    ]


@dataclass
class Total:
    """A tokenizer over many texts, which are added one by one.

    Attributes:
        title: The name of the tokenizer.
        tokenizer: The tokenizer.
        price: The price of a million tokens.
        special_tokens: The number of special tokens around each text or document.
        tokens: The number of tokens.
        words: The number of words, in texts that separate words.
        whole_words: The number of words that no boundary divides.
        premiums: The premiums of texts that have one, each with the name of its text.
        in_sample: Whether it was trained on these texts.
    """

    title: str
    tokenizer: Tokenizer
    price: float | None = None
    special_tokens: int = 0
    tokens: int = 0
    words: int = 0
    whole_words: int = 0
    premiums: Sequence[tuple[float, str]] = ()
    in_sample: bool = False

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.tokenizer.vocab_size + 1, np.int64)
        """How often unknown tokens and each id occur [vocabulary + 1]."""

    def add(self, measured: Measured) -> None:
        """Add a text."""
        self.tokens += measured.tokens
        self.words += len(measured.inside)
        self.whole_words += int((measured.inside == 0).sum())
        np.add.at(self.counts, measured.ids - UNKNOWN_ID, 1)

    @cached_property
    def vocab_size(self) -> int:
        """The size of the vocabulary, special tokens included."""
        return len([*self.tokenizer.known_ids()])

    @property
    def worst(self) -> tuple[float | None, str]:
        """The largest of several premiums, and the name of its text."""
        known = self.premiums if len(self.premiums) > 1 else ()
        return max(known, key=lambda premium: premium[0], default=(None, ""))


def cost_of(tokens: int, price: float | None) -> float | None:
    """Return the cost of tokens, of which a million have a price."""
    return None if price is None else tokens * price / 1e6


@_figure("number of tokens in the text", "fewer", ",")
def tokens(measured: Measured) -> float:
    return measured.tokens


@_figure("UTF-8 bytes of the text{whole}, per token", "more")
def bytes_per_token(measured: Measured) -> float | None:
    return measured.per_token(len(measured.text.encode()) - measured.breaks)


@_figure("characters of the text{whole}, per token", "more")
def characters_per_token(measured: Measured) -> float | None:
    return measured.per_token(len(measured.text) - measured.breaks)


@_figure("UTF-8 bytes in no token", form=",", name="dropped bytes")
def dropped(measured: Measured) -> float:
    return measured.column.dropped


@_figure("mean number of pieces of a word (letters, marks and digits)", "fewer")
def tokens_per_word(measured: Measured) -> float | None:
    return float(measured.inside.mean()) + 1 if len(measured.inside) else None


@_figure("share of words without a token boundary inside", form=".1%", name="words kept whole")
def whole_words(measured: Measured) -> float | None:
    return float((measured.inside == 0).mean()) if len(measured.inside) else None


@_figure("number of different tokens in the text", form=",", name="distinct tokens")
def distinct(measured: Measured) -> float:
    return int(np.count_nonzero(np.bincount(measured.ids - measured.ids.min(initial=0))))


@_figure("number of tokens, without special tokens", form=",", name="vocabulary")
def vocab_size(measured: Measured) -> float:
    return measured.column.vocab_size


@_figure("share of its boundaries that {baseline} has too{one_boundary}", form=".1%")
def precision(measured: Measured) -> float:
    return measured.agreement.precision


@_figure("share of {baseline}'s boundaries that it has", form=".1%")
def recall(measured: Measured) -> float:
    return measured.agreement.recall


@_figure(
    "similarity of its boundaries to {baseline}'s (100% = the same)",
    form=".1%",
    name="agreement (F1)",
)
def f1(measured: Measured) -> float:
    return measured.agreement.f1


@_figure(better="lower", form=".6f", meaning="price of the tokens, from that of a million")
def cost(measured: Measured | Total) -> float | None:
    return cost_of(measured.tokens, measured.price)


def cost_in(costs: Iterable[float | None]) -> Figure:
    """Return the cost with as many digits after the point as the smallest of some needs."""
    least = min(filter(None, costs), default=1.0)
    return replace(cost, form=f",.{min(9, max(2, 2 - floor(log10(least))))}f")


@_figure("pieces of text, the smallest at whose ends both it and {baseline} end a token", form=",")
def aligned_spans(measured: Measured) -> float:
    return len(metrics.common_ends([measured.column, measured.baseline or measured.column]))


MAIN = (tokens_per_word, whole_words, cost)
"""The figures of one text that a page shows first."""

OF_TEXT = (
    *(tokens, bytes_per_token, characters_per_token, dropped, tokens_per_word, whole_words),
    *(distinct, vocab_size, precision, recall, f1, aligned_spans, cost),
)
"""The figures of one text."""

RELATIVE = (precision, recall, f1, aligned_spans)
"""Those that compare with the baseline."""


@_figure(better="smaller")
def premium(measured: Measured) -> float | None:
    lines, reference = measured.lines, measured.reference
    if lines is None or reference is None or not len(lines):
        return None
    return float(lines.sum() / reference.sum())


@_figure(
    "How unequal the token counts of parallel texts are: 0 if all need the same number, near 1 if "
    "one text needs almost all tokens.",
    form=".3f",
    source="TokEval, tokenizer fairness Gini per line (as in Foroutan et al. 2026, arXiv "
    "2508.04796)",
)
def gini(total: Total) -> float | None:
    """Return the Gini coefficient: the mean difference of two premiums over twice the mean."""
    if len(total.premiums) < 2:
        return None
    array = np.array([premium for premium, _ in total.premiums], np.float64)
    differences = float(np.abs(array[:, None] - array).sum())
    return differences / (2 * len(array) ** 2 * float(array.mean()))


@_figure(
    "The largest premium: the tokens of the text that needs the most, relative to those of the "
    "chosen text.",
    source="Petrov et al. 2023, arXiv 2305.15425",
)
def worst_premium(total: Total) -> float | None:
    return total.worst[0]


@_figure(
    "How evenly the texts use the vocabulary: 1 if all tokens occur equally often, lower if a few "
    f"tokens make up most of the texts. It is the Rényi entropy of order {ALPHA}, divided by the "
    "logarithm of the vocabulary size. Compare only vocabularies of one size by it.",
    form=".3f",
    name="rényi efficiency",
    source="Zouhar et al. 2023, arXiv 2306.16842",
)
def renyi_efficiency(total: Total) -> float | None:
    if not total.counts.sum() or total.vocab_size < 2:
        return None
    shares = total.counts[total.counts > 0] / total.counts.sum()
    entropy = float(np.log((shares**ALPHA).sum())) / (1 - ALPHA)
    return entropy / float(np.log(total.vocab_size)) + 0.0  # not -0.0


@_figure(
    "The share of the vocabulary, special tokens included, that occurs in these texts.",
    form=".1%",
    name="vocabulary used",
    source="TokEval, vocabulary utilization",
)
def used_vocabulary(total: Total) -> float | None:
    occurring = np.count_nonzero(total.counts[total.tokenizer.unknown_id is None :])
    return int(occurring) / total.vocab_size if total.vocab_size else None


@_figure(
    "The share of words that are not split, in texts with spaces between words.",
    form=".1%",
    name="words kept whole",
    source="the complement of continued words: Rust et al. 2021, arXiv 2012.15613",
    key="whole_words",
)
def whole_words_of_all(total: Total) -> float | None:
    return total.whole_words / total.words if total.words else None
