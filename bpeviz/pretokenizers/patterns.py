"""Pre-tokenization: split a text into pre-tokens that no merge may cross.

Pre-tokenization is lossless: the joined pre-tokens are the text. If a user's regular expression
does not match a part, that part is a pre-token, too; tiktoken drops it. The built-in expressions
match every character. `mark_unmatched` marks these parts, so that a tokenizer can drop them.

The expressions are joined from their alternatives (`bpeviz.pretokenizers.alternatives`). Those of
GPT-2, cl100k and o200k are tiktoken's; the tests compare the two. Each library has its own Unicode
tables of letters and digits, so results may differ for characters that only the newer one contains.

Long texts are split by GPT-2's and cl100k's patterns without running the expressions
(`pre_token_starts`), and in blocks (`blocks`) to save memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, groupby, pairwise

import regex

from bpeviz import limits
from bpeviz.pretokenizers import expressions, vectorized
from bpeviz.pretokenizers.alternatives import ALTERNATIVES, joined
from bpeviz.pretokenizers.regex_worker import ends
from bpeviz.workers.child import StartError
from bpeviz.workers.pool import BusyError

TIME_LIMIT = float(limits.EXPRESSION_SECONDS)
"""Seconds that a user's own regular expression or word list may take for one text."""

MAX_EXPRESSION = limits.EXPRESSION
"""Characters that a user's own regular expression may have."""

MAX_WORD_LIST = limits.BOX
"""Characters that a word list may have."""

MAX_WORD = limits.WORD
"""The largest size of a listed word, in characters: every length is tried at each position."""

_FEW_LENGTHS = 10
"""With words of so few lengths, the time depends on the length of the text alone."""

BLOCK = 1 << 18
"""The size of a block of text, in characters."""

MAX_BLOCK = 1_000_000_000
"""The largest size of a block, in characters: a longer text must have a place to divide it."""

_TOGETHER = 100_000
"""The characters of texts that an expression splits in one request; a longer text has its own."""

_LONG = 2_000
"""Texts of this size or more are split faster all at once, in characters."""

_STOP = ".…"  # may also occur within a sentence, depending on the next characters
_END = "!?‼⁇⁈⁉؟۔।॥።"  # ends a sentence before white space
_FULL_END = "。！？｡．"  # ends a sentence without white space
_LINE_END = "\r\n\x85\u2028\u2029"
BLANK_LINE = regex.compile(rf"[{_LINE_END}][^\S{_LINE_END}]+[{_LINE_END}]")
_CLOSERS = r"[\p{Pe}\p{Pf}\"'’]*+"  # closing quotation marks and brackets after the end
_SENTENCE = "".join(
    (
        r"(?=[\s\S])",  # never empty
        "(?:",
        rf"[^{_STOP}{_END}{_FULL_END}{_LINE_END}]++",
        rf"|[{_STOP}{_END}]++{_CLOSERS}(?![\s{_FULL_END}])",  # 3.50, or ...so
        rf"|[{_STOP}]++{_CLOSERS}(?=[^\S{_LINE_END}]++\p{{Ll}})",  # U.S.A. continues
        ")*+",
        rf"[{_STOP}{_END}{_FULL_END}]*+{_CLOSERS}",
        rf"(?:(?:[^\S{_LINE_END}]*+[{_LINE_END}]++)++|[^\S{_LINE_END}]*+)",
    )
)


class SplitError(ValueError):
    """A text cannot be pre-tokenized; the message is for users."""


@dataclass(frozen=True)
class Pattern:
    """A named pre-tokenization."""

    key: str
    title: str
    about: str

    @property
    def expression(self) -> str | None:
        """The regular expression. If it is None, the text is one pre-token."""
        if self.key in ALTERNATIVES:
            return joined(self.key)
        return {"sentences": _SENTENCE, "characters": r"(?s:.)"}.get(self.key)


PATTERNS = {
    pattern.key: pattern
    for pattern in (
        Pattern(
            "gpt2",
            "GPT-2",
            "Letters, digits, other symbols and white space are separate pre-tokens; one space "
            "joins the pre-token after it. Lower-case endings such as 's and 'll are pre-tokens.",
        ),
        Pattern(
            "cl100k",
            "GPT-4 (cl100k)",
            "As GPT-2, with three differences: a number has at most three digits and no space; a "
            "word may start with one other character; endings such as 'S are pre-tokens too.",
        ),
        Pattern(
            "o200k",
            "GPT-4o (o200k)",
            "As GPT-4, but a capital after a lower-case letter starts a pre-token, endings such "
            "as 's stay with their word, and combining marks count as letters.",
        ),
        Pattern(
            "words",
            "Words and punctuation",
            "Words, runs of punctuation, and runs of white space are pre-tokens.",
        ),
        Pattern(
            "whitespace",
            "White space",
            "Runs of white space are pre-tokens, and so are the runs of characters between them.",
        ),
        Pattern(
            "nltk",
            "NLTK's book",
            "Abbreviations such as U.S.A., words with hyphens, and amounts such as $12.40 stay "
            "whole; each punctuation mark is a pre-token, except the ellipsis.",
        ),
        Pattern(
            "treebank",
            "Penn Treebank",
            "By the rules of NLTK's TreebankWordTokenizer, doesn't is does and n't, they'll is "
            "they and 'll. Mr., 3:30 and well-known stay whole; the period at the end of a line is "
            "a pre-token.",
        ),
        Pattern(
            "arithmetic",
            "Arithmetic",
            "Numbers with their decimal point, names, and white space are pre-tokens, and so is "
            "every operator, bracket or other symbol.",
        ),
        Pattern(
            "sentences",
            "Sentences",
            "A pre-token ends after . ! ? and similar marks where a new sentence can start, and at "
            "the end of a line.",
        ),
        Pattern(
            "characters",
            "Characters",
            "Every character (code point) is a pre-token, so nothing can be merged.",
        ),
        Pattern("none", "None", "The whole text is one pre-token: any neighbors can be merged."),
    )
}
"""The built-in patterns by key, in the order of the menus.

Published tokenizers of the same name have their titles."""

CUSTOM = "regex"
"""The key of a user's own regular expression."""

WORD_LIST = "list"
"""The key of a user's own word list."""


WITH_UNMATCHED_TEXT = ("nltk", CUSTOM, WORD_LIST)
"""The keys of the patterns that may leave text other than white space unmatched."""

ABOUT_EXPRESSION = "Each match is a pre-token, and so is the text between two matches."
HELP_EXPRESSION = f"{ABOUT_EXPRESSION} Syntax: the Python package regex."


def pattern_title(pattern: str) -> str:
    """Return the on-screen name of a pre-tokenization."""
    own = {CUSTOM: "Regular expression", WORD_LIST: "Word list"}
    return own[pattern] if pattern in own else PATTERNS[pattern].title


_UNBROKEN = ("none", CUSTOM)  # a user's expression may depend on any context
_SAFE, _SAFE_IN_NLTK = regex.compile("[^/]"), regex.compile(r"\w")
_TAIL = 4_096  # characters at the end of a text that are searched first


def breaks(pattern: str) -> bool:
    """Return whether a pattern has boundaries that do not depend on context (`last_break`)."""
    return pattern not in _UNBROKEN


def last_break(text: str, pattern: str) -> int | None:
    """Return the last place where a text can be divided between pre-tokens, or None.

    The pre-tokens of both parts are those of the text, also if more text precedes or follows it.

    Patterns with such places end a pre-token between a letter or digit and white space. They also
    end one between a line end and the next character, if a character precedes the line end; except
    o200k before a slash, and NLTK before a character outside words. None looks ahead beyond white
    space. A listed word contains no white space. A sentence ends with its line.

    >>> last_break("I'll go on", "gpt2")
    7
    """
    if not breaks(pattern):
        return None
    for length in (_TAIL, len(text)):
        end = text[-length:]
        if pattern == "sentences":
            places = vectorized.line_starts(end, after_one=False).tolist()
        else:
            places = vectorized.word_ends(end)[-1:].tolist()
            safe = _SAFE_IN_NLTK if pattern == "nltk" else _SAFE
            lines = reversed(vectorized.line_starts(end).tolist())
            places += next(([at] for at in lines if safe.match(end, at)), [])
        if places:
            return len(text) - len(end) + int(max(places))
    return None


_SEEN_BEFORE_BREAK = 2
"""Characters before a break that determine it."""


def blocks(pieces: Iterable[str], pattern: str, size: int = BLOCK) -> Iterator[str]:
    """Divide the text that `pieces` form, joined, into blocks of about `size` characters.

    The pre-tokens of the blocks are those of the text. A block is longer if it contains no
    `last_break`. No block is empty.

    Raises:
        SplitError: `MAX_BLOCK` characters contain no `last_break`.
    """
    unbroken: list[str] = []
    waiting: list[str] = []
    length = held = 0
    for piece in pieces:
        waiting.append(piece)
        length += len(piece)
        if length < size:
            continue
        text = "".join(waiting)
        place = last_break(text, pattern)
        if place is None:
            # Search the end again, together with the next piece.
            place = max(0, len(text) - _SEEN_BEFORE_BREAK)
            unbroken.append(text[:place])
            held += place
            if held > MAX_BLOCK:
                raise SplitError(
                    f"With this pre-tokenization, the text contains {MAX_BLOCK:,} characters that "
                    "cannot be divided. Use a shorter text, or another pre-tokenization."
                )
        else:
            yield "".join((*unbroken, text[:place]))
            unbroken, held = [], 0
        waiting = [text[place:]]
        length = len(waiting[0])
    rest = "".join((*unbroken, *waiting))
    if rest:
        yield rest


def slices(text: str, size: int = BLOCK) -> Iterator[str]:
    """Divide a text into pieces of `size` characters."""
    return (text[at : at + size] for at in range(0, len(text), size))


@cache
def _builtin(key: str) -> regex.Pattern[str] | None:
    expression = PATTERNS[key].expression
    return None if expression is None else regex.compile(expression)


@cache
def _filler(key: str) -> regex.Pattern[str] | None:
    """Return the expression of the text that a built-in pattern matches only to keep it, or None.

    Each such pre-token matches by itself, and no other pre-token does.
    """
    fillers = [
        alternative.expression for alternative in ALTERNATIVES.get(key, ()) if alternative.fills
    ]
    return regex.compile("|".join(fillers)) if fillers else None


@contextmanager
def _user_facing(
    subject: str, time_limit: float, slow: Callable[[], str], large: str
) -> Iterator[None]:
    """Raise the errors of `expressions` as `SplitError`.

    Args:
        subject: Names the expression or list in messages.
        time_limit: The time limit in seconds.
        slow: Returns the sentence about the cause of a time-out.
        large: What to do if the memory does not suffice.
    """
    try:
        yield
    except expressions.InvalidExpressionError as error:
        raise SplitError(f"This is not a {subject}: {error}.") from error
    except RecursionError as error:
        raise SplitError(
            f"This {subject} is nested too deeply. Use fewer nested brackets."
        ) from error
    except MemoryError as error:
        raise SplitError(f"This {subject} needs too much memory. {large}") from error
    except BusyError as error:
        others = "those of your other tabs" if error.own else "those of other users"
        raise SplitError(
            "The server limits how many slow regular expressions and word lists run at once, and "
            f"is busy with {others}. Try again in a few seconds."
        ) from error
    except StartError as error:
        raise SplitError(f"The {subject} could not be used: {error}. Try again.") from error
    except TimeoutError as error:
        raise SplitError(
            f"This {subject} took more than {time_limit:g} seconds and was stopped. {slow()}"
        ) from error


@contextmanager
def _own_expression(expression: str, time_limit: float) -> Iterator[None]:
    """Check the size of a user's expression; raise the errors of `expressions` as `SplitError`."""
    if not expression:
        raise SplitError("The regular expression is empty. Type one, or choose a named pattern.")
    if len(expression) > MAX_EXPRESSION:
        raise SplitError(
            f"The regular expression has {len(expression):,} characters; "
            f"the limit is {MAX_EXPRESSION:,}."
        )
    with _user_facing(
        "regular expression",
        time_limit,
        lambda: (
            "The usual cause is a nested repeat such as (a+)+, a large one such as {1000}, or "
            "a long text."
        ),
        "Make repeats such as {1000} smaller.",
    ):
        yield


def _cut(text: str, ends: Iterable[int]) -> list[str]:
    return [text[start:end] for start, end in pairwise((0, *ends))]


def _word_ends(text: str, expression: str, time_limit: float) -> list[int]:
    """Check a user's word list; return the ends of the pre-tokens. Raises `SplitError`."""
    if len(expression) > MAX_WORD_LIST:
        raise SplitError(
            f"The word list has {len(expression):,} characters; the limit is {MAX_WORD_LIST:,}."
        )
    longest = max(map(len, expression.split()), default=0)
    if not longest:
        raise SplitError("The word list is empty. Type words with white space between them.")
    if longest > MAX_WORD:
        raise SplitError(
            f"A word of the list has {longest:,} characters; the limit is {MAX_WORD:,}."
        )

    def slow() -> str:
        starts = {*text}
        tried = {len(word) for word in expression.split() if word[0] in starts}
        if len(tried) > _FEW_LENGTHS:
            return "The cause is many long words that almost match the text."
        return "The text is too long for it."

    with _user_facing("word list", time_limit, slow, "Shorten the text."):
        return expressions.word_ends(expression, text, time_limit)


def pretokenize(
    text: str, pattern: str = "gpt2", expression: str = "", time_limit: float = TIME_LIMIT
) -> list[str]:
    """Split `text` into pre-tokens; joined, they are `text` again.

    Args:
        text: The text.
        pattern: A key of `PATTERNS`, or "regex" or "list", which need an `expression`.
        expression: For "regex", a regular expression in the syntax of the `regex` package; its
            matches and the parts between them are the pre-tokens. For "list", words separated by
            white space; from the left, the longest word at each place is a pre-token, or else one
            character.
        time_limit: The time limit of an expression in seconds.

    Raises:
        SplitError: The pattern is unknown, not valid, or took too long; the message is for users.

    >>> pretokenize("That costs $12.40", "words")
    ['That', ' ', 'costs', ' ', '$', '12', '.', '40']
    >>> pretokenize("a-b c", "regex", "[a-z]")
    ['a', '-', 'b', ' ', 'c']
    >>> pretokenize("therein", "list", "the there in")
    ['there', 'in']
    """
    if pattern == WORD_LIST:
        return _cut(text, _word_ends(text, expression, time_limit))
    if pattern == CUSTOM:
        with _own_expression(expression, time_limit):
            return _cut(text, expressions.ends(expression, text, time_limit))
    if pattern not in PATTERNS:
        known = ", ".join((*PATTERNS, CUSTOM, WORD_LIST))
        raise SplitError(f"Unknown pre-tokenization {pattern!r}. Choose from: {known}.")
    compiled = _builtin(pattern)
    if compiled is None:
        return [text] if text else []
    if pattern not in vectorized.PATTERNS or len(text) < _LONG:
        return _cut(text, ends(compiled, text))
    return [
        block[start:end]
        for block in blocks(slices(text), pattern)
        for start, end in pairwise(
            (*vectorized.pre_token_starts(block, pattern).tolist(), len(block))
        )
    ]


def pretokenize_each(
    texts: Sequence[str], pattern: str = "gpt2", expression: str = ""
) -> Iterator[list[str]]:
    """Yield the pre-tokens of each text, as `pretokenize` does.

    The time limit of a user's regular expression is that of `_TOGETHER` characters.

    Raises:
        SplitError: The pattern is unknown, not valid, or took too long; the message is for users.
    """
    if pattern != CUSTOM:
        yield from (pretokenize(text, pattern, expression) for text in texts)
        return
    before = accumulate(map(len, texts))
    for _, group in groupby(zip(texts, before, strict=True), lambda pair: pair[1] // _TOGETHER):
        batch = [text for text, _ in group]
        with _own_expression(expression, TIME_LIMIT):
            ends = iter(expressions.ends(expression, batch, TIME_LIMIT))
        for text in batch:
            yield _cut(text, _up_to(len(text), ends))


def _up_to(last: int, numbers: Iterator[int]) -> Iterator[int]:
    number = 0
    while number < last:
        number = next(numbers)
        yield number


class Unmatched(str):
    """A part of a text that a pre-tokenization does not match. It differs from any pre-token."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is Unmatched and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Unmatched, str(self)))


def mark_unmatched(text: str, pattern: str = "gpt2", expression: str = "") -> list[str]:
    """Split a text as `pretokenize` does; parts that nothing matches are `Unmatched`.

    With a regular expression these are the parts between its matches, which `findall` drops. With a
    word list they are the characters outside of listed words. In the built-in patterns for words
    and symbols they are white space, and with NLTK's also the symbols that the book's expression
    does not match. The other patterns match all text.

    Raises:
        SplitError: The pattern is unknown, not valid, or took too long; the message is for users.

    >>> [one for one in mark_unmatched("a-b c", "regex", "[a-z]") if type(one) is not Unmatched]
    ['a', 'b', 'c']
    """
    if pattern == CUSTOM:
        with _own_expression(expression, TIME_LIMIT):
            return _marked(text, expressions.spans(expression, text, TIME_LIMIT))
    pre_tokens = pretokenize(text, pattern, expression)
    if pattern == WORD_LIST:
        words = {*expression.split()}
        return [
            pre_token if pre_token in words else Unmatched(pre_token) for pre_token in pre_tokens
        ]
    filler = _filler(pattern)
    if filler is None:
        return pre_tokens
    return [
        Unmatched(pre_token) if filler.fullmatch(pre_token) else pre_token
        for pre_token in pre_tokens
    ]


def _marked(text: str, spans: Sequence[int]) -> list[str]:
    """Return the parts of a text in spans, and those between them as `Unmatched`."""
    parts: list[str] = []
    end = 0
    for start, stop in zip(spans[::2], spans[1::2], strict=True):
        if end < start:
            parts.append(Unmatched(text[end:start]))
        if start < stop:
            parts.append(text[start:stop])
        end = stop
    if end < len(text):
        parts.append(Unmatched(text[end:]))
    return parts
