"""CLIP's merges, one a line after a line with the version, with </w> at the end of a word.

The file has no ids. Those are defined by CLIP's code: bytes, bytes with the mark, merges.

Source: `simple_tokenizer.py` in openai/CLIP, of which `tokenizers` applies all but the repair of
broken characters and HTML.
"""

from __future__ import annotations

from collections.abc import Mapping

from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, Source
from bpeviz.formats.huggingface import tokenizer_of_document
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    bpe_model,
    document_of,
    replaced,
    split_at,
)
from bpeviz.formats.parsing import checked_text, error_at, parse_pair, split_lines
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD

_FIRST_LINE = b"bpe_simple_vocab"
_MERGES = 49_152 - 256 - 2
_SPECIAL = ("<|startoftext|>", "<|endoftext|>")
_SPLIT = r"'[sſ]|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
_WHITE_SPACE = r"[\s\x1C-\x1F]+"
"""That of Python's `str.split`."""


def _read(source: Source) -> Tokenizer:
    file, content = source.single()
    if not _detect(source.files):
        raise error_at(file, "line 1", f"expected {_FIRST_LINE.decode()}, as in CLIP’s file")
    merges = []
    for number, line in enumerate(split_lines(file, content)[1 : 1 + _MERGES], 2):
        place = f"line {number:,}"
        merges.append(parse_pair(file, place, checked_text(file, place, line)))
    of_bytes = [*CHARACTER_OF.values()]
    names = [*of_bytes, *(symbol + END_OF_WORD for symbol in of_bytes), *map("".join, merges)]
    entries = {name: i for i, name in enumerate([*names, *_SPECIAL])}
    document = document_of(
        bpe_model(entries, merges, unk_token=_SPECIAL[1], end_of_word_suffix=END_OF_WORD),
        {name: entries[name] for name in _SPECIAL},
        normalizers=[
            {"type": "NFC"},
            replaced({"Regex": _WHITE_SPACE}, " "),
            {"type": "Lowercase"},
        ],
        pre_tokenizers=[
            split_at(_SPLIT) | {"behavior": "Removed", "invert": True},
            BYTE_LEVEL,
        ],
        decoder=BYTE_LEVEL | {"use_regex": True},
    )
    return tokenizer_of_document(source.name, file, document)


def _detect(files: Mapping[str, bytes]) -> bool:
    return len(files) == 1 and next(iter(files.values())).lstrip(b'"').startswith(_FIRST_LINE)


FORMAT = Format(
    key="clip",
    title="CLIP’s merges",
    about="One merge a line, with end-of-word marks and without ids.",
    files=("bpe_simple_vocab_16e6.txt",),
    read=_read,
    detect=_detect,
)
