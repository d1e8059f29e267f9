"""Parity-aware BPE: merge for the text that is compressed least, for similar token counts.

Source: Foroutan et al., "Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in
Tokenization", 2026, arXiv:2508.04796, and its authors' code (`parity_aware_learn_bpe.py`, variant
"base"). At each step, the most frequent pair of the text with the most tokens per line is merged in
all texts. As in the authors' code:

- among the texts that are compressed least, the first one is chosen;
- among its pairs of the same count, the lexicographically largest wins. The left tokens are
  compared first, over bytes in the characters of GPT-2's byte alphabet;
- training ends when the chosen text has no pair that occurs twice (`min_count`).

Differences from the authors' code: the user chooses the pre-tokenization (theirs puts a space
before each word and punctuation mark, and has no white space); and two tokens of the same
characters, made from other pairs, are two tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from bpeviz import progress
from bpeviz.core.boundaries import SPECIAL_ID, Boundaries
from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.merges import Merge
from bpeviz.core.special_names import without_names
from bpeviz.core.training import CountedPairs, MergeTraining, Stopped, count_pairs
from bpeviz.corpus.documents import Documents, unit_of
from bpeviz.pretokenizers.pretokenizer import Atoms
from bpeviz.text import clean, split_lines
from bpeviz.trainers.base import Corpus, Option, Options, Trainer, split_corpus
from bpeviz.trainers.bpe import Pair, Rows
from bpeviz.trainers.bpe_loop import PROGRESS, REPORT_EVERY, Reversed
from bpeviz.trainers.multilingual_bpe import MultilingualPreTokenizer, texts
from bpeviz.trainers.options import ATOMS, MIN_COUNT
from bpeviz.trainers.pair_table import GAP, PairTable
from bpeviz.trainers.preparation import PER_ATOM, alphabet_of, count_pre_tokens, merge_limit
from bpeviz.trainers.screen_texts import Detail, ScreenTexts

ALL = -1
"""The choice of all texts together, in place of the number of one."""


def train_merges(
    rows: Sequence[Rows],
    symbols: Sequence[str],
    limit: int,
    *,
    development: Sequence[Rows],
    units: Sequence[int],
    global_merges: int = 0,
    min_count: int = 2,
) -> tuple[list[Merge], list[int], Stopped]:
    """Train up to `limit` merges.

    Args:
        rows: The pre-tokens of each text.
        symbols: The string of each atom, by id, which decides between pairs of the same count.
        limit: The largest number of merges.
        development: The pre-tokens of the texts that measure compression, one for each text.
        units: The number of lines or bytes of each of these texts, at least 1.
        global_merges: The number of first merges for all texts together.
        min_count: Training ends at a lower count.

    Returns:
        The merges; the text chosen at each step and after the last one; why training ended.
    """
    pairs_by_text = [_RankedPairs(of_text, symbols) for of_text in rows]
    measured = [
        pairs if measuring is of_text else _RankedPairs(measuring, symbols)
        for pairs, of_text, measuring in zip(pairs_by_text, rows, development, strict=True)
    ]
    lengths = [sum(len(ids) * count for ids, count in measuring) for measuring in development]
    every = [row for of_text in rows for row in of_text] if global_merges else []
    together = _RankedPairs(every, symbols)
    distinct = {id(pairs): pairs for pairs in (together, *pairs_by_text, *measured)}.values()
    merges: list[Merge] = []
    chosen: list[int] = []
    while True:
        if not len(merges) % REPORT_EVERY:
            progress.report(PROGRESS, len(merges), limit)
        is_global = len(merges) < global_merges
        least = max(range(len(pairs_by_text)), key=lambda i: lengths[i] / units[i])
        chosen.append(ALL if is_global else least)
        if len(merges) == limit:
            return merges, chosen, "full"
        pairs = together if is_global else pairs_by_text[least]
        pair = pairs.most_frequent()
        if pair is None:
            return merges, chosen, "no pair"
        count, n_tied = pairs.counts[pair], pairs.n_tied(pair)
        if count < min_count:
            return merges, chosen, "rare"
        merged = {id(counted): counted.merge(pair) for counted in distinct}
        lengths = [
            length - merged[id(counted)][1]
            for length, counted in zip(lengths, measured, strict=True)
        ]
        new_id, applied, _ = merged[id(pairs)]
        note = f"for {_name(chosen[-1])}"
        merges.append(Merge(*pair, new_id, count, applied, n_tied, note=note))


class _RankedPairs(PairTable):
    """The pairs of a text by falling count.

    The heap contains upper bounds of the counts, since no pair that is in it gains occurrences.
    """

    def __init__(self, pre_tokens: Rows, symbols: Sequence[str]) -> None:
        super().__init__(pre_tokens, len(symbols))
        self._names = [*map(Reversed, symbols)]
        self._n_pairs = Counter(self.counts.values())  # by count
        self._heap = [*map(self._entry, self.counts)]
        heapify(self._heap)

    def _entry(self, pair: Pair) -> tuple[int, tuple[Reversed, Reversed], Pair]:
        return -self.counts[pair], (self._names[pair[0]], self._names[pair[1]]), pair

    def most_frequent(self) -> Pair | None:
        """Return the most frequent pair, by ties the lexicographically largest; None if none."""
        while self._heap:
            bound, _, pair = self._heap[0]
            if self.counts[pair] == -bound:
                return pair
            heappop(self._heap)
            if self.counts[pair]:
                heappush(self._heap, self._entry(pair))
        return None

    def n_tied(self, pair: Pair) -> int:
        """Return the number of other pairs with the same count."""
        return self._n_pairs[self.counts[pair]] - 1

    def merge(self, pair: Pair) -> tuple[int, int, dict[Pair, int]]:
        new, applied, count_changes = super().merge(pair)
        self._names.append(Reversed(self._names[pair[0]] + self._names[pair[1]]))
        for other, change in count_changes.items():
            count = self.counts[other]
            self._n_pairs[count - change] -= 1
            self._n_pairs[count] += 1
            if count and new in other:
                heappush(self._heap, self._entry(other))
        return new, applied, count_changes


MEASURES = {
    "line": "Tokens per line (parallel texts)",
    "byte": "Tokens per byte",
    "development": "Tokens per line of other texts",
}
"""The measures by which a text is compressed least."""


@dataclass(frozen=True, kw_only=True)
class ParityOptions(Options):
    """Options of parity-aware BPE."""

    atoms: Atoms = ATOMS.field()
    measure: str = Option(
        "Compressed least",
        "The text with the most tokens per line, which fits parallel texts: each line is a "
        "translation of the line with the same number. Or with the most tokens per byte. Or per "
        "line of a development text, which is not trained on.",
        "line",
        MEASURES,
    ).field()
    development: str = Option(
        "Development texts",
        "Parallel texts, separated by lines of three dashes, in the order of the training texts. A "
        "training text without one is measured itself.",
        "",
        needs=("measure", "development"),
        sample="several-languages",
    ).field()
    global_merges: int = Option(
        "Global merges first",
        "The number of first merges that count the pairs of all texts together, as BPE does.",
        0,
        minimum=0,
    ).field()
    min_count: int = MIN_COUNT.field(default=2, initial=None)


def train(corpus: Corpus, options: ParityOptions) -> ParityTraining:
    """Train parity-aware BPE over the texts between lines of three dashes, or groups of documents.

    A mapping of counts is one text.
    """
    atoms, measure = options.atoms, options.measure
    pre_tokenizer = MultilingualPreTokenizer(atoms, options.pattern, options.expression)

    def counted(text: Corpus) -> list[tuple[Sequence[str], int]]:
        text = split_corpus(text, options.split_at) if isinstance(text, str) else text
        counts = count_pre_tokens(text, pre_tokenizer)
        return [(pre_tokenizer.symbols(pre_token), count) for pre_token, count in counts.items()]

    corpora: Sequence[Corpus]
    if isinstance(corpus, Documents):
        corpora = [*corpus.groups.values()]
    else:
        corpora = [corpus] if isinstance(corpus, Mapping) else _texts(corpus) or [""]
    symbols = [counted(text) for text in corpora]
    alphabet = alphabet_of((row for of_text in symbols for row, _ in of_text), pre_tokenizer)
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}

    def rows(symbols: Sequence[tuple[Sequence[str], int]]) -> Rows:
        return [([atom_id.get(symbol, GAP) for symbol in row], count) for row, count in symbols]

    of_texts = [*map(rows, symbols)]
    measured = [text if isinstance(text, Documents) else str(text) for text in corpora]
    others = _texts(options.development)[: len(corpora)] if measure == "development" else []
    measured[: len(others)] = others
    trained, chosen, stopped = train_merges(
        of_texts,
        [*map(CHARACTER_OF.__getitem__, range(256))] if atoms == "bytes" else alphabet,
        merge_limit(options, len(alphabet), PER_ATOM[atoms]),
        development=[*(rows(counted(text)) for text in others), *of_texts[len(others) :]],
        units=[_units(text, measure) for text in measured],
        global_merges=options.global_merges,
        min_count=options.min_count,
    )
    return ParityTraining(
        *("parity", pre_tokenizer, alphabet, stopped, options.special_tokens, tuple(trained)),
        *(tuple(chosen), measure, tuple(measured)),
    )


def _units(text: str | Documents, measure: str) -> int:
    """Return the number of units of a text, at least 1, to which its tokens are relative."""
    if isinstance(text, Documents):
        return max(1, text.size if measure == "byte" else len(text))
    return max(1, len(text.encode()) if measure == "byte" else len(split_lines(text)))


def _texts(corpus: str) -> list[str]:
    """Return the texts of a corpus that are not only white space."""
    return [text for text, is_text in _texts_and_separators(corpus) if is_text]


def _texts_and_separators(corpus: str) -> list[tuple[str, bool]]:
    """Split a corpus at its lines of three dashes; return for each part whether it is a text."""
    split = texts(clean(corpus))
    return [(part, not separates and not part.isspace()) for part, separates in split]


def _name(text: int) -> str:
    """Return the name of a text by its index, within a sentence."""
    return "all texts" if text == ALL else f"text {text + 1}"


# --- Training history ----------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ParityTraining(MergeTraining):
    """Training history of parity-aware BPE.

    Attributes:
        chosen: The index of the text for which each step merges, or `ALL`. It has one entry more:
            the choice after the last step.
        measure: The unit of compression, a key of `MEASURES`.
        measured: The texts whose compression is measured, one for each text.
    """

    chosen: tuple[int, ...] = (ALL,)
    measure: str = "line"
    measured: tuple[str | Documents, ...] = ()

    def pairs(self, text: str | Documents, boundaries: Boundaries, step: int) -> CountedPairs:
        """Count the pairs after `step` merges in the text that is then compressed least."""
        number = self._text_of(text)
        chosen = self.chosen[step]
        weights = (number >= 0 if chosen == ALL else number == chosen).astype(np.int64)
        pairs = count_pairs(boundaries, self.barriers(text, step), step, weights)
        occurs = pairs.counts > 0
        return CountedPairs(pairs.keys[occurs], pairs.counts[occurs], pairs.tokens)

    def tokens(self, text: str | Documents, boundaries: Boundaries, step: int) -> list[int]:
        """Return the number of tokens of each measured text after `step` merges."""
        if self.measure == "development":
            tokenizer = self.at_step(step)
            each = [text.texts if isinstance(text, Documents) else [text] for text in self.measured]
            parts = [
                [part for text in texts for part in without_names(text, self.split_at)]
                for texts in each
            ]
            return [sum(tokenizer.count_batch(of_text)) for of_text in parts]
        number = self._text_of(text)[boundaries.token_ends(step) - 1]
        number = number[boundaries.ids(step) > SPECIAL_ID]
        counts = np.bincount(number[number >= 0], minlength=len(self.measured))
        return [int(count) for count in counts]

    def _text_of(self, text: str | Documents) -> NDArray[np.int64]:
        """Return the index of the text of each atom, -1 outside texts. int64 [atoms]."""
        if isinstance(text, Documents):
            return text.group_of_atoms(self.pre_tokenizer.atoms)
        parts = _texts_and_separators(text)
        in_bytes = self.pre_tokenizer.atoms == "bytes"
        sizes = [len(part.encode()) if in_bytes else len(part) for part, _ in parts]
        is_text = np.array([is_text for _, is_text in parts], np.bool_)
        return np.repeat(np.where(is_text, np.cumsum(is_text) - 1, -1), sizes)


# --- On screen -----------------------------------------------------------------------------------


def _details(
    training: ParityTraining, text: str | Documents, boundaries: Boundaries, step: int
) -> list[Detail]:
    """Return a table of how far each text is compressed, and for which the next merge is."""
    unit = unit_of(text)
    unit = "byte" if training.measure == "byte" else unit

    def table() -> dict[str, Sequence[object]]:
        tokens = training.tokens(text, boundaries, step)
        units = [_units(text, training.measure) for text in training.measured]
        per_unit = [count / size for count, size in zip(tokens, units, strict=True)]
        merged = Counter(training.chosen[:step])
        numbers = range(len(tokens))
        return {
            "text": [f"Text {i + 1}" for i in numbers],
            f"{unit}s": units,
            "tokens": tokens,
            f"tokens per {unit}": [round(cost, 3) for cost in per_unit],
            "next": ["yes" if training.chosen[step] == i else "" for i in numbers],
            "merges": [merged[i] for i in numbers],
        }

    return [
        Detail(
            "the compression of each text",
            f"The next merge is for {_name(training.chosen[step])}"
            + (
                ". "
                if training.chosen[step] == ALL
                else f", which has the most tokens per {unit}. "
            )
            + "The last column counts the merges that were for each text.",
            table,
        )
    ]


TRAINER = Trainer(
    key="parity",
    title="Parity-aware BPE",
    short="Parity-aware BPE",
    rule="join the most frequent pair of the text that is compressed least",
    gist="the worst text first",
    about="At each step, merges the most frequent pair of the text that is compressed least. So "
    "texts in several languages need similar numbers of tokens. Lines of three dashes separate "
    "the texts.",
    source="Foroutan et al. 2026, arXiv:2508.04796",
    train=train,
    splits_itself=True,
    declares=ParityOptions,
    texts=ScreenTexts(
        rule="The most frequent pairs before merge {step}, in the text that is compressed least "
        "then. The table of compression, below, names it.",
        race="Most frequent pairs of the text compressed least",
        curve="count of the pair in its text",
        details=_details,
    ),
)
