"""The ten beliefs before and after the course: sums, changes, and the radio buttons of both."""

from __future__ import annotations

import json
from typing import Any

from helpers import app_pages
from streamlit.testing.v1 import AppTest

from bpeviz.ui.learn import before_after
from bpeviz.ui.learn.page import _read

RIGHT = [question.judge(None).right for question in before_after.questions()]


def answers(time: str, given: list[int]) -> dict[str, int]:
    return dict(zip(before_after.names(time), given, strict=True))


def stored(given: dict[str, int], seen: bool = False) -> dict[str, Any]:
    entries = {
        name: {"of": "belief", "tries": [value], "shown": False} for name, value in given.items()
    }
    if seen:
        entries["after/0"]["shown"] = True
    return entries


def opened(chapter: str, **state: Any) -> AppTest:
    return app_pages.opened("Learn", {"chapter": chapter}, **state)


def test_sums_count_right_answers_of_complete_rounds() -> None:
    before = answers("before", [0] * 10)
    after = answers("after", RIGHT)
    zeros = RIGHT.count(0)
    assert before_after.sums({}) == {}
    assert before_after.sums(before) == {"before": zeros}
    assert before_after.sums(after | {"before/0": 1}) == {"after": 10}
    assert before_after.sums(before | after) == {"before": zeros, "after": 10}


def test_first_chapter_asks_the_ten_without_telling_answers() -> None:
    app = opened("why", ten=True)
    assert [radio.label for radio in app.radio] == [q.name for q in before_after.questions()]
    assert [radio.value for radio in app.radio] == [None] * 10
    app = app.radio[0].set_value(1).run()
    assert app.radio[0].value == 1
    assert not any(radio.proto.set_value for radio in app.radio), "it would undo the next answer"
    assert any(text.value.startswith("9 questions to go.") for text in app.caption)
    replies = [reply for q in before_after.questions() for reply in q.judge(None).message]
    assert not any(reply in text.value for reply in replies for text in app.markdown)
    progress = app.session_state["learn_answers"]["before/0"]
    assert progress == {"of": "belief", "tries": [1], "shown": False}


def test_progress_of_a_browser_may_name_the_ten_answers() -> None:
    entries = stored(answers("before", RIGHT), seen=False) | {"before/10": {}}
    taken, _ = _read(json.dumps({"answers": entries, "marks": {}}))
    assert taken == stored(answers("before", RIGHT))
