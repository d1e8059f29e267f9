"""Several texts under several tokenizers: notes, verdicts, prices and wrong arguments.

The figures equal their definitions in `contracts/test_figures.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tokenizers
from helpers.refusals import refusal
from tokenizers import models

import bpeviz
from bpeviz.analysis.comparison import has_no_spaces
from bpeviz.analysis.verdict import NO_RATIO
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents

ENGLISH = "The bakery opens at 7.\nWhere is the river?\nAnna sold 12 loaves.\n" * 12
SPANISH = "La panadería abre a las 7.\n¿Dónde está el río?\nAnna vendió 12 panes.\n" * 12
ATOMS = bpeviz.train("a", merges=0).tokenizer()


@pytest.fixture(scope="module")
def english() -> Tokenizer:
    return bpeviz.train(ENGLISH, merges=40).tokenizer()


@pytest.mark.parametrize(
    ("own", "parallel", "notes"),
    [
        (30, 30, []),
        (29, 29, ["fewer than 30 rows, so intervals are rough"]),
        (9, 9, ["fewer than 10 rows, so no intervals, only plain counts"]),
        (30, 29, ["fewer than 30 parallel rows, so the interval of the premium is rough"]),
        (
            10,
            9,
            [
                "fewer than 30 rows, so intervals are rough",
                "fewer than 10 parallel rows, so the premium has no interval",
            ],
        ),
        (30, 0, ["no parallel rows, so no premium"]),
    ],
)
def test_few_lines_are_noted_once(own: int, parallel: int, notes: list[str]) -> None:
    texts = {"en": ["a river"] * parallel + [""] * (own - parallel), "es": ["un río"] * own}
    row = bpeviz.compare(texts, {"mine": ATOMS, "same": ATOMS}, "en").rows[2]
    assert [note for note in row.notes if "empty" not in note] == notes
    assert (row.difference_low is None) == (own < 10)
    assert (row.low is None) == (parallel < 10)
    assert (row.premium is None) == (parallel == 0)


def test_texts_that_are_not_parallel_and_empty_lines_are_noted() -> None:
    texts = {
        "en": ["one", "", "three"] + ["more"] * 30,
        "es": ["uno", "", "  "] + ["más"] * 30,
        "code": "x = 1\n",
    }
    found = bpeviz.compare(texts, {"mine": ATOMS}, "en")
    assert [row.lines for row in found.rows] == [32, 31, 0]
    assert found.rows[2].premium is None
    assert found.notes == [
        "es: 1 row empty only here or only in en, left out of the premium.",
        "code: not as many lines as en, so no premium.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("?! 12", False),
        ("Her name is written 安娜, she says, and means grace.", False),
        ("снег идёт", False),
        ("한국어는 띄어 쓴다", False),
        ("Tiếng Việt có dấu cách", False),
        ("我们去茶馆喝茶", True),
        ("お茶をのみに行きます。", True),
        ("ฉันไปที่ร้านกาแฟ", True),
        ("ຂ້ອຍໄປຮ້ານກາເຟ", True),
        ("ខ្ញុំទៅហាងកាហ្វេ", True),
        ("ကျွန်တော် ကော်ဖီဆိုင် သွားတယ်", True),
        ("ང་ཇ་ཁང་ལ་འགྲོ་གི་ཡོད།", True),
    ],
)
def test_scripts_without_spaces_have_no_tokens_per_word(text: str, expected: bool) -> None:
    assert has_no_spaces(text) == expected
    row = bpeviz.compare({"text": text}, {"mine": ATOMS}).rows[0]
    if expected:
        assert row.tokens_per_word is None
        assert row.notes == ("no spaces between words, so no tokens per word",)


# ---- the verdict


def test_no_tokenizer_is_best_where_other_lines_may_change_the_order(english: Tokenizer) -> None:
    both = {"mine": english, "spanish": bpeviz.train(SPANISH, merges=40).tokenizer()}
    texts = {"5": ENGLISH[:400] + SPANISH[:400], "es": SPANISH}
    found = bpeviz.compare(texts, both)
    assert [row.best for row in found.rows] == [False, False, False, True]
    low, high = found.rows[0].difference_low, found.rows[0].difference_high
    assert low is not None
    assert high is not None
    assert low < 0 < high
    assert found.verdict == (
        f"spanish needs the fewest tokens, {sum(row.tokens for row in found.rows[1::2]):,} in all, "
        "and is never beaten; undecided for “5”."  # 5 alone would be a number of texts
    )
    tokens = sorted((row.tokens, row.tokenizer) for row in found.rows[:2])
    (least, first), (more, second) = tokens
    found = bpeviz.compare({"mixed": texts["5"]}, both)
    assert found.verdict.startswith(f"Undecided: {first} needs {least} tokens, {second} {more};")
    found = bpeviz.compare({"mixed": texts["5"], "again": texts["5"]}, both)
    assert found.verdict.startswith(
        f"Undecided for both texts: in all, {first} {2 * least:,}, {second} {2 * more:,} tokens;"
    )


def test_verdict_names_the_largest_premium(english: Tokenizer) -> None:
    texts = {"en": ENGLISH, "es": SPANISH, "wide": SPANISH.replace("a", "á")}
    found = bpeviz.compare(texts, {"mine": english, "atoms": ATOMS}, "en")
    worst = found.rows[4]
    said = (
        f"wide needs the most tokens under mine: {worst.premium:.2f} times as many as en "
        f"({worst.low:.2f} to {worst.high:.2f})."
    )
    assert found.verdict.endswith(f" and is never beaten. Among the translations, {said}")
    found = bpeviz.compare({**texts, "code": "x = 1"}, {"mine": english}, "en")
    assert found.verdict.endswith(f" Among 3 parallel texts, {said}")
    found = bpeviz.compare({one: texts[one] for one in ("en", "es")}, {"mine": english}, "en")
    assert f" Under mine, es needs {found.rows[1].premium:.2f} times as many" in found.verdict


def of_text(training_text: str) -> Tokenizer:
    return bpeviz.train(training_text, merges=1, pattern="none").tokenizer()


def test_verdict_counts_wins_ties_and_losses() -> None:
    tokenizers = {
        "ab": of_text("abab"), "also": of_text("abab"), "cd": of_text("cdcd"), "none": of_text("x")
    }  # fmt: skip
    texts = {"one": "cdab", "two": "cdcdab", "three": "cd", "four": "ab", "five": "", "six": "xy"}

    def verdict(*names: str, **given: str) -> str:
        return bpeviz.compare(given, {name: tokenizers[name] for name in names}).verdict

    assert verdict("ab", "cd", **texts) == (
        "cd needs the fewest tokens, 12 in all; it alone has the fewest for 2 of 6 texts; it "
        "ties with ab for 3 texts (one, five and six); it loses to ab for four."
    )
    assert verdict("ab", "also", "none", a="ab", b="x") == (
        "ab and also need the fewest tokens, 2 each in all, and are never beaten."
    )
    assert verdict("ab", "also", "cd", a="ab", b="cd", c="cd", d="cdcd") == (
        "cd needs the fewest tokens, 6 in all; it alone has the fewest for 3 of 4 texts; it loses "
        "to ab and also for a."
    )
    assert verdict("ab", "also", a="ab", b="cd") == (
        "ab and also need the same number of tokens for each text, 3 in all."
    )
    assert verdict("ab", a="ab", b="cd") == "ab needs 3 tokens for 2 texts."
    assert verdict("ab", "also", a="x") == "ab and also need the same number: 1 token each."


def test_a_premium_that_is_not_the_ratio_of_the_tokens_has_a_note() -> None:
    spaced = bpeviz.train("a\na", merges=1, pattern="none").tokenizer()
    texts = {"base": "a\na\na", "other": "b\nb\nb", "same": "a\na\na"}
    found = bpeviz.compare(texts, {"spaced": spaced}, "base")
    rows = {row.text: row for row in found.rows}
    assert rows["other"].premium == 1 != rows["other"].tokens / rows["base"].tokens
    assert [row.text for row in found.rows if NO_RATIO in row.notes] == ["other"]


def test_unknown_tokens_are_noted_and_neither_ranked_nor_compared(english: Tokenizer) -> None:
    lossy = bpeviz.train(ENGLISH, "wordpiece", merges=99).tokenizer()
    both = {"lossy": lossy, "mine": english}
    found = bpeviz.compare({"a": "Ωδή", "b": "Ωδή και"}, both)
    assert found.rows[0].unknown
    fewest = sum(row.tokens for row in found.rows[1::2])
    assert f"mine needs the fewest tokens of those that lose no text, {fewest}" in found.verdict
    assert found.notes[1:] == ["a, b: lossy loses text, as unknown tokens."]
    assert [(row.difference, row.best) for row in found.rows] == [(None, False), (None, True)] * 2
    for base, known in (("river", [True, False, True]), ("Ωδή", [False] * 3)):
        texts = {"a": [base] * 12, "b": ["Ωδή"] * 12, "c": ["Anna"] * 12}
        rows = bpeviz.compare(texts, both, "a").rows
        assert [row.premium is not None for row in rows[::2]] == known
        assert all(row.premium is not None for row in rows[1::2])
        assert "lossy loses text of" in rows[2].notes[-1]


def test_a_note_of_all_texts_names_none(english: Tokenizer) -> None:
    texts = dict.fromkeys("abcd", "a river")
    found = bpeviz.compare(texts, {"mine": english, "same": english})
    assert found.notes == ["All texts: fewer than 10 lines, so no intervals, only plain counts."]


def test_a_list_of_names_and_tokenizers_numbers_equal_names(english: Tokenizer) -> None:
    small = bpeviz.train(ENGLISH, merges=2).tokenizer()
    found = bpeviz.compare({"en": ENGLISH}, ["gpt2", english, small, "gpt2"])
    names = [row.tokenizer for row in found.rows]
    assert names == ["gpt2", english.name, f"{english.name} 2", "gpt2 2"]
    assert found.rows[2].tokens == len(small.encode(ENGLISH))
    assert bpeviz.compare({"a": "hello world"}, "gpt2").rows[0].tokens == 2


# ---- special tokens, prices, wrong arguments


@pytest.mark.parametrize(
    ("text", "times"), [("a river\na\n", 1), (Documents.of(["a river", "", "a", "b"]), 3)]
)
def test_special_tokens_are_around_each_text_or_document(
    monkeypatch: pytest.MonkeyPatch, text: str | Documents, times: int
) -> None:
    both = {"mine": ATOMS, "gpt2": bpeviz.load("gpt2")}
    monkeypatch.setattr(type(ATOMS), "template", ((1,), (2, 3)))
    (mine, gpt2), (with_mine, same) = (
        bpeviz.compare({"en": text}, both, special_tokens=given).rows for given in (False, True)
    )
    assert with_mine.tokens == mine.tokens + 3 * times
    assert same.tokens == gpt2.tokens
    note = bpeviz.compare({"en": text}, both, special_tokens=True).notes[-1]
    assert "mine 3" in note
    assert "known for gpt2" in note


def test_costs_are_those_of_the_prices(english: Tokenizer) -> None:
    both = {"mine": english, "free": english, "other": english}
    found = bpeviz.compare({"en": ENGLISH}, both, prices={"mine": 2.5, "free": 0})
    tokens = found.rows[0].tokens
    assert [row.cost for row in found.rows] == [tokens * 2.5 / 1e6, 0, None]


def test_wrong_arguments_of_the_library_are_refused() -> None:
    tokenizer = bpeviz.train("low lower", merges=2).tokenizer()
    assert repr(tokenizer) == "<MergeTokenizer 'bpe'>"
    wrong: Any = 5
    compare, text, mine = bpeviz.compare, {"a": "x"}, {"mine": tokenizer}
    refusal(compare, {"en": "a"}, mine, "fr", naming=("fr", "en"))
    refusal(compare, {}, mine)
    for texts in ("hello", 5, ["hello"], {"a": wrong}):
        refusal(compare, texts, mine)
    for several in (wrong, [wrong], {"mine": wrong}):
        refusal(compare, text, several, naming="5")
    for price in (-1, float("nan"), float("inf"), "1"):
        refusal(compare, text, mine, prices={"mine": price})
    refusal(compare, text, mine, prices={"gpt2": 1}, naming="gpt2")
    refusal(compare, text, mine, prices=wrong)
    refusal(bpeviz.worst_lines, wrong, naming="5")
    refusal(bpeviz.worst_lines, "low")
    refusal(bpeviz.load, wrong)
    refusal(bpeviz.load, "x.json", naming="bpeviz.read('x.json')")
    foreign = tokenizers.Tokenizer(models.WordPiece({"low": 0, "[UNK]": 1}))
    for each in (
        tokenizer,
        bpeviz.train("low lower", algorithm="wordpiece", merges=2).tokenizer(),
        bpeviz.train("low lower", algorithm="sentencepiece", merges=2, pattern="none").tokenizer(),
        bpeviz.formats.parse({"tokenizer.json": foreign.to_str().encode()}),
    ):
        refusal(each.decode, "ab", naming="'ab'")
        refusal(each.decode, 5, naming="5")
        refusal(each.decode, [0, 1.5], naming="1.5")
        refusal(each.tokens, wrong, naming="5")
        refusal(each.encode, "low", allowed_special="<s>")
        assert each.decode(np.array([0])) == each.decode([0])
