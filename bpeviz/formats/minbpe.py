"""minbpe's .model: the pattern as a regular expression, special tokens, and one pair of ids a line.

Source: `Tokenizer.save` in karpathy/minbpe, `minbpe/base.py`. The lines are:

- `minbpe v1`
- the pattern, empty in its BasicTokenizer, which has no pre-tokenization
- the number of special tokens, and `name id` for each
- `left right` for each merge

Bytes have the ids 0 to 255, and merges the ids from 256 on. minbpe's `load` does not use the
pattern of the file: encoding follows the pattern with which the tokenizer was made, by default
GPT-4's. So a program passes it before.
"""

from __future__ import annotations

from collections.abc import Mapping

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, Source, UnsupportedError
from bpeviz.formats.merges import BYTE_SYMBOLS, MergeParser, Merges, byte_merges_of, tokenizer_of
from bpeviz.formats.parsing import (
    checked_text,
    encoded,
    error_at,
    parse_int,
    quoted,
    split_lines,
)
from bpeviz.formats.regex_dialects import (
    DialectError,
    covers,
    expression_of,
    has_groups,
    pattern_of,
)
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.pretokenizers.pretokenizer import PreTokenizer

_FIRST_LINE = "minbpe v1"


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    merges = byte_merges_of(tokenizer)
    if merges.symbols != BYTE_SYMBOLS:
        raise UnsupportedError("its single bytes have other ids than 0 to 255 in order")
    for expected, (_, _, new) in enumerate(merges.merges, 256):
        if new != expected:
            raise UnsupportedError(f"a merge makes the id {new}, and minbpe’s makes {expected}")
    merges.check_sizes()
    pattern, expression = merges.pre_tokenizer.pattern, merges.pre_tokenizer.expression
    if pattern == CUSTOM and expression != expression.strip():
        expression = f"(?:{expression})"  # minbpe strips the line
    try:
        written = "" if pattern == "none" else expression_of(pattern, expression, "regex")
        if has_groups(written):
            raise DialectError("minbpe would take its groups in (…) for the pre-tokens")
    except DialectError as error:
        raise UnsupportedError(f"its pre-tokenization cannot be translated: {error}") from error
    for name in merges.special:
        if name.split() != [name]:
            raise UnsupportedError(
                f"its special token {quoted(name)} contains white space, which separates name and "
                "id in this format"
            )
    lines = [_FIRST_LINE, written, str(len(merges.special))]
    lines += (f"{name} {token_id}" for name, token_id in merges.special.items())
    lines += (f"{left} {right}" for left, right, _ in merges.merges)
    return {"tokenizer.model": encoded("".join(f"{line}\n" for line in lines))}


def _read(source: Source) -> Tokenizer:
    file, content = source.single()
    lines = split_lines(file, content)
    if len(lines) < 3 or lines[0].strip() != _FIRST_LINE:
        three = f"“{_FIRST_LINE}”, the pattern, and the number of special tokens"
        raise error_at(file, "line 1", f"expected three lines first: {three}")
    try:
        written = lines[1].strip()
        pattern = pattern_of(written, "regex") if written else ("none", "")
        if pattern[0] == CUSTOM and written == pattern[1] and not covers(written):
            raise DialectError("it may leave out a part of a text, which minbpe drops")
        if has_groups(written):
            raise DialectError("it has groups in (…), which minbpe takes for the pre-tokens")
    except DialectError as error:
        raise error_at(file, "line 2", f"this pattern is not supported: {error}") from None
    count = parse_int(file, "line 3", lines[2].strip())
    if len(lines) < 3 + count:
        raise error_at(file, "line 3", f"fewer than {count} special tokens follow")
    special: dict[str, int] = {}
    for number, line in enumerate(lines[3 : 3 + count], 4):
        place = f"line {number:,}"
        name, token_id = _two(file, place, line, "a name and an id")
        if name in special:
            raise error_at(file, place, f"the special token {quoted(name)} occurs twice")
        special[checked_text(file, place, name)] = parse_int(file, place, token_id)
    parser = MergeParser(file, BYTE_SYMBOLS, special.values())
    for number, line in enumerate(lines[3 + count :], 4 + count):
        place = f"line {number:,}"
        left, right = (parse_int(file, place, i) for i in _two(file, place, line, "two ids"))
        parser.add(place, left, right, 256 + len(parser.merges))
    merges = Merges(PreTokenizer("bytes", *pattern), BYTE_SYMBOLS, parser.merges, special)
    return tokenizer_of(source.name, merges)


def _two(file: str, place: str, line: str, what: str) -> list[str]:
    parts = line.split(None, 2)
    if len(parts) != 2:
        raise error_at(file, place, f"expected {what}, not {quoted(line)}")
    return parts


def _detect(files: Mapping[str, bytes]) -> bool:
    content = next(iter(files.values()))
    return content.lstrip().startswith(_FIRST_LINE.encode())


FORMAT = Format(
    key="minbpe",
    title="minbpe’s .model",
    about="One file with the pattern, the special tokens and one pair of ids a line, for merges "
    "over bytes with the ids 0 to 255. minbpe encodes with the pattern that its tokenizer is made "
    "with, whatever the file contains, so load it with these lines:",
    files=("tokenizer.model",),
    suffixes=(".model",),
    write=_write,
    read=_read,
    detect=_detect,
    example="""\
pattern = open("tokenizer.model", encoding="utf-8").read().split("\\n")[1]
tokenizer = RegexTokenizer(pattern) if pattern else BasicTokenizer()
tokenizer.load("tokenizer.model")
""",
)
