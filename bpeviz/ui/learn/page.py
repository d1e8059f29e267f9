"""The Learn page: one question after the other, answered on the stage; the engine plays the truth.

A chapter goes from its tasks to a belief, and to a task with a text of the user's own. Answers and
marks are values of the session. The browser also stores them, until the user starts again. Links
contain the question and the user's own text, but no answers and no marks.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any, TypeGuard

import streamlit as st

from bpeviz.corpus import samples
from bpeviz.text import clean, digest_of
from bpeviz.ui import components, markdown
from bpeviz.ui.downloads import ready
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.inputs.text import TEXT
from bpeviz.ui.learn import prose, teachers_page, tours, vote_questions
from bpeviz.ui.learn.base import (
    LONGEST_OWN_WORD,
    Chapter,
    NoQuestionError,
    StoredAnswer,
    belief_of,
    belief_question,
)
from bpeviz.ui.learn.chapters import BY_KEY, CHAPTERS
from bpeviz.ui.pages.base import Page
from bpeviz.ui.widgets import OneOf, SessionValue, TextField, Values, Widget
from bpeviz.views import playable
from bpeviz.views.acts import TypeAct, parts_of
from bpeviz.views.control_payloads import ChapterBar, ChapterEntry
from bpeviz.views.payloads import Answer, StageTask, TaskResult
from bpeviz.views.playable import Interactive
from bpeviz.views.task import MARK_WORDS, SIGNS, TRIES, Mark, Task

END, END_TITLE = "end", "The end"
"""The key of the page after the last chapter, and its title."""

BELIEF = "belief"

PLACES = {
    f"{chapter.key}/{name}": prose.read(chapter.key).title
    for chapter in CHAPTERS
    for name in (*prose.read(chapter.key).tasks, BELIEF)
} | {END: END_TITLE}
"""The questions in their order, as links name them, with the titles of their chapters."""

MOVED = {
    "real": "wrong",
    "real/next": "encode/next",
    "real/special": "wrong/chat",
    "encode/ids": "back/ids",
    "golf": END,
}
"""Names in older links, and what they open now."""


def place_of(address: str) -> str:
    """Return the question, or the first one of the chapter, that an address names, or ""."""
    named = "/".join(address.split("/")[:2])
    key = named.partition("/")[0]
    place = MOVED.get(named, named if named in PLACES else MOVED.get(key, key))
    return next((each for each in PLACES if each == place or each.startswith(f"{place}/")), "")


class Place(OneOf):
    """A question of the course, also by the names of older links."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and place_of(value) != ""


CHAPTER = Place("learn_chapter", "Chapter", link="chapter", titles=PLACES)


class OwnText(TextField):
    """A text of the user's own, of which a link says nothing while it is empty."""

    def for_link(self) -> tuple[str | None, str | None]:
        return super().for_link() if self.get() else (None, None)


OWN_TEXT = OwnText("learn_text", "Your own text", longest=1_000)
OWN_WORD = OwnText("learn_word", "Your own word", longest=LONGEST_OWN_WORD)
"""What the user types is kept from chapter to chapter."""

PARAMETER, LARGE = "chapter", "large"
"""The parameters of the address with the question, such as `/Learn?chapter=merge/pair`, and of an
older link to it."""

EMPTY: StoredAnswer = {"of": "", "tries": [], "shown": False}
OWN_MARK = "*"
"""The end of the name of an answer that is not about a chapter's first text."""

MAX_STORED = 50_000
"""The most characters of the answers that the browser may restore."""

MAX_ANSWER = 500

BAR = "chapter_bar"
_ANSWERS: SessionValue[dict[str, StoredAnswer]] = SessionValue("learn_answers")
"""The answers by chapter, task and number: "of", the text, "tries", "shown", "done" before."""

_MARKS: SessionValue[dict[str, Mark]] = SessionValue("learn_marks")
"""The first mark of each question about a chapter's own text, by chapter, task and number."""

_TAKEN: SessionValue[int] = SessionValue("learn_taken")
"""The number of the last press in the bar that was handled: browsers may send it again."""

_ADDRESS: SessionValue[str] = SessionValue("learn_address")
"""The chapter in the address when it was read or written last."""

_SESSION: SessionValue[str] = SessionValue("learn_session")
_CLEARED: SessionValue[bool] = SessionValue("learn_cleared")


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield CHAPTER
    yield OWN_TEXT
    yield OWN_WORD


def page_content(values: Values) -> Interactive:
    """Return the stage of a question before its first answer."""
    place = place_of(values.get(CHAPTER) or "") or next(iter(PLACES))
    key, _, name = place.partition("/")
    if key not in BY_KEY or name == BELIEF:
        raise ValueError("This question of Learn has no stage. A run sheet asks it by “learn”.")
    chapter, words = BY_KEY[key], prose.read(key)
    exercise = chapter.task(name)
    player = exercise.payload(0, None)
    player.pop("task", None)
    title = prose.fill(words.task(name).question, {**chapter.figures(), **exercise.figures})
    return playable.of_player(player, title, [words.title])


PAGE = Page(
    "pages/Learn.py",
    "Learn",
    "Guess first, then watch: how a model splits text.",
    _widgets,
    content=page_content,
    has_inputs=False,
    short={"text": OWN_TEXT.link},
    heading=str,
)


def show() -> None:
    """Draw the chapters as ticks, and the current question; or the teacher's page."""
    if st.query_params.get(teachers_page.PARAMETER) and not st.query_params.get(LARGE):
        st.title("For teachers", anchor=False)
        teachers_page.show()
        return
    place = _current()
    bar = st.container()
    with st.container(key="chapter"):
        key, _, name = place.partition("/")
        if chapter := BY_KEY.get(key):
            _draw_question(chapter, name)
        else:
            _draw_end()
    with bar:
        _bar(place)


def _draw_question(chapter: Chapter, name: str) -> None:
    """Draw a question of a chapter, and the buttons to the next one."""
    EXPORT.put(Export("learn", questions=partial(_for_votes, chapter)))
    is_belief = name == BELIEF
    is_done = _draw_belief(chapter) if is_belief else _draw_task(chapter, name)
    if is_belief and is_done:
        _draw_afterwards(chapter)
    _neighbors(chapter, name, is_done=is_done)
    if is_belief and is_done and chapter.own:
        _draw_own(chapter)


def _draw_afterwards(chapter: Chapter) -> None:
    """Draw what would tell the answers: the reasons of the tasks, the fact, and the notes."""
    words, fill = prose.read(chapter.key), partial(prose.fill, figures=_figures(chapter))
    _myth(fill(belief_of(chapter.key).myth), fill(words.fact))
    for task in words.tasks.values():
        if task.why:
            st.markdown(fill(task.why))
    for note_name, note in words.notes.items():
        if note_name in chapter.drawings:
            chapter.drawings[note_name]()
        st.markdown(fill(note))
    st.markdown(f"**This is why** {fill(words.why)}")
    st.caption(f"Sources: {words.sources}")


def _figures(chapter: Chapter) -> dict[str, int | str]:
    """Return the figures of a chapter, and those of its tasks about their first texts."""
    figures = dict(chapter.figures())
    for name in prose.read(chapter.key).tasks:
        figures |= chapter.task(name).figures
    return figures


def _draw_end() -> None:
    """Draw the page after the last chapter: the facts, the marks, and ways on."""
    words = prose.read(END)
    st.title(words.title, anchor=False)
    facts = (
        f"{i}. **{prose.read(chapter.key).title}:** "
        + prose.fill(prose.read(chapter.key).fact, chapter.figures())
        for i, chapter in enumerate(CHAPTERS)
    )
    st.markdown("\n".join(facts))
    st.header("Your marks", anchor=False)
    marks = [*(_MARKS.get() or {}).values()]
    done = f"You have finished {sum(map(_is_done, CHAPTERS))} of {len(CHAPTERS)} chapters."
    sums = (f"{SIGNS[mark]} {marks.count(mark)} {words}" for mark, words in MARK_WORDS.items())
    first = f" **{marks.count('first')} of {len(marks)} at the first try.** {' · '.join(sums)}"
    st.markdown(done + first if marks else "You have not answered a question yet.")
    st.caption(words.notes["stored"])
    st.button("Start again", on_click=_start_again, help="Clear all answers and marks.")
    teachers_page.link("For teachers: all answers", {teachers_page.PARAMETER: "1"})
    st.markdown(prose.MORE.read_text(encoding="utf-8"))
    st.header("Guided tours of the pages", anchor=False)
    for tour in tours.TOURS.values():
        st.page_link(tour.page.path, label=tour.title, query_params=tour.link())
        st.caption(tour.subject)
    st.caption(f"Sources: {words.sources}")


def _start_again() -> None:
    """Forget all answers and marks, and open the first chapter."""
    for value in (_ANSWERS, _MARKS, OWN_TEXT, OWN_WORD):
        value.clear()
    _CLEARED.put(True)
    _go(next(iter(PLACES)))


def _again(place: str) -> None:
    """Forget the answers to a question; the first marks stay."""
    answers = _ANSWERS.get() or {}
    names = [name for name in answers if name.startswith(f"{place}/")]
    _ANSWERS.put({**answers, **dict.fromkeys(names, EMPTY)})


# ---- the current chapter


def _current() -> str:
    """Return the current question: that of the address if it changed."""
    address = place_of(st.query_params.get(LARGE) or st.query_params.get(PARAMETER) or "")
    if address and address != _ADDRESS.get():
        CHAPTER.put(address)
    place = place_of(CHAPTER.get() or "")
    if not place:
        CHAPTER.put(place := next(iter(PLACES)))
    _ADDRESS.put(place)
    return place


def _go(place: str) -> None:
    CHAPTER.put(place)
    _ADDRESS.put(place)
    st.query_params.from_dict({PARAMETER: place})


def _names(chapter: Chapter) -> list[str]:
    """Return the names of the questions of a chapter, its belief last."""
    tasks = prose.read(chapter.key).tasks
    names = [f"{name}/{i}" for name in tasks for i in range(chapter.rounds.get(name, 1))]
    return [f"{chapter.key}/{name}" for name in (*names, f"{BELIEF}/0")]


def _is_done(chapter: Chapter) -> bool:
    """Return whether the last question of a chapter was answered."""
    return _names(chapter)[-1] in (_MARKS.get() or {})


def _bar(current: str) -> None:
    if not _SESSION.present:
        _SESSION.put(secrets.token_hex(8))
    marks = _MARKS.get() or {}
    listed: list[ChapterEntry] = [
        {
            "key": chapter.key,
            "number": str(number),
            "title": prose.read(chapter.key).title,
            "marks": [marks.get(name) for name in _names(chapter)],
        }
        for number, chapter in enumerate(CHAPTERS)
    ]
    listed.append({"key": END, "number": "", "title": END_TITLE, "marks": []})
    stored = {"answers": _ANSWERS.get() or {}, "marks": marks}
    data: ChapterBar = {
        "chapters": listed,
        "current": current.partition("/")[0],
        "place": current,
        "progress": json.dumps(stored, separators=(",", ":")),
        "cleared": bool(_CLEARED.get()),
        "session": _SESSION.get(),
        # Streamlit would add an address to the history, from which Back returns to this page.
        "names": PARAMETER if st.query_params.get(PARAMETER) != current else "",
    }
    components.chapter_bar(data, BAR, _bar_changed)


def _first_open(key: str) -> str:
    """Return the first question of a chapter that has no mark, or its first one; or the end."""
    names = _names(BY_KEY[key]) if key in BY_KEY else []
    left = [name for name in names if name not in (_MARKS.get() or {})]
    return place_of(left[0] if left else key)


def _bar_changed() -> None:
    """Take the chapter that was pressed, and answers that the browser stored."""
    state = st.session_state.get(BAR) or {}
    match state.get("chapter"):
        case {"key": str(key), "number": int(number)} if place_of(key):
            if number != _TAKEN.get():
                _TAKEN.put(number)
                _go(_first_open(key))
    restored = state.get("restored")
    if isinstance(restored, str) and not _CLEARED.get():
        answers, marks = _read(restored)
        _ANSWERS.put({**answers, **(_ANSWERS.get() or {})})
        _MARKS.put({**(_MARKS.get() or {}), **marks})


def _read(stored: str) -> tuple[dict[str, StoredAnswer], dict[str, Mark]]:
    """Return the valid ones of the answers and marks that a browser stored."""
    try:
        entries = json.loads(stored if len(stored) <= MAX_STORED else "{}")
    except (ValueError, RecursionError):
        entries = {}
    known = {name for chapter in CHAPTERS for name in _names(chapter)}
    match entries:
        case {"answers": dict(given), "marks": dict(reached)}:
            named = {name: each for name, each in given.items() if name.split(OWN_MARK)[0] in known}
            answers = {name: each for name, each in named.items() if _is_answer(each)}
            marks = {n: mark for n, mark in reached.items() if n in known and mark in [*SIGNS]}
            return answers, marks
    return {}, {}


def _is_answer(entry: object) -> TypeGuard[StoredAnswer]:
    match entry:
        case {"of": str(of), "tries": list(tries), "shown": bool()}:
            is_short = len(of) < 99 and len(str(tries)) <= TRIES * MAX_ANSWER
            return is_short and len(tries) <= TRIES
    return False


# ---- its tasks


def _draw_task(chapter: Chapter, name: str, text: str | None = None) -> bool:
    """Draw an exercise on the stage; return whether all its tasks are answered.

    Args:
        chapter: The chapter.
        name: The name of the exercise.
        text: A text of the user's own in its place, about which answers leave no marks.
    """
    words = prose.read(chapter.key).task(name)
    is_own = text is not None
    about, own = (chapter.texts[name], "") if text is None else (text, OWN_MARK)
    key = f"learn_{chapter.key}_{name}{own}"
    title = "Your own text" if is_own else prose.read(chapter.key).title
    try:
        asked = chapter.tasks[name](about)
        if not asked.questions:
            payload = asked.payload(0, None)
            payload["name"] = title
            components.player(payload, key)
            return True
        question = asked.questions[0]()
    except NoQuestionError as error:
        st.info(markdown.escape(str(error)))
        return False
    of = digest_of(chapter.key, name, about)
    names = [f"{chapter.key}/{name}/{i}{own}" for i in range(len(asked.questions))]
    fill = partial(prose.fill, figures={**chapter.figures(), **asked.figures})
    last = len(names) - 1
    result = None
    for number, entry_name in enumerate(names):  # up to the first one without a mark
        question = asked.questions[number]() if number else question
        entry = _entry(entry_name, of, question)
        result = question.result(entry["tries"], entry["shown"]) or result
        if not (is_done := _marked(entry_name, question, entry)):
            break
    answered = number + is_done
    given = entry["tries"][-1] if entry["tries"] and not entry["shown"] else None
    if not is_done and result and result["kind"] in ("again", "draft") and words.hint:
        result["message"] = [*result["message"], " ", *parts_of(fill(words.hint))]
    if is_own:
        st.markdown(f"**{fill(words.question)}**")
    else:
        left = f" ({number + 1} of {len(names)})" if last else ""
        st.title(fill(words.question) + left, anchor=False)
        with st.container(key="lead"):
            st.markdown(fill(words.lead))
    question = replace(question, prompt=parts_of(fill(words.question)))
    task, given = _task(question, f"{of}/{number}", result, given, is_done, entry["shown"])
    payload = asked.payload(answered, given)
    payload["name"] = title
    task.update(payload.get("task", {}))
    payload["task"] = task
    kind = "_typed" if isinstance(question.act, TypeAct) else "_own" if is_own else ""
    with st.container(key=f"stage_{chapter.key}_{name}{kind}"):
        answered_by = partial(_take, key, of, number, names[number], question)
        components.player(payload, key, on_answer=answered_by)
    return is_done


def _task(
    question: Task[Any],
    of: str,
    result: TaskResult | None,
    given: Answer | None,
    is_done: bool,
    is_shown: bool,
) -> tuple[StageTask, Answer | None]:
    """Return the task of a payload, and the answer that the stage draws."""
    act = question.act
    if is_shown and act.is_live:  # the user may change it
        given = question.right
    has_right = is_done and act.kind in ("belief", "boundaries") and not act.is_live
    right = [*act.values(question.judge(given).right or 0)] if has_right else None
    task = question.payload(of, given, right, result, is_over=is_done)
    task["canShow"], task["isTitled"] = not is_done, True
    return task, given


def _marked(name: str, question: Task[Any], entry: StoredAnswer) -> bool:
    """Return whether a question is done; store its first mark about a chapter's own text."""
    marks = _MARKS.get() or {}
    mark = question.mark(entry["tries"], entry["shown"])
    if mark and name not in marks and OWN_MARK not in name:
        _MARKS.put({**marks, name: mark})
    return bool(mark or entry.get("done"))


def _entry(name: str, of: str, question: Task[Any]) -> StoredAnswer:
    """Return the answer to a question about a text: its tries, and whether it was shown."""
    entry = (_ANSWERS.get() or {}).get(name)
    if entry and entry["of"] == of and all(map(question.act.accepts, entry["tries"])):
        return entry
    return {**EMPTY, "of": of}


def _take(key: str, of: str, number: int, name: str, question: Task[Any]) -> None:
    """Use an answer that the browser sent, unless it is about another text or question."""
    match (st.session_state.get(key) or {}).get("answer"):
        case {"of": str(about), "value": value} if about == f"{of}/{number}":
            if len(str(value)) <= MAX_ANSWER:
                value = clean(value) if isinstance(value, str) else value
                _put(name, of, question, value)


def _put(name: str, of: str, question: Task[Any], value: Answer | None) -> None:
    """Store an answer, None to be shown the right one."""
    before = _entry(name, of, question)
    tries, is_done = before["tries"], _marked(name, question, before)
    if value is not None and question.act.accepts(value):
        tries = [*tries, value][-TRIES:]
    entry: StoredAnswer = {"of": of, "tries": tries, "shown": value is None}
    if is_done:
        entry["done"] = True
    _ANSWERS.put({**(_ANSWERS.get() or {}), name: entry})
    _CLEARED.clear()


def _draw_belief(chapter: Chapter) -> bool:
    """Draw the belief of a chapter as buttons; below them the reply to the last one pressed.

    Returns:
        Whether it is answered.
    """
    question: Task[Any] = belief_question(chapter.key, chapter.figures())
    st.title(question.words, anchor=False)
    name = f"{chapter.key}/{BELIEF}/0"
    entry = _entry(name, BELIEF, question)
    is_done = _marked(name, question, entry)
    with st.container(key="belief"):
        right = question.judge(None).right if is_done else None
        for i, option in enumerate(question.act.options):
            is_given = i in entry["tries"]
            icon = "check" if i == right else "close" if is_given else "radio_button_unchecked"
            st.button(
                option["words"],
                key=f"belief_{chapter.key}_{i}",
                icon=f":material/{icon}:",
                on_click=None if is_done or is_given else _put,  # disabled, it would lose the focus
                args=(name, BELIEF, question, i),
            )
        if not is_done:
            give_up = (name, BELIEF, question, None)
            st.button("Show me", key="belief_show", type="tertiary", on_click=_put, args=give_up)
        if result := question.result(entry["tries"], entry["shown"]):
            kinds = {"right": "Right.", "again": "Not yet.", "wrong": "Not quite."}
            kinds["shown"] = "The answer."
            reply = "".join(map(str, result["message"]))  # prose, with tokens between backticks
            st.markdown(f"**{kinds[result['kind']]}** {reply} {result['note']}")
    return is_done


def _draw_own(chapter: Chapter) -> None:
    """Draw the task of a chapter once more, about a text that the user types."""
    st.header("Your own", anchor=False)
    st.markdown(prose.fill(prose.read(chapter.key).own, chapter.figures()))
    if len(ready(chapter.own_needs)) < len(chapter.own_needs):
        return
    if chapter.longest <= OWN_WORD.longest:
        text = OWN_WORD.line()
    else:
        typed = TEXT.box.get() or ""
        if typed != samples.by_key(TEXT.first).text and not OWN_TEXT.present:
            OWN_TEXT.put(typed if OWN_TEXT.allows(typed) else "")
        text = OWN_TEXT.area(max_chars=chapter.longest, placeholder=chapter.example)
    if text := text if text.strip() else chapter.example:
        _draw_task(chapter, chapter.own, text)
        if chapter.target:
            st.markdown(chapter.target(text))


# ---- parts of the page


def _for_votes(chapter: Chapter) -> list[Task[int]]:
    """Return the questions of a chapter on which a room can vote."""
    return [*vote_questions.of(chapter.key).values()]


def _myth(myth: str, fact: str) -> None:
    """Draw the misconception of a chapter, crossed out, and the fact beside it."""
    many = f"<p><b>Many think:</b> <s>{escape(myth)}</s> (wrong)</p>"
    st.html(f'<div class="myth">{many}<p><b>In fact:</b> {escape(fact)}</p></div>')


def _neighbors(chapter: Chapter, name: str, *, is_done: bool) -> None:
    """Draw the buttons to the next question, and to the question before."""
    places, key = [*PLACES], f"{chapter.key}/{name}"
    at = places.index(key)
    with st.container(key="neighbors", horizontal=True, gap="small"):
        following = places[at + 1]
        is_other = not following.startswith(f"{chapter.key}/")
        onward = f"Next: {PLACES[following]}" if is_other else "Next"
        st.button(
            onward if is_done else "Skip",
            key="learn_next",
            type="primary" if is_done else "tertiary",
            on_click=_go,
            args=(following,),
        )
        if at:
            back = (places[at - 1],)
            st.button("Back", key="learn_back", type="tertiary", on_click=_go, args=back)
        if any(answer.startswith(f"{key}/") for answer in _ANSWERS.get() or {}):
            again = ":material/replay:"
            st.button("Again", icon=again, type="tertiary", on_click=_again, args=(key,))
