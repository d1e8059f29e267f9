"""The Learn page under Streamlit's `AppTest`: its questions, and answers to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from bpeviz.ui.learn import prose
from bpeviz.ui.learn.base import Chapter, belief_question
from bpeviz.views.task import Task
from helpers import app_pages
from helpers.payloads import payloads


def opened(chapter: str | None = None, **state: Any) -> AppTest:
    return app_pages.opened("Learn", {"chapter": chapter} if chapter else {}, **state)


def tasks(app: AppTest) -> list[dict[str, Any]]:
    return [data["task"] for data in payloads(app) if "task" in data]


def bar(app: AppTest) -> dict[str, Any]:
    (listed,) = [data for data in payloads(app) if "chapters" in data]
    assert isinstance(listed, dict)
    return listed


def marks(app: AppTest, chapter: str) -> list[str | None]:
    (listed,) = [entry["marks"] for entry in bar(app)["chapters"] if entry["key"] == chapter]
    return list(listed)


def go(app: AppTest, name: str) -> AppTest:
    """Open the page of a question."""
    app.query_params["chapter"] = name.rpartition("/")[0]
    return app.run()


def give(app: AppTest, name: str, value: Any = None) -> AppTest:
    """Answer a question as the callback of the stage does; None is “Show me”."""
    go(app, name)
    of = "belief" if name.split("/")[1] == "belief" else tasks(app)[-1]["of"].rpartition("/")[0]
    if "learn_answers" not in app.session_state:
        app.session_state["learn_answers"] = {}
    before = app.session_state["learn_answers"].get(name, {"of": of, "tries": []})
    tries = before["tries"] if before["of"] == of else []
    entry = {"of": of, "tries": [*tries, *([] if value is None else [value])][-2:]}
    answers = {**app.session_state["learn_answers"], name: entry | {"shown": value is None}}
    app.session_state["learn_answers"] = answers
    return app.run()


def questions(chapter: Chapter) -> Iterator[tuple[str, Task]]:
    """Yield the questions of a chapter about its own text, with their names, the belief last."""
    for task in prose.read(chapter.key).tasks:
        for number, make in enumerate(chapter.task(task).questions):
            yield f"{chapter.key}/{task}/{number}", make()
    yield f"{chapter.key}/belief/0", belief_question(chapter.key, chapter.figures())


def words(message: Any) -> str:
    """Return a message as text."""
    return "".join(part if isinstance(part, str) else part["label"] for part in message)
