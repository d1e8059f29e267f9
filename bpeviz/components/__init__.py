"""The components: markup, style and script, one folder each, for any page that draws them.

A component's script defines `mount(root, data, on)`; the [README](README.md) explains this
interface. Streamlit is one host of it (`bpeviz.ui.components`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bpeviz import palette
from bpeviz.components.modules import bundle, bundle_all

FOLDER = Path(__file__).parent

_STYLES = {"picture": ("score", "merge_diagram")}
"""The components whose content another one draws, and whose style it needs."""


@dataclass(frozen=True)
class Component:
    """A component for its host.

    Attributes:
        html: The markup of its root element, or None if it draws nothing.
        css: The style of its root element, or None.
        script: A script that defines `mount`, without imports and exports.
    """

    html: str | None
    css: str | None
    script: str


def read(name: str) -> Component:
    """Read the component in a folder."""
    folder = FOLDER / name
    script = bundle(_entry(name))
    markup = folder / f"{name}.html"
    if not markup.exists():
        return Component(None, None, script)
    drawn = [FOLDER / other / f"{other}.css" for other in _STYLES.get(name, ())]
    styles = (*drawn, folder / f"{name}.css")
    css = shared_style() + "\n".join(path.read_text(encoding="utf-8") for path in styles)
    return Component(markup.read_text(encoding="utf-8"), css, script)


def shared_style() -> str:
    """Return the style with which that of each component begins."""
    cells = (FOLDER / "shared" / "cells.css").read_text(encoding="utf-8")
    return f"{palette.style(':host', in_host=True)}{palette.hue_classes()}{cells}\n"


def table_style() -> str:
    """Return the style of tables in HTML."""
    return (FOLDER / "shared" / "tables.css").read_text(encoding="utf-8")


def scripts(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the modules that several components share as one script, and the rest of each."""
    return bundle_all([_entry(name) for name in names])


def _entry(name: str) -> Path:
    return FOLDER / name / f"{name}.js"
