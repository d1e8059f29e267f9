"""Pre-tokenization: named patterns against tiktoken, regular expressions, word lists."""

from __future__ import annotations

import time
from itertools import product

import pytest
import regex
import tiktoken_ext.openai_public
from helpers.properties import examples, many
from helpers.refusals import refusal
from helpers.texts import ANY_TEXT
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.tokenize import TreebankWordTokenizer

from bpeviz import SplitError, load
from bpeviz.corpus import samples
from bpeviz.pretokenizers import expressions, regex_worker
from bpeviz.pretokenizers.patterns import (
    MAX_EXPRESSION,
    MAX_WORD,
    MAX_WORD_LIST,
    PATTERNS,
    TIME_LIMIT,
    Unmatched,
    mark_unmatched,
    pretokenize,
)
from bpeviz.workers.child import StartError


def own_pattern(key: str) -> str:
    """Return tiktoken's expression for a named pattern."""
    if key == "gpt2":
        return tiktoken_ext.openai_public.r50k_pat_str
    return load({"cl100k": "cl100k_base", "o200k": "o200k_base"}[key])._encoding._pat_str


# Named patterns


@many()
@given(ANY_TEXT, st.sampled_from(["gpt2", "cl100k", "o200k"]))
@example("I'LL we'll \r\n  \n x", "cl100k")
def test_named_patterns_equal_tiktoken_expressions(text: str, key: str) -> None:
    assert pretokenize(text, key) == regex.findall(own_pattern(key), text)


@settings(max_examples=examples(300))
@given(ANY_TEXT)
@example("$12.40 12.40 a -> b U.S.A. poster-print 5% ...")
def test_nltk_pattern_equals_book_expression(text: str) -> None:
    """NLTK's book, chapter 3.7, with the hyphen of its last class among the signs."""
    book = r"""(?x)
        (?:[A-Z]\.)+             # abbreviations
      | \w+(?:-\w+)*            # words
      | \$?\d+(?:\.\d+)?%?      # money and percentages
      | \.\.\.                  # an ellipsis
      | [][.,;"'?():_`-]
    """
    assert pretokenize(text, "nltk") == pretokenize(text, "regex", book)


nltk_treebank = TreebankWordTokenizer().tokenize


def treebank_tokens(text: str) -> list[str]:
    """Return the tokens of NLTK's tokenizer for each line, with straight quotation marks."""
    straight = text.translate(str.maketrans("‘’“”", "''\"\""))
    tokens = [token for line in straight.split("\n") for token in nltk_treebank(line)]
    return ['"' if token in ("``", "''") else token for token in tokens]


def check_treebank(text: str) -> None:
    found = [one for one in pretokenize(text, "treebank") if not one.isspace()]
    straight = [one.translate(str.maketrans("‘’“”", "''\"\"")) for one in found]
    assert ['"' if one in ("``", "''") else one for one in straight] == treebank_tokens(text)


@pytest.mark.parametrize("sample", samples.SAMPLES, ids=lambda sample: sample.key)
def test_treebank_pattern_equals_nltk_for_samples(sample: samples.Sample) -> None:
    check_treebank(sample.text)


TREEBANK = regex.findall(
    r"\S+",
    """
    Mr. Dr. U.S. i.e. m.p.h. etc., 3:30 p.m. 10,000 $3.88 5% don't DON'T I'll they'd I'd've
    couldn't've cannot gonna wanna wanna, gotta gimme lemme 'tis 'Twas d'ye more'n dogs' it's
    IT'S it's. that's, "Hi" (so) ... -- a--b a---b well-known http://example.org/a?b=c a.b x..
    y.... 'quoted' 'I can't' AT&T a;b e@f.g #1 :-) a:b {x} <b> !? word. word, "no." (yes.) ``y''
    `x' n't 's 1. 2.5. O'Brien o'clock rock'n'roll 'em naïve's x/y a_b (it's) '70s ...so what...
    Yes.' end.") a—b “it’s” ‘I can’t’ d’ye ’Twas
    """,
)


@settings(max_examples=examples(500))
@given(st.lists(st.sampled_from(TREEBANK), max_size=8), st.sampled_from([" ", "\n", "  "]))
@example(TREEBANK, " ")
@example(TREEBANK, "\n")
def test_treebank_pattern_equals_nltk(words: list[str], between: str) -> None:
    check_treebank(between.join(words))


@pytest.mark.parametrize(
    "sentences",
    [
        ["It rains. ", "It pours! ", '"Really?" ', "(Yes.) ", "Well"],
        ["It costs 3.50 in the U.S.A. today. ", "Wait… and see... now. ", "Done."],
        ["Mr. ", "Smith"],  # no rule of this kind recognizes abbreviations
        ["A heading\n", "A line \r\n\n", "  Another. \n \n", "x"],
        ["他说：“好。”", "然后走了。", "真的？", "真的！"],
        ["क्या? ", "हाँ। ", "ठीक"],
        ["؟ ", "لا"],
        ["a.\n", "b"],
    ],
)
def test_sentences_pattern_splits_at_sentence_ends(sentences: list[str]) -> None:
    assert pretokenize("".join(sentences), "sentences") == sentences


@pytest.mark.thorough
def test_patterns_split_long_runs_in_linear_time() -> None:
    """None of these may take time that grows with the square of the length."""
    pieces = [
        ".",
        '."',
        "...so",
        ". ",
        " ",
        "\n",
        " \n",
        "?!",
        "a-",
        "A.",
        "$",
        "$1",
        "1.",
        "。",
        "\"'",
    ]
    for key, piece in product(PATTERNS, pieces):
        text = piece * (100_000 // len(piece))
        for shown in (text, text + "x"):
            assert "".join(pretokenize(shown, key)) == shown, (key, piece)


# Regular expressions


def split_error(expression: str, text: str = "aab", time_limit: float = TIME_LIMIT) -> str:
    with pytest.raises(SplitError) as caught:
        pretokenize(text, "regex", expression, time_limit)
    sentence = str(caught.value)
    assert regex.fullmatch(r"[A-Z].*\.", sentence)
    return sentence


@pytest.mark.parametrize(
    "expression",
    [
        *("(", ")", "[a", "a**", "(?P<x>a)(?P<x", r"\p{Klingon}", r"(?<a", "*", r"\N{no such}"),
        *("a{9,1}", "a{99999999999}", ""),
        "(?a)(?L)x",  # a plain ValueError of `regex`
    ],
)
def test_broken_expression_raises_split_error(expression: str) -> None:
    split_error(expression)


def test_too_long_expression_raises_split_error() -> None:
    assert "2,001 characters" in split_error("a" * (MAX_EXPRESSION + 1))
    assert pretokenize("b", "regex", "a" * MAX_EXPRESSION) == ["b"]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("(a|aa)+$", "a" * 60 + "b"),
        ("(?:hello world, this){e<=15}", "abcdefgh jklm hello" * 2_000),
    ],
)
def test_catastrophic_expression_is_stopped(expression: str, text: str) -> None:
    """`(a+)+$` does not: the `regex` package sees through it."""
    begin = time.perf_counter()
    assert "took more than 0.2 seconds" in split_error(expression, text, 0.2)
    assert time.perf_counter() - begin < 20


def test_time_limit_covers_all_matches_together() -> None:
    """Each of these takes a hundredth of a second, all of them two seconds."""
    text = ("a" * 22 + "b") * 200
    begin = time.perf_counter()
    assert "took more than 0.3 seconds" in split_error("(?:a|aa)+?c|b", text, 0.3)
    assert time.perf_counter() - begin < 20


def test_endless_recursion_raises_split_error() -> None:
    assert regex.search("too much memory|took more than", split_error("a(?R)?|(?R)", "aab", 1.0))


def test_recursive_expression_matches_nested_brackets() -> None:
    assert pretokenize("f(a(b)c)d", "regex", r"\((?:[^()]|(?R))*\)") == ["f", "(a(b)c)", "d"]
    assert pretokenize("aB", "regex", r"(?i)(?:b)(?-i)") == ["a", "B"]


@pytest.mark.parametrize("expression", ["((){50000})", "((a{1000}){1000}){1000}"])
def test_expression_that_compiles_slowly_is_stopped(
    expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expressions, "REQUEST_CLOCK", 50)  # a busy machine is another reason
    assert regex.search("too much memory|took more than 0.3", split_error(expression, "aab", 0.3))


@pytest.mark.parametrize(
    "expression",
    [r"\p{N}{1,3}", "a{0,1000000}", r"\d{4}-\d{2}-\d{2}", "(a){9000}", r"\{1000000\}x?"],
)
def test_moderate_repeats_are_accepted(expression: str) -> None:
    assert "".join(pretokenize("2026-11-01 aaa", "regex", expression)) == "2026-11-01 aaa"


@pytest.mark.parametrize("expression", ["(" * 900 + ")" * 900, "(?:" * 390 + "a" + ")*" * 390])
def test_deeply_nested_expression_raises_split_error(expression: str) -> None:
    assert "nested too deeply" in split_error(expression)


# Word lists


def longest_match(text: str, words: list[str]) -> list[str]:
    """Try every listed word at every place, by the definition."""
    pre_tokens = []
    while text:
        prefixes = [word for word in words if text.startswith(word)]
        pre_token = max(prefixes, key=len, default=text[0])
        pre_tokens.append(pre_token)
        text = text[len(pre_token) :]
    return pre_tokens


@settings(max_examples=examples(300))
@given(
    st.text("ab明进 ", max_size=30) | ANY_TEXT,
    st.lists(st.text("ab明进", min_size=1, max_size=5), min_size=1, max_size=8),
)
@example("ab", ["aba", "a"])
def test_word_list_takes_longest_match(text: str, words: list[str]) -> None:
    assert pretokenize(text, "list", " ".join(words)) == longest_match(text, words)


def test_word_list_accepts_any_white_space() -> None:
    for between in (" ", "\n", "\t", "\u3000", " \r\n "):
        assert pretokenize("姚明进入", "list", f"{between}姚明{between}进入") == ["姚明", "进入"]


@pytest.mark.parametrize(
    ("words", "naming"),
    [
        ("", ()),
        (" \n\u3000", ()),
        ("a " * (MAX_WORD_LIST // 2 + 1), f"{MAX_WORD_LIST + 2:,} characters"),
        ("a" * (MAX_WORD + 1), f"{MAX_WORD + 1} characters"),
    ],
)
def test_invalid_word_list_raises_split_error(words: str, naming: str) -> None:
    refusal(pretokenize, "aab", "list", words, naming=naming, error=SplitError)


def test_longest_allowed_word_list_is_accepted() -> None:
    words = " ".join(f"{i:07}" for i in range(MAX_WORD_LIST // 8))
    assert pretokenize("0000012x", "list", words) == ["0000012", "x"]
    assert pretokenize("a" * MAX_WORD + "a", "list", "a" * MAX_WORD) == ["a" * MAX_WORD, "a"]


def test_slow_word_list_is_stopped() -> None:
    words = " ".join("a" * i + "b" for i in range(1, MAX_WORD))
    arguments = "a" * 1_000_000, "list", words, 0.05
    refusal(pretokenize, *arguments, naming=("0.05 seconds", "long words"), error=SplitError)
    arguments = "b" * 1_000_000, "list", words, 0.01
    refusal(pretokenize, *arguments, naming="text is too long", error=SplitError)


def test_slow_worker_is_not_said_to_be_a_slow_word_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> list[int]:
        raise StartError("its process did not start")

    monkeypatch.setattr(expressions, "ask", late)
    with pytest.raises(SplitError) as failed:
        pretokenize("a dog", "list", "dog")
    words = "The word list could not be used: its process did not start. Try again."
    assert str(failed.value) == words


def test_word_list_is_applied_in_a_child_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(regex_worker, "word_ends")
    assert pretokenize("therein", "list", "the there in") == ["there", "in"]


# Text that a pattern does not match


PUBLISHED = {
    "words": r"\w+|[^\w\s]+",
    "whitespace": r"\S+",
    "nltk": r"""(?:[A-Z]\.)+|\w+(?:-\w+)*|\$?\d+(?:\.\d+)?%?|\.\.\.|[\]\[.,;"'?():_`-]""",
    "arithmetic": r"\d+(?:\.\d+)?|[^\W\d]\w*|[^\w\s]",
    "gpt2": PATTERNS["gpt2"].expression or "",
}
"""Expressions whose matches are the tokens of `findall` in classic demonstrations."""


@settings(max_examples=examples(100))
@given(
    ANY_TEXT | st.text("ab1 $.-@'\n", max_size=40),
    st.sampled_from([*PUBLISHED, "treebank", "sentences", "none"])
    | st.sampled_from([r"\w+", "a(?=b)", "(?<=a)b|1*"]).map(lambda own: ("regex", own)),
)
@example("at $12.40 @ $5 #x", "nltk")
def test_unmatched_text_is_what_findall_drops(text: str, how: str | tuple[str, str]) -> None:
    pattern, expression = (how, "") if isinstance(how, str) else how
    pre_tokens = mark_unmatched(text, pattern, expression)
    assert [str(one) for one in pre_tokens] == pretokenize(text, pattern, expression)
    matched = [str(one) for one in pre_tokens if type(one) is not Unmatched]
    if pattern == "treebank":
        assert matched == [one for one in pretokenize(text, pattern) if not one.isspace()]
    elif published := PUBLISHED.get(pattern, expression):
        assert matched == [one for one in regex.findall(published, text) if one]
    else:
        assert matched == pretokenize(text, pattern)


def test_unmatched_text_differs_from_a_pre_token() -> None:
    assert {"a": 1, Unmatched("a"): 2}["a"] == 1
    assert Unmatched("a") == Unmatched("a")
    assert "a" not in [Unmatched("a")]
    assert Unmatched("a") not in ["a"]
    listed = mark_unmatched("therex", "list", "the there")
    assert [(str(one), type(one) is Unmatched) for one in listed] == [("there", False), ("x", True)]
