"""The teacher's page of Learn: all questions with their answers, to print, and one shown large."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from bpeviz.pretrained import download
from bpeviz.ui import components, markdown
from bpeviz.ui.learn.base import Chapter, NoQuestionError, Question, Setup
from bpeviz.ui.learn.forms import ChoiceForm, CurveForm, MessagePart
from bpeviz.ui.learn.registry import BY_KEY, CHAPTERS
from bpeviz.views.table import Table

PARAMETER, LARGE = "teacher", "large"
"""The parameters of the address: of this page, and of the question that it shows large."""

HEADER = ["Question", "Answer", "Likely wrong answers, and what to say"]
MOST_MISTAKES = 5

WORDS_A_MINUTE = 160
"""Words that a 16-year-old reads in a minute, with some time to think."""

MINUTES_A_QUESTION = 0.6
"""The time to find and give an answer, or to look at the pictures, beside the time to read."""


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
    wrong = [
        f"“{question.form.words(mistake.given)}”: {words(mistake.words)}"
        for mistake in question.likely()[:MOST_MISTAKES]
    ]
    return " ".join([*wrong, question.hint and f"Hint: {question.hint}"]).strip()


def asked(chapter: Chapter, setup: Setup | None = None) -> Iterator[Question]:
    """Yield the questions of a chapter about some inputs, the question “Why?” last.

    Args:
        chapter: The chapter.
        setup: Its inputs; by default the first ones.

    Raises:
        NoQuestionError: No question can be asked about the inputs.
    """
    place = f"{CHAPTERS.index(chapter) + 1}."
    questions = [make(setup or chapter.initial) for make in chapter.questions]
    questions.append(chapter.why.question())
    for number, name in enumerate((*chapter.names, f"{chapter.title.rstrip('?')}: why?")):
        if question := questions[number]:
            yield replace(question, name=f"{place}{number + 1} {name}")


def minutes(chapter: Chapter) -> int:
    """Return an estimate of the minutes for a chapter."""
    questions = [*asked(chapter)]
    texts = [chapter.lead, chapter.myth, chapter.fact]
    for question in questions:
        prompt = words([*question.prompt, *question.about_form])
        texts += [prompt, words(question.judge(None).message), question.hint]
        if isinstance(question.form, ChoiceForm):
            texts += question.form.options.values()
    read = sum(len(re.findall(r"\w+", text)) for text in texts) / WORDS_A_MINUTE
    return round(read + MINUTES_A_QUESTION * (len(questions) + 1))


def show() -> None:
    """Draw the page, or the question that the address names."""
    key, _, number = st.query_params.get(LARGE, "").partition("/")
    with suppress(NoQuestionError):  # the list below says why
        if (chapter := BY_KEY.get(key)) and is_there(chapter):
            questions = [*asked(chapter)]
            if number.isdecimal() and int(number) < len(questions):
                _show_large(chapter, int(number), questions)
                return
    st.header("For teachers", anchor=False)
    total = 0
    for chapter in CHAPTERS:
        with suppress(NoQuestionError):
            total += minutes(chapter) if chapter.core and is_there(chapter) else 0
    total = 5 * round(total / 5)  # an estimate, as exact as that of the course
    st.markdown(
        "All questions about the first text of each chapter, with their answers. With another "
        "text, the answers differ. Print this page for a sheet."
    )
    st.markdown(
        f"The core chapters take about {total} minutes. We count {WORDS_A_MINUTE} words a minute, "
        f"and {MINUTES_A_QUESTION * 60:.0f} seconds for each question and for the pictures."
    )
    st.page_link("pages/Learn.py", label="To the course", icon=":material/school:")
    for place, chapter in enumerate(CHAPTERS, 1):
        _list(place, chapter)


def is_there(chapter: Chapter) -> bool:
    """Return whether the vocabularies of a chapter are on this machine."""
    return all(map(download.available, chapter.needs))


def _list(place: int, chapter: Chapter) -> None:
    """Draw the questions of a chapter as a table."""
    st.subheader(f"{place}. {chapter.title}", anchor=False)
    if not is_there(chapter):
        st.caption("The vocabularies of this chapter are not on this machine.")
        return
    kind = "Core" if chapter.core else "Extra"
    try:
        questions = [*asked(chapter)]
        rows = [
            [
                f"{question.name}: {words(question.prompt)}",
                answer(question),
                mistakes(question),
            ]
            for question in questions
        ]
        st.caption(f"{kind}, about {minutes(chapter)} minutes. Many think: {chapter.myth}")
    except NoQuestionError as error:
        st.caption(markdown.escape(str(error)))
        return
    table = Table.of_rows(HEADER, rows)
    st.html(table.html(f"Questions: {chapter.title}"))
    with st.container(horizontal=True, gap="small"):
        for number, question in enumerate(questions):
            st.button(
                f"Show {question.name.partition(' ')[0]} large",
                key=f"large_{chapter.key}_{number}",
                type="tertiary",
                icon=":material/fullscreen:",
                on_click=_put,
                args=(f"{chapter.key}/{number}",),
            )


def _put(name: str) -> None:
    st.query_params[LARGE] = name


def _leave() -> None:
    del st.query_params[LARGE]


def _show_large(chapter: Chapter, number: int, questions: Sequence[Question]) -> None:
    """Draw one question as large as fits; its answer is hidden until it is asked for."""
    key = f"large_question_{chapter.key}_{number}"
    with st.container(key="large"):
        sent = (st.session_state.get(key) or {}).get("answer") or {}
        given, asked_again = sent.get("value"), sent.get("again") is True
        tries = [given] if questions[number].form.accepts(given) else []
        gave_up = "value" in sent and given is None and not asked_again
        question = questions[number].payload(key, tries, gave_up)
        components.answer(question | {"hasManyTries": True}, key)
    with st.container(horizontal=True, gap="small"):
        st.button("All questions", on_click=_leave, icon=":material/close_fullscreen:")
        if number + 1 < len(questions):
            following = f"{chapter.key}/{number + 1}"
            st.button("Next question", on_click=_put, args=(following,), type="primary")
