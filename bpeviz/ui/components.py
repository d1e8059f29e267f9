"""The components on Streamlit's pages (`bpeviz.components`).

Data is sent as bytes, which the browser reads as JSON: Streamlit 1.67 would convert a dictionary to
JSON twice, with a slower library.

They are registered at import, which reads their files: restart the server after editing them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from bpeviz import components, limits
from bpeviz.text import as_json

_HOST = """
export default ({ data, parentElement, setStateValue }) =>
  mount(parentElement, JSON.parse(new TextDecoder().decode(data)), setStateValue);
"""
"""Streamlit's interface, in terms of `mount`."""

_HOST_ONCE = """
export default ({ data, parentElement, setStateValue, setTriggerValue }) => {
  const isOnce = name => ["drawn", "way"].includes(name);
  const on = (name, value) => (isOnce(name) ? setTriggerValue : setStateValue)(name, value);
  return mount(parentElement, JSON.parse(new TextDecoder().decode(data)), on);
};
"""
"""Likewise, where the session forgets a value after a run: "drawn" is large, "way" is a press."""


def _register(name: str, *, has_own_style: bool = True, host: str = _HOST) -> Callable[..., Any]:
    files = components.read(name)
    component = st.components.v2.component(
        f"bpeviz_{name}",
        html=files.html,
        css=files.css,
        js=files.script + host,
        isolate_styles=has_own_style,
    )

    def draw(data: dict[str, Any], **options: Any) -> Any:
        return component(data=as_json(data), **options)

    return draw


_player = _register("player", host=_HOST_ONCE)
_player_events = _register("player_events")
_columns = _register("columns")
_grid = _register("grid")
_race = _register("race")
_merge_diagram = _register("merge_diagram")
_copy_link = _register("copy_link")
_texts_table = _register("texts_table", has_own_style=False)
_text_box = _register("text_box")
_answer = _register("answer")
_chapter_bar = _register("chapter_bar")
_frame = _register("frame")
_picture = _register("picture", host=_HOST_ONCE)
_tab_state = _register("tab_state")

LINKED_STEP = "linked_step"
"""The session key of the step of a link that was opened, and of the timeline it belongs to."""


def frame(title: str) -> None:
    """Add the parts of a page's frame that Streamlit cannot draw (`bpeviz.ui.page`).

    These are landmarks, the current page in the menu, the target of the skip link, on narrow
    screens a button that unfolds the inputs, and the limit of Streamlit's own boxes.

    Args:
        title: The page's title in the menu.
    """
    _frame(key="frame", data={"title": title, "longest": limits.BOX})


def tab_state(data: dict[str, Any], key: str) -> None:
    """Store the state of the tab in the browser, or ask for it (`bpeviz.ui.tab_state`).

    The answer is in the session under `key`, as "restored".
    """
    _tab_state(key=key, data=data, default={"restored": None}, on_restored_change=lambda: None)


def player(payload: dict[str, Any], key: str, on_way: Callable[[str], None] | None = None) -> int:
    """Show one timeline, or several side by side (`bpeviz.views.player.payload`).

    The first timeline shown after a link was opened begins at the link's step. Return the step at
    which a player begins that has not shown this timeline before.

    Args:
        payload: The payload.
        key: The key of the session.
        on_way: Is called with the key of a pressed button of the remark, before the script runs
            again.
    """

    def pressed() -> None:
        if on_way is not None:
            on_way(str(st.session_state[key]["way"]))

    linked = st.session_state.get(LINKED_STEP)
    if linked is not None and linked["timelineId"] in (None, payload["timelineId"]):
        linked["timelineId"] = payload["timelineId"]
        payload = payload | {"initialStep": min(linked["step"], payload["last"])}
    _player(key=key, data=payload, on_way_change=pressed)
    initial: int = payload["initialStep"]
    return initial


def copy_link(answer: dict[str, Any], key: str) -> None:
    """Draw the buttons that copy a link or the code of a frame, and that ask for its QR code.

    A press stores "request" in the session, {"number", "page", "step", "qr"}, and the calling
    fragment runs again. It then passes the answer for that number.

    Args:
        answer: The number of the last request, "request"; its values, "packed"; the page's address
            as others reach it, "page", or ""; whether to offer the code of a frame,
            "isEmbeddable".
        key: The key of the session.
    """
    _copy_link(key=key, data=answer, default={"request": 0}, on_request_change=lambda: None)


def player_events(
    jump: dict[str, int] | None,
    key: str,
    *,
    steps: bool = True,
    words: bool = False,
    parts: bool = False,
    drawn: bool = False,
) -> dict[str, Any]:
    """Return the player's step and the word clicked last, and send the player to a step.

    Whenever one changes, the calling fragment runs again. While playing, the step is not reported.

    Args:
        jump: {"step", "number"}, the step to go to; a repeated number is ignored.
        key: The component's key.
        steps: Whether to report steps.
        words: Whether to report clicked words.
        parts: Whether to report parts of a long text that the user opens.
        drawn: Whether to report that columns are drawn.

    Returns:
        "step": {"step", "timelineId"}, or None before the player's first report; "word":
        {"word", "number"} with the number of the click, or None; "part": likewise {"character",
        "number"} with a character of the part; "drawn": whether columns are drawn.
    """
    result = _player_events(
        key=key,
        data={"jump": jump, "name": key}
        | {"steps": steps, "words": words, "parts": parts, "drawn": drawn},
        default={"step": None, "word": None, "part": None, "drawn": False},
        on_step_change=lambda: None,
        on_word_change=lambda: None,
        on_part_change=lambda: None,
        on_drawn_change=lambda: None,
    )
    return {name: result[name] for name in ("step", "word", "part", "drawn")}


def race(races: list[dict[str, Any]] | None) -> None:
    """Send the candidates of the steps (`bpeviz.views.race.payload`) to the player, or none yet.

    There is one payload for each text of the player. The calling fragment runs again when
    `race_is_watched` changes.
    """
    data = None if races is None else {"races": races}
    _race(key="race", data=data, default={"watched": None}, on_watched_change=lambda: None)


def race_is_watched(timeline: str) -> bool:
    """Return whether the player of a timeline has left the step that it showed at first."""
    return (st.session_state.get("race") or {}).get("watched") == timeline


def columns(data: dict[str, Any], key: str) -> None:
    """Show a text in columns (`bpeviz.views.player.side_by_side`)."""
    _columns(key=key, data=data)


def grid(data: dict[str, Any], key: str) -> dict[str, Any] | None:
    """Show a text from characters to ids (`bpeviz.views.inspection.grid`).

    Return the token pressed last, {"id", "number"}: each press has another number.
    """
    result = _grid(key=key, data=data, default={"token": None}, on_token_change=lambda: None)
    token: dict[str, Any] | None = result.token
    return token


def picture(data: dict[str, Any], key: str) -> None:
    """Show the button that saves a colored text, or a slide with its buttons (`pictures`).

    For one run, the session then has under `key` the frames of a GIF, "drawn": {"number",
    "frames", "key"}.
    """
    _picture(key=key, data=data, on_drawn_change=lambda: None)


def merge_diagram(data: dict[str, Any], key: str) -> None:
    """Show the merge diagram of a short text (`bpeviz.views.merge_diagram.merge_diagram_payload`).

    With "timelineId" in `data`, it shares the step with the player of that timeline.
    """
    _merge_diagram(key=key, data=data)


def texts_table(
    data: dict[str, Any], key: str, on_opened: Callable[[], None], on_sorted: Callable[[], None]
) -> None:
    """Show a table of texts under tokenizers (`bpeviz.views.text_table.payload`).

    Under `key`, the session then has the cell pressed last, "opened": {"text", "tokenizer",
    "number"}, of which the tokenizer is None for the name of a text; and the order of the rows,
    "sorted": {"column", "isAscending"}.

    Args:
        data: The payload.
        key: The key of the session.
        on_opened: Is called after a press on a cell, before the script runs again.
        on_sorted: Is called after a press on a head.
    """
    _texts_table(
        key=key,
        data=data,
        default={"opened": None, "sorted": None},
        on_opened_change=on_opened,
        on_sorted_change=on_sorted,
    )


def text_box(data: dict[str, Any], key: str, on_change: Callable[[], None]) -> Any:
    """Show a text box with samples to choose from (`bpeviz.ui.inputs.text.TextSource`).

    Return the user's last change, {"number", "sample", "text"}, or None. A change of another number
    calls `on_change` before the script runs again.
    """
    default = {"change": None}
    return _text_box(key=key, data=data, default=default, on_change_change=on_change).change


def answer(data: dict[str, Any], key: str) -> Any:
    """Ask a question and show its result (`bpeviz.ui.learn.base.Question.payload`).

    Return the user's answer, {"number", "of", "value", "again"}, or None. “Show me” has the value
    None, and “Try again” the true value "again"; each press has another number.
    """
    result = _answer(key=key, data=data, default={"answer": None}, on_answer_change=lambda: None)
    return result.answer


def chapter_bar(data: dict[str, Any], key: str, on_change: Callable[[], None]) -> None:
    """Show the chapters of the Learn page, and store the user's answers and marks in the browser.

    The session then has the chapter pressed last, {"key", "number"}, and the progress that the
    browser restores, as JSON, under `key`. A change calls `on_change` before the script runs again.
    """
    _chapter_bar(
        key=key,
        data=data,
        default={"chapter": None, "restored": None},
        on_chapter_change=on_change,
        on_restored_change=on_change,
    )
