"""BPE-dropout against the exact distribution of its algorithm, and against two libraries.

What is drawn here has a seed. Hugging Face's draws have none, so the bound there is one that a
correct sampler passes but once in a billion.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
import reference
from helpers.properties import examples
from helpers.refusals import refusal
from helpers.texts import SMALL_TEXTS, over
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

import bpeviz
from bpeviz.core.dropout import segmentations
from bpeviz.core.merges import Merge, MergeTokenizer
from bpeviz.pretokenizers.pretokenizer import PreTokenizer

Cut = tuple[str, ...]


def exactly(atoms: Cut, merges: list[tuple[str, str]], p: float) -> dict[Cut, float]:
    """Return the probability of each segmentation by Algorithm 1 of arXiv:1910.13267.

    In a round each merge that is possible, at its place, is dropped with probability p; of the
    others the merge of the lowest rank is applied, the leftmost first.
    """
    rank = {pair: i for i, pair in enumerate(merges)}
    found: dict[Cut, float] = {}
    waiting = {atoms: 1.0}
    while waiting:
        tokens = max(waiting, key=len)  # so that all ways to it have been walked
        likely = waiting.pop(tokens)
        possible = sorted(
            (rank[pair], i) for i, pair in enumerate(pairwise(tokens)) if pair in rank
        )
        for _, i in possible:
            merged = (*tokens[:i], tokens[i] + tokens[i + 1], *tokens[i + 2 :])
            waiting[merged] = waiting.get(merged, 0.0) + likely * (1 - p)
            likely *= p
        if likely:
            found[tokens] = found.get(tokens, 0.0) + likely
    return found


def once(tokenizer: MergeTokenizer, text: str, p: float, seed: int = 1) -> tuple[int, ...]:
    """Return one segmentation of a text, given as ids."""
    (ids,) = segmentations(tokenizer, text, p, 1, seed)
    return ids


def mean(cuts: Mapping[Cut, float]) -> float:
    return sum(len(cut) * share for cut, share in cuts.items()) / sum(cuts.values())


def check(drawn: Counter[Cut], expected: Mapping[Cut, float], z: float = 6.0) -> None:
    """Check a sample against a distribution by Pearson's chi-square.

    The quantile is Wilson and Hilferty's; chance exceeds z = 6 but once in a billion. Cells
    of fewer than ten expected draws are put together.
    """
    draws = drawn.total()
    assert drawn.keys() <= expected.keys()
    large = {cut for cut, share in expected.items() if share * draws >= 10}
    cells = [(drawn[cut], expected[cut] * draws) for cut in large]
    rest = (
        draws - sum(count for count, _ in cells),
        max(0.0, draws - sum(share for _, share in cells)),
    )
    assert rest[0] <= rest[1] + z * math.sqrt(rest[1]) + z * z
    if rest[1] >= 10:
        cells.append(rest)
    freedom = len(cells) - 1
    if not freedom:
        return
    spread = 2 / (9 * freedom)
    statistic = sum((count - share) ** 2 / share for count, share in cells)
    assert statistic < freedom * (1 - spread + z * math.sqrt(spread)) ** 3


def tokenizer_of(merges: list[tuple[str, str]], alphabet: str) -> MergeTokenizer:
    ids = {symbol: i for i, symbol in enumerate(alphabet)}
    made = []
    for left, right in merges:
        ids[left + right] = len(ids)
        made.append(Merge(ids[left], ids[right], ids[left + right], 1, 1, 0))
    return MergeTokenizer("bpe", PreTokenizer("characters", "none"), tuple(alphabet), tuple(made))


def named(tokenizer: MergeTokenizer, cuts: Counter[tuple[int, ...]]) -> Counter[Cut]:
    return Counter({tuple(map(tokenizer.token_label, ids)): times for ids, times in cuts.items()})


# Hugging Face's own test, in tokenizers/src/models/bpe/model.rs:
# test_tokenize_with_and_without_dropout.

MERGES = [
    ("r", "e"), ("a", "t"), ("e", "d"), ("u", "n"), ("at", "ed"), ("re", "l"), ("rel", "ated"),
    ("un", "related"),
]  # fmt: skip
LETTERS = "unrelatd"
VOCABULARY = {token: i for i, token in enumerate((*LETTERS, *map("".join, MERGES)))}
UNRELATED = tokenizer_of(MERGES, LETTERS)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "measured", "tokens"), [(0.1, 1.606, 1.61242), (0.5, 5.07, 5.07935)])
def test_mean_token_count_matches_exact_distribution(
    p: float, measured: float, tokens: float
) -> None:
    """About 1.606 and 5.07 tokens on average, as once measured by drawing.

    Worked out, round by round, it is 1.61242 and 5.07935. A million draws by Hugging Face gave
    1.6127 and 5.0823, with standard errors of 0.0011 and 0.0021.
    """
    exact = exactly(tuple("unrelated"), MERGES, p)
    assert sum(exact.values()) == pytest.approx(1)
    assert mean(exact) == pytest.approx(tokens, abs=5e-6)
    assert mean(exact) == pytest.approx(measured, abs=0.01)
    drawn = named(UNRELATED, segmentations(UNRELATED, "unrelated", p, 50_000, 7))
    assert mean(drawn) == pytest.approx(tokens, abs=0.02)
    check(drawn, exact)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_segmentations_match_hugging_face_distribution(p: float) -> None:
    """No pair repeats and no possible merges overlap here, so both libraries' variants agree.

    See `bpeviz.core.dropout`.
    """
    model = Tokenizer(models.BPE(vocab=VOCABULARY, merges=MERGES, dropout=p))
    theirs = Counter(tuple(model.encode("unrelated").tokens) for _ in range(20_000))
    exact = exactly(tuple("unrelated"), MERGES, p)
    check(theirs, exact)
    check(named(UNRELATED, segmentations(UNRELATED, "unrelated", p, 20_000, 3)), exact)


# Any merges


@settings(max_examples=examples(40))
@given(SMALL_TEXTS, over("abc ", 8), st.sampled_from([0.1, 0.4, 0.8]), st.integers(0, 3))
def test_segmentations_match_exact_distribution_for_any_merges(
    corpus: str, word: str, p: float, seed: int
) -> None:
    """Merges may overlap here, and pairs may repeat."""
    corpus, word = corpus[:60] or "a", word[:8]
    tokenizer = bpeviz.train(corpus, merges=8, pattern="none", atoms="characters").tokenizer()
    assert isinstance(tokenizer, MergeTokenizer)
    names = [tokenizer.token_label(i) for i in range(tokenizer.vocab_size)]
    merges = [(names[merge.left], names[merge.right]) for merge in tokenizer.merges]
    atoms = tuple(names[i] if i >= 0 else "?" for i in tokenizer.row(word)[0])
    found = segmentations(tokenizer, word, p, 1_000, seed)
    drawn: Counter[Cut] = Counter()
    for ids, times in found.items():
        drawn[tuple(names[i] if i >= 0 else "?" for i in ids)] += times
    check(drawn, exactly(atoms, merges, p))


@settings(max_examples=examples(150))
@given(SMALL_TEXTS, SMALL_TEXTS, st.sampled_from([{}, {"atoms": "characters"}]))
def test_dropout_zero_equals_plain_bpe_and_dropout_one_keeps_atoms(
    corpus: str, text: str, how: dict[str, Any]
) -> None:
    tokenizer = bpeviz.train(corpus, merges=20, pattern="none", **how).tokenizer()
    assert isinstance(tokenizer, MergeTokenizer)
    row, _ = tokenizer.row(text)
    rank = {(merge.left, merge.right): merge.new_id for merge in tokenizer.merges}
    assert [*once(tokenizer, text, 0.0)] == reference.encode(row, rank)
    assert once(tokenizer, text, 1.0) == row


def test_segmentations_are_seeded_and_keep_global_random_state() -> None:
    first, again, other = (
        segmentations(UNRELATED, "unrelated", 0.5, 200, seed) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert first.total() == 200
    state = random.getstate()
    segmentations(UNRELATED, "unrelated", 0.5, 10, 5)
    assert random.getstate() == state


# Odd inputs


def test_invalid_dropout_arguments_are_refused() -> None:
    for p in (-0.1, 1.5, math.nan):
        refusal(segmentations, UNRELATED, "unrelated", p, 1, 1, naming=str(p))
    for draws in (-1, 10**9):
        refusal(segmentations, UNRELATED, "unrelated", 0.5, draws, 1)
