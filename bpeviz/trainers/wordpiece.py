"""WordPiece: merge the pair that comes most often for how often its halves come.

Sources: Schuster and Nakajima, "Japanese and Korean Voice Search", ICASSP 2012; Wu et al.,
"Google's Neural Machine Translation System", 2016, arXiv:1609.08144; Devlin et al., "BERT", 2018,
arXiv:1810.04805.

**The score is a reconstruction.** The trainer that made BERT's vocabulary was never published. The
papers say that the pair is merged that makes the training text most likely; the Hugging Face
course, chapter 6.6, made of it the score that is used here:

    score(a, b) = freq(a b) / (freq(a) · freq(b))

where freq(a b) is how often the pair stands side by side, and freq(a) how often the token a comes,
in the words as they are cut at present. Of equal scores, compared as fractions, the pair that is
first seen is taken. (Hugging Face's own `WordPieceTrainer` does not use it: it wraps `BpeTrainer`,
and so decides by counts.)

What is known is how BERT encodes, from its published code: each word by longest match first; and a
word that cannot be cut, or of more than 100 characters, is [UNK] as a whole.

How the text is seen:

- White space parts words and is no token, wherever the split leaves it. So it is lost: decoding
  puts one space between words.
- The first character of a word is an atom by itself; each further one another, with ## before it.
- Characters may be put into lower case, one by one. One whose lower case is several characters
  (İ) stays one atom, so that offsets stay exact. "Uncased" BERT also strips accents; this does
  not.
- In BERT a piece is a string, and so a word that spells out ## may be taken for the middle of
  another. Here the two are different atoms.

The definition, as a slow loop, stands in `tests/reference_wordpiece.py`. With every merge the
scores of all pairs with its halves change, most of them upwards. So all scores are computed
anew before each merge, in NumPy; only counts are carried along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz import progress
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.longest_match import LongestMatchTokenizer, LongestMatchTraining
from bpeviz.core.merges import Merge
from bpeviz.core.training import Candidate, Pairs
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.trainers.base import Corpus, Option, Trainer, collector_off
from bpeviz.trainers.bpe import (
    PROGRESS,
    REPORT_EVERY,
    alphabet_of,
    merge_limit,
    weighted_pre_tokens,
)
from bpeviz.trainers.screen import Detail, Texts

Case = Literal["keep", "lower"]
"""Whether characters stay as they are, or are put into lower case."""

TieRule = Literal["first", "smallest"]
"""Which of several pairs of equal score is taken: the one that stands first in the text, or the
one with the smallest ids."""

CONTINUES = "##"
UNKNOWN = "[UNK]"
SPECIAL = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]")
"""BERT's special tokens, in its order. There they get the first ids. Here they come after all
others, as everywhere in this project: so every smaller vocabulary is a prefix of the largest."""

GAP = -1
_NO_PAIR = 0
_WORD_OR_SPACE = regex.compile(r"\s+|\S+")
_SPACE = regex.compile(r"\s")


@dataclass(frozen=True)
class WordPieceSplitting(PreTokenizer):
    """Words, whose characters but the first have ## before them. White space is dropped."""

    atoms: Literal["characters"] = "characters"
    case: Case = "keep"

    @property
    def unknown(self) -> str:
        return UNKNOWN

    def pre_tokens(self, text: str) -> list[str]:
        """Cut a text into words and white space, the latter as pre-tokens of its own.

        Raises `SplitError`.
        """
        return [
            part
            for pre_token in super().pre_tokens(text)
            for part in _WORD_OR_SPACE.findall(pre_token)
        ]

    def drops(self, pre_token: str) -> bool:
        return _SPACE.match(pre_token) is not None

    def symbols(self, pre_token: str) -> list[str]:
        characters = map(str.lower, pre_token) if self.case == "lower" else iter(pre_token)
        return [CONTINUES * (i > 0) + character for i, character in enumerate(characters)]

    def symbol_bytes(self, symbol: str) -> bytes:
        return symbol.removeprefix(CONTINUES).encode()

    def label(self, symbols: Sequence[str]) -> str:
        """Return a readable name: ## stands before it where it continues a word."""
        text = super().label([symbol.removeprefix(CONTINUES) for symbol in symbols])
        return CONTINUES + text if symbols and _continues(symbols[0]) else text


def _continues(symbol: str) -> bool:
    """Tell whether an atom continues a word. (A single # begins one.)"""
    return symbol.startswith(CONTINUES)


@dataclass(frozen=True)
class WordPieceTokenizer(LongestMatchTokenizer):
    """A tokenizer that cuts each word by longest match first, as BERT does."""

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of `ids`, with one space between words.

        Where there was white space is not known any more: what does not continue a word begins
        one. Raises `ValueError` for an unknown id.
        """
        raw = bytearray()
        for i, token_id in enumerate(ids):
            if i and not self._continues(token_id):
                raw += b" "
            raw += self.token_bytes(token_id)
        return bytes(raw)

    def _continues(self, token_id: int) -> bool:
        if self._special_name(token_id) is not None:
            return False
        return _continues(self.alphabet[self.atoms_of(token_id)[0]])


@dataclass(frozen=True)
class WordPieceTraining(LongestMatchTraining):
    """What was decided by scores. min_count: a pair that came less often was not merged."""

    min_count: int = 1

    @property
    def curve(self) -> NDArray[np.float64]:
        return np.array([merge.score for merge in self.merges], np.float64)

    def at_step(self, step: int) -> WordPieceTokenizer:
        return WordPieceTokenizer(
            self.algorithm,
            self.pre_tokenizer,
            self.alphabet,
            self.merges[:step],
            unknown_words=True,
            special=self.special,
        )

    def candidates(
        self, text: str, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        pairs = self.pairs(text, self.as_trained(text, boundaries), step)
        allowed = pairs.counts >= self.min_count
        keys, counts = pairs.keys[allowed], pairs.counts[allowed]
        left, right = keys >> 32, keys & 0xFFFFFFFF
        scores = counts / (pairs.tokens[left].astype(np.float64) * pairs.tokens[right])
        taken = self.merges[step] if step < len(self.merges) else None
        return Pairs(keys, counts, pairs.tokens).best(scores, taken, limit)


class _Words:
    """The words that are learnt from, as they are cut at present.

    They lie in one row with a gap between them, each with its weight: how often the text holds it.
    A merge takes the right half of each of its places out of the row.

    row, weight: int64 [tokens and gaps]: the id of a token, or `GAP`, and the weight of its word;
    pair: int64 [tokens and gaps]: the number of the pair that a token makes with the next one.
    left, right, count: int64 [pairs]: its halves, and how often it comes. Pair 0 is none.
    frequency: int64 [ids]: how often each token comes.
    """

    def __init__(
        self, words: Sequence[tuple[Sequence[int], int]], atoms: int, most_merges: int
    ) -> None:
        row: list[int] = [GAP]
        weight: list[int] = [0]
        for ids, times in words:
            row += (*ids, GAP)
            weight += [times] * (len(ids) + 1)
        if sum(len(ids) * times for ids, times in words) >= 2**63:
            raise ValueError("These counts are too large: together they must be below 2^63.")
        self.row = np.array(row, np.int64)
        self.weight = np.array(weight, np.int64)
        self.pair = np.zeros(len(row), np.int64)
        self.left = self.right = self.count = np.zeros(1, np.int64)
        self.frequency = np.zeros(atoms + most_merges, np.int64)
        known = self.row != GAP
        np.add.at(self.frequency, self.row[known], self.weight[known])
        self._count(np.arange(len(row) - 1))
        # Two fractions are compared by two products, each of three numbers up to the sum of all
        # frequencies. Where that may be too much for 64 bits, Python's own numbers are taken.
        total = int(self.frequency.sum())
        self.exact: type = np.int64 if total**3 < 2**63 else object

    def _count(self, places: NDArray[np.int64]) -> None:
        """Give numbers to the pairs that begin at these places, none of them seen before."""
        left, right = self.row[places], self.row[places + 1]
        inside = (left != GAP) & (right != GAP)
        self.pair[places[~inside]] = _NO_PAIR
        places, keys = places[inside], left[inside] << 32 | right[inside]
        distinct, number = np.unique(keys, return_inverse=True)
        count = np.zeros(len(distinct), np.int64)
        np.add.at(count, number, self.weight[places])
        self.pair[places] = number + len(self.count)
        self.left = np.append(self.left, distinct >> 32)
        self.right = np.append(self.right, distinct & 0xFFFFFFFF)
        self.count = np.append(self.count, count)

    def best(self, min_count: int, ties: TieRule) -> tuple[int, int] | None:
        """Return the number of the pair with the highest score, and how many others have it."""
        allowed = np.flatnonzero(self.count >= max(1, min_count))
        if not len(allowed):
            return None
        count = self.count[allowed]
        a, b = self.frequency[self.left[allowed]], self.frequency[self.right[allowed]]
        score = count / (a.astype(np.float64) * b)
        # Floating point tells which come near; whole numbers then tell which are the highest.
        near = np.flatnonzero(score >= score.max() * (1 - 1e-9))
        above: NDArray[Any] = count[near].astype(self.exact)
        below: NDArray[Any] = a[near].astype(self.exact) * b[near].astype(self.exact)
        highest = 0
        while (more := above * below[highest] > above[highest] * below).any():
            highest = int(np.flatnonzero(more)[0])
        equal = near[above * below[highest] == above[highest] * below]
        tied = allowed[equal]
        if len(tied) == 1:
            chosen = tied[0]
        elif ties == "smallest":
            chosen = tied[np.lexsort((self.right[tied], self.left[tied]))[0]]
        else:
            is_tied = np.zeros(len(self.count), np.bool_)
            is_tied[tied] = True
            chosen = self.pair[np.argmax(is_tied[self.pair])]
        return int(chosen), len(tied) - 1

    def merge(self, pair: int, new: int) -> int:
        """Replace a pair by the token `new`, from the left; return how often, weights included."""
        left, right = self.left[pair], self.right[pair]
        places = np.flatnonzero(self.pair == pair)
        if left == right:  # in a a a the second place overlaps the first
            begins = np.append(True, np.diff(places) > 1)
            first = np.maximum.accumulate(np.where(begins, places, 0))
            places = places[(places - first) % 2 == 0]
        applied = self.weight[places].sum()
        self.frequency[left] -= applied
        self.frequency[right] -= applied
        self.frequency[new] = applied
        ended = np.unique(np.concatenate((places - 1, places, places + 1)))
        np.subtract.at(self.count, self.pair[ended], self.weight[ended])
        self.count[_NO_PAIR] = 0
        self.row[places] = new
        stays = np.ones(len(self.row), np.bool_)
        stays[places + 1] = False
        self.row, self.weight, self.pair = self.row[stays], self.weight[stays], self.pair[stays]
        places = places - np.arange(len(places))
        self._count(np.unique(np.concatenate((places - 1, places))))
        if 2 * np.count_nonzero(self.count) < len(self.count) - 100:
            self._renumber()
        return int(applied)

    def _renumber(self) -> None:
        """Forget the pairs that come no more."""
        stays = self.count > 0
        stays[_NO_PAIR] = True
        self.pair = (np.cumsum(stays) - 1)[self.pair]
        self.left, self.right, self.count = self.left[stays], self.right[stays], self.count[stays]


def train_by_score(
    words: Sequence[tuple[Sequence[int], int]],
    atoms: int,
    limit: int,
    *,
    ties: TieRule = "first",
    min_count: int = 1,
) -> tuple[list[Merge], Literal["full", "no pair", "rare"]]:
    """Learn up to `limit` merges, and say why there are no more.

    words: distinct rows of atom ids, 0 … atoms - 1, each with its weight, in the order in which
        they are first seen. Merge i makes the id atoms + i.
    """
    held = _Words(words, atoms, min(limit, sum(len(ids) for ids, _ in words)))
    merges: list[Merge] = []
    while len(merges) < limit:
        if not len(merges) % REPORT_EVERY:
            progress.report(PROGRESS, len(merges), limit)
        best = held.best(min_count, ties)
        if best is None:
            return merges, "rare" if held.count.any() else "no pair"
        pair, tied = best
        left, right, count = (int(of[pair]) for of in (held.left, held.right, held.count))
        a, b = int(held.frequency[left]), int(held.frequency[right])
        new = atoms + len(merges)
        applied = held.merge(pair, new)
        note = f"{count:,} / ({a:,} · {b:,})"
        merges.append(Merge(left, right, new, count, applied, tied, count / (a * b), note))
    return merges, "full"


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    case: Case = "keep",
    ties: TieRule = "first",
    min_count: int = 1,
) -> WordPieceTraining:
    """Learn WordPiece from a text, or from words with counts.

    vocab_size counts characters (with and without ##) and merges, but no special tokens; give it
    or `merges`, not both. `min_count`: a pair that comes less often is not merged. The special
    tokens are BERT's five (`SPECIAL`), then `special_tokens`. Raises `ValueError`, whose message
    is a sentence, for values that make no sense, and `SplitError` (one of them) for a bad split.
    """
    if case not in ("keep", "lower"):
        raise ValueError(f"There is no case {case!r}: take keep or lower.")
    if ties not in ("first", "smallest"):
        raise ValueError(f"There is no tie rule {ties!r}: take first or smallest.")
    if min_count < 1:
        raise ValueError(f"The smallest count must be 1 or more, not {min_count}.")
    special = (*SPECIAL, *special_tokens)
    if len({*special}) < len(special) or "" in special:
        raise ValueError(
            "Special tokens must differ from each other, be none of "
            f"{', '.join(SPECIAL)}, and not be empty."
        )
    pre_tokenizer = WordPieceSplitting(pattern=pattern, expression=expression, case=case)
    words: Mapping[str, int] = weighted_pre_tokens(corpus, pre_tokenizer)
    rows = [
        (pre_tokenizer.symbols(word), times)
        for word, times in words.items()
        if not pre_tokenizer.drops(word)
    ]
    alphabet = alphabet_of((row for row, _ in rows), pre_tokenizer)
    limit = merge_limit(vocab_size, merges, len(alphabet), "characters (with and without ##)")
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}
    with collector_off():
        learnt, stopped = train_by_score(
            [([atom_id[symbol] for symbol in row], times) for row, times in rows],
            len(alphabet),
            limit,
            ties=ties,
            min_count=min_count,
        )
    return WordPieceTraining(
        "wordpiece", pre_tokenizer, alphabet, stopped, special, tuple(learnt), min_count
    )


_PLACES = 6
"""How many of the best pairs by count, and by score, stand side by side."""


def _details(
    training: WordPieceTraining, text: str, boundaries: Boundaries, step: int
) -> list[Detail]:
    """Return the pairs that come most often, and those of the highest scores, side by side."""
    pairs = training.pairs(text, training.as_trained(text, boundaries), step)
    if not len(pairs.keys):
        return []
    left, right = pairs.keys >> 32, pairs.keys & 0xFFFFFFFF
    scores = pairs.counts / (pairs.tokens[left].astype(np.float64) * pairs.tokens[right])
    by_count, by_score = (
        np.lexsort((np.arange(len(values)), -values)) for values in (pairs.counts, scores)
    )
    places = dict.fromkeys([*by_count[:_PLACES].tolist(), *by_score[:_PLACES].tolist()])
    rank = {
        name: np.argsort(order) + 1 for name, order in (("count", by_count), ("score", by_score))
    }
    return [
        Detail(
            "scores beside counts",
            "How BPE and WordPiece rank the same pairs, in the text as it is merged so far: "
            "first those that come most often, then those of the highest score. The score "
            "divides the count of the pair by the product of the counts of its halves, so it "
            "favors pairs whose halves seldom stand apart. Pairs below the smallest count are "
            "shown, too, but not merged.",
            {
                "left": [training.name(int(left[i])) for i in places],
                "right": [training.name(int(right[i])) for i in places],
                "count": [int(pairs.counts[i]) for i in places],
                "count of left": [int(pairs.tokens[left[i]]) for i in places],
                "count of right": [int(pairs.tokens[right[i]]) for i in places],
                "score": [float(scores[i]) for i in places],
                "place by count (BPE)": [int(rank["count"][i]) for i in places],
                "place by score": [int(rank["score"][i]) for i in places],
            },
        )
    ]


TRAINER = Trainer(
    key="wordpiece",
    title="WordPiece",
    short="WordPiece",
    about="Merges the pair with the highest count(a b) / (count(a) · count(b)), and encodes each "
    "word by longest match first. This score is the Hugging Face course's reconstruction: the "
    "trainer behind BERT was never published.",
    source="Schuster and Nakajima 2012; Wu et al. 2016, arXiv:1609.08144; Devlin et al. 2018, "
    "arXiv:1810.04805; the score: Hugging Face course, chapter 6.6",
    train=cast(Any, train),
    options=(
        Option(
            "case",
            "Capital letters",
            "In lower case, Hello and hello are one word, as in BERT’s “uncased” models. (Those "
            "also strip accents; this does not.)",
            "keep",
            {"keep": "As they are", "lower": "In lower case"},
        ),
        Option(
            "ties",
            "Among pairs of equal score",
            "The score is a reconstruction, and so is this rule: the Hugging Face course takes the "
            "pair first seen.",
            "first",
            {"first": "The one first seen", "smallest": "The smallest ids"},
        ),
        Option(
            "min_count",
            "Smallest count of a pair",
            "A pair that comes less often is not merged. Without this, two halves that come once "
            "each, side by side, would be first: their score of 1 is the highest there is.",
            1,
            initial=2,
        ),
    ),
    texts=Texts(
        rule="The pairs with the highest score before merge {step}: the count of the pair, divided "
        "by the product of the counts of its two parts. This score is a reconstruction (Hugging "
        "Face course, chapter 6.6).",
        curve="score of the pair",
        score="score",
        details=_details,
    ),
)
