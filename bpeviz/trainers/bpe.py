"""Byte-pair encoding: merge the most frequent pair of neighbors, again and again.

Sources: Gage, "A New Algorithm for Data Compression", C Users Journal, 1994; Sennrich, Haddow
and Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016, arXiv:1508.07909
(over characters, with an end-of-word mark). Over bytes it is what is called byte-level BPE:
Wang, Cho and Gu, "Neural Machine Translation with Byte-Level Subwords", 2019, arXiv:1909.03341.

The definition, as a slow loop, stands in `tests/reference.py`: count all pairs, take the most
frequent, replace it everywhere, repeat. This trainer decides the same without counting anew:

- All distinct pre-tokens lie in one row with a gap between them, each with its weight: how often
  the text holds it. A token over atoms [s, e] has its id at both ends, so the neighbors of a
  token at p are `row[p - 1]` and `row[p + size]`.
- A merge changes only the pairs around the places where it is made, so counts are kept, and
  changed by what each merge adds and takes away.
- A pair's positions are written down once, when its younger half is born. From then on it can
  only lose some. So the heap holds, for each pair, a bound that was true once; what comes to
  the top is checked, and goes back if its count has fallen or its first position has moved.

`fast_merges` decides the same with NumPy, where it can (`bpeviz.trainers.fast_bpe.rounds` says how).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import total_ordering
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bpeviz import progress
from bpeviz.core.hidden_tokens import RestrictedTraining
from bpeviz.core.longest_match import LongestMatchTraining
from bpeviz.core.merges import Merge
from bpeviz.core.training import MergeTraining
from bpeviz.pretokenizers.counts import PreTokenCounts
from bpeviz.pretokenizers.patterns import BLOCK
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, UNKNOWN, Atoms, EndMark, PreTokenizer
from bpeviz.text import clean
from bpeviz.trainers.base import Corpus, Option, Trainer, collector_off
from bpeviz.trainers.fast_bpe import layout, rounds

TieRule = Literal["first", "smallest", "largest"]
"""Which of several equally frequent pairs is taken: the one that stands first in the text, the
one with the smallest ids, or the lexicographically largest by what it stands for."""

Pair = tuple[int, int]
Array = NDArray[np.int64]
GAP = -1

DOING = "Learning merges"
TOLD_EVERY = 10
"""Merges between two reports of progress."""


@total_ordering
class _Descending:
    """Turns an order around, so that the heap gives the largest first."""

    def __init__(self, value: tuple[str, str]) -> None:
        self.value = value

    def __lt__(self, other: _Descending) -> bool:
        return self.value > other.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.value == other.value


def learn_merges(
    pre_tokens: Sequence[tuple[Sequence[int], int]],
    symbols: Sequence[str],
    limit: int,
    *,
    ties: TieRule | Literal["shortest"] = "first",
    min_count: int = 1,
    allowed: Callable[[str], bool] | None = None,
    watch: Callable[[Merge, int], bool] | None = None,
) -> tuple[list[Merge], Literal["full", "no pair", "rare"]]:
    """Learn up to `limit` merges, and say why there are no more.

    pre_tokens: distinct rows of atom ids, each with its weight, in the order in which they are first
        seen (the tie rule "first" means that order).
    symbols: what each atom stands for; used by the tie rules "largest" and "shortest" (the
        shorter of what two become, then the lexicographically smaller: SentencePiece's). Atom ids
        are 0 … len(symbols) - 1, and merge i makes the id len(symbols) + i.
    allowed: tells of what two would become whether they may be merged at all.
    watch: is told of each merge, and of the count of the pair that comes next (0 if there is
        none); where it returns True, that merge was the last.
    """
    named = ties in ("largest", "shortest") or allowed is not None
    row: list[int] = [GAP]
    weight: list[int] = [0]
    for ids, times in pre_tokens:
        row += (*ids, GAP)
        weight += [times] * (len(ids) + 1)
    names = list(symbols)
    size = [1] * len(names)  # atoms in each token, by id

    places: dict[Pair, list[int]] = {}
    counts: dict[Pair, int] = {}
    for place in range(1, len(row) - 2):
        if row[place] != GAP and row[place + 1] != GAP:
            neighbors = row[place], row[place + 1]
            places.setdefault(neighbors, []).append(place)
            counts[neighbors] = counts.get(neighbors, 0) + weight[place]

    def may_join(pair: Pair) -> bool:
        return allowed is None or allowed(names[pair[0]] + names[pair[1]])

    if allowed is not None:
        for neighbors in [*counts]:
            if not may_join(neighbors):
                del counts[neighbors], places[neighbors]
    with_count = Counter(counts.values())  # how many pairs have each count

    first_seen = dict.fromkeys(places, 0)  # index in `places` of the first that may still hold

    def first_place(pair: Pair) -> int:
        """Return where a pair stands first; there is such a place while its count is not 0."""
        left, right = pair
        positions, index = places[pair], first_seen[pair]
        while row[positions[index]] != left or row[positions[index] + size[left]] != right:
            index += 1
        first_seen[pair] = index
        return positions[index]

    order: Callable[[Pair], Any] = {
        "first": first_place,
        "smallest": lambda pair: pair,
        "largest": lambda pair: (_Descending((names[pair[0]], names[pair[1]])), pair),
        "shortest": lambda pair: (
            len(names[pair[0]]) + len(names[pair[1]]),
            names[pair[0]] + names[pair[1]],
            pair,
        ),
    }[ties]

    heap = [(-count, order(pair), pair) for pair, count in counts.items()]
    heapify(heap)

    def most_frequent() -> Pair | None:
        while heap:
            bound, key, pair = heappop(heap)
            count = counts.get(pair, 0)
            if not count:
                continue
            # Only the first position can change; the other rules' keys are fixed.
            current = order(pair) if ties == "first" and count == -bound else key
            if (-count, current) == (bound, key):
                return pair
            heappush(heap, (-count, current, pair))
        return None

    def replace(pair: Pair, new: int) -> int:
        """Replace a pair everywhere, from the left; return how often, weights included."""
        left, right = pair
        left_size, new_size = size[left], size[new]
        applied = 0
        change: dict[Pair, int] = {}
        born: dict[Pair, list[int]] = {}
        for place in places.pop(pair):
            if row[place] != left or row[place + left_size] != right:
                continue
            times = weight[place]
            applied += times
            # The start of the right half may no longer be taken for the start of a token.
            row[place + left_size] = GAP
            row[place] = row[place + new_size - 1] = new
            before, behind = row[place - 1], row[place + new_size]
            if before != GAP:
                change[before, left] = change.get((before, left), 0) - times
                change[before, new] = change.get((before, new), 0) + times
                born.setdefault((before, new), []).append(place - size[before])
            if behind != GAP:
                change[right, behind] = change.get((right, behind), 0) - times
                change[new, behind] = change.get((new, behind), 0) + times
                born.setdefault((new, behind), []).append(place)
        change.pop(pair, None)
        with_count[counts.pop(pair)] -= 1
        for other, difference in change.items():
            old = counts.get(other, 0)
            count = old + difference
            # A pair that was not counted is a new one, or one that may not be merged.
            new_or_banned = allowed is not None and not old
            if new_or_banned and not (count > 0 and may_join(other)):
                continue
            if old:
                with_count[old] -= 1
            if count:
                with_count[count] += 1
                counts[other] = count
            elif old:
                del counts[other]
        for other, positions in born.items():
            if other in counts:
                places[other] = positions
                first_seen[other] = 0
                heappush(heap, (-counts[other], order(other), other))
        return applied

    merges: list[Merge] = []
    pair = most_frequent()
    while len(merges) < limit:
        if not len(merges) % TOLD_EVERY:
            progress.tell(DOING, len(merges), limit)
        if pair is None:
            return merges, "no pair"
        count = counts[pair]
        if count < min_count:
            return merges, "rare"
        tied = with_count[count] - 1
        new = len(names)
        names.append(names[pair[0]] + names[pair[1]] if named else "")
        size.append(size[pair[0]] + size[pair[1]])
        merges.append(Merge(*pair, new, count, replace(pair, new), tied))
        pair = most_frequent()
        if watch is not None and watch(merges[-1], 0 if pair is None else counts[pair]):
            break
    return merges, "full"


def fast_merges(
    pre_tokens: Sequence[tuple[Sequence[int], int]],
    symbols: Sequence[str],
    limit: int,
    *,
    ties: TieRule = "first",
    min_count: int = 1,
) -> tuple[list[Merge], Literal["full", "no pair", "rare"]]:
    """Do what `learn_merges` does, faster where NumPy can: not by what pairs are called."""
    if ties == "largest":
        return learn_merges(pre_tokens, symbols, limit, ties=ties, min_count=min_count)
    rows = layout.Rows.of(pre_tokens)
    return _by_numpy(rows, len(symbols), limit, ties, min_count)


def _joined(pre_tokens: Mapping[str, int]) -> tuple[bytes, Array, Array]:
    """Return all pre-tokens in UTF-8, where each ends, in bytes, and how often it comes."""
    if isinstance(pre_tokens, PreTokenCounts):
        return pre_tokens.blob, pre_tokens.ends, pre_tokens.times
    raw = [*map(str.encode, pre_tokens)]
    ends = np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)))
    return b"".join(raw), ends, np.fromiter(pre_tokens.values(), np.int64, len(raw))


def _bytes_laid_out(pre_tokens: Mapping[str, int]) -> layout.Rows:
    blob, ends, times = _joined(pre_tokens)
    return layout.Rows.of_array(np.frombuffer(blob, np.uint8), ends, times)


def _characters_laid_out(pre_tokens: Mapping[str, int]) -> tuple[tuple[str, ...], layout.Rows]:
    """Do what `prepared` does where each character is an atom, without an object for each."""
    blob, ends, times = _joined(pre_tokens)
    begins = np.frombuffer(blob, np.int8) >= -64  # where a character does, in UTF-8
    starts = np.append(0, ends)[:-1]
    if not begins[starts].all():
        iter(pre_tokens)  # tells which of them is no text
    cuts = [0]
    while cuts[-1] < len(blob):
        after = min(cuts[-1] + BLOCK, len(blob))
        cuts.append(after + [*begins[after : after + 4].tolist(), True].index(True))

    def blocks() -> Iterator[NDArray[np.uint32]]:
        for start, end in pairwise(cuts):
            try:
                text = blob[start:end].decode()
            except UnicodeDecodeError:
                iter(pre_tokens)
                raise
            yield np.frombuffer(text.encode("utf-32-le"), np.uint32)

    used = np.zeros(1 + max((int(some.max()) for some in blocks()), default=0), np.bool_)
    for code_points in blocks():
        used[code_points] = True
    alphabet = used.nonzero()[0]
    ids = (used.cumsum() - 1).astype(np.min_scalar_type(len(alphabet) + 1))
    cells, at = np.empty(int(begins.sum()), ids.dtype), 0
    for code_points in blocks():
        cells[at : at + len(code_points)] = ids.take(code_points)
        at += len(code_points)
    in_characters, before = np.empty_like(ends), 0
    for start, end in pairwise(cuts):
        here = slice(*ends.searchsorted([start, end], side="right"))
        up_to = begins[start:end].cumsum() + before
        in_characters[here] = up_to[ends[here] - 1 - start]
        before = int(up_to[-1])
    return tuple(map(chr, alphabet.tolist())), layout.Rows.of_array(cells, in_characters, times)


def _by_numpy(
    rows: layout.Rows,
    atoms: int,
    limit: int,
    ties: Literal["first", "smallest"],
    min_count: int,
) -> tuple[list[Merge], Literal["full", "no pair", "rare"]]:
    def tell(done: int, limit: int) -> None:
        progress.tell(DOING, done, limit)

    return rounds.learn_merges(rows, atoms, limit, ties=ties, min_count=min_count, tell=tell)


def weighted_pre_tokens(corpus: Corpus, pre_tokenizer: PreTokenizer) -> Mapping[str, int]:
    """Return the distinct pre-tokens in first-seen order with how often each comes."""
    if isinstance(corpus, str):
        return pre_tokenizer.counted(clean(corpus))
    if pre_tokenizer.has_made(corpus):
        return corpus
    for pre_token, times in corpus.items():
        if times < 1:
            raise ValueError(f"The count of {pre_token!r} must be 1 or more, not {times}.")
    pieces: Counter[str] = Counter()
    for pre_token, times in corpus.items():
        for piece in pre_tokenizer.pre_tokens(clean(pre_token)):
            pieces[piece] += times
    return pieces


def alphabet_of(rows: Iterable[Sequence[str]], pre_tokenizer: PreTokenizer) -> tuple[str, ...]:
    if pre_tokenizer.atoms == "bytes":
        return tuple(map(chr, range(256)))
    # The mark belongs to it even where there is no word yet: it must never be unknown.
    mark = {END_OF_WORD} if pre_tokenizer.end_mark == "symbol" else set()
    return tuple(sorted(mark.union(*rows)))


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    atoms: Atoms = "bytes",
    end_mark: EndMark = "none",
    ties: TieRule = "first",
    min_count: int = 1,
    encode: Literal["merges", "longest"] = "merges",
    threshold: int = 0,
) -> MergeTraining:
    """Learn byte-pair merges from a text, or from pre-tokens with counts.

    vocab_size counts atoms and merges; give it or `merges`, not both. `min_count`: a pair that
    comes less often is not merged. `encode`: by the merges in their order, or by longest match
    with what they make (`bpeviz.core.longest_match`). `threshold`: a token that comes less often in the text
    that was learnt from is taken apart again at encoding. Raises `ValueError`, whose message is a
    sentence, for values that make no sense, and `SplitError` (one of them) for a bad split.
    """
    if threshold < 0:
        raise ValueError(f"The vocabulary threshold must be 0 or more, not {threshold}.")
    if encode not in ("merges", "longest"):
        raise ValueError(f"There is no way to encode {encode!r}: take merges or longest.")
    if threshold and encode == "longest":
        raise ValueError("A vocabulary threshold needs encoding in the order of the merges.")
    pre_tokenizer = checked_splitting(
        pattern, expression, special_tokens, atoms, end_mark, ties, min_count
    )
    with collector_off():
        if atoms == "bytes" and ties != "largest":
            alphabet = alphabet_of((), pre_tokenizer)
            limit = merge_limit(vocab_size, merges, len(alphabet), atoms)
            # The pre-tokens may go when they are laid out.
            laid_out = _bytes_laid_out(weighted_pre_tokens(corpus, pre_tokenizer))
            learnt, stopped = _by_numpy(laid_out, len(alphabet), limit, ties, min_count)
        elif end_mark == "none" and ties != "largest":
            alphabet, laid_out = _characters_laid_out(weighted_pre_tokens(corpus, pre_tokenizer))
            limit = merge_limit(vocab_size, merges, len(alphabet), atoms)
            learnt, stopped = _by_numpy(laid_out, len(alphabet), limit, ties, min_count)
        else:
            alphabet, rows = prepared(corpus, pre_tokenizer)
            limit = merge_limit(vocab_size, merges, len(alphabet), atoms)
            learnt, stopped = fast_merges(rows, alphabet, limit, ties=ties, min_count=min_count)
    decided = ("bpe", pre_tokenizer, alphabet, stopped, special_tokens, tuple(learnt))
    if encode == "longest":
        return LongestMatchTraining(*decided)
    if threshold:
        return RestrictedTraining(*decided, threshold)
    return MergeTraining(*decided)


def checked_splitting(
    pattern: str,
    expression: str,
    special_tokens: tuple[str, ...],
    atoms: Atoms,
    end_mark: EndMark,
    ties: TieRule,
    min_count: int,
) -> PreTokenizer:
    """Return the splitting that these arguments of `train` ask for. Raises `ValueError`."""
    if ties not in ("first", "smallest", "largest"):
        raise ValueError(f"There is no tie rule {ties!r}: take first, smallest or largest.")
    if atoms not in ("bytes", "characters"):
        raise ValueError(f"There are no atoms {atoms!r}: take bytes or characters.")
    if end_mark not in ("none", "attached", "symbol"):
        raise ValueError(f"There is no end mark {end_mark!r}: take none, attached or symbol.")
    if min_count < 1:
        raise ValueError(f"The smallest count must be 1 or more, not {min_count}.")
    if len({*special_tokens}) < len(special_tokens) or {"", UNKNOWN} & {*special_tokens}:
        raise ValueError(f"Special tokens must differ, and be neither empty nor {UNKNOWN}.")
    return PreTokenizer(atoms, pattern, expression, end_mark)


def prepared(
    corpus: Corpus, pre_tokenizer: PreTokenizer
) -> tuple[tuple[str, ...], list[tuple[list[int], int]]]:
    """Return the alphabet, and the distinct pre-tokens as rows of atom ids with their weights."""
    pre_tokens = weighted_pre_tokens(corpus, pre_tokenizer)
    rows = [(pre_tokenizer.symbols(pre_token), times) for pre_token, times in pre_tokens.items()]
    alphabet = alphabet_of((row for row, _ in rows), pre_tokenizer)
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}
    return alphabet, [([atom_id[symbol] for symbol in row], times) for row, times in rows]


def count_pairs(rows: Iterable[tuple[Sequence[int], int]]) -> dict[Pair, int]:
    """Count the pairs of neighbors in rows with their weights, in the order of first sight.

    This is the definition; `learn_merges` keeps the same counts without counting anew.
    """
    counts: dict[Pair, int] = {}
    for ids, times in rows:
        for pair in pairwise(ids):
            counts[pair] = counts.get(pair, 0) + times
    return counts


def merge_limit(vocab_size: int | None, merges: int | None, atoms: int, kind: str) -> int:
    if (vocab_size is None) == (merges is None):
        raise ValueError("Say either the vocabulary size or the number of merges.")
    limit = cast(int, merges) if vocab_size is None else vocab_size - atoms
    if limit < 0 and vocab_size is None:
        raise ValueError(f"The number of merges must be 0 or more, not {limit}.")
    if limit < 0:
        raise ValueError(
            f"The vocabulary must hold at least the {atoms} {kind} of this text; "
            f"{vocab_size} is too small."
        )
    return limit


TRAINER = Trainer(
    key="bpe",
    title="Byte-pair encoding (BPE)",
    short="BPE",
    about="Merges the most frequent pair of neighbors, again and again. Over bytes this is "
    "byte-level BPE, also called BBPE.",
    source="Sennrich, Haddow and Birch 2016, arXiv:1508.07909; over bytes: Wang, Cho and Gu 2019, "
    "arXiv:1909.03341",
    train=cast(Any, train),
    options=(
        Option(
            "atoms",
            "Start from",
            "Bytes: the text in UTF-8. There are 256 different ones, so nothing is ever unknown; "
            "BPE over them is byte-level BPE, or BBPE (Wang et al. 2019, arXiv:1909.03341). "
            "Characters: those of the text; any other is unknown later.",
            "bytes",
            {"bytes": "Bytes", "characters": "Characters"},
        ),
        Option(
            "end_mark",
            "End-of-word mark",
            "The mark `</w>` tells the end of a word from its middle (Sennrich et al. 2016). It is "
            "part of the last character, as in subword-nmt since version 0.2, or a symbol of its "
            "own, as before that: the two learn different merges.",
            "none",
            {
                "none": "None",
                "attached": "Part of the last character",
                "symbol": "A symbol of its own",
            },
            needs=("atoms", "characters"),
        ),
        Option(
            "ties",
            "Among equally frequent pairs",
            "Each implementation breaks ties its own way: minbpe takes the pair first seen, "
            "Hugging Face tokenizers the smallest ids, subword-nmt the lexicographically largest.",
            "first",
            {
                "first": "The one first seen",
                "smallest": "The smallest ids",
                "largest": "The lexicographically largest",
            },
        ),
        Option(
            "min_count",
            "Smallest count of a pair",
            "A pair that comes less often is not merged.",
            1,
            initial=2,
        ),
        Option(
            "encode",
            "Encode by",
            "BPE applies the merges in the order in which they were learnt. Some tutorials take, "
            "from the left, the longest token of the vocabulary that fits: often the same tokens, "
            "but not always.",
            "merges",
            {"merges": "The merges, in their order", "longest": "Longest match first"},
        ),
        Option(
            "threshold",
            "Vocabulary threshold",
            "Tokens rarer than this in the text learnt from are taken apart again at encoding, as "
            "by subword-nmt's vocabulary threshold. 0: none are.",
            0,
            minimum=0,
            needs=("encode", "merges"),
        ),
    ),
)
