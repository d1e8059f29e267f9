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


def _register(name: str) -> Any:
    return st.components.v2.component(
        f"bpeviz_{name}",
        html=_read(f"{name}.html"),
        css=_read("cells.css", f"{name}.css"),
        js=_read("cells.js", f"{name}.js"),
    )


_player = _register("player")
_columns = _register("columns")


def player(film: dict[str, Any], jump: dict[str, int] | None, key: str) -> dict[str, Any] | None:
    """Show a film (`bpeviz.replay.film`); return where it stands: {"step", "film"}, or None.

    jump: {"step", "number"}: go to a step; each number is obeyed once.
    """
    result = _player(
        key=key,
        data={**film, "jump": jump, "player": key},
        default={"step": None},
        on_step_change=lambda: None,
    )
    return result.step  # type: ignore[no-any-return]


def columns(data: dict[str, Any], key: str) -> None:
    """Show a text in columns (`bpeviz.replay.side_by_side`)."""
    _columns(key=key, data=data)
