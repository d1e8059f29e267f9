"""The teacher's page of Learn: a plan, each question as a link, and its answer, to print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import streamlit as st

from bpeviz.room import sheet
from bpeviz.text import label
from bpeviz.ui.learn import prose, vote_questions
from bpeviz.ui.learn.base import Chapter
from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.views.acts import BeliefAct, parts_of
from bpeviz.views.payloads import MessagePart
from bpeviz.views.task import Task

PARAMETER, STUDENT = "teacher", "student"
"""The parameter of the address, and its value for the sheet without answers."""

PLAN = "45-minutes"

HEADER = ("Question", "Answer", "A likely mistake, and what to say")
STUDENT_HEADER = ("Question", "Your answer")


def show() -> None:
    """Draw the page, or the student's sheet."""
    has_answers = st.query_params.get(PARAMETER) != STUDENT
    words = prose.read("teacher")
    if has_answers:
        titles = ", ".join(f"“{listed.title}”" for listed in sheet.ours().values())
        st.markdown(f"{words.lead}\n\n{prose.fill(words.notes['room'], {'sheets': titles})}")
        st.html(_plan())
    other, value = ("The student's sheet", STUDENT) if has_answers else ("The teacher's page", "1")
    with st.container(horizontal=True, gap="small"):
        link(other, {PARAMETER: value})
        link("To the course", {})
    rows = [row for chapter in BY_KEY.values() for row in _rows(chapter, has_answers=has_answers)]
    st.html(_table(HEADER if has_answers else STUDENT_HEADER, rows))


def link(words: str, query: dict[str, str]) -> None:
    """Draw a button that opens this page with other parameters.

    A link to the page on which it is would not change the address.
    """
    open_page = st.query_params.from_dict
    st.button(words, key=f"teacher_{words}", type="tertiary", on_click=open_page, args=(query,))


def _plan() -> str:
    """Return the parts of a run sheet with their minutes, as HTML."""
    plan = sheet.ours()[PLAN]
    what = (part.words or part.link or f"step {part.step}" for part in plan.parts)
    minutes = (f"{part.minutes} min {part.kind}" for part in plan.parts)
    parts = "; ".join(f"{many} {escape(words)}" for many, words in zip(minutes, what, strict=True))
    about = f"{escape(plan.title)}, of which {plan.minutes} have a part"
    return f'<p class="teacher"><b>{about}:</b> {parts}</p>'


def _rows(chapter: Chapter, *, has_answers: bool) -> list[Sequence[str]]:
    """Return a chapter and its questions as rows of cells, in HTML."""
    words = prose.read(chapter.key)
    goal = f"<b>{escape(words.title)}</b>, {words.minutes} minutes: {escape(words.goal)}"
    rows: list[Sequence[str]] = [(goal,)]
    for key, task in vote_questions.asked(chapter):
        name, _, number = key.partition("/")[2].partition("/")
        if number != "0":  # another round
            continue
        about = "" if task.stage is None else f" {_token(label(chapter.texts[name].encode()))}"
        link = f'<a href="Learn?chapter={chapter.key}/{name}">{_html(task.prompt)}</a>{about}'
        cells = (_answer(task), _mistake(task)) if has_answers else (_blank(task),)
        rows.append((link, *cells))
    return rows


def _answer(task: Task[Any]) -> str:
    """Return the answer to a question."""
    act, right = task.act, task.judge(None)
    is_in_words = isinstance(act, BeliefAct) or act.kind == "type"
    named = [f"{act.words(right.right)} "] if is_in_words and right.right is not None else []
    return _html([*named, *right.message])


def _mistake(task: Task[Any]) -> str:
    """Return the likeliest wrong answer to a question, with what to say."""
    for mistake in task.likely():
        given = task.act.words(mistake.given)
        return f"<i>{escape(given)}</i> {_html(mistake.words)}"
    return ""


def _blank(task: Task[Any]) -> str:
    """Return the options of a question, or place to write."""
    act = task.act
    if isinstance(act, BeliefAct):
        return "<br>".join(f"☐ {_html(parts_of(words))}" for words in act.sentences)
    return "&nbsp;"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the cells are HTML, and a row of one cell is a heading."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    span = f' colspan="{len(header)}"'
    body = "".join(
        f"<tr>{''.join(f'<td{span if len(row) == 1 else str()}>{cell}</td>' for cell in row)}</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<section class="teacher">{table}</section>'


def _html(parts: Iterable[MessagePart]) -> str:
    """Return a message as HTML; what is between backticks is a token."""
    split = (parts_of(part) if isinstance(part, str) else [part] for part in parts)
    return "".join(
        escape(part) if isinstance(part, str) else _token(part["label"])
        for some in split
        for part in some
    )


def _token(name: str) -> str:
    return f"<code>{escape(name)}</code>"
