"""The teacher's page of Learn, and the student's sheet."""

from __future__ import annotations

import re
from html import unescape

import pytest
from helpers import app_pages
from helpers.payloads import payloads
from streamlit.testing.v1 import AppTest

from bpeviz.room import sheet
from bpeviz.ui.learn import prose, vote_questions
from bpeviz.ui.learn.chapters import BY_KEY


def opened(**query: str) -> AppTest:
    return app_pages.opened("Learn", query)


def words(app: AppTest) -> str:
    """Return the words of the page, without marks of tokens."""
    bodies = [element.proto.body for element in app.get("html")]
    text = " ".join([*(element.value for element in app.markdown), *bodies])
    return re.sub(r"\s+", " ", unescape(re.sub("<[^>]+>", "", re.sub("</t[dh]>|<br>", " ", text))))


def plain(text: str) -> str:
    return text.replace("`", "")


def test_page_has_texts_tokens_answers_and_replies() -> None:
    said = words(opened(teacher="1"))
    for chapter in BY_KEY.values():
        chapter_words, figures = prose.read(chapter.key), chapter.figures()
        assert chapter.text in said
        assert chapter_words.goal in said
        (belief,) = chapter_words.beliefs
        for option in belief.options:
            for part in (option.words, option.answer):
                assert plain(prose.fill(part, figures)) in plain(said)
        for one in vote_questions.asked(chapter):
            assert one.name in said
    assert "3 tokens at the end: st raw berry" in said
    assert "at the end: caterpillar" not in said, "it is not the chapter's text"
    assert "17 tokens at the end: casa . ·rosa . · casa , · c osa ." in said
    assert "Training text, 61 tokens at the end: En·un·lugar" in said
    assert "after 40 merges Here, tokens are long parts" in said
    assert "103 tokens at the end: E n· u n·" in said
    assert "o + · occurs 7 times" in said
    assert "Merges: 1. o· 2. e· 3. n· 4. de· 5. a·" in said
    assert "has 95 tokens. A search that looks ahead found 10 merges that leave 94." in said
    assert "e + · occurs 6 times; another pair occurs more often." in said
    for belief in prose.read("before_after").beliefs:
        assert f"☑ {belief.options[belief.right].words}" in said
    for listed in sheet.ours().values():
        assert listed.title in said
    assert "Open a room" in said


def test_worksheet_has_no_answers() -> None:
    said = words(opened(teacher="student"))
    for chapter in BY_KEY.values():
        assert chapter.text in said
        assert prose.read(chapter.key).about in said
        for one in vote_questions.asked(chapter):
            result = one.question.judge(None)
            for part in result.message:
                name = part if isinstance(part, str) else part["label"]
                assert len(name) < 12 or name not in said
    assert "The list: En un lugar de la Mancha , cuyo" in said
    assert "“Como estás?” has 12 bytes and 11 ids." in said
    assert "67 111 109 256 101 115 116 195 161 115 63" in said
    assert "raw berry" not in said
    assert "In fact" not in said
    beliefs = prose.read("before_after").beliefs
    assert said.count("☐") == 3 * len(BY_KEY) + 2 * len(beliefs)
    assert "☑" not in said
    for belief in beliefs:
        for option in belief.options:
            assert plain(option.words) in plain(said)
            assert plain(option.answer) not in plain(said)


def test_question_is_shown_large_on_its_stage_from_its_round_on_and_leaves_no_marks() -> None:
    app = opened(teacher="1", large="merge/pair/2")
    (data,) = [data for data in payloads(app) if "task" in data]
    assert data["task"]["prompt"][0] == "Merge 3 of 6: "
    assert (data["last"], data["task"]["given"]) == (2, None)
    again, everything = app.button
    assert (again.label, everything.label) == ("Ask again", "All questions")
    app.session_state["learn_answers"] |= {
        "merge/pair/2*": {"of": data["task"]["of"].partition("/")[0], "tries": [1], "shown": False}
    }
    (data,) = [data for data in payloads(app.run()) if "task" in data]
    assert data["task"]["prompt"][0] == "Merge 4 of 6: "
    (data,) = [data for data in payloads(app.button[0].click().run()) if "task" in data]
    assert data["task"]["prompt"][0] == "Merge 3 of 6: "
    assert "learn_marks" not in app.session_state
    app.button[1].click().run()
    assert app.query_params == {"teacher": "1"}


@pytest.mark.parametrize(
    "large", ["no/pair/0", "merge/no/0", "merge/pair/x", "merge/belief/0", "x"]
)
def test_unknown_question_is_not_shown_large(large: str) -> None:
    assert not opened(teacher="1", large=large).exception
