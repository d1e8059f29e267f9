r"""Regular expressions in the dialects of three engines.

Pre-tokenization patterns are written for the `regex` package. Hugging Face's tokenizers use
Oniguruma (with Ruby's syntax), and tiktoken uses Rust's `fancy-regex`. The dialects differ. In
Oniguruma, `a{1,3}+` is a repeat of a repeat and not possessive, and `$` matches at every line end.
`(?s:.)` is an error, ² is a `\w`, and `(?i:ss)` also matches ß. Rust's `$` is the very end.

So a small recursive-descent parser accepts the constructs with the same meaning in all three, and
writes them for the target engine. It rejects all others by name.

Each engine has its own Unicode tables. Characters that are new in one of them may be split
differently.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Literal

import regex

from bpeviz.pretokenizers.patterns import (
    CUSTOM,
    MAX_EXPRESSION,
    PATTERNS,
    WORD_LIST,
    SplitError,
    matches_alone,
    pretokenize,
)

Engine = Literal["regex", "oniguruma", "rust"]

_CATEGORIES = frozenset(
    regex.findall(
        r"\w+",
        "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp "
        "Alphabetic Han Hiragana Katakana Hangul Latin Cyrillic Greek Arabic Hebrew Thai",
    )
)
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}" + "\u200c\u200d"
r"""`\w` in the `regex` package; Oniguruma's differs."""

_ANY = {"regex": "(?s:.)", "oniguruma": "(?m:.)", "rust": "(?s:.)"}
_END = {"regex": r"(?=\n?\Z)", "oniguruma": r"(?=\n?\z)", "rust": r"(?=\n?\z)"}
_META = frozenset(r"\.|()[]{}*+?^$")
_IN_CLASS = frozenset(r"\[]^-&~|")
_CONTROLS = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

# Letters in either case, without those that have another letter, or several, as their other case
# in some engine: (?i:ss) matches ß in Oniguruma, and (?i:i) matches İ in `regex`.
_EITHER_CASE = regex.compile(r"\(\?i:((?:[a-hj-zA-HJ-Z']|\[[a-hj-zA-HJ-Z]+\]|\|)*)\)")
_LIGATURES = regex.compile(r"(?i:ss|st|ff|fi|fl)")
_BRACES = regex.compile(r"\{([0-9]{1,4})(,([0-9]{0,4}))?\}")
_MAX_DEPTH = 50


class DialectError(ValueError):
    """An expression that cannot be translated exactly; the message is a clause."""


@dataclass(frozen=True)
class _Part:
    """A part of an expression, in the dialect of the target engine.

    Args:
        text: the part.
        empty: whether it may match an empty text.
        single: whether it always matches exactly one character.
        plain: whether a character that it matches alone is matched in any context (see `covers`).
        excludes: whether it is a negative lookahead of one character.
    """

    text: str
    empty: bool = False
    single: bool = False
    plain: bool = True
    excludes: bool = False


class _Translator:
    """A recursive-descent parser of one dialect that writes another one."""

    def __init__(self, expression: str, source: Engine, target: Engine) -> None:
        self.expression, self.source, self.target = expression, source, target
        self.at = 0

    def error(self, reason: str) -> DialectError:
        return DialectError(f"at character {self.at + 1} of the expression, {reason}")

    def peek(self, text: str) -> bool:
        return self.expression.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def expression_parts(self) -> list[_Part]:
        alternatives = self.alternatives(0)
        if self.at < len(self.expression):
            raise self.error("a closing bracket has no opening one")
        return alternatives

    def alternatives(self, depth: int) -> list[_Part]:
        if depth > _MAX_DEPTH:
            raise self.error(f"groups are nested more than {_MAX_DEPTH} deep")
        found = [self.sequence(depth)]
        while self.take("|"):
            found.append(self.sequence(depth))
        return found

    def sequence(self, depth: int) -> _Part:
        parts: list[_Part] = []
        while self.at < len(self.expression) and self.expression[self.at] not in "|)":
            parts.append(self.repeated(depth))
        # (?![x])[y] also matches exactly one character.
        single = bool(parts) and parts[-1].single and all(one.excludes for one in parts[:-1])
        return _Part(
            "".join(part.text for part in parts),
            all(part.empty for part in parts),
            single,
            single or all(part.plain for part in parts),
        )

    def repeated(self, depth: int) -> _Part:
        atom = self.atom(depth)
        start = self.at
        braces = _BRACES.match(self.expression, self.at)
        if braces:
            self.at = braces.end()
            repeat, least = braces[0], int(braces[1])
            exact = braces[2] is None
            if (exact and not least) or (braces[3] and int(braces[3]) < max(1, least)):
                raise self.error(f"the repeat {repeat} is not valid")
        elif self.at < len(self.expression) and self.expression[self.at] in "?*+":
            repeat = self.expression[self.at]
            self.at += 1
            least, exact = int(repeat == "+"), False
        else:
            return atom
        if atom.empty:
            self.at = start
            raise self.error("the repeated part may match an empty text")
        mode = ""
        if self.at < len(self.expression) and self.expression[self.at] in "?+":
            mode = self.expression[self.at]
            if braces and (exact or (mode == "+" and self.source == "oniguruma")):
                raise self.error(f"{repeat}{mode} has another meaning in another engine")
            self.at += 1
        if self.at < len(self.expression) and self.expression[self.at] in "?*+{":
            raise self.error("a repeat is repeated")
        text = f"{atom.text}{repeat}"
        # Braces have no possessive form in Oniguruma's Ruby syntax; an atomic group is equivalent.
        text = f"(?>{text})" if braces and mode == "+" else text + mode
        return _Part(text, least == 0, False, atom.plain and (mode != "+" or atom.single))

    def atom(self, depth: int) -> _Part:
        if self.peek("("):
            return self.group(depth)
        if self.peek("["):
            return self.character_class()
        character = self.expression[self.at]
        if self.take(r"\Z" if self.source == "regex" else r"\z"):
            return _Part(r"\Z" if self.target == "regex" else r"\z", True, plain=False)
        if character == "\\":
            return _Part(self.escape(False), single=True)
        self.at += 1
        if character == ".":
            return _Part(r"[^\n]", single=True)
        if character == "$" and self.source == "regex":
            return _Part(_END[self.target], True, plain=False)
        if character in _META:
            self.at -= 1
            raise self.error(f"{character} has another meaning in another engine")
        return _Part(_CONTROLS.get(character, character), single=True)

    def group(self, depth: int) -> _Part:
        if self.take(_ANY[self.source]):
            return _Part(_ANY[self.target], single=True)
        either = _EITHER_CASE.match(self.expression, self.at)
        if either:
            if _LIGATURES.search(either[1]):
                raise self.error("these letters in either case also match a ligature")
            self.at = either.end()
            empty = "" in either[1].split("|")
            return _Part(either[0], empty)
        kinds = ("(?:", "(?=", "(?!", "(?>")
        kind = next((kind for kind in kinds if self.take(kind)), None)
        if kind is None:
            if self.peek("(?") or self.peek("(*"):
                raise self.error(f"{self.expression[self.at : self.at + 4]}… is not supported")
            self.at += 1
            kind = "(?:"
        inner = self.alternatives(depth + 1)
        if not self.take(")"):
            raise self.error("a group is not closed")
        text = kind + "|".join(part.text for part in inner) + ")"
        ahead = kind in ("(?=", "(?!")
        return _Part(
            text,
            ahead or any(part.empty for part in inner),
            not ahead and all(part.single for part in inner),
            not ahead and all(part.plain for part in inner) and kind != "(?>",
            kind == "(?!" and all(part.single for part in inner),
        )

    def escape(self, inside: bool) -> str:
        """Return an escape sequence, as written inside or outside of a character class."""
        start = self.at
        self.at += 1
        if self.at == len(self.expression):
            raise self.error("the backslash is the last character")
        letter = self.expression[self.at]
        self.at += 1
        if letter in "pP":
            close = self.expression.find("}", self.at)
            name = self.expression[self.at + 1 : close] if self.peek("{") and close > 0 else ""
            if name not in _CATEGORIES:
                self.at = start
                raise self.error(f"the class \\{letter}{{{name[:20]}}} is not supported")
            self.at = close + 1
            return f"\\{letter}{{{name}}}"
        if letter in "sS":
            return f"\\{letter}"
        if letter in "dD":
            return r"\p{Nd}" if letter == "d" else r"\P{Nd}"
        if letter in "wW" and self.source == self.target == "regex" and not inside:
            return f"\\{letter}"
        if letter in "wW" and self.source == "regex":
            if inside and letter == "w":
                return _WORD
            if not inside:
                return f"[{_WORD}]" if letter == "w" else f"[^{_WORD}]"
        if letter in _ESCAPED:
            return f"\\{letter}"
        if not letter.isalnum() and letter.isascii() and letter.isprintable():
            needed = _IN_CLASS if inside else _META
            return f"\\{letter}" if letter in needed else letter
        self.at = start
        raise self.error(f"\\{letter} has another meaning in another engine")

    def literal(self) -> str | None:
        r"""Return one character of a character class, or None for a class such as `\d`."""
        character = self.expression[self.at]
        if character != "\\":
            self.at += 1
            return character
        following = self.expression[self.at + 1 : self.at + 2]
        if following in _ESCAPED:
            self.at += 2
            return _ESCAPED[following]
        if following.isascii() and following.isprintable() and not following.isalnum():
            self.at += 2
            return following
        return None

    def character_class(self) -> _Part:
        start = self.at
        self.at += 1
        negated = self.take("^")
        items: list[str] = []
        excludes_non_word = False
        while not self.peek("]") or not (items or excludes_non_word):
            if self.at >= len(self.expression):
                self.at = start
                raise self.error("a character class is not closed")
            here = self.expression[self.at]
            two = self.expression[self.at : self.at + 2]
            if here in "[]" or two in ("&&", "--", "||", "~~"):
                raise self.error(f"{here} in a character class needs a backslash")
            if here == "^" and not items:
                raise self.error("^ in a character class needs a backslash")
            if two == r"\W" and self.source == "regex" and negated:
                self.at += 2
                excludes_non_word = True
                continue
            low = self.literal()
            if low is None:
                items.append(self.escape(True))
                continue
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                if self.at >= len(self.expression) or self.peek("["):
                    raise self.error("a range has no end")
                high = self.literal()
                if high is None or high < low:
                    raise self.error("a range has no end")
                items.append(f"{_in_class(low)}-{_in_class(high)}")
            else:
                items.append(_in_class(low))
        self.at += 1
        body = "".join(items)
        if not excludes_non_word:
            return _Part(f"[{'^' if negated else ''}{body}]", single=True)
        # [^\Wx] is a \w other than x.
        word = f"[{_WORD}]"
        return _Part(f"(?:(?![{body}]){word})" if body else word, single=True)


def _in_class(character: str) -> str:
    if character in _CONTROLS:
        return _CONTROLS[character]
    return f"\\{character}" if character in _IN_CLASS else character


def _parts(expression: str, source: Engine, target: Engine) -> list[_Part]:
    return _Translator(expression, source, target).expression_parts()


def translate(expression: str, source: Engine, target: Engine) -> str:
    """Return an expression of one engine in the dialect of another. Raises `DialectError`."""
    return _joined(_parts(expression, source, target))


def _joined(parts: list[_Part]) -> str:
    return "|".join(part.text for part in parts)


_CLASS = regex.compile(r"\\(?:[sSwW]|[pP]\{\w+\})")


@cache
def _every_character() -> str:
    return "".join(chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF)


@cache
def _run_ends(character_class: str) -> frozenset[int]:
    """Return where runs of a character class start and end in `_every_character`."""
    runs = regex.finditer(f"{character_class}+", _every_character())
    return frozenset(place for run in runs for place in run.span())


def _representatives(expression: str) -> list[str]:
    """Return one character of each kind that an expression may distinguish.

    Neighboring code points are of one kind if they are in the same classes, and no character of the
    expression is between them. This includes the ends of ranges and characters in other case.
    """
    places = {0}
    for character_class in {*_CLASS.findall(expression)}:
        places |= _run_ends(character_class)
    # Also the characters of escapes, and ſ and the Kelvin sign, which fold to s and k.
    spelled = f"{expression}{expression.upper()}{expression.lower()}\n\r\t\u017f\u212a"
    for character in {*spelled}:
        place = ord(character) if character < "\ud800" else ord(character) - 0x800
        places |= {place, place + 1}
    every = _every_character()
    return [every[place] for place in sorted(places) if place < len(every)]


def covers(expression: str, source: Engine) -> bool:
    """Return whether the matches of an expression certainly cover any text completely.

    tiktoken and minbpe drop the text between two matches; bpeviz makes it a pre-token.

    An expression covers any text if every character alone is matched by an alternative without
    lookaround, and without possessive repeats or atomic groups of several characters. Such an
    alternative matches a character by one of its parts; the parts before match an empty text, and
    the parts after it may. This is true in any context.
    """
    parts = _parts(expression, source, "regex")
    plain = [part for part in parts if part.plain]
    if not plain or any(part.empty for part in parts):
        return False
    alone = "|".join(f"(?:{part.text})" for part in plain)
    with _dialect_errors():
        return matches_alone(alone, "".join(_representatives(alone)))


def _gap(expression: str, any_character: str) -> str:
    return f"(?:(?!{expression}){any_character})+"


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
    if pattern == CUSTOM:
        check_expression(expression)
        parts = _parts(expression, "regex", target)
        if any(part.empty for part in parts):
            raise DialectError("it may match an empty text")
        written = _joined(parts)
        if target == "oniguruma" or covers(written, target):
            return written
        return written + "|" + _gap(written, _ANY[target])
    if pattern == WORD_LIST:
        words = sorted({*expression.split()}, key=lambda word: (-len(word), word))
        written = "|".join([*("".join(map(_literal, word)) for word in words), _ANY[target]])
        if len(written) > MAX_EXPRESSION:
            raise DialectError(
                f"the word list as an expression has {len(written):,} characters; the limit is "
                f"{MAX_EXPRESSION:,}"
            )
        return written
    known = PATTERNS[pattern].expression
    if known is None:
        return f"{_ANY[target]}+"
    as_published = target == "rust" and pattern in ("gpt2", "cl100k", "o200k")
    if as_published or (target == "regex" and known.isprintable()):
        return known
    return _translated_builtin(pattern, target)


@cache
def _translated_builtin(pattern: str, target: Engine) -> str:
    return translate(PATTERNS[pattern].expression or "", "regex", target)


def _literal(character: str) -> str:
    if character in _META:
        return f"\\{character}"
    return _CONTROLS.get(character, character)


_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_PUBLISHED = {
    _GPT2: "gpt2",  # OpenAI's encoder.py, Hugging Face's ByteLevel, minbpe
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
}
r"""Published expressions that are equivalent to a built-in pattern.

The older cl100k, which ends in `\s*[\r\n]+|\s+(?!\S)|\s+`, is not today's: it splits white space
with a line end at the end of a text.
"""


@cache
def _pattern_names(engine: Engine) -> dict[str, str]:
    known = {}
    for key in PATTERNS:
        known[expression_of(key, "", engine)] = key
        expression = PATTERNS[key].expression
        if engine != "oniguruma" and expression is not None:
            known.setdefault(expression, key)
    return known | _PUBLISHED


def pattern_of(written: str, source: Engine, *, drops: bool) -> tuple[str, str]:
    """Return the pattern, and its expression, with the matches of an expression as pre-tokens.

    Args:
        written: the expression in the dialect of `source`.
        source: the engine.
        drops: whether the other program drops text between two matches. Then the expression must
            cover any text.

    Raises:
        DialectError: the expression cannot be translated exactly.
    """
    name = _pattern_names(source).get(written)
    if name is not None:
        return name, ""
    if len(written) > 2 * MAX_EXPRESSION + 100:
        raise DialectError(f"it has {len(written):,} characters; the limit is {MAX_EXPRESSION:,}")
    without_gap = _without_gap(written, source)
    parts = _parts(without_gap or written, source, "regex")
    ours = _joined(parts)
    check_expression(ours)
    if any(part.empty for part in parts):
        raise DialectError("it may match an empty text")
    if drops and without_gap is None and not covers(ours, "regex"):
        raise DialectError("it may leave out a part of a text, which the other program drops")
    return CUSTOM, ours


def _without_gap(written: str, source: Engine) -> str | None:
    """Undo the addition by `expression_of` that matches text between two matches."""
    around = len("|" + _gap("", _ANY[source]))
    length = (len(written) - around) // 2
    first = written[: max(0, length)]
    return first if first and written == first + "|" + _gap(first, _ANY[source]) else None


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
