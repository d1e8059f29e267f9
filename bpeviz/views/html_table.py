"""A table as HTML, for a page or a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import escape

_NAME = re.compile(r"[A-Z]{2,}-\d\w?")
"""A name such as GPT-2, which should not wrap at its hyphen."""

_LONG = 24
"""Texts with more characters than this are long: on a narrow screen, they get more room."""


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
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

    def row(cells: Sequence[str], tag: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        found = []
        for name, cell in zip(header, cells, strict=True):
            looks = "right" if name in right else "long" if len(cell) > _LONG else ""
            text = _NAME.sub(r'<span class="unbroken">\g<0></span>', escape(cell))
            found.append(f'<{tag}{scope} class="{looks}"><bdi>{text}</bdi></{tag}>')
        return "".join(found)

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    frame = "facts-frame scrolls" if scrolls else "facts-frame"
    return (
        f'<div class="{frame}" tabindex="0" role="group" aria-label="{escape(label)}">'
        f'<table class="facts"><thead><tr>{row(header, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
