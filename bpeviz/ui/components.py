"""The components on Streamlit's pages (`bpeviz.components`).

Data is sent as compressed JSON, which the component `host` reads: Streamlit 1.67 would convert a
dictionary to JSON twice, with a slower library. Compression takes about a millisecond per 100 kB,
and leaves a third.

They are registered at import, which reads their files: restart the server after editing them.
Streamlit sends the script of a component with each message. So this script only loads the
component's module, which the browser stores (`bpeviz.ui.room.component_files`). The page's head
defines `sayUnavailable` (`bpeviz.ui.server.pages`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from bpeviz import components, limits
from bpeviz.text import as_json
from bpeviz.views.control_payloads import ChapterBar, LinkedStep, Messages, TextBox
from bpeviz.views.payloads import Grid, Player, PlayerReport, Score

_LOADER = components.compact(f"""
const load = (file) => import(new URL(`./{components.PATH}/${{file}}`, document.baseURI));
export default (host) => load("{components.module("host").file}").then(
  ({{ mount }}) => mount(host, load("%s"), %s),
  () => sayUnavailable(host.parentElement),
);
""")
"""Loads the module that mounts a component, and then the component's own."""


def _register(
    name: str, *, has_own_style: bool = True, once: Sequence[str] = (), **initial: Any
) -> Callable[..., Any]:
    """Register a component; return the function that draws it.

    Args:
        name: Its folder.
        has_own_style: Whether the style of the page does not apply to it.
        once: The names of values that the session forgets after a run.
        **initial: The values that the session keeps, as they are at first.
    """
    component = st.components.v2.component(
        f"bpeviz_{name}",
        js=_LOADER % (components.module(name).file, [*once]),
        isolate_styles=has_own_style,
    )

    def draw(data: Mapping[str, object] | None, key: str, **changed: Callable[[], None]) -> Any:
        """Draw it under a key; `changed` has the callbacks of changes, by the names of values."""
        callbacks: dict[str, Any] = {}
        for value in (*initial, *once):
            callbacks[f"on_{value}_change"] = changed.get(value, lambda: None)
        return component(
            key=key, data=zlib.compress(as_json(data), 1), default=initial or None, **callbacks
        )

    return draw


_player = _register("player", report=None, once=["way", "answer"])
_grid = _register("grid", once=["token"])
_text_box = _register("text_box", change=None)
_messages = _register("messages", change=None)
_chapter_bar = _register("chapter_bar", chapter=None, restored=None)
_frame = _register("frame")

tab_state = _register("tab_state", restored=None)
"""Stores the state of the tab in the browser, or asks for it (`bpeviz.ui.tab_state`).

The answer is in the session under the key, as "restored".
"""

copy_link = _register("copy_link", request=0)
"""Draws the buttons that copy a link or the code of a frame, and that ask for its QR code.

A press stores "request" in the session, {"number", "page", "step", "qr"}, and the calling fragment
runs again. It then passes the answer for that number: "request"; the values of the page, "packed";
its address as others reach it, "page", or ""; and whether to offer the code of a frame,
"isEmbeddable".
"""

strip = _register("strip")
"""Shows a conversation as a model reads it (`bpeviz.views.conversation`)."""

texts_table = _register("texts_table", has_own_style=False, opened=None)
"""Shows a table of texts under tokenizers (`bpeviz.views.text_table.payload`).

Under the key, the session then has the cell pressed last, "opened": {"text", "tokenizer",
"number"}, of which the tokenizer is None for the name of a text.
"""

token_table = _register("token_table")
"""Shows a table of tokens (`bpeviz.views.token_table`).

For that of all steps, its data is {"view", "isOpen"}, where "view" is from a timeline.
"""

tour = _register("tour", once=["step"])
"""Shows the box of a guided tour beside its mark (`bpeviz.ui.learn.tours`).

For one run, the session then has under the key the number of the step to go to, "step"; 0 ends the
tour.
"""

LINKED_STEP = "linked_step"
"""The session key of the step of a link or of a tour, and of the player it belongs to."""


def frame(title: str) -> None:
    """Add the parts of a page's frame that Streamlit cannot draw (`bpeviz.ui.page`).

    These are landmarks, the current page in the menu, the target of the skip link, and the limit of
    Streamlit's own boxes.

    Args:
        title: The page's title in the menu.
    """
    _frame({"title": title, "longest": limits.BOX}, "frame")


def player(
    payload: Player,
    key: str,
    on_way: Callable[[str], None] | None = None,
    on_answer: Callable[[], None] = lambda: None,
) -> None:
    """Show one timeline, or several as rows of one score (`bpeviz.views.stage.Stage`).

    With `on_way`, the calling fragment runs again after each step at rest (`player_report`). While
    playing, the step is not reported. Texts that the browser has are not sent again.

    Args:
        payload: The payload.
        key: The key of the session.
        on_way: Is called with the key of a pressed button of the remark, before the page runs
            again.
        on_answer: Is called before the script runs again after an answer to its task, which the
            session then has under `key`, as "answer": {"of", "value"}.
    """

    def chosen() -> None:
        if on_way is not None:
            on_way(st.session_state[key]["way"])

    sent = payload.copy()
    if (linked := _linked_step(payload)) and (tour_step := linked.get("tourStep")):
        sent["tourStep"] = tour_step
    sent["initialStep"] = _first_step(payload)
    sent["isFollowed"] = on_way is not None
    if player_report(payload, key)["key"] and not payload.get("isLive"):  # one may have more steps
        sent["views"] = []
    drawn = _player(sent, key, answer=on_answer, way=chosen)
    if drawn.way is not None:
        st.rerun()


def score(payload: Score, key: str) -> None:
    """Show the rows of a text at one step (`bpeviz.views.stage.Stage.score`)."""
    _player(payload, key)


def player_report(payload: Player, key: str) -> PlayerReport:
    """Return the last report of a player about a payload, without a key if there is none."""
    report: PlayerReport | None = (st.session_state.get(key) or {}).get("report")
    if report is None or report["key"] != payload["key"]:
        return {"key": "", "step": _first_step(payload), "isLacking": False}
    return {**report, "step": min(report["step"], payload["last"])}


def _first_step(payload: Player) -> int:
    """Return the step at which a player begins: of the first one after a link, the link's."""
    linked = _linked_step(payload)
    return min(linked["step"], payload["last"]) if linked else payload["initialStep"]


def _linked_step(payload: Player) -> LinkedStep | None:
    """Return the step of a link or of a tour, if its player has this payload."""
    linked: LinkedStep | None = st.session_state.get(LINKED_STEP)
    # A text that waits for its training has no steps.
    if not linked or not payload["last"] or linked["key"] not in (None, payload["key"]):
        return None
    linked["key"] = payload["key"]
    return linked


def grid(data: Grid, key: str, on_token: Callable[[int], None]) -> None:
    """Show a text from characters to ids (`bpeviz.views.inspection.grid`).

    Args:
        data: The payload.
        key: The key of the session.
        on_token: Is called with the id of a pressed token, before the page runs again.
    """
    _grid(data, key, token=lambda: on_token(st.session_state[key]["token"]))


def text_box(data: TextBox, key: str, on_change: Callable[[], None]) -> Any:
    """Show a text box with samples to choose from (`bpeviz.ui.inputs.text.TextSource`).

    Return the user's last change, {"number", "sample", "text"}, or None. A change of another number
    calls `on_change` before the script runs again.
    """
    return _text_box(data, key, change=on_change).change


def messages(data: Messages, key: str, on_change: Callable[[], None]) -> Any:
    """Show the messages of a conversation (`bpeviz.ui.inputs.messages`); see `text_box`."""
    return _messages(data, key, change=on_change).change


def chapter_bar(data: ChapterBar, key: str, on_change: Callable[[], None]) -> None:
    """Show the chapters of the Learn page, and store the user's answers and marks in the browser.

    The session then has the chapter pressed last, {"key", "number"}, and the progress that the
    browser restores, as JSON, under `key`. A change calls `on_change` before the script runs again.
    """
    _chapter_bar(data, key, chapter=on_change, restored=on_change)
