"""The components: markup, style and script, one folder each, for any page that draws them.

A component's script defines `mount(root, data, on)`; the [README](README.md) explains this
interface. Streamlit is one host of it (`bpeviz.ui.components`).

A page of the server loads a component as a module, by an address with the hash of its content. A
file contains its script and markup.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bpeviz import palette
from bpeviz.components.modules import bundle, bundle_all

FOLDER = Path(__file__).parent

PATH = "code"
"""The path of modules, below that of a page of the server."""

_STYLES = {"room": ("player/bars.css", "player/task.css")}
"""The styles that a component needs for content that another one draws as well."""

_UNREAD = re.compile(
    r"^\s*(?://.*|/\*[\s\S]*?\*/)?\s*(?:\n|$)|^[ \t]+|(?<=[;{},)]) +(?://.*|/\*.*\*/)$",
    re.MULTILINE,
)


def compact(code: str) -> str:
    """Remove comments, empty lines and indentation: a third of scripts and styles."""
    return _UNREAD.sub("", code)


def compact_style(style: str) -> str:
    """Remove comments, and the white space that a style does not need outside of strings."""
    parts = re.split(r'("[^"]*")', compact(style))
    parts[::2] = (re.sub(r"\s*([{};])\s*|([,:])\s+", r"\1\2", part) for part in parts[::2])
    return "".join(parts)


UNAVAILABLE = compact(bundle(FOLDER / "shared" / "unavailable.js"))
"""Defines `sayUnavailable`, for pages that load modules."""

FIRST_PAINT = compact(bundle(FOLDER / "shared" / "first_paint.js"))
"""Defines `paintFirst`, for a page whose first run takes a second."""


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


@dataclass(frozen=True)
class Module:
    """A component as a JavaScript module, which exports `mount`, and its content as the default.

    The style comes with the script, so no component is ever drawn without it.

    Attributes:
        file: The name of its file, which changes with its content.
        source: The module.
        compressed: The module, compressed by gzip.
    """

    file: str
    source: bytes
    compressed: bytes


@cache
def module(name: str) -> Module:
    """Return the module of the component in a folder."""
    files = read(name)
    content = f"<style>{files.css}</style>{files.html}" if files.html is not None else ""
    exports = f"export {{ mount }};\nexport default {json.dumps(compact(content))};\n"
    source = f"{compact(files.script)}\n{exports}".encode()
    digest = hashlib.sha256(source).hexdigest()[:20]
    return Module(f"{name}-{digest}.js", source, gzip.compress(source, mtime=0))


@cache
def modules() -> dict[str, Module]:
    """Return the modules of all components, by the names of their files."""
    names = (path.stem for path in FOLDER.glob("*/*.js") if path.stem == path.parent.name)
    return {module(name).file: module(name) for name in names}


def read(name: str) -> Component:
    """Read the component in a folder."""
    folder = FOLDER / name
    script = bundle(_entry(name))
    markup = folder / f"{name}.html"
    if not markup.exists():
        return Component(None, None, script)
    drawn = [FOLDER / other for other in _STYLES.get(name, ())]
    styles = (*drawn, *sorted(folder.glob("*.css")))
    css = shared_style() + "\n".join(path.read_text(encoding="utf-8") for path in styles)
    return Component(markup.read_text(encoding="utf-8"), css, script)


def shared_style() -> str:
    """Return the style with which that of each component begins."""
    cells = (FOLDER / "shared" / "cells.css").read_text(encoding="utf-8")
    colors = palette.style(":host", in_host=True), palette.hue_classes(), palette.row_classes()
    return f"{''.join(colors)}{cells}\n"


def table_style() -> str:
    """Return the style of tables in HTML."""
    return (FOLDER / "shared" / "tables.css").read_text(encoding="utf-8")


def scripts(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the modules that several components share as one script, and the rest of each."""
    return bundle_all([_entry(name) for name in names])


def _entry(name: str) -> Path:
    return FOLDER / name / f"{name}.js"
