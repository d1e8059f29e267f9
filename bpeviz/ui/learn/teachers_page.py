"""The teacher's page of Learn: texts, tokens, answers and likely mistakes, to print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from bpeviz.core.boundaries import INSIDE_ID
from bpeviz.room import sheet
from bpeviz.text import label
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.learn import prose, vote_questions
from bpeviz.ui.learn.acts import BeliefAct, BoundariesAct, parts_of
from bpeviz.ui.learn.base import Chapter, NoQuestionError
from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.ui.learn.vote_questions import Asked

PARAMETER, STUDENT = "teacher", "student"
"""The parameter of the address, and its value for the sheet without answers."""

LARGE = "large"
"""The parameter with the key of a question that is shown alone, on its stage."""

MOST_MISTAKES = 2

HEADER = ("Question", "Answer", "Likely mistakes, and what to say")
STUDENT_HEADER = ("Question", "Your answer")

ABOUT = (
    "The first text of each chapter, its tokens, and all answers. Other texts have other answers. "
    "Print this page, and the student's sheet, which has no answers."
)
ROOM = (
    "**In a class**, open a room: “Share”, then “Open a room”, here or on any page with a player. "
    "Students scan its code and vote. It asks each question that has a number here, and the ten "
    "questions below before and after the course: it then shows the sums of right answers, and "
    "“Save the votes” saves them. Run sheets: {sheets}. Choose one under “Open a room”, or start "
    "with it: `python -m bpeviz room 20-minutes`."
)


def show(draw_large: Callable[[str], None]) -> None:
    """Draw the page, or the question that the address names.

    Args:
        draw_large: Draws a question on its stage.
    """
    if large := st.query_params.get(LARGE):
        draw_large(large)
        return
    has_answers = st.query_params.get(PARAMETER) != STUDENT
    EXPORT.put(Export("learn", questions=lambda: [*vote_questions.of_before_after().values()]))
    st.header("For teachers" if has_answers else "Worksheet", anchor=False)
    if has_answers:
        st.markdown(ABOUT)
        titles = (f"“{listed.title}”" for listed in sheet.ours().values())
        st.markdown(ROOM.format(sheets=", ".join(titles)))
        _link("The student's sheet", STUDENT)
    else:
        _link("The teacher's page", "1")
    st.page_link("pages/Learn.py", label="To the course", icon=":material/school:")
    for place, chapter in enumerate(BY_KEY.values()):
        try:
            listed = [*vote_questions.asked(chapter)]
        except NoQuestionError as error:
            st.html(f"<p>{escape(str(error))}</p>")
            continue
        st.html(_chapter(place, chapter, listed, has_answers=has_answers))
        if has_answers:
            with st.container(horizontal=True, gap="small"):
                for one in listed:
                    if one.stage:
                        words = one.name or prose.read(chapter.key).title
                        _link(f"Show {words} large", "1", one.key)
    st.html(_before_after(has_answers=has_answers))


def _link(words: str, teacher: str, large: str = "") -> None:
    query = {PARAMETER: teacher} | ({LARGE: large} if large else {})
    icon = f":material/{'fullscreen' if large else 'description'}:"
    st.page_link("pages/Learn.py", label=words, icon=icon, query_params=query)


def _chapter(place: int, chapter: Chapter, listed: Sequence[Asked], *, has_answers: bool) -> str:
    """Return a chapter as HTML."""
    words, figures = prose.read(chapter.key), chapter.figures()
    about = f"<b>Goal:</b> {escape(words.goal)} ({words.minutes} minutes)"
    if has_answers:
        myth, fact = (escape(prose.fill(text, figures)) for text in (words.myth, words.fact))
        about += f" <b>Many think:</b> {myth} <b>In fact:</b> {fact}"
    text = f"<p><b>Text:</b> {escape(chapter.text)}</p>" if chapter.text else ""
    if chapter.text and has_answers and (tokens := _tokens(listed[0])):
        count = f"{len(tokens):,} tokens on the stage at the end:"
        text += f"<p><b>{count}</b> {' '.join(map(_token, tokens))}</p>"
    rows, before = [], ""
    for one in listed:
        prompt = _html(one.prompt)
        name = f"<b>{escape(one.name)}</b>"
        is_new = prompt != before and not one.name.endswith(_plain(one.prompt))
        before = prompt
        asked = f"{name}<br>{prompt}" if is_new else name
        rows.append([asked, *(_solved(one) if has_answers else [_blank(one)])])
    header = HEADER if has_answers else STUDENT_HEADER
    return _section(f"{place}. {words.title}", f"<p>{about}</p>{text}", header, rows)


def _solved(one: Asked) -> list[str]:
    """Return the answer to a question, and likely mistakes with what to say."""
    question, act = one.question, one.question.act
    right = question.judge(None)
    is_in_words = isinstance(act, BeliefAct) or act.kind == "type"
    named = [f"{act.words(right.right)} "] if is_in_words and right.right is not None else []
    mistakes: dict[str, str] = {}
    for mistake in question.likely():
        said, given = _html(mistake.words), act.words(mistake.given)
        is_named = given in _plain(mistake.words)
        mistakes.setdefault(said, said if is_named else f"<i>{escape(given)}</i> {said}")
    listed = [*mistakes.values()][:MOST_MISTAKES]
    hint = [f"Hint: {escape(question.hint)}"] if question.hint else []
    return [_html([*named, *right.message]), "<br>".join([*listed, *hint])]


def _blank(one: Asked) -> str:
    """Return the options of a question, or place to write."""
    act = one.question.act
    if isinstance(act, BeliefAct):
        return "<br>".join(f"☐ {_html(parts_of(words))}" for words in act.options)
    if isinstance(act, BoundariesAct):
        return " ".join(map(_token, act.pieces))
    return "&nbsp;"


def _before_after(*, has_answers: bool) -> str:
    rows = []
    for key, vote in vote_questions.of_before_after().items():
        rights = [i == vote.right and has_answers for i in range(len(vote.options))]
        options = (
            f"{'☑' if is_right else '☐'} {_html(parts_of(option.words))}"
            for option, is_right in zip(vote.options, rights, strict=True)
        )
        number = int(key.rpartition("/")[2]) + 1
        rows.append([f"{number}. {_html(vote.prompt)}", "<br>".join(options)])
    words = prose.read(vote_questions.BEFORE_AFTER)
    return _section(words.title, f"<p>{escape(words.lead)}</p>", ("Question", "Answer"), rows)


def _section(title: str, about: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table under a title; the cells and `about` are HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<section class="teacher"><h3>{escape(title)}</h3>{about}{table}</section>'


def _html(parts: Iterable[str | Mapping[str, Any]]) -> str:
    """Return a message as HTML."""
    return "".join(
        escape(part) if isinstance(part, str) else _token(part["label"]) for part in parts
    )


def _token(name: str) -> str:
    return f"<code>{escape(name)}</code>"


def _plain(parts: Iterable[str | Mapping[str, Any]]) -> str:
    """Return a message as plain text."""
    return "".join(part if isinstance(part, str) else part["label"] for part in parts)


def _tokens(one: Asked) -> list[str]:
    """Return the tokens of a text on its stage when all questions are answered."""
    if not one.stage:
        return []
    is_fenced = isinstance(one.question.act, BoundariesAct) and one.question.act.is_live
    given = one.question.judge(None).right if is_fenced else None
    view: dict[str, Any] = one.stage.payload(len(one.stage.questions), given)
    view = view.get("views", [view])[0]
    raw = view["text"].encode()
    if view["atomKind"] != "bytes":
        return []
    if view["mergedAt"] is not None:
        starts = [0, *(i for i, step in enumerate(view["mergedAt"], 1) if step < 0)]
    else:
        last = (view["changes"]["ids"][end - 1] for end in view["changes"]["offsets"][1:])
        starts = [i for i, token_id in enumerate(last) if token_id != INSIDE_ID]
    ends = [*starts[1:], len(raw)]
    return [label(raw[i:j]) for i, j in zip(starts, ends, strict=True) if i < j]
