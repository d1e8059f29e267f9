r"""An expression that is written for another engine cuts every text there as ours does here.

Each engine itself says how: Oniguruma through Hugging Face's `Split`, Rust's through tiktoken, and
`regex` by looking for matches, as minbpe does.
"""

from __future__ import annotations

from contextlib import suppress

import pytest
import regex
import tiktoken
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from properties import examples
from tokenizers import Regex, pre_tokenizers

from bpeviz.formats.regex_dialects import (
    DialectError,
    Engine,
    covers,
    expression_of,
    pattern_of,
    translate,
)
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST, SplitError, pretokenize

SINGLE_BYTES = {bytes([i]): i for i in range(256)}
ENGINES: tuple[Engine, ...] = ("regex", "oniguruma", "rust")


def ours(text: str, pattern: str, expression: str = "") -> list[str]:
    return pretokenize(text, pattern, expression)


def theirs(engine: Engine, expression: str, text: str) -> list[str]:
    """Return the pre-tokens found by another library."""
    if engine == "regex":
        return [match[0] for match in regex.finditer(expression, text) if match[0]]
    if engine == "oniguruma":
        pieces = pre_tokenizers.Split(Regex(expression), "isolated").pre_tokenize_str(text)
        return [piece for piece, _ in pieces] if text else []
    # tiktoken returns ids only, so every pre-token is made a token.
    raw = text.encode()
    parts = {raw[i:j] for i in range(len(raw)) for j in range(i + 2, len(raw) + 1)}
    encoding = tiktoken.Encoding(
        "any",
        pat_str=expression,
        mergeable_ranks=SINGLE_BYTES | {part: 256 + i for i, part in enumerate(sorted(parts))},
        special_tokens={},
    )
    ids = encoding.encode_ordinary(text)
    return [encoding.decode_single_token_bytes(token_id).decode() for token_id in ids]


# Expressions of every supported kind

# fmt: off
_SINGLE = st.sampled_from([
    "a", "b", " ", "é", "1", ".", "_", "-", "'", r"\s", r"\S", r"\w", r"\W", r"\d", r"\D", r"\n",
    r"\.", r"\p{L}", r"\P{L}", r"\p{Lu}", r"\p{N}", "[ab]", "[^ab]", r"[^\s\p{L}\p{N}]", r"[\w-]",
    r"[^\W\d]", r"[^\Wa]", r"[a-c1\n]", r"[^\r\n]", "(?s:.)", "(?i:'s|b)",
])
_REPEAT = st.sampled_from([
    "?", "*", "+", "?+", "*+", "++", "*?", "+?", "??", "{1,3}", "{2}", "{1,3}+", "{2,}", "{1,}+",
    "{1,2}?",
])
# fmt: on


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds("(?:{}){}".format, inner, _REPEAT),
        st.builds("{}{}".format, _SINGLE, _REPEAT),
        several.map("".join),
        several.map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.builds(
            str.format,
            st.sampled_from(["(?={})", "(?!{})", "(?>{})", "({})", "{}$", r"{}\Z"]),
            inner,
        ),
    )


EXPRESSIONS = st.lists(st.recursive(_SINGLE, _composed, max_leaves=6), min_size=1, max_size=3).map(
    "|".join
)
TEXTS = st.lists(st.text("ab1é \n\r\t_-²'sSB☃\u2028\u200d", max_size=12), min_size=1, max_size=4)


MANY_CHARACTERS = "".join(map(chr, range(0x3100)))


@pytest.mark.large
@settings(max_examples=examples(700))
@given(EXPRESSIONS, TEXTS)
@example("a{1,3}+|a", ["aaaaaaa"])  # in Oniguruma a repeat of a repeat, and not possessive
@example("(?>a{1,3})a|b", ["aaaab", "aab"])
@example("a$|a", ["a\na\n", "a\n", "a\n\n"])  # a line's end in Oniguruma, the very end in Rust
@example(r"a\Z|a", ["a\n", "aa"])
@example("(?s:.)+", ["a\nb\r\n\u2028"])  # an error in Oniguruma, where (?m:.) says it
@example(".+", ["a\nb\r\u2028c"])  # the engines differ in the characters that . excludes
@example(r"\w+", ["a²b", "a\u200db", "a_1é"])  # ² is a letter for Oniguruma alone
@example(r"\W+|[^\Wa]+|[\w-]+", ["²a-_b ☃"])
@example(r"\d+", ["1²", "a1"])
@example(r"\s+", ["\u2028\x85\u3000 \x1c"])  # \x1c is white space for Python's `re` alone
@example(r"a|(?=b)b", ["ab☃ba"])  # leaves something out, which tiktoken and minbpe would drop
@example("(?i:'s|b)+", ["'S'sBb", "'\u017f"])  # ſ is an S in some case
def test_custom_pattern_is_equal_in_every_engine_and_round_trips(
    expression: str, texts: list[str]
) -> None:
    try:
        pretokenize("", CUSTOM, expression)
        written = {engine: expression_of(CUSTOM, expression, engine) for engine in ENGINES}
    except (SplitError, DialectError):
        assume(False)
    if covers(expression, "regex"):
        for text in (MANY_CHARACTERS, *texts):
            assert "".join(theirs("regex", expression, text)) == text
    for engine, foreign in written.items():
        back = pattern_of(foreign, engine, drops=engine != "oniguruma")
        for text in texts:
            expected = ours(text, CUSTOM, expression)
            assert theirs(engine, foreign, text) == expected
            assert ours(text, *back) == expected


@pytest.mark.parametrize("key", PATTERNS)
@settings(max_examples=examples(80))
@given(text=st.text("aB1é \n\r\t_-²'sST.!?’”)…☃\u2028\x85\u200d\u3000。s漢$%", max_size=20))
@example(text="DON'T don't 'S 12345 ²³ U.S.A. $12.40 x\n\n y \r\n")
@example(text="\n")
@example(text="  ")
def test_named_patterns_are_equal_in_every_engine(key: str, text: str) -> None:
    for engine in ENGINES:
        foreign = expression_of(key, "", engine)
        assert theirs(engine, foreign, text) == ours(text, key)
        assert pattern_of(foreign, engine, drops=engine != "oniguruma") == (key, "")


@settings(max_examples=examples(60))
@given(
    st.lists(st.text("ab.|$^[]\\()+*?-{}é👍", min_size=1, max_size=4), min_size=1, max_size=8),
    st.text("ab.|$^[]\\()+*?-{}é👍 \n", max_size=12),
)
@example(["a", "ab", "abc"], "abcab")  # the longest match wins
def test_word_list_is_equal_in_every_engine(words: list[str], text: str) -> None:
    listed = " ".join(words)
    for engine in ENGINES:
        assert theirs(engine, expression_of(WORD_LIST, listed, engine), text) == ours(
            text, WORD_LIST, listed
        )


# Rejected expressions


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("(?i:ss)", "match a ligature"),  # also ß in Oniguruma
        ("(?i:i)", "is not supported"),  # also İ in `regex`
        ("(?i:é)", "is not supported"),
        ("^a", r"\^ has another meaning"),
        (r"\bab", r"\\b has another meaning"),
        (r"(?<=a)b", "is not supported"),
        (r"(?P<name>a)", "is not supported"),
        (r"(a)\1", r"\\1 has another meaning"),
        (r"\p{Script=Greek}", "the class .* is not supported"),
        (r"\p{^L}", "the class .* is not supported"),
        ("[[:alpha:]]", r"\[ in a character class"),
        ("[a&&b]", "& in a character class"),
        ("[a~~b]", "~ in a character class"),
        ("a{2}+", "has another meaning"),
        ("a{0}", "repeat .* is not valid"),
        ("a{,2}", "has another meaning"),
        ("(?:a*)*", "may match an empty text"),
        ("a*", "may match an empty text"),
        ("a|", "may match an empty text"),
        (r"\x41", r"\\x has another meaning"),
        (r"\X", r"\\X has another meaning"),
        (r"\K", r"\\K has another meaning"),
        ("(?#no)a", "is not supported"),
        ("(?x: a)", "is not supported"),
    ],
)
@pytest.mark.parametrize("engine", ["oniguruma", "rust"])
def test_expression_with_engine_differences_raises_dialect_error(
    expression: str, why: str, engine: Engine
) -> None:
    pretokenize("", CUSTOM, expression)  # here it can be used
    with pytest.raises(DialectError, match=why):
        expression_of(CUSTOM, expression, engine)


@pytest.mark.parametrize(
    ("engine", "expression", "why"),
    [
        ("oniguruma", "a{1,3}+", "has another meaning"),
        ("oniguruma", "(?s:.)", "is not supported"),
        ("oniguruma", r"a$", r"\$ has another meaning"),
        ("oniguruma", r"\w+", r"\\w has another meaning"),
        ("oniguruma", r"\h+", r"\\h has another meaning"),
        ("oniguruma", r"\p{^Alpha}", "the class .* is not supported"),
        ("oniguruma", "(a", "a group is not closed"),
        ("oniguruma", "a)", "a closing bracket has no opening one"),
        ("oniguruma", "[a", "a character class is not closed"),
        ("oniguruma", "a\\", "the backslash is the last"),
        ("oniguruma", "[b-a]", "a range has no end"),
        ("oniguruma", "(" * 60 + "a" + ")" * 60, "nested more than 50 deep"),
        ("oniguruma", "a" * 5_000, "5,000 characters"),
        ("oniguruma", "a++++", "a repeat is repeated"),
        ("oniguruma", "", "empty"),
        ("rust", r"\w+", r"\\w has another meaning"),
        ("rust", "a$", r"\$ has another meaning"),
        ("rust", r"(?-u:\xFF)", "is not supported"),
        ("rust", "a{1000}{1000}", "a repeat is repeated"),
        ("rust", "((a{1000}){1000}){1000}", "too much memory|took more than"),
        ("rust", "((((a+)+)+)+)+$", r"\$ has another meaning"),
    ],
)
def test_untranslatable_foreign_expression_raises_dialect_error(
    engine: Engine, expression: str, why: str
) -> None:
    with pytest.raises(DialectError, match=why) as refused:
        pattern_of(expression, engine, drops=False)
    message = str(refused.value)  # a clause of a longer sentence
    assert len(message) < 300
    assert not message.endswith(".")


@pytest.mark.parametrize(
    ("expression", "certain"),
    [
        (r"\s|\S", True),
        (r"\w+|\W", True),
        (r"\p{Lu}|\P{L}|\p{Ll}", False),
        (r"[^\n]+|\n", True),
        (r"[^\r\n]+|\n", False),
        ("[a-z]+|[^a-y]", True),
        ("[a-y]+|[^a-z]", False),
        ("(?i:a)+|[^a]", True),
        ("(?i:k)+|[^ak]", False),
        ("(?s:.)", True),
        ("(?!a)(?s:.)", False),
        ("a(?=b)|[^a]", False),
        ("(?>ab)|a|[^a]", True),
        ("a++b|[^a]", False),
        ("a+b?|[^a]", True),
    ],
)
def test_covers_detects_expressions_that_match_all_text(expression: str, certain: bool) -> None:
    alone = regex.compile(expression)
    assert all(map(alone.fullmatch, MANY_CHARACTERS)) or not certain
    assert covers(expression, "regex") is certain


@pytest.mark.parametrize("engine", ["regex", "rust"])
@pytest.mark.parametrize("expression", [r"\p{L}+", "a|b", r"\S+(?!a)|\s+", r"(?>\s+a)|\S+|\s\s"])
def test_expression_with_gaps_is_rejected_where_gaps_are_dropped(
    engine: Engine, expression: str
) -> None:
    with pytest.raises(DialectError, match="leave out a part of a text"):
        pattern_of(expression, engine, drops=True)
    assert pattern_of(expression, engine, drops=False) == (CUSTOM, expression)


@settings(max_examples=examples(300))
@given(st.text("ab|()[]{}*+?^$\\.-,1pLwsSdD:=!<>i'&", max_size=12), st.sampled_from(ENGINES))
def test_arbitrary_expressions_raise_only_dialect_errors(expression: str, engine: Engine) -> None:
    for ask in (
        lambda: translate(expression, engine, "regex"),
        lambda: pattern_of(expression, engine, drops=False),
        lambda: expression_of(CUSTOM, expression, engine),
    ):
        with suppress(DialectError):
            ask()
