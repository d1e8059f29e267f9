"""The page's own components: each a markup, a style and a script beside this file.

`cells` is shared: text drawn as cells, and the colors of tokens. Register once, at import; the
files are read then, so after editing them the server has to be started anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


def _read(*names: str) -> str:
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)


def _drawn(name: str, *scripts: str) -> Any:
    return st.components.v2.component(
        f"bpeviz_{name}",
        html=_read(f"{name}.html"),
        css=_read("cells.css", f"{name}.css"),
        js=_read("cells.js", *scripts, f"{name}.js"),
    )


_player = _drawn("player", "events.js", "film.js")
_columns = _drawn("columns")
_follower = st.components.v2.component("bpeviz_follower", js=_read("events.js", "follower.js"))


_link = _drawn("link", "events.js")

LINKED_STEP = "linked_step"
"""Where the session keeps the step that a link brought, and to which timeline it belongs."""


def player(payload: dict[str, Any], key: str) -> None:
    """Show a timeline, or several side by side (`bpeviz.views.player.payload`). `follower` tells where it is.

    The first timeline that is shown after a link was opened begins at the step which that brought.
    """
    linked = st.session_state.get(LINKED_STEP)
    if linked is not None and linked["film"] in (None, payload["film"]):
        linked["film"] = payload["film"]
        payload = payload | {"opening": min(linked["step"], payload["last"])}
    _player(key=key, data=payload)


def link(made: dict[str, Any], key: str) -> None:
    """Show the button that copies a link: {"number", "packed"}.

    When it is pressed, the session's `key` holds {"asked": number}, and the fragment that called
    this runs again. It then gives what is packed for that number.
    """
    _link(key=key, data=made, default={"asked": 0}, on_asked_change=lambda: None)


def follower(
    jump: dict[str, int] | None, key: str, *, steps: bool = True, picks: bool = False
) -> dict[str, Any]:
    """Follow the player: return where it stands and which word was clicked last.

    "step" is {"step", "timeline"}, or None before the player has told; "word" is {"word", "number"},
    with the number of the click, or None. Whenever one changes, the fragment that called this runs
    again, at most once a second while the player plays.

    jump: {"step", "number"}: send the player to a step; each number once. steps, picks: whether
    steps, and clicked words, are wanted.
    """
    result = _follower(
        key=key,
        data={"jump": jump, "name": key, "steps": steps, "picks": picks},
        default={"step": None, "word": None},
        on_step_change=lambda: None,
        on_word_change=lambda: None,
    )
    return {"step": result.step, "word": result.word}


def columns(data: dict[str, Any], key: str) -> None:
    """Show a text in columns (`bpeviz.views.player.side_by_side`)."""
    _columns(key=key, data=data)


_grid = _drawn("grid")
_picture = _drawn("picture", "events.js")


def grid(data: dict[str, Any], key: str) -> dict[str, Any] | None:
    """Show a text from characters to ids (`bpeviz.analysis.trace.grid`).

    Return the token that was pressed last, {"id", "number"}: each press has another number.
    """
    result = _grid(key=key, data=data, default={"token": None}, on_token_change=lambda: None)
    token: dict[str, Any] | None = result.token
    return token


def picture(data: dict[str, Any], key: str) -> None:
    """Show the whole timeline of a short text in one picture (`bpeviz.views.merge_diagram.merge_diagram_payload`).

    With "timeline" in `data`, its rule and the player that shows this timeline go together.
    """
    _picture(key=key, data=data)
