"""Several texts under several tokenizers: their tokens, also relative to one of the texts.

The premium of a text is the ratio of its tokens to those of the same text in another language, as
in Petrov et al. 2023 (arXiv 2305.15425).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import ClassVar, cast

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz import api
from bpeviz.analysis import fairness, intervals, verdict
from bpeviz.analysis.fairness import ComparedTokenizer
from bpeviz.analysis.intervals import FEWEST_LINES, ROUGH_LINES, Ratios
from bpeviz.analysis.lines import lines_of, tokens_by_line
from bpeviz.analysis.metrics import Column, boundaries_inside, word_spans
from bpeviz.analysis.verdict import Standing
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.tables import by_label
from bpeviz.progress import report
from bpeviz.text import clean, counted, distinct, joined, listed

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
        tokens: The number of tokens of the whole text.
        bytes_per_token: UTF-8 bytes per token; None without tokens.
        tokens_per_word: Mean number of pieces of a word; None where words are not known.
        whole_words: The share of words without an inner boundary; None where words are not known.
        unknown: The number of tokens that are not in the vocabulary.
        premium: The tokens of its lines, each encoded alone, relative to those of the same lines
            of the chosen text; None if lines are not parallel, or the tokenizer loses text.
        low: The lower end of the 95% interval of the premium; None below `FEWEST_LINES`.
        high: The upper end.
        lines: The number of parallel lines, without empty ones.
        difference: The difference in tokens from the best other tokenizer, as a share of its
            tokens; None if there is no other one, or one of them loses text.
        difference_low: The lower end of the 95% interval of the difference; None below
            `FEWEST_LINES`.
        difference_high: The upper end.
        best: Whether it has the fewest tokens, and the intervals of the differences from all
            others, if there are any, do not contain 0.
        cost: The price of the tokens; None without a price per million of them.
        notes: The reasons for values of None, and limits of the others.
    """

    text: str
    tokenizer: str
    tokens: int
    bytes_per_token: float | None
    tokens_per_word: float | None
    whole_words: float | None
    unknown: int
    premium: float | None
    low: float | None
    high: float | None
    lines: int
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    best: bool
    cost: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TextIntervals:
    """The intervals of a text that compare its tokenizers; None where there are too few lines."""

    tokens: Ratios | None = None
    premium: Ratios | None = None


@dataclass(frozen=True, repr=False)
class Comparison:
    """Texts under tokenizers.

    Attributes:
        rows: One for each text and tokenizer, by text.
        verdict: The result in words.
        notes: The notes of the rows, each once with the names of its texts.
        tokenizers: Each tokenizer over all texts.
        special_tokens: Whether the tokens include special tokens around each text.
        intervals: The intervals of each text.
    """

    rows: Sequence[ComparedText]
    verdict: str
    notes: Sequence[str]
    tokenizers: Sequence[ComparedTokenizer]
    special_tokens: bool = False
    intervals: Mapping[str, TextIntervals] = field(default_factory=dict, compare=False)

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
    texts: Mapping[str, str | Sequence[str]] | Iterable[tuple[str, str]],
    tokenizers: str | Iterable[str | Tokenizer] | Mapping[str, Tokenizer],
    relative_to: str | None = None,
    *,
    special_tokens: bool = False,
    prices: Mapping[str, float] | None = None,
) -> Comparison:
    """Compare several texts under several tokenizers.

    Texts with the same number of lines as the text `relative_to` are parallel: each line is a
    translation of the line with the same number.

    Args:
        texts: The texts by name, each as a string or as its lines; or pairs of a label and a line,
            of which those with one label are a text.
        tokenizers: Names as in `bpeviz.load` and tokenizers, of which equal names get a number; or
            tokenizers by name.
        relative_to: The name of the text to which premiums are relative, or None.
        special_tokens: Whether the tokens of a text include the special tokens that the file of
            the tokenizer adds around it. Figures of lines and of the vocabulary never do.
        prices: The price of a million tokens by the name of the tokenizer, in any currency.

    Raises:
        ValueError: A name is unknown, a price is not a positive number or 0, or there is no text
            or no tokenizer.

    >>> import bpeviz
    >>> tokenizer = bpeviz.train("low lower lowest", merges=4).tokenizer()
    >>> found = compare({"en": ["low"] * 30, "de": ["niedrig"] * 30}, {"mine": tokenizer}, "en")
    >>> found.rows[1].premium, found.rows[1].low, found.rows[1].high
    (7.0, 7.0, 7.0)
    """
    if isinstance(texts, str):
        raise ValueError('Give each text a name, as in compare({"greeting": "hello"}, …).')
    if not all(isinstance(price, Real) for price in (prices or {}).values()):
        raise ValueError("A price is a number: the price of a million tokens.")
    tokenizers = _by_name(tokenizers)
    if not isinstance(texts, Mapping):
        texts = by_label(texts)
    if not texts or not tokenizers:
        raise ValueError("Give at least one text and one tokenizer.")
    if relative_to is not None and relative_to not in texts:
        raise ValueError(f"There is no text {relative_to}. The texts are {listed([*texts], 8)}.")
    if wrong := [name for name in prices or () if name not in tokenizers]:
        raise ValueError(f"There is no tokenizer {wrong[0]}. They are {listed([*tokenizers], 8)}.")
    if prices is not None and not all(0 <= price < np.inf for price in prices.values()):
        raise ValueError("A price is a number from 0 on.")
    lines = {name: lines_of(text) for name, text in texts.items()}
    base = None if relative_to is None else lines[relative_to]
    base_counts = None if base is None else _line_counts(base, tokenizers.values())
    tallies = [_Tally(title, one) for title, one in tokenizers.items()]
    added = [sum(map(len, tally.tokenizer.template)) * special_tokens for tally in tallies]
    rows: list[ComparedText] = []
    of_texts: dict[str, TextIntervals] = {}
    for done, (name, text) in enumerate(texts.items()):
        report(name, done, len(texts))
        whole = clean(text) if isinstance(text, str) else "\n".join(lines[name])
        premiums, premium_ratios, used = np.full((3, len(tokenizers)), np.nan), None, None
        notes: list[str] = []
        if base is not None and len(lines[name]) != len(base):
            notes.append(f"not as many lines as {relative_to}, so no premium")
        elif base is not None and base_counts is not None:
            counts = _line_counts(lines[name], tokenizers.values())
            kept = (counts > 0).all(1) & (base_counts > 0).all(1)
            used = int(kept.sum())
            premiums, premium_ratios = intervals.line_premiums(counts[kept], base_counts[kept])
            notes += _parallel_notes(lines[name], base, str(relative_to))
        columns = [
            Column(title, one, one.last_boundaries(whole), one.steps)
            for title, one in tokenizers.items()
        ]
        by_line = tokens_by_line(columns, lines[name])
        ratios = None
        if len(by_line) >= FEWEST_LINES and len(columns) > 1:
            ratios = intervals.ratios(intervals.totals(by_line) + np.array(added))
        of_texts[name] = TextIntervals(ratios, premium_ratios)
        notes += _line_notes(len(by_line) if len(columns) > 1 else ROUGH_LINES, used)
        size, has_words = len(whole.encode()), not has_no_spaces(whole)
        words = word_spans(whole if has_words else "")
        if not has_words:
            notes.append("no spaces between words, so no tokens per word")
        tokens = [column.tokens + more for column, more in zip(columns, added, strict=True)]
        differences = _differences(tokens, [column.unknown > 0 for column in columns], ratios)
        for i, column in enumerate(columns):
            inside = boundaries_inside(column, *words)
            tallies[i].add(column, tokens[i], inside)
            premium, low, high = (None if np.isnan(one) else float(one) for one in premiums[:, i])
            lost = [f"{column.title} loses text, as unknown tokens"] if column.unknown else []
            rows.append(
                ComparedText(
                    name,
                    column.title,
                    tokens[i],
                    size / tokens[i] if tokens[i] else None,
                    float(inside.mean()) + 1 if len(inside) else None,
                    float((inside == 0).mean()) if len(inside) else None,
                    column.unknown,
                    premium,
                    low,
                    high,
                    used or 0,
                    *differences[i],
                    None,
                    (*notes, *lost),
                )
            )
    rows = _with_known_premiums(rows, relative_to)
    summary = _notes(rows) + ([_special_note(tallies, added)] if special_tokens else [])
    of_tokenizers = [tally.over(rows) for tally in tallies]
    sentence = _verdict(rows, relative_to)
    found = Comparison(rows, sentence, summary, of_tokenizers, special_tokens, of_texts)
    return found if prices is None else priced(found, prices)


def _by_name(
    given: str | Iterable[str | Tokenizer] | Mapping[str, Tokenizer],
) -> Mapping[str, Tokenizer]:
    """Return tokenizers by name; of equal names, the later ones get a number."""
    if isinstance(given, Mapping):
        return cast("Mapping[str, Tokenizer]", given)
    given = [given] if isinstance(given, str) else [*given]
    names = distinct(one if isinstance(one, str) else one.name for one in given)
    loaded = (api.load(one) if isinstance(one, str) else one for one in given)
    return dict(zip(names, loaded, strict=True))


def priced(found: Comparison, prices: Mapping[str, float]) -> Comparison:
    """Return a comparison with costs.

    Args:
        found: The comparison.
        prices: The price of a million tokens by the name of the tokenizer.
    """

    def cost(row: ComparedText | ComparedTokenizer) -> float | None:
        price = prices.get(row.tokenizer)
        return None if price is None else row.tokens * price / 1e6

    return replace(
        found,
        rows=[replace(row, cost=cost(row)) for row in found.rows],
        tokenizers=[replace(one, cost=cost(one)) for one in found.tokenizers],
    )


class _Tally:
    """The tokens and words of a tokenizer over all texts."""

    def __init__(self, title: str, tokenizer: Tokenizer) -> None:
        self.title, self.tokenizer = title, tokenizer
        self.tokens = self.words = self.whole = 0
        self.counts = np.zeros(tokenizer.vocab_size + 1, np.int64)
        """How often unknown tokens and each id occur [vocabulary + 1]."""

    def add(self, column: Column, tokens: int, inside: NDArray[np.int64]) -> None:
        """Add a text.

        Args:
            column: The text under this tokenizer.
            tokens: The number of its tokens.
            inside: The number of boundaries in each of its words.
        """
        self.tokens += tokens
        self.words += len(inside)
        self.whole += int((inside == 0).sum())
        np.add.at(self.counts, column.ids[column.ids != DROPPED_ID] - UNKNOWN_ID, 1)

    def over(self, rows: Sequence[ComparedText]) -> ComparedTokenizer:
        """Return the figures over all texts. rows: those of all tokenizers."""
        known = [
            (row.premium, row.text)
            for row in rows
            if row.tokenizer == self.title and row.premium is not None
        ]
        worst, text = max(known, key=lambda one: one[0], default=(None, ""))
        size = len([*self.tokenizer.known_ids()])
        used = np.count_nonzero(self.counts[self.tokenizer.unknown_id is None :])
        return ComparedTokenizer(
            self.title,
            self.tokens,
            fairness.gini([premium for premium, _ in known]),
            worst if len(known) > 1 else None,
            text if len(known) > 1 else "",
            fairness.renyi_efficiency(self.counts, size),
            int(used) / size if size else None,
            self.whole / self.words if self.words else None,
        )


def _special_note(tallies: Sequence[_Tally], added: Sequence[int]) -> str:
    """Return how many special tokens are around each text."""
    numbers = {tally.title: number for tally, number in zip(tallies, added, strict=True)}
    known = [f"{title} {number:,}" for title, number in numbers.items() if number]
    others = [title for title, number in numbers.items() if not number]
    found = [f"Counts include the special tokens around each text: {listed(known, 8)}."] * bool(
        known
    )
    if others:
        found.append(f"No special tokens around a text are known for {listed(others, 8)}.")
    return " ".join(found)


def _differences(
    tokens: Sequence[int], is_lossy: Sequence[bool], ratios: Ratios | None
) -> list[tuple[float | None, float | None, float | None, bool]]:
    """Return the difference of each tokenizer with its interval, and whether it is the best."""
    ranks_all = all(is_lossy)
    counts = [
        one if ranks_all or not loses else None for one, loses in zip(tokens, is_lossy, strict=True)
    ]
    best = intervals.leaders(counts, ratios)
    found: list[tuple[float | None, float | None, float | None, bool]] = []
    for i, count in enumerate(counts):
        others = [(one, j) for j, one in enumerate(counts) if one and j != i]
        if count is None or not others:
            found.append((None, None, None, i in best))
            continue
        least, j = min(others)
        low, high = (None, None) if ratios is None else (float(end[i, j]) - 1 for end in ratios)
        found.append((count / least - 1, low, high, i in best))
    return found


def _with_known_premiums(
    rows: Sequence[ComparedText], relative_to: str | None
) -> list[ComparedText]:
    """Return rows without premiums of texts that a tokenizer loses, and notes on other ratios."""
    lossy = {(row.text, row.tokenizer) for row in rows if row.unknown}
    base = {row.tokenizer: row.tokens for row in rows if row.text == relative_to}
    found = []
    for row in rows:
        lost = [one for one in (row.text, relative_to) if (one, row.tokenizer) in lossy]
        if lost and row.premium is not None:
            note = f"{row.tokenizer} loses text of {lost[0]}, so no premium"
            row = replace(row, premium=None, low=None, high=None, notes=(*row.notes, note))
        elif row.premium is not None:
            ratio = row.tokens / base[row.tokenizer]
            if f"{ratio:.2f}" != f"{row.premium:.2f}":
                row = replace(row, notes=(*row.notes, _NO_RATIO))
        found.append(row)
    return found


_NO_RATIO = "the premium is that of lines encoded alone, so it is not the ratio of the tokens"


def parallel_texts(texts: Mapping[str, str | Sequence[str]]) -> tuple[int, list[str]]:
    r"""Return the number of lines that most texts have, and the names of these texts.

    There are no names for a single text, or if less than half of the texts have as many lines.

    >>> parallel_texts({"en": "a\nb", "es": ["c", "d"], "code": "e"})
    (2, ['en', 'es'])
    """
    numbers = {name: len(lines_of(text)) for name, text in texts.items()}
    ((number, times),) = Counter(numbers.values()).most_common(1) or [(0, 0)]
    is_chance = times < len(texts) and (number < 2 or 2 * times <= len(texts))
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


def _line_counts(lines: Sequence[str], tokenizers: Iterable[Tokenizer]) -> NDArray[np.int64]:
    """Return the tokens of each line, 0 for a blank one [lines, tokenizers]."""
    whole = [line.removesuffix("\r") for line in lines]
    is_blank = np.array([not line.strip() for line in lines], np.bool_)
    counts = np.array([tokenizer.token_counts(whole) for tokenizer in tokenizers], np.int64).T
    counts[is_blank] = 0
    return counts


def _parallel_notes(lines: Sequence[str], base: Sequence[str], relative_to: str) -> list[str]:
    """Return the number of parallel lines that are left out."""
    empty = sum((not a.strip()) != (not b.strip()) for a, b in zip(lines, base, strict=True))
    if not empty:
        return []
    left_out = f"{counted(empty, 'line')} empty only here or only in {relative_to}"
    return [f"{left_out}, left out of the premium"]


def _line_notes(own: int, used: int | None) -> list[str]:
    """Return why there is no interval, or only a rough one.

    Args:
        own: The number of lines that are not blank, or `ROUGH_LINES` with a single tokenizer.
        used: The number of parallel lines, or None without them.
    """
    notes = []
    if own < FEWEST_LINES:
        notes.append(f"fewer than {FEWEST_LINES} lines, so no intervals, only plain counts")
    elif own < ROUGH_LINES:
        notes.append(f"fewer than {ROUGH_LINES} lines, so intervals are rough")
    if used == 0:
        notes.append("no parallel lines, so no premium")
    elif used is not None and used < FEWEST_LINES <= own:
        notes.append(f"fewer than {FEWEST_LINES} parallel lines, so no interval")
    elif used is not None and used < ROUGH_LINES <= own:
        notes.append(f"fewer than {ROUGH_LINES} parallel lines, so the interval is rough")
    return notes


def _notes(rows: Sequence[ComparedText]) -> list[str]:
    """Return each note once, with the names of its texts."""
    texts: dict[str, dict[str, None]] = {}
    for row in rows:
        for note in row.notes:
            texts.setdefault(note, {})[row.text] = None
    number = len({row.text for row in rows})
    return [
        f"{'All texts' if len(names) == number > 3 else listed([*names], 8)}: {note}."
        for note, names in texts.items()
    ]


def _verdict(rows: Sequence[ComparedText], relative_to: str | None) -> str:
    """Return the tokenizer that wins most texts, its ties and losses, and its largest premium."""
    best: dict[str, list[str]] = {row.text: [] for row in rows}
    totals: Counter[str] = Counter()
    for row in rows:
        totals[row.tokenizer] += row.tokens
        best[row.text] += [row.tokenizer] * row.best
    by_best: dict[tuple[str, ...], list[str]] = {}
    for text, names in best.items():
        by_best.setdefault((*names,), []).append(text)

    def rank(title: str) -> tuple[int, int, int]:
        ties = sum(title in names for names in best.values())
        return len(by_best.get((title,), ())), ties, -totals[title]

    first = max(totals, key=rank)
    of_all = "both texts" if len(best) == 2 else f"all {len(best):,} texts"
    if len(best) == 1:
        found = _verdict_of_one(rows)
    elif len(totals) == 1:
        found = f"{first} needs {counted(totals[first], 'token')} for {len(best):,} texts."
    elif len(by_best) == 1:
        (leaders,) = by_best
        if not leaders:
            found = f"Undecided for {of_all}: {_CHANCE}."
        elif len(leaders) == len(totals):
            found = f"{joined(leaders)} need the same number of tokens for each text."
        elif len(leaders) > 1:
            found = f"{joined(leaders)} tie for the fewest tokens for {of_all}."
        else:
            found = f"{first} needs the fewest tokens for {of_all}."
    else:
        won = len(by_best.get((first,), ()))
        clauses = [f"needs the fewest tokens for {won:,} of {len(best):,} texts"] * bool(won)
        for leaders, texts in sorted(by_best.items(), key=lambda one: first not in one[0]):
            others = [name for name in leaders if name != first]
            if others:
                does = "ties with" if first in leaders else "loses to"
                clauses.append(f"{does} {joined(others)} for {_named(texts)}")
        if () in by_best:
            clauses[-1] += f"; undecided for {_named(by_best[()])}"
        found = f"{first} {'; it '.join(clauses)}."
    return found + _largest_premium(rows, first, relative_to)


def _largest_premium(rows: Sequence[ComparedText], first: str, relative_to: str | None) -> str:
    """Return a sentence about the largest premium under a tokenizer, or "" without one."""
    known = [row for row in rows if row.tokenizer == first and row.premium is not None]
    known = [row for row in known if row.text != relative_to]
    premium = max((row.premium or 0.0 for row in known), default=0.0)
    if not known:
        return ""
    worst = [row for row in known if row.premium == premium]
    words = f"{premium:.2f} times as many"
    interval = ""
    if worst[0].low is not None and worst[0].high is not None:
        interval = f" ({worst[0].low:.2f} to {worst[0].high:.2f})"
        interval += ", which is undecided" * (worst[0].low <= 1 <= worst[0].high != worst[0].low)
    if len(known) == 1:
        return f" Under {first}, {worst[0].text} needs {words} tokens as {relative_to}{interval}."
    parallel = len(known) + 1
    is_all = parallel == len({row.text for row in rows})
    these = "these" if is_all else f"{parallel:,} parallel texts"
    if premium <= 1:
        close = [row.text for row in known if (row.high or 0) >= 1 != row.low]
        but = f"; undecided for {_named(close)}" if close else ""
        return f" Of {these}, none needs more tokens under {first} than {relative_to}{but}."
    need = "needs" if len(worst) == 1 else "need"
    return (
        f" Of {these}, {_names([row.text for row in worst])} {need} the most tokens under {first}: "
        f"{words} as {relative_to}{interval}."
    )


def _names(texts: Sequence[str]) -> str:
    return joined(texts) if len(texts) <= 4 else listed(texts, 4)


def _named(texts: Sequence[str]) -> str:
    """Return the name of a text, or the number and names of several."""
    return texts[0] if len(texts) == 1 else f"{len(texts):,} texts ({_names(texts)})"


_CHANCE = "with other lines like these, the order may change"


def _verdict_of_one(rows: Sequence[ComparedText]) -> str:
    """Return the verdict for the rows of one text."""
    standings = [Standing(row.tokenizer, row.tokens, row.unknown > 0) for row in rows]
    if any(row.best for row in rows):
        return verdict.sentence(standings, 0)
    first, *others = sorted((one.tokens, one.name) for one in standings if not one.lossy)
    rest = listed([f"{name} {tokens:,}" for tokens, name in others], 3)
    return f"Undecided: {first[1]} needs {first[0]:,} tokens, {rest}; {_CHANCE}."
