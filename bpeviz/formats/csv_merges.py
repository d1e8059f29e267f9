r"""Merges as CSV: one merge a line, with the ids of its halves, its new id, and its count.

The first line is a comment, `# bpeviz` and JSON, with the pattern, the atoms and the special
tokens. So the file can hold every tokenizer that applies merges in order, over bytes or characters.

A spreadsheet shows the numbers. It splits the first line at commas, and takes a cell that begins
with a sign such as `=` for a formula. So a comma before such a sign is written as `\u002c`, which
JSON reads as the same comma.

Without that line, the columns `left` and `right` suffice: bytes have the ids 0 to 255, and merges
the ids from 256 on. The pattern must then be chosen in reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import (
    Format,
    MissingPatternError,
    Source,
    UnsupportedError,
    has_suffix,
    printable_name,
)
from bpeviz.formats.merges import BYTE_SYMBOLS, MergeParser, Merges, merges_of, tokenizer_of
from bpeviz.formats.parsing import (
    Node,
    checked_text,
    describe,
    encoded,
    error_at,
    parse_int,
    parse_json,
    quoted,
    split_lines,
)
from bpeviz.formats.regex_dialects import DialectError, check_expression
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST, SplitError, pretokenize
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, UNKNOWN, Atoms, EndMark, PreTokenizer

_MARK = "# bpeviz "
_FORMULA = re.compile("[,;](?=[=+@-])")
"""A separator of cells and the sign of a formula. JSON has a space after its own commas."""

_COLUMNS = ("left", "right", "new_id", "count")
_MAX_NUMBER = {"left": 10**7, "right": 10**7, "new_id": 10**7, "count": 2**62}


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    merges = merges_of(tokenizer)
    pre_tokenizer = merges.pre_tokenizer
    if pre_tokenizer.marks_spaces:
        raise UnsupportedError("this format has neither ▁ for spaces nor byte fallback")
    merges.check_sizes()
    over_bytes = pre_tokenizer.atoms == "bytes"
    about: dict[str, Any] = {"atoms": pre_tokenizer.atoms, "pattern": pre_tokenizer.pattern}
    if pre_tokenizer.expression:
        about["expression"] = pre_tokenizer.expression
    if pre_tokenizer.end_mark != "none":
        about["end_mark"] = pre_tokenizer.end_mark
    if not over_bytes or merges.symbols != BYTE_SYMBOLS:
        about["alphabet"] = [
            [i, ord(symbol) if over_bytes else symbol]
            for i, symbol in sorted(merges.symbols.items())
        ]
    if merges.special:
        about["special"] = dict(merges.special)
    encoded("".join(merges.special))
    counts = merges.counts or [0] * len(merges.merges)
    first = _FORMULA.sub(lambda comma: f"\\u{ord(comma[0]):04x}", json.dumps(about))
    lines = [_MARK + first, ",".join(_COLUMNS)]
    lines += (
        f"{left},{right},{new},{count}"
        for (left, right, new), count in zip(merges.merges, counts, strict=True)
    )
    return {"merges.csv": "".join(f"{line}\n" for line in lines).encode()}


def _read(source: Source) -> Tokenizer:
    file, content = source.single()
    lines = split_lines(file, content)
    first = 1
    if lines and lines[0].startswith(_MARK):
        about = parse_json(file, lines[0].removeprefix(_MARK).encode(), "line 1")
        pre_tokenizer, symbols, special = _parse_about(about)
        first = 2
    else:
        pre_tokenizer = PreTokenizer("bytes", source.pattern or "none", source.expression)
        symbols, special = BYTE_SYMBOLS, {}
    header = [name.strip() for name in "".join(lines[first - 1 : first]).split(",", len(_COLUMNS))]
    if not {"left", "right"} <= {*header} <= {*_COLUMNS} or len({*header}) < len(header):
        expected = f"expected the columns {','.join(_COLUMNS)}, or left and right"
        raise error_at(file, f"line {first}", f"{expected}, not {quoted(','.join(header))}")
    parser = MergeParser(file, symbols, special.values())
    counts = []
    next_id = max((*symbols, *special.values()), default=-1) + 1
    for place, row in _rows(file, lines[first:], first + 1, header):
        parser.add(place, row["left"], row["right"], row.get("new_id", next_id))
        next_id = max(next_id, parser.merges[-1][2]) + 1
        counts.append(row.get("count", 0))
    if first == 1 and not source.pattern:
        raise MissingPatternError(
            f"{printable_name(file)}: the file does not contain the pre-tokenization; choose a "
            "pattern."
        )
    return tokenizer_of(source.name, Merges(pre_tokenizer, symbols, parser.merges, special, counts))


def _rows(
    file: str, lines: Sequence[str], first: int, header: Sequence[str]
) -> Iterable[tuple[str, dict[str, int]]]:
    """Yield the place and the numbers by column of each line. Raises `FormatError`."""
    for number, line in enumerate(lines, first):
        place = f"line {number:,}"
        fields = line.split(",", len(header))
        if len(fields) != len(header):
            raise error_at(file, place, f"expected {len(header)} numbers, not {quoted(line)}")
        yield (
            place,
            {
                column: parse_int(file, place, field.strip(), 0, _MAX_NUMBER[column])
                for column, field in zip(header, fields, strict=True)
            },
        )


def _parse_about(about: Node) -> tuple[PreTokenizer, dict[int, str], dict[str, int]]:
    """Return pre-tokenizer, symbols by id, and special tokens. Raises `FormatError`."""
    atoms: Atoms = about["atoms"].expect(*get_args(Atoms))
    end_mark: EndMark = about["end_mark"].expect(None, *get_args(EndMark)) or "none"
    pattern = about["pattern"].expect(*PATTERNS, CUSTOM, WORD_LIST)
    expression = about["expression"].text() if "expression" in about else ""
    try:
        if pattern == CUSTOM:
            check_expression(expression)
        elif pattern == WORD_LIST:
            pretokenize("", pattern, expression)
    except (DialectError, SplitError) as error:
        raise about["expression"].error(str(error).rstrip(".")) from None
    if end_mark != "none" and atoms != "characters":
        raise about["end_mark"].error("an end-of-word mark needs characters as atoms")
    symbols = BYTE_SYMBOLS
    if atoms == "characters" or "alphabet" in about:
        symbols = _alphabet(about["alphabet"], atoms, end_mark)
    special = about["special"].special_tokens() if "special" in about else {}
    about.reject_unknown_keys()
    if atoms == "characters" and UNKNOWN not in special:
        raise about["special"].error(f"over characters, {UNKNOWN} needs an id")
    for name, token_id in special.items():
        if token_id in symbols:
            raise about["special"].entry_error(name, f"the id {token_id} is that of an atom")
    return PreTokenizer(atoms, pattern, expression, end_mark), symbols, special


def _alphabet(alphabet: Node, atoms: Atoms, end_mark: EndMark) -> dict[int, str]:
    """Return the symbol of each atom by id. Raises `FormatError`."""
    symbols: dict[int, str] = {}
    for entry in alphabet.nodes():
        if len(entry.list()) != 2:
            raise entry.error("expected an id and an atom")
        id_, atom = entry.nodes()
        token_id, symbol = id_.id(), atom.value
        if atoms == "bytes":
            if type(symbol) is not int or not 0 <= symbol <= 255:
                raise entry.error(f"expected a byte, 0 to 255, not {describe(symbol)}")
            symbol = chr(symbol)
        else:
            if not isinstance(symbol, str):
                raise entry.error(f"expected a character, not {describe(symbol)}")
            checked_text(entry.file, entry.path, symbol)
            bare = symbol.removesuffix(END_OF_WORD) if end_mark == "attached" else symbol
            if len(bare) != 1 and not (end_mark == "symbol" and symbol == END_OF_WORD):
                raise entry.error(f"expected one character, not {quoted(symbol)}")
        if token_id in symbols:
            raise entry.error(f"the id {token_id} occurs twice")
        symbols[token_id] = symbol
    if len({*symbols.values()}) < len(symbols):
        raise alphabet.error("an atom occurs twice")
    if atoms == "bytes" and len(symbols) < 256:
        raise alphabet.error(f"{256 - len(symbols)} of the 256 bytes are missing")
    if end_mark == "symbol" and END_OF_WORD not in symbols.values():
        raise alphabet.error(f"the end-of-word mark {END_OF_WORD} is missing")
    return symbols


def _detect(files: Mapping[str, bytes]) -> bool:
    start = next(iter(files.values()))[:40].lstrip(b"\xef\xbb\xbf \t\r\n")
    return has_suffix(files, ".csv") or start.startswith((_MARK.strip().encode(), b"left,right"))


FORMAT = Format(
    key="csv",
    title="Merges as CSV",
    about="One merge a line, as ids. A comment in the first line contains the pattern, the atoms "
    "and the special tokens.",
    files=("merges.csv",),
    suffixes=(".csv",),
    write=_write,
    read=_read,
    detect=_detect,
)
