"""tiktoken's ranks: a line for each token, with its bytes in base64 and its rank, which is its id.

Such a file contains neither the pre-tokenization nor the special tokens; programs pass them to
tiktoken in code. So a second JSON file contains these arguments of `tiktoken.Encoding`:

    ranks = tiktoken.load.load_tiktoken_bpe("tokenizer.tiktoken")
    arguments = json.load(open("tokenizer.tiktoken.json", encoding="utf-8"))
    encoding = tiktoken.Encoding(mergeable_ranks=ranks, **arguments)
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

import regex

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import (
    HEAD,
    Format,
    FormatError,
    MissingPatternError,
    Source,
    UnsupportedError,
    printable_name,
)
from bpeviz.formats.merges import as_ranks, byte_merges_of, pattern_of_ranks, ranks_of
from bpeviz.formats.parsing import (
    Node,
    dump_json,
    error_at,
    parse_base64,
    parse_int,
    parse_json,
    quoted,
    split_lines,
)
from bpeviz.formats.rank_table import LoadedRanks
from bpeviz.formats.regex_dialects import pattern_in, pattern_of, translated
from bpeviz.formats.verification import EncodeBatch, check, encoder
from bpeviz.libraries.worker import TIKTOKEN
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.pretrained import catalog

_PUBLISHED = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": "gpt2",  # r50k_base
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": "gpt2",  # p50k_base
    catalog.ENTRIES["cl100k_base"].files[0].sha256: "cl100k_base",
    catalog.ENTRIES["o200k_base"].files[0].sha256: "o200k_base",
}
"""The entry of the catalog with the pattern and the special tokens of files, by SHA-256.

Source: `tiktoken_ext/openai_public.py`.
"""


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    if (table := as_ranks(tokenizer)) is not None:
        ranks = dict(table._ranks)
        pattern, expression = pattern_of_ranks(table)
    else:
        merges = byte_merges_of(tokenizer)
        ranks = ranks_of(merges)
        pattern, expression = merges.pre_tokenizer.pattern, merges.pre_tokenizer.expression
    written = translated(pattern, expression, "rust")
    special = dict(tokenizer.special_tokens)
    arguments = {"name": tokenizer.name, "pat_str": written, "special_tokens": special}
    return {
        "tokenizer.tiktoken": _lines(ranks),
        "tokenizer.tiktoken.json": dump_json(arguments),
    }


def _lines(ranks: Mapping[bytes, int]) -> bytes:
    lines = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(base64.b64encode(raw) + b" %d\n" % rank for raw, rank in lines)


def ranks_encoder(ranks: Mapping[bytes, int], pattern: str) -> EncodeBatch:
    """Return the function that encodes with tiktoken, by ranks and an expression for Rust."""
    content = {"lines": _lines(ranks).decode(), "pat_str": pattern}
    return encoder(TIKTOKEN, dump_json(content))


def _read(source: Source) -> Tokenizer:
    arguments_file, file = source.pair()
    if file is None:
        raise FormatError(f"Expected a .tiktoken file, not {source.listing()} alone.")
    ranks = _ranks(file, source.files[file])
    special: dict[str, int] = {}
    pattern, expression = source.pattern, source.expression
    if arguments_file is not None:
        arguments = parse_json(arguments_file, source.files[arguments_file])
        pattern, expression, special = _arguments(arguments, {*ranks.values()})
        if pattern == CUSTOM:
            written = arguments["pat_str"]
            try:
                ours = LoadedRanks(source.name, pattern, expression, ranks, {})
                check(ours, ranks_encoder(ranks, written.text()))
            except UnsupportedError as error:
                raise written.error(f"this pattern is not supported: {error}") from error
    else:
        published = catalog.entry_of(source.files[file])
        digest = hashlib.sha256(source.files[file]).hexdigest()
        if digest in _PUBLISHED:
            entry, expression = catalog.ENTRIES[_PUBLISHED[digest]], ""
            pattern, special = entry.key.removesuffix("_base"), dict(entry.special_tokens)
        elif published is not None and published.pattern:
            pattern, expression = pattern_of(published.pattern, "rust")
            special = dict(published.special_tokens)
    if not pattern:
        raise MissingPatternError(
            f"{printable_name(file)}: this format does not contain the pre-tokenization. Choose a "
            f"pattern, or add the file {FORMAT.files[1]}."
        )
    return LoadedRanks(source.name, pattern, expression, ranks, special)


def _arguments(arguments: Node, ranks: set[int]) -> tuple[str, str, dict[str, int]]:
    """Return the pattern, its expression and the special tokens. Raises `FormatError`."""
    _ = arguments["name"]
    pattern, expression = pattern_in(arguments["pat_str"], "rust")
    special: dict[str, int] = {}
    if "special_tokens" in arguments:
        special = arguments["special_tokens"].special_tokens()
    arguments.reject_unknown_keys()
    for name, token_id in special.items():
        if token_id in ranks:
            raise arguments["special_tokens"].entry_error(
                name, f"{token_id} is already the rank of a token"
            )
    return pattern, expression, special


def _ranks(file: str, content: bytes) -> dict[bytes, int]:
    """Return the rank of each token's bytes. Raises `FormatError`."""
    ranks: dict[bytes, int] = {}
    line_of: dict[int, int] = {}
    for number, line in enumerate(split_lines(file, content), 1):
        if not line:
            continue
        place = f"line {number:,}"
        parts = line.split(" ", 2)
        if len(parts) != 2:
            raise error_at(file, place, f"expected {_LINE}, not {quoted(line)}")
        if parts[0] in ("", "="):
            continue  # an empty token, as in Whisper's file, which no text contains
        raw = parse_base64(file, place, parts[0], _LINE)
        rank = parse_int(file, place, parts[1])
        if raw in ranks:
            raise error_at(file, place, f"the token {quoted(raw)} occurs twice")
        if rank in line_of:
            raise error_at(file, place, f"line {line_of[rank]:,} already has the rank {rank}")
        ranks[raw] = rank
        line_of[rank] = number
    for byte in range(256):
        rank_of_byte = ranks.get(bytes([byte]))
        if rank_of_byte is None:
            raise error_at(file, "", f"the byte 0x{byte:02X} is missing")
        if rank_of_byte > 255:
            raise error_at(
                file,
                f"line {line_of[rank_of_byte]:,}",
                f"the byte 0x{byte:02X} has the rank {rank_of_byte}; expected 0 to 255",
            )
    return ranks


def _detect(files: Mapping[str, bytes]) -> bool:
    heads = (content[:HEAD] for content in files.values())
    return len(files) <= 2 and any(map(_FIRST_LINES.match, heads))


_LINE = "base64, a space and a rank"
_BASE64 = r"(?=\S)(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}[A-Za-z0-9+/=]=)?+"
_FIRST_LINES = regex.compile(rf"(?:{_BASE64} [0-9]++\r?\n){{2}}".encode())


FORMAT = Format(
    key="tiktoken",
    title="tiktoken’s ranks",
    about="A line for each token, with its bytes in base64 and its rank. A second file contains "
    "the pattern and the special tokens, which programs pass to tiktoken in code.",
    files=("tokenizer.tiktoken", "tokenizer.tiktoken.json"),
    suffixes=(".tiktoken",),
    write=_write,
    read=_read,
    detect=_detect,
)
