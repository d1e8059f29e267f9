"""minbpe's .model: the split as a regular expression, special tokens, and one pair a line.

Source: `Tokenizer.save` in karpathy/minbpe, `minbpe/base.py`: the line `minbpe v1`, the pattern
(empty in its BasicTokenizer, which splits nothing), how many special tokens there are, a line
`name id` for each, then the merges, each as the ids `left right`. Bytes are the ids 0 to 255 in
their order, and the merges make the ids from 256 on.
"""

from __future__ import annotations

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.merges import CannotError, Merges, built, merges_of
from bpeviz.formats.parsing import (
    Format,
    FormatError,
    checked_text,
    lines_of,
    number,
    shown,
    shown_name,
    wrong,
)
from bpeviz.formats.regex_dialects import ForeignExpressionError, matching_all, splitting_of
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.pretokenizers.pretokenizer import PreTokenizer

FORMAT = Format(
    "minbpe",
    "minbpe’s .model",
    "One file with the split, the special tokens and one pair of ids a line, for merges over bytes "
    "whose ids are 0 to 255 in the order of the bytes.",
    ("tokenizer.model",),
)

FIRST_LINE = "minbpe v1"


def write(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the file. Raises `CannotError`."""
    merges = merges_of(tokenizer)
    if merges.pre_tokenizer.atoms != "bytes":
        raise CannotError("its atoms are characters, and there they are bytes")
    for token_id, symbol in sorted(merges.symbols.items()):
        if token_id != ord(symbol):
            raise CannotError(
                f"its byte 0x{ord(symbol):02X} has the id {token_id}, and there the bytes are the "
                "ids 0 to 255 in their order"
            )
    for expected, (_, _, new) in enumerate(merges.merges, 256):
        if new != expected:
            raise CannotError(
                f"a merge makes the id {new}, and there the merges make 256 and following"
            )
    _ = merges.sizes
    expression = merges.pre_tokenizer.expression
    if merges.pre_tokenizer.pattern == CUSTOM and expression != expression.strip():
        expression = f"(?:{expression})"  # for minbpe strips the line
    try:
        pattern = ""
        if merges.pre_tokenizer.pattern != "none":
            pattern = matching_all(merges.pre_tokenizer.pattern, expression, "regex")
    except ForeignExpressionError as error:
        raise CannotError(f"its split cannot be written for minbpe: {error}") from error
    for name in merges.special:
        if name.split() != [name]:
            raise CannotError(
                f"its special token {shown(name)} holds white space, which parts name and id there"
            )
    lines = [FIRST_LINE, pattern, str(len(merges.special))]
    lines += (f"{name} {token_id}" for name, token_id in merges.special.items())
    lines += (f"{left} {right}" for left, right, _ in merges.merges)
    try:
        return {"tokenizer.model": "".join(f"{line}\n" for line in lines).encode()}
    except UnicodeEncodeError:
        raise CannotError("a name in it is half a surrogate pair") from None


def read(name: str, files: dict[str, bytes]) -> Tokenizer:
    """Return the tokenizer of the file. Raises `FormatError` and `CannotError`."""
    if len(files) != 1:
        raise FormatError("One file is needed, a .model of minbpe’s.")
    ((file, content),) = files.items()
    if content[: len(FIRST_LINE)] != FIRST_LINE.encode():
        raise FormatError(
            f"{shown_name(file)} does not begin with the line “{FIRST_LINE}”, as minbpe’s .model "
            "does; SentencePiece’s .model is another format, which is not read."
        )
    lines = lines_of(file, content)
    if len(lines) < 3 or lines[0].strip() != FIRST_LINE:
        raise FormatError(
            f"{shown_name(file)} must begin with three lines: “{FIRST_LINE}”, the pattern, and how "
            "many special tokens there are."
        )
    try:
        pattern = lines[1].strip()
        split = splitting_of(pattern, "regex", drops=True) if pattern else ("none", "")
    except ForeignExpressionError as error:
        raise wrong(file, "line 2", f"this split is not read here as in minbpe: {error}") from None
    count = number(file, "line 3", lines[2].strip())
    if len(lines) < 3 + count:
        raise wrong(file, "line 3", f"{count} special tokens are announced, and fewer lines follow")
    special: dict[str, int] = {}
    for place, line in enumerate(lines[3 : 3 + count], 4):
        where = f"line {place:,}"
        parts = line.split(None, 2)
        if len(parts) != 2:
            raise wrong(file, where, f"expected a name and an id, not {shown(line)}")
        if parts[0] in special:
            raise wrong(file, where, f"the special token {shown(parts[0])} comes twice")
        special[checked_text(file, where, parts[0])] = number(file, where, parts[1])
    merges: list[tuple[int, int, int]] = []
    pairs: set[tuple[int, int]] = set()
    for place, line in enumerate(lines[3 + count :], 4 + count):
        where = f"line {place:,}"
        parts = line.split(None, 2)
        if len(parts) != 2:
            raise wrong(file, where, f"expected two ids, not {shown(line)}")
        new = 256 + len(merges)
        left, right = (number(file, where, part) for part in parts)
        if max(left, right) >= new:
            raise wrong(
                file, where, f"the id {max(left, right)} is not there yet: this merge makes {new}"
            )
        if (left, right) in pairs:
            raise wrong(file, where, f"the pair {left} {right} is merged already")
        pairs.add((left, right))
        merges.append((left, right, new))
    symbols = {byte: chr(byte) for byte in range(256)}
    return built(name, Merges(PreTokenizer("bytes", *split), symbols, merges, special))
