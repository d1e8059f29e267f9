"""Parity-aware BPE against its definition, and against its authors' code.

`fixtures/parity.json` has 20 random sets of texts, and the merges of their program, with its
settings. It puts a space before each word and punctuation mark, and has no other white space.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import reference_parity
from helpers.candidates import check_candidates
from helpers.properties import many
from helpers.texts import SMALL_TEXTS, over
from hypothesis import given
from hypothesis import strategies as st
from reference_parity import Rows

import bpeviz
from bpeviz.analysis.lines import lines_of
from bpeviz.corpus import samples
from bpeviz.corpus.named_texts import pasted
from bpeviz.trainers import texts_of
from bpeviz.trainers.parity_bpe import MEASURES, ParityTraining, train_merges

FIXTURE = json.loads((Path(__file__).parents[1] / "fixtures/parity.json").read_text("utf-8"))
CHARACTERS = [
    *map(chr, [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100), *range(256, 324)])
]
"""The characters of GPT-2's byte alphabet."""


def byte_characters() -> list[str]:
    """Return the character of each byte: printable ones stand for themselves."""
    itself = {ord(character): character for character in CHARACTERS if ord(character) < 256}
    others = iter(character for character in CHARACTERS if ord(character) >= 256)
    return [itself.get(byte) or next(others) for byte in range(256)]


def train(text: Any, merges: int = 20, **how: Any) -> ParityTraining:
    training = bpeviz.train(text, "parity", merges=merges, **how)
    assert isinstance(training, ParityTraining)
    return training


def joined(parts: list[str]) -> str:
    return "\n---\n".join(parts)


# The authors' code


def their_rows(text: str) -> Rows:
    words = re.findall(r"\w+|[^\w\s]+", text)
    return [([*f" {word}".encode()], count) for word, count in Counter(words).items()]


@pytest.mark.parametrize("one", FIXTURE["sets"])
def test_merges_equal_those_of_the_authors_program(one: dict[str, Any]) -> None:
    symbols = byte_characters()
    rows = [*map(their_rows, one["texts"])]
    merges, chosen, _ = train_merges(
        rows,
        symbols,
        120,
        development=[*map(their_rows, one["development"])] if "development" in one else rows,
        units=[sum(len(ids) * count for ids, count in of_text) for of_text in rows]
        if one["measure"] == "byte"
        else [1] * len(rows),
        global_merges=one["global_merges"],
    )
    names = list(symbols)
    for merge in merges:
        names.append(names[merge.left] + names[merge.right])
    assert [f"{names[merge.left]} {names[merge.right]}" for merge in merges] == one["merges"]
    assert chosen[: len(merges)] == one["chosen"]


# The definition

HOW = st.fixed_dictionaries(
    {
        "atoms": st.sampled_from(["bytes", "characters"]),
        "measure": st.sampled_from([*MEASURES]),
        "global_merges": st.sampled_from([0, 0, 3]),
        "min_count": st.sampled_from([1, 2, 2, 3]),
        "pattern": st.sampled_from(["none", "gpt2", "words"]),
    }
)
PARTS = st.lists(SMALL_TEXTS | over("xy -\n", 40) | over("éxक", 30), min_size=1, max_size=4)


def texts_in(text: str) -> list[str]:
    """Return the texts between lines of three dashes that are not only white space."""
    found = [""]
    for line in re.split(r"(?<=\n)", text):
        if line.rstrip(" \t\r\n") == "---":
            found.append("")
        else:
            found[-1] += line
    return [one for one in found if one.strip()]


@many()
@given(PARTS, PARTS, HOW, st.integers(0, 20))
def test_merges_equal_reference_loop(
    parts: list[str], others: list[str], how: dict[str, Any], limit: int
) -> None:
    text = joined(parts)
    if how["measure"] == "development":
        how = how | {"development": joined(others)}
    training = train(text, limit, **how)
    in_bytes = how["atoms"] == "bytes"
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
    split = bpeviz.train("", merges=0, pattern=how["pattern"]).pre_tokenizer.pre_tokens

    def rows(text: str) -> Rows:
        return [
            (
                [*one.encode()] if in_bytes else [atom_id.get(i, -1) for i in one],
                1,
            )
            for one in split(text)
        ]

    texts = texts_in(text) or [""]
    development = texts_in(how.get("development", ""))[: len(texts)]
    measured = development + texts[len(development) :]
    units = [
        len(one.encode())
        if how["measure"] == "byte"
        else (one + "\n" * (one[-1:] != "\n")).count("\n")
        for one in measured
    ]
    expected, chosen, stopped = reference_parity.train(
        [*map(rows, texts)],
        [*map(rows, measured)],
        [max(1, unit) for unit in units],
        byte_characters() if in_bytes else training.alphabet,
        limit,
        how["global_merges"],
        how["min_count"],
    )
    assert [merge._replace(note="") for merge in training.merges] == expected
    assert [*training.chosen] == chosen
    assert training.stopped == stopped
    check_candidates(training, text)
    boundaries = training.tokenizer().boundaries(text)
    for step in {0, training.steps // 2, training.steps}:
        tokens = [len(training.at_step(step).encode(one)) for one in measured]
        assert training.tokens(text, boundaries, step) == tokens


# The texts


def row(algorithm: str, *, half: bool = False, **how: Any) -> tuple[float, int]:
    """Return the largest ratio of tokens between two languages, and the tokens of all.

    half: trains on the first half of the lines, and measures the second one.
    """
    lines = [lines_of(text) for _, text in pasted(samples.languages())]
    first = len(lines[0]) // 2 if half else 0
    corpus = joined(["\n".join(of_text[: first or None]) for of_text in lines])
    training = bpeviz.train(corpus, algorithm, merges=1_000, pattern="o200k", **how)
    tokens = [sum(training.tokenizer().count_batch(of_text[first:])) for of_text in lines]
    return round(max(tokens) / min(tokens), 2), sum(tokens)


@pytest.mark.slow
def test_parity_makes_the_token_counts_of_the_languages_more_equal() -> None:
    """The figures of the trainers' README. Equal shares are worse than the texts as they are."""
    assert row("parity") == (1.13, 65_551)
    assert row("multilingual", smoothing="1.0") == (1.82, 60_590)
    assert row("multilingual", smoothing="0.0") == (2.39, 61_764)
    assert row("parity", half=True)[0] == 1.30
    assert row("multilingual", half=True, smoothing="1.0")[0] == 1.77


def test_notes_and_table_name_the_chosen_text() -> None:
    text = joined(["ab ab ab", "xyxy xyxy xyxy xyxy", "\n"])
    training = train(text, 3, global_merges=1)
    assert [merge.note for merge in training.merges] == [
        f"for {one}" for one in ("all texts", "text 2", "text 1")
    ]
    boundaries = training.tokenizer().boundaries(text)
    (detail,) = texts_of(training).details(training, text, boundaries, 1)
    assert "for text 2, which has the most tokens per line" in detail.about
    assert detail.content()["next"] == ["", "yes"]
    assert detail.content()["merges"] == [0, 0]
    (detail,) = texts_of(training).details(training, text, boundaries, 0)
    assert "for all texts." in detail.about


def test_a_text_without_a_development_text_measures_itself() -> None:
    text = joined(["ab ab", "cd cd cd"])
    for development, measured in (
        ("", ("ab ab\n", "cd cd cd")),
        ("x", ("x", "cd cd cd")),
        (joined(["x", "y", "z"]), ("x\n", "y\n")),
    ):
        training = train(text, 9, measure="development", development=development)
        assert training.measured == measured
