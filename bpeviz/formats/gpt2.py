"""GPT-2's two files: vocab.json with an id for each token, and merges.txt with one merge a line.

OpenAI names them encoder.json and vocab.bpe. They contain neither the pre-tokenization, which is
GPT-2's unless the user chooses another one, nor which entries are special tokens: those that are
neither a byte nor merged. The settings beside them may add some. Files of a model that splits a
text in another way are refused.

Source: `convert_slow_tokenizer.py` in huggingface/transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bpeviz.core.byte_alphabet import BYTE_OF, CHARACTER_OF
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import (
    Format,
    FormatError,
    MissingFileError,
    Source,
    UnsupportedError,
    has_suffix,
)
from bpeviz.formats.huggingface import tokenizer_of_document
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    ComponentJSON,
    add_tokens,
    bpe_model,
    document_of,
    splits,
)
from bpeviz.formats.merges import as_ranks, byte_merges_of, pattern_of_ranks
from bpeviz.formats.model_settings import GENERIC, GPT2, model_settings
from bpeviz.formats.parsing import (
    dump_json,
    encoded,
    error_at,
    parse_json,
    parse_pair,
    split_lines,
)
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD

_OTHER_PATTERN = "its pre-tokenization is not GPT-2’s, which readers of these files assume"


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    if (table := as_ranks(tokenizer)) is not None and pattern_of_ranks(table)[0] != "gpt2":
        raise UnsupportedError(_OTHER_PATTERN)  # before the merges are recovered, which is slow
    merges = byte_merges_of(tokenizer)
    if merges.pre_tokenizer.pattern != "gpt2":
        raise UnsupportedError(_OTHER_PATTERN)
    spellings = merges.spellings({i: CHARACTER_OF[ord(s)] for i, s in merges.symbols.items()})
    entries = {name: token_id for token_id, name in spellings.items()} | dict(merges.special)
    by_id = dict(sorted(entries.items(), key=lambda entry: entry[1]))
    lines = ["#version: 0.2", *(f"{spellings[a]} {spellings[b]}" for a, b, _ in merges.merges)]
    return {
        "vocab.json": dump_json(by_id),
        "merges.txt": encoded("".join(f"{line}\n" for line in lines)),
    }


def _read(source: Source) -> Tokenizer:
    vocab, merges_file = source.pair()
    if vocab is None or merges_file is None:
        raise MissingFileError(f"Expected vocab.json and merges.txt, not {source.listing()} alone.")
    entries = parse_json(vocab, source.files[vocab]).vocabulary()
    pairs = _pairs(merges_file, source.files[merges_file])
    if any(entry.endswith(END_OF_WORD) for entry in entries):
        raise _of_another_model(vocab, f"its tokens end in {END_OF_WORD}")
    if len(entries.keys() & BYTE_OF.keys()) < _FEW_BYTES and not _has_byte_alphabet(pairs):
        raise _of_another_model(vocab, "its tokens are over characters, not bytes")
    settings = model_settings(source.settings, GPT2, entries)
    if not (source.pattern or settings.is_known or GENERIC.fullmatch(settings.name)):
        raise _of_another_model(vocab, f"{settings.named_in} names {settings.name}")
    level: ComponentJSON = BYTE_LEVEL | {"add_prefix_space": settings.adds_space}
    parts = [level | {"use_regex": True}]
    if source.pattern:
        parts = [*splits(source.pattern, source.expression), BYTE_LEVEL]
    document: dict[str, Any] = document_of(
        bpe_model(entries, pairs), {}, pre_tokenizers=parts, decoder=BYTE_LEVEL
    )
    merged = {left + right for left, right in pairs} | {*CHARACTER_OF.values()}
    others = () if settings.is_known else [name for name in entries if name not in merged]
    add_tokens(document, settings, others)
    return tokenizer_of_document(source.name, f"{vocab} and {merges_file}", document)


def _of_another_model(vocab: str, reason: str) -> FormatError:
    return error_at(
        vocab,
        "",
        f"{reason}, so its pre-tokenization may not be GPT-2’s. Download tokenizer.json of this "
        "model",
    )


_FEW_BYTES = 128
"""Fewer of the 256 bytes than this are a sign of tokens over characters."""


def _has_byte_alphabet(pairs: list[tuple[str, str]]) -> bool:
    """Return whether merges are written in the byte alphabet, in which a space is a letter."""
    characters = {character for pair in pairs for half in pair for character in half}
    return characters <= BYTE_OF.keys() and CHARACTER_OF[ord(" ")] in characters


def _assumption(source: Source) -> str:
    """Return which pre-tokenization is assumed, and why."""
    if source.pattern:
        return ""
    missing = "vocab.json and merges.txt do not contain the pre-tokenization"
    settings = model_settings(source.settings, GPT2)
    if settings.is_known:
        return f"{missing}. It is that of GPT-2, since {settings.named_in} names {settings.name}."
    return f"{missing}. That of GPT-2 is assumed, which most such files need."


def _pairs(merges_file: str, content: bytes) -> list[tuple[str, str]]:
    """Return the two tokens of each merge. Raises `FormatError`."""
    lines = split_lines(merges_file, content)
    first = bool(lines) and lines[0].startswith("#version")
    last = len(lines) - bool(lines and not lines[-1])
    return [
        parse_pair(merges_file, f"line {number + 1:,}", lines[number])
        for number in range(first, last)
    ]


def _detect(files: Mapping[str, bytes]) -> bool:
    if len(files) == 1:
        return has_suffix(files, ".bpe", "merges.txt")
    version = any(content.startswith(b"#version") for content in files.values())
    is_pair = has_suffix(files, ".json", ".vocab")
    return is_pair and (version or has_suffix(files, ".txt", ".bpe"))


FORMAT = Format(
    key="gpt2",
    title="GPT-2’s vocab.json and merges.txt",
    about="Two files, an id for each token and one merge a line, for merges over bytes with the "
    "pattern of GPT-2. Other entries are special tokens.",
    files=("vocab.json", "merges.txt"),
    other_files=(("encoder.json", "vocab.bpe"),),
    write=_write,
    read=_read,
    detect=_detect,
    assumption=_assumption,
    guesses_pattern=True,
)
