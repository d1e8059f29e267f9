"""The components: markup, style and script, one folder each, for any page that draws them.

A component's script defines `mount(root, data, on)`; the [README](README.md) explains this
interface. Streamlit is one host of it (`bpeviz.ui.components`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bpeviz import palette
from bpeviz.components.modules import bundle

FOLDER = Path(__file__).parent

_STYLES = {"picture": ("columns", "merge_diagram")}
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
    script = bundle(folder / f"{name}.js")
    markup = folder / f"{name}.html"
    if not markup.exists():
        return Component(None, None, script)
    drawn = [FOLDER / other / f"{other}.css" for other in _STYLES.get(name, ())]
    styles = (FOLDER / "shared" / "cells.css", *drawn, folder / f"{name}.css")
    css = "\n".join(path.read_text(encoding="utf-8") for path in styles)
    css = palette.style(":host", in_host=True) + palette.hue_classes() + css
    return Component(markup.read_text(encoding="utf-8"), css, script)
