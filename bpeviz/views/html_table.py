"""A table as HTML, for a page or a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

_NAME = re.compile(r"[A-Z]{2,}-\d\w?")
"""A name such as GPT-2, which should not wrap at its hyphen."""

_LONG = 24
"""Texts with more characters than this are long: on a narrow screen, they get more room."""


class Cell(NamedTuple):
    """A cell with more than a text.

    Attributes:
        text: The text.
        shade: The strength of its background, from 0 to 1.
        mark: Why it is marked, for screen readers; empty where it is not.
        value: The number to sort by, or None without one.
    """

    text: str
    shade: float = 0.0
    mark: str = ""
    value: float | None = None


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str | Cell]],
    *,
    label: str = "Table",
    right: Collection[str] = (),
    scrolls: bool = True,
) -> str:
    """Return a table as HTML, with escaped texts. The page or file has the style of its classes.

    Args:
        header: The names of the columns.
        rows: The texts of the cells.
        label: The accessible name.
        right: The names of right-aligned columns.
        scrolls: Whether the table scrolls if it is high.
    """

    def row(cells: Sequence[str | Cell], tag: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        found = []
        for name, content in zip(header, cells, strict=True):
            cell = content if isinstance(content, Cell) else Cell(content)
            looks = "right" if name in right else "long" if len(cell.text) > _LONG else ""
            style = f' style="--shade: {cell.shade:.0%}"' if cell.shade else ""
            looks += " shaded" * bool(style) + " marked" * bool(cell.mark)
            text = _NAME.sub(r'<span class="unbroken">\g<0></span>', escape(cell.text))
            mark = f'<span class="unseen"> {escape(cell.mark)}</span>' if cell.mark else ""
            found.append(f'<{tag}{scope} class="{looks}"{style}><bdi>{text}</bdi>{mark}</{tag}>')
        return "".join(found)

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    frame = "facts-frame scrolls" if scrolls else "facts-frame"
    return (
        f'<div class="{frame}" tabindex="0" role="group" aria-label="{escape(label)}">'
        f'<table class="facts"><thead><tr>{row(header, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
