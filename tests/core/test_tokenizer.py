"""Encoding, decoding, special tokens and offsets of trained tokenizers."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
import tiktoken
from helpers.properties import many
from helpers.refusals import refusal
from helpers.texts import SMALL_TEXTS
from hypothesis import example, given
from hypothesis import strategies as st

import bpeviz
from bpeviz.core import merges as merge_module
from bpeviz.core import tiktoken_engine
from bpeviz.core.merges import Merge, MergeTokenizer, apply_merges
from bpeviz.formats.rank_table import LoadedRanks
from bpeviz.pretokenizers.pretokenizer import PreTokenizer

CORPUS = (
    "The cat sat on the mat, and the hat that the cat sat on was 1234 years old. "
    "¿Dónde está la niña? Где мои слова? 吾輩は猫である。名前はまだ無い。\n\n"
    "def f(x):\n    return x  + 100\r\n\tI'LL, we'll, they've 👍👍🏽 👨‍👩‍👧 " * 3
)
MARKS = ("none", "attached", "symbol")


@cache
def over_bytes(pattern: str) -> MergeTokenizer:
    return bpeviz.train(CORPUS, merges=200, pattern=pattern).tokenizer()


# Encoding


@many()
@given(SMALL_TEXTS, st.integers(0, 30), st.sampled_from(["bytes", "characters"]))
def test_smaller_tokenizer_equals_separate_training(corpus: str, merges: int, atoms: str) -> None:
    training = bpeviz.train(corpus, merges=30, atoms=atoms)
    size = min(len(training.alphabet) + merges, training.vocab_size)
    afresh = bpeviz.train(corpus, vocab_size=size, atoms=atoms)
    assert training.tokenizer(size) == afresh.tokenizer()
    assert training.tokenizer(size).encode(corpus) == afresh.tokenizer().encode(corpus)
    assert training.tokenizer().at_step(size - len(training.alphabet)) == afresh.tokenizer()


# And back


@many(200)
@given(st.text("abc </w>un<k>é👍\n", max_size=40), st.sampled_from(MARKS))
@example("</w>", "symbol")
@example("a</w> b</w>", "attached")
@example("<unk>", "none")
def test_decode_round_trips_text_of_known_characters(text: str, end_mark: str) -> None:
    """Also where the text spells out a mark: the characters `</w>` are not the mark."""
    every = "abc </w>un<k>é👍\n"
    # Each character at the end of a word and before it, so that every symbol is known.
    corpus = " ".join(a + a for a in every) + every + text
    training = bpeviz.train(
        corpus, merges=40, pattern="whitespace", atoms="characters", end_mark=end_mark
    )
    tokenizer = training.tokenizer()
    ids = tokenizer.encode(text)
    assert tokenizer.special_tokens["<unk>"] not in ids
    assert tokenizer.decode(ids) == text


def test_decode_replaces_invalid_utf8_and_decode_bytes_keeps_it() -> None:
    tokenizer = bpeviz.train("", merges=0).tokenizer()
    ids = tokenizer.encode("é")[:1]
    assert tokenizer.decode_bytes(ids) == b"\xc3"
    assert tokenizer.decode(ids) == "\ufffd"


def test_end_mark_symbol_is_known_without_training_words() -> None:
    """Trained on blanks alone, an unknown mark would decode to characters that nobody wrote."""
    tokenizer = bpeviz.train(
        " ", merges=0, atoms="characters", end_mark="symbol", pattern="whitespace"
    ).tokenizer()
    assert tokenizer.decode(tokenizer.encode("x y")) == "\ufffd \ufffd"
    assert [(t.label, t.start, t.end) for t in tokenizer.tokens("x y")] == [
        ("<unk>", 0, 1),
        ("</w>", 1, 1),
        ("·", 1, 2),
        ("<unk>", 2, 3),
        ("</w>", 3, 3),
    ]


# Special tokens


def trained_with_specials(atoms: str = "bytes") -> MergeTokenizer:
    return bpeviz.train(
        "ab ab <|end|>",
        merges=2,
        atoms=atoms,
        special_tokens=("<|end|>", "<|end|>>", "é"),
        split_at_special=False,
    ).tokenizer()


def test_encode_prefers_the_longer_special_token() -> None:
    tokenizer = trained_with_specials()
    both = {"<|end|>", "<|end|>>"}
    assert tokenizer.encode("<|end|>>", allowed_special=both) == [259]
    assert tokenizer.encode("<|end|><|end|>>", allowed_special=both) == [258, 259]
    assert tokenizer.encode("<|end|><|end|>>", allowed_special="all") == [258, 259]
    tokens = tokenizer.tokens("éa<|end|>", allowed_special="all")
    spans = [(token.id, token.start, token.end) for token in tokens]
    assert spans == [(260, 0, 1), (97, 1, 2), (258, 2, 9)]


def test_allowing_unknown_special_token_raises_value_error() -> None:
    refusal(over_bytes("gpt2").encode, "a", allowed_special={"<pad>"}, naming=("bpe", "<pad>"))


# Offsets


def test_token_across_characters_spans_every_touched_character() -> None:
    # é is C3 A9, and C3 begins the other letters: both pairs occur three times.
    training = bpeviz.train("éáéâéã", merges=1, pattern="none", ties="smallest")
    assert (training.merges[0].left, training.merges[0].right) == (0xA9, 0xC3)
    assert [(t.raw, t.start, t.end) for t in training.tokenizer().tokens("éé")] == [
        (b"\xc3", 0, 1),
        (b"\xa9\xc3", 0, 2),
        (b"\xa9", 1, 2),
    ]


@many(300)
@given(
    st.text("the cat,éñ👍名x�</w>\n", max_size=30),
    st.sampled_from(MARKS),
    st.sampled_from(["gpt2", "whitespace", "none"]),
)
@example("<unk>", "none", "gpt2")
@example("?unk?", "symbol", "gpt2")
def test_character_token_spans_match_their_labels(text: str, end_mark: str, pattern: str) -> None:
    """Unknown ones are one character each, marks are nothing, all others are their text."""
    tokenizer = bpeviz.train(
        "the cat the hat then", merges=8, pattern=pattern, atoms="characters", end_mark=end_mark
    ).tokenizer()
    unknown = tokenizer.special_tokens["<unk>"]
    tokens = tokenizer.tokens(text)
    assert [token.id for token in tokens] == tokenizer.encode(text)
    at = 0
    for token in tokens:
        assert token.start == at
        at = token.end
        spanned = text[token.start : token.end]
        if token.id == unknown:
            assert len(spanned) == 1
        else:
            assert token.raw == spanned.encode()
            without_mark = token.label.removesuffix("</w>") if end_mark != "none" else token.label
            assert without_mark == spanned.replace(" ", "·").replace("\n", "↵")
    assert at == len(text)


# Tokens and their parents


def test_tokenizer_is_thread_safe() -> None:
    """Cached trainings are shared between users, so lazy fields must fill in safely."""
    text = CORPUS * 3
    expected = over_bytes("gpt2").encode(text)
    for _ in range(5):
        fresh = bpeviz.train(CORPUS, merges=200, pattern="gpt2").tokenizer()
        with ThreadPoolExecutor(8) as pool:
            found = [*pool.map(fresh.encode, [text] * 16)]
            whole = [*pool.map(lambda t, of=fresh: of.tokens(t)[-1].end, [text] * 8)]
        assert found == [expected] * 16
        assert whole == [len(text)] * 8


@many(300)
@given(
    SMALL_TEXTS,
    SMALL_TEXTS,
    st.sampled_from(["first", "smallest", "bytes", "largest"]),
    st.sampled_from(["none", "gpt2", "words"]),
    st.integers(0, 40),
)
def test_tiktoken_engine_equals_merges_in_order(
    training_text: str, text: str, ties: str, pattern: str, merges: int
) -> None:
    tokenizer = bpeviz.train(training_text, merges=merges, ties=ties, pattern=pattern).tokenizer()
    assert tokenizer.canonical
    rank = {(merge.left, merge.right): merge.new_id for merge in tokenizer.merges}
    expected = [
        token_id
        for pre_token in tokenizer.pre_tokenizer.pre_tokens(training_text + text)
        for token_id in apply_merges(list(pre_token.encode()), rank)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge_module, "MIN_ENGINE_ATOMS", -1)
        assert tokenizer.encode(training_text + text) == expected
        patch.setattr(tiktoken_engine, "LONG_PRE_TOKEN", 3)
        assert tokenizer.encode(training_text + text) == expected


def test_tokenizer_that_has_encoded_passes_between_processes() -> None:
    """A worker returns a training with the tokenizer that it began with."""
    text = "the other theme " * 2_000
    encode = tiktoken_engine.encoder([bytes([byte]) for byte in range(256)] + [b"th"])
    assert encode is not None
    assert pickle.loads(pickle.dumps(encode))(b"the") == encode(b"the") == [256, 101]
    tokenizer = bpeviz.train(text, merges=5, pattern="none").tokenizer()
    ids = tokenizer.encode(text)
    assert pickle.loads(pickle.dumps(tokenizer)).encode(text) == ids


def test_long_pre_token_is_encoded_while_other_threads_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of tiktoken's methods, `_encode_single_piece` holds the interpreter: a second for 2 MB."""
    tokenizer = bpeviz.train("abcabd", merges=2, pattern="none").tokenizer()
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    table = LoadedRanks("table", "none", "", ranks, {})
    monkeypatch.delattr(tiktoken.Encoding, "_encode_single_piece")
    assert tokenizer.encode("abc" * 10_000) == [257] * 10_000
    assert table.encode("ab" * 10_000) == [256] * 10_000


def test_untrained_merges_are_applied_in_order_not_by_bytes() -> None:
    # The third merges a and bc, a pair that the first two never produce.
    merges = (
        Merge(97, 98, 256, 1, 1, 0),
        Merge(98, 99, 257, 1, 1, 0),
        Merge(97, 257, 258, 1, 1, 0),
    )
    tokenizer = MergeTokenizer("odd", PreTokenizer(), tuple(map(chr, range(256))), merges)
    assert tokenizer.encode("abc" * 3_000) == [256, 99] * 3_000


def test_tiktoken_engine_needs_tokens_with_different_bytes() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab"]
    encode = tiktoken_engine.encoder(tokens)
    assert encode is not None
    assert encode(b"aab") == [97, 256]
    assert tiktoken_engine.encoder([*tokens, b"ab"]) is None
