"""When to stop: the judge of every line, and a payload without the curve of the new text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers.properties import many
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.ui.learn import figures
from bpeviz.ui.learn.base import DON_QUIJOTE, Question
from bpeviz.ui.learn.chapters.stop import CHAPTER, MERGES, WIDTH


def question(new: str = CHAPTER.text) -> Question:
    return CHAPTER.tasks["line"](new).questions[0]()


def words(message: Any) -> str:
    return "".join(part if isinstance(part, str) else part["label"] for part in message)


def curves(done: int, answer: Any = None, new: str = CHAPTER.text) -> dict[str, Any]:
    result: dict[str, Any] = CHAPTER.tasks["line"](new).payload(done, answer)["curves"]
    return result


@pytest.mark.parametrize("step", range(MERGES + 1))
def test_line_is_right_at_merge_fourteen_and_close_around_it(step: int) -> None:
    verdict = "right" if step == 14 else "near" if 10 <= step <= 18 else "wrong"
    judgment = question().judge(step)
    assert (judgment.verdict, judgment.right) == (verdict, 14)
    told = words(judgment.message)
    assert told.startswith(
        "Merge 14, ie, is the last one that makes the new text shorter: 209 → 182 tokens. From "
        "there to merge 40, the training text goes from 87 to 61 tokens."
    )
    assert ("After your line" in told, "before your line" in told) == (step < 14, step > 14)


def test_payload_before_the_answer_does_not_depend_on_the_new_text() -> None:
    """Only its identity does."""
    texts = (CHAPTER.text, "Ⱥnother ☃ text", DON_QUIJOTE)
    states = [
        CHAPTER.tasks["line"](text).payload(0, answer) for text in texts for answer in (None, 9)
    ]
    assert len({json.dumps(state | {"key": "", "timelineId": ""}) for state in states}) == 1
    assert [line["title"] for line in states[0]["curves"]["lines"]] == ["training text"]
    assert (states[0]["curves"]["marks"], states[0]["curves"]["rows"]) == ([], None)
    assert (states[0]["last"], states[0]["initialStep"]) == (MERGES, 0)


def test_answer_appends_the_curve_of_the_new_text_to_the_same_track() -> None:
    before, after = curves(0), curves(1, 22)
    assert after["lines"][0] == before["lines"][0]
    values = after["lines"][1]["values"]
    assert (values[0], values[14], values[40]) == (100, 87.1, 87.1)
    assert before["lines"][0]["values"][40] == 46.6
    assert after["marks"] == [(14, "merge 14, the last that helps"), (22, "yours")]
    assert curves(1, 14)["marks"] == curves(1)["marks"] == after["marks"][:1]
    assert after["rows"] == 256
    payload = CHAPTER.tasks["line"](CHAPTER.text).payload(1, 22)
    assert (payload["goal"], payload["last"]) == (14, MERGES)
    assert payload["key"] == CHAPTER.tasks["line"](CHAPTER.text).payload(0, None)["key"]


def test_text_that_no_merge_helps_is_told_so() -> None:
    result = question("你好").judge(40)
    assert words(result.message).startswith("No merge makes the new text shorter")
    assert (result.verdict, result.right) == ("wrong", 0)
    assert question("你好").solved(0)
    assert curves(1, 40, "你好")["marks"][0] == (0, "no merge helps")


@many(30, 30)
@given(st.text(min_size=1, max_size=60), st.integers(0, MERGES))
def test_line_after_which_nothing_changes_is_right_for_any_text(new: str, step: int) -> None:
    """The counts are those of tokenizers with more and more merges."""
    training = bpeviz.train(DON_QUIJOTE, merges=MERGES, pattern="none")
    counts = [len(training.tokenizer(256 + i).encode(new)) for i in range(MERGES + 1)]
    right = question(new).judge(None).right
    assert counts[right] == counts[-1]
    assert not right or counts[right - 1] > counts[right]
    assert (question(new).judge(step).verdict == "right") == (step == right)
    assert question(new).solved(step) == (abs(step - right) <= figures.NEAR)


def test_figures_are_those_of_the_line_and_of_gpt2s_smallest_model() -> None:
    shown = CHAPTER.figures()
    assert (shown["entries"], shown["numbers"]) == (270, 207_360)
    assert WIDTH == 768
    training = bpeviz.train(DON_QUIJOTE, merges=20, pattern="none")
    assert training.tokenizer().token_bytes(255 + int(shown["once"])) == b"En un lugar"
    assert training.merges[int(shown["once"]) - 1].count == 1
