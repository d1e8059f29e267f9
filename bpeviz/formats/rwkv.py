"""The vocabulary of RWKV's “World” models: a line for each token, with id, literal and length.

The literal is a text or bytes in Python's notation. Encoding takes the longest token at each place.

Source: `rwkv_tokenizer.py` of the package `rwkv`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import regex

from bpeviz.core.greedy_tokenizer import GreedyTokenizer
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import HEAD, Format, Source
from bpeviz.formats.parsing import (
    MAX_SPELLED,
    checked_text,
    error_at,
    parse_int,
    quoted,
    split_lines,
)

_LINE = regex.compile(
    r"(?<id>[0-9]+) (?<token>b?(?:'(?:[^'\\]|\\.)+'|\"(?:[^\"\\]|\\.)+\")) (?<length>[0-9]+)"
)


_MOST_TOKENS = 200_000
_LONGEST_LINE = 10_000


def _read(source: Source) -> Tokenizer:
    file, content = source.single()
    ids: dict[bytes, int] = {}
    seen: set[int] = set()
    total = 0
    lines = split_lines(file, content)
    if len(lines) > _MOST_TOKENS:
        raise error_at(file, "", f"{len(lines):,} tokens exceed the limit of {_MOST_TOKENS:,}")
    for number, line in enumerate(lines, 1):
        place = f"line {number:,}"
        if len(line) > _LONGEST_LINE:
            raise error_at(file, place, f"{len(line):,} characters are too many")
        match = _LINE.fullmatch(line)
        if match is None:
            raise error_at(
                file, place, f"expected id, token in quotation marks, length, not {quoted(line)}"
            )
        raw = _bytes_of(file, place, match["token"])
        token_id = parse_int(file, place, match["id"])
        if len(raw) != parse_int(file, place, match["length"]):
            raise error_at(file, place, f"the token has {len(raw):,} bytes")
        if raw in ids or token_id in seen:
            raise error_at(file, place, f"the token {quoted(raw)} or its id occurs twice")
        ids[raw] = token_id
        seen.add(token_id)
        total += len(raw)
        if total > MAX_SPELLED:
            raise error_at(file, place, f"the tokens exceed the limit of {MAX_SPELLED:,} bytes")
    return greedy_tokenizer(source.name, file, ids, {})


def _bytes_of(file: str, place: str, literal: str) -> bytes:
    try:
        value: str | bytes = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        raise error_at(file, place, f"{quoted(literal)} is not a literal of Python") from None
    return value if isinstance(value, bytes) else checked_text(file, place, value).encode()


def greedy_tokenizer(
    name: str, file: str, ids: Mapping[bytes, int], special: Mapping[str, int]
) -> GreedyTokenizer:
    """Return the tokenizer of a vocabulary. Raises `FormatError` if a byte is missing."""
    for byte in range(256):
        if bytes([byte]) not in ids:
            raise error_at(file, "", f"the byte 0x{byte:02X} is missing")
    return GreedyTokenizer(name, ids, special)


def unescaped(token: str) -> bytes:
    r"""Return the bytes of a token that a GGUF file escapes.

    >>> unescaped(r"a\n\xff\\")
    b'a\n\xff\\'
    """
    return bytes(_ESCAPE.sub(_character, token.encode()))


_ESCAPE = regex.compile(rb"\\(?:x([0-9a-f]{2})|(.))", regex.DOTALL)
_LETTERS = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def _character(match: regex.Match[bytes]) -> bytes:
    if match[1]:
        return bytes.fromhex(match[1].decode())
    escaped: bytes = match[2]
    return _LETTERS.get(escaped, escaped)


def _detect(files: Mapping[str, bytes]) -> bool:
    return len(files) == 1 and _FIRST_LINES.match(next(iter(files.values()))[:HEAD]) is not None


_FIRST_LINES = regex.compile(rb"(?:[0-9]+ b?['\"][^\n]*['\"] [0-9]+\r?\n){2}")

FORMAT = Format(
    key="rwkv",
    title="RWKV’s vocabulary",
    about="A line for each token, with its id, the token in Python’s notation and its length.",
    files=("rwkv_vocab_v20230424.txt",),
    read=_read,
    detect=_detect,
)
