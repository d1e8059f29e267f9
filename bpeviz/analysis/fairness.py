"""Figures of a tokenizer over all texts of a comparison: fairness, and use of the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ALPHA = 2.5
"""The order of the Rényi entropy."""


@dataclass(frozen=True)
class ComparedTokenizer:
    """A tokenizer over all texts. `FIGURES` describes each ratio; None where it is not known.

    Attributes:
        tokenizer: The name of the tokenizer.
        tokens: The number of tokens of all texts.
        gini: Gini coefficient of the tokens per parallel text, from 0 (equal) to below 1.
        worst_premium: The largest premium.
        worst_text: The name of the text that has it, or "".
        renyi_efficiency: Rényi efficiency of the tokens of all texts.
        used_vocabulary: The share of the vocabulary that the texts use.
        whole_words: The share of words that no boundary divides, in texts that separate words.
        cost: The price of all tokens; None without a price per million of them.
    """

    tokenizer: str
    tokens: int
    gini: float | None
    worst_premium: float | None
    worst_text: str
    renyi_efficiency: float | None
    used_vocabulary: float | None
    whole_words: float | None
    cost: float | None = None


class Figure(NamedTuple):
    """The description of a figure: its title, a sentence, and its source."""

    title: str
    about: str
    source: str


FIGURES = {
    "gini": Figure(
        "Gini",
        "How unequal the token counts of parallel texts are: 0 if all need the same number, near 1 "
        "if one text needs almost all tokens.",
        "TokEval, tokenizer fairness Gini per line (as in Foroutan et al. 2026, arXiv 2508.04796)",
    ),
    "worst_premium": Figure(
        "Worst premium",
        "The largest premium: the tokens of the text that needs the most, relative to those of the "
        "chosen text.",
        "Petrov et al. 2023, arXiv 2305.15425",
    ),
    "renyi_efficiency": Figure(
        "Rényi efficiency",
        "How evenly the texts use the vocabulary: 1 if all tokens occur equally often, lower if a "
        f"few tokens make up most of the texts. It is the Rényi entropy of order {ALPHA}, divided "
        "by the logarithm of the vocabulary size. Compare only vocabularies of one size by it.",
        "Zouhar et al. 2023, arXiv 2306.16842",
    ),
    "used_vocabulary": Figure(
        "Vocabulary used",
        "The share of the vocabulary, special tokens included, that occurs in these texts.",
        "TokEval, vocabulary utilization",
    ),
    "whole_words": Figure(
        "Words kept whole",
        "The share of words that are not split, in texts with spaces between words.",
        "the complement of continued words: Rust et al. 2021, arXiv 2012.15613",
    ),
}
"""The figures by their names in `ComparedTokenizer`."""


def gini(values: Sequence[float]) -> float | None:
    """Return the Gini coefficient: the mean difference of two values over twice the mean.

    >>> gini([1, 1, 4])
    0.3333333333333333
    """
    if len(values) < 2:
        return None
    array = np.array(values, np.float64)
    total = float(np.abs(array[:, None] - array).sum())
    return total / (2 * len(array) ** 2 * float(array.mean()))


def renyi_efficiency(counts: NDArray[np.int64], vocab_size: int) -> float | None:
    """Return the Rényi entropy of order `ALPHA` of tokens over the logarithm of the vocabulary.

    Args:
        counts: How often each token occurs [tokens].
        vocab_size: The size of the vocabulary, special tokens included.
    """
    if not counts.sum() or vocab_size < 2:
        return None
    shares = counts[counts > 0] / counts.sum()
    entropy = float(np.log((shares**ALPHA).sum())) / (1 - ALPHA)
    return entropy / float(np.log(vocab_size)) + 0.0  # not -0.0


def shown(one: ComparedTokenizer, figure: str) -> str:
    """Return a figure of `FIGURES` for readers.

    >>> one = ComparedTokenizer("mine", 9, 0.12345, 2.5, "es", None, 0.0001, 0.5)
    >>> [shown(one, figure) for figure in FIGURES]
    ['0.123', '2.50 (es)', '–', 'less than 0.1%', '50.0%']
    """
    value: float | None = getattr(one, figure)
    if value is None:
        return "–"
    if figure == "worst_premium":
        return f"{value:.2f} ({one.worst_text})"
    if figure in ("used_vocabulary", "whole_words"):
        return "less than 0.1%" if 0 < value < 0.0005 else f"{value:.1%}"
    return f"{value:.3f}"
