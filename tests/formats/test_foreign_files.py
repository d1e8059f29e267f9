"""Files that Hugging Face's `tokenizers` trained and saved: read exactly, or refused by key."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libraries
import pytest
import tokenizers
from difficult import DIFFICULT
from tokenizers import (
    AddedToken,
    Regex,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import bpeviz
from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FormatError

ByteLevel = pre_tokenizers.ByteLevel
Split = pre_tokenizers.Split
CORPUS = [
    path.read_text()
    for path in sorted((Path(__file__).resolve().parents[2] / "sample_texts").glob("*.txt"))
][:5]
CORPUS += list(DIFFICULT)
LLAMA = (  # the split of Llama 3's tokenizer.json, which is cl100k's as it was once
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
END = "<|endoftext|>"


def bpe(
    pre_tokenizer: pre_tokenizers.PreTokenizer | None,
    special: list[str] | None = None,
    model: dict[str, Any] | None = None,
    **training: Any,
) -> tokenizers.Tokenizer:
    theirs = tokenizers.Tokenizer(models.BPE(**(model or {})))
    if pre_tokenizer is not None:
        theirs.pre_tokenizer = pre_tokenizer
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=[END] if special is None else special,
        show_progress=False,
        **training,
    )
    theirs.train_from_iterator(CORPUS, trainer)
    return theirs


def over_bytes(
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None, **more: Any
) -> tokenizers.Tokenizer:
    return bpe(
        pre_tokenizer or ByteLevel(add_prefix_space=False),
        initial_alphabet=ByteLevel.alphabet(),
        **more,
    )


def split_over_bytes(expression: str, **more: Any) -> tokenizers.Tokenizer:
    parts = [
        Split(Regex(expression), "isolated"),
        ByteLevel(add_prefix_space=False, use_regex=False),
    ]
    return over_bytes(pre_tokenizers.Sequence(parts), **more)


def wordpiece(
    pre_tokenizer: pre_tokenizers.PreTokenizer,
    normalizer: normalizers.Normalizer | None = None,
) -> tokenizers.Tokenizer:
    theirs = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        theirs.normalizer = normalizer
    trainer = trainers.WordPieceTrainer(
        vocab_size=1_200, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False
    )
    theirs.train_from_iterator(CORPUS, trainer)
    return theirs


def unigram(pre_tokenizer: pre_tokenizers.PreTokenizer) -> tokenizers.Tokenizer:
    theirs = tokenizers.Tokenizer(models.Unigram())
    theirs.pre_tokenizer = pre_tokenizer
    trainer = trainers.UnigramTrainer(
        vocab_size=1_500, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )
    theirs.train_from_iterator(CORPUS, trainer)
    return theirs


def with_added(*tokens: AddedToken | str) -> tokenizers.Tokenizer:
    theirs = over_bytes()
    theirs.add_special_tokens([*tokens])
    return theirs


def changed(
    theirs: tokenizers.Tokenizer, change: Callable[[tokenizers.Tokenizer], object]
) -> tokenizers.Tokenizer:
    change(theirs)
    return theirs


def read(theirs: tokenizers.Tokenizer) -> Tokenizer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        theirs.save(str(path))
        return bpeviz.read(path)


def check_same(theirs: tokenizers.Tokenizer) -> None:
    ours = read(theirs)
    encode = libraries.of_library(theirs)
    again = libraries.hugging_face(formats.dump(ours, "huggingface"))
    for text in DIFFICULT:
        assert ours.encode(text) == encode(text) == again(text)
        if theirs.decoder is not None:
            assert ours.decode(encode(text)) == theirs.decode(encode(text)) == text
    theirs.encode_special_tokens = False
    for text in DIFFICULT:
        text = f"{text[:2]}{END}{END} {text}<x>"
        found = theirs.encode(text, add_special_tokens=False).ids
        assert ours.encode(text, allowed_special={*ours.special_tokens}) == found


def _template(theirs: tokenizers.Tokenizer) -> None:
    theirs.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single=f"{END} $A", special_tokens=[(END, 0)]),
        ]
    )


READ: dict[str, Callable[[], tokenizers.Tokenizer]] = {
    "GPT-2's way, special tokens first": over_bytes,
    "with a decoder and a post-processor": lambda: changed(
        over_bytes(),
        lambda theirs: (
            setattr(theirs, "decoder", decoders.ByteLevel()),
            setattr(theirs, "post_processor", processors.ByteLevel(trim_offsets=False)),
        ),
    ),
    "with a template around a text for a model": lambda: changed(over_bytes(), _template),
    "no special tokens": lambda: over_bytes(special=[]),
    "special tokens added behind": lambda: with_added("<x>", "<xx>", "<x"),
    "not split": lambda: over_bytes(ByteLevel(add_prefix_space=False, use_regex=False)),
    "Llama's split": lambda: split_over_bytes(LLAMA),
    "words alone, with what is between": lambda: split_over_bytes(r"\p{L}+"),
    "characters": lambda: bpe(
        Split(Regex(r"\s+|\S+"), "isolated"), special=["<unk>", END], model={"unk_token": "<unk>"}
    ),
    "characters, not split": lambda: bpe(
        Split(Regex(r"[^\n]+"), "isolated"), special=["<unk>"], model={"unk_token": "<unk>"}
    ),
    "WordPiece": lambda: wordpiece(split_and_white_space("arithmetic")),
}


def split_and_white_space(key: str) -> pre_tokenizers.PreTokenizer:
    """Return a named pattern in our Oniguruma dialect, with white space dropped."""
    tokenizer = bpeviz.train("a", merges=0, pattern=key).tokenizer()
    (written,) = formats.dump(tokenizer, "huggingface").values()
    expression = json.loads(written)["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    split = Split(Regex(expression), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.WhitespaceSplit()])


@pytest.mark.parametrize("kind", READ)
def test_tokenizers_trained_by_hugging_face_give_equal_ids(kind: str) -> None:
    check_same(READ[kind]())


def test_byte_level_tokenizer_class_of_hugging_face_is_read() -> None:
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(CORPUS, vocab_size=700, show_progress=False)
    theirs = tokenizers.Tokenizer.from_str(made.to_str())
    check_same(theirs)


def test_vocab_and_merges_saved_by_hugging_face_are_read() -> None:
    theirs = over_bytes()
    with tempfile.TemporaryDirectory() as folder:
        paths = theirs.model.save(folder)
        assert [Path(path).name for path in paths] == ["vocab.json", "merges.txt"]
        ours = bpeviz.read(folder)
    encode = libraries.of_library(theirs)
    assert [ours.encode(text) for text in DIFFICULT] == [encode(text) for text in DIFFICULT]
    assert dict(ours.special_tokens) == {END: 0}


def _bert() -> tokenizers.Tokenizer:
    return wordpiece(pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer())


def _nfc(theirs: tokenizers.Tokenizer) -> None:
    theirs.normalizer = normalizers.NFC()


REFUSED: dict[str, tuple[Callable[[], tokenizers.Tokenizer], str]] = {
    "a byte is missing": (
        lambda: bpe(ByteLevel(add_prefix_space=False)),
        r"model.vocab: the byte 0x.* is missing",
    ),
    "a space is put before": (
        lambda: over_bytes(ByteLevel(add_prefix_space=True)),
        r"pre_tokenizer.add_prefix_space: expected false, not true",
    ),
    "normalized": (
        lambda: changed(over_bytes(), _nfc),
        r"normalizer: expected null, not an object of type 'NFC'",
    ),
    "split twice": (
        lambda: over_bytes(
            pre_tokenizers.Sequence([pre_tokenizers.Digits(True), ByteLevel(False)])
        ),
        r"pre_tokenizer: .*split more than once",
    ),
    "another split": (
        lambda: bpe(pre_tokenizers.Whitespace(), special=["<unk>"], model={"unk_token": "<unk>"}),
        r"pre_tokenizer: expected null, a Split, .* not an object of type 'Whitespace'",
    ),
    "an expression that is read otherwise": (
        lambda: split_over_bytes(r"\w+|\W"),
        r"pretokenizers\[0\].pattern.Regex: .* at character 1 ",
    ),
    "dropout": (lambda: over_bytes(model={"dropout": 0.1}), r"model.dropout: expected null or 0.0"),
    "a byte-level word that is a special token": (
        lambda: over_bytes(special=["hello"], model={"ignore_merges": True}),
        r"model.ignore_merges: .*'hello'",
    ),
    "end-of-word marks, also on white space": (
        lambda: bpe(
            Split(Regex(r"\s+|\S+"), "isolated"),
            special=["<unk>"],
            model={"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
            end_of_word_suffix="</w>",
        ),
        r"bpeviz would encode differently: it contains white space",
    ),
    "another name for what is unknown": (
        lambda: bpe(Split(Regex(r"\s+|\S+"), "isolated"), special=["?"], model={"unk_token": "?"}),
        r"added_tokens: <unk> is missing",
    ),
    "BERT": (_bert, r"pre_tokenizer: expected .* for WordPiece.* of type 'BertPreTokenizer'"),
    "WordPiece by white space": (
        lambda: wordpiece(pre_tokenizers.WhitespaceSplit()),
        r"bpeviz would encode differently: .* special token",
    ),
    "WordPiece, whose pattern may join ## and the letters after it": (
        lambda: wordpiece(split_and_white_space("words")),
        r"model.continuing_subword_prefix: .*##",
    ),
    "Unigram behind Metaspace": (
        lambda: unigram(pre_tokenizers.Metaspace()),
        r"pre_tokenizer: expected .* for Unigram .* not an object of type 'Metaspace'",
    ),
    "another post-processor": (
        lambda: changed(
            over_bytes(),
            lambda theirs: setattr(
                theirs, "post_processor", processors.BertProcessing((END, 0), (END, 0))
            ),
        ),
        r"post_processor: expected null, ByteLevel or .* object of type 'BertProcessing'",
    ),
    "truncation": (
        lambda: changed(over_bytes(), lambda theirs: theirs.enable_truncation(5)),
        r"truncation: expected null",
    ),
    "padding": (
        lambda: changed(over_bytes(), lambda theirs: theirs.enable_padding()),
        r"padding: expected null",
    ),
    "a word that always is a token": (
        lambda: changed(over_bytes(), lambda theirs: theirs.add_tokens(["hello"])),
        r"added_tokens\[1\].special: expected true, not false: 'hello'",
    ),
    "special tokens with the space before": (
        lambda: with_added(AddedToken("<x>", lstrip=True)),
        r"added_tokens\[1\].lstrip: expected false or null, not true",
    ),
    "whole words": (
        lambda: tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a")),
        r"model.type: expected BPE, WordPiece or Unigram, not .WordLevel.",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_unsupported_tokenizer_json_error_names_the_key(kind: str) -> None:
    make, why = REFUSED[kind]
    with pytest.raises(FormatError, match=why) as refused:
        read(make())
    message = str(refused.value)
    assert message.startswith("tokenizer.json")
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 500
