"""WordPiece: merge the pair with the highest count relative to the counts of its parts.

Sources: Schuster and Nakajima, "Japanese and Korean Voice Search", ICASSP 2012; Wu et al.,
"Google's Neural Machine Translation System", 2016, arXiv:1609.08144; Devlin et al., "BERT", 2018,
arXiv:1810.04805.

**The score is a reconstruction**, since BERT's trainer was never published. The papers merge the
pair that makes the training text most likely. The Hugging Face course, chapter 6.6, derives this
score from that rule:

    score(a, b) = count(a b) / (count(a) · count(b))

(Hugging Face's own `WordPieceTrainer` does not use it: it wraps `BpeTrainer`, which compares
counts.) `tests/references/reference_wordpiece.py` contains the definition as a slow loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz import progress
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.longest_match import LongestMatchTokenizer, LongestMatchTraining
from bpeviz.core.merges import Merge
from bpeviz.core.training import Candidate, CountedPairs, Stopped
from bpeviz.corpus.documents import Documents
from bpeviz.pretokenizers.patterns import Unmatched, mark_unmatched
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.text import Normalized, id_list, times
from bpeviz.trainers.base import Corpus, Option, Options, Trainer
from bpeviz.trainers.bpe import Pair, Rows
from bpeviz.trainers.bpe_loop import PROGRESS, REPORT_EVERY
from bpeviz.trainers.options import MIN_COUNT, TIES, UNMATCHED
from bpeviz.trainers.pair_table import PairTable
from bpeviz.trainers.preparation import count_pre_tokens, merge_limit, to_rows
from bpeviz.trainers.screen_texts import Detail, ScreenTexts

Case = Literal["keep", "lower"]
ScoreTies = Literal["first", "smallest"]
UnmatchedText = Literal["keep", "drop"]


def train_merges(
    words: Rows,
    n_atoms: int,
    limit: int,
    *,
    ties: ScoreTies = "first",
    min_count: int = 1,
) -> tuple[list[Merge], Stopped]:
    """Train up to `limit` merges.

    Args:
        words: Distinct rows of atom ids, each with its count, in first-seen order.
        n_atoms: Number of atoms. Merge i creates the id n_atoms + i.
        limit: Largest number of merges.
        ties: Which of several pairs of equal score is merged, compared as fractions.
        min_count: Pairs with a lower count are not merged.

    Returns:
        The merges, and why training ended: the limit, no pair left, or only rare pairs left.
    """
    scores = _Scores(words, n_atoms, min(limit, sum(len(ids) for ids, _ in words)))
    merges: list[Merge] = []
    while len(merges) < limit:
        if not len(merges) % REPORT_EVERY:
            progress.report(PROGRESS, len(merges), limit)
        best = scores.best(min_count, ties)
        if best is None:
            return merges, "rare" if scores.pairs[2].any() else "no pair"
        merges.append(scores.merge(*best))
    return merges, "full"


@dataclass(frozen=True, kw_only=True)
class WordPieceOptions(Options):
    """Options of WordPiece."""

    case: Case = Option(
        "Capital letters",
        "In lower case, Hello and hello are one word, as in BERT’s “uncased” models. (Those also "
        "strip accents; this does not.)",
        "keep",
        {"keep": "Unchanged", "lower": "To lower case"},
    ).field()
    unmatched: UnmatchedText = UNMATCHED.field()
    ties: ScoreTies = TIES.field(
        label="Among pairs of equal score",
        help="The score is a reconstruction, and so is this rule: the Hugging Face course takes "
        "the pair seen first.",
        choices={"first": "First seen", "smallest": "Smallest ids"},
    )
    min_count: int = MIN_COUNT.field(
        help="Pairs with a lower count are not merged. With a minimum of 1, two parts that occur "
        "once each, side by side, come first: their score of 1 is the highest possible."
    )


def train(corpus: Corpus, options: WordPieceOptions) -> WordPieceTraining:
    """Train WordPiece.

    `vocab_size` counts characters, with and without ##, and merges. BERT's special tokens come
    before `special_tokens`.
    """
    pre_tokenizer = WordPiecePreTokenizer(
        pattern=options.pattern,
        expression=options.expression,
        case=options.case,
        unmatched=options.unmatched,
    )
    alphabet, words = to_rows(count_pre_tokens(corpus, pre_tokenizer), pre_tokenizer)
    atoms = "character of the text, with and without ##"
    limit = merge_limit(options, len(alphabet), atoms)
    trained, stopped = train_merges(
        words, len(alphabet), limit, ties=options.ties, min_count=options.min_count
    )
    special = (*SPECIAL, *options.special_tokens)
    return WordPieceTraining(
        *("wordpiece", pre_tokenizer, alphabet, stopped, special, tuple(trained)),
        options.min_count,
    )


# --- Pairs and their scores ----------------------------------------------------------------------


class _Scores:
    """The pairs of a text with their counts and those of their parts.

    Each merge changes the scores of all pairs that share a part with it, and raises most of them.
    So NumPy computes the scores of all pairs for each merge.

    Attributes:
        tokens: int64 [ids], the count of each token.
        pairs: int64 [4, numbers], the parts of each pair, its count, and its first position; the
            count is 0 for a number that is not in use.
    """

    def __init__(self, words: Rows, n_atoms: int, most_merges: int) -> None:
        # An empty text has no tokens, but `best` looks up those of pair 0, which is not a pair.
        tokens = [0] * max(1, n_atoms + most_merges)
        for ids, count in words:
            for token_id in ids:
                tokens[token_id] += count
        self.tokens = np.array(tokens, np.int64)
        self._table = PairTable(words, n_atoms)
        self.pairs = np.zeros((4, 1), np.int64)
        self._numbers: dict[Pair, int] = {}
        self._unused: list[int] = []
        self._update(self._table.counts)
        # Comparing two fractions multiplies three numbers up to the sum of all counts. Where that
        # does not fit into 64 bits, Python's integers are used.
        total = int(self.tokens.sum())
        self._exact: type = np.int64 if total**3 < 2**63 else object

    def best(self, min_count: int, ties: ScoreTies) -> tuple[Pair, int] | None:
        """Return the pair with the highest score, and the number of other ties."""
        lefts, rights, counts, positions = self.pairs
        a, b = self.tokens[lefts], self.tokens[rights]
        score = np.zeros(len(counts))
        allowed = counts >= max(1, min_count)
        np.divide(counts, a.astype(np.float64) * b, out=score, where=allowed)
        highest = score.max()
        if not highest:
            return None
        # Floating point selects the scores near the highest; integers then compare these exactly.
        near = np.flatnonzero(score >= highest * (1 - 1e-9))
        if len(near) == 1:
            return (int(lefts[near[0]]), int(rights[near[0]])), 0
        above: NDArray[Any] = counts[near].astype(self._exact)
        below: NDArray[Any] = a[near].astype(self._exact) * b[near].astype(self._exact)
        top = 0
        while (more := above * below[top] > above[top] * below).any():
            top = int(np.flatnonzero(more)[0])
        tied = near[above * below[top] == above[top] * below]
        if ties == "smallest":
            best = tied[np.lexsort((rights[tied], lefts[tied]))[0]]
        else:
            best = tied[np.argmin(positions[tied])]
        return (int(lefts[best]), int(rights[best])), len(tied) - 1

    def merge(self, pair: Pair, n_tied: int) -> Merge:
        """Replace a pair from left to right."""
        count, (a, b) = self._table.counts[pair], map(int, self.tokens[[*pair]])
        new_id, applied, count_changes = self._table.merge(pair)
        for token in pair:
            self.tokens[token] -= applied
        self.tokens[new_id] = applied
        self._update(count_changes)
        score = count / (a * b)
        return Merge(*pair, new_id, count, applied, n_tied, score, together(count, a, b))

    def _update(self, changed: Iterable[Pair]) -> None:
        """Update the counts and the first positions of pairs."""
        for pair in changed:
            if count := self._table.counts[pair]:
                number = self._number(pair)
                self.pairs[2, number] = count
                self.pairs[3, number] = self._table.first(pair)
            else:
                number = self._numbers.pop(pair)
                self.pairs[2, number] = 0
                self._unused.append(number)

    def _number(self, pair: Pair) -> int:
        """Return the number of a pair, if need be a new one."""
        if pair not in self._numbers:
            if not self._unused:
                known = self.pairs.shape[1]
                self._unused += range(known, known + known // 8 + 64)
                self.pairs = np.pad(self.pairs, ((0, 0), (0, len(self._unused))))
            number = self._numbers[pair] = self._unused.pop()
            self.pairs[:2, number] = pair
        return self._numbers[pair]


# --- Tokenizer and training history --------------------------------------------------------------

CONTINUES = "##"
UNKNOWN_WORD = "[UNK]"
SPECIAL = ("[PAD]", UNKNOWN_WORD, "[CLS]", "[SEP]", "[MASK]")
"""BERT's special tokens, in its order. In BERT they have the first ids. Here they have the last
ones, as in all tokenizers of bpeviz, so every smaller vocabulary is a prefix of the largest."""

_WORD_OR_SPACE = regex.compile(r"\s+|\S+")
_SPACE = regex.compile(r"\s")


@dataclass(frozen=True)
class WordPiecePreTokenizer(PreTokenizer):
    """Splits a text into words, whose characters have ## before them, except the first one.

    - White space separates words and does not become a token, so it is lost. Decoding writes one
      space between words.
    - If `unmatched` is "drop", text that the pattern does not match is lost in the same way.
    - Lower case applies to each character by itself. A character whose lower case is several
      characters (İ) stays one atom, so offsets stay exact. "Uncased" BERT also strips accents; this
      class does not.
    - In BERT a piece is a string, so a word that contains ## can match a continuation. Here the two
      are different atoms.
    """

    atoms: Literal["characters"] = "characters"
    kind: ClassVar[str] = "wordpiece"

    case: Case = "keep"
    unmatched: UnmatchedText = "keep"

    @property
    def unknown(self) -> str:
        return UNKNOWN_WORD

    def pre_tokens(self, text: str) -> list[str]:
        """Split a text into words, white space, and text to drop.

        Raises:
            SplitError: The pattern does not exist or fails on this text.
        """
        if self.unmatched == "drop":
            pre_tokens = mark_unmatched(text, self.pattern, self.expression)
        else:
            pre_tokens = super().pre_tokens(text)
        words: list[str] = []
        for text in pre_tokens:
            words += [text] if isinstance(text, Unmatched) else _WORD_OR_SPACE.findall(text)
        return words

    def normalized(self, text: str) -> Normalized:
        return Normalized.of(map(str.lower, text) if self.case == "lower" else text)

    def drops(self, pre_token: str) -> bool:
        return isinstance(pre_token, Unmatched) or _SPACE.match(pre_token) is not None

    def symbols(self, pre_token: str) -> list[str]:
        characters = map(str.lower, pre_token) if self.case == "lower" else iter(pre_token)
        return [CONTINUES * (i > 0) + character for i, character in enumerate(characters)]

    def symbol_bytes(self, symbol: str) -> bytes:
        return symbol.removeprefix(CONTINUES).encode()

    def label(self, symbols: Sequence[str]) -> str:
        """Return a readable name, with ## before it if it continues a word."""
        text = super().label([symbol.removeprefix(CONTINUES) for symbol in symbols])
        return CONTINUES + text if symbols and _continues(symbols[0]) else text


def _continues(symbol: str) -> bool:
    """Return whether an atom continues a word; a single # begins one."""
    return symbol.startswith(CONTINUES)


@dataclass(frozen=True, repr=False)
class WordPieceTokenizer(LongestMatchTokenizer):
    """Encodes each word by longest match first, as BERT does.

    A word with an unknown character, or with more than 100 characters, is [UNK] as a whole.
    """

    pre_tokenizer: WordPiecePreTokenizer

    kind: ClassVar[str] = "wordpiece"

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of `ids`, with one space before each token that begins a word.

        Raises:
            ValueError: An id does not exist.
        """
        raw = bytearray()
        for i, token_id in enumerate(id_list(ids)):
            if i and not self._continues(token_id):
                raw += b" "
            raw += self.token_bytes(token_id)
        return bytes(raw)

    def _continues(self, token_id: int) -> bool:
        if self._special_name(token_id) is not None:
            return False
        return _continues(self.alphabet[self.atoms_of(token_id)[0]])


@dataclass(frozen=True, repr=False)
class WordPieceTraining(LongestMatchTraining):
    """Training history of WordPiece.

    Attributes:
        min_count: Pairs with a lower count were not merged.
    """

    min_count: int = 1

    @property
    def curve(self) -> NDArray[np.float64]:
        return np.array([merge.score for merge in self.merges], np.float64)

    def at_step(self, step: int) -> WordPieceTokenizer:
        return self.first_merges(WordPieceTokenizer, step, unknown_words=True)

    def candidates(
        self, text: str | Documents, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        pairs = self.pairs(text, self.as_trained(text, boundaries), step)
        allowed = pairs.counts >= self.min_count
        pairs = CountedPairs(pairs.keys[allowed], pairs.counts[allowed], pairs.tokens)
        return pairs.best(_scores(pairs), self.merges[step : step + 1], limit)


def _scores(pairs: CountedPairs) -> NDArray[np.float64]:
    left, right = pairs.keys >> 32, pairs.keys & 0xFFFFFFFF
    scores: NDArray[np.float64] = pairs.counts / (
        pairs.tokens[left].astype(np.float64) * pairs.tokens[right]
    )
    return scores


# --- On screen -----------------------------------------------------------------------------------


def together(count: int, left: int, right: int) -> str:
    """Return in words the counts of a pair and of its parts, of which its score is made.

    The counts of the parts include those in the pair.

    >>> together(6, 6, 9)
    '6 times together; the parts 6 and 9 times in all: 6 ÷ (6 × 9)'
    """
    whole = f"{times(count)} together; the parts {left:,} and {right:,} times in all"
    return f"{whole}: {count:,} ÷ ({left:,} × {right:,})"


_BEST = 6
"""The number of best pairs, by count and by score, in the table."""


def _details(
    training: WordPieceTraining, text: str | Documents, boundaries: Boundaries, step: int
) -> list[Detail]:
    """Return a table that compares the ranks of the best pairs by count and by score."""

    def table() -> dict[str, Sequence[object]]:
        pairs = training.pairs(text, training.as_trained(text, boundaries), step)
        left, right = pairs.keys >> 32, pairs.keys & 0xFFFFFFFF
        scores = _scores(pairs)
        by_count, by_score = (
            np.lexsort((np.arange(len(values)), -values)) for values in (pairs.counts, scores)
        )
        count_rank, score_rank = np.argsort(by_count) + 1, np.argsort(by_score) + 1
        listed = list(dict.fromkeys([*by_count[:_BEST].tolist(), *by_score[:_BEST].tolist()]))
        return {
            "left": left[listed].tolist(),
            "right": right[listed].tolist(),
            "count": pairs.counts[listed].tolist(),
            "count of left": pairs.tokens[left[listed]].tolist(),
            "count of right": pairs.tokens[right[listed]].tolist(),
            "score": scores[listed].tolist(),
            "rank by count (BPE)": count_rank[listed].tolist(),
            "rank by score": score_rank[listed].tolist(),
        }

    return [
        Detail(
            "scores beside counts",
            "How BPE and WordPiece rank the same pairs at this point: first the most frequent "
            "pairs, then those with the highest score. The score divides the count of the pair by "
            "the product of the counts of its parts, so it favors pairs whose parts seldom occur "
            "apart. The table includes pairs below the minimum count, which are not merged.",
            table,
            ("left", "right"),
        )
    ]


TRAINER = Trainer(
    key="wordpiece",
    title="WordPiece",
    short="WordPiece",
    rule="join the pair whose parts occur mostly together",
    gist="parts mostly together",
    about="Merges the pair with the highest count(a b) / (count(a) · count(b)), and encodes each "
    "word by longest match first. This score is the Hugging Face course's reconstruction: the "
    "trainer behind BERT was never published.",
    source="Schuster and Nakajima 2012; Wu et al. 2016, arXiv:1609.08144; Devlin et al. 2018, "
    "arXiv:1810.04805; the score: Hugging Face course, chapter 6.6",
    train=train,
    saved=(WordPieceTokenizer, WordPiecePreTokenizer),
    declares=WordPieceOptions,
    reserved=SPECIAL,
    texts=ScreenTexts(
        rule="The pairs with the highest score before merge {step}: the count of the pair, divided "
        "by the product of the counts of its two parts. This score is a reconstruction (Hugging "
        "Face course, chapter 6.6).",
        curve="score of the pair",
        score="score",
        race="Highest scores",
        details=_details,
    ),
)
