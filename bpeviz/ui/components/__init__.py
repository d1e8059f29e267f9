"""The page's own components: each a markup, a style and a script beside this file.

`cells` is shared: text drawn as cells, and the colours of tokens. Register once, at import; the
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
        js=_read(*scripts, "cells.js", f"{name}.js"),
    )


_player = _drawn("player", "events.js")
_columns = _drawn("columns")
_follower = st.components.v2.component("bpeviz_follower", js=_read("events.js", "follower.js"))


def player(film: dict[str, Any], key: str) -> None:
    """Show a film (`bpeviz.replay.film`). Where it stands, `follower` tells."""
    _player(key=key, data=film)


def follower(jump: dict[str, int] | None, key: str) -> dict[str, Any] | None:
    """Follow the player: return where it stands, {"step", "film"}, or None before it has told.

    Whenever that changes, the fragment that called this runs again, at most once a second while
    the player plays. jump: {"step", "number"}: send the player to a step; each number once.
    """
    result = _follower(
        key=key,
        data={"jump": jump, "name": key},
        default={"step": None},
        on_step_change=lambda: None,
    )
    told: dict[str, Any] | None = result.step
    return told


def columns(data: dict[str, Any], key: str) -> None:
    """Show a text in columns (`bpeviz.replay.side_by_side`)."""
    _columns(key=key, data=data)
