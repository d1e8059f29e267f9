"""Files that Hugging Face's `tokenizers` trained and saved: replayed exactly, or applied by it."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from helpers import libraries
from helpers.difficult import DIFFICULT
from helpers.properties import quarter
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
from bpeviz.analysis import normalization, trace
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID, Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.libraries.tokenizer import LibraryTokenizer
from bpeviz.text import clean

pytestmark = pytest.mark.slow

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
FILE = "tokenizer.json"


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


def with_own_ids() -> tokenizers.Tokenizer:
    """Return a tokenizer over characters, whose ids are those of bpeviz."""
    training = bpeviz.train("a cat", merges=1, atoms="characters", special_tokens=("<s>", END))
    return tokenizers.Tokenizer.from_buffer(formats.dump(training.tokenizer(), "huggingface")[FILE])


@pytest.mark.parametrize("make", [lambda: over_bytes(special=["<s>", END]), with_own_ids])
def test_template_of_a_file_with_steps_is_read(make: Callable[[], tokenizers.Tokenizer]) -> None:
    theirs = make()
    ids = [(one, theirs.token_to_id(one)) for one in ("<s>", END)]
    template = processors.TemplateProcessing(single=f"<s> $A {END}", special_tokens=ids)
    theirs.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=False), template]
    )
    ours = read(theirs)
    before, after = ours.template
    assert [*before, *ours.encode("a cat"), *after] == theirs.encode("a cat").ids
    assert ours.steps > 0
    assert ours.at_step(0).template == ours.template


@pytest.mark.parametrize(
    "single",
    [
        [],
        [{"Sequence": {"id": "A"}}] * 2,
        [{"SpecialToken": {"id": "no"}}, {"Sequence": {"id": "A"}}],
        [{"SpecialToken": {"id": END}}, {"Sequence": {"id": "A"}}],
    ],
)
def test_template_that_is_not_usable_is_no_error_of_ours(single: list[Any]) -> None:
    """Then the library reads the file, or says what is wrong with it."""
    document = json.loads(over_bytes().to_str())
    document["post_processor"] = {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [],
        "special_tokens": {END: {"id": END, "ids": [10**9], "tokens": [END]}},
    }
    with contextlib.suppress(bpeviz.FormatError):
        before, after = formats.parse({FILE: json.dumps(document).encode()}).template
        assert not before + after


def saved(theirs: tokenizers.Tokenizer) -> dict[str, bytes]:
    """Return vocab.json and merges.txt of a tokenizer without its added tokens."""
    model = json.loads(theirs.to_str())["model"]
    merges = "".join(f"{left} {right}\n" for left, right in model["merges"])
    return {"vocab.json": json.dumps(model["vocab"]).encode(), "merges.txt": merges.encode()}


def settings(**values: Any) -> dict[str, bytes]:
    return {"tokenizer_config.json": json.dumps(values).encode()}


ADDED = {"content": "<x>", "special": False, "lstrip": True}


@pytest.mark.parametrize("source", ["class", "model type", "old class"])
def test_vocab_and_merges_of_qwen_have_the_pre_tokenization_of_their_class(source: str) -> None:
    theirs = bpe(ByteLevel(add_prefix_space=False))
    size = theirs.get_vocab_size()
    beside = {
        "class": settings(
            tokenizer_class="Qwen2Tokenizer", added_tokens_decoder={str(size): ADDED}
        ),
        "model type": {"config.json": b'{"model_type": "qwen3_moe"}'},
        "old class": settings(tokenizer_class="Qwen2TokenizerFast")
        | {"added_tokens.json": json.dumps({"<x>": size}).encode()},
    }[source]
    files = saved(theirs) | beside
    ours = formats.parse(files)
    split = Split(Regex(LLAMA.replace("{1,3}", "")), "isolated")
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [split, ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    theirs.normalizer = normalizers.NFC()
    if source != "model type":
        theirs.add_tokens([AddedToken("<x>", lstrip=source == "class", normalized=False)])
    encode = libraries.of_library(theirs)
    for text in (*DIFFICULT, "cafe\u0301 1234 a <x>b"):
        assert ours.encode(text) == encode(text)
    assert ("qwen3_moe" if source == "model type" else "Qwen2Tokenizer") in formats.assumed(files)


def test_vocab_and_merges_have_the_chosen_pre_tokenization_or_that_of_gpt2() -> None:
    theirs = bpe(ByteLevel(add_prefix_space=False))
    files = saved(theirs)
    assert "GPT-2 is assumed" in formats.assumed(files)
    qwen = files | settings(tokenizer_class="Qwen2Tokenizer")
    expression = r"\d|\s+|[^\d\s]+"
    chosen = formats.parse(qwen, pattern="regex", expression=expression)
    assert formats.assumed(qwen, pattern="regex") == ""
    text = "It's 12  lower"
    split = Split(Regex(expression), "isolated")
    level = ByteLevel(add_prefix_space=False, use_regex=False)
    theirs.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    assert chosen.encode(text) == libraries.of_library(theirs)(text)
    assert chosen.encode(text) != formats.parse(files).encode(text)


def test_folder_of_a_fine_tuned_gpt2_has_its_added_tokens(tmp_path: Path) -> None:
    theirs = bpe(ByteLevel(add_prefix_space=True))
    size = theirs.get_vocab_size()
    files = saved(theirs) | settings(
        tokenizer_class="GPT2Tokenizer", add_prefix_space=True, pad_token="<pad>"
    )
    files["added_tokens.json"] = json.dumps({"<pad>": size}).encode()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    ours = bpeviz.read(tmp_path)
    encode = libraries.of_library(theirs)
    assert [ours.encode(text) for text in DIFFICULT] == [encode(text) for text in DIFFICULT]
    assert dict(ours.special_tokens) == {END: 0, "<pad>": size}
    plain = formats.parse(files | settings(pad_token="<pad>"))
    assert plain.encode("a<pad>", allowed_special={"<pad>"})[-1] == size
    assert len(plain.encode("low")) <= len(ours.encode("low"))


def test_merges_in_an_order_of_their_own_are_applied_by_the_library() -> None:
    theirs = bpe(ByteLevel(add_prefix_space=False))
    files = saved(theirs)
    merges = files["merges.txt"].decode().splitlines(keepends=True)
    files["merges.txt"] = "".join(reversed(merges)).encode()
    model = json.loads(theirs.to_str())
    model["model"]["merges"].reverse()
    encode = libraries.of_library(tokenizers.Tokenizer.from_str(json.dumps(model)))
    ours = formats.parse(files)
    assert [ours.encode(text) for text in DIFFICULT] == [encode(text) for text in DIFFICULT]


def test_boundaries_of_unknown_tokens_and_removed_characters_follow_the_text() -> None:
    made = tokenizers.SentencePieceUnigramTokenizer()
    made.train_from_iterator(
        ["low lower lowest"],
        vocab_size=20,
        special_tokens=["<unk>"],
        unk_token="<unk>",
        show_progress=False,
    )
    ours = read(made._tokenizer)
    text = "@@ low\x1b w"
    assert [(t.start, t.end) for t in ours.tokens(text)][:3] == [(0, 0), (0, 2), (2, 6)]
    bounds = ours.boundaries(text)
    dropped = bounds.ids(bounds.steps).tolist().index(DROPPED_ID)
    assert bounds.cuts(bounds.steps).tolist()[dropped - 1 : dropped + 1] == [6, 7]


def test_files_with_a_prefix_are_found_in_their_folder(tmp_path: Path) -> None:
    theirs = over_bytes()
    folder = tmp_path / "tokenizer"
    folder.mkdir()
    theirs.model.save(str(folder), "mine")
    text = "lower  case"
    expected = libraries.of_library(theirs)(text)
    for path in (folder, folder / "mine-vocab.json", folder / "mine-merges.txt"):
        assert bpeviz.read(path).encode(text) == expected
    with pytest.raises(formats.FormatError, match="but tokenizer in it does"):
        bpeviz.read(tmp_path)


def test_vocab_and_merges_over_characters_are_refused() -> None:
    made = tokenizers.SentencePieceBPETokenizer()
    made.train_from_iterator(["low lower lowest"], vocab_size=20, show_progress=False)
    with pytest.raises(formats.FormatError, match="characters, not bytes"):
        formats.parse(saved(made._tokenizer))


def test_vocab_and_merges_of_character_bpe_keep_capital_letters() -> None:
    made = tokenizers.CharBPETokenizer()
    made.train_from_iterator(["Low low Lower é"] * 3, vocab_size=40, show_progress=False)
    files = saved(made._tokenizer)
    assert "GPT-1 is assumed" in formats.assumed(files)
    for text in ("Lower low", "é Low"):
        assert formats.parse(files).encode(text) == libraries.of_library(made._tokenizer)(text)


def test_codes_of_fastbpe_have_no_version() -> None:
    versioned = formats.parse({"codes": b"#version: 0.2\nl o\nlo w</w>\n"})
    ours = formats.parse({"codes": b"l o 9\nlo w</w> 8\n"})
    assert ours.encode("low lo") == versioned.encode("low lo")


def _decoded(theirs: tokenizers.Tokenizer, decoder: decoders.Decoder) -> tokenizers.Tokenizer:
    theirs.decoder = decoder
    return theirs


def _processed(theirs: tokenizers.Tokenizer, processor: Any) -> tokenizers.Tokenizer:
    theirs.post_processor = processor
    return theirs


def _normalized(
    theirs: tokenizers.Tokenizer, normalizer: normalizers.Normalizer
) -> tokenizers.Tokenizer:
    theirs.normalizer = normalizer
    return theirs


def _llama_2() -> tokenizers.Tokenizer:
    """Return a tokenizer with the settings of Llama 2: no pre-tokenizer, and byte fallback."""
    of_bytes = [f"<0x{byte:02X}>" for byte in range(256)]
    model = {"unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True}
    theirs = bpe(
        pre_tokenizers.Metaspace(),
        special=["<unk>", *of_bytes],
        model=model,
        limit_alphabet=150,
    )
    document = json.loads(theirs.to_str())
    document["added_tokens"] = document["added_tokens"][:1]
    document["pre_tokenizer"] = None
    document["normalizer"] = {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    }
    document["decoder"] = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    }
    return tokenizers.Tokenizer.from_str(json.dumps(document))


UNKNOWN = {"special": ["<unk>"], "model": {"unk_token": "<unk>"}}
WORDS = Split(Regex(r"\s+|\S+"), "isolated")
FOREIGN: dict[str, Callable[[], tokenizers.Tokenizer]] = {
    "bytes, some missing": lambda: bpe(ByteLevel(add_prefix_space=False)),
    "bytes, with a space before the text": lambda: over_bytes(ByteLevel(add_prefix_space=True)),
    "bytes after NFC, as in Qwen": lambda: _normalized(over_bytes(), normalizers.NFC()),
    "bytes after NFKC, as in Claude": lambda: _normalized(over_bytes(), normalizers.NFKC()),
    "bytes after several splits, as in DeepSeek": lambda: over_bytes(
        pre_tokenizers.Sequence([pre_tokenizers.Digits(True), ByteLevel(False)])
    ),
    "bytes with trimmed offsets, as in RoBERTa": lambda: _processed(
        over_bytes(ByteLevel(add_prefix_space=True)),
        processors.RobertaProcessing((END, 0), (END, 0), trim_offsets=True),
    ),
    "an expression that Python reads otherwise": lambda: split_over_bytes(r"\w+|\W"),
    "dropout": lambda: over_bytes(model={"dropout": 0.1}),
    "a byte-level word that is a special token": lambda: over_bytes(
        special=["hello"], model={"ignore_merges": True}
    ),
    "truncation": lambda: changed(over_bytes(), lambda theirs: theirs.enable_truncation(5)),
    "padding": lambda: changed(over_bytes(), lambda theirs: theirs.enable_padding(length=99)),
    "words that always are tokens": lambda: changed(
        over_bytes(), lambda theirs: theirs.add_tokens(["the", AddedToken("é", rstrip=True)])
    ),
    "special tokens with the space before": lambda: with_added(AddedToken("<x>", lstrip=True)),
    "words and signs": lambda: bpe(pre_tokenizers.Whitespace(), **UNKNOWN, limit_alphabet=150),
    "end-of-word marks, also on white space": lambda: bpe(
        WORDS,
        special=["<unk>"],
        model={"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
        end_of_word_suffix="</w>",
    ),
    "end-of-word marks over bytes, as in CLIP": lambda: _decoded(
        _normalized(
            bpe(
                ByteLevel(add_prefix_space=False),
                model={"end_of_word_suffix": "</w>", "unk_token": END},
                initial_alphabet=ByteLevel.alphabet(),
                end_of_word_suffix="</w>",
            ),
            normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]),
        ),
        decoders.ByteLevel(),
    ),
    "SentencePiece with byte fallback, as in Llama 2": _llama_2,
    "BERT": lambda: _decoded(
        wordpiece(pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer()),
        decoders.WordPiece(),
    ),
    "WordPiece by white space": lambda: wordpiece(pre_tokenizers.WhitespaceSplit()),
    "Unigram behind Metaspace, as in T5": lambda: _decoded(
        unigram(pre_tokenizers.Metaspace()), decoders.Metaspace()
    ),
    "Unigram after NFKD without accents, as in ALBERT": lambda: _normalized(
        unigram(pre_tokenizers.Metaspace()),
        normalizers.Sequence(
            [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
        ),
    ),
    "whole words": lambda: words(),
}


def words() -> tokenizers.Tokenizer:
    theirs = tokenizers.Tokenizer(models.WordLevel(unk_token="<unk>"))
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(special_tokens=["<unk>"], show_progress=False)
    theirs.train_from_iterator(CORPUS, trainer)
    return theirs


@pytest.mark.parametrize("kind", FOREIGN)
def test_tokenizer_json_of_every_kind_gives_the_ids_and_boundaries_of_the_library(
    kind: str,
) -> None:
    theirs = FOREIGN[kind]()
    ours = read(theirs)
    assert isinstance(ours, LibraryTokenizer)
    theirs.no_truncation()
    theirs.no_padding()
    if kind == "dropout":
        theirs.model.dropout = None
    theirs.encode_special_tokens = True
    theirs.post_processor = None  # it may trim offsets
    for text in quarter(DIFFICULT, kind):
        found = theirs.encode(text, add_special_tokens=False)
        assert ours.encode(text) == found.ids
        check_spans(ours, text, found.ids, found.offsets)
        assert ours.decode(found.ids) == theirs.decode(found.ids, skip_special_tokens=False)
    texts = [*map(clean, quarter(DIFFICULT, kind))]
    ours._keeps_texts = False
    pieces, ends = ours._pieces_of(texts)
    plain_pieces = ours._plain_pieces
    ours._plain_pieces = lambda *of: (*plain_pieces(*of)[:2], np.zeros(len(texts), np.bool_))
    each, ends_of_each = ours._pieces_of(texts)  # one by one
    assert pieces.tolist() == each.tolist()
    assert ends.tolist() == ends_of_each.tolist()


def check_spans(ours: Tokenizer, text: str, ids: list[int], offsets: list[tuple[int, int]]) -> None:
    """Check the boundaries of a text against the ids and the offsets in characters of a library.

    A token lies within the characters of its offsets, and covers them if no other token does.
    """
    raw = text.encode()
    before = [len(text[:i].encode()) for i in range(len(text) + 1)]
    bounds = ours.boundaries(text)
    every = [0, *bounds.cuts(ours.steps).tolist()]
    tokens = [
        (start, end, token_id)
        for start, end, token_id in zip(
            every, every[1:], bounds.ids(ours.steps).tolist(), strict=False
        )
        if token_id != DROPPED_ID
    ]
    assert every[-1] == len(raw)
    assert [ours.unknown_id if i == UNKNOWN_ID else i for *_, i in tokens] == ids
    joined = b"".join(map(ours.token_bytes, ids))
    for number, ((start, end, token_id), (first, last)) in enumerate(
        zip(tokens, offsets, strict=True)
    ):
        if joined == raw:
            assert raw[start:end] == ours.token_bytes(token_id)
        elif start < end:
            neighbors = [*offsets[max(0, number - 1) : number], *offsets[number + 1 : number + 2]]
            alone = all(other[1] <= first or other[0] >= last for other in neighbors)
            assert start >= before[first]
            if alone and first < last:
                assert start == before[first]
                assert end >= before[last]


# The steps of foreign files

REPLAYED = (
    "bytes, some missing",
    "bytes after NFC, as in Qwen",
    "bytes after several splits, as in DeepSeek",
    "end-of-word marks over bytes, as in CLIP",
    "SentencePiece with byte fallback, as in Llama 2",
    "words and signs",
)


def ids_at(tokenizer: Tokenizer, boundaries: Boundaries, step: int) -> list[int | None]:
    found = boundaries.ids(step).tolist()
    return [tokenizer.unknown_id if i == UNKNOWN_ID else i for i in found if i != DROPPED_ID]


@pytest.mark.parametrize("kind", REPLAYED)
def test_boundaries_at_each_step_are_those_of_the_library_with_fewer_merges(kind: str) -> None:
    document = json.loads(FOREIGN[kind]().to_str())
    ours = formats.parse({"tokenizer.json": json.dumps(document).encode()})
    merges = document["model"]["merges"]
    assert ours.steps == len(merges) > 0
    assert ours.without_steps is None
    boundaries = {text: ours.boundaries(text) for text in quarter(DIFFICULT, kind)}
    for step in (0, 1, len(merges) // 3, len(merges) - 1, len(merges)):
        document["model"]["merges"] = merges[:step]
        theirs = tokenizers.Tokenizer.from_str(json.dumps(document))
        theirs.encode_special_tokens = True
        early = ours.at_step(step)
        assert len(early.sizes) == step + 1
        for text, found in boundaries.items():
            ids = theirs.encode(text, add_special_tokens=False).ids
            assert ids_at(ours, found, step) == ids
            assert early.encode(text) == ids
            assert found.token_counts[step] == len(ids)
    [token] = ours.encode("the")[:1]
    assert trace.inspect("the the", ours).events
    assert ours.merge_step(token) < ours.steps


def test_whole_words_of_ignore_merges_are_shown_without_steps() -> None:
    """A word that is an entry is one token, although no merge makes it."""
    document = json.loads(FOREIGN["bytes after NFC, as in Qwen"]().to_str())
    document["model"] |= {"ignore_merges": True}
    document["model"]["vocab"]["xyzzy"] = len(document["model"]["vocab"]) + 5
    ours = formats.parse({"tokenizer.json": json.dumps(document).encode()})
    [token] = ours.encode("xyzzy")
    whole = ours.boundaries("xyzzy the")
    assert whole.steps == 0
    assert whole.ids(ours.steps)[0] == token
    assert np.array_equal(whole.cuts(0)[:1], [5])
    assert ours.boundaries("the").steps == ours.steps


@pytest.mark.parametrize("kind", ["BERT", "Unigram behind Metaspace, as in T5", "whole words"])
def test_models_without_merges_say_why_they_have_no_steps(kind: str) -> None:
    ours = formats.parse({"tokenizer.json": FOREIGN[kind]().to_str().encode()})
    assert ours.steps == 0
    assert "does not merge" in (ours.without_steps or "")
    assert not trace.inspect("the the", ours).events


def test_inspection_has_the_normalized_text() -> None:
    ours = formats.parse({"tokenizer.json": FOREIGN["BERT"]().to_str().encode()})
    assert trace.inspect("Été\tNaïve", ours).normalized.text == "ete naive"
    assert trace.inspect("plain", ours).units == []
    trained = bpeviz.train("low", merges=1).tokenizer()
    assert trace.inspect("Été", trained).units == []


NORMALIZERS: dict[str, tuple[normalizers.Normalizer, pre_tokenizers.PreTokenizer | None]] = {
    "NFC": (normalizers.NFC(), None),
    "NFKC, then Metaspace": (normalizers.NFKC(), pre_tokenizers.Metaspace()),
    "NFKD without accents": (
        normalizers.Sequence(
            [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
        ),
        pre_tokenizers.Whitespace(),
    ),
    "BERT": (normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()),
    "spaces": (normalizers.Replace(tokenizers.Regex(r"\s+"), " "), pre_tokenizers.Whitespace()),
    "Llama 2": (
        normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        None,
    ),
    "RoBERTa": (normalizers.Strip(), pre_tokenizers.ByteLevel()),
}


@pytest.mark.parametrize("kind", NORMALIZERS)
def test_normalized_text_is_aligned_with_the_original(kind: str) -> None:
    normalizer, splitter = NORMALIZERS[kind]
    theirs = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    theirs.normalizer = normalizer
    if splitter is not None:
        theirs.pre_tokenizer = splitter
    ours = formats.parse({"tokenizer.json": theirs.to_str().encode()})
    for text in (*DIFFICULT, "The   naïve ÉTÉ ﬁ ½ e\u0301 世界\u200d \n x  ", " a", ""):
        found = ours.normalized(text)
        assert len(found.starts) == len(found.text)
        assert [*found.starts] == sorted(found.starts)
        units = normalization.units(text, found)
        if units:
            assert "".join(unit.original for unit in units) == text
            assert "".join(unit.normalized for unit in units) == found.text
            assert [unit.start for unit in units[1:]] == [unit.end for unit in units[:-1]]
        if not isinstance(splitter, (pre_tokenizers.Metaspace, ByteLevel)):
            assert found.text == normalizer.normalize_str(text)
        ends = ours.pre_token_ends(text)
        assert ends is not None
        raw = text.encode()
        assert [*ends] == sorted({*ends})
        assert all(0 < end <= len(raw) for end in ends)
        for end in ends:
            raw[:end].decode()  # never inside a character


def test_pre_tokens_of_a_normalized_text_are_in_the_original() -> None:
    """An accent that is removed belongs to its word; white space is a part of its own."""
    ours = formats.parse({"tokenizer.json": FOREIGN["BERT"]().to_str().encode()})
    text = "Été e\u0301tat  世界!"
    ends = ours.pre_token_ends(text)
    assert ends is not None
    parts = [text.encode()[a:b].decode() for a, b in pairwise([0, *ends])]
    assert parts == ["Été", " ", "e\u0301tat", "  ", "世", "界", "!"]
