"""Merges with end-of-word marks: the files of CLIP and the codes of subword-nmt.

Both have one merge a line after a line with the version, and mark the end of a word with </w>. The
codes of fastBPE have counts instead of the version.
They contain no ids. Those of CLIP are defined by its code: bytes, bytes with the mark, merges.
subword-nmt writes texts without ids; bpeviz numbers characters, then merges, in their order.

GPT-1 has the same marks over characters, and ids in a second file. Its own code splits by spaCy;
bpeviz follows `OpenAIGPTConverter` of `transformers`, which splits as BERT does.

Sources: `simple_tokenizer.py` in openai/CLIP, of which `tokenizers` applies all but the repair of
broken characters and HTML; `apply_bpe.py` in rsennrich/subword-nmt, version 0.2;
`convert_slow_tokenizer.py` in huggingface/transformers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import regex

from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, Source
from bpeviz.formats.huggingface.common import (
    ComponentJSON,
    bpe_model,
    document_of,
    replaced,
    split_at,
)
from bpeviz.formats.library import read_tokenizer_json
from bpeviz.formats.parsing import checked_text, dump_json, error_at, parse_pair, split_lines
from bpeviz.formats.wordpiece_vocabulary import bert_normalizer
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD

_MOST_MERGES = 300_000
_CLIP_MERGES = 49_152 - 256 - 2
_CLIP_SPECIAL = ("<|startoftext|>", "<|endoftext|>")
_CLIP_SPLIT = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
_NAMES = r"<\|startoftext\|>|<\|endoftext\|>|"  # `transformers` keeps them apart as text, too
_UNKNOWN = "<unk>"
_WHITE_SPACE = r"[\s\x1C-\x1F]+"
"""The white space of CLIP's own code: that of `str.split`."""


def clip_document(
    entries: Mapping[str, int],
    merges: Sequence[tuple[str, str]],
    special: Mapping[str, int],
    *,
    own: bool = False,
) -> dict[str, Any]:
    """Return the tokenizer.json of CLIP with a vocabulary and merges.

    Args:
        entries: ids by token.
        merges: pairs of tokens.
        special: ids of special tokens.
        own: whether white space and upper case are those of CLIP's own code, not of `transformers`.
    """
    white_space = _WHITE_SPACE if own else r"\s+"
    split = split_at(_CLIP_SPLIT.replace("'s", "'[sſ]") if own else _NAMES + _CLIP_SPLIT) | {
        "behavior": "Removed",
        "invert": True,
    }
    parts: list[ComponentJSON] = [
        {"type": "NFC"},
        replaced({"Regex": white_space}, " "),
        {"type": "Lowercase"},
    ]
    level: ComponentJSON = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return document_of(
        _model(entries, merges, [*special][-1] if special else None),
        special,
        normalizers=parts,
        pre_tokenizers=[split, level | {"use_regex": not own}],
        decoder=level | {"use_regex": True},
    )


def gpt1_document(
    entries: Mapping[str, int], merges: Sequence[tuple[str, str]], *, lower: bool
) -> dict[str, Any]:
    """Return the tokenizer.json of GPT-1 with a vocabulary and merges.

    Args:
        entries: ids by token.
        merges: pairs of tokens.
        lower: whether texts are converted to lower case, as GPT-1's are; those of the
            `CharBPETokenizer` of `tokenizers` are not.
    """
    return document_of(
        _model(entries, merges, _UNKNOWN),
        {_UNKNOWN: entries[_UNKNOWN]},
        normalizers=[bert_normalizer(lower)],
        pre_tokenizers=[{"type": "BertPreTokenizer"}],
        decoder={"type": "BPEDecoder", "suffix": END_OF_WORD},
    )


def _model(
    entries: Mapping[str, int], merges: Sequence[tuple[str, str]], unknown: str | None
) -> dict[str, Any]:
    return bpe_model(entries, merges, unk_token=unknown, end_of_word_suffix=END_OF_WORD)


def _read(source: Source) -> Tokenizer:
    file, content = source.single()
    lines = split_lines(file, content)
    if len(lines) > _MOST_MERGES:
        raise error_at(file, "", f"{len(lines):,} lines exceed the limit of {_MOST_MERGES:,}")
    merges = []
    has_version = lines[0].lstrip(chr(34)).startswith(("bpe_simple_vocab", "#version"))
    for number, line in enumerate(lines[has_version:], 1 + has_version):
        place = f"line {number:,}"
        merges.append(parse_pair(file, place, checked_text(file, place, line).rstrip("\r ")))
    document = _clip(merges) if _is_clip(content) else _subword_nmt(file, merges)
    return read_tokenizer_json(source.name, file, dump_json(document))


def _clip(merges: Sequence[tuple[str, str]]) -> dict[str, Any]:
    merges = merges[:_CLIP_MERGES]
    of_bytes = [*CHARACTER_OF.values()]
    names = [*of_bytes, *(symbol + END_OF_WORD for symbol in of_bytes)]
    names += [left + right for left, right in merges]
    special = {name: len(names) + i for i, name in enumerate(_CLIP_SPECIAL)}
    entries = {name: i for i, name in enumerate([*names, *special])}
    return clip_document(entries, merges, special, own=True)


def _subword_nmt(file: str, merges: Sequence[tuple[str, str]]) -> dict[str, Any]:
    characters: dict[str, None] = {}
    for half in (half for pair in merges for half in pair):
        for character in half.removesuffix(END_OF_WORD):
            characters |= {character: None, character + END_OF_WORD: None}
    entries = {name: i for i, name in enumerate(characters)}
    for left, right in merges:
        entries.setdefault(left + right, len(entries))
    if len(entries) == len(characters):
        raise error_at(file, "", "it contains no merges")
    special = {_UNKNOWN: len(entries)}
    words = split_at(r"[ \r\n]+") | {"behavior": "Removed"}
    return document_of(
        _model(entries | special, merges, _UNKNOWN),
        special,
        pre_tokenizers=[words],
        decoder={"type": "BPEDecoder", "suffix": END_OF_WORD},
    )


def _assumed(source: Source) -> str:
    """Return that codes contain no ids."""
    if _is_clip(source.single()[1]):
        return ""
    return "The codes contain no ids. bpeviz numbers the characters, then the merges."


def _is_clip(content: bytes) -> bool:
    return content.lstrip(b'"').startswith(b"bpe_simple_vocab") or b"\xc4\xa0" in content


def _detect(files: Mapping[str, bytes]) -> bool:
    return len(files) == 1 and _CODES.match(next(iter(files.values()))) is not None


_CODES = regex.compile(
    rb"(?:\"?bpe_simple_vocab|#version:)[^\n]*\n(?:[^\n ]+ [^\n ]+\r?\n){0,9000}?[^\n]*</w>|"
    rb"(?:[^\n ]+ [^\n ]+ [0-9]+\r?\n){0,9000}?[^\n ]+ [^\n ]+</w> [0-9]+\r?\n"
)

FORMAT = Format(
    key="codes",
    title="Merges of CLIP or subword-nmt",
    about="One merge a line, with end-of-word marks and without ids.",
    files=("codes",),
    read=_read,
    detect=_detect,
    assumed=_assumed,
)
