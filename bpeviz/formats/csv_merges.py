"""Plain merges as CSV: one merge a line, with the ids of its halves, its own, and its count.

The first line is a comment, `# bpeviz` and JSON, with what else belongs to a tokenizer: the split,
the atoms, special tokens. So it holds every tokenizer that merges pairs in order, over bytes or
characters. Without that line, `left` and `right` are enough: bytes are the ids 0 to 255, and the
merges make the ids from 256 on; but the split must then be said.
"""

from __future__ import annotations

import json
from typing import Any, get_args

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.merges import CannotError, Merges, built, merges_of
from bpeviz.formats.parsing import (
    Format,
    FormatError,
    Keys,
    checked_id,
    checked_text,
    json_of,
    kind,
    lines_of,
    listed,
    number,
    shown,
    shown_name,
    vocabulary,
    wrong,
)
from bpeviz.formats.regex_dialects import ForeignExpressionError, checked
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST, SplitError, pretokenize
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, UNKNOWN, Atoms, EndMark, PreTokenizer
from bpeviz.trainers.sentencepiece_bpe import SentencePiecePreTokenizer

FORMAT = Format(
    "csv",
    "Merges as CSV",
    "One merge a line, as ids; the first line, a comment, says the split, the atoms and the "
    "special tokens.",
    ("merges.csv",),
)

MARK = "# bpeviz "
COLUMNS = ("left", "right", "new_id", "count")
_BYTES = {byte: chr(byte) for byte in range(256)}


def write(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the file. Raises `CannotError`."""
    merges = merges_of(tokenizer)
    pre_tokenizer = merges.pre_tokenizer
    if isinstance(pre_tokenizer, SentencePiecePreTokenizer):
        raise CannotError(
            "its ▁ for spaces, and its bytes for what is unknown, have no place there"
        )
    _ = merges.sizes
    about: dict[str, Any] = {"atoms": pre_tokenizer.atoms, "pattern": pre_tokenizer.pattern}
    if pre_tokenizer.expression:
        about["expression"] = pre_tokenizer.expression
    if pre_tokenizer.end_mark != "none":
        about["end_mark"] = pre_tokenizer.end_mark
    if dict(merges.symbols) != _BYTES or pre_tokenizer.atoms != "bytes":
        about["alphabet"] = [
            [i, ord(symbol) if pre_tokenizer.atoms == "bytes" else symbol]
            for i, symbol in sorted(merges.symbols.items())
        ]
    if merges.special:
        about["special"] = dict(merges.special)
    try:
        "".join(merges.special).encode()
    except UnicodeEncodeError:
        raise CannotError("a name in it is half a surrogate pair") from None
    counts = merges.counts or [0] * len(merges.merges)
    lines = [MARK + json.dumps(about), ",".join(COLUMNS)]
    lines += (
        f"{left},{right},{new},{count}"
        for (left, right, new), count in zip(merges.merges, counts, strict=True)
    )
    return {"merges.csv": "".join(f"{line}\n" for line in lines).encode()}


def read(name: str, files: dict[str, bytes], pattern: str, expression: str) -> Tokenizer:
    """Return the tokenizer of the file. Raises `FormatError` and `CannotError`.

    pattern, expression: the split, where the file does not say it; pattern may be "".
    """
    if len(files) != 1:
        raise FormatError("One file is needed, merges as CSV.")
    ((file, content),) = files.items()
    lines = lines_of(file, content)
    first = 1
    if lines and lines[0].startswith(MARK):
        place = f"{file}, line 1"
        about = json_of(place, lines[0].removeprefix(MARK).encode())
        pre_tokenizer, symbols, special = _about(place, Keys.of(place, "", about))
        first = 2
    elif pattern:
        pre_tokenizer, symbols, special = PreTokenizer("bytes", pattern, expression), _BYTES, {}
    else:
        raise FormatError(
            f"{shown_name(file)} does not say how a text is split; choose a split for it."
        )
    names = lines[first - 1] if len(lines) >= first else ""
    header = [one.strip() for one in names.split(",", len(COLUMNS))]
    for column in header:
        if column not in COLUMNS or header.count(column) > 1:
            raise wrong(
                file,
                f"line {first}",
                f"expected the columns {','.join(COLUMNS)}, not {shown(column)}",
            )
    if not {"left", "right"} <= {*header}:
        raise wrong(file, f"line {first}", "expected a line of names, left and right among them")
    merges, counts = _rows(file, lines[first:], first + 1, header, {*symbols}, {*special.values()})
    return built(name, Merges(pre_tokenizer, symbols, merges, special, counts))


def _rows(
    file: str,
    lines: list[str],
    first: int,
    header: list[str],
    atoms: set[int],
    special: set[int],
) -> tuple[list[tuple[int, int, int]], list[int]]:
    merges: list[tuple[int, int, int]] = []
    counts: list[int] = []
    pairs: set[tuple[int, int]] = set()
    there = {*atoms}
    following = max(there | special, default=-1) + 1
    for place, line in enumerate(lines, first):
        where = f"line {place:,}"
        fields = line.split(",", len(header))
        if len(fields) != len(header):
            raise wrong(file, where, f"expected {len(header)} numbers, not {shown(line)}")
        row = {
            column: number(file, where, field.strip(), 0, 2**62 if column == "count" else 10**7)
            for column, field in zip(header, fields, strict=True)
        }
        left, right, new = row["left"], row["right"], row.get("new_id", following)
        for half in (left, right):
            if half in special:
                raise wrong(file, where, f"the id {half} is a special token's, which never merges")
            if half not in there:
                raise wrong(file, where, f"the id {half} is not there yet")
        if new in there or new in special:
            raise wrong(file, where, f"the id {new} is there already")
        if (left, right) in pairs:
            raise wrong(file, where, f"the pair {left},{right} is merged already")
        pairs.add((left, right))
        there.add(new)
        following = max(following, new) + 1
        merges.append((left, right, new))
        counts.append(row.get("count", 0))
    return merges, counts


def _about(file: str, keys: Keys) -> tuple[PreTokenizer, dict[int, str], dict[str, int]]:
    atoms = keys.expect("atoms", *get_args(Atoms))
    end_mark: EndMark = keys.expect("end_mark", None, *get_args(EndMark)) or "none"
    pattern = keys.expect("pattern", *PATTERNS, CUSTOM, WORD_LIST)
    expression = keys.text("expression") if "expression" in keys.values else ""
    if pattern == CUSTOM:
        try:
            checked(expression)
        except ForeignExpressionError as error:
            raise keys.wrong("expression", str(error)) from None
    elif pattern == WORD_LIST:
        try:
            pretokenize("", pattern, expression)
        except SplitError as error:
            raise keys.wrong("expression", str(error).rstrip(".")) from None
    if end_mark != "none" and atoms != "characters":
        raise keys.wrong("end_mark", "an end-of-word mark needs characters as atoms")
    symbols = dict(_BYTES)
    if atoms == "characters" or "alphabet" in keys.values:
        symbols = _alphabet(file, keys, atoms, end_mark)
    special: dict[str, int] = {}
    if "special" in keys.values:
        special = vocabulary(file, keys.at("special"), keys.get("special"))
    keys.done()
    if "" in special:
        raise keys.wrong("special", "a special token has one character or more")
    if atoms == "characters" and UNKNOWN not in special:
        raise keys.wrong("special", f"over characters, {UNKNOWN} must have an id there")
    for name, token_id in special.items():
        if token_id in symbols:
            raise keys.wrong("special", f"the id {token_id} of {shown(name)} is that of an atom")
    return PreTokenizer(atoms, pattern, expression, end_mark), symbols, special


def _alphabet(file: str, keys: Keys, atoms: Atoms, end_mark: EndMark) -> dict[int, str]:
    symbols: dict[int, str] = {}
    path = keys.at("alphabet")
    for place, entry in enumerate(keys.listed("alphabet")):
        where = f"{path}[{place}]"
        pair = listed(file, where, entry)
        if len(pair) != 2:
            raise wrong(file, where, "expected an id and an atom")
        token_id = checked_id(file, where, pair[0])
        symbol = pair[1]
        if atoms == "bytes":
            if type(symbol) is not int or not 0 <= symbol <= 255:
                raise wrong(file, where, f"expected a byte, 0 to 255, not {kind(symbol)}")
            symbol = chr(symbol)
        else:
            if not isinstance(symbol, str):
                raise wrong(file, where, f"expected a character, not {kind(symbol)}")
            checked_text(file, where, symbol)
            bare = symbol.removesuffix(END_OF_WORD) if end_mark == "attached" else symbol
            mark = end_mark == "symbol" and symbol == END_OF_WORD
            if len(bare) != 1 and not mark:
                raise wrong(file, where, f"expected one character, not {shown(symbol)}")
        if token_id in symbols:
            raise wrong(file, where, f"the id {token_id} comes twice")
        symbols[token_id] = symbol
    if len({*symbols.values()}) < len(symbols):
        raise keys.wrong("alphabet", "an atom comes twice")
    if atoms == "bytes" and len(symbols) < 256:
        raise keys.wrong("alphabet", f"there are only {len(symbols)} of the 256 bytes")
    if end_mark == "symbol" and END_OF_WORD not in symbols.values():
        raise keys.wrong("alphabet", f"the end-of-word mark {END_OF_WORD} is not in it")
    return symbols


__all__ = ["FORMAT", "read", "write"]
