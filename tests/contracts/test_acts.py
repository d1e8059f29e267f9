"""Contracts of Learn: each chapter of the registry, its tasks, their three texts and questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from html import unescape
from itertools import pairwise
from typing import Any

import pytest
from helpers import app_pages
from helpers.earlier_links import pack
from helpers.learn_pages import bar, give, go, marks, opened, questions, words
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.pretrained import download
from bpeviz.text import digest_of
from bpeviz.ui.learn import page as learn
from bpeviz.ui.learn import prose
from bpeviz.ui.learn.base import Chapter, Exercise, NoQuestionError
from bpeviz.ui.learn.chapters import BY_KEY, CHAPTERS

pytestmark = pytest.mark.slow

every_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.key)
every_text = pytest.mark.parametrize(
    ("chapter", "name"),
    [
        pytest.param(chapter, name, id=f"{chapter.key}-{name}")
        for chapter in CHAPTERS
        for name in chapter.texts
    ],
)

OWN_TEXTS = (
    "",
    " ",
    "x",
    "a b",
    "hello, hello",
    "你好",
    "😃 e\u0301",
    "<|endoftext|> & <b>",
    "aa" * 30,
)


# ---- words


@every_chapter
def test_each_task_has_texts_and_each_chapter_its_sources(chapter: Chapter) -> None:
    words_of = prose.read(chapter.key)
    assert [*chapter.texts] == [*words_of.tasks]
    assert {*chapter.tasks} == {*chapter.texts, chapter.own} - {""}
    assert all((*chapter.texts.values(), words_of.why[0].islower(), words_of.sources))


def test_course_has_32_minutes_and_at_most_26_questions_and_1500_words() -> None:
    """Hints and texts of one's own are for some only; all else of the files is for everybody."""
    files = [prose.read(chapter.key) for chapter in CHAPTERS]
    assert [each.minutes for each in files] == [4, 3, 6, 4, 4, 5, 2, 4]
    assert sum(len(each.tasks) + 1 for each in files) <= 26
    count = 0
    for chapter_words in files:
        tasks = [replace(task, hint="") for task in chapter_words.tasks.values()]
        everybody = replace(chapter_words, goal="", own="", own_task=None, sources="", tasks={})
        parts = texts_of([astuple(everybody), *map(astuple, tasks)])
        count += sum(len(part.split()) for part in parts)
    assert count <= 1_500


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts of a chapter's words."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts_of([*value.values()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_of(part)


@every_text
def test_all_figures_of_the_words_are_filled(chapter: Chapter, name: str) -> None:
    figures, task = chapter.figures(), chapter.task(name)
    for part in vars(prose.read(chapter.key).tasks[name]).values():
        assert "{" not in prose.fill(part, {**figures, **task.figures})
    others = replace(prose.read(chapter.key), tasks={}, own_task=None)
    assert not any("{" in prose.fill(part, figures) for part in texts_of(astuple(others)))


# ---- answers


@every_text
def test_right_answer_is_right_and_mistakes_get_replies_that_do_not_tell_it(
    chapter: Chapter, name: str
) -> None:
    for make in chapter.task(name).questions:
        question = make()
        judgment = question.judge(None)
        assert judgment.verdict == "right"
        assert judgment.message
        if (right := judgment.right) is None:
            continue
        assert question.act.accepts(right)
        assert question.solved(right)
        assert question.judge(right).verdict in ("right", "near")
        first = question.result([right], False)
        assert first
        assert first["kind"] != "again"
        told = words(judgment.message)
        for mistake in question.likely():
            assert question.judge(mistake.given).verdict == "wrong"
            assert mistake.words
            assert told not in words(mistake.words)


@every_chapter
def test_question_is_answered_wrong_twice_or_shown(chapter: Chapter) -> None:
    for name, question in questions(chapter):
        shown = question.result([], True)
        assert shown
        assert (shown["kind"], question.mark([], True)) == ("shown", "shown")
        assert question.result([], False) is None
        for mistake in question.likely()[:2]:
            assert question.mark([mistake.given], False) is None
            first = question.result([mistake.given], False)
            assert first
            if question.act.is_live:
                assert first["kind"] == "draft"
                continue
            assert first["kind"] == "again", name
            second = question.result([question.likely()[-1].given, mistake.given], False)
            assert second
            assert question.mark([mistake.given] * 2, False) == "tried"
            assert second["kind"] == "wrong"
            assert second["message"][: len(mistake.words)] == [*mistake.words], name
            right = question.judge(None).right
            if right is not None:
                assert question.mark([mistake.given, right], False) == "second"


# ---- nothing of the answer before it


def is_beginning(earlier: Any, later: Any) -> bool:
    """Return whether a list or a table is the beginning of another one."""
    if isinstance(earlier, dict):
        return all(is_beginning(value, later[key]) for key, value in earlier.items())
    if isinstance(earlier, list):
        return later[: len(earlier)] == earlier
    return bool(earlier == later)


@every_text
def test_stage_has_no_later_step_and_an_answer_appends_to_it(chapter: Chapter, name: str) -> None:
    task = chapter.task(name)
    if any(make().act.is_live for make in task.questions):
        return
    if task.payload(0, None).get("isStill"):  # it has no steps
        return
    states = [task.payload(answered, None) for answered in range(len(task.questions) + 1)]
    for before, after in pairwise(states):
        assert before["key"] == after["key"]
        [view], [more] = before["views"], after["views"]
        steps = {column: values for column, values in view["steps"].items() if values}
        assert is_beginning(steps, more["steps"])
        if view["key"] == more["key"]:  # else a typed name is a special token now
            assert is_beginning(view["tokenStyles"], more["tokenStyles"])
            later = more["steps"]["id"][len(view["steps"]["id"]) :]
            assert {*later}.isdisjoint(view["tokenStyles"]), "a token that is merged later"
        assert len(view["steps"]["id"]) == view["last"] == before["last"]
        assert len(view["tokenCounts"]) == view["last"] + 1
        assert max(view["mergedAt"] or view["changes"]["steps"]) < view["last"]
        assert after["last"] > before["last"] or "curves" in after


def refuse(*given: Any) -> Any:
    raise AssertionError("A result was computed before an answer.")


def without_answers(chapter: Chapter, answered: int) -> Chapter:
    """Return a chapter in which to judge a question after the first `answered` ones is an error."""
    left = answered
    stages: dict[str, Callable[[str], Exercise]] = {}
    for task in prose.read(chapter.key).tasks:
        count = len(chapter.task(task).questions)

        def stage(text: str, task: str = task, left: int = left) -> Exercise:
            asked = chapter.tasks[task](text)
            unanswerable = [
                make
                if i < left
                else lambda make=make: replace(make(), judge=refuse, mistakes=refuse)
                for i, make in enumerate(asked.questions)
            ]
            return replace(asked, questions=unanswerable)

        stages[task] = stage
        left -= count
    return replace(chapter, tasks=stages)


def messages(app: AppTest) -> list[bytes]:
    """Return everything that the page sends to the browser, in its order."""
    protos = [element.proto for element in app._tree if getattr(element, "proto", None) is not None]
    return [proto.SerializeToString(deterministic=True) for proto in protos]


@every_chapter
def test_page_is_the_same_whatever_the_answer_until_it_is_given(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page asks all questions of a chapter, and its link contains no answer."""
    app, words_of = opened(chapter.key), prose.read(chapter.key)
    figures = learn._figures(chapter)
    after = [words_of.fact, words_of.why, *words_of.notes.values()]
    after += [task.why for task in words_of.tasks.values() if task.why]
    kept = [prose.fill(part, figures) for part in after]
    for answered, (name, question) in enumerate(questions(chapter)):
        expected = messages(go(app, name))
        if not name.endswith("belief/0"):
            with monkeypatch.context() as changed:
                other = without_answers(chapter, answered)
                changed.setattr(learn, "BY_KEY", {**BY_KEY, chapter.key: other})
                assert messages(app.run()) == expected
        assert not any(part in drawn(app) for part in kept)
        app = give(app, name, question.judge(None).right)
    assert all(part in drawn(app) for part in kept)
    assert "{" not in drawn(app)
    assert {*marks(app, chapter.key)} == {"first"}
    app.session_state["copy_link"] = {"request": 1}
    place = name.rpartition("/")[0]
    assert app.run().session_state["made_link"]["query"] == f"chapter={place}"


def drawn(app: AppTest) -> str:
    """Return the words of a page."""
    bodies = [unescape(element.proto.body) for element in app.get("html")]
    return " ".join([*(element.value for element in app.markdown), *bodies])


@every_chapter
def test_chapter_works_without_vocabulary_files(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)
    monkeypatch.setattr(download, "fetch_in_background", lambda name: None)
    monkeypatch.setattr(bpeviz, "load", None)
    answers = {}
    for name, _ in questions(chapter):
        task = name.split("/")[1]
        of = digest_of(chapter.key, task, chapter.texts[task]) if task != "belief" else task
        answers[name] = {"of": of, "tries": [], "shown": True}
    app = opened(chapter.key, learn_answers=answers)
    for name in answers:
        go(app, name)
    assert None not in marks(app, chapter.key)


# ---- texts of the user's own, and links


@pytest.mark.parametrize("text", OWN_TEXTS)
@pytest.mark.parametrize("chapter", [each for each in CHAPTERS if each.own], ids=lambda c: c.key)
def test_own_text_is_asked_about_or_refused(chapter: Chapter, text: str) -> None:
    try:
        task = chapter.tasks[chapter.own](text)
        asked = [make() for make in task.questions]
    except NoQuestionError:
        return
    states = [task.payload(answered, None) for answered in range(len(asked) + 1)]
    assert len({state["key"] for state in states}) == 1 or any(each.act.is_live for each in asked)
    for question in asked:
        right = question.judge(None).right
        assert right is None or question.solved(right)


OLD = {
    "real": "wrong/space",
    "real/next": "encode/next",
    "real/digits/0": "wrong/space",
    "encode/ids": "back/ids",
    "units": "units/slow",
    "units/unknown": "units/slow",
    "golf": "end",
    "golf/merges/0": "end",
    "stop": "stop/line",
    "merge/pair/2": "merge/pair",
    "nothing": "why/letters",
}


@pytest.mark.parametrize("address", OLD)
def test_older_links_open_what_has_taken_their_place(address: str) -> None:
    """Links of chapters and tasks, packed ones, and answers in a browser."""
    assert bar(opened(address))["place"] == OLD[address]
    large = app_pages.opened("Learn", {"teacher": "1", "large": address})
    assert bar(large)["place"] == OLD[address]
    if address != "nothing":
        app = app_pages.opened("Learn", {"s": pack({"chapter": address})})
        assert (bar(app)["place"], [*app.warning]) == (OLD[address], [])
    entry = {"of": "", "tries": [1], "shown": False}
    answers = {f"{address}/x": entry, "before/0": entry}
    assert learn._read(json.dumps({"answers": answers, "marks": {"golf/merges/0": "first"}})) == (
        {},
        {},
    )


def test_older_link_opens_a_tour_by_its_name() -> None:
    app_pages.opened("Algorithms", {"tour": "word-ends.2"})
