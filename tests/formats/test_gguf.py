"""The vocabulary of a GGUF file gives the ids of the library that applies it."""

from __future__ import annotations

import json
import struct
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from helpers import library_tokenizers
from helpers.difficult import DIFFICULT
from helpers.gguf_files import Value, gguf_file
from helpers.library_files import sentencepiece_model
from helpers.refusals import refusal
from helpers.special_texts import SPECIAL_TEXTS

import bpeviz
from bpeviz import formats
from bpeviz.analysis.trace import inspect
from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.formats import FormatError
from bpeviz.formats.gguf import bpe_document
from bpeviz.formats.gguf.container import read_metadata
from bpeviz.formats.gguf.pre_tokenizers import PRE_TOKENIZERS

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

LINES = [text for text in DIFFICULT if text.strip() and "\0" not in text]


@cache
def byte_level(merges: int = 100, pattern: str = "gpt2") -> tuple[Any, dict[str, Value]]:
    """Return a tokenizer trained here, and the metadata of its vocabulary."""
    tokenizer = bpeviz.train("\n".join(LINES), merges=merges, pattern=pattern).tokenizer()

    def name(token_id: int) -> str:
        return "".join(CHARACTER_OF[byte] for byte in tokenizer.token_bytes(token_id))

    return tokenizer, {
        "model": "gpt2",
        "pre": "gpt-2",
        "tokens": [*map(name, range(tokenizer.vocab_size))],
        "merges": [f"{name(one.left)} {name(one.right)}" for one in tokenizer.merges],
    }


def parse(metadata: dict[str, Value], **options: Any) -> Any:
    return formats.parse({"model.gguf": gguf_file(metadata, **options)})


# ---- Byte-level BPE


def test_gguf_byte_level_bpe_gives_the_ids_and_steps_of_its_merges() -> None:
    tokenizer, metadata = byte_level()
    ours = parse(metadata | {"general.name": "Small model"})
    assert ours.name == "Small model"
    assert ours.vocab_size == tokenizer.vocab_size
    for text in DIFFICULT[::5]:
        assert ours.encode(text) == tokenizer.encode(text)
        found, expected = ours.boundaries(text), tokenizer.boundaries(text)
        for step in (0, 50, 100):
            assert found.ids(step).tolist() == expected.ids(step).tolist()
    assert ours.steps == 100


def test_gguf_special_tokens_are_text_unless_allowed_and_added_ones_are_always_found() -> None:
    tokenizer, metadata = byte_level(20)
    size = tokenizer.vocab_size
    ours = parse(
        metadata
        | {
            "tokens": [*metadata["tokens"], "<|end|>", "<tool>", "<s>"],  # type: ignore[misc]
            "token_type": [NORMAL] * size + [CONTROL, USER_DEFINED, CONTROL],
            "bos_token_id": size + 2,
            "add_bos_token": True,
            "eos_token_id": size,
            "add_eos_token": True,
        }
    )
    assert dict(ours.special_tokens) == {"<|end|>": size, "<s>": size + 2}
    text = "a<|end|>b<tool>c"
    assert ours.encode(text) == [
        *tokenizer.encode("a<|end|>b"), size + 1, *tokenizer.encode("c")
    ]  # fmt: skip
    assert size in ours.encode(text, allowed_special={"<|end|>"})
    assert [*map(list, ours.template)] == [[size + 2], [size]]


LLAMA_CPP = json.loads(
    (Path(__file__).resolve().parents[1] / "fixtures" / "llama-cpp-ids.json").read_text("utf-8")
)
"""Merges across words, texts, and the ids that llama.cpp gives for each pre-tokenizer."""


@pytest.mark.slow
def test_gguf_pre_tokenizers_give_the_ids_of_llama_cpp() -> None:
    spellings = [CHARACTER_OF[byte] for byte in range(256)]
    for left, right in LLAMA_CPP["merges"]:
        spellings.append(spellings[left] + spellings[right])
    merges = [f"{spellings[left]} {spellings[right]}" for left, right in LLAMA_CPP["merges"]]
    first_names = {pre_tokenizer: name for name, pre_tokenizer in PRE_TOKENIZERS.items()}
    for name, pre_tokenizer in PRE_TOKENIZERS.items():
        expected = LLAMA_CPP["ids"][LLAMA_CPP["names"][name]]
        if name != first_names[pre_tokenizer]:
            assert LLAMA_CPP["names"][name] == LLAMA_CPP["names"][first_names[pre_tokenizer]]
            continue
        content = gguf_file({"model": "gpt2", "pre": name, "tokens": spellings, "merges": merges})
        document = bpe_document(read_metadata("a.gguf", content))
        theirs = tokenizers.Tokenizer.from_str(json.dumps(document))
        for text, ids in zip(LLAMA_CPP["texts"], expected, strict=True):
            assert theirs.encode(text, add_special_tokens=False).ids == ids, (name, text)


def test_gguf_merges_over_characters_replace_spaces_and_fall_back_to_bytes() -> None:
    spellings = [*"▁ab\n", "▁a", "ab", "\n\n", *(f"<0x{byte:02X}>" for byte in range(256))]
    ours = parse(
        {
            "model": "gemma4",
            "tokens": spellings,
            "token_type": [NORMAL] * 7 + [BYTE] * 256,
            "merges": ["▁ a", "a b", "\n \n"],
        }
    )
    assert ours.encode(" ab\n\nb é") == [4, 2, 6, 2, 0, 7 + 0xC3, 7 + 0xA9]
    assert ours.decode(ours.encode(" ab\n\nb é")) == " ab\n\nb é"
    assert ours.boundaries(" é").cuts(ours.steps).tolist() == [1, 2, 3]


# ---- SentencePiece


def sentencepiece_metadata(**options: object) -> tuple[Any, dict[str, Value]]:
    """Return a model that the library trains, and the metadata of its vocabulary."""
    from sentencepiece import sentencepiece_model_pb2

    content = sentencepiece_model(vocab_size=900, **options)
    proto: Any = getattr(sentencepiece_model_pb2, "ModelProto")()  # noqa: B009
    proto.ParseFromString(content)
    processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    return processor, {
        "model": "llama" if options["model_type"] == "bpe" else "t5",
        "tokens": [one.piece for one in proto.pieces],
        "scores": [float(one.score) for one in proto.pieces],
        "token_type": [one.type for one in proto.pieces],
        "unknown_token_id": processor.unk_id(),
        "bos_token_id": processor.bos_id(),
        "eos_token_id": processor.eos_id(),
        "add_space_prefix": proto.normalizer_spec.add_dummy_prefix,
        "remove_extra_whitespaces": proto.normalizer_spec.remove_extra_whitespaces,
        "precompiled_charsmap": proto.normalizer_spec.precompiled_charsmap,
    }


LLAMA: dict[str, object] = {
    "model_type": "bpe",
    "byte_fallback": True,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "user_defined_symbols": ["<tool>"],
}


@pytest.mark.parametrize(
    "options",
    [LLAMA, LLAMA | {"add_dummy_prefix": False}, {"model_type": "unigram"}],
    ids=["llama", "llama without prefix", "t5 with normalization"],
)
def test_gguf_sentencepiece_model_gives_the_ids_of_the_library(options: dict[str, object]) -> None:
    processor, metadata = sentencepiece_metadata(**options)
    ours = parse(metadata)
    for text in (*DIFFICULT[::2], "a<tool>b", "a</s>b"):
        assert ours.encode(text) == processor.encode(text)
    assert ours.template == ([processor.bos_id()], [processor.eos_id()])
    assert ours.without_steps is None or options["model_type"] == "unigram"


# ---- Special tokens


def with_special_tokens(name: str) -> dict[str, Value]:
    """Return the metadata of a small model with special tokens and the name of a model."""
    words = ["▁t", "he", "▁the", "Hi", "▁Hi", "is", "▁is", "us", "er", "user", "▁user"]
    if name == "jina":
        words = [word.replace("▁", "Ġ") for word in words]
    letters = sorted({*"".join(words), *"▁Paris.,!ay"} - {"▁" if name == "jina" else ""})
    characters = [CHARACTER_OF[byte] for byte in range(256)] if name == "jina" else letters
    named = ["<unk>", "<s>", "</s>", "<|user|>", "<|end|>", "<mask>", "<|endoftext|>"]
    single = [] if name == "jina" else [f"<0x{byte:02X}>" for byte in range(256)]
    tokens = [*named, *single, *characters, *words]
    types = [2, *[CONTROL] * (len(named) - 1), *[BYTE] * len(single)]
    metadata: dict[str, Value] = {
        "general.architecture": "llama",
        "general.name": "Phi-3 mini" if name == "phi-3" else name,
        "tokens": tokens,
        "token_type": types + [NORMAL] * (len(tokens) - len(types)),
        "bos_token_id": 1,
        "eos_token_id": 2,
        "unknown_token_id": 0,
    }
    if name == "jina":
        splits = ("Ġ t", "h e", "Ġt he", "H i", "Ġ Hi", "i s", "Ġ is", "u s", "e r", "us er")
        return metadata | {"model": "gpt2", "pre": "jina-v2-de", "merges": [*splits, "Ġ user"]}
    start = len(tokens) - len(words)
    scores = [0.0] * start + [-float(i) for i in range(len(words))]
    return metadata | {"model": "llama", "scores": scores}


SPECIAL_IDS = json.loads(
    (Path(__file__).resolve().parents[1] / "fixtures" / "llama-cpp-special-ids.json").read_text()
)
"""The ids of llama.cpp for each model, with the names of special tokens parsed."""


@pytest.mark.parametrize("name", SPECIAL_IDS["ids"])
def test_gguf_special_tokens_in_texts_give_the_ids_of_llama_cpp(name: str) -> None:
    ours = parse(with_special_tokens(name))
    texts = [
        text.format(*pair)
        for text in SPECIAL_TEXTS
        for pair in (("<|user|>", "<|end|>"), ("<mask>", "<s>"))
    ]
    for text, expected in zip(texts, SPECIAL_IDS["ids"][name], strict=True):
        assert ours.encode(text, allowed_special="all") == expected, text
        found = ours.tokens(text, allowed_special="all")
        assert [token.id for token in found] == expected
        for token in found:
            if token.id in ours.special_tokens.values():
                assert text[token.start : token.end].strip() == token.label
        assert inspect(text, ours, [*ours.special_tokens]).text_ids == expected


def test_flags_of_special_tokens_stay_or_are_named() -> None:
    ours = parse(with_special_tokens("phi-3"))
    back = formats.parse(formats.dump(ours, "huggingface"))
    text = "Hi<|user|> \n Paris<|end|>  is"
    ids = back.encode(text, allowed_special="all")
    assert ids == ours.encode(text, allowed_special="all")
    refusal(formats.dump, ours, "sentencepiece", naming="rstrip", error=FormatError)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({}, ["writes no ▁ before a text that begins with an added token, nor after a control"]),
        ({"add_space_prefix": False}, []),
        (
            {"add_space_prefix": False, "token_type": [NORMAL] * 300},
            ["may take '</s>' for special"],
        ),
        ({"model": "t5", "token_type": [NORMAL] * 300}, ["double precision", "may take '</s>'"]),
        ({"model": "bert"}, ["no limit", "accents", "U+0085"]),
        ({"model": "rwkv"}, []),
    ],
)
def test_gguf_differences_from_llama_cpp_are_said(
    changes: dict[str, Value], parts: list[str]
) -> None:
    name = "model.gguf"
    said = formats.assumption({name: gguf_file(with_special_tokens("llama") | changes)})
    assert bool(said) == bool(parts)
    assert said.count("; it ") == max(len(parts) - 1, 0)
    assert all(part in said for part in parts)


# ---- WordPiece and RWKV


def test_gguf_wordpiece_gives_the_ids_of_bert() -> None:
    theirs = library_tokenizers.bert()
    vocabulary = sorted(theirs.get_vocab(), key=theirs.get_vocab().__getitem__)
    marked = [
        one if one[0] == "[" and one[-1] == "]" else one[2:] if one[:2] == "##" else "▁" + one
        for one in vocabulary
    ]
    ours = parse(
        {
            "model": "bert",
            "tokens": marked,
            "token_type": [CONTROL if one[-1:] == "]" else NORMAL for one in vocabulary],
            "unknown_token_id": vocabulary.index("[UNK]"),
            "normalizer.lowercase": True,
        }
    )
    theirs.encode_special_tokens = True
    for text in DIFFICULT[::2]:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids
    assert ours.template == ([vocabulary.index("[CLS]")], [vocabulary.index("[SEP]")])


def test_gguf_rwkv_vocabulary_takes_the_longest_token() -> None:
    escaped = ["<s>", *(repr(bytes([byte]))[2:-1] for byte in range(256)), "ab", "abc", r"\xc3\xa9"]
    ours = parse(
        {
            "model": "rwkv",
            "tokens": escaped,
            "token_type": [CONTROL] + [NORMAL] * (len(escaped) - 1),
        }
    )
    assert ours.encode("abcabé'\\\n") == [258, 257, 259, 1 + 0x27, 1 + 0x5C, 1 + 0x0A]
    assert ours.special_tokens == {"<s>": 0}
    assert ours.encode("<s>") == [1 + 0x3C, 1 + 0x73, 1 + 0x3E]


# ---- Large and damaged files


def test_gguf_file_larger_than_the_limit_is_read_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer, metadata = byte_level(20)
    content = gguf_file(metadata, tensors=bytes(100_000))
    limit = len(content) - 50_000
    monkeypatch.setattr(formats, "MAX_FILE", limit)
    monkeypatch.setattr("bpeviz.api.MAX_FILE", limit)
    (tmp_path / "large.gguf").write_bytes(content)
    ours = bpeviz.read(tmp_path / "large.gguf")
    assert ours.encode("the lowest") == tokenizer.encode("the lowest")


HUGE = struct.pack("<Q", 2**63)
HEAD = b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
KEY = struct.pack("<Q", 20) + b"tokenizer.ggml.token"


@pytest.mark.parametrize(
    "content",
    [
        b"GGUF" + struct.pack("<IQ", 3, 0) + HUGE,
        HEAD + HUGE,
        HEAD + KEY + struct.pack("<I", 8) + HUGE,
        HEAD + KEY + struct.pack("<II", 9, 8) + HUGE,
        HEAD + KEY + struct.pack("<II", 9, 8) + struct.pack("<Q", 900_000),
        HEAD + KEY + struct.pack("<IIQQ", 9, 8, 1, 5) + b"four",
        HEAD + KEY + struct.pack("<II", 9, 5) + HUGE,
        HEAD + KEY + struct.pack("<II", 9, 9) + HUGE,
        HEAD + KEY + struct.pack("<I", 77),
    ],
    ids=["keys", "key", "text", "texts", "fewer texts", "cut", "numbers", "nested", "type"],
)
def test_gguf_length_that_lies_is_refused(content: bytes) -> None:
    refusal(formats.parse, {"a.gguf": content}, naming=("a.gguf", "byte "), error=FormatError)


def test_gguf_key_and_index_have_limits() -> None:
    metadata: dict[str, Value] = {"general." + "x" * 65_527: 1, "unk_token_id": 3}
    found = read_metadata("a.gguf", gguf_file(metadata))
    key = "tokenizer.ggml.unk_token_id"
    assert [found.index(key, size) for size in (3, 4)] == [None, 3]
    long = gguf_file({"general." + "x" * 65_528: 1})
    refusal(read_metadata, "a.gguf", long, naming=("a.gguf", "65,536"), error=FormatError)


def without(metadata: dict[str, Value], key: str) -> dict[str, Value]:
    return {name: value for name, value in metadata.items() if name != key}


def test_gguf_message_names_what_is_missing_or_unknown() -> None:
    _, metadata = byte_level(3)
    tokens = [*metadata["tokens"]]  # type: ignore[misc]
    cases: list[tuple[dict[str, Value], str]] = [
        (without(metadata, "model"), "no vocabulary"),
        (without(metadata, "tokens"), "no vocabulary"),
        (without(metadata, "merges"), "merges"),
        (metadata | {"model": "plamo2"}, "plamo2"),
        (metadata | {"pre": "secret-9"}, "secret-9"),
        (metadata | {"pre": 7}, "expected a text"),
        (metadata | {"merges": ["a zz"]}, "a zz"),
        (metadata | {"token_type": [NORMAL]}, "1 entries"),
        (metadata | {"token_type": "normal"}, "list of numbers"),
        (metadata | {"tokens": [*tokens, tokens[0]]}, "twice"),
        (metadata | {"add_bos_token": 3}, "true or false"),
        (metadata | {"bos_token_id": "three", "add_bos_token": True}, "whole number"),
        ({"model": "rwkv", "tokens": ["a"]}, "0x00"),
        ({"model": "llama", "tokens": ["<unk>", "a", "a"]}, "twice"),
    ]
    for case, fact in cases:
        with pytest.raises(FormatError, match=fact) as refused:
            parse(case)
        assert str(refused.value).startswith("model.gguf")
    refusal(parse, metadata, version=1, naming="version 1", error=FormatError)


def test_gguf_repeated_merge_has_its_first_rank() -> None:
    ours = parse(
        {
            "model": "gpt2",
            "tokens": ["a", "b", "ab", "ba"],
            "merges": ["a b", "b a", "a b"],
        }
    )
    assert ours.encode("aba") == [2, 0]
    assert ours.steps == 2
