"""Several texts under several tokenizers: figures, intervals, notes and the verdict."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import reference_comparison
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models

import bpeviz
from bpeviz.analysis import intervals
from bpeviz.analysis.comparison import has_no_spaces
from bpeviz.analysis.figures import OF_TEXT, measure
from bpeviz.analysis.metrics import Column
from bpeviz.core.tokenizer import Tokenizer

ENGLISH = "The bakery opens at 7.\nWhere is the river?\nAnna sold 12 loaves.\n" * 12
SPANISH = "La panadería abre a las 7.\n¿Dónde está el río?\nAnna vendió 12 panes.\n" * 12

NO_RATIO = "the premium is that of lines encoded alone, so it is not the ratio of the tokens"


@pytest.fixture(scope="module")
def english() -> Tokenizer:
    return bpeviz.train(ENGLISH, merges=40).tokenizer()


def test_rows_equal_the_metrics_of_the_whole_text_and_the_encoded_lines(english: Tokenizer) -> None:
    found = bpeviz.compare({"en": ENGLISH, "es": SPANISH}, {"mine": english}, "en")
    assert [(row.text, row.tokenizer) for row in found.rows] == [("en", "mine"), ("es", "mine")]
    for row, text in zip(found.rows, (ENGLISH, SPANISH), strict=True):
        column = Column("mine", english, english.boundaries(text), english.steps)
        (expected,) = measure(text, [column], 0)
        assert row.tokens == expected.tokens == len(english.encode(text))
        for figure in OF_TEXT:
            assert getattr(row, figure.key, None) in (None, figure.of(expected)), figure.key
        assert row.lines == 36
    own, base = (
        sum(len(english.encode(line)) for line in text.splitlines()) for text in (SPANISH, ENGLISH)
    )
    assert found.rows[1].premium == own / base
    assert (found.rows[0].premium, found.rows[0].low, found.rows[0].high) == (1, 1, 1)
    assert found == bpeviz.compare({"en": ENGLISH, "es": SPANISH}, {"mine": english}, "en")
    assert found.notes == [f"es: {NO_RATIO}."]


@given(
    lines=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40),
    seed=st.integers(0, 9),
)
def test_premium_equals_the_reference(lines: list[tuple[int, int]], seed: int) -> None:
    """Lines of n letters have n tokens under a tokenizer without merges."""
    tokenizer = bpeviz.train("a", merges=0).tokenizer()
    texts = {"other": ["a" * own for own, _ in lines], "base": ["a" * base for _, base in lines]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "SEED", seed)
        patch.setattr(intervals, "RESAMPLES", 50)
        row = bpeviz.compare(texts, {"bytes": tokenizer}, "base").rows[0]
    expected = reference_comparison.premium(lines, seed, 50)
    for value, exact in zip((row.premium, row.low, row.high), expected, strict=True):
        assert (value is None) == (exact is None)
        if value is not None and exact is not None:
            assert value == pytest.approx(float(exact))


def test_interval_covers_the_true_ratio_in_most_samples() -> None:
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(60):
        base = random.integers(10, 30, (80, 1))
        counts = base + random.poisson(10, (80, 1))
        ((low, high),), _ = intervals.line_premiums(counts, base)
        assert low is not None
        assert high is not None
        covered += low <= 1 + 10 / 19.5 <= high
    assert 51 <= covered <= 60


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        (30, ""),
        (29, "fewer than 30 parallel rows, so the interval of the premium is rough"),
        (10, "fewer than 30 parallel rows, so the interval of the premium is rough"),
        (9, "fewer than 10 parallel rows, so the premium has no interval"),
        (0, "no parallel rows, so no premium"),
    ],
)
def test_few_parallel_lines_are_noted(english: Tokenizer, lines: int, note: str) -> None:
    texts = {"en": ["a river"] * lines, "es": ["un río"] * lines}
    row = bpeviz.compare(texts, {"mine": english}, "en").rows[1]
    assert {*row.notes} - {NO_RATIO} == {note} - {""}
    assert (row.low is None) == (lines < 10)
    assert (row.premium is None) == (lines == 0)


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
    ],
)
def test_few_lines_are_noted_once(
    english: Tokenizer, own: int, parallel: int, notes: list[str]
) -> None:
    texts = {"en": ["a river"] * parallel + [""] * (own - parallel), "es": ["un río"] * own}
    row = bpeviz.compare(texts, {"mine": english, "same": english}, "en").rows[2]
    assert [note for note in row.notes if "empty" not in note and note != NO_RATIO] == notes
    assert (row.difference_low is None) == (own < 10)


@given(
    lines=st.lists(st.sampled_from(["", " ", "a river", "Anna sold 12", "¿Dónde?"]), max_size=40)
)
def test_difference_equals_the_reference(lines: list[str]) -> None:
    """A tokenizer without merges against one with some, over the lines of the text itself."""
    tokenizers = {
        "atoms": bpeviz.train("a", merges=0).tokenizer(),
        "mine": bpeviz.train("a river, a river", merges=4, pattern="none").tokenizer(),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "RESAMPLES", 50)
        rows = bpeviz.compare({"a": (text := "\n".join(lines))}, tokenizers).rows
    if not text.strip():
        assert all(row.difference_low is None for row in rows)
        return
    atoms, mine = (
        reference_comparison.tokens_by_line(text, [token.start for token in one.tokens(text)])
        for one in tokenizers.values()
    )
    exact = reference_comparison.ratio([*zip(mine, atoms, strict=True)], 0, 50)
    row = rows[1]
    found = row.difference, row.difference_low, row.difference_high
    for value, expected in zip(found, exact, strict=True):
        assert (value is None) == (expected is None)
        if value is not None and expected is not None:
            assert value == pytest.approx(float(expected) - 1)
    is_clear = exact[2] is None or exact[2] < 1 or row.difference == 0
    assert row.best == (row.tokens <= rows[0].tokens and is_clear)


def test_no_tokenizer_is_best_where_other_lines_may_change_the_order(english: Tokenizer) -> None:
    spanish = bpeviz.train(SPANISH, merges=40).tokenizer()
    both = {"mine": english, "spanish": spanish}
    texts = {"mixed": ENGLISH[:400] + SPANISH[:400], "es": SPANISH}
    found = bpeviz.compare(texts, both)
    assert [row.best for row in found.rows] == [False, False, False, True]
    low, high = found.rows[0].difference_low, found.rows[0].difference_high
    assert low is not None
    assert high is not None
    assert low < 0 < high
    assert found.verdict == (
        f"spanish needs the fewest tokens, {sum(row.tokens for row in found.rows[1::2]):,} in all, "
        "and is never beaten; undecided for mixed."
    )
    named = bpeviz.compare({"5": texts["mixed"], "es": SPANISH}, both)
    assert named.verdict.endswith(" undecided for “5”.")  # 5 would be a number of texts
    tokens = sorted((row.tokens, row.tokenizer) for row in found.rows[:2])
    found = bpeviz.compare({"mixed": texts["mixed"]}, both)
    (least, first), (more, second) = tokens
    assert found.verdict == (
        f"Undecided: {first} needs {least} tokens, {second} {more}; with other text of "
        "this kind, the order may change."
    )
    found = bpeviz.compare({"mixed": texts["mixed"], "again": texts["mixed"]}, both)
    assert found.verdict == (
        f"Undecided for both texts: in all, {first} {2 * least:,}, {second} {2 * more:,} tokens; "
        "with other text of this kind, the order may change."
    )


def test_texts_that_are_not_parallel_and_empty_lines_are_noted(english: Tokenizer) -> None:
    texts = {
        "en": ["one", "", "three"] + ["more"] * 30,
        "es": ["uno", "", "  "] + ["más"] * 30,
        "code": "x = 1\n",
    }
    found = bpeviz.compare(texts, {"mine": english}, "en")
    assert found.rows[1].lines == 31
    assert found.rows[2].premium is None
    assert found.notes == [
        "es: 1 row empty only here or only in en, left out of the premium.",
        "code: not as many lines as en, so no premium.",
    ]


def test_line_ends_of_windows_do_not_count_in_premiums(english: Tokenizer) -> None:
    texts = {"en": ENGLISH, "dos": ENGLISH.replace("\n", "\r\n")}
    assert bpeviz.compare(texts, {"mine": english}, "en").rows[1].premium == 1


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
def test_scripts_without_spaces_have_no_tokens_per_word(
    english: Tokenizer, text: str, expected: bool
) -> None:
    assert has_no_spaces(text) == expected
    row = bpeviz.compare({"text": text}, {"mine": english}).rows[0]
    if expected:
        assert row.tokens_per_word is None
        assert row.notes == ("no spaces between words, so no tokens per word",)


def test_verdict_names_the_fewest_tokens_and_the_largest_premium(english: Tokenizer) -> None:
    spanish = bpeviz.train(SPANISH, merges=40).tokenizer()
    atoms = bpeviz.train("a", merges=0).tokenizer()
    texts = {"en": ENGLISH, "es": SPANISH, "wide": SPANISH.replace("a", "á")}
    found = bpeviz.compare(texts, {"mine": english, "atoms": atoms}, "en")
    worst = found.rows[4]
    assert found.verdict == (
        f"mine needs the fewest tokens, {sum(row.tokens for row in found.rows[::2]):,} in all, and "
        "is never beaten. Among the translations, wide needs the most "
        f"tokens under mine: {worst.premium:.2f} times as many as en "
        f"({worst.low:.2f} to {worst.high:.2f})."
    )
    found = bpeviz.compare({one: texts[one] for one in ("en", "es")}, {"mine": english}, "en")
    assert f" Under mine, es needs {found.rows[1].premium:.2f} times as many" in found.verdict
    found = bpeviz.compare(texts, {"mine": english}, "wide")
    none = ". Among the translations, none needs more tokens under mine than wide."
    assert found.verdict.endswith(none)
    found = bpeviz.compare({**texts, "code": "x = 1"}, {"mine": english}, "en")
    assert " Among 3 parallel texts, wide needs the most tokens under mine: " in found.verdict
    twins = bpeviz.compare(texts, {"one": atoms, "two": atoms})
    assert twins.verdict == (
        "one and two need the same number of tokens for each text, "
        f"{sum(row.tokens for row in twins.rows[::2]):,} in all."
    )
    found = bpeviz.compare({**texts, "tie": "1 2"}, {"mine": english, "spanish": spanish})
    assert found.verdict == (
        f"spanish needs the fewest tokens, {sum(row.tokens for row in found.rows[1::2]):,} in all; "
        "it alone has the fewest for 2 of 4 texts; it ties with mine for tie; it loses to mine for "
        "en."
    )
    found = bpeviz.compare(texts, {"mine": english})
    assert (
        found.verdict == f"mine needs {sum(row.tokens for row in found.rows):,} tokens for 3 texts."
    )
    assert bpeviz.compare({"en": "a"}, {"one": atoms, "two": atoms}).verdict == (
        "one and two need the same number: 1 token each."
    )


def test_verdict_counts_wins_ties_and_losses() -> None:
    def of(training_text: str) -> Tokenizer:
        return bpeviz.train(training_text, merges=1, pattern="none").tokenizer()

    tokenizers = {"ab": of("abab"), "also": of("abab"), "cd": of("cdcd"), "none": of("x")}
    texts = {"one": "cdab", "two": "cdcdab", "three": "cd", "four": "ab", "five": "", "six": "xy"}

    def verdict(*names: str, **given: str) -> str:
        return bpeviz.compare(given, {name: tokenizers[name] for name in names}).verdict

    assert verdict("ab", "cd", **texts) == (
        "cd needs the fewest tokens, 12 in all; it alone has the fewest for 2 of 6 texts; it "
        "ties with ab for 3 texts (one, five and six); it loses to ab for four."
    )
    assert verdict("ab", "also", "none", a="ab", b="abab") == (
        "ab and also need the fewest tokens, 3 each in all, and are never beaten."
    )
    assert verdict("ab", "also", "none", a="ab", b="x") == (
        "ab and also need the fewest tokens, 2 each in all, and are never beaten."
    )
    assert verdict("ab", "also", "cd", a="ab", b="cd", c="cd", d="cdcd") == (
        "cd needs the fewest tokens, 6 in all; it alone has the fewest for 3 of 4 texts; it loses "
        "to ab and also for a."
    )
    lines = {"en": ["ab"] * 30, "es": ["ab", "abx"] * 15, "fr": ["xa", "a"] * 15}
    found = bpeviz.compare(lines, {"none": tokenizers["none"]}, "es")
    assert "Among the translations, none needs more tokens under none than es." in found.verdict
    close = {
        "en": ["a", "ab"] * 15,
        "es": ["ab"] * 30,
        "fr": ["ab", "a"] * 15,
        "de": ["a"] * 29 + ["ab" * 15],
    }
    found = bpeviz.compare(close, {"none": tokenizers["none"]}, "es")
    assert found.verdict.endswith(" than es; undecided for de.")
    lines |= {"de": ["xab"] * 30, "it": ["bax"] * 30}
    found = bpeviz.compare(lines, {"none": tokenizers["none"]}, "en")
    most = " Among the translations, de and it need the most tokens under none: 1.50 times"
    assert most in found.verdict
    uneven = {"a": ["xx", "xxxx"] * 15, "b": ["xxxx", "xxx"] * 7 + ["xx"] * 16}
    found = bpeviz.compare(uneven, {"none": tokenizers["none"]}, "b")
    assert "), which is undecided." in found.verdict


def test_a_premium_that_is_not_the_ratio_of_the_tokens_has_a_note() -> None:
    spaced = bpeviz.train("a\na", merges=1, pattern="none").tokenizer()
    texts = {"base": "a\na\na", "other": "b\nb\nb", "same": "a\na\na"}
    found = bpeviz.compare(texts, {"spaced": spaced}, "base")
    rows = {row.text: row for row in found.rows}
    assert rows["other"].premium == 1 != rows["other"].tokens / rows["base"].tokens
    assert rows["other"].notes[-1] == NO_RATIO
    assert NO_RATIO not in (*rows["base"].notes, *rows["same"].notes)


def test_unknown_tokens_are_noted_and_not_ranked(english: Tokenizer) -> None:
    lossy = bpeviz.train(ENGLISH, "wordpiece", merges=99).tokenizer()
    found = bpeviz.compare({"a": "Ωδή", "b": "Ωδή και"}, {"lossy": lossy, "mine": english})
    assert found.rows[0].unknown
    assert found.verdict == (
        "mine needs the fewest tokens of those that lose no text, "
        f"{sum(row.tokens for row in found.rows[1::2])} in all, and is never beaten."
    )
    assert found.notes[1:] == ["a, b: lossy loses text, as unknown tokens."]
    assert [(row.difference, row.best) for row in found.rows] == [(None, False), (None, True)] * 2


@pytest.mark.parametrize("base", ["river", "Ωδή"])
def test_texts_with_unknown_tokens_have_no_premium(english: Tokenizer, base: str) -> None:
    lossy = bpeviz.train(ENGLISH, "wordpiece", merges=99).tokenizer()
    texts = {"a": [base] * 12, "b": ["Ωδή"] * 12, "c": ["Anna"] * 12}
    rows = bpeviz.compare(texts, {"lossy": lossy, "mine": english}, "a").rows
    known = [row.premium is not None for row in rows if row.tokenizer == "lossy"]
    assert known == ([True, False, True] if base == "river" else [False, False, False])
    assert all(row.premium is not None for row in rows if row.tokenizer == "mine")
    assert rows[2].low is None
    assert rows[2].notes[-1] == "lossy loses text of b, so no premium"


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


def test_wrong_names_are_reported(english: Tokenizer) -> None:
    assert bpeviz.compare({"a": "hello world"}, "gpt2").rows[0].tokens == 2
    with pytest.raises(ValueError, match=r"There is no text fr\. The texts are en\."):
        bpeviz.compare({"en": "a"}, {"mine": english}, "fr")
    with pytest.raises(ValueError, match="at least one text"):
        bpeviz.compare({}, {"mine": english})


def test_special_tokens_around_each_text_are_counted_on_request(
    english: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"en": ENGLISH, "es": SPANISH}
    both = {"mine": english, "gpt2": bpeviz.load("gpt2")}
    without = bpeviz.compare(texts, both, "en")
    monkeypatch.setattr(type(english), "template", ((1,), (2, 3)))
    assert bpeviz.compare(texts, both, "en") == without
    found = bpeviz.compare(texts, both, "en", special_tokens=True)
    for row, before in zip(found.rows, without.rows, strict=True):
        assert row.tokens == before.tokens + 3 * (row.tokenizer == "mine")
        assert row.bytes_per_token == len(texts[row.text].encode()) / row.tokens
        assert row.premium == before.premium
        if row.tokenizer == "mine":
            assert row.difference is not None
            assert before.difference is not None
            assert row.difference > before.difference
            assert row.difference_low is not None
            assert before.difference_low is not None
            assert row.difference_low > before.difference_low
    assert found.notes[1:] == [
        "Counts include the special tokens around each text: mine 3. No special tokens around a "
        "text are known for gpt2."
    ]


def test_costs_are_those_of_the_prices(english: Tokenizer) -> None:
    both = {"mine": english, "free": english, "other": english}
    found = bpeviz.compare({"en": ENGLISH}, both, prices={"mine": 2.5, "free": 0})
    tokens = found.rows[0].tokens
    assert [row.cost for row in found.rows] == [tokens * 2.5 / 1e6, 0, None]
    for price in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="A price is a number from 0 on"):
            bpeviz.compare({"en": ENGLISH}, both, prices={"mine": price})
    with pytest.raises(ValueError, match="There is no tokenizer gpt2"):
        bpeviz.compare({"en": ENGLISH}, both, prices={"gpt2": 1})


def test_wrong_arguments_of_the_library_get_a_sentence() -> None:
    tokenizer = bpeviz.train("low lower", merges=2).tokenizer()
    assert repr(tokenizer) == "<MergeTokenizer 'bpe'>"
    for texts in ("hello", 5, ["hello"]):
        with pytest.raises(ValueError, match="Give each text a name"):
            bpeviz.compare(cast("Any", texts), [tokenizer])
    with pytest.raises(ValueError, match="A price is a number"):
        bpeviz.compare({"a": "x"}, [tokenizer], prices={"bpe": "1"})  # type: ignore[dict-item]
    wrong: Any = 5
    for several in (wrong, [wrong], {"mine": wrong}):
        with pytest.raises(ValueError, match="Give tokenizers or their names, not 5"):
            bpeviz.compare({"a": "x"}, several)
    assert bpeviz.compare({"a": "x"}, tokenizer).rows[0].tokens == 1
    with pytest.raises(ValueError, match="Give prices by name"):
        bpeviz.compare({"a": "x"}, [tokenizer], prices=wrong)
    with pytest.raises(ValueError, match="Give a text or a list of texts, not 5"):
        bpeviz.compare({"a": wrong}, [tokenizer])
    with pytest.raises(ValueError, match="Give a text or a list of texts, not 5"):
        bpeviz.worst_lines(wrong)
    with pytest.raises(ValueError, match=r"Give a tokenizer, as in worst_lines\(text, tokenizer\)"):
        bpeviz.worst_lines("low")
    wordpiece = bpeviz.train("low lower", algorithm="wordpiece", merges=2).tokenizer()
    pieces = bpeviz.train("low lower", algorithm="sentencepiece", merges=2, pattern="none")
    foreign = tokenizers.Tokenizer(models.WordPiece({"low": 0, "[UNK]": 1}))
    opened = bpeviz.formats.parse({"tokenizer.json": foreign.to_str().encode()})
    for each in (tokenizer, wordpiece, pieces.tokenizer(), opened):
        for ids, message in (("ab", "a list of ids, not 'ab'"), (5, "a list of ids, not 5")):
            with pytest.raises(ValueError, match=message):
                each.decode(cast("Any", ids))
        with pytest.raises(ValueError, match=r"An id is a whole number, not 1\.5"):
            each.decode(cast("Any", [0, 1.5]))
        assert each.decode(np.array([0])) == each.decode([0])
        with pytest.raises(ValueError, match="Give a text, not 5"):
            each.tokens(wrong)
        with pytest.raises(ValueError, match="Give the allowed special tokens as a list"):
            each.encode("low", allowed_special="<s>")
    with pytest.raises(ValueError, match="Give the name of a published tokenizer"):
        bpeviz.load(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"bpeviz\.read\('x\.json'\)"):
        bpeviz.load("x.json")
