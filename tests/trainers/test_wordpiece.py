"""WordPiece against its definition (`reference_wordpiece.py`) and Hugging Face's `tokenizers`."""

from __future__ import annotations

from typing import Any

import pytest
import reference_wordpiece as reference
import tokenizers
from helpers.properties import examples, many
from helpers.steps import check_steps
from helpers.texts import SMALL_TEXTS
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import Training
from bpeviz.core.longest_match import LONGEST_WORD

HOW = st.fixed_dictionaries(
    {},
    optional={
        "pattern": st.sampled_from(["none", "whitespace", "words", "characters"]),
        "case": st.sampled_from(["keep", "lower"]),
        "ties": st.sampled_from(["first", "smallest"]),
        "min_count": st.integers(1, 3),
    },
) | st.fixed_dictionaries(
    {
        "pattern": st.just("regex"),
        "expression": st.sampled_from([r"\w+", "[aé](?=b)|b+", r"(?<=a)b|a\s*", "(?r)[ab]+"]),
        "unmatched": st.sampled_from(["keep", "drop"]),
    }
)
TEXTS = SMALL_TEXTS | st.text("aAbB İß#é \n\u3000", max_size=60)


def train(corpus: str | dict[str, int], merges: int = 25, **how: Any) -> Training:
    return bpeviz.train(corpus, "wordpiece", merges=merges, **how)


def words_of(text: str, training: Training) -> list[str]:
    """Return the words of a text: its pre-tokens or matches, split at white space."""
    how = training.pre_tokenizer
    if how.unmatched == "drop":
        parts = reference.matches(text, how.expression)
    else:
        parts = bpeviz.pretokenizers.patterns.pretokenize(text, how.pattern, how.expression)
    return [word for part in parts for word in part.split()]


def tokens_by_id(training: Training) -> list[reference.Token]:
    """Return the symbols of each id."""
    tokens: list[reference.Token] = [(symbol,) for symbol in training.alphabet]
    for merge in training.decisions:
        tokens.append(tokens[merge.left] + tokens[merge.right])
    return tokens


def symbols_of(word: str, training: Training) -> list[str]:
    return reference.word_symbols(word, training.pre_tokenizer.case == "lower")


def decided(training: Training) -> tuple[list[tuple[Any, ...]], str]:
    tokens = tokens_by_id(training)
    return [
        (tokens[m.left], tokens[m.right], m.count, m.applied, m.ties, m.score)
        for m in training.decisions
    ], training.stopped


def reference_training(
    training: Training, weighted: dict[str, int], limit: int, **how: Any
) -> tuple[list[tuple[Any, ...]], str]:
    words = [(symbols_of(word, training), times) for word, times in weighted.items()]
    ids = {(symbol,): i for i, symbol in enumerate(training.alphabet)}
    steps, stopped = reference.train(words, limit, ids, **how)
    return [(*step[:-1], float(step.score)) for step in steps], stopped


def count_words(words: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


# Training


@many()
@given(TEXTS, HOW, st.integers(0, 25))
def test_merges_equal_reference_loop(corpus: str, how: dict[str, Any], limit: int) -> None:
    training = train(corpus, limit, **how)
    rules = {name: how[name] for name in ("ties", "min_count") if name in how}
    expected = reference_training(training, count_words(words_of(corpus, training)), limit, **rules)
    assert decided(training) == expected


@pytest.mark.parametrize("large", [10**12, 10**17])
def test_scores_are_compared_as_fractions(large: int) -> None:
    """1 / large and 1 / (large + 1) are equal as 64-bit floats at large = 10^17."""
    training = train({"ab": large + 1, "cd": large, "ef": large}, pattern="none")
    assert [training.name(merge.new_id) for merge in training.decisions] == ["cd", "ef", "ab"]
    assert [merge.ties for merge in training.decisions] == [1, 0, 0]


@pytest.mark.parametrize("ties", ["first", "smallest"])
def test_equal_fractions_are_tied_though_their_floats_differ(ties: str) -> None:
    """(c d) scores 3n / (3n × 3n), and (e f) n / (3n × n): both are 1 / 3n."""
    checked = 0
    for n in range(10**9 + 7, 10**9 + 60):
        whole, third = 3 * n / (3.0 * n * 3.0 * n), n / (3.0 * n * float(n))
        if whole == third:
            continue
        checked += 1
        for words in ({"ef": n, "e": 2 * n, "cd": 3 * n}, {"cd": 3 * n, "ef": n, "e": 2 * n}):
            training = train(words, pattern="none", ties=ties)
            assert decided(training) == reference_training(training, words, 25, ties=ties)
            assert training.decisions[0].ties == 1
    assert checked > 2


@settings(max_examples=examples(60), deadline=None)
@given(TEXTS, HOW)
def test_candidate_scores_equal_reference(corpus: str, how: dict[str, Any]) -> None:
    training = train(corpus, **how)
    tokens = tokens_by_id(training)
    boundaries = training.tokenizer().boundaries(corpus)
    words = count_words(words_of(corpus, training))
    rows = [([(s,) for s in symbols_of(word, training)], times) for word, times in words.items()]
    for step in range(training.steps + 1):
        found = training.candidates(corpus, boundaries, step, 1_000)
        count = reference.counts(rows)
        expected = {
            pair: float(score)
            for pair, score in reference.scores(rows).items()
            if count[pair] >= how.get("min_count", 1)
        }
        assert {(tokens[a], tokens[b]): c.score for c in found for a, b in [c.ids]} == expected
        assert [c.score for c in found] == sorted(expected.values(), reverse=True)
        assert all(c.count == count[tokens[c.ids[0]], tokens[c.ids[1]]] for c in found)
        if step == training.steps:
            break
        merge = training.decisions[step]
        assert (found[0].ids, found[0].score) == ((merge.left, merge.right), merge.score)
        rows = [
            (reference.replace_all(row, tokens[merge.left], tokens[merge.right]), times)
            for row, times in rows
        ]


# Pre-tokenization


def test_unmatched_text_is_dropped_or_kept() -> None:
    """Commas and @ are no tokens where the classic demonstrations drop them."""
    text = "hugs, hug @pug"
    for pattern, expression in (("regex", r"\w+"), ("list", "hugs hug pug")):
        how = {"pattern": pattern, "expression": expression}
        tokenizer = train(text, unmatched="drop", **how).tokenizer()
        assert not {",", "##,", "@"} & {*tokenizer.alphabet}
        assert [text[t.start : t.end] for t in tokenizer.tokens(text)] == ["hugs", "hug", "pug"]
        assert tokenizer.decode(tokenizer.encode("pug, hug!")) == "pug hug"
        assert "," in train(text, **how).tokenizer().alphabet
    labels = [one.label for one in train(text, pattern="nltk").tokenizer().tokens(text)]
    assert labels == ["hugs", ",", "hug", "@", "pug"]
    nltk = train(text, pattern="nltk", unmatched="drop").tokenizer()
    assert [one.label for one in nltk.tokens(text)] == ["hugs", ",", "hug", "pug"]


def test_lower_case_is_applied_per_character() -> None:
    assert "##σ" in train("ΟΔΟΣ", 0, case="lower", pattern="whitespace").alphabet


@settings(max_examples=examples(60), deadline=None)
@given(TEXTS, HOW)
def test_decode_returns_words_of_training_text(corpus: str, how: dict[str, Any]) -> None:
    training = train(corpus, **how)
    tokenizer = training.tokenizer()
    words = words_of(corpus, training)
    if how.get("case") == "lower":
        words = ["".join(map(str.lower, word)) for word in words]
    assert tokenizer.decode(tokenizer.encode(corpus)) == " ".join(words)


# Encoding


@many()
@given(TEXTS, TEXTS, HOW)
@example("aaa", "a" * 101 + " " + "a" * 100, {})
def test_boundaries_equal_reference_segmentation_at_every_step(
    corpus: str, text: str, how: dict[str, Any]
) -> None:
    """Check the training text, other text, and the tokenizer of each step."""
    training = train(corpus, **how)
    tokens = tokens_by_id(training)
    for held in (corpus, text):
        words = [symbols_of(word, training) for word in words_of(held, training)]

        def expected(step: int, words: Any = words) -> list[tuple[int, int]]:
            pieces = {s: i for i, s in enumerate(tokens[: len(training.alphabet) + step])}
            return [token for word in words for token in reference.wordpiece(word, pieces)]

        check_steps(training, held, expected)


def hugging_face(training: Training) -> tokenizers.Tokenizer:
    """Return their encoder with our vocabulary, split at white space only."""
    tokenizer = training.tokenizer()
    vocabulary = {tokenizer.token_label(i): i for i in range(tokenizer.vocab_size)}
    theirs = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(
            vocabulary,
            unk_token="[UNK]",
            continuing_subword_prefix="##",
            max_input_chars_per_word=LONGEST_WORD,
        )
    )
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return theirs


@many()
@given(st.text("abcé👍 \n", max_size=80), st.text("abcdé👍 \n\u2003", max_size=120))
def test_encode_equals_hugging_face(corpus: str, text: str) -> None:
    """The letters exclude #, as their encoder confuses it with the prefix."""
    training = train(corpus, pattern="whitespace")
    assert hugging_face(training).encode(text).ids == training.tokenizer().encode(text)
