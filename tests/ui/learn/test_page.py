"""The Learn page without a browser: answers, progress, links, and what the browser receives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from itertools import pairwise
from typing import Any

import pytest
from helpers import app_pages, properties
from helpers.payloads import payloads
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.corpus import samples
from bpeviz.pretrained import download
from bpeviz.ui.learn import page as learn
from bpeviz.ui.learn import prose, tours, vote_questions
from bpeviz.ui.learn.base import DON_QUIJOTE, Chapter, Question, Task, belief_question
from bpeviz.ui.learn.chapters import BY_KEY, CHAPTERS
from bpeviz.ui.permalink.codec import pack, unpack

every_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.key)

PAIR = DON_QUIJOTE.index("o ")


def opened(chapter: str | None = None, link: str = "", **state: Any) -> AppTest:
    query = {"chapter": chapter, "s": link}
    return app_pages.opened("Learn", {key: value for key, value in query.items() if value}, **state)


def tasks(app: AppTest) -> list[dict[str, Any]]:
    return [data["task"] for data in payloads(app) if "task" in data]


def bar(app: AppTest) -> dict[str, Any]:
    (listed,) = [data for data in payloads(app) if "chapters" in data]
    assert isinstance(listed, dict)
    return listed


def marks(app: AppTest, chapter: str) -> list[str | None]:
    (listed,) = [one["marks"] for one in bar(app)["chapters"] if one["key"] == chapter]
    return list(listed)


def give(app: AppTest, name: str, value: Any = None) -> AppTest:
    """Answer a question as the callback of the stage does; None is “Show me”."""
    of = "belief" if name.split("/")[1] == "belief" else tasks(app)[-1]["of"].rpartition("/")[0]
    if "learn_answers" not in app.session_state:
        app.session_state["learn_answers"] = {}
    before = app.session_state["learn_answers"].get(name, {"of": of, "tries": []})
    tries = before["tries"] if before["of"] == of else []
    entry = {"of": of, "tries": [*tries, *([] if value is None else [value])][-2:]}
    answers = {**app.session_state["learn_answers"], name: entry | {"shown": value is None}}
    app.session_state["learn_answers"] = answers
    return app.run()


def questions(chapter: Chapter) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a chapter about its own text, with their names, the belief last."""
    for task in prose.read(chapter.key).tasks:
        for number, make in enumerate(chapter.task(task).questions):
            yield f"{chapter.key}/{task}/{number}", make()
    yield f"{chapter.key}/belief/0", belief_question(chapter.key, chapter.figures())


def show_all(app: AppTest, chapter: Chapter) -> AppTest:
    for name, question in questions(chapter):
        app = give(app, name, question.judge(None).right)
    return app


def messages(app: AppTest) -> list[bytes]:
    """Return everything that the page sends to the browser, in its order."""
    protos = [one.proto for one in app._tree if getattr(one, "proto", None) is not None]
    return [one.SerializeToString(deterministic=True) for one in protos]


def refuse(*given: Any) -> Any:
    raise AssertionError("A result was computed before an answer.")


def without_answers(chapter: Chapter, answered: int) -> Chapter:
    """Return a chapter in which to judge a question after the first `answered` ones is an error."""
    left = answered
    stages: dict[str, Callable[[str], Task]] = {}
    for task in prose.read(chapter.key).tasks:
        count = len(chapter.task(task).questions)

        def stage(text: str, task: str = task, left: int = left) -> Task:
            asked = chapter.tasks[task](text)
            made = [
                make
                if i < left
                else lambda make=make: replace(make(), judge=refuse, mistakes=refuse)
                for i, make in enumerate(asked.questions)
            ]
            return replace(asked, questions=made)

        stages[task] = stage
        left -= count
    return replace(chapter, tasks=stages)


@every_chapter
def test_page_is_the_same_whatever_the_answer_until_it_is_given(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page asks all questions of a chapter, and its link contains no answer."""
    app = opened(chapter.key)
    words = prose.read(chapter.key)
    assert app.header[0].value.endswith(words.title)
    assert not any("<b>In fact" in one.proto.body for one in app.get("html"))
    for answered, (name, question) in enumerate(questions(chapter)):
        app.run()
        expected = messages(app)
        if not name.endswith("belief/0"):
            with monkeypatch.context() as changed:
                other = without_answers(chapter, answered)
                changed.setattr(learn, "BY_KEY", {**BY_KEY, chapter.key: other})
                assert messages(app.run()) == expected
        # The reply follows the belief.
        said = {element.value for element in app.markdown}
        assert not any("Many think" in element.proto.body for element in app.get("html"))
        assert not any(element.startswith(("**This is why", "Sources")) for element in said)
        assert not any(prose.fill(note, chapter.figures()) in said for note in words.notes.values())
        app = give(app, name, question.judge(None).right)
    fact = prose.fill(words.fact, chapter.figures())
    assert sum(escape(fact) in one.proto.body for one in app.get("html")) == 1
    notes = {name: prose.fill(note, chapter.figures()) for name, note in words.notes.items()}
    said = {element.value for element in app.markdown}
    assert {note for name, note in notes.items() if name != vote_questions.NOTE} <= said
    assert {*marks(app, chapter.key)} == {"first"}
    app.session_state["copy_link"] = {"request": 1}
    assert unpack(app.run().session_state["made_link"]["packed"]) == {"chapter": chapter.key}


def is_beginning(earlier: Any, later: Any) -> bool:
    """Return whether a list or a table is the beginning of another one."""
    if isinstance(earlier, dict):
        return all(is_beginning(value, later[key]) for key, value in earlier.items())
    if isinstance(earlier, list):
        return later[: len(earlier)] == earlier
    return bool(earlier == later)


@every_chapter
def test_stage_has_no_later_step_and_an_answer_appends_to_it(chapter: Chapter) -> None:
    for task in prose.read(chapter.key).tasks:
        stage = chapter.task(task)
        if any(make().act.is_live for make in stage.questions):
            continue
        states = [stage.payload(i, None) for i in range(len(stage.questions) + 1)]
        for number, (before, after) in enumerate(pairwise(states)):
            assert before["key"] == after["key"]
            [view], [more] = before["views"], after["views"]
            steps = {name: column for name, column in view["steps"].items() if column}
            assert is_beginning(steps, more["steps"])
            if view["key"] == more["key"]:  # else a typed name is a special token now
                assert is_beginning(view["tokenStyles"], more["tokenStyles"])
            assert len(view["steps"]["id"]) == view["last"] == before["last"]
            assert len(view["tokenCounts"]) == view["last"] + 1
            assert after["last"] > before["last"] or "curves" in after, number


@every_chapter
def test_each_wrong_answer_is_answered_without_the_right_one(chapter: Chapter) -> None:
    for name, question in questions(chapter):
        for mistake in question.likely()[: 3 if properties.FAST else 8]:
            assert question.mark([mistake.given], False) is None
            first = question.result([mistake.given], False)
            assert first
            if question.act.is_live:
                continue
            assert first["kind"] == "again", name
            second = question.result([mistake.given, mistake.given], False)
            assert second
            assert question.mark([mistake.given] * 2, False) == "tried"
            assert second["note"].endswith("Two tries")
            assert len(second["message"]) > len(question.judge(None).message), name


@pytest.mark.parametrize("text", ["hello world", samples.by_key("seashells").text, "a" * 2_000])
def test_own_text_of_the_other_pages_comes_along(text: str) -> None:
    app = show_all(opened("merge", text_box=text, text_sample="own"), BY_KEY["merge"])
    assert [box.value for box in app.text_area] == [text if text == "hello world" else ""]


def test_page_opens_on_the_first_chapter_and_puts_it_into_the_address() -> None:
    app = opened()
    assert (bar(app)["current"], bar(app)["names"]) == ("why", "chapter")


@pytest.mark.parametrize("address", ["", "nonsense", "../Train"])
def test_unknown_chapter_in_the_address_is_ignored(address: str) -> None:
    assert bar(opened(address))["current"] == "why"


def test_answer_is_kept_marked_and_answered_twice() -> None:
    app = give(opened("merge"), "merge/pair/0", 3)
    (task,) = tasks(app)
    assert (task["given"], task["act"], task["result"]["kind"]) == (3, "pair", "again")
    app = give(app, "merge/pair/0", 3)
    (task,) = tasks(app)
    assert task["result"]["kind"] == "wrong"
    assert task["result"]["note"].endswith("Two tries")
    assert task["prompt"][0] == "Merge 2 of 6: "
    app.switch_page("pages/Inspect.py").run()
    app.switch_page("pages/Learn.py").run()
    assert tasks(app)[0]["result"] == task["result"]


@pytest.mark.parametrize("value", [True, "3", -1, 10**9, [3], {"a": 1}, "x" * 9_000])
def test_value_that_is_not_an_answer_is_ignored(value: Any) -> None:
    (task,) = tasks(give(opened("merge"), "merge/pair/0", value))
    assert (task["result"], task["given"]) == (None, None)


@every_chapter
def test_show_me_opens_the_reply_to_the_belief(chapter: Chapter) -> None:
    app = opened(chapter.key)
    for name, question in [*questions(chapter)][:-1]:
        app = give(app, name, question.judge(None).right)
    app.button(key="belief_show").click().run()
    (reply,) = [
        element.proto.body for element in app.get("html") if "Many think" in element.proto.body
    ]
    assert escape(prose.read(chapter.key).beliefs[0].myth) in reply
    assert marks(app, chapter.key)[-1] == "shown"
    assert "belief_show" not in [button.key for button in app.button]


def test_own_text_follows_below_and_has_no_marks() -> None:
    app = show_all(opened("merge"), BY_KEY["merge"])
    app.text_area(key="learn_text").set_value("banana").run()
    (_, task) = tasks(app)
    assert (task["result"], len(task["places"])) == (None, 5)
    app = give(app, "merge/pair/0*", 1)
    assert tasks(app)[1]["result"]["kind"] == "right"
    assert {*marks(app, "merge")} == {"first"}
    app.text_area(key="learn_text").set_value("a").run()
    assert "longer" in app.info[0].value


def test_link_has_the_chapter_and_the_text_but_no_answers() -> None:
    app = show_all(opened("merge"), BY_KEY["merge"])
    app.text_area(key="learn_text").set_value("banana").run()
    app.session_state["copy_link"] = {"request": 1}
    packed = app.run().session_state["made_link"]["packed"]
    assert unpack(packed) == {"chapter": "merge", "learn_text": "banana"}
    other = opened(link=packed)
    assert not other.warning
    assert tasks(other)[0]["result"] is None
    assert not any(any(one["marks"]) for one in bar(other)["chapters"])


def test_marks_tell_tries_and_a_shown_answer_apart() -> None:
    app = give(opened("merge"), "merge/pair/0", 1)
    app = give(app, "merge/pair/0", PAIR)
    app = give(app, "merge/pair/1")
    assert marks(app, "merge")[:3] == ["second", "shown", None]


@pytest.mark.parametrize(
    "values",
    [{"chapter": "magic"}, {"chapter": 3}, {"chapter": "merge", "learn_text": "x" * 5_000}],
)
def test_invalid_values_of_links_are_ignored_with_a_message(values: dict[str, Any]) -> None:
    app = opened(link=pack(values))
    assert "Ignored" in app.warning[0].value
    assert len(tasks(app)) == 1


@every_chapter
def test_link_of_a_chapter_opens_its_page_without_a_message(chapter: Chapter) -> None:
    if chapter.target is None:
        pytest.skip("It has no page of its own.")
    target = chapter.target(chapter.text)
    app = app_pages.opened(target.path, {"s": pack(target.values)}, others=[])
    assert [one.value for one in app.warning if "link" in one.value] == []


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "[",
        "null",
        "[]",
        '{"answers": 1, "marks": {}}',
        '{"answers": {"merge/pair/0": 3}, "marks": {"merge/pair/0": 3}}',
        '{"answers": {"magic/0": {"of": "", "tries": [], "shown": true}}, "marks": {"magic": 3}}',
        '{"answers": {"merge/pair/0": {"of": 3, "tries": [], "shown": true}}, "marks": {}}',
        '{"answers": {"merge/pair/0": {"of": "", "tries": [3, 4, 5], "shown": 1}}, "marks": {}}',
        "[" * 40_000,
        "x" * 60_000,
    ],
)
def test_invalid_stored_answers_are_dropped(stored: str) -> None:
    assert learn._read(stored) == ({}, {})


def test_stored_answers_are_restored() -> None:
    of = tasks(opened("merge"))[0]["of"].rpartition("/")[0]
    entry = {"of": of, "tries": [3], "shown": False}
    stored = {"answers": {"merge/pair/0": entry}, "marks": {"merge/pair/1": "second"}}
    answers, found = learn._read(json.dumps(stored))
    assert (answers, found) == (stored["answers"], stored["marks"])
    app = opened("merge", learn_answers=answers, learn_marks=found)
    assert tasks(app)[0]["given"] == 3
    assert marks(app, "merge")[:2] == [None, "second"]


def test_another_text_follows_the_truth_and_is_asked_anew() -> None:
    app = give(opened("wrong"), "wrong/space/0")
    first = tasks(app)
    assert [task["result"] and task["result"]["kind"] for task in first] == ["shown", None]
    app.button(key="another_space").click().run()
    (task, following) = tasks(app)
    assert task["result"] is None
    assert following["of"] == first[1]["of"]  # the chapter goes on
    assert "another_space" not in [button.key for button in app.button]
    answers = app.session_state["learn_answers"]
    for tries in ([0], [0, 0]):
        entry = {"of": task["of"].rpartition("/")[0], "tries": tries, "shown": False}
        app.session_state["learn_answers"] = answers | {"wrong/space/0*1": entry}
        (again, _) = tasks(app.run())
        assert again["of"] == task["of"]  # both tries are about one text
    assert again["result"]["kind"] == "wrong"
    assert marks(app, "wrong")[0] == "shown"
    app.button(key="another_space").click().run()
    of = tasks(app)[0]["of"].rpartition("/")[0]
    entry = {"of": of, "tries": [], "shown": True}
    app.session_state["learn_answers"] = answers | {"wrong/space/0*2": entry}
    app.run().button(key="another_space").click().run()
    assert tasks(app)[0]["of"] == first[0]["of"]


def test_chapters_say_how_long_they_take() -> None:
    captions = {key: [caption.value for caption in opened(key).caption] for key in ("why", "wrong")}
    assert "About 5 minutes; 45 for all chapters, and 5 for golf" in captions["why"]
    assert "About 5 minutes" in captions["wrong"]


def test_every_tour_is_linked_on_learn_and_begins_on_its_page() -> None:
    labels = [link.proto.label for link in opened("merge").get("page_link")]
    assert {tour.title for tour in tours.TOURS.values()} <= {*labels}
    for tour in tours.TOURS.values():
        app = app_pages.opened(tour.page.path, {}, others=[])
        app.button(key=f"tour_{tour.key}").click().run()
        assert app.query_params["tour"] in (f"{tour.key}.1", [f"{tour.key}.1"])


@pytest.mark.parametrize("key", learn.NAMED)
def test_other_names_are_linked_on_learn_and_open_what_does_them(key: str) -> None:
    link = learn.NAMED[key]
    assert link.label in [page_link.proto.label for page_link in opened("merge").get("page_link")]
    app = app_pages.opened(link.path, {"s": pack(link.values)}, others=[])
    assert not app.exception
    assert [warning.value for warning in app.warning if "link" in warning.value] == []
    if key == "hierarchical":
        assert app.session_state["levels_open"]
    else:
        assert app.session_state["bpe_threshold"] == 2


def test_next_leads_through_all_chapters() -> None:
    app = opened("why")
    walked = ["why"]
    while "learn_next" in [one.key for one in app.button]:
        app.button(key="learn_next").click().run()
        walked.append(bar(app)["current"])
    assert walked == [*BY_KEY, "end"]


def test_next_is_the_main_button_once_the_chapter_is_done() -> None:
    chapter = BY_KEY["merge"]
    app = opened(chapter.key)
    assert app.button(key="learn_next").proto.type == "tertiary"
    app = show_all(app, chapter)
    assert app.button(key="learn_next").proto.type == "primary"


def test_end_lists_the_facts_the_marks_and_ways_on() -> None:
    app = opened("end", learn_marks={"merge/pair/0": "first", "merge/pair/1": "tried"})
    text = " ".join(one.value for one in app.markdown)
    for chapter in CHAPTERS:
        assert prose.fill(prose.read(chapter.key).fact, chapter.figures()) in text
    assert "**1 of 2 at the first try.** ● 1 first try · ◐ 0 second try · ○ 1 two tries" in text
    links = {one.proto.label for one in app.get("page_link")}
    assert "Train on a text of your own" in links
    assert "For teachers: all answers" in [one.label for one in app.button]
    [again] = [one for one in app.button if one.label == "Start again"]
    again.click().run()
    assert bar(app)["current"] == CHAPTERS[0].key
    assert bar(app)["cleared"]
    assert json.loads(bar(app)["progress"]) == {"answers": {}, "marks": {}}


@every_chapter
def test_tasks_work_without_vocabulary_files(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)
    monkeypatch.setattr(download, "fetch_in_background", lambda name: None)
    monkeypatch.setattr(bpeviz, "load", None)
    app = show_all(opened(chapter.key), chapter)
    assert not app.exception
    assert None not in marks(app, chapter.key)
