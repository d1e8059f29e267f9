"""The Learn page: chapters in which the user predicts, and the engine computes.

A chapter goes from a prediction to the result, the question “Why?”, and a text to change. Then the
questions follow once more, about the changed text. Answers and marks are values of the session. The
browser also stores them, until the user starts again. Links contain the chapter and its inputs, but
no answers and no marks.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from bpeviz.corpus import samples
from bpeviz.room import votes
from bpeviz.trainers import TRAINERS
from bpeviz.ui import components, markdown
from bpeviz.ui.downloads import ready
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.inputs.text import TEXT
from bpeviz.ui.inputs.training import ALGORITHM
from bpeviz.ui.learn import first_merge, teachers_page, tours, vote_questions
from bpeviz.ui.learn.base import (
    TRIES,
    Chapter,
    Input,
    Mark,
    NoQuestionError,
    Picture,
    Question,
    Setup,
)
from bpeviz.ui.learn.registry import BY_KEY, CHAPTERS
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import codec, session
from bpeviz.ui.widgets import NumberField, OneOf, SessionValue, SomeOf, TextField, Values, Widget
from bpeviz.views.table import Table

END, END_TITLE = "end", "The end"
"""The key of the page after the last chapter, and its title."""

CHAPTER = OneOf(
    "learn_chapter",
    "Chapter",
    link="chapter",
    titles={chapter.key: chapter.title for chapter in CHAPTERS} | {END: END_TITLE},
)
DONE = SomeOf(
    "learn_done", "Chapters done", link="chapters_done", titles=CHAPTER.titles, most=len(CHAPTERS)
)
"""The chapters that were done in a link of an older version: the bar shows them as opened."""

PARAMETER = "chapter"
"""The parameter of the address with the chapter, such as `/Learn?chapter=first-merge`."""

WHY = "why"
OWN = "*"
"""The end of the name of an answer that is not about a chapter's first text."""

MAX_STORED = 50_000
"""The most characters of the answers that the browser may restore."""

MAX_ANSWER = 2_000

VARIANTS = ("bpe", "scaffold", "superbpe", "multilingual", "parity", "adaptive")
"""The trainers of the map after the last chapter."""

SIGNS: Mapping[Mark, str] = {"first": "●", "second": "◐", "shown": "○"}
MARK_WORDS: Mapping[Mark, str] = {
    "first": "at the first try",
    "second": "at the second try",
    "shown": "shown",
}

BAR = "chapter_bar"
_ANSWERS: SessionValue[dict[str, dict[str, Any]]] = SessionValue("learn_answers")
"""The answers by chapter and question: "of", the inputs they are about, "tries", and "shown"."""

_MARKS: SessionValue[dict[str, Mark]] = SessionValue("learn_marks")
"""The first mark of each question about the first text, by chapter and question."""

_TAKEN: SessionValue[dict[str, int]] = SessionValue("learn_taken")
"""The number of the last press that was handled, by component: browsers may send it again."""

_ADDRESS: SessionValue[str] = SessionValue("learn_address")
"""The chapter in the address when it was read or written last."""

_OWN: SessionValue[dict[str, Setup | None]] = SessionValue("learn_own")
"""The inputs of each chapter that the user changed; None where they are the first ones again."""

_SESSION: SessionValue[str] = SessionValue("learn_session")
_CLEARED: SessionValue[bool] = SessionValue("learn_cleared")


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield CHAPTER
    yield DONE
    if chapter := BY_KEY.get(values.get(CHAPTER) or ""):
        for field in chapter.inputs:
            yield field.widget


PAGE = Page(
    "pages/Learn.py",
    "Learn",
    "Predict what a tokenizer does, then see whether it does.",
    _widgets,
    has_inputs=False,
)


def show() -> None:
    """Draw the chapters as a bar, and the current one; or the teacher's page."""
    if st.query_params.get(teachers_page.PARAMETER):
        teachers_page.show()
        return
    current = _current()
    bar = st.container()
    with st.container(key="chapter"):
        if chapter := BY_KEY.get(current):
            _draw_chapter(chapter)
        else:
            _draw_end()
    with bar:
        _bar(current)


def _draw_chapter(chapter: Chapter) -> None:
    number = CHAPTERS.index(chapter) + 1
    st.header(f"{number}. {chapter.title}", anchor=False)
    st.markdown(chapter.lead)
    if len(ready(chapter.needs)) < len(chapter.needs):
        st.info("This chapter needs published vocabularies, which are not on this machine yet.")
        _neighbors(number)
    else:
        values = _take_answers(chapter)
        place = st.container()
        own = _draw_own(chapter, values)
        is_changed = _changed(chapter, own)
        EXPORT.put(Export("learn", questions=partial(_for_votes, chapter, own)))
        with place:
            # The inputs of the pictures are drawn once: with the last pictures.
            has_inputs = not (is_changed and _answered(chapter, own))
            _ask(chapter, {**own, **_first(chapter)}, has_inputs=has_inputs)
            _neighbors(number)
        if is_changed:
            _ask(chapter, own, is_own=True)
    with st.expander("Settings and sources"):
        st.markdown(f"**Settings:** {chapter.settings}")
        st.markdown(f"**Sources:** {chapter.source}")


def _for_votes(chapter: Chapter, setup: Setup) -> list[votes.VoteQuestion]:
    """Return the questions of a chapter on which a room can vote.

    Raises:
        NoQuestionError: There are none about this text.
    """
    offered = [
        vote_questions.for_vote(question) for question in teachers_page.asked(chapter, setup)
    ]
    return [question for question in offered if question is not None]


def _draw_end() -> None:
    """Draw the page after the last chapter: the facts, the marks, and ways on."""
    st.header("What you know now", anchor=False)
    core = [chapter for chapter in CHAPTERS if chapter.core]
    done = sum(map(_is_done, core))
    st.markdown(f"You have finished {done} of {len(core)} core chapters. These are their facts:")
    facts = (
        f"{i}. **{chapter.title.rstrip('?')}:** {chapter.fact}" for i, chapter in enumerate(core, 1)
    )
    st.markdown("\n".join(facts))
    st.subheader("Your marks", anchor=False)
    marks = [mark for chapter in CHAPTERS for mark in _marks(chapter) if mark]
    if marks:
        sums = (f"{SIGNS[mark]} {marks.count(mark)} {words}" for mark, words in MARK_WORDS.items())
        st.markdown(
            f"**{marks.count('first')} of {len(marks)} at the first try.** {' · '.join(sums)}"
        )
    else:
        st.markdown("You have not answered a question yet.")
    st.caption("Your marks are stored in this browser only. Nothing is sent.")
    with st.container(horizontal=True, gap="small"):
        st.button("Start again", on_click=_start_again, help="Clear all answers and marks.")
    st.subheader("Where to go", anchor=False)
    with st.container(horizontal=True, gap="small"):
        _page_link("app.py", "Train on a text of your own", {})
        _page_link("pages/Compare.py", "Compare tokenizers in your language", {})
        st.page_link(
            "pages/Learn.py",
            label="For teachers: all answers",
            icon=":material/school:",
            query_params={teachers_page.PARAMETER: "1"},
        )
    st.markdown("**Share the course:** the menu Share copies a link. It has no answers or marks.")
    st.subheader("Guided tours of the pages", anchor=False)
    for tour in tours.TOURS.values():
        title, subject = tour.words[0]
        st.page_link(tour.page.path, label=title, query_params=tour.link())
        st.caption(subject)
    with st.expander("Variants of byte-pair encoding"):
        _variants()


def _start_again() -> None:
    """Forget all answers and marks, and open the first chapter."""
    _ANSWERS.put({})
    _MARKS.put({})
    for key in _OWN.get() or {}:
        _reset(BY_KEY[key])
    _OWN.put({})
    DONE.put([])
    _CLEARED.put(True)
    _go(CHAPTERS[0].key)


# ---- the current chapter


def _current() -> str:
    """Return the key of the current chapter: the one in the address if that changed."""
    address = st.query_params.get(PARAMETER)
    if address and address in CHAPTER.titles and address != _ADDRESS.get():
        CHAPTER.put(address)
    if CHAPTER.get() not in CHAPTER.titles:
        CHAPTER.put(first_merge.KEY)
        _bring_text(BY_KEY[first_merge.KEY])
    current = CHAPTER.get() or ""
    _ADDRESS.put(current)
    return current


def _bring_text(chapter: Chapter) -> None:
    """Give a chapter the text of the other pages as the user's own, unless it is the first one."""
    text, box = TEXT.box.get() or "", chapter.inputs[0].widget
    is_own = text not in ("", samples.by_key(TEXT.first).text)
    if is_own and not box.present and box.allows(text):
        box.put(text)


def _go(key: str) -> None:
    CHAPTER.put(key)
    _ADDRESS.put(key)
    st.query_params[PARAMETER] = key


def _marks(chapter: Chapter) -> list[Mark | None]:
    """Return the mark of each question of a chapter, None for one without."""
    marks = _MARKS.get() or {}
    return [marks.get(_name(chapter, number)) for number in _numbers(chapter)]


def _is_done(chapter: Chapter) -> bool:
    """Return whether the question “Why?” of a chapter, its last one, was answered."""
    return _name(chapter, WHY) in (_MARKS.get() or {})


def _numbers(chapter: Chapter) -> list[int | str]:
    """Return the names of the questions of a chapter, in their order."""
    return [*range(len(chapter.questions)), WHY]


def _bar(current: str) -> None:
    linked = {*(DONE.get() or ())}
    if not _SESSION.present:
        _SESSION.put(secrets.token_hex(8))
    listed = [
        {
            "key": chapter.key,
            "number": str(number),
            "title": chapter.title,
            "core": chapter.core,
            "marks": _marks(chapter),
            "opened": chapter.key in linked,
        }
        for number, chapter in enumerate(CHAPTERS, 1)
    ]
    end = {"key": END, "number": "", "title": END_TITLE, "core": True}
    listed.append(end | {"marks": [], "opened": False})
    stored = {"answers": _ANSWERS.get() or {}, "marks": _MARKS.get() or {}, "own": _OWN.get() or {}}
    progress = json.dumps(stored, separators=(",", ":"))
    data = {
        "chapters": listed,
        "current": current,
        "progress": progress,
        "cleared": bool(_CLEARED.get()),
        "session": _SESSION.get(),
        # Streamlit would add an address to the history, from which Back returns to this page.
        "names": PARAMETER if st.query_params.get(PARAMETER) != current else "",
    }
    components.chapter_bar(data, BAR, _bar_changed)


def _bar_changed() -> None:
    """Take the chapter that was pressed, and answers that the browser stored."""
    state = st.session_state.get(BAR) or {}
    match state.get("chapter"):
        case {"key": str(key), "number": int(number)} if (
            _is_new(BAR, number) and key in CHAPTER.titles
        ):
            _go(key)
    restored = state.get("restored")
    if isinstance(restored, str) and not _CLEARED.get():
        answers, marks, own = _read(restored)
        for key, values in own.items():
            if not (_OWN.get() or {}).get(key) and not _has_other_inputs(BY_KEY[key]):
                _OWN.put({**(_OWN.get() or {}), key: values})
                _put(BY_KEY[key], values)
        _ANSWERS.put({**answers, **(_ANSWERS.get() or {})})
        _MARKS.put({**(_MARKS.get() or {}), **marks})


def _is_new(name: str, number: int) -> bool:
    """Return whether a press in a component is new, and record it as handled."""
    taken = _TAKEN.get() or {}
    _TAKEN.put({**taken, name: number})
    return taken.get(name) != number


def _has_other_inputs(chapter: Chapter) -> bool:
    """Return whether the session has inputs of a chapter that are not its first ones."""
    return any(field.widget.get() not in (None, field.initial) for field in chapter.inputs)


def _read(
    stored: str,
) -> tuple[dict[str, dict[str, Any]], dict[str, Mark], dict[str, Setup]]:
    """Return the valid ones of the answers, marks and inputs that a browser stored."""
    answers: dict[str, dict[str, Any]] = {}
    marks: dict[str, Mark] = {}
    own: dict[str, Setup] = {}
    try:
        entries = json.loads(stored if len(stored) <= MAX_STORED else "{}")
    except (ValueError, RecursionError):
        return answers, marks, own
    known = {_name(chapter, number) for chapter in CHAPTERS for number in _numbers(chapter)}
    match entries:
        case {"answers": dict(given), "marks": dict(reached)}:
            for name, entry in given.items():
                match entry:
                    case {"of": str(of), "tries": list(tries), "shown": bool(shown)} if (
                        name.removesuffix(OWN) in known and len(of) < 99 and len(tries) <= TRIES
                    ):
                        if len(str(tries)) <= MAX_ANSWER:
                            answers[name] = {"of": of, "tries": tries, "shown": shown}
            marks = {
                name: mark
                for name, mark in reached.items()
                if name in known and mark in ("first", "second", "shown")
            }
    match entries:
        case {"own": dict(changed)}:
            for key, values in changed.items():
                if key in BY_KEY and isinstance(values, dict):
                    widgets = {field.name: field.widget for field in BY_KEY[key].inputs}
                    own[key] = {
                        name: value
                        for name, value in values.items()
                        if name in widgets and widgets[name].allows(value)
                    }
    return answers, marks, own


def _name(chapter: Chapter, number: int | str) -> str:
    return f"{chapter.key}/{number}"


# ---- its inputs


def _take_answers(chapter: Chapter) -> dict[str, Any]:
    """Take the answers that the browser sent; return the values of the inputs."""
    values = {field.name: _value(field) for field in chapter.inputs}
    for number in range(len(chapter.questions)):
        for of in {chapter.about(chapter.initial), chapter.about(values)}:
            _take(chapter, number, of)
    _take(chapter, WHY, WHY)
    return values


def _first(chapter: Chapter) -> Setup:
    """Return the first values of the inputs that the questions depend on."""
    return {field.name: field.initial for field in chapter.inputs if field.asked}


def _draw_own(chapter: Chapter, values: dict[str, Any]) -> dict[str, Any]:
    """Draw the inputs once all questions are answered; return their values."""
    is_changed = _changed(chapter, values)
    if not _answered(chapter, chapter.initial) and not is_changed:
        return values
    with st.expander("Now with your own text", expanded=is_changed, icon=":material/edit:"):
        st.caption("Change the text: below, the questions follow once more, about your text.")
        if chapter.samples:
            with st.container(horizontal=True, gap="small"):
                for title in chapter.samples:
                    st.button(
                        title,
                        key=f"sample_{chapter.key}_{title}",
                        on_click=_put,
                        args=(chapter, chapter.sample(title)),
                    )
        drawn = values | {field.name: _draw(field) for field in chapter.inputs if field.asked}
        if _changed(chapter, drawn):
            st.button("Back to the first text", on_click=_reset, args=(chapter,))
        _open_in(chapter, drawn)
    own = _OWN.get() or {}
    if _changed(chapter, drawn):
        _OWN.put({**own, chapter.key: drawn})
    elif chapter.key in own:
        _OWN.put({**own, chapter.key: None})
    return drawn


def _changed(chapter: Chapter, setup: Setup) -> bool:
    """Return whether the questions are not about the first text."""
    return chapter.about(setup) != chapter.about(chapter.initial)


def _open_in(chapter: Chapter, setup: Setup) -> None:
    """Draw the link to the page that shows this text."""
    try:
        target = chapter.target(setup)
        _page_link(target.path, target.label, target.values)
    except NoQuestionError:
        st.caption("Change the text to open it in another page.")


def _page_link(path: str, label: str, values: Mapping[str, codec.Value]) -> None:
    if session.PARAMETER not in st.query_params:
        session.OPENED.clear()  # else a link that was opened before would not be applied again
    try:
        packed = codec.pack(values)
    except codec.TooLongError:
        st.caption("This text is too long for a link to the other page.")
        return
    st.page_link(
        path, label=label, icon=":material/open_in_new:", query_params={session.PARAMETER: packed}
    )


def _variants() -> None:
    """Draw a map of variants, each with a link to the Train page."""
    st.markdown("Byte-pair encoding has many variants. Each link opens one of them in Train.")
    for key in VARIANTS:
        trainer = TRAINERS[key]
        st.markdown(f"**{trainer.title}.** {trainer.about}")
        _page_link("app.py", f"{trainer.short} in Train", {ALGORITHM.link: key})


def _value(field: Input) -> Any:
    """Return the value of an input, the initial one where the session has none that is valid."""
    value = field.widget.get()
    if not field.widget.allows(value):
        field.widget.put(field.initial)
        return field.initial
    return value


def _draw(field: Input) -> Any:
    widget = field.widget
    if isinstance(widget, TextField):
        many = field.initial.count("\n") > 2
        text = widget.area(height=136 if many else 100) if field.lines else widget.line()
        return text[: widget.longest]
    if isinstance(widget, OneOf):
        return widget.segments()
    assert isinstance(widget, NumberField)  # noqa: S101 (for the type)
    return widget.slider(field.initial) if field.slider else widget.any_number(field.initial)


def _put(chapter: Chapter, values: Setup) -> None:
    for field in chapter.inputs:
        if field.name in values:
            field.widget.put(values[field.name])


def _reset(chapter: Chapter) -> None:
    _put(chapter, chapter.initial)


# ---- its questions


def _entry(chapter: Chapter, number: int | str, of: str) -> str:
    """Return the name of an answer: one about another text has a name of its own."""
    is_first = number == WHY or of == chapter.about(chapter.initial)
    return _name(chapter, number) + ("" if is_first else OWN)


def _answers(chapter: Chapter, number: int | str, of: str) -> dict[str, Any]:
    """Return the answer to a question about these inputs: its tries, and whether it was shown."""
    entry = (_ANSWERS.get() or {}).get(_entry(chapter, number, of))
    return entry if entry and entry["of"] == of else {"of": of, "tries": [], "shown": False}


def _answered(chapter: Chapter, setup: Setup) -> bool:
    """Return whether all questions about these inputs are answered."""
    of = chapter.about(setup)
    try:
        asked = [make(setup) for make in chapter.questions]
    except NoQuestionError:
        return False
    return all(
        question is None or _mark(chapter, number, question, of)
        for number, question in enumerate(asked)
    )


def _mark(chapter: Chapter, number: int | str, question: Question, of: str) -> Mark | None:
    """Return how a question was answered, or None while it is open."""
    entry = _answers(chapter, number, of)
    if all(map(question.form.accepts, entry["tries"])):
        return question.mark(entry["tries"], entry["shown"])
    return None


def _ask(chapter: Chapter, setup: Setup, *, is_own: bool = False, has_inputs: bool = True) -> None:
    """Draw the questions up to the first one that is not answered, then the rest."""
    of = chapter.about(setup)
    for number, make in enumerate(chapter.questions):
        try:
            question = make(setup)
        except NoQuestionError as error:
            st.info(markdown.escape(str(error)))
            return
        if question is not None and not _question(chapter, number, question, of):
            if not is_own:
                _myth(chapter.myth)
            return
    if not is_own:
        _myth(chapter.myth, chapter.fact)
        _question(chapter, WHY, chapter.why.question(), WHY)
    with st.expander("See it", icon=":material/visibility:"):
        if has_inputs:
            setup = {
                **setup,
                **{field.name: _draw(field) for field in chapter.inputs if not field.asked},
            }
        for number, picture in enumerate(chapter.pictures(setup)):
            _picture(picture, f"learn_{chapter.key}_picture_{number}{OWN if is_own else ''}")
        if chapter.claims and not is_own:
            st.markdown(f"**Wrong in some tutorials:** {chapter.claims()}")


def _myth(myth: str, fact: str = "") -> None:
    """Draw the misconception of a chapter; with the fact, it is crossed out."""
    many = f"<s>{escape(myth)}</s> (wrong)" if fact else escape(myth)
    beside = f"<p><b>In fact:</b> {escape(fact)}</p>" if fact else ""
    st.html(f'<div class="myth"><p><b>Many think:</b> {many}</p>{beside}</div>')


def _question(chapter: Chapter, number: int | str, question: Question, of: str) -> bool:
    """Draw a question, with its result if it is answered; return whether it is."""
    name = _entry(chapter, number, of)
    entry = _answers(chapter, number, of)
    if not all(map(question.form.accepts, entry["tries"])):
        entry = {"tries": [], "shown": False}
    where = "own" if name.endswith(OWN) else "ask"
    with st.container(key=f"{where}_{question.form.kind}_{number}"):  # the style uses these names
        components.answer(question.payload(of, entry["tries"], entry["shown"]), f"learn_{name}")
    mark = question.mark(entry["tries"], entry["shown"])
    if mark is None:
        return False
    marks = _MARKS.get() or {}
    if name not in marks and where == "ask":
        _MARKS.put({**marks, name: mark})
    return True


def _take(chapter: Chapter, number: int | str, of: str) -> None:
    """Use an answer that the browser sent, unless it was used before or is about other inputs.

    `_question` checks its value.
    """
    name = _entry(chapter, number, of)
    sent_answer = (st.session_state.get(f"learn_{name}") or {}).get("answer") or {}
    again = sent_answer.get("again") is True
    match sent_answer:
        case {"number": int(sent), "of": str(about), "value": value} if about == of:
            if len(str(value)) <= MAX_ANSWER and _is_new(name, sent):
                tries = _answers(chapter, number, of)["tries"]
                changed = {"of": of, "tries": tries, "shown": value is None and not again}
                if again:  # the first mark stays
                    changed["tries"] = []
                elif value is not None:
                    changed["tries"] = [*tries, value][-TRIES:]
                _ANSWERS.put({**(_ANSWERS.get() or {}), name: changed})
                _CLEARED.clear()


# ---- its pictures and buttons


def _picture(picture: Picture, key: str) -> None:
    if picture.kind == "player":
        components.player(picture.data, key)
    elif picture.kind == "score":
        components.score(picture.data, key)
    elif picture.kind == "grid":
        components.grid(picture.data, key)
    else:
        table = Table.of_rows(*picture.data)
        st.html(table.html(", ".join(table.names)))
    if picture.caption:
        st.caption(picture.caption)


def _neighbors(number: int) -> None:
    """Draw the buttons to other chapters: next and back on the same path, and one off it."""
    chapter = CHAPTERS[number - 1]
    before = [other for other in CHAPTERS[: number - 1] if other.core or not chapter.core]
    after = [other for other in CHAPTERS[number:] if other.core or not chapter.core]
    following = after[0] if after else None
    buttons = [("Next", following.key, following.title) if following else ("Next", END, END_TITLE)]
    buttons += [("Back", other.key, other.title) for other in before[-1:]]
    buttons += [
        ("Extra", other.key, other.title)
        for other in CHAPTERS[number : number + 1]
        if other not in after
    ]
    with st.container(horizontal=True, gap="small"):
        for word, key, title in buttons:
            is_main = word == "Next" and _is_done(chapter)
            st.button(
                f"{word}: {title}",
                key=f"learn_{word.lower()}",
                type="primary" if is_main else "tertiary",
                on_click=_go,
                args=(key,),
            )
