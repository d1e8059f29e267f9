"""GPT-2's two files: vocab.json with an id for each token, and merges.txt with one merge a line.

OpenAI names them encoder.json and vocab.bpe. They contain neither the pre-tokenization nor which
entries are special tokens: those that are neither a byte nor merged. The user may choose the
pre-tokenization. Otherwise it follows from the class that the settings beside them name, or is
GPT-2's.

Source: `convert_slow_tokenizer.py` in huggingface/transformers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import regex

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
from bpeviz.formats.byte_alphabet import byte_symbols
from bpeviz.formats.codes import clip_document, gpt1_document
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    ComponentJSON,
    add_tokens,
    bpe_model,
    document_of,
    split_at,
    splits,
)
from bpeviz.formats.library import read_tokenizer_json
from bpeviz.formats.merges import (
    MergeParser,
    Merges,
    as_ranks,
    byte_merges_of,
    pattern_of_ranks,
    tokenizer_of,
)
from bpeviz.formats.model_settings import CLIP, GPT2, SETTINGS_FILES, ModelSettings, model_settings
from bpeviz.formats.parsing import (
    Node,
    dump_json,
    encoded,
    error_at,
    parse_json,
    parse_pair,
    split_lines,
)
from bpeviz.formats.remapped_ids import with_template
from bpeviz.formats.wordpiece_vocabulary import is_lower
from bpeviz.pretokenizers.alternatives import joined
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, PreTokenizer

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
    vocabulary = parse_json(vocab, source.files[vocab])
    entries = vocabulary.vocabulary()
    pairs = _pairs(merges_file, source.files[merges_file])
    if any(entry.endswith(END_OF_WORD) for entry in entries):
        document = _with_end_marks(source, vocab, entries, [pair for _, pair in pairs])
        return read_tokenizer_json(source.name, vocab, dump_json(document))
    has_bytes = len(entries.keys() & BYTE_OF.keys()) >= _FEW_BYTES
    is_byte_level = _is_byte_level([pair for _, pair in pairs], has_bytes)
    if not is_byte_level and not has_bytes:
        raise error_at(
            vocab,
            "",
            "its tokens are over characters, not bytes, so their pre-tokenization is not known. A "
            "tokenizer.json would contain it",
        )
    settings = model_settings(source.settings, GPT2, entries)
    document = _document(source, entries, [pair for _, pair in pairs], settings)
    error = None
    if not (is_byte_level and _needs_library(source, settings)):
        try:
            special = {token["content"]: token["id"] for token in document["added_tokens"]}
            merged = _merges_tokenizer(source, vocabulary, merges_file, pairs, special, settings)
            if merged is not None:
                return merged
        except FormatError as refused:
            if not is_byte_level:
                raise
            error = refused  # it names the line; the library accepts more, such as missing bytes
    try:
        return read_tokenizer_json(source.name, vocab, dump_json(document))
    except FormatError:
        if error is None:
            raise
        raise error from None


def _merges_tokenizer(
    source: Source,
    vocabulary: Node,
    merges_file: str,
    pairs: Sequence[tuple[str, tuple[str, str]]],
    special: Mapping[str, int],
    settings: ModelSettings,
) -> Tokenizer | None:
    """Return the tokenizer whose merges bpeviz applies, or None if only the library can.

    Raises:
        FormatError: The files are not valid.
    """
    entries = vocabulary.vocabulary()
    symbols = byte_symbols(vocabulary, entries)
    parser = MergeParser(merges_file, entries, symbols)
    for place, pair in pairs:
        parser.add(place, *pair)
    if "" in entries:
        raise vocabulary.entry_error("", "a token is empty")
    others = {entry: i for entry, i in entries.items() if i not in parser.known}
    if not others.items() <= special.items() or not parser.known.isdisjoint(special.values()):
        return None
    pre_tokenizer = PreTokenizer("bytes", source.pattern or "gpt2", source.expression)
    merges = Merges(pre_tokenizer, symbols, parser.merges, special)
    tokenizer = tokenizer_of(source.name, merges)
    before, after = ([special[name] for name in side] for side in settings.around(special))
    return with_template(tokenizer, before, after) if before or after else tokenizer


_FEW_BYTES = 128
"""Fewer of the 256 bytes than this are a sign of tokens over characters."""


def _is_byte_level(pairs: Sequence[tuple[str, str]], has_bytes: bool) -> bool:
    """Return whether merges are written in the byte alphabet, of which many or a space occur."""
    characters = {character for pair in pairs for half in pair for character in half}
    return characters <= BYTE_OF.keys() and (has_bytes or CHARACTER_OF[ord(" ")] in characters)


def _needs_library(source: Source, settings: ModelSettings) -> bool:
    """Return whether only a tokenizer.json can represent the settings."""
    changes = bool(settings.expression) or settings.adds_space
    flags = ("lstrip", "rstrip", "single_word")
    return (
        (changes and not source.pattern)
        # The library searches for one group of tokens after the other.
        or len({token["normalized"] for token in settings.added}) > 1
        or any(
            not token["special"] or any(token[flag] for flag in flags) for token in settings.added
        )
    )


def _document(
    source: Source,
    entries: Mapping[str, int],
    pairs: Sequence[tuple[str, str]],
    settings: ModelSettings,
) -> dict[str, Any]:
    """Return the tokenizer.json that `transformers` makes. Raises `UnsupportedError`."""
    normalizers: list[ComponentJSON] = []
    level = BYTE_LEVEL | {"add_prefix_space": settings.adds_space}
    parts: list[ComponentJSON] = [level | {"use_regex": True}]
    if source.pattern:
        parts = [*splits(source.pattern, source.expression), BYTE_LEVEL]
    elif settings.expression:
        normalizers = [{"type": "NFC"}]
        if settings.expression != joined("gpt2"):
            parts = [split_at(settings.expression), level]
    document = document_of(
        bpe_model(entries, pairs),
        {},
        normalizers=normalizers,
        pre_tokenizers=parts,
        decoder=BYTE_LEVEL,
    )
    merged = {left + right for left, right in pairs} | {*CHARACTER_OF.values()}
    others = () if settings.is_known else [name for name in entries if name not in merged]
    add_tokens(document, settings, others)
    return document


def _assumed(source: Source) -> str:
    """Return which pre-tokenization is assumed, and why."""
    vocab, merges_file = source.pair()
    if source.pattern or vocab is None or merges_file is None:
        return ""
    missing = "vocab.json and merges.txt do not contain the pre-tokenization"
    if b"</w>" in source.files[vocab]:
        title = "CLIP" if CHARACTER_OF[ord(" ")].encode() in source.files[vocab] else "GPT-1"
        return f"{missing}. That of {title} is assumed, since tokens end in </w>."
    settings = model_settings(source.settings, GPT2)
    if settings.is_known and settings.family is not None:
        title = settings.family.title if settings.expression else "GPT-2"
        return f"{missing}. It is that of {title}, since {settings.named_in} names {settings.name}."
    if settings.name:
        return (
            f"{missing}. That of GPT-2 is assumed. {settings.name}, which {settings.named_in} "
            "names, may have another one, and other special tokens."
        )
    return f"{missing}. That of GPT-2 is assumed, which most such files need."


def _with_end_marks(
    source: Source, vocab: str, entries: Mapping[str, int], pairs: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Return the tokenizer.json of CLIP over bytes, or of GPT-1. Raises `FormatError`."""
    if all(character in entries for character in CHARACTER_OF.values()):
        settings = model_settings(source.settings, CLIP, entries)
        special = {name: entries[name] for name in entries if _SPECIAL.fullmatch(name)}
        document = clip_document(entries, pairs, special)
        if settings.tokens.get("unk_token") in entries:
            document["model"]["unk_token"] = settings.tokens["unk_token"]
        add_tokens(document, settings, () if settings.is_known else special)
        return document
    if "<unk>" not in entries or "<s>" in entries:
        raise error_at(
            vocab,
            "",
            "this vocabulary has end-of-word marks over characters, but is not GPT-1’s, so its "
            "pre-tokenization is not known. Its tokenizer.json would contain it",
        )
    return gpt1_document(entries, pairs, lower=is_lower(entries))


_SPECIAL = regex.compile(r"<\|\w+\|>|<\w+>")


def _pairs(merges_file: str, content: bytes) -> list[tuple[str, tuple[str, str]]]:
    """Return the place and the two tokens of each merge. Raises `FormatError`."""
    lines = split_lines(merges_file, content)
    first = 1
    if lines and lines[0].startswith("#version"):
        del lines[0]
        first = 2
    if lines and not lines[-1]:
        lines.pop()
    places = [f"line {number:,}" for number in range(first, first + len(lines))]
    return [
        (place, parse_pair(merges_file, place, line))
        for place, line in zip(places, lines, strict=True)
    ]


def _detect(files: Mapping[str, bytes]) -> bool:
    if len(files) == 1:
        is_opennmt = next(iter(files.values())).startswith(b"v3;")
        return has_suffix(files, ".bpe", "merges.txt") and not is_opennmt
    version = any(content.startswith(b"#version") for content in files.values())
    is_pair = has_suffix(files, ".json", ".vocab")
    return is_pair and (version or has_suffix(files, ".txt", ".bpe"))


FORMAT = Format(
    key="gpt2",
    title="GPT-2’s vocab.json and merges.txt",
    about="Two files, an id for each token and one merge a line, for merges over bytes with the "
    "pattern of GPT-2. Other entries are special tokens.",
    files=("vocab.json", "merges.txt"),
    other_files=(
        ("encoder.json", "vocab.bpe"),
        ("encoder_bpe_40000.json", "vocab_40000.bpe"),
    ),
    write=_write,
    read=_read,
    detect=_detect,
    settings=SETTINGS_FILES,
    assumed=_assumed,
    guesses_pattern=True,
)
