"""Going on from a vocabulary, against a slow loop over the base's tokens, at every step."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from helpers.candidates import check_candidates
from helpers.properties import examples
from helpers.refusals import refusal
from helpers.steps import check_steps
from helpers.texts import over
from hypothesis import given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import Tokenizer
from bpeviz.pretokenizers.patterns import PATTERNS, pretokenize
from bpeviz.pretrained import download, rank_tokenizer
from bpeviz.trainers import bpe, texts_of
from bpeviz.trainers.continued_bpe import AdaptiveTraining

TEXTS = st.one_of(
    over("ab ", 50),
    st.lists(
        st.sampled_from(["the cat", " the", " cat", "hat", "\n", ".", "  ", "é", "👍", "'ll"]),
        max_size=16,
    ).map("".join),
    over("aé👍 \n", 30),
)
DIFFICULT = st.one_of(TEXTS, st.text(st.characters(codec="utf-8"), max_size=40))
HOW = st.fixed_dictionaries(
    {
        "pattern": st.sampled_from(["gpt2", "words", "whitespace", "none", "characters"]),
        "ties": st.sampled_from(["first", "smallest", "bytes", "largest"]),
        "min_count": st.integers(1, 2),
    }
)
OLD = "the hat that the cat sat on, aé👍 ab ba aab " * 3


@cache
def bases() -> dict[str, Tokenizer]:
    """Return base tokenizers that need no download: trained here or built from ranks."""
    trained = bpeviz.train(OLD, merges=30)
    # Ranks as GPT-2's: the bytes in another order, a gap before the special token.
    ranks = {bytes([(i + 33) % 256]): i for i in range(256)}
    for raw in (b"th", b"at", b" c", b"the", b" cat", b"a ", b"ab", b" a", "é".encode(), b"  "):
        ranks[raw] = len(ranks)
    pattern = PATTERNS["whitespace"].expression or ""
    return {
        "bytes": bpeviz.train("", merges=0).tokenizer(),
        "trained": trained.tokenizer(),
        "across": bpeviz.train(OLD, merges=40, pattern="none").tokenizer(),
        "special": bpeviz.train(OLD, merges=9, special_tokens=("<s>", "</s>")).tokenizer(),
        "ranks": rank_tokenizer.from_ranks("ranks", pattern, ranks, {"<|end|>": 300}),
        "added": bpeviz.train(OLD, "adaptive", base=trained.tokenizer(270), merges=5).tokenizer(),
        "superbpe": bpeviz.train(OLD, "superbpe", merges=30, transition=262).tokenizer(),
    }


BASES = st.sampled_from(["bytes", "trained", "across", "special", "ranks", "added", "superbpe"])


def train(text: str, base: Tokenizer, how: dict[str, Any], merges: int = 20) -> AdaptiveTraining:
    training = bpeviz.train(text, "adaptive", merges=merges, base=base, **how)
    assert isinstance(training, AdaptiveTraining)
    return training


def rows_of(text: str, base: Tokenizer, pattern: str) -> list[list[int]]:
    """Return the base's tokens; a row starts at a token that contains a pre-token boundary."""
    cuts = set()
    at = 0
    for pre_token in pretokenize(text, pattern):
        at += len(pre_token.encode())
        cuts.add(at)
    rows: list[list[int]] = [[]]
    at = 0
    for token_id in base.encode(text):
        size = len(base.token_bytes(token_id))
        if cuts & set(range(at, at + size)):
            rows.append([])
        rows[-1].append(token_id)
        at += size
    return [row for row in rows if row]


def reference_merges(
    rows: list[list[int]], base: Tokenizer, limit: int, ties: str, min_count: int
) -> tuple[list[tuple[int, ...]], str]:
    """Count all pairs, take the most frequent, replace it everywhere, repeat."""
    steps: list[tuple[int, ...]] = []
    raw = {token_id: base.token_bytes(token_id) for row in rows for token_id in row}
    while len(steps) < limit:
        counts = bpe.count([(row, 1) for row in rows])
        if not counts:
            return steps, "no pair"
        highest = max(counts.values())
        if highest < min_count:
            return steps, "rare"
        tied = [pair for pair, count in counts.items() if count == highest]
        pair = bpe.choose(tied, raw, ties)
        new = base.vocab_size + len(steps)
        raw[new] = raw[pair[0]] + raw[pair[1]]
        before = sum(map(len, rows))
        rows = [bpe.merge(row, pair, new) for row in rows]
        steps.append((*pair, new, highest, before - sum(map(len, rows)), len(tied) - 1))
    return steps, "full"


@settings(max_examples=examples(250))
@given(TEXTS, BASES, HOW, st.integers(0, 20))
def test_merges_equal_reference_loop(
    text: str, name: str, how: dict[str, Any], merges: int
) -> None:
    base = bases()[name]
    training = train(text, base, how, merges)
    found = [(m.left, m.right, m.new_id, m.count, m.applied, m.ties) for m in training.merges]
    rows = rows_of(text, base, how["pattern"])
    assert (found, training.stopped) == reference_merges(
        rows, base, merges, how["ties"], how["min_count"]
    )
    check_candidates(training, text)


@settings(max_examples=examples(150))
@given(TEXTS, DIFFICULT, BASES, HOW)
def test_tokens_equal_reference_segmentation_at_every_step(
    corpus: str, text: str, name: str, how: dict[str, Any]
) -> None:
    """Check the training text, other text, and the tokenizer of each step."""
    base = bases()[name]
    training = train(corpus, base, how)
    tokenizer = training.tokenizer()
    for held in (corpus, text):
        assert tokenizer.boundaries(held).ids(0).tolist() == base.encode(held)
        rows = rows_of(held, base, how["pattern"])

        def expected(step: int, rows: list[list[int]] = rows) -> list[tuple[int, int]]:
            if step:
                merge = training.merges[step - 1]
                pair = merge.left, merge.right
                rows[:] = [bpe.merge(row, pair, merge.new_id) for row in rows]
            return [(i, len(tokenizer.token_bytes(i))) for row in rows for i in row]

        check_steps(training, held, expected)


# Ids


@pytest.mark.parametrize("name", ["bytes", "trained", "special", "ranks", "added"])
def test_new_ids_follow_base_ids(name: str) -> None:
    base = bases()[name]
    training = bpeviz.train(
        "cats sat at the sea " * 3, "adaptive", base=base, merges=6, special_tokens=("<new>",)
    )
    tokenizer = training.tokenizer()
    first = base.vocab_size
    assert [merge.new_id for merge in training.merges] == [*range(first, first + 6)]
    assert tokenizer.vocab_size == first + 7
    assert training.sizes.tolist() == tokenizer.sizes.tolist() == [*range(first, first + 7)]
    assert tokenizer.special_tokens == {**base.special_tokens, "<new>": first + 6}
    for special, token_id in tokenizer.special_tokens.items():
        assert tokenizer.encode(special, allowed_special={special}) == [token_id]
        assert tokenizer.token_bytes(token_id) == special.encode()
        assert tokenizer.is_atom(token_id)
    for merge in training.merges:
        assert not tokenizer.is_atom(merge.new_id)
        assert tokenizer.parents(merge.new_id) == training.parents(merge.new_id)
        assert tokenizer.token_bytes(merge.new_id) == b"".join(
            map(tokenizer.token_bytes, (merge.left, merge.right))
        )
    assert tokenizer.parents(97) is training.parents(97) is None


# Names and descriptions


def test_base_text_trains_the_base_first() -> None:
    training = bpeviz.train(
        "newer slower", "adaptive", base_text="low lower lowest new newest", base_size=262, merges=4
    )
    assert isinstance(training, AdaptiveTraining)
    before = bpeviz.train("low lower lowest new newest", vocab_size=262).tokenizer()
    assert training.tokenizer(262).encode("newer slower") == before.encode("newer slower")
    assert texts_of(training).vocabulary(training, 4) == "262 of the first text + 4 merges"


def test_missing_base_vocabulary_raises_value_error_without_download(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page displays the message in place of the player, and downloads nothing."""
    monkeypatch.setattr(download, "available", lambda name: False)
    monkeypatch.setattr(download, "fetch", lambda *_: pytest.fail("unexpected download"))
    refusal(bpeviz.train, "abc", "adaptive", base="gpt2", merges=1, naming="gpt2")


# Unusual and invalid inputs


def test_base_and_sizes_that_do_not_fit_are_refused() -> None:
    def refused(text: str, *naming: str, **how: Any) -> None:
        refusal(bpeviz.train, text, "adaptive", naming=naming, **{"merges": 1, **how})

    refused("abc", "text", "gpt2", "cl100k_base", base="gpt5")
    refused("abc", "260", "9", base_text="abcde", merges=None, vocab_size=9)
    over_characters = bpeviz.train(OLD, merges=3, atoms="characters").tokenizer()
    refused("abc", "bpe", "0 to 255", base=over_characters)
    leaky = rank_tokenizer.from_ranks("leaky", "[a-z]+", {bytes([i]): i for i in range(256)}, {})
    refused("a b", "leaky", base=leaky)
    refused("a b", "those of the base", base=bases()["special"], special_tokens=("<s>",))
