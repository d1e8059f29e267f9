"""A table with shaded and marked cells as an SVG drawing, as a page draws it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import accumulate

import wcwidth

from bpeviz.palette import LIGHT
from bpeviz.views.credit import credit
from bpeviz.views.export import xml
from bpeviz.views.table import Cell

_ROW, _MARGIN, _PAD, _LETTER = 26, 20, 12, 8.2
"""The height of a row, the margin, the padding of a cell, and the width of a letter in pixels."""

_WIDEST = 420
"""The largest width of a column of names."""

_STYLE = (
    f"text{{font:14px system-ui,sans-serif;fill:{LIGHT.text};font-variant-numeric:tabular-nums}}"
    ".title{font-size:18px}.title,.head,.best{font-weight:600}.right{text-anchor:end}"
    f".quiet{{font-size:13px;fill:{LIGHT.quiet}}}path{{stroke:{LIGHT.quiet};stroke-opacity:.4}}"
    f".shade{{fill:{LIGHT.accent}}}.frame{{fill:none;stroke:{LIGHT.text};stroke-width:2}}"
    "a{text-decoration:underline}"
)


def svg(
    title: str,
    header: Sequence[str],
    rows: Sequence[tuple[str, Sequence[Cell]]],
    notes: Sequence[str],
    link: str = "",
) -> str:
    """Return a table as an SVG drawing.

    Args:
        title: The heading.
        header: The title of the names, and those of the other columns.
        rows: The name and the cells of each row.
        notes: Sentences below the table.
        link: The address that opens it again, or "".
    """
    columns = [[cells[i].text for _, cells in rows] for i in range(len(header) - 1)]
    names = [header[0], *(name for name, _ in rows)]
    widths = [min(_WIDEST, max(map(_width, names))) + 2 * _PAD]
    widths += [
        max(map(_width, [head, *column])) + 2 * _PAD
        for head, column in zip(header[1:], columns, strict=True)
    ]
    ends = [*accumulate(widths, initial=_MARGIN)]
    width = max(ends[-1] + _MARGIN, 640)
    parts: list[str] = []

    def write(words: str, x: float, y: float, name: str = "") -> None:
        look = f' class="{name}"' if name else ""
        parts.append(f'<text{look} x="{x:.0f}" y="{y:.0f}">{xml(words)}</text>')

    def wrap(words: str, y: float, name: str, letter: float) -> float:
        for line in textwrap.wrap(words, int((width - 2 * _MARGIN) / letter)):
            write(line, _MARGIN, y, name)
            y += 20
        return y

    y = wrap(title, 34, "title", 9.5) + 4
    write(header[0], ends[0] + _PAD, y + 8, "head")
    for i, head in enumerate(header[1:], 1):
        write(head, ends[i + 1] - _PAD, y + 8, "head right")
    y += _ROW - 8
    for name, cells in rows:
        for i, cell in enumerate(cells, 1):
            box = f'x="{ends[i]:.0f}" y="{y:.0f}" width="{widths[i]:.0f}" height="{_ROW}"'
            if cell.shade:
                parts.append(f'<rect class="shade" {box} fill-opacity="{0.45 * cell.shade:.2f}"/>')
            if cell.mark:
                box = (
                    f'x="{ends[i] + 1:.0f}" y="{y + 1:.0f}" width="{widths[i] - 2:.0f}" '
                    f'height="{_ROW - 2}"'
                )
                parts.append(f'<rect class="frame" {box}/>')
            write(cell.text, ends[i + 1] - _PAD, y + 18, "best right" if cell.mark else "right")
        write(_shortened(name), ends[0] + _PAD, y + 18)
        y += _ROW
        parts.append(f'<path d="M{_MARGIN} {y - 0.5:.1f}H{ends[-1]:.0f}"/>')
    y += 24
    for note in notes:
        y = wrap(note, y, "quiet", 6.8)
    parts.append(f'<text class="quiet" x="{_MARGIN}" y="{y:.0f}">{credit(link)}</text>')
    y += 20
    drawn = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y:.0f}" '
        f'viewBox="0 0 {width:.0f} {y:.0f}" role="img">\n<title>{xml(title)}</title>\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect width="{width:.0f}" height="{y:.0f}" fill="#fff"/>\n{drawn}\n</svg>\n'
    )


def _width(words: str) -> float:
    """Return the width of words in pixels, at most."""
    return _LETTER * wcwidth.width(words)


def _shortened(name: str) -> str:
    """Return as much of a name as its column can show."""
    if _width(name) <= _WIDEST:
        return name
    return f"{wcwidth.clip(name, 0, int(_WIDEST / _LETTER) - 1)}…"
