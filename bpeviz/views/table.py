"""A table of values, and its forms: HTML, CSV, Markdown, and aligned text."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from wcwidth import ljust, rjust, wcswidth

from bpeviz.text import without_formula

_NAME = re.compile(r"[A-Z]{2,}-\d\w?")
"""A name such as GPT-2, which should not wrap at its hyphen."""

_ATOM = re.compile(r"(##)?(◌?.|⟨[\dA-F]+⟩)")
"""The label of a token of one atom, as in `components/shared/dom.js`."""

_EXPLANATIONS = ("meaning", "why")
"""The names of last columns that explain their rows; on a narrow screen, they are below them."""

FIRST_ROWS = 10  # as in the style
"""The rows of a long table that are shown at first."""

MORE_ROWS = 5
"""So many more rows are shown at once."""

_LONG = 24
"""Texts with more characters than this are long: on a narrow screen, they get more room."""


class Cell(NamedTuple):
    """A cell with more than a text.

    Attributes:
        text: The text.
        shade: The strength of its background, from 0 to 1.
        mark: Why it is marked, for screen readers; empty where it is not.
        value: The number to sort by, or None without one.
        interval: Its 95% interval, or None where it is not known.
    """

    text: str
    shade: float = 0.0
    mark: str = ""
    value: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class TokenCell:
    """A cell with tokens, which HTML draws as in the text.

    Attributes:
        tokens: The label and the color index of each token, -1 for one without color.
        before: The words before them.
    """

    tokens: Sequence[tuple[str, int]]
    before: str = ""

    def __str__(self) -> str:
        return self.before + " | ".join(label for label, _ in self.tokens)

    def html(self) -> str:
        """Return the tokens as HTML."""
        pieces = (
            f'<bdi class="piece{" tick" * bool(_ATOM.fullmatch(label))}'
            f'{f" color{color}" * (color >= 0)}">{escape(label)}</bdi>'
            for label, color in self.tokens
        )
        return f"{escape(self.before)}{' '.join(pieces)}"


@dataclass(frozen=True)
class Table:
    """A table of plain values.

    Attributes:
        names: The names of the columns.
        columns: The values of each column: texts, numbers, None, `TokenCell`, or for HTML a `Cell`.
    """

    names: Sequence[str]
    columns: Sequence[Sequence[Any]]

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Any]]) -> Table:
        """Return a table of columns by their names."""
        return cls([*columns], [*columns.values()])

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
        """Return a table of rows."""
        return cls(names, [*zip(*rows, strict=True)] or [()] * len(names))

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The values of each row."""
        return [*zip(*self.columns, strict=True)]

    def csv(self) -> str:
        """Return the table as CSV for a spreadsheet, without cells that it takes for formulas."""
        lines: list[str] = []
        rows = (["" if _is_missing(value) else value for value in row] for row in self.rows)
        safe = (map(without_formula, row) for row in (self.names, *rows))
        # A writer quotes cells that contain a character of its line ends. So those with a semicolon
        # are quoted, at which some spreadsheets split.
        end = "\n\r;"
        csv.writer(SimpleNamespace(write=lines.append), lineterminator=end).writerows(safe)
        return "".join(f"{line.removesuffix(end)}\n" for line in lines)

    def markdown(self, left: Collection[str]) -> Iterator[str]:
        """Yield the lines of the table in Markdown; columns that are not `left` are numbers."""
        rows = [[re.sub(r"[\\|<*`\[]", r"\\\g<0>", cell) for cell in row] for row in self._texts]
        rows.insert(1, ["---" if name in left else "---:" for name in self.names])
        return (f"| {' | '.join(row)} |" for row in rows)

    def aligned(self, left: Collection[str]) -> Iterator[str]:
        """Yield the lines of the table in columns of one width; those not `left` are numbers."""
        widths = [max(map(wcswidth, column)) for column in zip(*self._texts, strict=True)]
        sides = [ljust if name in left else rjust for name in self.names]
        for row in self._texts:
            cells = zip(sides, row, widths, strict=True)
            yield "  ".join(side(cell, width) for side, cell, width in cells).rstrip()

    @property
    def _texts(self) -> list[Sequence[str]]:
        """The names, and the rows of a table of texts."""
        return [self.names, *self.rows]

    def html(
        self,
        label: str = "Table",
        *,
        right: Collection[str] = (),
    ) -> str:
        """Return the table as HTML, with escaped texts. The page or file styles its classes.

        A long table ends after `FIRST_ROWS` rows, and shows the others on demand.

        Args:
            label: The accessible name.
            right: The names of right-aligned columns of texts; those of numbers always are.
        """
        columns = zip(self.names, self.columns, strict=True)
        is_right = [name in right or _are_numbers(values) for name, values in columns]

        explains = self.names[-1] in _EXPLANATIONS

        def row(values: Sequence[Any], tag: str) -> str:
            cells = [_text(value) for value in values]
            html = [_html(*cell, tag) for cell in zip(cells, is_right, strict=True)]
            for i, value in enumerate(values):
                if isinstance(value, TokenCell):
                    html[i] = f'<td class="long">{value.html()}</td>'
            if explains and tag == "td":
                html[-1] = f'<td class="explains"><bdi>{escape(cells[-1].text)}</bdi></td>'
            return "".join(html)

        body = "".join(f"<tr>{row(values, 'td')}</tr>" for values in self.rows)
        more = len(self) - FIRST_ROWS
        unfold = f"<details><summary>{more:,} more</summary></details>" if more > MORE_ROWS else ""
        figures = f' explained" style="--figures: {len(self.names) - 2}' if explains else ""
        return (
            f'<div class="facts-frame" tabindex="0" role="group" aria-label="{escape(label)}">'
            f'<table class="facts{figures}"><thead><tr>{row(self.names, "th")}</tr></thead>'
            f"<tbody>{body}</tbody></table>{unfold}</div>"
        )


def _html(cell: Cell, is_right: bool, tag: str) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    looks = "right" if is_right else "long" if len(cell.text) > _LONG else ""
    style = f' style="--shade: {cell.shade:.0%}"' if cell.shade else ""
    looks += " shaded" * bool(style) + " marked" * bool(cell.mark)
    text = _NAME.sub(r'<span class="unbroken">\g<0></span>', escape(cell.text))
    mark = f'<span class="unseen"> {escape(cell.mark)}</span>' if cell.mark else ""
    return f'<{tag}{scope} class="{looks}"{style}><bdi>{text}</bdi>{mark}</{tag}>'


def _is_missing(value: object) -> bool:
    return value is None or value != value  # NaN differs from itself


def _are_numbers(values: Sequence[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float | np.integer) for value in known)


def _text(value: object) -> Cell:
    """Return a cell: at most four digits of a fraction, and nothing for a missing value.

    >>> [_text(value).text for value in (0.00132174, 12345.6, -1.5, 7, None)]
    ['0.001322', '12,346', '-1.5', '7', '']
    """
    if isinstance(value, Cell):
        return value
    if _is_missing(value):
        return Cell("")
    if isinstance(value, float):
        return Cell(f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}")
    return Cell(str(value))
