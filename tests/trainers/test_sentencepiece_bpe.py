"""SentencePiece's BPE against its definition (`reference_sentencepiece.py`) and the library."""

from __future__ import annotations

import io
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import reference_sentencepiece as reference
import sentencepiece
from helpers.candidates import check_candidates
from helpers.properties import examples, many
from helpers.texts import SMALL_TEXTS, over
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.text import label
from bpeviz.trainers.sentencepiece_bpe import (
    SentencePieceTokenizer,
    SentencePieceTraining,
)

TEXTS = st.one_of(
    SMALL_TEXTS,
    over("ab  \n", 60),
    over("aé1.2 Ж中あアー\N{COMBINING ACUTE ACCENT}ά", 40),
    over("ab ▁▅\0\x1f\t\r\n", 40),
    over("1213 ,.", 60),
    over("aaaab ", 120),
)
HOW = st.fixed_dictionaries(
    {
        "prefix": st.sampled_from(["yes", "no"]),
        "unknown": st.sampled_from(["bytes", "unk"]),
        "digits": st.sampled_from(["yes", "no"]),
        "longest": st.sampled_from([16, 16, 3, 1]),
    }
)


def train(text: Any, merges: int = 1000, pattern: str = "none", **how: Any) -> Any:
    training = bpeviz.train(text, "sentencepiece", merges=merges, pattern=pattern, **how)
    assert isinstance(training, SentencePieceTraining)
    return training


def tokenizer_of(text: Any, **how: Any) -> SentencePieceTokenizer:
    training = train(text, **how)
    tokenizer = training.tokenizer()
    assert isinstance(tokenizer, SentencePieceTokenizer)
    return tokenizer


def reference_merges(
    training: SentencePieceTraining, texts: dict[str, int], limit: int
) -> list[Any]:
    return reference.train(
        texts,
        limit,
        training.pre_tokenizer.prefix == "yes",
        longest=training.longest,
        split_digits=training.digits == "yes",
    )


def decided(training: SentencePieceTraining) -> list[Any]:
    """Return the merges of a training in the form of `reference.train`."""
    piece = training.pieces
    return [(piece[m.left], piece[m.right], m.count, m.applied, m.ties) for m in training.merges]


def made(training: SentencePieceTraining) -> list[str]:
    return [training.pieces[merge.new_id] for merge in training.merges]


def labels(tokenizer: SentencePieceTokenizer, text: str) -> list[str]:
    return [token.label for token in tokenizer.tokens(text)]


# Training


@many()
@given(TEXTS, HOW, st.integers(0, 40))
def test_pieces_equal_reference_loop(text: str, how: dict[str, Any], limit: int) -> None:
    training = train(text, limit, **how)
    assert decided(training) == reference_merges(training, {text: 1}, limit)
    check_candidates(training, text)  # pairs that cannot form a piece are not candidates


@pytest.mark.parametrize("rare", ["zy", "yz"])
def test_of_equally_rare_characters_the_smaller_code_point_stays(rare: str) -> None:
    text = "a" * 97 + rare + "a"
    training = train(text, coverage="0.99", prefix="no")
    assert training.alphabet[256:] == ("a", "y")
    how = {"add_dummy_prefix": False, "byte_fallback": True}
    model = library([text], 500, character_coverage=0.99, **how)
    assert {"y", "z"} & {*pieces_of(model)} == {"y"}


# Tokenizer


def reference_tokens(
    training: SentencePieceTraining, text: str, step: int
) -> list[tuple[int, int]]:
    """Return the id and the bytes of each token, encoded by looking up joined neighbors."""
    how = training.pre_tokenizer
    fallback = how.fallback == "bytes"
    known = {*training.alphabet[256 if fallback else 0 :]}
    ids = {piece: i for i, piece in enumerate(training.pieces)}
    tokens: list[reference.Atom] = []
    for word in reference.words(text, how.prefix == "yes"):
        tokens += reference.encode(reference.atoms(word, known, fallback), made(training)[:step])
    return [(ids.get(token.symbol, -1), token.size) for token in tokens]


@settings(max_examples=examples(80))
@given(TEXTS, TEXTS, HOW)
@example(
    "ab ab\r\nab",
    "ab\rab \r ab",
    {"prefix": "yes", "unknown": "bytes", "digits": "no", "longest": 16},
)
def test_boundaries_equal_lookup_of_joined_pieces_at_every_step(
    corpus: str, text: str, how: dict[str, Any]
) -> None:
    """The library looks up the joined piece, this tokenizer the pair, with equal results."""
    training = train(corpus, 25, **how)
    for held in (corpus, text):
        boundaries = training.tokenizer().boundaries(held)
        for step in range(training.steps + 1):
            tokens, smaller = reference_tokens(training, held, step), training.at_step(step)
            ends = [*accumulate(size for _, size in tokens)]
            for each in (boundaries, smaller.boundaries(held)):
                assert each.ids(step).tolist() == [token_id for token_id, _ in tokens]
                assert each.cuts(step).tolist() == ends
            assert boundaries.token_counts[step] == len(tokens)
            unknown = smaller.special_tokens.get("<unk>", -1)
            assert smaller.encode(held) == [unknown if i < 0 else i for i, _ in tokens]


def test_a_carriage_return_is_a_character_of_its_line(tmp_path: Path) -> None:
    text = "ab\r\nab\rab\r\n\r\nab..\r\r\n"
    (tmp_path / "text").write_bytes(text.encode())
    pieces = made(train(text))
    assert pieces == ["ab", "▁ab", "\r\r", "..", "▁\r", "..\r\r"]
    assert pieces_of(library(None, input=str(tmp_path / "text")))[: len(pieces)] == pieces
    tokenizer = tokenizer_of("ab ab ab\nab", merges=2)
    assert labels(tokenizer, "ab\rab") == ["▁ab", "<0x0D>", "ab"]
    files = formats.dump(tokenizer, "sentencepiece")
    assert formats.parse(files).encode("ab\rab") == tokenizer.encode("ab\rab")


def test_low_line_block_in_text_is_not_a_space() -> None:
    """The library decodes it to a space; this tokenizer returns the text."""
    tokenizer = tokenizer_of("a b▁c", prefix="no")
    assert labels(tokenizer, "▁") == ["<0xE2>", "<0x96>", "<0x81>"]
    assert tokenizer.decode(tokenizer.encode("b▁c d")) == "b▁c d"


# Against the library, version 0.2.3


def library(
    lines: list[str] | None, size: int = 5000, **how: Any
) -> sentencepiece.SentencePieceProcessor:
    """Train the library without normalization, on lines or a file (`input`)."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=None if lines is None else iter(lines),
        model_writer=model,
        **{
            "model_type": "bpe",
            "normalization_rule_name": "identity",
            "remove_extra_whitespaces": False,
            "character_coverage": 1.0,
            "hard_vocab_limit": False,
            "max_sentence_length": 1_000_000,
            "bos_id": -1,
            "eos_id": -1,
            "vocab_size": size,
            "minloglevel": 2,
            **how,
        },
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def options(how: dict[str, Any]) -> dict[str, Any]:
    """Return our options in the library's terms."""
    return {
        "add_dummy_prefix": how["prefix"] == "yes",
        "byte_fallback": how["unknown"] == "bytes",
        "split_digits": how["digits"] == "yes",
        "max_sentencepiece_length": how["longest"],
    }


def pieces_of(model: sentencepiece.SentencePieceProcessor) -> list[str]:
    """Return the trained pieces, best rank first, then the characters."""
    return [
        model.id_to_piece(i)
        for i in range(len(model))
        if not (model.is_byte(i) or model.is_unknown(i) or model.is_control(i))
    ]


LINES = st.lists(
    st.one_of(
        over("ab ", 60),
        over("abc  ", 30),
        over("aé1.2 Ж中あアー\N{COMBINING ACUTE ACCENT}ά", 40),
        over("1213 ,.a", 40),
        over("aaaa\t!? ", 60),
        over("ab.\r ", 40).map(lambda line: line.rstrip("\r")),
    ).filter(bool),
    min_size=1,
    max_size=5,
)
"""Lines of text. The library's iterator in Python strips a carriage return at the end."""


@many()
@given(LINES, LINES, HOW)
@example(["aaaaaaaaa"], ["a"], {"prefix": "no", "unknown": "unk", "digits": "no", "longest": 16})
@example(
    ["a\rb \r..\r.\r."],
    ["ab\rab"],
    {"prefix": "yes", "unknown": "bytes", "digits": "no", "longest": 16},
)
def test_pieces_and_encodings_equal_sentencepiece(
    lines: list[str], others: list[str], how: dict[str, Any]
) -> None:
    """Pieces are equal, in order, while pairs are left.

    The library then adds pairs with count zero, so the encoders are compared at the same
    vocabulary size.
    """
    training = train("\n".join(lines), **how)
    merges = made(training)
    assert made(train(lines, **how)) == merges  # a row for each line
    characters = len(training.alphabet) - (256 if how["unknown"] == "bytes" else 0)
    if how["prefix"] == "no" and " " not in "".join(lines):
        assert "▁" not in training.alphabet
    model = library(
        lines,
        1 + len(training.alphabet) + len(merges),
        **options(how),
    )
    assert pieces_of(model)[: len(merges)] == merges
    assert len(pieces_of(model)) == len(merges) + characters
    tokenizer = training.tokenizer()
    for line in (*lines, *others):
        if "▁" not in training.alphabet and " " in line:
            continue  # the library turns an unknown space into the bytes of ▁, we into its own
        expected = model.encode(line, out_type=str)
        spoken = [token.label for token in tokenizer.tokens(line)]
        if how["unknown"] == "unk":
            # The library's piece of an unknown run is the run itself.
            expected = ["<unk>" if model.piece_to_id(p) == model.unk_id() else p for p in expected]
        shown = [label(piece.encode()) for piece in expected]
        assert spoken == shown
        if how["unknown"] == "bytes":
            assert tokenizer.decode(tokenizer.encode(line)) == model.decode(model.encode(line))


@pytest.mark.slow
@pytest.mark.parametrize("coverage", ["1.0", "0.9995", "0.99", "0.98"])
def test_characters_at_coverage_equal_sentencepiece(coverage: str, tiny_shakespeare: str) -> None:
    lines = tiny_shakespeare[:20_000].split("\n")
    training = train("\n".join(lines), 50, coverage=coverage)
    model = library(
        lines,
        1 + len(training.alphabet) + 50,
        character_coverage=float(coverage),
        byte_fallback=True,
        add_dummy_prefix=True,
    )
    pieces = pieces_of(model)
    assert pieces[:50] == made(training)
    assert sorted(pieces[50:]) == [*training.alphabet[256:]]
    tokenizer = training.tokenizer()
    for line in lines:
        assert labels(tokenizer, line) == model.encode(line, out_type=str)
