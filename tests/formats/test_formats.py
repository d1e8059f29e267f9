"""Tokenizer files give the same ids when read here and by the other libraries."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken_ext.openai_public
from helpers.difficult import DIFFICULT
from helpers.libraries import LIBRARIES
from helpers.properties import many, quarter
from helpers.refusals import refusal
from helpers.texts import SMALL_TEXTS
from hypothesis import assume, example, given
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FORMATS, FormatError
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.regex_dialects import DialectError
from bpeviz.libraries.tokenizer import LibraryTokenizer
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST
from bpeviz.trainers import TRAINERS

CORPORA = SMALL_TEXTS | st.lists(st.sampled_from(DIFFICULT[:-20]), max_size=6).map(" ".join)
_PARTS = ["ab", "ba", " ", "[UNK]", "été", "<|b|>", "<unk>", "low", "🤖", "\n\n", "x", "##a", "▁"]
TEXTS = st.one_of(
    SMALL_TEXTS,
    st.sampled_from(DIFFICULT),
    st.lists(st.sampled_from(_PARTS), max_size=12).map("".join),
)
SPLITS = st.sampled_from(
    [
        *((key, "") for key in PATTERNS),
        (CUSTOM, r"\p{L}+|\p{N}"),  # the parts between matches are pre-tokens
        (CUSTOM, r" ?\w+|[^\w\s]"),
        (CUSTOM, r"(?:[ab]{1,2}+|\s)|[^ab\s]++"),
        (CUSTOM, r" ?[^ ]+$|\w+(?!b)|(?s:.)"),
        (WORD_LIST, "a ab abc low lower ba été 👍"),
    ]
)
SPECIALS = st.sampled_from(
    [(), ("<|end|>",), ("<|b|>", "<|ab|>", "ab<|"), ("with space", "été", "\n\n"), ("a", "🤖")]
)
_NUMBERS = {
    "threshold": st.integers(0, 4),
    "min_count": st.integers(1, 2),
    "transition": st.integers(256, 270),
    "max_words": st.integers(1, 4),
    "base_size": st.integers(256, 264),
    "seed_size": st.integers(300, 400),
    "max_piece": st.integers(2, 16),
}


@st.composite
def any_arguments(draw: st.DrawFn) -> dict[str, Any]:
    """Draw arguments of `bpeviz.train` from the declared options of every trainer."""
    trainer = TRAINERS[draw(st.sampled_from([*TRAINERS]))]
    pattern, expression = draw(SPLITS)
    chosen: dict[str, Any] = {}
    for option in trainer.options:
        if option.objects is not None or not option.applies(chosen):
            continue
        if option.choices is not None:
            chosen[option.name] = draw(st.sampled_from([*option.choices]))
        elif option.name in _NUMBERS:
            chosen[option.name] = draw(_NUMBERS[option.name])
        elif option.kind == "text":
            chosen[option.name] = draw(SMALL_TEXTS)
    size = {"vocab_size": 290} if trainer.prunes else {"merges": draw(st.integers(0, 40))}
    return {
        "text": draw(CORPORA),
        "algorithm": trainer.key,
        "pattern": pattern,
        "expression": expression,
        "special_tokens": draw(SPECIALS),
        **size,
        **chosen,
    }


def trained_tokenizer(arguments: dict[str, Any], part: float = 1.0) -> Tokenizer:
    """Return the tokenizer after this share of the steps; raise `ValueError` without merges."""
    training = bpeviz.train(**arguments)
    return training.at_step(int(part * training.steps))


def check_held(tokenizer: Tokenizer, key: str, files: dict[str, bytes], text: str) -> None:
    """Check that a file gives the tokenizer's ids, here and in the other library."""
    back = formats.parse(files)
    ids = tokenizer.encode(text)
    assert back.encode(text) == ids
    if tokenizer.unknown_id not in ids:  # the library writes its name
        assert back.decode(ids) == tokenizer.decode(ids)
    if key in LIBRARIES:
        assert LIBRARIES[key](files)(text) == ids
    spans, read = (
        [(token.id, token.start, token.end) for token in one.tokens(text)]
        for one in (tokenizer, back)
    )
    assert read == spans
    here, there = tokenizer.boundaries(text), back.boundaries(text)
    if DROPPED_ID not in here.ids(tokenizer.steps):  # a library drops white space as a whole
        assert there.ids(back.steps).tolist() == here.ids(tokenizer.steps).tolist()
        assert there.cuts(back.steps).tolist() == here.cuts(tokenizer.steps).tolist()
    names = [*tokenizer.special_tokens]
    assert dict(back.special_tokens) == dict(tokenizer.special_tokens)
    marked = "".join([text[:3], *names, text])
    assert back.encode(marked, allowed_special=names) == tokenizer.encode(
        marked, allowed_special=names
    )
    again = formats.dump(back, key)
    assert formats.parse(again).encode(text) == ids


@pytest.mark.slow
@many(100, least=10)
@given(any_arguments(), st.sampled_from([0.4, 1.0]), st.lists(TEXTS, min_size=1, max_size=3))
@example(
    {
        "text": "andan anand an",
        "algorithm": "superbpe",
        "transition": 257,
        "vocab_size": 258,
        "pattern": WORD_LIST,
        "expression": "the\nand\n of a ab low",
    },
    1.0,
    ["an and an"],
)
@example({"text": "", "algorithm": "sentencepiece", "unknown": "bytes", "merges": 0}, 1.0, [" "])
def test_formats_round_trip_any_tokenizer_or_name_the_reason(
    arguments: dict[str, Any], part: float, texts: list[str]
) -> None:
    try:
        tokenizer = trained_tokenizer(arguments, part)
    except ValueError:
        assume(False)
    for key, form in FORMATS.items():
        if key == "sentencepiece":  # it encodes lines; test_sentencepiece.py tests it
            continue
        files, refusal = None, None
        try:
            files = formats.dump(tokenizer, key)
        except FormatError as error:
            refusal = error
        if refusal is not None:
            assert str(refusal).startswith(f"{form.title} cannot represent this tokenizer: ")
            reason = refusal.__cause__
            assert isinstance(reason, UnsupportedError)
            assert isinstance(reason.__cause__, DialectError | None), "a reason of the format"
        else:
            assert files is not None
            assert tuple(files) == form.files
            check_held(tokenizer, key, files, texts[len(key) % len(texts)])


@pytest.mark.parametrize("pattern", ["none", "gpt2", "cl100k"])
def test_minbpe_encodes_with_the_pattern_of_its_constructor(pattern: str) -> None:
    tokenizer = bpeviz.train("I'LL go  123456  \n\nI'LL", pattern=pattern, merges=30).tokenizer()
    files = formats.dump(tokenizer, "minbpe")
    encode = LIBRARIES["minbpe"](files)
    for text in ("I'LL go  123456  \n\nI'LL", *DIFFICULT[:20]):
        assert encode(text) == tokenizer.encode(text)
    readme = Path(formats.__file__).with_name("README.md").read_text("utf-8")
    assert FORMATS["minbpe"].example in readme
    assert "RegexTokenizer(pattern)" in str(bpeviz.save.__doc__)


@pytest.mark.thorough
def test_published_vocabularies_can_be_exported() -> None:
    for key in ("gpt2", "huggingface"):
        check_same_ids(bpeviz.load("gpt2"), key)
    for key in ("huggingface", "tiktoken", "csv"):
        check_same_ids(bpeviz.load("cl100k_base"), key)


def check_same_ids(tokenizer: Tokenizer, key: str) -> None:
    files = formats.dump(tokenizer, key)
    back = formats.parse(files)
    encode = LIBRARIES[key](files) if key in LIBRARIES else back.encode
    for text in quarter(DIFFICULT, repr(files)):
        ids = tokenizer.encode(text)
        assert encode(text) == ids
        assert back.encode(text) == ids
        if tokenizer.unknown_id not in ids:  # the library writes its name
            assert back.decode(ids) == tokenizer.decode(ids)
    assert dict(back.special_tokens) == dict(tokenizer.special_tokens)


def test_csv_contains_pair_counts() -> None:
    tokenizer = bpeviz.train("low lower lowest", vocab_size=258).tokenizer()
    (content,) = formats.dump(tokenizer, "csv").values()
    assert content.decode().splitlines() == [
        '# bpeviz {"atoms": "bytes", "pattern": "gpt2"}',
        "left,right,new_id,count",
        "108,111,256,3",
        "256,119,257,3",
    ]


def test_dump_rejects_equal_token_strings_where_they_need_one_id() -> None:
    """a+bc and ab+c are two merges here; CSV and minbpe store both as pairs of ids."""
    merges = "left,right\n97,98\n98,99\n256,99\n97,257\n"
    tokenizer = formats.parse({"merges.csv": merges.encode()}, pattern="none")
    for key in ("csv", "minbpe"):
        check_same_ids(tokenizer, key)
    for key in ("huggingface", "tiktoken"):
        refusal(formats.dump, tokenizer, key, naming=("258", "259", "abc"), error=FormatError)


def test_dump_to_tiktoken_rejects_merges_that_ranks_reorder() -> None:
    """tiktoken would merge abc from a and bc, which it finds at a lower rank than ab."""
    merges = "left,right\n98,99\n97,98\n257,99\n"
    tokenizer = formats.parse({"merges.csv": merges.encode()}, pattern="none")
    refusal(formats.dump, tokenizer, "tiktoken", naming="tiktoken", error=FormatError)
    check_same_ids(tokenizer, "huggingface")


@pytest.mark.parametrize("separator", ",;\t")
@given(text=st.text("ab,;=+-@ \t\r\n\"'", max_size=30))
@example(text="a,=cmd|' /C calc'!A0;@SUM(1)\t=1\r=2\n+3")
@example(text="x,-1;-2")
def test_no_cell_of_a_csv_file_is_a_formula(separator: str, text: str) -> None:
    tokenizer = bpeviz.train(
        f"abab{text}", merges=1, atoms="characters", special_tokens=tuple({text} - {""})
    ).tokenizer()
    files = formats.dump(tokenizer, "csv")
    assert formats.parse(files).special_tokens == tokenizer.special_tokens
    (content,) = files.values()
    for line in content.decode().splitlines():
        assert not [cell for cell in line.split(separator) if cell.startswith(tuple("=+-@\t\r"))]


def test_ranks_of_gpt3_open_by_their_checksum() -> None:
    """r50k_base has the ranks of GPT-2, and p50k_base 24 runs of spaces more."""
    ranks = bpeviz.load("gpt2")._ranks  # type: ignore[attr-defined]
    runs = {b" " * n: 50_255 + n for n in range(2, 26)}
    for more, name in (({}, "r50k_base"), (runs, "p50k_base")):
        lines = [base64.b64encode(raw) + b" %d\n" % rank for raw, rank in (ranks | more).items()]
        content = b"".join(sorted(lines, key=lambda line: int(line.split()[1])))
        ours = formats.parse({f"{name}.tiktoken": content})
        theirs = tiktoken.Encoding(
            name,
            pat_str=tiktoken_ext.openai_public.r50k_pat_str,
            mergeable_ranks=ranks | more,
            special_tokens={"<|endoftext|>": 50_256},
        )
        for text in quarter(DIFFICULT, name):
            assert ours.encode(text) == theirs.encode_ordinary(text)
            assert ours.boundaries(text).ids(ours.steps).tolist() == ours.encode(text)
        assert ours.encode("<|endoftext|>", allowed_special="all") == [50_256]


def test_text_that_spells_out_the_unknown_token_is_decoded_as_it_is() -> None:
    arguments = {"merges": 3, "unknown": "unk", "split_at_special": False}
    training = bpeviz.train("<unk> ab <unk>", "sentencepiece", pattern="none", **arguments)
    tokenizer = training.tokenizer()
    read = formats.parse(formats.dump(tokenizer, "huggingface"))
    assert isinstance(read, LibraryTokenizer)
    for text, decoded in (("<unk> ab", "<unk> ab"), ("ab x", "ab \ufffd")):
        assert read.decode(read.encode(text)) == tokenizer.decode(tokenizer.encode(text)) == decoded
