"""Several texts under several tokenizers: their tokens, also relative to one of the texts.

A text is a string, or it consists of documents, each of which is encoded alone. The premium of a
text is the ratio of its tokens to those of the same text in another language, as in Petrov et al.
2023 (arXiv 2305.15425).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from reprlib import repr as short_repr
from typing import Any, NamedTuple, TypeVar

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz import api
from bpeviz.analysis import figures, intervals, verdict
from bpeviz.analysis.compared_text import FIGURES, TOTALS, ComparedText, ComparedTokenizer
from bpeviz.analysis.figures import Measured, Total
from bpeviz.analysis.intervals import Ratios
from bpeviz.analysis.lines import lines_of, tokens_by_line
from bpeviz.analysis.metrics import Column, word_spans
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents, breaks_of, unit_of, whole_text
from bpeviz.corpus.named_texts import Texts
from bpeviz.notebook_cell import NotebookValue
from bpeviz.progress import report
from bpeviz.text import counted, distinct, listed

Compared = TypeVar("Compared", ComparedText, ComparedTokenizer)

_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
# Line_Break=SA: scripts of South East Asia, in which only a dictionary finds words (UAX #14).
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Tibetan}\p{Line_Break=SA}]+")
_UNSPACED_SHARE = 0.1


@dataclass(frozen=True)
class TextIntervals:
    """The intervals of a text that compare its tokenizers; None where there are too few lines."""

    tokens: Ratios | None = None
    premium: Ratios | None = None


@dataclass(frozen=True, repr=False)
class Comparison(NotebookValue):
    """Texts under tokenizers.

    Attributes:
        rows: One for each text and tokenizer, by text.
        tokenizers: Each tokenizer over all texts.
        special_tokens: The number of special tokens around each text, which are counted, by the
            name of the tokenizer; None if they are not counted.
        intervals: The intervals of each text.
        relative_to: The name of the text to which premiums are relative, or None.
        unit: Of what its texts consist: "line" or "row".
        in_sample: The names of tokenizers that were trained on these texts.
    """

    rows: Sequence[ComparedText]
    tokenizers: Sequence[ComparedTokenizer]
    special_tokens: Mapping[str, int] | None
    intervals: Mapping[str, TextIntervals] = field(compare=False)
    relative_to: str | None
    unit: str
    in_sample: Collection[str]

    @property
    def leader(self) -> str:
        """The name of the tokenizer that the verdict is about."""
        return verdict.of_texts(self.rows, self.relative_to, self.in_sample)[1]

    @property
    def verdict(self) -> str:
        """The result in words."""
        return verdict.of_texts(self.rows, self.relative_to, self.in_sample)[0]

    @property
    def notes(self) -> list[str]:
        """The notes of the rows, each once with the names of its texts; and on special tokens."""
        return verdict.notes_of_texts(self.rows, self.special_tokens)

    def __repr__(self) -> str:
        """Return the sizes and the verdict, which are short."""
        texts = len({row.text for row in self.rows})
        return f"<Comparison of {counted(texts, 'text')}: {self.verdict}>"


def compare(
    texts: Mapping[str, str | Iterable[str] | Documents] | Iterable[tuple[str, str]],
    tokenizers: str | Iterable[str | Tokenizer] | Mapping[str, Tokenizer],
    relative_to: str | None = None,
    *,
    special_tokens: bool = False,
    prices: Mapping[str, float] | None = None,
    in_sample: Collection[str] = (),
) -> Comparison:
    """Compare several texts under several tokenizers.

    Texts with as many lines or documents as the text `relative_to` are parallel: each one is a
    translation of the one with the same number.

    Args:
        texts: The texts by name, each as a string, or as a list of documents, which are encoded one
            by one; or pairs of a label and a document, of which those with one label are a text.
        tokenizers: Names as in `bpeviz.load` and tokenizers, of which equal names get a number; or
            tokenizers by name.
        relative_to: The name of the text to which premiums are relative, or None.
        special_tokens: Whether the tokens of a text include the special tokens that the file of
            the tokenizer adds around it, or around each document. Figures of lines and of the
            vocabulary never do.
        prices: The price of a million tokens by the name of the tokenizer, in any currency.
        in_sample: The names of tokenizers that were trained on these texts, which never win.

    Raises:
        ValueError: A name is unknown, a price is not a positive number or 0, or there is no text
            or no tokenizer.

    >>> import bpeviz
    >>> tokenizer = bpeviz.train("low lower lowest", merges=4).tokenizer()
    >>> texts = {"en": ["low"] * 30, "de": ["niedrig"] * 30}
    >>> premium = compare(texts, {"mine": tokenizer}, "en").rows[1]
    >>> premium.premium, premium.low, premium.high
    (7.0, 7.0, 7.0)
    """
    tokenizers, prices = _by_name(tokenizers), {} if prices is None else prices
    texts = _checked_texts(texts, tokenizers, relative_to, prices)
    totals = [
        Total(title, tokenizer, prices.get(title), in_sample=title in in_sample)
        for title, tokenizer in tokenizers.items()
    ]
    if special_tokens:
        for total in totals:
            total.special_tokens = sum(map(len, total.tokenizer.template))
    reference = None
    if relative_to is not None:
        text = texts[relative_to]
        reference = _ReferenceText(relative_to, text, _line_counts(text, totals))
    rows: list[ComparedText] = []
    of_texts: dict[str, TextIntervals] = {}
    for done, (name, text) in enumerate(texts.items()):
        report(name, done, len(texts))
        of_text, of_texts[name] = _compare_text(name, text, totals, reference)
        rows += of_text
    whole = {name for name, text in texts.items() if isinstance(text, str)}
    rows = _with_known_premiums(rows, relative_to, whole)
    of_tokenizers = [_over(total, rows) for total in totals]
    around = {total.title: total.special_tokens for total in totals} if special_tokens else None
    details = (around, of_texts, relative_to, unit_of(*texts.values()), in_sample)
    return Comparison(rows, of_tokenizers, *details)


def _checked_texts(
    texts: Mapping[str, str | Iterable[str] | Documents] | Iterable[tuple[str, str]],
    tokenizers: Mapping[str, Tokenizer],
    relative_to: str | None,
    prices: Mapping[str, float],
) -> Texts:
    """Check the arguments of `compare` and return the texts by name."""
    if not isinstance(prices, Mapping):
        raise ValueError('Give prices by name, as in prices={"gpt2": 0.5}.')
    if not isinstance(texts, Mapping):
        try:
            labels, documents = zip(*texts, strict=True) if (texts := [*texts]) else ((), ())
            texts = Documents(documents, labels).groups if labels else {}
        except (TypeError, ValueError, AttributeError) as error:  # no pairs of a label and a line
            raise ValueError(
                'Give each text a name, as in compare({"greeting": "hello"}, …).'
            ) from error
    if not texts or not tokenizers:
        raise ValueError("Give at least one text and one tokenizer.")
    if relative_to is not None and relative_to not in texts:
        raise ValueError(f"There is no text {relative_to}. The texts are {listed([*texts], 8)}.")
    if wrong := [name for name in prices if name not in tokenizers]:
        raise ValueError(f"There is no tokenizer {wrong[0]}. They are {listed([*tokenizers], 8)}.")
    if not all(isinstance(price, Real) and 0 <= price < np.inf for price in prices.values()):
        raise ValueError("A price is a number from 0 on: the price of a million tokens.")
    return {
        name: text if isinstance(text, str | Documents) else Documents.of(text)
        for name, text in texts.items()
    }


class _ReferenceText(NamedTuple):
    """The text to which premiums are relative.

    Attributes:
        name: Its name.
        text: The text.
        counts: The tokens of its lines or documents [lines, tokenizers].
    """

    name: str
    text: str | Documents
    counts: NDArray[np.int64]


def _compare_text(
    name: str,
    text: str | Documents,
    totals: Sequence[Total],
    reference: _ReferenceText | None,
) -> tuple[list[ComparedText], TextIntervals]:
    """Return the rows and intervals of a text, and add it to the totals of the tokenizers."""
    whole = whole_text(text)
    columns = [
        Column(
            total.title,
            total.tokenizer,
            total.tokenizer.last_boundaries(text),
            total.tokenizer.steps,
            breaks=breaks_of(text),
            in_sample=total.in_sample,
        )
        for total in totals
    ]
    by_line = tokens_by_line(columns, text)
    added = np.array([total.special_tokens for total in totals])
    if isinstance(text, Documents):  # special tokens are around each one
        ratios = intervals.token_ratios(by_line + added, 0 * added)
        added *= len(by_line)
    else:
        ratios = intervals.token_ratios(by_line, added)
    counts, references, one_sided = _parallel_counts(text, by_line, totals, reference)
    premium_ends, premium_ratios = intervals.line_premiums(counts, references)
    has_words = not has_no_spaces(whole)
    number = len(by_line) if len(totals) > 1 else intervals.ROUGH_LINES
    relative_to = reference.name if reference else None
    notes = verdict.notes_of_text(unit_of(text), relative_to, number, len(counts), one_sided)
    notes += [verdict.NO_SPACES] * (not has_words)
    words = word_spans(whole if has_words else "")
    measured = [
        Measured(whole, words, None, column, int(special), own, base, total.price)
        for column, total, special, own, base in zip(
            columns, totals, added, counts.T, references.T, strict=True
        )
    ]
    rows = []
    for part, total, (low, high), difference in zip(
        measured, totals, premium_ends, _differences(measured, ratios), strict=True
    ):
        total.add(part)
        row: dict[str, Any] = {key: figure.of(part) for key, figure in FIGURES.items()}
        row |= {"text": name, "tokenizer": total.title, "unknown": part.column.unknown}
        row |= {"whole_words": figures.whole_words.of(part), "low": low, "high": high}
        lost = [verdict.UNKNOWN.format(total.title)] if part.column.unknown else []
        rows.append(ComparedText(lines=len(counts), notes=(*notes, *lost), **row | difference))
    return rows, TextIntervals(ratios, premium_ratios)


def _over(total: Total, rows: Sequence[ComparedText]) -> ComparedTokenizer:
    """Return the figures of a tokenizer over all texts. rows: those of all tokenizers."""
    total.premiums = [
        (row.premium, row.text)
        for row in rows
        if row.tokenizer == total.title and row.premium is not None
    ]
    values: dict[str, Any] = {key: figure.of(total) for key, figure in TOTALS.items()}
    values |= {"worst_text": total.worst[1], "cost": figures.cost.of(total)}
    return ComparedTokenizer(total.title, total.tokens, **values)


def _by_name(
    given: str | Iterable[str | Tokenizer] | Mapping[str, Tokenizer],
) -> Mapping[str, Tokenizer]:
    """Return tokenizers by name; of equal names, the later ones get a number.

    Raises:
        ValueError: One is neither a tokenizer nor a name.
    """
    if isinstance(given, Mapping):
        names, entries = [*given], [*given.values()]
    else:
        is_list = isinstance(given, Iterable) and not isinstance(given, str)
        entries = [*given] if is_list else [given]
        names = distinct(getattr(entry, "name", entry) for entry in entries)
    for entry in entries:
        if not isinstance(entry, (str, Tokenizer)):
            raise ValueError(f"Give tokenizers or their names, not {short_repr(entry)}.")
    loaded = (api.load(entry) if isinstance(entry, str) else entry for entry in entries)
    return dict(zip(names, loaded, strict=True))


def priced(comparison: Comparison, prices: Mapping[str, float]) -> Comparison:
    """Return a comparison with costs.

    Args:
        comparison: The comparison.
        prices: The price of a million tokens by the name of the tokenizer.
    """

    def with_cost(row: Compared) -> Compared:
        return replace(row, cost=figures.cost_of(row.tokens, prices.get(row.tokenizer)))

    rows, tokenizers = (
        [*map(with_cost, part)] for part in (comparison.rows, comparison.tokenizers)
    )
    return replace(comparison, rows=rows, tokenizers=tokenizers)


def _differences(measured: Sequence[Measured], ratios: Ratios | None) -> list[dict[str, Any]]:
    """Return the difference of each tokenizer with its interval, and whether it is the best."""
    columns = [part.column for part in measured]
    compared = [column for column in columns if not column.in_sample] or columns
    compared = [column for column in compared if not column.lossy] or compared
    counts = [part.tokens if part.column in compared else None for part in measured]
    best = intervals.leaders(counts, ratios)
    differences = []
    for i, count in enumerate(counts):
        others = [(other, j) for j, other in enumerate(counts) if other and j != i]
        difference = low = high = None
        if count is not None and others:
            least, j = min(others)
            difference = count / least - 1
            low, high = (None, None) if ratios is None else (float(end[i, j]) - 1 for end in ratios)
        ends = {"difference_low": low, "difference_high": high}
        differences.append({"difference": difference, **ends, "best": i in best})
    return differences


def _with_known_premiums(
    rows: Sequence[ComparedText], relative_to: str | None, whole: Collection[str]
) -> list[ComparedText]:
    """Return rows without premiums of texts that a tokenizer loses, and notes on other ratios.

    Args:
        rows: The rows.
        relative_to: The name of the text to which premiums are relative.
        whole: The names of texts that do not consist of documents.
    """
    lossy = {(row.text, row.tokenizer) for row in rows if row.unknown}
    base = {row.tokenizer: row.tokens for row in rows if row.text == relative_to}
    known = []
    for row in rows:
        lost = [text for text in (row.text, relative_to) if (text, row.tokenizer) in lossy]
        if lost and row.premium is not None:
            note = verdict.NO_PREMIUM.format(row.tokenizer, lost[0])
            row = replace(row, premium=None, low=None, high=None, notes=(*row.notes, note))
        elif row.premium is not None and row.text in whole:
            ratio = row.tokens / base[row.tokenizer]
            if f"{ratio:.2f}" != f"{row.premium:.2f}":
                row = replace(row, notes=(*row.notes, verdict.NO_RATIO))
        known.append(row)
    return known


def parallel_texts(texts: Mapping[str, str | Documents]) -> tuple[int, list[str]]:
    r"""Return the number of lines or documents that most texts have, and the names of these texts.

    There are no names for a single text, or if less than half of the texts have as many lines.

    >>> parallel_texts({"en": "a\nb", "es": Documents(("c", "d")), "code": "e"})
    (2, ['en', 'es'])
    """
    numbers = {name: len(lines_of(text)) for name, text in texts.items()}
    ((number, times),) = Counter(numbers.values()).most_common(1) or [(0, 0)]
    is_chance = times < len(texts) and (number < 2 or 2 * times < len(texts))
    if times < 2 or is_chance:
        return number, []
    return number, [name for name, lines in numbers.items() if lines == number]


def has_no_spaces(text: str) -> bool:
    """Return whether a text is in a script that writes no spaces between words.

    >>> [has_no_spaces(text) for text in ("the tea house", "我们去茶馆", "한국어 문장")]
    [False, True, False]
    """
    unspaced = 0 if text.isascii() else sum(map(len, _UNSPACED.findall(text)))
    return unspaced > 0 and unspaced > _UNSPACED_SHARE * sum(map(len, _LETTERS.findall(text)))


def _line_counts(text: str | Documents, totals: Sequence[Total]) -> NDArray[np.int64]:
    """Return the tokens of each line or document, 0 for a blank one [lines, tokenizers]."""
    lines = lines_of(text)
    whole = [line.removesuffix("\r") for line in lines] if isinstance(text, str) else lines
    counts = np.array([total.tokenizer.count_batch(whole) for total in totals], np.int64).T
    counts[[not line.strip() for line in lines]] = 0
    return counts


def _parallel_counts(
    text: str | Documents,
    by_line: NDArray[np.int64],
    totals: Sequence[Total],
    reference: _ReferenceText | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int | None]:
    """Compare the lines or documents of a text with those of the reference.

    Args:
        text: The text.
        by_line: The tokens of those that are not blank [lines, tokenizers].
        totals: The tokenizers.
        reference: The reference.

    Returns:
        The tokens of the lines that are parallel, and those of the same lines of the reference
        [lines, tokenizers]; and how many lines are empty in one of both texts only, or None if the
        texts are not parallel.
    """
    lines, others = lines_of(text), lines_of(reference.text if reference else "")
    if reference is None or len(lines) != len(others):
        none = np.empty((0, len(totals)), np.int64)
        return none, none, None
    if isinstance(text, str):
        counts = _line_counts(text, totals)
    else:  # each was encoded alone
        counts = np.zeros((len(lines), len(totals)), np.int64)
        counts[[bool(line.strip()) for line in lines]] = by_line
    is_kept = (counts > 0).all(1) & (reference.counts > 0).all(1)
    one_sided = sum((not a.strip()) != (not b.strip()) for a, b in zip(lines, others, strict=True))
    around = np.array([total.special_tokens for total in totals])
    if isinstance(text, str) or isinstance(reference.text, str):
        around *= 0
    return counts[is_kept] + around, reference.counts[is_kept] + around, one_sided
