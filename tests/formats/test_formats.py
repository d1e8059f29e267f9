"""Tokenizer files give the same ids when read here and by the other libraries."""

from __future__ import annotations

import base64

import pytest
import tiktoken
import tiktoken_ext.openai_public
from helpers.difficult import DIFFICULT
from helpers.libraries import LIBRARIES
from helpers.properties import quarter
from helpers.refusals import refusal
from hypothesis import example, given
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FormatError
from bpeviz.libraries.tokenizer import LibraryTokenizer


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
