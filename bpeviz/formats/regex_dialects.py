r"""Pre-tokenization patterns as regular expressions of three engines.

The patterns are written for the `regex` package. Hugging Face's tokenizers use Oniguruma (with
Ruby's syntax), and tiktoken uses Rust's `fancy-regex`. The dialects differ: in Oniguruma, `a{1,3}+`
is a repeat of a repeat and not possessive, `$` matches at every line end, `(?s:.)` is an error, and
² is a `\w`. So the named patterns are rewritten where they use these constructs.

Nothing else of a user's own expression is rewritten. `bpeviz.formats.verification` compares the
written file with the tokenizer, and so finds the other differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Literal

import regex

from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.parsing import Node
from bpeviz.formats.verification import texts
from bpeviz.pretokenizers.patterns import (
    CUSTOM,
    MAX_EXPRESSION,
    PATTERNS,
    WORD_LIST,
    SplitError,
    Unmatched,
    mark_unmatched,
    pretokenize,
)

Engine = Literal["regex", "oniguruma", "rust"]

_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}" + "\u200c\u200d"
r"""`\w` in the `regex` package; those of the other engines differ."""

_CHARACTERS = (
    (r"[^\W\d]", rf"(?:(?![\p{{Nd}}])[{_WORD}])"),
    (r"[^\w", f"[^{_WORD}"),
    (r"\w", f"[{_WORD}]"),
    (r"\d", r"\p{Nd}"),
)
_REWRITTEN: dict[Engine, tuple[tuple[str, str], ...]] = {
    "regex": (),
    "rust": (*_CHARACTERS, ("$|", r"(?=\n?\z)|")),
    "oniguruma": (
        *_CHARACTERS,
        ("$|", r"(?=\n?\z)|"),
        ("(?s:.)", "(?m:.)"),
        (r"\p{N}{1,3}+", r"(?>\p{N}{1,3})"),
    ),
}
"""The constructs of the named patterns that another engine reads in another way."""

_ANY = {"regex": "(?s:.)", "oniguruma": "(?m:.)", "rust": "(?s:.)"}
_GROUP = regex.compile(r"\((?!\?)|\(\?P|\(\?<(?![=!])")
_ESCAPE_OR_CLASS = regex.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")

_POSSESSIVE = regex.compile(r"\{(?:\d+,?\d*|,\d+)\}\+")  # Oniguruma repeats the repeat


class DialectError(ValueError):
    """An expression that another engine cannot have; the message is a clause."""


def translated(pattern: str, expression: str, target: Engine) -> str:
    """Return `expression_of` for a file that is written. Raises `UnsupportedError`."""
    try:
        return expression_of(pattern, expression, target)
    except DialectError as error:
        raise UnsupportedError(f"its pre-tokenization cannot be translated: {error}") from error


def pattern_in(written: Node, engine: Engine) -> tuple[str, str]:
    """Return `pattern_of` a text in a JSON file. Raises `FormatError`."""
    try:
        return pattern_of(written.text(), engine)
    except DialectError as error:
        raise written.error(f"this pattern is not supported: {error}") from None


def expression_of(pattern: str, expression: str, target: Engine) -> str:
    """Return an expression for another engine with the pre-tokens of a pattern as its matches.

    Oniguruma's expression may leave text between its matches: `tokenizers` makes it a pre-token.

    Args:
        pattern: a key of `PATTERNS`, "regex" or "list".
        expression: the regular expression or the word list of the last two.
        target: the other engine.

    Raises:
        DialectError: there is no such expression.
    """
    if pattern == CUSTOM and target == "oniguruma":
        written = _rewritten(expression, target)
        if _POSSESSIVE.search(_ESCAPE_OR_CLASS.sub("", written)):
            raise DialectError("its expression has a possessive repeat such as {1,2}+")
        return written
    if pattern == CUSTOM:
        if covers(expression):
            return expression
        return expression + "|" + _gap(expression, _ANY[target])
    if pattern == WORD_LIST:
        words = sorted({*expression.split()}, key=lambda word: (-len(word), word))
        written = "|".join([*map(_literal, words), _ANY[target]])
        if len(written) > MAX_EXPRESSION:
            raise DialectError(
                f"the word list as an expression has {len(written):,} characters; the limit is "
                f"{MAX_EXPRESSION:,}"
            )
        return written
    known = PATTERNS[pattern].expression
    if known is None and pattern == "none":
        return f"{_ANY[target]}+"
    if known is None:
        raise DialectError(f"“{PATTERNS[pattern].title}” is not a regular expression")
    known = known.replace("\r", r"\r").replace("\n", r"\n")
    if target == "rust" and pattern in ("gpt2", "cl100k", "o200k"):
        return known  # as published
    return _rewritten(known, target)


def _rewritten(expression: str, target: Engine) -> str:
    for ours, theirs in _REWRITTEN[target]:
        expression = expression.replace(ours, theirs)
    return expression


def covers(expression: str) -> bool:
    """Return whether the matches of an expression cover difficult texts completely.

    tiktoken and minbpe drop the text between two matches; bpeviz makes it a pre-token.

    Raises:
        DialectError: the `regex` package refuses the expression, or it takes too long.
    """
    with _dialect_errors():
        return not any(
            type(part) is Unmatched
            for text in texts()
            for part in mark_unmatched(text, CUSTOM, expression)
        )


def has_groups(expression: str) -> bool:
    r"""Return whether an expression has capturing groups, which `findall` returns as matches.

    >>> has_groups(r"\(a|[(]"), has_groups("(?:a)"), has_groups("(a)")
    (False, False, True)
    """
    return _GROUP.search(_ESCAPE_OR_CLASS.sub("", expression)) is not None


def _gap(expression: str, any_character: str) -> str:
    return f"(?:(?!{expression}){any_character})+"


def _literal(word: str) -> str:
    return str(regex.sub(r"[\\.|()\[\]{}*+?^$]", r"\\\g<0>", word))


_PUBLISHED = {
    # OpenAI's encoder.py, Hugging Face's ByteLevel, minbpe
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
}
r"""Published expressions that are equivalent to a built-in pattern.

The older cl100k, which ends in `\s*[\r\n]+|\s+(?!\S)|\s+`, is not today's: it splits white space
with a line end at the end of a text.
"""


@cache
def _pattern_names(engine: Engine) -> dict[str, str]:
    known = {}
    for key, pattern in PATTERNS.items():
        if pattern.expression is None and key != "none":
            continue
        known[expression_of(key, "", engine)] = key
        if engine != "oniguruma" and pattern.expression is not None:
            known.setdefault(pattern.expression, key)
    return known | _PUBLISHED


def pattern_of(written: str, engine: Engine) -> tuple[str, str]:
    """Return the pattern, and its expression, with the matches of an expression as pre-tokens.

    An expression that is not one of a named pattern is returned as it is. Only a comparison with
    the other program shows whether that splits in the same way.

    Args:
        written: the expression in the dialect of the engine.
        engine: the engine.

    Raises:
        DialectError: it is too long, or the `regex` package refuses it.
    """
    name = _pattern_names(engine).get(written)
    if name is not None:
        return name, ""
    if len(written) > 2 * MAX_EXPRESSION + 100:
        raise DialectError(f"it has {len(written):,} characters; the limit is {MAX_EXPRESSION:,}")
    ours = _without_gap(written, engine) or written
    check_expression(ours)
    return CUSTOM, ours


def _without_gap(written: str, engine: Engine) -> str | None:
    """Undo the addition by `expression_of` that matches text between two matches."""
    around = len("|" + _gap("", _ANY[engine]))
    length = (len(written) - around) // 2
    first = written[: max(0, length)]
    return first if first and written == first + "|" + _gap(first, _ANY[engine]) else None


def check_expression(expression: str) -> None:
    """Raise `DialectError` if the `regex` pattern refuses an expression."""
    with _dialect_errors():
        pretokenize("", CUSTOM, expression)


@contextmanager
def _dialect_errors() -> Iterator[None]:
    """Raise `SplitError` as `DialectError`."""
    try:
        yield
    except SplitError as error:
        reason = str(error).partition(". ")[0].rstrip(".")  # without the advice for pages
        raise DialectError(reason[:1].lower() + reason[1:]) from error
