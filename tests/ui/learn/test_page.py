"""The Learn page without a browser: answers, progress, links, and what the browser receives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any

import pytest
from helpers import app_pages
from helpers.payloads import payloads
from streamlit.testing.v1 import AppTest

from bpeviz.corpus import samples
from bpeviz.pretrained import download
from bpeviz.trainers import TRAINERS
from bpeviz.ui.learn import first_merge
from bpeviz.ui.learn import page as learn
from bpeviz.ui.learn.base import DON_QUIJOTE, Chapter, Question, Setup
from bpeviz.ui.learn.registry import BY_KEY, CHAPTERS
from bpeviz.ui.permalink.codec import pack, unpack
from bpeviz.views.table import Table

every_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.key)


def opened(chapter: str | None = None, link: str = "", **state: Any) -> AppTest:
    query = {"chapter": chapter, "s": link}
    return app_pages.opened("Learn", {key: value for key, value in query.items() if value}, **state)


def questions(app: AppTest) -> list[dict[str, Any]]:
    """Return the payloads of the questions."""
    return [data for data in payloads(app) if "form" in data]


def bar(app: AppTest) -> dict[str, Any]:
    (found,) = [data for data in payloads(app) if "chapters" in data]
    assert isinstance(found, dict)
    return found


_number = iter(range(1, 10_000))


def give(app: AppTest, name: str, value: Any = None) -> AppTest:
    """Send an answer to the last question as the browser does; None is “Show me”."""
    sent = {"number": next(_number), "of": questions(app)[-1]["of"], "value": value}
    app.session_state[f"learn_{name}"] = {"answer": sent}
    return app.run()


def ask_again(app: AppTest, name: str) -> AppTest:
    """Press “Try again” below the answer to the first question."""
    sent = {"number": next(_number), "of": questions(app)[0]["of"], "value": None, "again": True}
    app.session_state[f"learn_{name}"] = {"answer": sent}
    return app.run()


def show_all(app: AppTest, chapter: Chapter) -> AppTest:
    for number in (*range(len(chapter.questions)), "why"):
        app = give(app, f"{chapter.key}/{number}")
    return app


@pytest.mark.parametrize("text", ["hello world", samples.by_key("seashells").text, "a" * 2_000])
def test_page_opens_on_merges_with_a_text_of_the_user(text: str) -> None:
    app = opened(text_box=text, text_sample="own")
    assert bar(app)["current"] == first_merge.KEY
    brought = [box.value for box in app.text_area]
    assert brought == ([text] if text == "hello world" else [])


def test_page_opens_on_the_chapter_on_merges_and_puts_it_into_the_address() -> None:
    app = opened()
    assert bar(app)["current"] == first_merge.KEY
    assert bar(app)["names"] == "chapter"


def messages(app: AppTest) -> list[bytes]:
    """Return everything that the page sends to the browser, in its order."""
    protos = [one.proto for one in app._tree if getattr(one, "proto", None) is not None]
    return [one.SerializeToString(deterministic=True) for one in protos]


def with_other_answers(chapter: Chapter, answered: int) -> Chapter:
    """Return a chapter in which all is different that follows its first `answered` questions.

    Computing a result or a picture is an error.
    """

    def refuse(given: Any) -> Any:
        raise AssertionError("A result was computed before an answer.")

    def other(make: Callable[[Setup], Question | None]) -> Callable[[Setup], Question | None]:
        return lambda setup: (
            (asked := make(setup)) and replace(asked, judge=refuse, mistakes=refuse)
        )

    options = [
        replace(one, feedback="Another feedback.", right=one is chapter.why.options[-1])
        for one in chapter.why.options
    ]
    why = replace(chapter.why, options=options)
    if answered == len(chapter.questions):
        return replace(chapter, why=why)
    questions = [*chapter.questions[:answered], *map(other, chapter.questions[answered:])]
    return replace(chapter, why=why, questions=questions, pictures=refuse, fact="Another.")


@every_chapter
def test_page_is_the_same_whatever_the_answer_until_it_is_given(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page asks all questions of a chapter, and its link contains no answer."""
    if not all(map(download.available, chapter.needs)):
        pytest.skip("The vocabularies are not on this machine.")
    app = opened(chapter.key)
    assert app.header[0].value.endswith(chapter.title)
    for answered, name in enumerate((*range(len(chapter.questions)), "why")):
        found = questions(app)
        assert len(found) == answered + 1
        assert (found[-1]["given"], found[-1]["result"]) == (None, None)
        if name == "why":  # its inputs are new, and only their first message contains a value
            app.run()
        expected = messages(app)
        assert expected
        with monkeypatch.context() as changed:
            other = with_other_answers(chapter, answered)
            listed = [other if one is chapter else one for one in CHAPTERS]
            changed.setattr(learn, "CHAPTERS", listed)
            changed.setattr(learn, "BY_KEY", {one.key: one for one in listed})
            assert messages(app.run()) == expected
        if name == "why":
            app.session_state["copy_link"] = {"request": 1}
        app = give(app, f"{chapter.key}/{name}")
    assert {one["result"]["verdict"] for one in questions(app)} == {"shown"}
    assert sum(escape(chapter.fact) in one.proto.body for one in app.get("html")) == 1
    assert any(f"<s>{escape(chapter.myth)}</s>" in one.proto.body for one in app.get("html"))
    (current,) = [one for one in bar(app)["chapters"] if one["key"] == chapter.key]
    assert {*current["marks"]} == {"shown"}
    inputs = {one.widget.link: one.initial for one in chapter.inputs}
    assert unpack(app.session_state["made_link"]["packed"]) == inputs | {"chapter": chapter.key}


@pytest.mark.parametrize("address", ["", "nonsense", "../Train"])
def test_unknown_chapter_in_the_address_is_ignored(address: str) -> None:
    assert bar(opened(address))["current"] == first_merge.KEY


def test_payload_of_a_pair_contains_no_merges() -> None:
    (found,) = questions(opened("first-merge"))
    steps = found["form"]["timeline"]["steps"]
    assert [steps["id"], steps["left"], steps["right"]] == [[], [], []]
    assert {*found["form"]["timeline"]["mergedAt"]} == {-1}


def test_answer_is_kept_marked_and_can_be_given_again() -> None:
    app = give(opened("first-merge"), "first-merge/0", 3)
    (first,) = questions(app)
    assert (first["given"], first["result"], first["mark"]) == (3, None, None)
    assert "".join(map(str, first["feedback"])).endswith("the space after it.")
    app = give(app, "first-merge/0", 3)
    assert questions(app)[0]["given"] == 3
    assert questions(app)[0]["result"]["verdict"] == "wrong"
    assert questions(app)[0]["mark"] == "shown"
    assert len(questions(app)) == 2
    app.switch_page("pages/Inspect.py").run()
    app.switch_page("pages/Learn.py").run()
    assert questions(app)[0]["given"] == 3
    (again,) = questions(ask_again(app, "first-merge/0"))
    assert (again["given"], again["result"]) == (None, None)


@pytest.mark.parametrize("value", [True, "3", -1, 10**9, [3], {"a": 1}, "x" * 9_000])
def test_value_that_is_not_an_answer_is_ignored(value: Any) -> None:
    (found,) = questions(give(opened("first-merge"), "first-merge/0", value))
    assert found["result"] is None


def test_questions_follow_again_about_an_own_text_below_the_first_ones() -> None:
    app = show_all(opened("first-merge"), BY_KEY["first-merge"])
    app.text_area(key="learn_first-merge_text").set_value("banana").run()
    *first, found = questions(app)
    assert [one["result"]["verdict"] for one in first] == ["shown"] * 3
    assert first[0]["form"]["timeline"]["text"].startswith("En un lugar")
    assert found["result"] is None
    assert found["form"]["timeline"]["text"] == "banana"
    assert [one.label for one in app.expander].count("See it") == 1
    app = give(app, "first-merge/0*", 1)
    assert questions(app)[3]["result"]["verdict"] == "right"
    app = give(app, "first-merge/1*", 4)
    assert questions(app)[4]["result"]["verdict"] == "right"
    assert [one.label for one in app.expander].count("See it") == 2
    assert marks(app, "first-merge") == ["shown"] * 3  # they are about the first text
    [reset] = [one for one in app.button if one.label == "Back to the first text"]
    reset.click().run()
    assert len(questions(app)) == 3


def test_inputs_of_pictures_are_drawn_once_beside_an_own_text() -> None:
    app = show_all(opened("text-is-numbers"), BY_KEY["text-is-numbers"])
    app.text_area(key="learn_text-is-numbers_text").set_value("é").run()
    for number in range(2):
        app = give(app, f"text-is-numbers/{number}*")
    assert len(app.button_group) == 1
    app.button_group[0].set_value("hexadecimal").run()
    tables = [one.proto.body for one in app.get("html") if "<table" in one.proto.body]
    assert [one.count("U+") for one in tables] == [13, 1]


def test_text_without_a_pair_shows_what_to_do() -> None:
    app = opened("first-merge", **{"learn_first-merge_text": "a"})
    (first,) = questions(app)
    assert first["form"]["timeline"]["text"].startswith("En un lugar")
    assert "longer" in app.info[0].value


def test_answer_to_another_text_is_not_used() -> None:
    app = opened("first-merge")
    sent = {"number": next(_number), "of": "another text", "value": 3}
    app.session_state["learn_first-merge/0"] = {"answer": sent}
    app.run()
    assert questions(app)[0]["result"] is None


def test_link_has_the_chapter_the_text_and_progress_but_no_answers() -> None:
    app = show_all(opened("first-merge"), BY_KEY["first-merge"])
    app.text_area(key="learn_first-merge_text").set_value("banana").run()
    app = give(app, "first-merge/0*", 1)
    app.session_state["copy_link"] = {"request": 1}
    app.run()
    packed = app.session_state["made_link"]["packed"]
    linked = unpack(packed)
    assert linked == {
        "chapter": "first-merge",
        "learn_first-merge_text": "banana",
    }
    other = opened(link=packed)
    assert not other.warning
    assert questions(other)[1]["form"]["timeline"]["text"] == "banana"
    assert [one["result"] for one in questions(other)] == [None, None]
    assert not any(map(any, (one["marks"] for one in bar(other)["chapters"])))


def marks(app: AppTest, chapter: str) -> list[str | None]:
    (found,) = [one["marks"] for one in bar(app)["chapters"] if one["key"] == chapter]
    return list(found)


def test_marks_tell_the_first_try_from_the_second_and_from_a_shown_answer() -> None:
    app = give(opened("first-merge"), "first-merge/0", 1)
    app = give(app, "first-merge/0", DON_QUIJOTE.index("o "))
    app = give(app, "first-merge/1", 124)
    app = give(app, "first-merge/why", "means")
    assert marks(app, "first-merge") == ["second", "first", None]
    app = give(app, "first-merge/why")
    assert marks(app, "first-merge") == ["second", "first", "shown"]
    app = give(ask_again(app, "first-merge/0"), "first-merge/0", DON_QUIJOTE.index("o "))
    assert questions(app)[0]["mark"] == "first"
    assert marks(app, "first-merge") == ["second", "first", "shown"]  # the first mark counts


def test_chapter_of_an_old_link_is_opened_and_leaves_the_marks_alone() -> None:
    link = pack({"chapter": "two-ways", "chapters_done": ["first-merge"]})
    app = opened(link=link, learn_marks={"first-merge/0": "first"})
    (found,) = [one for one in bar(app)["chapters"] if one["key"] == "first-merge"]
    assert (found["opened"], found["marks"]) == (True, ["first", None, None])


@pytest.mark.parametrize(
    "values",
    [
        {"chapter": "magic"},
        {"chapter": 3},
        {"chapters_done": ["magic"]},
        {"chapter": "first-merge", "learn_first-merge_text": "x" * 5_000},
        {"chapter": "first-merge", "learn_why-subwords_text": "x"},
    ],
)
def test_invalid_values_of_links_are_ignored_with_a_message(values: dict[str, Any]) -> None:
    app = opened(link=pack(values))
    assert "Ignored" in app.warning[0].value
    assert len(questions(app)) == 1


@every_chapter
def test_link_of_a_chapter_opens_its_page_without_a_message(chapter: Chapter) -> None:
    target = chapter.target(chapter.initial)
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
        '{"answers": {"first-merge/0": 3}, "marks": {"first-merge/0": 3}}',
        '{"answers": {"magic/0": {"of": "", "tries": [], "shown": true}}, "marks": {"magic": 3}}',
        '{"answers": {"first-merge/0": {"of": 3, "tries": [], "shown": true}}, "marks": {}}',
        '{"answers": {"first-merge/0": {"of": "", "tries": [3, 4, 5], "shown": 1}}, "marks": {}}',
        "[" * 40_000,
        "x" * 60_000,
    ],
)
def test_invalid_stored_answers_are_dropped(stored: str) -> None:
    assert learn._read(stored) == ({}, {}, {})


def test_stored_answers_are_restored() -> None:
    chapter = BY_KEY["first-merge"]
    entry = {"of": chapter.about(chapter.initial), "tries": [3], "shown": False}
    stored = {"answers": {"first-merge/0": entry}, "marks": {"first-merge/1": "second"}}
    answers, found, _ = learn._read(json.dumps(stored))
    assert (answers, found) == (stored["answers"], stored["marks"])
    app = opened("first-merge", learn_answers=answers, learn_marks=found)
    assert questions(app)[0]["given"] == 3
    assert marks(app, "first-merge") == [None, "second", None]


def test_own_text_of_a_chapter_is_stored_until_it_is_the_first_one_again() -> None:
    def own(app: AppTest) -> dict[str, Any]:
        found = json.loads(bar(app)["progress"])["own"]
        assert isinstance(found, dict)
        return found

    app = show_all(opened("first-merge"), BY_KEY["first-merge"])
    assert own(app) == {}
    app.text_area(key="learn_first-merge_text").set_value("banana").run()
    assert own(app) == {"first-merge": {"text": "banana"}}
    [reset] = [one for one in app.button if one.label == "Back to the first text"]
    reset.click().run()
    assert own(app) == {"first-merge": None}
    stored = {"own": {"first-merge": {"text": "abc", "x": 1}, "magic": {}, "two-ways": None}}
    assert learn._read(json.dumps(stored))[2] == {"first-merge": {"text": "abc"}}
    assert learn._read(json.dumps({"own": {"first-merge": {"text": "x" * 5_000}}}))[2] == {
        "first-merge": {}
    }


def test_table_escapes_its_cells() -> None:
    html = Table.of_rows(["<b>", "c"], [["<script>", "a & b"]]).html()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a &amp; b" in html


def test_next_follows_the_core_path_and_offers_the_chapter_between() -> None:
    app = opened("text-is-numbers")
    labels = [one.label for one in app.button if str(one.key).startswith("learn_")]
    assert labels == ["Next: Why subwords", "Extra: Splitting by rules"]
    app.button(key="learn_extra").click().run()
    assert bar(app)["current"] == "splitting-rules"
    app.button(key="learn_next").click().run()
    assert bar(app)["current"] == "why-subwords"
    walked = []
    while "learn_next" in [one.key for one in app.button]:
        app.button(key="learn_next").click().run()
        walked.append(bar(app)["current"])
    core = [one.key for one in CHAPTERS if one.core]
    assert ["text-is-numbers", "why-subwords", *walked] == [*core, "end"]


def teachers_page(**parameters: str) -> AppTest:
    return app_pages.opened("Learn", {"teacher": "1", **parameters})


def test_teachers_page_lists_every_question_with_answer_and_likely_wrong_answers() -> None:
    app = teachers_page()
    sheet = "".join(one.proto.body for one in app.get("html") if ">Answer<" in one.proto.body)
    assert sheet.count("<tr>") > 2 * len(CHAPTERS)
    assert 'class="facts-frame"' in sheet  # it does not scroll: it is shown as a whole
    assert "“7”: 7 is how many disappear. How many remain?" in sheet
    for right in ("131 tokens − 7 = 124 tokens", "e + ·, d + e·, a + ·, a + n.", "95 at 10"):
        assert right in sheet
    for chapter in CHAPTERS:
        assert chapter.needs or escape(chapter.why.prompt) in sheet
    assert any("The core chapters take about 30 minutes" in one.value for one in app.markdown)


def test_question_is_shown_large_and_its_answer_on_request() -> None:
    app = teachers_page()
    app.button(key="large_first-merge_1").click().run()
    (found,) = questions(app)
    assert "How many remain" in "".join(map(str, found["prompt"]))
    assert found["result"] is None
    assert found["hasManyTries"]  # none of them is the last one
    for given, verdict in ((7, None), (7, None), (124, "right"), (None, "shown")):
        sent = {"number": 1, "of": found["of"], "value": given}
        app.session_state["large_question_first-merge_1"] = {"answer": sent}
        (found,) = questions(app.run())
        assert (found["result"] or {}).get("verdict") == verdict
        assert bool(found["feedback"]) == (verdict is None)
    [leave] = [one for one in app.button if one.label == "All questions"]
    leave.click().run()
    assert not questions(app)


@pytest.mark.parametrize("large", ["magic/0", "first-merge/9", "first-merge/x", "first-merge"])
def test_unknown_question_to_show_large_is_ignored(large: str) -> None:
    assert not questions(teachers_page(large=large))


def test_end_lists_the_facts_the_marks_and_ways_on() -> None:
    app = opened("end", learn_marks={"first-merge/0": "first", "first-merge/1": "shown"})
    text = " ".join(one.value for one in app.markdown)
    for chapter in CHAPTERS:
        assert (chapter.fact in text) == chapter.core
    assert "**1 of 2 at the first try.** ● 1 at the first try · ◐ 0 at the second" in text
    links = {one.proto.label for one in app.get("page_link")}
    assert {f"{TRAINERS[key].short} in Train" for key in learn.VARIANTS} <= links
    assert {"Train on a text of your own", "For teachers: all answers"} <= links
    [again] = [one for one in app.button if one.label == "Start again"]
    again.click().run()
    found = bar(app)
    assert found["current"] == CHAPTERS[0].key
    assert found["cleared"]
    assert json.loads(found["progress"]) == {"answers": {}, "marks": {}, "own": {}}


def test_next_is_the_main_button_once_the_chapter_is_done() -> None:
    chapter = BY_KEY["first-merge"]
    app = opened(chapter.key)
    assert app.button(key="learn_next").proto.type == "tertiary"
    app = show_all(app, chapter)
    assert app.button(key="learn_next").proto.type == "primary"
    assert app.button(key="learn_back").proto.type == "tertiary"


def test_slider_of_the_size_changes_the_table_and_asks_nothing_anew() -> None:
    chapter = BY_KEY["how-large"]
    app = show_all(opened(chapter.key), chapter)
    app.slider(key="learn_how-large_size").set_value(600).run()
    assert any("600 × 768 = 460,800 numbers" in one.value for one in app.caption)
    assert all(one["result"] for one in questions(app))
    assert not [one for one in app.caption if one.value.startswith("The questions above")]


def test_sample_sets_all_inputs_that_belong_together() -> None:
    chapter = BY_KEY["splitting-rules"]
    app = show_all(opened(chapter.key), chapter)
    app.button(key="sample_splitting-rules_Japanese").click().run()
    assert app.text_input(key="learn_splitting-rules_words").value == "図書館 で お茶 を 飲む"


def test_link_with_a_setting_of_an_older_version_opens_without_a_warning() -> None:
    app = opened(link=pack({"chapter": "first-merge", "checked_against": True}))
    assert bar(app)["current"] == "first-merge"
    assert not app.warning
