"""The teacher's page of Learn: texts, tokens, answers and likely mistakes, to print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

import streamlit as st

from bpeviz.room import sheet
from bpeviz.text import counted, label
from bpeviz.ui.learn import prose, vote_questions
from bpeviz.ui.learn.base import Chapter, NoQuestionError
from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.ui.learn.vote_questions import Asked
from bpeviz.views.acts import BeliefAct, BoundariesAct, IdsAct, PairAct, TypeAct, parts_of
from bpeviz.views.payloads import MessagePart, MessageRow
from bpeviz.views.stage import last_starts

PARAMETER, STUDENT = "teacher", "student"
"""The parameter of the address, and its value for the sheet without answers."""

LARGE = "large"
"""The parameter with the key of a question that is shown alone, on its stage."""

MOST_MISTAKES, MOST_PAIRS = 4, 2

HEADER = ("Question", "Answer", "Likely mistakes, and what to say")
STUDENT_HEADER = ("Question", "Your answer")


def show(draw_large: Callable[[str], None]) -> None:
    """Draw the page, or the question that the address names.

    Args:
        draw_large: Draws a question on its stage.
    """
    if large := st.query_params.get(LARGE):
        draw_large(large)
        return
    has_answers = st.query_params.get(PARAMETER) != STUDENT
    words = prose.read("teacher")
    st.header(words.title if has_answers else "Worksheet", anchor=False)
    if has_answers:
        titles = ", ".join(f"“{listed.title}”" for listed in sheet.ours().values())
        st.markdown(f"{words.lead}\n\n{prose.fill(words.notes['room'], {'sheets': titles})}")
    with st.container(horizontal=True, gap="small"):
        other = ("The student's sheet", STUDENT) if has_answers else ("The teacher's page", "1")
        link(other[0], "description", **{PARAMETER: other[1]})
        link("To the course", "school")
    for place, chapter in enumerate(BY_KEY.values()):
        try:
            listed = [*vote_questions.asked(chapter)]
        except NoQuestionError as error:
            st.html(f"<p>{escape(str(error))}</p>")
            continue
        st.html(_chapter(place, chapter, listed, has_answers=has_answers))
        if has_answers:
            with st.container(horizontal=True, gap="small"):
                for entry in listed:
                    if entry.task:
                        query = {PARAMETER: "1", LARGE: entry.key}
                        link(f"Show “{entry.name}” large", "fullscreen", **query)


def link(words: str, icon: str, **query: str) -> None:
    """Draw a button that opens this page with other parameters.

    A link to the page on which it is would not change the address.
    """
    st.button(
        words,
        key=f"teacher_{'_'.join([words, *query.values()])}",
        icon=f":material/{icon}:",
        type="tertiary",
        on_click=_open,
        args=(query,),
    )


def _open(query: Mapping[str, str]) -> None:
    st.query_params.from_dict(query)


def _chapter(place: int, chapter: Chapter, listed: Sequence[Asked], *, has_answers: bool) -> str:
    """Return a chapter as HTML."""
    words, figures = prose.read(chapter.key), chapter.figures()
    about = f"<b>Goal:</b> {escape(words.goal)} ({words.minutes} minutes)"
    if has_answers:
        myth, fact = (
            escape(prose.fill(text, figures)) for text in (words.beliefs[0].myth, words.fact)
        )
        about += f" <b>Many think:</b> {myth} <b>In fact:</b> {fact}"
    text = f"<p><b>Text:</b> {escape(chapter.text)}</p>" if chapter.text else ""
    if words.about and not has_answers:  # the teacher's page would take a seventh sheet
        text += f"<p>{escape(prose.fill(words.about, figures))}</p>"
    if chapter.text and has_answers and not isinstance(listed[0].question.act, TypeAct):
        about_text, tokens = _tokens(listed[0])
        which = "" if about_text == chapter.text else "Training text, "
        names = " ".join(map(_token, tokens))
        text += f"<p><b>{which}{counted(len(tokens), 'token')} at the end:</b> {names}</p>"
    rows = []
    for entry in listed:
        task = words.tasks.get(entry.key.split("/")[1]) if entry.task else None
        is_new = bool(task) and entry.key.endswith("/0")  # other rounds have the same words
        asked = [f"<b>{escape(entry.name)}</b>"] if entry.name else []
        asked += [_html(entry.prompt), *map(_row, entry.question.rows)] if is_new else []
        cells = [_solved(entry), _mistakes(entry)] if has_answers else [_blank(entry)]
        if task and is_new and has_answers:
            told = {**figures, **(entry.task.figures if entry.task else {})}
            hint, why = (parts_of(prose.fill(text, told)) for text in (task.hint, task.why))
            cells[0] += f"<br>{_html(why)}"
            cells[1] += f"<br><b>Hint:</b> {_html(hint)}" if task.hint else ""
        rows.append(["<br>".join(asked), *(cell.removeprefix("<br>") for cell in cells)])
    notes = [note for name, note in words.notes.items() if name != vote_questions.NOTE]
    if has_answers and notes:
        said = prose.fill(" ".join(notes), figures)
        rows.append(["<b>Afterwards</b>", _html(parts_of(said)), ""])
    header = HEADER if has_answers else STUDENT_HEADER
    return _section(f"{place}. {words.title}", f"<p>{about}</p>{text}", header, rows)


def _row(row: MessageRow) -> str:
    """Return a list that belongs to a question."""
    number = "{}. " if row["numbered"] else ""
    items = (
        f'<span class="entry">{number.format(i)}{_html(item)}</span>'
        for i, item in enumerate(row["items"], 1)
    )
    return f"<b>{escape(row['title'])}:</b> {' &nbsp; '.join(items)}"


def _solved(entry: Asked) -> str:
    """Return the answer to a question."""
    act, right = entry.question.act, entry.question.judge(None)
    is_in_words = isinstance(act, BeliefAct) or act.kind == "type"
    named = [f"{act.words(right.right)} "] if is_in_words and right.right is not None else []
    return _html([*named, *(entry.vote.judge(None) if entry.vote else right).message])


def _mistakes(entry: Asked) -> str:
    """Return likely wrong answers to a question, with what to say."""
    act = entry.question.act
    mistakes: dict[str, str] = {}
    for mistake in entry.question.likely():
        said, given = _html(mistake.words), act.words(mistake.given)
        is_named = given in _plain(mistake.words)
        mistakes.setdefault(said, said if is_named else f"<i>{escape(given)}</i> {said}")
    most = MOST_PAIRS if isinstance(act, PairAct) else MOST_MISTAKES
    return "<br>".join([*mistakes.values()][:most])


def _blank(entry: Asked) -> str:
    """Return the options of a question, or place to write."""
    act = entry.question.act
    if isinstance(act, BeliefAct):
        return "<br>".join(f"☐ {_html(parts_of(words))}" for words in act.sentences)
    if isinstance(act, BoundariesAct):
        return " ".join(map(_token, act.pieces))
    if isinstance(act, IdsAct):
        return act.words([*act.ids])
    return "&nbsp;"


def _section(title: str, about: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table under a title; the cells and `about` are HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<section class="teacher"><h3>{escape(title)}</h3>{about}{table}</section>'


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


def _plain(parts: Iterable[MessagePart]) -> str:
    """Return a message as plain text."""
    return "".join(part if isinstance(part, str) else part["label"] for part in parts)


def _tokens(entry: Asked) -> tuple[str, list[str]]:
    """Return the text on the stage of a task, and its tokens once all is answered."""
    if not entry.task:
        return "", []
    right = entry.question.judge(None).right
    view = entry.task.payload(len(entry.task.questions), right)["views"][0]
    raw, starts = view["text"].encode(), last_starts(view)
    ends = [*starts[1:], len(raw)]
    return view["text"], [label(raw[i:j]) for i, j in zip(starts, ends, strict=True) if i < j]
