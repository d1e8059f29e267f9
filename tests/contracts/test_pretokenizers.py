"""What holds of every pattern of pre-tokenization, and of word lists."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

import pytest
import regex
from helpers.properties import many
from helpers.refusals import refusal
from helpers.texts import ANY_TEXT
from hypothesis import example, given
from hypothesis import strategies as st

from bpeviz.pretokenizers.counts import PreTokenCounts, count, count_blocks, count_each
from bpeviz.pretokenizers.patterns import (
    PATTERNS,
    SplitError,
    blocks,
    mark_unmatched,
    pretokenize,
    slices,
)
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.pretokenizers.vectorized import PATTERNS as AT_ONCE
from bpeviz.pretokenizers.vectorized import pre_token_starts
from bpeviz.trainers.preparation import count_pre_tokens

WORDS = "a ab ABC Ab 名 слово 12345 's"
RUNS = st.lists(
    st.sampled_from(
        [" ", "  ", "\t", "\n", "\r\n", "\r", "\u3000", ".", "'", "'s", "'ſt", "'LL", "a", "1"]
    ),
    max_size=14,
).map("".join)
"""Mixtures of white space and contractions, where the patterns are hardest to follow."""
TEXTS = ANY_TEXT | RUNS
KEYS = [*PATTERNS, "list"]
MATCHED = [key for key in PATTERNS if key != "none"]
each_pattern = pytest.mark.parametrize("key", KEYS)


def split(text: str, key: str) -> list[str]:
    return pretokenize(text, key, WORDS if key == "list" else "")


def listed(counts: PreTokenCounts) -> list[tuple[str, int, int]]:
    return [
        (pre_token.decode(), int(times), int(first))
        for pre_token, times, first in zip(
            counts.pre_tokens, counts.times, counts.first, strict=True
        )
    ]


def recounted(pre_tokens: list[str]) -> list[tuple[str, int, int]]:
    """Return each distinct pre-token in first-seen order, its count and first byte offset."""
    places = accumulate((len(pre_token.encode()) for pre_token in pre_tokens), initial=0)
    first: dict[str, int] = {}
    for pre_token, place in zip(pre_tokens, places, strict=False):
        first.setdefault(pre_token, place)
    counts = Counter(pre_tokens)
    return [(pre_token, counts[pre_token], place) for pre_token, place in first.items()]


@each_pattern
@many()
@given(TEXTS, st.integers(1, 9), st.integers(1, 9))
@example("a\r\n\nb c\nd", 1, 1)
@example("!\n/a\n/a", 2, 1)
@example("a. b\nC", 1, 1)
def test_pre_tokens_join_to_the_text_and_are_counted_in_blocks(
    key: str, text: str, size: int, piece: int
) -> None:
    pre_tokens = split(text, key)
    assert "".join(pre_tokens) == text
    assert all(pre_tokens)
    assert [str(each) for each in mark_unmatched(text, key, WORDS * (key == "list"))] == pre_tokens
    cut_up = [*blocks(slices(text, piece), key, size)]
    assert [each for block in cut_up for each in split(block, key)] == pre_tokens
    found = count_blocks(slices(text, piece), key, WORDS * (key == "list"), block=size)
    assert listed(found) == recounted(pre_tokens)
    assert [*found.items()] == [*Counter(pre_tokens).items()]
    assert (found.size, found.pattern) == (len(text.encode()), key)


@pytest.mark.parametrize("key", MATCHED)
@many()
@given(TEXTS)
def test_expression_matches_all_of_the_text(key: str, text: str) -> None:
    """Other libraries drop text that does not match."""
    expression = PATTERNS[key].expression
    assert expression is not None
    assert [m.group() for m in regex.finditer(expression, text) if m.group()] == split(text, key)


@pytest.mark.parametrize("key", sorted(AT_ONCE))
@many()
@given(TEXTS)
@example("I'LL we'll \r\n  \n x")
@example("!\n \n  ")
@example("'ſa 'ſ it'ſt 'St 'LLa")
@example("\ud800a")
def test_fast_path_begins_pre_tokens_where_the_expression_matches(key: str, text: str) -> None:
    expression = PATTERNS[key].expression
    assert expression is not None
    for held in (text, text * (1 + 2_100 // max(1, len(text)))):
        starts = [match.start() for match in regex.finditer(expression, held)]
        assert pre_token_starts(held, key).tolist() == starts


@pytest.mark.parametrize("key", PATTERNS)
@many(least=25)
@given(TEXTS, st.sampled_from(["bytes", "characters"]))
@example("0.)0", "bytes")  # in Treebank, the period belongs to "0." only before ")"
def test_trainers_count_pre_tokens_in_first_seen_order(key: str, text: str, atoms: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    pre_tokenizer = PreTokenizer(atoms, key)  # type: ignore[arg-type]
    expected = Counter(pretokenize(text, key))
    counted = count_pre_tokens(text, pre_tokenizer)
    assert [*counted.items()] == [*expected.items()]
    # Counted pre-tokens are used as they are; words are split, a word at the end of its text.
    assert count_pre_tokens(counted, pre_tokenizer) is counted
    pieces: Counter[str] = Counter()
    for word, times in expected.items():
        for piece in pretokenize(word, key):
            pieces[piece] += times
    assert [*count_pre_tokens(dict(expected), pre_tokenizer).items()] == [*pieces.items()]


@pytest.mark.parametrize("key", PATTERNS)
@many(least=25)
@given(st.dictionaries(TEXTS.filter(bool), st.integers(1, 3), max_size=5))
@example({"a.\n ": 1, "b": 2})
@example({"a. B": 1, "\n c": 1, ". d": 1, "é!\r": 1, ")。": 1})
def test_counts_of_texts_are_those_of_each(key: str, texts: dict[str, int]) -> None:
    expected: Counter[str] = Counter()
    for text, times in texts.items():
        for pre_token in pretokenize(text, key):
            expected[pre_token] += times
    assert [*count_each(texts, key).items()] == [*expected.items()]


@pytest.mark.parametrize("key", [key for key in KEYS if key != "none"])
@pytest.mark.parametrize("line", ["a few words, ", "строка\n", "他说：“好。”\n然", "one\r\ntwo\n"])
def test_blocks_of_running_text_are_short(key: str, line: str) -> None:
    """Longer blocks would hold the whole text in memory, which no other test detects."""
    if key == "sentences":  # only a new line surely begins one
        line = line.replace(", ", ",\n")
    assert max(map(len, blocks(slices(line * 1000, 50), key, 200))) < 300


@pytest.mark.parametrize("key", PATTERNS)
def test_pattern_has_a_title_and_a_sentence(key: str) -> None:
    pattern = PATTERNS[key]
    assert (pattern.key, pattern.title != "", pattern.about[-1]) == (key, True, ".")


@pytest.mark.parametrize("text", ["", "a"])
def test_pattern_that_is_none_is_refused(text: str) -> None:
    for call in (pretokenize, count):
        refusal(call, text, "gpt5", naming=("'gpt5'", "gpt2", "regex", "list"), error=SplitError)
        for key in ("regex", "list"):
            refusal(call, text, key, error=SplitError)
