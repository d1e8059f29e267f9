"""The Pre-tokenize page without a browser: samples, patterns, bad input, and two word lists."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pandas as pd
from helpers import app_pages
from helpers.app_pages import errors
from helpers.html_tables import shown_tables
from helpers.payloads import drawn
from helpers.text_box import payload
from streamlit.testing.v1 import AppTest

from bpeviz.analysis import pretokenization
from bpeviz.pretokenizers.patterns import PATTERNS, pretokenize
from bpeviz.ui.pages.pretokenize import (
    DRAWN_CHARACTERS,
    EXAMPLE,
    LIST_A,
    LIST_B,
    SPLITS,
)

SHORT = "low low lower lowest, newer newest wider. " * 3
YAO_MING = "姚明进入总决赛"


opened = partial(app_pages.opened, "Pre-tokenize", closer_open=True)


with_text = partial(app_pages.with_text, "Pre-tokenize", closer_open=True)


def side_by_side(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the columns by title."""
    return {column["title"]: column for column in drawn(app, "ariaLabel")["rows"]}


def table(app: AppTest, column: str) -> pd.DataFrame:
    """Return the one table that has this column."""
    (found,) = (one for one in shown_tables(app) if column in one.columns)
    return found


def pre_tokens(app: AppTest, title: str) -> list[str]:
    raw = drawn(app, "ariaLabel")["text"].encode()
    ends = side_by_side(app)[title]["tokenEnds"]
    return [raw[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]


# ---- every sample, every split


def test_every_pattern_is_offered_with_its_description_and_pre_tokens() -> None:
    app = with_text(SHORT, splits=[*SPLITS.titles])
    assert sorted(side_by_side(app)) == sorted(SPLITS.titles.values())
    for key, pattern in PATTERNS.items():
        assert app.button(key=f"drop_splits_{key}").help == pattern.about
        assert pre_tokens(app, SPLITS.titles[key]) == pretokenize(SHORT, key)


# ---- merges ruled out


def test_picture_counts_the_merges_that_each_pattern_rules_out() -> None:
    app = with_text(SHORT, splits=["none", "gpt2", "characters"])
    tokens = pretokenization.unrestricted_merges(SHORT)
    gpt2 = pretokenization.occurrences(tokens, pretokenization.pre_tokenize(SHORT, "gpt2"))
    ruled_out = table(app, "ruled out")
    assert 0 < gpt2.count(0) < len(tokens)
    assert [*ruled_out["pre-tokenization"]] == ["None", "Characters", "GPT-2"]
    counts = [f"{count} of {len(tokens)}" for count in (0, len(tokens), gpt2.count(0))]
    assert [*ruled_out["ruled out"]] == counts


# ---- the expression, the list, and the vocabulary of words


def test_page_explains_each_split_by_an_alternative() -> None:
    app = with_text("we'll go  at 5", splits=["gpt2", "cl100k", "sentences"])
    assert app.selectbox(key="explained").value == "gpt2"
    assert app.code[0].value == PATTERNS["gpt2"].expression
    used = table(app, "alternative")
    assert [*used["in this text"]] == ["1", "3", "1", "0", "0", "1", "0"]
    rules = [rule for *_, rule in side_by_side(app)["GPT-2"]["distinct"]]
    assert "alternative 1: An ending" in rules[1]
    assert json.loads(app.code[1].value) == pretokenize("we'll go  at 5", "gpt2")
    app.toggle(key="white_space").set_value(True).run()
    assert json.loads(app.code[1].value) == ["we", "'ll", " go", " at", " 5"]
    app.selectbox(key="explained").set_value("sentences").run()
    assert app.code[0].value == PATTERNS["sentences"].expression


def test_word_level_vocabulary_marks_unknown_words() -> None:
    app = with_text("the cat and the dog", splits=["words"], entries=2, unseen="the dog and\ncat")
    assert [*table(app, "rank")["word"]] == ["the", "cat"]
    assert "2 of 5 words are unknown (40.0%)" in " ".join(one.value for one in app.markdown)
    assert app.code[-1].value == "the [UNK] [UNK] cat"


# ---- word lists and custom expressions


def test_chinese_example_brings_both_published_segmentations_for_its_time() -> None:
    """Jurafsky and Martin, Speech and Language Processing, chapter 2."""
    app = opened(splits=["gpt2"])
    app.session_state["text_sample"], app.session_state["text_box"] = EXAMPLE, YAO_MING
    app.run()
    assert payload(app)["text"] == YAO_MING
    assert [*side_by_side(app)] == ["Characters", "Word list A", "Word list B"]
    assert pre_tokens(app, "Characters") == [*YAO_MING]
    assert pre_tokens(app, "Word list A") == ["姚明", "进入", "总决赛"]
    assert pre_tokens(app, "Word list B") == ["姚", "明", "进入", "总", "决赛"]
    app.session_state["text_sample"] = "seashells"
    assert [*side_by_side(app.run())] == ["GPT-2"]


def test_chinese_example_keeps_the_pre_tokenizations_of_a_link_and_of_its_user() -> None:
    app = opened({"sample": EXAMPLE}, splits=["cl100k"])
    assert [*side_by_side(app)] == ["GPT-4"]
    app = opened({"sample": EXAMPLE})
    app.button(key="drop_splits_characters").click().run()
    app.session_state["text_sample"] = "seashells"
    assert [*side_by_side(app.run())] == ["Word list A", "Word list B"]


def test_chinese_example_keeps_the_word_lists_of_a_reloaded_tab_and_ends_after_it() -> None:
    app = opened({"sample": EXAMPLE})
    app.session_state["words"] = "姚 明"
    del app.session_state["sample_of_splits"]  # a reload begins another session
    assert app.run().session_state["words"] == "姚 明"
    app.session_state["text_sample"] = "seashells"
    assert "Word list A" not in side_by_side(app.run())


# ---- bad input


def test_invalid_word_lists_show_errors_and_other_columns_stay() -> None:
    lists = {"words": " \n", "words_b": "a" * 101}
    app = with_text(SHORT, splits=["gpt2", LIST_A, LIST_B], **lists, may_fail=True)
    empty, long = errors(app)
    assert "is empty" in empty
    assert "101 characters" in long
    assert [*side_by_side(app)] == ["GPT-2"]


def test_long_text_is_paged() -> None:
    text = "one two three. " * 1_000
    app = with_text(text, splits=["words", "gpt2"])
    first = drawn(app, "ariaLabel")["text"]
    assert text.startswith(first)
    assert DRAWN_CHARACTERS // 2 < len(first) <= DRAWN_CHARACTERS
    assert side_by_side(app)["GPT-2"]["tokenCount"] == len(pretokenize(text, "gpt2"))
    box = next(one for one in app.number_input if one.key.startswith("side by side"))
    box.set_value(2).run()
    assert text[len(first) :].startswith(drawn(app, "ariaLabel")["text"])
    assert any(f"Characters {len(first) + 1:,} to" in caption.value for caption in app.caption)
