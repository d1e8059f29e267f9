"""The teacher's sheet of the Learn page: all questions with their answers, to print."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpeviz.pretrained import download
from bpeviz.ui.html_table import table
from bpeviz.ui.learn.base import Chapter, Question
from bpeviz.ui.learn.forms import ChoiceForm, CurveForm, MessagePart
from bpeviz.ui.learn.registry import CHAPTERS

HEADER = ["Chapter", "Question", "Answer", "Likely wrong answers, and what to say"]
MOST_MISTAKES = 5


def words(parts: Sequence[MessagePart]) -> str:
    """Return a message as plain text."""
    return "".join(part if isinstance(part, str) else part["label"] for part in parts)


def answer(question: Question) -> str:
    """Return the right answer to a question, with its explanation."""
    result = question.judge(None)
    form, marks = question.form, result.marks
    right: list[str] = []
    if isinstance(form, ChoiceForm):
        right = [f"“{form.words(key)}”" for key in marks["right"]]
    elif "order" in marks:
        right = [f"{form.words(marks['order'])}."]
    elif isinstance(form, CurveForm):
        points = (f"{y:,} at {x:,}" for x, y in marks["points"] if x in form.handles)
        right = [f"{form.yTitle.capitalize()}: {', '.join(points)}."]
    return " ".join([*right, words(result.message)])


def mistakes(question: Question) -> str:
    """Return the likely wrong answers to a question, with what to say."""
    found = [
        f"“{question.form.words(one.given)}”: {words(one.words)}"
        for one in question.likely()[:MOST_MISTAKES]
    ]
    return " ".join([*found, question.hint and f"Hint: {question.hint}"]).strip()


def rows(chapter: Chapter) -> list[list[str]]:
    """Return each question of a chapter, about its first text, with its answer."""
    if not all(map(download.available, chapter.needs)):
        return [["(The vocabularies of this chapter are not on this machine.)", "", ""]]
    asked = [make(chapter.initial) for make in chapter.questions]
    found = [question for question in (*asked, chapter.why.question()) if question is not None]
    return [[words(one.prompt), answer(one), mistakes(one)] for one in found]


def show() -> None:
    """Draw the switch of the sheet, and the sheet where it is on. Links do not contain it."""
    if not st.toggle(
        "Teacher's sheet: all questions with their answers", key="learn_teachers_sheet"
    ):
        return
    listed = [
        [f"{number}. {chapter.title}", *row]
        for number, chapter in enumerate(CHAPTERS, 1)
        for row in rows(chapter)
    ]
    st.html(table(HEADER, listed, label="Teacher's sheet", scrolls=False))
