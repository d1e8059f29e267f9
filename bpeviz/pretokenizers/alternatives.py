"""The alternatives of the built-in expressions: which part of a pattern matches which pre-token.

A regular expression such as `a|b|c` tries its alternatives in order at each position, and takes the
first one that matches. So the alternative that matched explains why a text is split there.

The expressions of GPT-2, cl100k and o200k are those of tiktoken (`tiktoken_ext/openai_public.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import regex

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SIGNS = r"\]\[.,;\"'?():_`-"  # single pre-tokens in NLTK's pattern

# The rules of NLTK's TreebankWordTokenizer, after Robert MacIntyre's script for the Penn Treebank.
# They expect a sentence on each line. Here, curly quotation marks count as straight ones, and two
# colons or commas in a row are alike: NLTK leaves the second one at the next word.
_QUOTE = "['‘’]"
_DOUBLE_QUOTE = rf"[\"“”]|``|{_QUOTE}{_QUOTE}"
_LAST_PERIOD = r"\.(?=[\])}>\"“”'‘’]*+[^\S\n]*+(?![^\n]))"
_SEPARATE = rf"{_DOUBLE_QUOTE}|\.\.\.|--|[;@#$%&?!\[\](){{}}<>]|[:,](?!\d)|{_LAST_PERIOD}"
_AT_WORD_END = rf"(?:(?!\S)|(?={_SEPARATE}))"
_IN_WORD = rf"\.\.(?!\.)|(?!{_SEPARATE})\S"
_HALVES = [
    *(("can", "not"), ("d", "'ye"), ("gim", "me"), ("gon", "na"), ("got", "ta"), ("lem", "me")),
    *(("more", "'n"), ("'t", "is"), ("'t", "was")),
]
_SUFFIX = (
    rf"(?:{_QUOTE}(?:[smdSMD]|ll|re|ve|LL|RE|VE)?|n{_QUOTE}t|N{_QUOTE}T)(?={_QUOTE}?{_AT_WORD_END})"
)

_AT_END = "White space at the end of the text."
_BEFORE_LAST = (
    "White space before more white space: all of a run but its last character, which may join the "
    "next pre-token."
)
_THREE_DIGITS = "One to three digits, without a space."


@dataclass(frozen=True)
class Alternative:
    """One alternative of an expression.

    Attributes:
        expression: The part of the regular expression.
        about: One sentence about its matches.
        sample: A short text of which this alternative matches at least one pre-token.
        fills: Whether it only matches the text between the words or symbols of the pattern, which
            its source drops.
    """

    expression: str
    about: str
    sample: str
    fills: bool = False


def _any_case(word: str) -> str:
    """Return the expression of a word in upper or lower case, with any apostrophe."""
    return "".join(_QUOTE if letter == "'" else f"[{letter.upper()}{letter}]" for letter in word)


ALTERNATIVES = {
    "gpt2": (
        Alternative(
            "'(?:[sdmt]|ll|ve|re)",
            "An ending in lower case: 's, 'd, 'm, 't, 'll, 've or 're.",
            "we'll",
        ),
        Alternative(r" ?\p{L}++", "Letters, with one space before them if there is one.", "to go"),
        Alternative(r" ?\p{N}++", "Digits, with one space before them if there is one.", "in 2026"),
        Alternative(
            r" ?[^\s\p{L}\p{N}]++",
            "Other symbols, such as punctuation, with one space before them if there is one.",
            "so ... (no)",
        ),
        Alternative(r"\s++$", _AT_END, "end  "),
        Alternative(r"\s+(?!\S)", _BEFORE_LAST, "a   b"),
        Alternative(r"\s", "One white space character that no other alternative takes.", "a\nb"),
    ),
    "cl100k": (
        Alternative(
            "'(?i:[sdmt]|ll|ve|re)",
            "An ending in upper or lower case: 's, 'D, 'm, 't, 'LL, 've or 're.",
            "WE'LL",
        ),
        Alternative(
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            "Letters, with one character before them that is not a letter, digit or line break.",
            "(to go",
        ),
        Alternative(r"\p{N}{1,3}+", _THREE_DIGITS, "1234567"),
        Alternative(
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            "Other symbols, with one space before them and all line breaks after them.",
            "so ...\n\nno",
        ),
        Alternative(r"\s++$", _AT_END, "end  "),
        Alternative(r"\s*[\r\n]", "White space up to its last line break.", "a \n\n b"),
        Alternative(r"\s+(?!\S)", _BEFORE_LAST, "a   b"),
        Alternative(
            r"\s",
            "One white space character that no other alternative takes, such as a space before a "
            "digit.",
            "in 2026",
        ),
    ),
    "o200k": (
        Alternative(
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}",
            "Letters that end in lower case, capitals only at their start, with one other "
            "character before them and an ending such as 's.",
            "myPhone's",
        ),
        Alternative(
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}",
            "Capitals alone, with one other character before them and an ending such as 's.",
            "the USA's",
        ),
        Alternative(r"\p{N}{1,3}", _THREE_DIGITS, "1234567"),
        Alternative(
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            "Other symbols, with one space before them and all line breaks and slashes after them.",
            "so ...\n/no",
        ),
        Alternative(r"\s*[\r\n]+", "White space up to its last line break.", "a \n\n b"),
        Alternative(r"\s+(?!\S)", _BEFORE_LAST, "a   b"),
        Alternative(
            r"\s+",
            "White space that no other alternative takes, such as a space before a digit.",
            "in 2026",
        ),
    ),
    "words": (
        Alternative(r"\w+", "A word: letters, digits and underscores.", "to go"),
        Alternative(r"[^\w\s]+", "A run of punctuation and other symbols.", "so ...no"),
        Alternative(r"\s+", "A run of white space.", "to  go", fills=True),
    ),
    "whitespace": (
        Alternative(r"\S+", "A run of characters that are not white space.", "to go!"),
        Alternative(r"\s+", "A run of white space.", "to  go", fills=True),
    ),
    "nltk": (
        Alternative(r"(?:[A-Z]\.)+", "An abbreviation: capitals with periods.", "U.S.A."),
        Alternative(
            r"\w+(?:-\w+)*", "A word: letters and digits, with hyphens inside.", "a well-known cat"
        ),
        Alternative(r"\$?\d+(?:\.\d+)?%?", "An amount in dollars.", "at $12.40"),
        Alternative(r"\.\.\.", "An ellipsis of three periods.", "so ... no"),
        Alternative(rf"[{_SIGNS}]", "One punctuation mark.", "yes, (no)"),
        Alternative(
            rf"(?:(?!\$\d)[^\w{_SIGNS}])+",
            "A run of white space and other symbols.",
            "to  go",
            fills=True,
        ),
    ),
    "treebank": (
        Alternative(
            "|".join(
                (
                    *(
                        rf"{_any_case(first)}(?={_any_case(second)}(?!\w))"
                        for first, second in _HALVES
                    ),
                    rf"{_any_case('wan')}(?={_any_case('na')}{_AT_WORD_END})",
                )
            ),
            "The first half of cannot, gonna, wanna, gotta, gimme, lemme, d'ye or more'n, or the "
            "'t of 'tis or 'twas.",
            "cannot",
        ),
        Alternative(_DOUBLE_QUOTE, "A double quotation mark.", '"yes"'),
        Alternative(r"\.\.\.|--", "An ellipsis or a dash of two hyphens.", "so -- no ..."),
        Alternative(r"[;@#$%&?!\[\](){}<>]", "One of these symbols, or a bracket.", "so (no)!"),
        Alternative(r"[:,](?!\d)", "A comma or colon that no digit follows.", "yes, 3:30"),
        Alternative(
            _LAST_PERIOD,
            "A period at the end of a line, also with quotation marks and brackets after it.",
            "It is.",
        ),
        Alternative(
            _SUFFIX,
            "The end of a word: n't, 's, 'm, 'd, 'll, 're, 've, or an apostrophe.",
            "doesn't",
        ),
        Alternative(
            rf"(?:{_IN_WORD})+?(?={_SUFFIX}|{_AT_WORD_END})",
            "A word up to one of these or white space, with periods and hyphens inside.",
            "Mr. O'Hara's well-known U.S. firm",
        ),
        Alternative(r"\s+", "A run of white space.", "to  go", fills=True),
    ),
    "arithmetic": (
        Alternative(r"\d+(?:\.\d+)?", "A number, with its decimal point.", "3.5 + 12"),
        Alternative(r"[^\W\d]\w*", "A name: it starts with a letter or underscore.", "x1 + y"),
        Alternative(r"\s+", "A run of white space.", "1  2", fills=True),
        Alternative(r"[^\w\s]", "One operator, bracket or other symbol.", "(1+2)"),
    ),
}
"""The alternatives of the built-in expressions, in their order, by the key of the pattern."""


def joined(key: str) -> str:
    """Return the whole expression of a pattern of `ALTERNATIVES`."""
    return "|".join(alternative.expression for alternative in ALTERNATIVES[key])


@cache
def _grouped(key: str) -> regex.Pattern[str]:
    return regex.compile(
        "|".join(f"({alternative.expression})" for alternative in ALTERNATIVES[key])
    )


def matched(text: str, key: str, starts: Iterable[int]) -> list[int]:
    """Return the alternative of a pattern that matches at each start of a pre-token.

    Args:
        text: The whole text, since alternatives look ahead.
        key: A key of `ALTERNATIVES`.
        starts: The starts of pre-tokens, in characters.

    Returns:
        For each start, an index of `ALTERNATIVES[key]`.

    >>> matched("we'll go", "gpt2", [0, 2, 5])
    [1, 0, 1]
    """
    expression = _grouped(key)
    matches = (expression.match(text, start) for start in starts)
    # The built-in expressions match at each position, so the fallback is never used.
    return [(match.lastindex or 1) - 1 if match else 0 for match in matches]
