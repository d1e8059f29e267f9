"""The model BPE of a tokenizer.json: merges over bytes, over characters, or of SentencePiece."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bpeviz.core.byte_alphabet import BYTE_OF, CHARACTER_OF
from bpeviz.core.merges import MergeTokenizer, apply_merges
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.byte_alphabet import byte_symbols
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    Part,
    check_added,
    check_same,
    document_of,
    parse_split,
    require,
    split_at,
    splits,
    with_special,
)
from bpeviz.formats.merges import MISSING_BYTES, MergeParser, Merges, tokenizer_of
from bpeviz.formats.parsing import Node, quoted
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, UNKNOWN, PreTokenizer
from bpeviz.trainers.sentencepiece_bpe import BYTES, SPACE, SentencePiecePreTokenizer


def to_document(merges: Merges) -> dict[str, Any]:
    """Return the document of merges. Raises `UnsupportedError`."""
    pre_tokenizer = merges.pre_tokenizer
    model: dict[str, Any] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": pre_tokenizer.unknown,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
    }
    normalizers: list[Part] = []
    symbols = dict(merges.symbols)
    if isinstance(pre_tokenizer, SentencePiecePreTokenizer):
        symbols = {i: symbol.replace(SPACE, " ") for i, symbol in symbols.items()}
        fallback = pre_tokenizer.fallback == "bytes"
        model |= {"byte_fallback": fallback, "fuse_unk": not fallback}
        normalizers, pre_tokenizers, decoder = _sentencepiece_parts(pre_tokenizer)
    elif pre_tokenizer.atoms == "bytes":
        if len(symbols) < 256:
            raise UnsupportedError(MISSING_BYTES)
        symbols = {i: CHARACTER_OF[ord(symbol)] for i, symbol in symbols.items()}
        pre_tokenizers = [*splits(pre_tokenizer.pattern, pre_tokenizer.expression), BYTE_LEVEL]
        decoder = BYTE_LEVEL
    else:
        if pre_tokenizer.end_mark == "symbol":
            raise UnsupportedError(
                "its end-of-word mark is a symbol, and in this format it is part of the last "
                "character"
            )
        decoder = {"type": "Fuse"}
        if pre_tokenizer.end_mark == "attached":
            _check_no_white_space(symbols.values())
            model["end_of_word_suffix"] = END_OF_WORD
            decoder = {"type": "BPEDecoder", "suffix": END_OF_WORD}
        pre_tokenizers = splits(pre_tokenizer.pattern, pre_tokenizer.expression)
    spellings = merges.spellings(symbols)
    entries = {name: token_id for token_id, name in spellings.items()}
    if pre_tokenizer.unknown is not None:
        entries[pre_tokenizer.unknown] = merges.special[pre_tokenizer.unknown]
    model["vocab"] = entries = with_special(entries, merges.special)
    if pre_tokenizer.atoms == "characters":
        for name in merges.special:
            if name in entries and len(name.removesuffix(END_OF_WORD)) == 1:
                raise UnsupportedError(
                    f"the library would encode the character {quoted(name)} of a text as its "
                    "special token"
                )
    model["merges"] = [[spellings[left], spellings[right]] for left, right, _ in merges.merges]
    return document_of(
        model,
        merges.special,
        normalizers=normalizers,
        pre_tokenizers=pre_tokenizers,
        decoder=decoder,
    )


def _check_no_white_space(symbols: Collection[str]) -> None:
    if any(symbol.removesuffix(END_OF_WORD).isspace() for symbol in symbols):
        raise UnsupportedError(
            "it contains white space without an end-of-word mark, and the library marks every "
            "pre-token (train on words with counts to have none)"
        )


def _sentencepiece_parts(
    pre_tokenizer: SentencePiecePreTokenizer,
) -> tuple[list[Part], list[Part], Part]:
    """Return normalizers, pre-tokenizers and the decoder.

    A space stays a space, since a ▁ in a text is another character. The dummy prefix is a space
    before each line that is not empty.
    """
    if pre_tokenizer.pattern != "none":
        raise UnsupportedError(
            f"its pre-tokenization {pre_tokenizer.pattern} precedes the ▁ at the start of a line, "
            "and in this format it would follow (train with the pattern none instead)"
        )
    normalizers: list[Part] = []
    decoders: list[Part] = [{"type": "ByteFallback"}, {"type": "Fuse"}]
    if pre_tokenizer.prefix == "yes":
        normalizers = [
            {"type": "Replace", "pattern": {"Regex": r"\n(?=[^\n])"}, "content": "\n "},
            {"type": "Prepend", "prepend": " "},
            {"type": "Replace", "pattern": {"Regex": r"\A (?=\n)"}, "content": ""},
        ]
        at_start = {"Regex": r"(?<![^\n]) "}
        decoders.append({"type": "Replace", "pattern": at_start, "content": ""})
    return normalizers, [_WORDS], {"type": "Sequence", "decoders": decoders}


_WORDS = split_at(r"\n| [^ \n]*|[^ \n]+")
"""The words of lines, each with the space before it, as `SentencePiecePreTokenizer` splits."""

_OLDER_WORDS = split_at(r"[\r\n]| [^ \r\n]*|[^ \r\n]+")
_OLDER_PREFIX: Part = {
    "type": "Sequence",
    "normalizers": [
        {"type": "Replace", "pattern": {"Regex": r"\n(?=[^\r\n])"}, "content": "\n "},
        {"type": "Replace", "pattern": {"Regex": r"\r(?=[^\r\n])"}, "content": "\r "},
        {"type": "Prepend", "prepend": " "},
        {"type": "Replace", "pattern": {"Regex": r"\A (?=[\r\n])"}, "content": ""},
    ],
}
"""The parts of files in which earlier versions took a carriage return for a line end."""


def from_document(name: str, document: Node, model: Node, special: Mapping[str, int]) -> Tokenizer:
    """Return the tokenizer of a document. Raises `FormatError` or `UnsupportedError`."""
    model["dropout"].expect(None, 0.0)
    model["continuing_subword_prefix"].expect(None, "")
    suffix = model["end_of_word_suffix"].expect(None, "", END_OF_WORD) or None
    _ = model["unk_token"]
    model["fuse_unk"].expect(None, False, True)
    model["byte_fallback"].expect(None, False, True)
    ignore_merges = bool(model["ignore_merges"].expect(None, False, True))
    vocabulary = model["vocab"]
    entries = vocabulary.vocabulary()
    pairs = _pairs(model["merges"])
    model.reject_unknown_keys()

    pattern = _byte_pattern(document["pre_tokenizer"])
    pre_tokenizer: PreTokenizer
    if pattern is not None:
        document["normalizer"].expect(None)
        decoder = document["decoder"]
        require(decoder.value is None or decoder["type"].value == "ByteLevel")
        require(suffix is None)
        pre_tokenizer = PreTokenizer("bytes", *pattern)
        symbols = byte_symbols(vocabulary, entries)
    else:
        pre_tokenizer = _character_pre_tokenizer(document, model, suffix)
        require(pre_tokenizer.unknown is None or UNKNOWN in special)
        symbols = _character_symbols(entries, pairs, special, pre_tokenizer)
    parser = MergeParser(document.file, entries, symbols)
    for number, pair in enumerate(pairs):
        parser.add(f"model.merges[{number}]", *pair)
    require(all(i in parser.known or special.get(name) == i for name, i in entries.items()))
    check_added(entries, special)
    merges = Merges(pre_tokenizer, symbols, parser.merges, special)
    tokenizer = tokenizer_of(name, merges)
    if ignore_merges:
        _check_ignore_merges(tokenizer, entries, special)
    if pattern is None:
        ours = to_document(merges)
        if document["pre_tokenizer"].value == _OLDER_WORDS:
            ours["pre_tokenizer"] = _OLDER_WORDS
            ours["normalizer"] = ours["normalizer"] and _OLDER_PREFIX
        check_same(document, model, ours)
    return tokenizer


def _pairs(merges: Node) -> list[tuple[str, str]]:
    """Return merges: lists of two, or in older files texts with a space between two."""
    pairs = []
    for entry in merges.list():
        pair = entry.split(" ") if isinstance(entry, str) else entry
        require(isinstance(pair, list) and len(pair) == 2)
        require(all(isinstance(half, str) and half for half in pair))
        pairs.append((pair[0], pair[1]))
    return pairs


def _byte_pattern(pre_tokenizer: Node) -> tuple[str, str] | None:
    """Return the pattern of a pre-tokenizer that ends in a ByteLevel, or None for others."""
    if pre_tokenizer.value is None:
        return None
    before: list[Node] = []
    last = pre_tokenizer
    if pre_tokenizer["type"].value == "Sequence":
        before = [*pre_tokenizer["pretokenizers"].nodes()]
        pre_tokenizer.reject_unknown_keys()
        require(bool(before))
        last = before.pop()
    if last["type"].value != "ByteLevel":
        return None
    last["add_prefix_space"].expect(False)
    last["trim_offsets"].expect(True, False, None)
    own_pattern = last["use_regex"].expect(True, False, None) is not False
    last.reject_unknown_keys()
    require(own_pattern + len(before) < 2)  # bpeviz splits once
    if before:
        return parse_split(before[0])
    return ("gpt2", "") if own_pattern else ("none", "")


def _character_pre_tokenizer(document: Node, model: Node, suffix: str | None) -> PreTokenizer:
    """Return the pre-tokenization over characters; `check_same` later compares all parts."""
    part = document["pre_tokenizer"]
    if part.value in (_WORDS, _OLDER_WORDS):
        return SentencePiecePreTokenizer(
            pattern="none",
            prefix="no" if document["normalizer"].value is None else "yes",
            fallback="bytes" if model["byte_fallback"].value else "unk",
        )
    pattern = ("none", "") if part.value is None else parse_split(part)
    return PreTokenizer("characters", *pattern, end_mark="none" if suffix is None else "attached")


def _character_symbols(
    entries: Mapping[str, int],
    pairs: Sequence[tuple[str, str]],
    special: Mapping[str, int],
    pre_tokenizer: PreTokenizer,
) -> dict[int, str]:
    """Return the atoms, which no merge makes, by id. Raises `UnsupportedError`."""
    made = {left + right for left, right in pairs}
    is_sentencepiece = isinstance(pre_tokenizer, SentencePiecePreTokenizer)
    byte_entries = BYTES if is_sentencepiece and pre_tokenizer.unknown is None else ()
    require(entries.keys() >= {*byte_entries})
    symbols: dict[int, str] = {}
    for entry, token_id in entries.items():
        if entry in made or special.get(entry) == token_id:
            continue
        bare = entry.removesuffix(END_OF_WORD) if pre_tokenizer.end_mark == "attached" else entry
        require(len(bare) == 1 or entry in byte_entries)
        require(not (is_sentencepiece and bare == SPACE))
        symbols[token_id] = SPACE if is_sentencepiece and entry == " " else entry
    return symbols


def _check_ignore_merges(
    tokenizer: Tokenizer, entries: Mapping[str, int], special: Mapping[str, int]
) -> None:
    """Raise `UnsupportedError` if merging a known pre-token does not give its own id."""
    inner = tokenizer.with_own_ids
    if isinstance(inner, MergeTokenizer):
        for merge in inner.merges:
            merged = apply_merges(inner.atoms_of(merge.new_id), inner._rank)
            require(merged == (merge.new_id,))
    for name in special:
        require(name not in entries or not all(character in BYTE_OF for character in name))
