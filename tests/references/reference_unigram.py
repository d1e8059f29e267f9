"""Unigram by its definition, slow and simple.

It shares no code with `bpeviz`. It enumerates all segmentations of a text, so texts must be short.
Log probabilities are added as fractions, so that ties are exact.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

Scores = Mapping[str, float]
"""The log probability of each piece."""


def segmentations(text: str, pieces: Scores) -> list[tuple[str, ...]]:
    """Return all segmentations; a character outside the pieces may be a token, too."""
    if not text:
        return [()]
    found = []
    for end in range(1, len(text) + 1):
        if text[:end] in pieces or end == 1:
            found += [(text[:end], *rest) for rest in segmentations(text[end:], pieces)]
    return found


def log_probability(segmentation: tuple[str, ...], pieces: Scores) -> Fraction:
    """Return the log probability of a segmentation.

    The log probability of an unknown character is 10 below that of the least likely piece.
    """
    unknown = min(pieces.values(), default=0.0) - 10
    return sum((Fraction(pieces.get(piece, unknown)) for piece in segmentation), Fraction(0))


def ranked_segmentations(text: str, pieces: Scores) -> list[tuple[str, ...]]:
    """Return all segmentations, the best first.

    Among ties, the one with the longest last piece is first, then the longest before it, and so on.
    """
    return sorted(
        segmentations(text, pieces),
        key=lambda segmentation: (
            -log_probability(segmentation, pieces),
            [-len(piece) for piece in reversed(segmentation)],
        ),
    )


def probabilities(text: str, pieces: Scores, strength: float = 1.0) -> dict[tuple[str, ...], float]:
    """Return the probability of each segmentation of the text, in proportion to P**strength."""
    weights = {
        segmentation: math.exp(strength * float(log_probability(segmentation, pieces)))
        for segmentation in segmentations(text, pieces)
    }
    total = sum(weights.values())
    return {segmentation: weight / total for segmentation, weight in weights.items()}


def expected_counts(words: Mapping[str, int], pieces: Scores) -> dict[str, float]:
    """Return the expected count of each piece over all segmentations of counted words."""
    counts = dict.fromkeys(pieces, 0.0)
    for word, times in words.items():
        for segmentation, probability in probabilities(word, pieces).items():
            for piece in segmentation:
                counts[piece] += times * probability
    return counts


def estimate(counts: Mapping[str, float]) -> dict[str, float]:
    """Return the log of each piece's share of the counts, which are at least a millionth."""
    counts = {piece: max(count, 1e-6) for piece, count in counts.items()}
    total = sum(counts.values())
    return {piece: math.log(count / total) for piece, count in counts.items()}


def negative_log_likelihood(words: Mapping[str, int], pieces: Scores) -> Fraction:
    """Return the negative log probability of the best segmentations of counted words."""
    return -sum(
        (
            times * log_probability(ranked_segmentations(word, pieces)[0], pieces)
            for word, times in words.items()
        ),
        Fraction(0),
    )


def piece_counts(words: Mapping[str, int], pieces: Scores) -> Counter[str]:
    """Return the count of each piece in the best segmentations."""
    found: Counter[str] = Counter()
    for word, times in words.items():
        for piece in ranked_segmentations(word, pieces)[0]:
            found[piece] += times
    return found


def losses(words: Mapping[str, int], pieces: Scores) -> dict[str, Fraction]:
    """Return the cost of removing each piece of two or more characters, as a log likelihood."""
    whole = negative_log_likelihood(words, pieces)
    return {
        piece: negative_log_likelihood(
            words, {other: pieces[other] for other in pieces if other != piece}
        )
        - whole
        for piece in pieces
        if len(piece) > 1
    }


def substring_counts(words: Mapping[str, int], longest: int) -> Counter[str]:
    """Return the count of each substring in counted words, overlaps included."""
    found: Counter[str] = Counter()
    for word, times in words.items():
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + longest) + 1):
                found[word[start:end]] += times
    return found


def seeds(words: Mapping[str, int], longest: int, most: int) -> dict[str, int]:
    """Return the initial pieces of two or more characters, with their counts."""
    counts = substring_counts(words, longest)
    frequent = {piece: times for piece, times in counts.items() if times >= 2 and len(piece) >= 2}

    def within(piece: str) -> bool:
        return any(
            len(longer) == len(piece) + 1 and piece in longer and times == frequent[piece]
            for longer, times in frequent.items()
        )

    best = sorted(frequent, key=lambda piece: (within(piece), -frequent[piece] * len(piece), piece))
    return {piece: frequent[piece] for piece in best[:most]}
