"""The verdict of a comparison: who needs the fewest tokens, and the percents."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.verdict import (
    Standing,
    at_size,
    best,
    caution,
    compared_with,
    costs,
    difference,
    losses,
    pair,
    percent,
    sentence,
    standing,
)
from bpeviz.trainers import registry

GPT2, CL100K, O200K = Standing("GPT-2", 21), Standing("cl100k", 9), Standing("o200k", 7)


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (14, 21, "66.7%"),
        (1, 3, "33.3%"),
        (1, 16, "6.3%"),  # 6.25: half up, where Python's format gives 6.2
        (1, 2, "50.0%"),
        (1, 100_000, "less than 0.1%"),
        (99_999, 100_000, "more than 99.9%"),
        (5, 5, "100.0%"),
        (0, 5, "0.0%"),
        (50_000, 7, "714,285.7%"),
    ],
)
def test_percent_rounds_half_up_and_never_hides_a_difference(
    part: int, whole: int, expected: str
) -> None:
    assert percent(part, whole) == expected


@given(st.integers(0, 10**7), st.integers(1, 10**7))
def test_percent_is_within_half_a_tenth_of_the_exact_share(part: int, whole: int) -> None:
    shown = percent(part, whole)
    exact = Fraction(100 * part, whole)
    if shown.startswith("less"):
        assert 0 < exact < Fraction("0.05")
    elif shown.startswith("more"):
        assert Fraction("99.95") <= exact < 100
    else:
        assert abs(Fraction(shown.rstrip("%").replace(",", "")) - exact) <= Fraction("0.05")


def test_difference_is_relative_to_the_baseline() -> None:
    assert difference(7, 21) == "66.7% fewer"
    assert difference(21, 7) == "3 times as many"
    assert difference(11, 2) == "5.5 times as many"
    assert difference(10, 5) == "2 times as many"
    assert difference(9, 5) == "80.0% more"
    assert difference(13, 7) == "85.7% more"
    assert difference(7, 7) == "as many"
    assert difference(3, 0) == "3 more"
    assert compared_with(7, GPT2) == "66.7% fewer than GPT-2"
    assert compared_with(21, GPT2) == "as many as GPT-2"
    assert compared_with(63, GPT2) == "3 times as many as GPT-2"


def test_verdict_names_the_fewest_tokens_and_the_percents() -> None:
    assert sentence([GPT2, O200K]) == "o200k needs the fewest tokens: 7, 66.7% fewer than GPT-2."
    # The runner-up gives the figure.
    assert sentence([GPT2, CL100K, O200K]) == (
        "o200k needs the fewest tokens: 7. cl100k needs 28.6% more."
    )
    assert sentence([O200K]) == "o200k needs 7 tokens."
    assert sentence([Standing("a", 1)]) == "a needs 1 token."


def test_verdict_names_all_that_tie() -> None:
    twin = Standing("twin", 7)
    assert sentence([GPT2, O200K, twin]) == (
        "o200k and twin need the fewest tokens: 7 each. GPT-2 needs 3 times as many."
    )
    more = [Standing("b", 8), Standing("a", 8)]
    assert sentence([O200K, *more]).endswith(": 7. b and a need 14.3% more each.")
    assert sentence([O200K, twin]) == "o200k and twin need the same number: 7 tokens each."
    assert best([GPT2, O200K, twin]) == [1, 2]


def test_tokenizer_that_loses_text_does_not_win() -> None:
    lossy = Standing("lossy", 2, lossy=True)
    assert best([GPT2, lossy]) == [0]
    found = sentence([GPT2, O200K, lossy])
    assert found.startswith("o200k needs the fewest tokens: 7. GPT-2 needs 3 times as many.")
    assert "lossy loses a part of the text" in found
    assert "not ranked" in sentence([GPT2, lossy])
    as_many = replace(lossy, tokens=O200K.tokens)
    assert "lossy loses a part of the text" in sentence([O200K, CL100K, as_many])
    assert best([lossy, lossy]) == [0, 1]  # then they are compared with each other
    for others in ([lossy], [as_many]):
        assert sentence([lossy, *others]).endswith(" Both lose a part of the text.")
    assert sentence([lossy]) == "lossy needs 2 tokens, with unknown tokens."


@given(
    st.lists(
        st.builds(
            Standing,
            st.sampled_from("abc"),
            st.integers(0, 9),
            st.booleans(),
            st.integers(0, 999),
            without=st.sampled_from(["", "the spaces"]),
        ),
        min_size=1,
    ),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)), min_size=1, max_size=3),
    st.data(),
)
def test_tokenizer_trained_on_the_text_is_never_compared(
    standings: list[Standing], trained: list[tuple[int, int]], data: st.DataObject
) -> None:
    words, others = sentence(standings), [*enumerate(standings)]
    for tokens, place in trained:
        others.insert(place, (-1, Standing("mine", tokens, data.draw(st.booleans()), 9, True)))
    index = [number for number, _ in others].index
    mixed = [one for _, one in others]
    counts = "".join(
        f" mine, trained on this text: {one.tokens}{one.loss}." for n, one in others if n < 0
    )
    assert sentence(mixed) == words + counts
    assert best(mixed) == [*map(index, best(standings))]
    assert pair(mixed) == (*map(index, pair(standings)),)
    assert caution(mixed) == caution(standings)


def test_caution_compares_the_vocabulary_with_the_one_that_the_verdict_names() -> None:
    sizes = {"GPT-2": 50_256, "cl100k": 100_256, "o200k": 199_998}
    known = [replace(one, vocab_size=sizes[one.name]) for one in (GPT2, CL100K, O200K)]
    first = "Fewer tokens are cheaper, not better"
    assert caution(known[::2]) == f"{first}: its vocabulary is four times as large."
    assert caution(known) == f"{first}.", "several"
    own = Standing("own", 30, vocab_size=278)
    assert caution([own, known[2]]) == f"{first}: its vocabulary is 719 times as large."
    assert caution([*known, replace(own, tokens=5)]) == f"{first}.", "a shorter vocabulary"
    assert caution([GPT2, O200K]) == f"{first}.", "unknown sizes"
    twin = replace(known[2], name="twin", vocab_size=65_000)
    assert caution([known[0], twin]) == f"{first}: its vocabulary is 1.3 times as large."
    assert caution([O200K, O200K]) == caution([O200K]) == "", "all have as many"
    lossy = Standing("lossy", 2, lossy=True, vocab_size=9)
    assert caution([known[0], lossy]) == "", "nobody needs more"
    assert caution(known[:2], is_priced=True).startswith("Fewer tokens are not better:")


def test_costs_are_ranked_and_the_least_ones_tie() -> None:
    assert costs({"a": 2.0}) == "This text costs with a: 2.00."
    assert costs({"a": 2.0, "b": 2.0}) == "This text costs the same with a and b: 2.00."
    ranked = costs({"a": 5e-4, "b": 1.25e-4, "c": 0.1})
    assert ranked == "This text costs least with b: 0.000125; a 0.000500; c 0.100000."
    assert costs({"a": 0.0, "b": 1.0}) == "This text costs least with a: 0.00; b 1.00."


def test_standing_has_the_name_without_the_size() -> None:
    tokenizer = bpeviz.train("low lower", merges=2).tokenizer()
    boundaries = tokenizer.boundaries("low")
    column = Column("mine (258)", tokenizer, boundaries, tokenizer.steps, "mine")
    assert standing("low", column) == Standing("mine", column.tokens, vocab_size=258)


@pytest.mark.parametrize(
    ("text", "without"),
    [("banana bandana", "the spaces"), ("banana\n bandana", "white space"), ("banana", "")],
)
def test_dropped_white_space_is_lost(text: str, without: str) -> None:
    tokenizer = bpeviz.train("banana bandana", "wordpiece", vocab_size=99).tokenizer()
    column = Column("mine", tokenizer, tokenizer.boundaries(text), tokenizer.steps)
    mine = standing(text, column)
    assert (mine.lossy, mine.without) == (bool(without), without)
    ranked = sentence([mine, Standing("a", 7)])
    if without:
        assert ranked.endswith(f"mine loses {without}, so it is not ranked.")
    number = f"{mine.tokens}{f', without {without}' * bool(without)}."
    assert sentence([replace(mine, in_sample=True), Standing("a", 7)]) == (
        f"a needs 7 tokens. mine, trained on this text: {number}"
    )


@pytest.mark.parametrize(
    "seeds", [range(50), pytest.param(range(1_000), marks=pytest.mark.thorough)]
)
def test_sentences_of_a_comparison_are_true_and_about_one_pair(seeds: range) -> None:
    corpus = "low   lower\n\n\nnew newest 3 + 3; wider 🐚 ниже ниже e\u0301té 姚明 "
    trainings = [
        bpeviz.train(corpus * 3, key, vocab_size=size)
        for key in registry.TRAINERS
        for size in (60, 290, 320)
        if size > 256 or key in ("wordpiece", "unigram")
    ]
    for seed in seeds:
        rng = random.Random(seed)
        parts = rng.choices(
            ["low", "new", "er", " ", "  ", "\n", "3+", "ниже", "🐚", "姚", "z"], k=12
        )
        text = "".join(parts[: rng.randint(1, 12)])
        columns = []
        for i, training in enumerate(rng.sample(trainings, rng.randint(2, 6))):
            step = rng.choice([training.steps, rng.randint(0, training.steps)])
            tokenizer = training.tokenizer()
            columns.append(Column(f"T{i}", tokenizer, tokenizer.boundaries(text), step))
        standings = [standing(text, column) for column in columns]
        leader, other = (columns[i] for i in pair(standings))
        verdict, why = sentence(standings), caution(standings)
        said = [verdict, why, *losses(text, columns), at_size(text, columns, 300)]
        for part, whole in re.findall(r"([\d,]+) of (?:the |these )?([\d,]+)", " ".join(said)):
            assert int(part.replace(",", "")) <= int(whole.replace(",", "")), (seed, said)

        of_pair = {leader.title, other.title}
        assert leader is not other
        assert {*re.findall(r"T\d", why)} <= of_pair, (seed, said)
        ranked = re.sub(r"\. [^.]* loses? .*, so .* not ranked\.", "", verdict)
        ties = {leader.tokens, other.tokens}
        assert all(columns[int(i)].tokens in ties for i in re.findall(r"T(\d)", ranked)), said
        others = [column.tokens for column in columns if not column.lossy]
        assert leader.tokens == min(others or [column.tokens for column in columns])


@pytest.mark.parametrize(
    ("titles", "merges", "expected"),
    [
        (["BPE"], 0, "(BPE: 5), BPE splits this text into 11 tokens"),
        (["BPE", "BPE"], 2, "BPE and BPE split this text alike"),
        (["BPE", "BPE", "WordPiece"], 4, "drops the spaces and keeps one more word whole"),
        (["WordPiece", "BPE"], 4, "BPE keeps the spaces and splits one more word than WordPiece"),
    ],
)
def test_verdict_of_algorithms_says_who_cuts_alike_and_how_the_others_differ(
    titles: list[str], merges: int, expected: str
) -> None:
    text = "abc abc dab"
    columns = []
    for title in titles:
        more = {"atoms": "characters"} if title == "BPE" else {}  # those of WordPiece always are
        training = bpeviz.train(text, algorithm=title.lower(), merges=merges, **more)
        boundaries = training.tokenizer().boundaries(text)
        columns.append(Column(title, training.tokenizer(), boundaries, training.steps))
    assert expected in at_size(text, columns, 9)
