"""The Learn page without a browser: answers, marks, progress and links."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest
from helpers import app_pages
from helpers.learn_pages import bar, give, marks, opened, questions, tasks
from streamlit.testing.v1 import AppTest

from bpeviz.ui.learn import page as learn
from bpeviz.ui.learn import prose
from bpeviz.ui.learn.base import Chapter, belief_of
from bpeviz.ui.learn.chapters import BY_KEY, CHAPTERS


def show_all(app: AppTest, chapter: Chapter) -> AppTest:
    for name, question in questions(chapter):
        app = give(app, name, question.judge(None).right)
    return app


@pytest.mark.parametrize("value", [True, 10**9, {"a": 1}])
def test_value_that_is_not_an_answer_is_ignored(value: Any) -> None:
    (task,) = tasks(give(opened("merge"), "merge/pair/0", value))
    assert (task["result"], task["given"]) == (None, None)


def test_own_text_has_no_marks_and_a_link_has_the_text_but_no_answers() -> None:
    app = show_all(opened("merge"), BY_KEY["merge"])
    app.text_area(key="learn_text").set_value("banana").run()
    (task,) = tasks(app)
    assert (task["result"], len(task["places"])) == (None, 5)
    assert {*marks(app, "merge")} == {"first"}
    app.session_state["copy_link"] = {"request": 1}
    query = app.run().session_state["made_link"]["query"]
    assert query == "text=banana&chapter=merge/belief"
    other = app_pages.opened("Learn", dict(parse_qsl(query)))
    assert not other.warning
    assert not any(any(entry["marks"]) for entry in bar(other)["chapters"])
    app.text_area(key="learn_text").set_value("a").run()
    assert app.info


ENTRY = {"of": "", "tries": [], "shown": True}
REFUSED: list[Any] = [
    *(1, None, []),
    {"answers": 1, "marks": {}},
    {"answers": {"merge/pair/0": 3}, "marks": {"merge/pair/0": 3}},
    {"answers": {"magic/0": ENTRY}, "marks": {"magic": 3}},
    {"answers": {"merge/pair/0": ENTRY | {"of": 3}}, "marks": {}},
    {"answers": {"merge/pair/0": ENTRY | {"tries": [3, 4, 5], "shown": 1}}, "marks": {}},
]


@pytest.mark.parametrize("stored", [*map(json.dumps, REFUSED), "", "[", "[" * 40_000, "x" * 60_000])
def test_invalid_stored_answers_are_dropped(stored: str) -> None:
    assert learn._read(stored) == ({}, {})


def test_end_lists_the_facts_and_the_marks_until_one_starts_again() -> None:
    app = opened("end", learn_marks={"merge/pair/0": "first", "merge/pair/1": "tried"})
    text = " ".join(element.value for element in app.markdown)
    for chapter in CHAPTERS:
        assert prose.fill(prose.read(chapter.key).fact, chapter.figures()) in text
    assert "1 of 2" in text
    [again] = [button for button in app.button if button.label == "Start again"]
    again.click().run()
    assert bar(app)["current"] == CHAPTERS[0].key
    assert bar(app)["cleared"]
    assert json.loads(bar(app)["progress"]) == {"answers": {}, "marks": {}}


# ---- the teacher's page


def test_teachers_page_has_all_questions_as_links_and_the_worksheet_no_answers() -> None:
    answers, sheet = (
        " ".join(element.proto.body for element in opened_for(value).get("html"))
        for value in ("1", "student")
    )
    for place in learn.PLACES:
        if place != learn.END:
            assert f'href="Learn?chapter={place}"' in answers
            assert f'href="Learn?chapter={place}"' in sheet
    for chapter in CHAPTERS:
        replies = [option.answer for option in belief_of(chapter.key).options]
        plain = [reply for reply in replies if "`" not in reply]
        assert any(reply in answers for reply in plain)
        assert not any(reply in sheet for reply in plain)


def opened_for(teacher: str) -> AppTest:
    return app_pages.opened("Learn", {"teacher": teacher})
