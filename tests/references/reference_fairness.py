"""Fairness and use of the vocabulary by definition, slow and simple, for one tokenizer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction


def gini(lines: Sequence[Sequence[int]]) -> Fraction:
    """Return TokEval's tokenizer fairness Gini, normalized per line.

    With c the tokens per line of a language, it is the sum of |c_i - c_j| over all i and j,
    divided by 2 n² times the mean of c.

    Args:
        lines: The tokens of each line of each language, as many lines for each [languages][lines].
    """
    costs = [Fraction(sum(counts), len(counts)) for counts in lines]
    differences = sum(abs(one - other) for one in costs for other in costs)
    return Fraction(differences, 2 * len(costs) ** 2) / Fraction(sum(costs), len(costs))


def renyi_efficiency(ids: Iterable[int], vocab_size: int, alpha: float = 2.5) -> float:
    """Return H_α / log2 |V| of Zouhar et al. 2023, with H_α = log2(Σ p^α) / (1 - α)."""
    counts = Counter(ids)
    total = sum(counts.values())
    entropy = math.log2(sum((count / total) ** alpha for count in counts.values())) / (1 - alpha)
    return entropy / math.log2(vocab_size)


def whole_words(texts: Iterable[tuple[str, Iterable[int]]]) -> Fraction:
    """Return the share of words that no token boundary divides.

    Args:
        texts: The texts, each with the characters at which its tokens begin.
    """
    whole = words = 0
    for text, begins in texts:
        places = {*begins}
        for word in re.finditer(r"[^\W_]+", text):
            words += 1
            whole += places.isdisjoint(range(word.start() + 1, word.end()))
    return Fraction(whole, words)
