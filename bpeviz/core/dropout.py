"""BPE-dropout: merges are left out at random, so that one word is cut in many ways.

Source: Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword
Regularization", 2020, arXiv:1910.13267, Algorithm 1.

The vocabulary is that of ordinary byte-pair encoding. Dropout is for encoding the text that a model
is trained on, so that it sees a word cut in more than one way. It is never used at inference, when
a trained model reads a text: there every tokenizer here merges without it.

The algorithm goes round and round: it lists all merges that are possible now, each place by itself,
and drops each of them with probability p, whatever it dropped before. Of those that are left it
makes the one that was learnt first (of equals, the leftmost). It ends in the first round that
leaves none, whether all were dropped or none was possible. So p = 0 is plain byte-pair encoding,
and p = 1 leaves the atoms. The more merges are possible at once, the less likely is it that a round
leaves none: in a very long pre-token hardly anything stays unmerged.

Libraries differ in what the paper leaves to them. Here a round makes one merge. subword-nmt's makes
it at every place where it was not dropped, and draws anew only then. Hugging Face's makes one, as
here, but a queued merge that has become impossible also ends a round when it is drawn. Where no two
places have the same pair, and no two possible merges share a token, all three are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from random import Random

from bpeviz.core.merges import MergeTokenizer

MOST_DRAWS = 20_000_000
"""How many random numbers may be drawn for one answer: that takes some ten seconds."""


def segment_with_dropout(
    tokenizer: MergeTokenizer, row: Sequence[int], p: float, random: Random
) -> tuple[int, ...]:
    """Cut one row of atom ids (-1 for an unknown one) into tokens, each merge dropped with `p`.

    For encoding what a model is trained on, never for inference. Raises `ValueError` where p is
    no probability, or where so long a row with so large a p would take too long.
    """
    _check(len(row), p, 1)
    return _segment(tokenizer, row, p, random)


def segmentations(
    tokenizer: MergeTokenizer, pre_token: str, strength: float, draws: int, seed: int
) -> Counter[tuple[int, ...]]:
    """Cut a pre-token `draws` times with dropout; return the cuts, as ids, with how often each came.

    strength: the probability p with which each merge is dropped, 0 to 1. The same seed gives the
    same cuts. Raises `ValueError` where a value makes no sense or would take too long.

    >>> from bpeviz import train
    >>> tokenizer = train("low low lower", merges=2, pattern="whitespace").tokenizer()
    >>> found = segmentations(tokenizer, "low", 0.5, draws=1_000, seed=1)
    >>> [[tokenizer.token_label(i) for i in ids] for ids, _ in found.most_common()]
    [['l', 'o', 'w'], ['low'], ['lo', 'w']]
    """
    if draws < 0:
        raise ValueError(f"The number of draws must be 0 or more, not {draws}.")
    row, _ = tokenizer.row(pre_token)
    if tokenizer.pre_tokenizer.drops(pre_token):
        row = ()
    _check(len(row), strength, draws)
    random = Random(seed)  # noqa: S311 - nothing is kept secret by it
    return Counter(_segment(tokenizer, row, strength, random) for _ in range(draws))


def _check(atoms: int, p: float, draws: int) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"The probability of dropout must be between 0 and 1, not {p}.")
    # Each of at most `atoms` rounds draws until one merge is not dropped; the last draws for all.
    rounds = atoms if p < 1 else 1
    each = min(atoms, 1 / (1 - p)) if p < 1 else atoms
    if rounds * each * draws > MOST_DRAWS:
        raise ValueError(
            f"With p = {p:g}, cutting {atoms:,} atoms {draws:,} times would take too long. Take "
            "a shorter text, a smaller p, or fewer draws."
        )


def _segment(
    tokenizer: MergeTokenizer, row: Sequence[int], p: float, random: Random
) -> tuple[int, ...]:
    get = tokenizer._rank.get
    gone = -2
    ids = [*row, gone]  # so that there is something behind the last
    following = list(range(1, len(ids) + 1))
    preceding = list(range(-1, len(ids)))
    # The merges that are possible, as (the id that it makes, place), and some that no longer are.
    possible = [
        (new, place) for place, pair in enumerate(pairwise(row)) if (new := get(pair)) is not None
    ]
    heapify(possible)
    dropped: list[tuple[int, int]] = []  # in this round
    while possible:
        new, i = merge = heappop(possible)
        j = following[i]
        if get((ids[i], ids[j])) != new:  # an earlier merge took one of the two
            continue
        if random.random() < p:
            dropped.append(merge)
            continue
        # The first that is not dropped is what this round makes: no need to draw for the others.
        ids[i], ids[j] = new, gone
        following[i] = k = following[j]
        preceding[k] = i
        if (newer := get((new, ids[k]))) is not None:
            heappush(possible, (newer, i))
        h = preceding[i]
        if h >= 0 and (newer := get((ids[h], new))) is not None:
            heappush(possible, (newer, h))
        while dropped:  # possible again in the next round
            heappush(possible, dropped.pop())
    return tuple(token_id for token_id in ids if token_id != gone)
