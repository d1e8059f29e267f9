r"""An expression that is written for another engine cuts every text there as ours does here.

Each engine itself says how: Oniguruma through Hugging Face's `Split`, Rust's through tiktoken, and
`regex` by looking for matches, as minbpe does.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest
import regex
import tiktoken
from helpers.difficult import DIFFICULT
from helpers.libraries import LIBRARIES
from helpers.properties import examples, quarter
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

import bpeviz
from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FormatError
from bpeviz.formats.regex_dialects import DialectError, Engine, expression_of, pattern_of
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST, pretokenize
from bpeviz.pretokenizers.pretokenizer import PreTokenizer

pytestmark = pytest.mark.slow

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
        assert pattern_of(foreign, engine) == (key, "")


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


# A user's own expressions


TRAINED = bpeviz.train("the low lower  lowest 12 é ab", merges=20).tokenizer()


@pytest.mark.parametrize(
    "expression",
    [
        r"\p{L}+|\p{N}",  # the text between matches is a pre-token
        r"\w+|[^\w\s]+|\s+",
        "(?:[a-c]{1,2}|x)",
    ],
)
@pytest.mark.parametrize("key", ["huggingface", "tiktoken", "minbpe"])
def test_own_expression_is_exported_with_the_same_ids(expression: str, key: str) -> None:
    tokenizer = replace(TRAINED, pre_tokenizer=PreTokenizer("bytes", CUSTOM, expression))
    files = formats.dump(tokenizer, key)
    back, encode = formats.parse(files), LIBRARIES[key](files)
    for text in quarter(DIFFICULT, expression + key):
        assert encode(text) == tokenizer.encode(text)
        assert back.encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize(
    ("key", "expression", "why"),
    [
        ("huggingface", "(?i:ss)x|.", "other ids, such as"),  # also ßx in Oniguruma
        ("huggingface", "(?:xa$)|.", "other ids, such as"),  # a line's end in Oniguruma
        ("huggingface", "(?:a{1,3}+a)|.", "possessive repeat"),
        ("huggingface", r"(?:[ab]{1,2}+|\s)|[^ab\s]++", "possessive repeat"),
        ("huggingface", r"(?r)a", "tokenizers refuses it: Oniguruma"),
        ("tiktoken", r"(?r)a", "tiktoken refuses it"),
        ("tiktoken", r"a\X|.", "tiktoken refuses it|other ids"),
        ("tiktoken", "((((a|a)+)+)+)+b|.", "refuses|took more|takes"),
        ("minbpe", "(a)|b", r"groups in \(…\)"),
        ("minbpe", "(?P<name>a)|b", r"groups in \(…\)"),
    ],
)
def test_own_expression_that_another_engine_reads_differently_is_refused(
    key: str, expression: str, why: str
) -> None:
    trained = bpeviz.train("aaaaa aaaaa xa\nxa\nxa ßx ßx", pattern="none", merges=12).tokenizer()
    tokenizer = replace(trained, pre_tokenizer=PreTokenizer("bytes", CUSTOM, expression))
    with pytest.raises(FormatError, match=why):
        formats.dump(tokenizer, key)


def _opened(key: str, expression: str) -> Tokenizer:
    files = formats.dump(TRAINED, key)
    if key == "minbpe":
        lines = files["tokenizer.model"].split(b"\n")
        lines[1] = expression.encode()
        return formats.parse({"tokenizer.model": b"\n".join(lines)})
    arguments = json.loads(files["tokenizer.tiktoken.json"]) | {"pat_str": expression}
    return formats.parse(files | {"tokenizer.tiktoken.json": json.dumps(arguments).encode()})


@pytest.mark.parametrize(
    ("key", "expression", "why"),
    [
        *((key, r"\p{L}+|\p{N}", "leave out|other ids") for key in ("minbpe", "tiktoken")),
        *((key, "(a", "not valid|missing|tiktoken") for key in ("minbpe", "tiktoken")),
        ("minbpe", "(a)|(?s:.)", r"groups in \(…\)"),
        ("minbpe", "(a|a)+b|" * 900, "the limit is"),
        ("tiktoken", r"[\p{L}&&[^a]]+|(?s:.)", "other ids"),  # `regex` has no such sets
    ],
)
def test_file_with_an_expression_that_splits_differently_here_is_refused(
    key: str, expression: str, why: str
) -> None:
    with pytest.raises(FormatError, match=why):
        _opened(key, expression)


@settings(max_examples=examples(100))
@given(st.text("ab|()[]{}*+?^$\\.-,1pLwsSdD:=!<>i'&", max_size=12), st.sampled_from(ENGINES))
def test_arbitrary_expressions_raise_only_dialect_errors(expression: str, engine: Engine) -> None:
    for ask in (
        lambda: pattern_of(expression, engine),
        lambda: expression_of(CUSTOM, expression, engine),
    ):
        with suppress(DialectError):
            ask()
