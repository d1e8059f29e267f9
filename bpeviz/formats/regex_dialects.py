r"""Regular expressions as three engines read them.

A split is written for the `regex` package. Hugging Face's tokenizers read theirs with Oniguruma
(in Ruby's syntax), tiktoken with Rust's `fancy-regex`, and the three differ: in Oniguruma `a{1,3}+`
is a repeat of a repeat and not possessive, `$` stands at every line's end, `(?s:.)` is an error, ²
is a `\w`, and `(?i:ss)` is also ß; Rust's `$` is the very end. So an expression is read by a small
grammar of what can be said alike in all three, and written down anew for the engine that is to read
it. What lies outside of it is refused by name.

What a letter or a digit is, each engine finds in the Unicode tables that it was built with. For
characters that only the newer tables know, splits may differ.
"""

from __future__ import annotations

import sys
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
r"""What `\w` is in the `regex` package; Oniguruma's is another."""

_ANY = {"regex": "(?s:.)", "oniguruma": "(?m:.)", "rust": "(?s:.)"}
_END = {"regex": r"(?=\n?\Z)", "oniguruma": r"(?=\n?\z)", "rust": r"(?=\n?\z)"}
_META = frozenset(r"\.|()[]{}*+?^$")
_IN_CLASS = frozenset(r"\[]^-&~|")
_CONTROLS = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

# Letters in either case, without those whose case is several letters' somewhere, or another
# letter's: (?i:ss) is ß in Oniguruma, and (?i:i) is İ in `regex`.
_EITHER_CASE = regex.compile(r"\(\?i:((?:[a-hj-zA-HJ-Z']|\[[a-hj-zA-HJ-Z]+\]|\|)*)\)")
_LIGATURES = regex.compile(r"(?i:ss|st|ff|fi|fl)")
_BRACES = regex.compile(r"\{([0-9]{1,4})(,([0-9]{0,4}))?\}")
_DEEPEST = 50


class ForeignExpressionError(ValueError):
    """An expression that cannot be written for another engine; its message is a clause."""


@dataclass(frozen=True)
class _Part:
    """A part of an expression, written for the engine that is to read it.

    empty: whether it may match nothing. single: it is one character wide, always. plain: whatever
    one character it matches alone, it matches in any text where that character stands (see
    `covers`). excludes: it is a look ahead that no such character comes next.
    """

    text: str
    empty: bool = False
    single: bool = False
    plain: bool = True
    excludes: bool = False


class _Reader:
    """Reads an expression of one engine and writes it for another, from left to right."""

    def __init__(self, expression: str, source: Engine, target: Engine) -> None:
        self.expression, self.source, self.target = expression, source, target
        self.at = 0

    def fail(self, why: str) -> ForeignExpressionError:
        return ForeignExpressionError(f"at character {self.at + 1} of the expression, {why}")

    def peek(self, text: str) -> bool:
        return self.expression.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def whole(self) -> list[_Part]:
        alternatives = self.alternatives(0)
        if self.at < len(self.expression):
            raise self.fail("a bracket is closed that was never opened")
        return alternatives

    def alternatives(self, depth: int) -> list[_Part]:
        if depth > _DEEPEST:
            raise self.fail(f"brackets are nested more than {_DEEPEST} deep")
        found = [self.sequence(depth)]
        while self.take("|"):
            found.append(self.sequence(depth))
        return found

    def sequence(self, depth: int) -> _Part:
        parts: list[_Part] = []
        while self.at < len(self.expression) and self.expression[self.at] not in "|)":
            parts.append(self.repeated(depth))
        # (?![x])[y] is one character, too.
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
                raise self.fail(f"{repeat} is no repeat")
        elif self.at < len(self.expression) and self.expression[self.at] in "?*+":
            repeat = self.expression[self.at]
            self.at += 1
            least, exact = int(repeat == "+"), False
        else:
            return atom
        if atom.empty:
            self.at = start
            raise self.fail("something is repeated that may match nothing")
        how = ""
        if self.at < len(self.expression) and self.expression[self.at] in "?+":
            how = self.expression[self.at]
            if braces and (exact or (how == "+" and self.source == "oniguruma")):
                raise self.fail(f"{repeat}{how} means different things to different engines")
            self.at += 1
        if self.at < len(self.expression) and self.expression[self.at] in "?*+{":
            raise self.fail("a repeat is repeated")
        text = f"{atom.text}{repeat}"
        # In Oniguruma's Ruby syntax braces have no possessive form; an atomic group is the same.
        text = f"(?>{text})" if braces and how == "+" else text + how
        return _Part(text, least == 0, False, atom.plain and (how != "+" or atom.single))

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
            raise self.fail(f"{character} stands where it is not read alike everywhere")
        return _Part(_CONTROLS.get(character, character), single=True)

    def group(self, depth: int) -> _Part:
        if self.take(_ANY[self.source]):
            return _Part(_ANY[self.target], single=True)
        either = _EITHER_CASE.match(self.expression, self.at)
        if either:
            if _LIGATURES.search(either[1]):
                raise self.fail("letters of either case stand together that are also a ligature")
            self.at = either.end()
            empty = "" in either[1].split("|")
            return _Part(either[0], empty)
        kinds = ("(?:", "(?=", "(?!", "(?>")
        kind = next((kind for kind in kinds if self.take(kind)), None)
        if kind is None:
            if self.peek("(?") or self.peek("(*"):
                raise self.fail(f"{self.expression[self.at : self.at + 4]}… is not taken")
            self.at += 1
            kind = "(?:"
        inner = self.alternatives(depth + 1)
        if not self.take(")"):
            raise self.fail("a bracket is never closed")
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
        """Read what a backslash begins, and return it as written in or outside of a class."""
        start = self.at
        self.at += 1
        if self.at == len(self.expression):
            raise self.fail("nothing stands behind the backslash")
        letter = self.expression[self.at]
        self.at += 1
        if letter in "pP":
            close = self.expression.find("}", self.at)
            name = self.expression[self.at + 1 : close] if self.peek("{") and close > 0 else ""
            if name not in _CATEGORIES:
                self.at = start
                raise self.fail(
                    f"\\{letter}{{{name[:20]}}} is not among the classes that are taken"
                )
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
        raise self.fail(f"\\{letter} is not read alike everywhere")

    def literal(self) -> str | None:
        """Read one character of a class, and return it; None where it is a class of its own."""
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
        no_word = False
        while not self.peek("]") or not (items or no_word):
            if self.at >= len(self.expression):
                self.at = start
                raise self.fail("a character class is never closed")
            here = self.expression[self.at]
            two = self.expression[self.at : self.at + 2]
            if here in "[]" or two in ("&&", "--", "||", "~~"):
                raise self.fail(f"{here} in a character class needs a backslash before it")
            if here == "^" and not items:
                raise self.fail("^ in a character class needs a backslash before it")
            if two == r"\W" and self.source == "regex" and negated:
                self.at += 2
                no_word = True
                continue
            low = self.literal()
            if low is None:
                items.append(self.escape(True))
                continue
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                if self.at >= len(self.expression) or self.peek("["):
                    raise self.fail("a range has no end")
                high = self.literal()
                if high is None or high < low:
                    raise self.fail("a range has no end")
                items.append(f"{_in_class(low)}-{_in_class(high)}")
            else:
                items.append(_in_class(low))
        self.at += 1
        body = "".join(items)
        if not no_word:
            return _Part(f"[{'^' if negated else ''}{body}]", single=True)
        # [^\Wx] is a \w that is no x.
        word = f"[{_WORD}]"
        return _Part(f"(?:(?![{body}]){word})" if body else word, single=True)


def _in_class(character: str) -> str:
    if character in _CONTROLS:
        return _CONTROLS[character]
    return f"\\{character}" if character in _IN_CLASS else character


def _read(expression: str, source: Engine, target: Engine) -> list[_Part]:
    return _Reader(expression, source, target).whole()


def translated(expression: str, source: Engine, target: Engine) -> str:
    """Write an expression of one engine for another. Raises `ForeignExpressionError`."""
    return "|".join(part.text for part in _read(expression, source, target))


_CLASS = regex.compile(r"\\(?:[sSwW]|[pP]\{\w+\})")


@cache
def _every_character() -> str:
    return "".join(chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF)


@cache
def _ends_of_runs(of_class: str) -> frozenset[int]:
    """Return where a run of characters of a class begins or has ended, among all that there are."""
    runs = regex.finditer(f"{of_class}+", _every_character())
    return frozenset(place for run in runs for place in run.span())


def _different_characters(expression: str) -> list[str]:
    """Return characters among which every one that there is has its like, for an expression.

    Alike are neighbors that are in the same classes, and that no character of the expression
    parts, as itself, as the end of a range, or in another case.
    """
    places = {0}
    for of_class in {*_CLASS.findall(expression)}:
        places |= _ends_of_runs(of_class)
    # And what escapes stand for, and ſ and the sign for kelvin, an s and a k in some case.
    spelt = f"{expression}{expression.upper()}{expression.lower()}\n\r\t\u017f\u212a"
    for character in {*spelt}:
        place = ord(character) if character < "\ud800" else ord(character) - 0x800
        places |= {place, place + 1}
    every = _every_character()
    return [every[place] for place in sorted(places) if place < len(every)]


def covers(expression: str, source: Engine) -> bool:
    """Tell whether it is certain that the matches of an expression leave out no part of any text.

    tiktoken and minbpe drop what an expression leaves out. Here it is a pre-token of its own.

    It is certain where every character by itself is matched by an alternative that looks at
    nothing else: one without look-around, and without possessive repeats or atomic groups of more
    than one character. For such an alternative, what it matched was taken by one part, before
    which all others match nothing, and behind which all others may; that is so in any text.
    """
    parts = _read(expression, source, "regex")
    plain = [part for part in parts if part.plain]
    if not plain or any(part.empty for part in parts):
        return False
    alone = regex.compile("|".join(f"(?:{part.text})" for part in plain))
    return all(map(alone.fullmatch, _different_characters(alone.pattern)))


def _gap(expression: str, any_character: str) -> str:
    return f"(?:(?!{expression}){any_character})+"


def matching_all(pattern: str, expression: str, target: Engine) -> str:
    """Return an expression for another engine whose matches are the pre-tokens of a split.

    For Oniguruma, what stands between two matches is a pre-token as well: so it is read there.
    Raises `ForeignExpressionError` where there is none.
    """
    if pattern == CUSTOM:
        checked(expression)
        parts = _read(expression, "regex", target)
        if any(part.empty for part in parts):
            raise ForeignExpressionError("it may match nothing at all")
        written = "|".join(part.text for part in parts)
        # As it is written, so that whoever reads it here finds the same.
        if target == "oniguruma" or covers(written, target):
            return written
        return written + "|" + _gap(written, _ANY[target])
    if pattern == WORD_LIST:
        words = sorted({*expression.split()}, key=lambda word: (-len(word), word))
        listed = "|".join("".join(map(_literal, word)) for word in words)
        written = f"{listed}|{_ANY[target]}" if listed else _ANY[target]
        if len(written) > MAX_EXPRESSION:
            raise ForeignExpressionError(
                f"as an expression the word list has {len(written):,} characters, and at most "
                f"{MAX_EXPRESSION:,} are taken"
            )
        return written
    known = PATTERNS[pattern].expression
    if known is None:
        return f"{_ANY[target]}+"
    as_published = target == "rust" and pattern in ("gpt2", "cl100k", "o200k")
    if as_published or (target == "regex" and known.isprintable()):
        return known
    return _builtin(pattern, target)


@cache
def _builtin(pattern: str, target: Engine) -> str:
    return translated(PATTERNS[pattern].expression or "", "regex", target)


def _literal(character: str) -> str:
    if character in _META:
        return f"\\{character}"
    return _CONTROLS.get(character, character)


_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_PUBLISHED = {
    _GPT2: "gpt2",  # OpenAI's encoder.py, Hugging Face's ByteLevel, minbpe
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
}
r"""Expressions that others write for splits that have a name here.

(The older cl100k, with `\s*[\r\n]+|\s+(?!\S)|\s+` at its end, is not that of today: it parts white
space at the end of a text that holds a line's end.)
"""


@cache
def _names(engine: Engine) -> dict[str, str]:
    known = {}
    for key in PATTERNS:
        known[matching_all(key, "", engine)] = key
        expression = PATTERNS[key].expression
        if engine != "oniguruma" and expression is not None:
            known.setdefault(expression, key)
    return known | _PUBLISHED


def splitting_of(written: str, source: Engine, *, drops: bool) -> tuple[str, str]:
    """Return the split, as `pattern` and `expression`, whose pre-tokens an expression matches.

    drops: whether what the expression leaves out is dropped there; then it must leave out nothing.
    Raises `ForeignExpressionError` where the expression is not read here exactly as there.
    """
    name = _names(source).get(written)
    if name is not None:
        return name, ""
    if len(written) > 2 * MAX_EXPRESSION + 100:
        raise ForeignExpressionError(
            f"it has {len(written):,} characters, and at most {MAX_EXPRESSION:,} are taken"
        )
    without_gap = _without_gap(written, source)
    parts = _read(without_gap or written, source, "regex")
    ours = "|".join(part.text for part in parts)
    checked(ours)
    if any(part.empty for part in parts):
        raise ForeignExpressionError("it may match nothing at all")
    if drops and without_gap is None and not covers(ours, "regex"):
        raise ForeignExpressionError(
            "it may leave out a part of a text, which is lost there and never here"
        )
    return CUSTOM, ours


def _without_gap(written: str, source: Engine) -> str | None:
    """Undo what `matching_all` adds for what stands between two matches."""
    around = len("|" + _gap("", _ANY[source]))
    length = (len(written) - around) // 2
    first = written[: max(0, length)]
    return first if first and written == first + "|" + _gap(first, _ANY[source]) else None


def checked(expression: str) -> None:
    """Raise `ForeignExpressionError` where `bpeviz.pretokenizers.patterns` would not take an expression."""
    try:
        pretokenize("", CUSTOM, expression)
    except SplitError as error:
        reason = str(error).partition(". ")[0].rstrip(".")  # what to do is said on the pages
        raise ForeignExpressionError(reason[:1].lower() + reason[1:]) from error
