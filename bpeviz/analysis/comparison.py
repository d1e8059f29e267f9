"""Several texts under several tokenizers: what each text costs, and relative to one of them.

The premium of a text is the ratio of its tokens to those of the same text in another language, as
in Petrov et al. 2023 (arXiv 2305.15425). Its interval is the percentile bootstrap over lines (Efron
and Tibshirani 1993, chapter 13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz import api
from bpeviz.analysis import verdict
from bpeviz.analysis.metrics import Column, measure
from bpeviz.analysis.verdict import Standing
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.progress import report
from bpeviz.text import clean, counted, joined, listed, split_lines

FEWEST_LINES, ROUGH_LINES = 10, 30
"""Below these numbers of parallel lines, the premium has no interval, or a rough one."""

RESAMPLES, SEED = 1_000, 0
"""The number of bootstrap resamples, and the seed of their random numbers."""

_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
# Line_Break=SA: scripts of South East Asia, in which only a dictionary finds words (UAX #14).
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Tibetan}\p{Line_Break=SA}]+")
_UNSPACED_SHARE = 0.1


@dataclass(frozen=True)
class ComparedText:
    """A text under a tokenizer.

    Attributes:
        text: The name of the text.
        tokenizer: The name of the tokenizer.
        tokens: The number of tokens of the whole text, without special tokens.
        bytes_per_token: UTF-8 bytes per token; None without tokens.
        tokens_per_word: Mean number of pieces of a word; None where words are not known.
        unknown: The number of tokens that are not in the vocabulary.
        premium: The tokens of its lines, each encoded alone, relative to those of the same lines
            of the chosen text; None if lines are not parallel, or the tokenizer loses text.
        low: The lower end of the 95% interval of the premium; None below `FEWEST_LINES`.
        high: The upper end.
        lines: The number of parallel lines, without empty ones.
        notes: The reasons for values of None, and limits of the others.
    """

    text: str
    tokenizer: str
    tokens: int
    bytes_per_token: float | None
    tokens_per_word: float | None
    unknown: int
    premium: float | None
    low: float | None
    high: float | None
    lines: int
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Texts under tokenizers.

    Attributes:
        rows: One for each text and tokenizer, by text.
        verdict: The result in words.
        notes: The notes of the rows, each once with the names of its texts.
    """

    rows: Sequence[ComparedText]
    verdict: str
    notes: Sequence[str]

    to_notebook: ClassVar[Callable[[Comparison], str] | None] = None
    """Returns the HTML of a notebook. `bpeviz.views` sets it."""

    def __repr__(self) -> str:
        """Return the sizes and the verdict, which are short."""
        texts = len({row.text for row in self.rows})
        return f"<Comparison of {counted(texts, 'text')}: {self.verdict}>"

    def _repr_html_(self) -> str | None:
        """Return the tables of all figures, which a notebook shows."""
        show = type(self).to_notebook
        return None if show is None else show(self)


def compare(
    texts: Mapping[str, str | Sequence[str]],
    tokenizers: str | Iterable[str] | Mapping[str, Tokenizer],
    relative_to: str | None = None,
) -> Comparison:
    """Compare several texts under several tokenizers.

    Texts with the same number of lines as the text `relative_to` are parallel: each line is a
    translation of the line with the same number.

    Args:
        texts: The texts by name, each as a string or as its lines.
        tokenizers: Names as in `bpeviz.load`, or tokenizers by name.
        relative_to: The name of the text to which premiums are relative, or None.

    Raises:
        ValueError: A name is unknown, or there is no text or no tokenizer.

    >>> import bpeviz
    >>> tokenizer = bpeviz.train("low lower lowest", merges=4).tokenizer()
    >>> found = compare({"en": ["low"] * 30, "de": ["niedrig"] * 30}, {"mine": tokenizer}, "en")
    >>> found.rows[1].premium, found.rows[1].low, found.rows[1].high
    (7.0, 7.0, 7.0)
    """
    if isinstance(tokenizers, str):
        tokenizers = [tokenizers]
    if not isinstance(tokenizers, Mapping):
        tokenizers = {name: api.load(name) for name in tokenizers}
    if not texts or not tokenizers:
        raise ValueError("Give at least one text and one tokenizer.")
    if relative_to is not None and relative_to not in texts:
        raise ValueError(f"There is no text {relative_to}. The texts are {listed([*texts], 8)}.")
    lines = {
        name: split_lines(clean(text)) if isinstance(text, str) else [*map(clean, text)]
        for name, text in texts.items()
    }
    base = None if relative_to is None else lines[relative_to]
    base_counts = None if base is None else _line_counts(base, tokenizers.values())
    rows: list[ComparedText] = []
    for done, (name, text) in enumerate(texts.items()):
        report(name, done, len(texts))
        whole = clean(text) if isinstance(text, str) else "\n".join(lines[name])
        premiums, used = np.full((3, len(tokenizers)), np.nan), 0
        notes: list[str] = []
        if base is not None and len(lines[name]) != len(base):
            notes.append(f"not as many lines as {relative_to}, so no premium")
        elif base is not None and base_counts is not None:
            counts = _line_counts(lines[name], tokenizers.values())
            kept = (counts > 0).all(1) & (base_counts > 0).all(1)
            used = int(kept.sum())
            premiums = line_premiums(counts[kept], base_counts[kept])
            notes += _line_notes(lines[name], base, str(relative_to), used)
        has_words = not has_no_spaces(whole)
        if not has_words:
            notes.append("no spaces between words, so no tokens per word")
        for (title, tokenizer), of_tokenizer in zip(tokenizers.items(), premiums.T, strict=True):
            column = Column(title, tokenizer, tokenizer.boundaries(whole), tokenizer.steps)
            (found,) = measure(whole, [column], 0)
            premium, low, high = (None if np.isnan(one) else float(one) for one in of_tokenizer)
            lost = [f"{title} loses text, as unknown tokens"] if column.unknown else []
            rows.append(
                ComparedText(
                    name,
                    title,
                    found.tokens,
                    found.bytes_per_token,
                    found.tokens_per_word if has_words else None,
                    column.unknown,
                    premium,
                    low,
                    high,
                    used,
                    (*notes, *lost),
                )
            )
    rows = _without_lossy_premiums(rows, relative_to)
    return Comparison(rows, _verdict(rows, relative_to), _notes(rows))


def _without_lossy_premiums(
    rows: Sequence[ComparedText], relative_to: str | None
) -> list[ComparedText]:
    """Return rows without the premiums of texts of which a tokenizer loses a part."""
    lossy = {(row.text, row.tokenizer) for row in rows if row.unknown}
    found = []
    for row in rows:
        lost = [one for one in (row.text, relative_to) if (one, row.tokenizer) in lossy]
        if lost and row.premium is not None:
            note = f"{row.tokenizer} loses text of {lost[0]}, so no premium"
            row = replace(row, premium=None, low=None, high=None, notes=(*row.notes, note))
        found.append(row)
    return found


def has_no_spaces(text: str) -> bool:
    """Return whether a text is in a script that writes no spaces between words.

    >>> [has_no_spaces(text) for text in ("the tea house", "我们去茶馆", "한국어 문장")]
    [False, True, False]
    """
    unspaced = sum(map(len, _UNSPACED.findall(text)))
    return unspaced > _UNSPACED_SHARE * sum(map(len, _LETTERS.findall(text)))


def line_premiums(counts: NDArray[np.int64], base: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the ratio of tokens for each tokenizer, and its 95% bootstrap interval.

    Args:
        counts: Tokens of each line, at least 1 [lines, tokenizers].
        base: Tokens of the same lines of the chosen text, at least 1 [lines, tokenizers].

    Returns:
        Ratio, lower and upper end [3, tokenizers]; NaN if there are too few lines.
    """
    found = np.full((3, counts.shape[1]), np.nan)
    number = len(counts)
    if number:
        found[0] = counts.sum(0) / base.sum(0)
    if number >= FEWEST_LINES:
        generator = np.random.default_rng(SEED)
        drawn = (generator.integers(number, size=number) for _ in range(RESAMPLES))
        ratios = [counts[lines].sum(0) / base[lines].sum(0) for lines in drawn]
        found[1:] = np.quantile(ratios, [0.025, 0.975], axis=0)
    return found


def _line_counts(lines: Sequence[str], tokenizers: Iterable[Tokenizer]) -> NDArray[np.int64]:
    """Return the tokens of each line, 0 for a blank one [lines, tokenizers]."""
    counts = [
        [len(tokenizer.encode(line.removesuffix("\r"))) if line.strip() else 0 for line in lines]
        for tokenizer in tokenizers
    ]
    return np.array(counts, np.int64).T


def _line_notes(
    lines: Sequence[str], base: Sequence[str], relative_to: str, used: int
) -> list[str]:
    """Return what limits the premium of parallel lines."""
    empty = sum((not a.strip()) != (not b.strip()) for a, b in zip(lines, base, strict=True))
    notes = []
    if empty:
        notes.append(
            f"{counted(empty, 'line')} empty only here or only in {relative_to}, left out of the "
            "premium"
        )
    if not used:
        notes.append("no parallel lines, so no premium")
    elif used < FEWEST_LINES:
        notes.append(f"fewer than {FEWEST_LINES} parallel lines, so no interval")
    elif used < ROUGH_LINES:
        notes.append(f"fewer than {ROUGH_LINES} parallel lines, so the interval is rough")
    return notes


def _notes(rows: Sequence[ComparedText]) -> list[str]:
    """Return each note once, with the names of its texts."""
    texts: dict[str, dict[str, None]] = {}
    for row in rows:
        for note in row.notes:
            texts.setdefault(note, {})[row.text] = None
    return [f"{listed([*names], 8)}: {note}." for note, names in texts.items()]


def _verdict(rows: Sequence[ComparedText], relative_to: str | None) -> str:
    """Return the tokenizer with the fewest tokens, and the text with its largest premium."""
    texts = [*dict.fromkeys(row.text for row in rows)]
    won: dict[str, list[str]] = {row.tokenizer: [] for row in rows}
    for text in texts:
        standings = [
            Standing(row.tokenizer, row.tokens, row.unknown > 0) for row in rows if row.text == text
        ]
        for i in verdict.best(standings):
            won[standings[i].name].append(text)
    ranked = sorted(won, key=lambda title: -len(won[title]))
    first = ranked[0]
    if len(texts) == 1:
        found = verdict.sentence(standings, 0)
    elif len(won) == 1:
        tokens = sum(row.tokens for row in rows)
        found = f"{first} needs {counted(tokens, 'token')} for {len(texts):,} texts."
    elif len(won[first]) == len(texts):
        names = [title for title in ranked if len(won[title]) == len(texts)]
        needs = "needs" if len(names) == 1 else "need"
        all_texts = "both texts" if len(texts) == 2 else f"all {len(texts):,} texts"
        found = f"{joined(names)} {needs} the fewest tokens for {all_texts}."
    else:
        rest = {title: [one for one in won[title] if one not in won[first]] for title in ranked}
        others = [f"{title} for {listed(names, 4)}" for title, names in rest.items() if names]
        found = (
            f"{first} needs the fewest tokens for {len(won[first]):,} of {len(texts):,} texts; "
            f"{'; '.join(others)}."
        )
    dear = [
        (row.premium, row)
        for row in rows
        if row.tokenizer == first and row.premium is not None and row.text != relative_to
    ]
    if dear:
        premium, worst = max(dear, key=lambda one: one[0])
        of_all = f", the most of {len(dear):,}" if len(dear) > 1 else ""
        interval = f" ({worst.low:.2f} to {worst.high:.2f})" if worst.low is not None else ""
        found += (
            f" Under {first}, {worst.text} takes {premium:.2f} times as many tokens as "
            f"{relative_to}{interval}{of_all}."
        )
    return found
