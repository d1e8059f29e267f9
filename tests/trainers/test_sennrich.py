"""BPE over words as published by Sennrich et al., compared with their package, subword-nmt.

Its tie rule is the lexicographically largest pair. The end-of-word mark is part of a word's last
character ("#version: 0.2"), or a separate symbol (0.1). It differs from bpeviz in these points:

- It splits words only at spaces and line ends, and ignores white space. In bpeviz white space is a
  pre-token too, so the texts below have single spaces.
- It merges no pair that occurs only once (`min_frequency=2`), in bpeviz `min_count=2`.
- `total_symbols` subtracts the number of characters from the number of merges. It counts a
  character in the middle and at the end of words as two, as the alphabet of bpeviz does.
- It does not encode a word of one character, which therefore has no `</w>`.
"""

from __future__ import annotations

import io
from functools import lru_cache

import pytest
from helpers.properties import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE, read_vocabulary
from subword_nmt.get_vocab import get_vocab
from subword_nmt.learn_bpe import learn_bpe

import bpeviz
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import MergeTraining

pytestmark = pytest.mark.slow

HOW = {"atoms": "characters", "end_mark": "attached", "ties": "largest", "min_count": 2}
WORDS = st.lists(
    st.text("abc", min_size=1, max_size=6) | st.sampled_from(["abab", "aaaa", "cab", "é", "aé"]),
    min_size=1,
    max_size=40,
)


def their_merges(text: str, merges: int, *, counted: bool = False, total: bool = False) -> str:
    """Return the codes file of `learn_bpe`."""
    codes = io.StringIO()
    learn_bpe(io.StringIO(text), codes, merges, is_dict=counted, total_symbols=total)
    return codes.getvalue()


def our_merges(training: MergeTraining) -> list[str]:
    """Return the lines of a codes file; token names equal their content here."""
    symbols = list(training.alphabet)
    for merge in training.merges:
        symbols.append(symbols[merge.left] + symbols[merge.right])
    return [f"{symbols[merge.left]} {symbols[merge.right]}" for merge in training.merges]


def their_segments(codes: str, text: str, vocabulary: set[str] | None = None) -> list[str]:
    """Return the pieces of a line by `apply_bpe`; @@ ends all but the last piece of a word."""
    vocab = None if vocabulary is None else frozenset(vocabulary)
    return their_encoder(codes, vocab).segment(text).split()


@lru_cache(2)
def their_encoder(codes: str, vocabulary: frozenset[str] | None) -> BPE:
    return BPE(io.StringIO(codes), vocab=vocabulary)


def our_segments(tokenizer: Tokenizer, words: list[str]) -> list[str]:
    """Return our segments in their notation, with unknown characters as in the text."""
    found = []
    for word in words:
        tokens = tokenizer.tokens(word)
        pieces = [word[token.start : token.end] for token in tokens]
        found += [f"{piece}@@" for piece in pieces[:-1]] + pieces[-1:]
    return found


def their_vocabulary(codes: str, lines: list[str], threshold: int) -> set[str] | None:
    """Return the pieces that `get_vocab` counts at least `threshold` times, or None for 0.

    subword-nmt treats an empty vocabulary as None, so the set contains a line end, which no piece
    contains.
    """
    if not threshold:
        return None
    segmented = io.StringIO("".join(" ".join(their_segments(codes, line)) + "\n" for line in lines))
    counted = io.StringIO()
    get_vocab(segmented, counted)
    return read_vocabulary(io.StringIO(counted.getvalue()), threshold) | {"\n"}


def long_words(words: list[str]) -> bool:
    """Return whether the words contain a pair: without one, `learn_bpe` fails."""
    return any(len(word) > 1 for word in words)


# Training


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=examples(120))
@given(WORDS.filter(long_words), st.integers(1, 25))
def test_merges_equal_subword_nmt(words: list[str], merges: int) -> None:
    text = " ".join(words)
    training = bpeviz.train(text, merges=merges, pattern="whitespace", **HOW)
    assert our_merges(training) == their_merges(text, merges).splitlines()[1:]


# Segmentation


@settings(max_examples=examples(100))
@given(WORDS.filter(long_words), WORDS, st.integers(1, 25), st.integers(0, 6))
def test_segments_equal_subword_nmt_with_and_without_threshold(
    words: list[str], others: list[str], merges: int, threshold: int
) -> None:
    """Check training words and other words."""
    text = " ".join(words)
    codes = their_merges(text, merges)
    assume(len(codes.splitlines()) > 1)  # it cannot read a file without any merge
    vocabulary = their_vocabulary(codes, [text], threshold)
    training = bpeviz.train(text, merges=merges, pattern="whitespace", threshold=threshold, **HOW)
    tokenizer = training.tokenizer()
    for used in (words, others):
        expected = their_segments(codes, " ".join(used), vocabulary)
        assert our_segments(tokenizer, used) == expected


def test_end_mark_symbol_equals_subword_nmt_version_0_1() -> None:
    """A codes file without a version line is read as 0.1, with a separate `</w>`."""
    text = "newest newest newer widest low lower low"
    how = {**HOW, "end_mark": "symbol"}
    training = bpeviz.train(text, merges=12, pattern="whitespace", **how)
    codes = "\n".join(our_merges(training)) + "\n"
    tokenizer = training.tokenizer()
    for word in [*text.split(), "lowest", "news", "est"]:
        pieces = [token.label.removesuffix("</w>") for token in tokenizer.tokens(word)]
        pieces = [piece for piece in pieces if piece]
        assert [f"{p}@@" for p in pieces[:-1]] + pieces[-1:] == their_segments(codes, word)
