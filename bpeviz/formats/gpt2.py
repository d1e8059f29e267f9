"""GPT-2's two files: vocab.json with an id for each token, and merges.txt with one merge a line.

OpenAI names them encoder.json and vocab.bpe. They contain neither the pre-tokenization, which is
GPT-2's, nor which entries are special tokens: those that are neither a byte nor merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import regex

from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import (
    Format,
    MissingFileError,
    Source,
    UnsupportedError,
    has_suffix,
)
from bpeviz.formats.byte_alphabet import byte_symbols
from bpeviz.formats.codes import clip_document, gpt1_document
from bpeviz.formats.library import read_tokenizer_json
from bpeviz.formats.merges import (
    MergeParser,
    Merges,
    byte_merges_of,
    pattern_of_ranks,
    tokenizer_of,
)
from bpeviz.formats.parsing import dump_json, encoded, error_at, parse_json, quoted, split_lines
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, PreTokenizer
from bpeviz.pretrained.rank_tokenizer import RankTokenizer

_OTHER_PATTERN = "its pre-tokenization is not GPT-2’s, which readers of these files assume"


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    if isinstance(tokenizer, RankTokenizer) and pattern_of_ranks(tokenizer)[0] != "gpt2":
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
        document = _with_end_marks(vocab, entries, [pair for _, pair in pairs])
        return read_tokenizer_json(source.name, vocab, dump_json(document))
    symbols = byte_symbols(vocabulary, entries)
    parser = MergeParser(merges_file, entries, symbols)
    for place, pair in pairs:
        parser.add(place, *pair)
    special = {entry: i for entry, i in entries.items() if i not in parser.known}
    if "" in special:
        raise vocabulary.entry_error("", "a token is empty")
    return tokenizer_of(
        source.name, Merges(PreTokenizer("bytes", "gpt2"), symbols, parser.merges, special)
    )


def _with_end_marks(
    vocab: str, entries: Mapping[str, int], pairs: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Return the tokenizer.json of CLIP over bytes, or of GPT-1. Raises `FormatError`."""
    if all(character in entries for character in CHARACTER_OF.values()):
        special = {name: entries[name] for name in entries if _SPECIAL.fullmatch(name)}
        return clip_document(entries, pairs, special)
    if "<unk>" not in entries or "<s>" in entries:
        raise error_at(
            vocab,
            "",
            "this vocabulary has end-of-word marks over characters, but is not GPT-1’s, so its "
            "pre-tokenization is not known. Its tokenizer.json would contain it",
        )
    return gpt1_document(entries, pairs)


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
    found = []
    for number, line in enumerate(lines, first):
        pair = line.split(" ", 2)
        if len(pair) != 2 or not all(pair):
            raise error_at(
                merges_file,
                f"line {number:,}",
                f"expected two tokens with one space between them, not {quoted(line)}",
            )
        found.append((f"line {number:,}", (pair[0], pair[1])))
    return found


def _detect(files: Mapping[str, bytes]) -> bool:
    if len(files) == 1:
        return has_suffix(files, ".bpe", "merges.txt")
    version = any(content.startswith(b"#version") for content in files.values())
    return has_suffix(files, ".json") and (version or has_suffix(files, ".txt", ".bpe"))


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
)
