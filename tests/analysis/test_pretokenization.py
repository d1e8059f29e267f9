"""The data of the Pre-tokenize page equals slow loops."""

from __future__ import annotations

from itertools import pairwise

import pytest
import regex
from helpers.properties import examples
from helpers.texts import SMALL_TEXTS
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpeviz.analysis import pretokenization
from bpeviz.pretokenizers.alternatives import ALTERNATIVES, matched
from bpeviz.pretokenizers.patterns import PATTERNS, pretokenize

ANY_TEXT = st.one_of(
    SMALL_TEXTS,
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.lists(
        st.sampled_from(
            ["the ", "th", "e. ", "A", "é", "e\u0301", "👩‍👩‍👧", "12", "$3.50", "。", "\n"]
        ),
        max_size=25,
    ).map("".join),
)
KEYS = st.sampled_from([*PATTERNS])


# Pre-tokens


@settings(max_examples=examples(200))
@given(ANY_TEXT, st.sampled_from([*ALTERNATIVES]))
def test_alternative_is_the_first_one_that_matches_the_pre_token(text: str, key: str) -> None:
    of = pretokenization.pre_tokenize(text, key)
    starts = of.starts(0, len(of))
    for start, pre_token, index in zip(
        starts, of.pre_tokens(), matched(text, key, starts), strict=True
    ):
        tried = [regex.compile(one.expression).match(text, start) for one in ALTERNATIVES[key]]
        first = next(at for at, match in enumerate(tried) if match)
        assert (first, tried[first].group()) == (index, pre_token)


@pytest.mark.parametrize("key", ALTERNATIVES)
def test_sample_of_each_alternative_contains_a_match(key: str) -> None:
    used = pretokenization.used_alternatives(pretokenization.pre_tokenize("", key), key)
    assert [one.alternative for one in used] == [*ALTERNATIVES[key]]
    assert all(one.sample for one in used)
    assert not any(one.count for one in used)


@settings(max_examples=examples(300))
@given(ANY_TEXT, KEYS, st.integers(0, 30), st.integers(0, 30))
def test_list_contains_the_pre_tokens_that_begin_in_the_part(
    text: str, key: str, first: int, last: int
) -> None:
    first, last = sorted((first % (len(text) + 2), last % (len(text) + 2)))
    of = pretokenization.pre_tokenize(text, key)
    at = 0
    expected = []
    for pre_token in pretokenize(text, key):
        if first <= at < last and not pre_token.isspace():
            expected.append(pre_token)
        at += len(pre_token)
    found = pretokenization.listed(of, first, last, 3, white_space=False)
    assert found == (expected[:3], len(expected))


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from("abcde"), max_size=20), st.integers(1, 6))
def test_word_level_keeps_the_most_frequent_words(words: list[str], size: int) -> None:
    vocabulary = pretokenization.word_level(words, size)
    ranked = sorted({*words}, key=lambda word: (-words.count(word), words.index(word)))
    assert [*vocabulary.entries] == [(word, words.count(word)) for word in ranked[:size]]
    assert (vocabulary.total, vocabulary.types) == (len(words), len(ranked))
    applied = vocabulary.apply([*words, "z"])
    assert applied == [word if word in ranked[:size] else None for word in [*words, "z"]]
    assert vocabulary.known == len(words) + 1 - applied.count(None)


# Merges that a pattern rules out


def places_within_pre_tokens(token: str, pre_tokens: list[str]) -> int:
    """Count the occurrences of a token in each pre-token, without overlaps."""
    found = 0
    for pre_token in pre_tokens:
        at = 0
        while at < len(pre_token):
            if pre_token.startswith(token, at):
                found += 1
                at += len(token)
            else:
                at += 1
    return found


@settings(max_examples=examples(200))
@given(
    ANY_TEXT,
    KEYS,
    st.lists(st.text("abth e.", min_size=1, max_size=4), max_size=5),
)
@example("aaaa", "gpt2", ["aa"])
def test_occurrences_are_counted_within_pre_tokens(text: str, key: str, tokens: list[str]) -> None:
    pre_tokens = pretokenize(text, key)
    expected = [places_within_pre_tokens(token, pre_tokens) for token in tokens]
    assert pretokenization.occurrences(tokens, pretokenization.pre_tokenize(text, key)) == expected


# Side by side


@settings(max_examples=examples(200))
@given(ANY_TEXT, st.lists(KEYS, min_size=1, max_size=3), st.integers(1, 12))
def test_parts_cover_the_text_and_end_at_common_boundaries(
    text: str, keys: list[str], size: int
) -> None:
    pre_tokenized_texts = [pretokenization.pre_tokenize(text, key) for key in keys]
    found = pretokenization.parts(pre_tokenized_texts, size)
    parts = [(one.first, one.last) for one in found]
    assert parts[0][0] == 0
    assert parts[-1][1] == len(text)
    assert all(end == start for (_, end), (start, _) in pairwise(parts))
    common = set.intersection(
        *({*pre_tokenized.ends.tolist()} for pre_tokenized in pre_tokenized_texts)
    )
    for first, last in parts:
        assert last - first <= size
        places = [at for at in range(first + size // 2 + 1, first + size + 1) if at in common]
        if last < len(text):
            assert last > first
            assert last == (places[-1] if places else first + size)
