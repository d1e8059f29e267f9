"""SVG drawings of slides: 1920 by 1080 pixels, in light or dark colors.

The browser draws PNG files and the frames of a GIF from them. User text is escaped.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import log1p, sqrt
from typing import Any

from wcwidth import wcswidth

from bpeviz.palette import DARK, LIGHT, Theme
from bpeviz.text import counted, distinct, shorten, visible
from bpeviz.views.credit import credit
from bpeviz.views.export import (
    CELL,
    ROW,
    Lines,
    Placed,
    Rows,
    legend_of,
    row_height,
    row_style,
    rows_of,
    xml,
)
from bpeviz.views.slides import DIAGRAM, LABEL, TABLE, TEXT, Cell, Grid, Slides

WIDTH, HEIGHT = 1920, 1080
_LEFT, _WIDE = 72, 1776
_TOP, _HIGH = 220, 700  # of the content
_GAP, _HEADS = 48, 90  # between columns; the titles of columns
_SCALE, _AXIS, _TITLE, _END = 90, 76, 40, 44  # of the merge diagram
_LARGEST, _SMALLEST = 5.5, 1.6  # scales of the text
_MOST = 2_600
"""The most characters on a slide: more do not fit at the smallest scale."""

_COLUMNS = 4
"""The most columns on a slide."""


@dataclass(frozen=True)
class Look:
    """How a slide looks.

    Attributes:
        content: `TEXT`, `DIAGRAM` or `TABLE`.
        is_dark: Whether its colors are those of the dark theme.
        is_filled: Whether it has a background.
        link: The address that opens it again, or "".
    """

    content: str = TEXT
    is_dark: bool = False
    is_filled: bool = True
    link: str = ""


def svg(slides: Slides, step: int, look: Look) -> str:
    """Return the slide of a step."""
    return next(frames(slides, [step], look))


def frames(
    slides: Slides, steps: Sequence[int], look: Look, steady: Sequence[int] | None = None
) -> Iterator[str]:
    """Yield the slides of some steps, on which a text has the same place.

    Args:
        slides: The contents to draw.
        steps: The steps.
        look: How the slides look.
        steady: All steps of the animation; by default `steps`.
    """
    steady = steps if steady is None else steady
    layout = _layout(slides, steady) if look.content == TEXT else None
    for step in steps:
        yield _Slide(slides, step, look, layout).svg()


@dataclass(frozen=True)
class _Layout:
    """The place of a text on a slide.

    Attributes:
        columns: The number of columns.
        scale: The scale of the text.
        shown: The number of characters.
        wide: For each column, the ends of tokens for which graphemes leave room.
    """

    columns: int
    scale: float = _LARGEST
    shown: int = _MOST
    wide: Sequence[Collection[int]] = ()

    @property
    def width(self) -> float:
        """The width of a column in pixels."""
        return (_WIDE - (self.columns - 1) * _GAP) / self.columns

    @property
    def height(self) -> int:
        """The height of a column in pixels, below its title."""
        return _HIGH - (_HEADS if self.columns > 1 else 0)

    def rows(self, column: Lines) -> list[list[Placed]]:
        """Return the rows of a column."""
        cells = int(self.width / (CELL * self.scale))
        return [row for line in column.lines for row in rows_of(line, cells)]


def _layout(slides: Slides, steps: Sequence[int]) -> _Layout:
    """Return the layout with the largest text that fits at all steps, or that has to be cut."""
    wide = slides.ends(steps, _MOST) if len(steps) > 1 else ()
    columns = slides.columns(steps[0], _MOST, wide)[:_COLUMNS]
    layout = _Layout(len(columns), wide=wide)
    graphemes = max(sum(map(len, column.lines)) for column in columns)
    # At this scale, graphemes of one cell would need half of the room.
    scale = sqrt(2 * layout.width * layout.height / (CELL * ROW * max(1, graphemes)))
    while True:
        layout = replace(layout, scale=min(_LARGEST, max(_SMALLEST, scale)))
        rows = [layout.rows(column) for column in columns]
        if max(sum(map(row_height, each)) for each in rows) * layout.scale <= layout.height:
            return layout
        if scale <= _SMALLEST:
            return replace(layout, shown=min(_fitting(each, layout) for each in rows))
        scale = min(_LARGEST, scale) * 0.94


def _fitting(rows: Sequence[Sequence[Placed]], layout: _Layout) -> int:
    """Return the number of characters of the rows that fit."""
    heights = accumulate(row_height(row) * layout.scale for row in rows)
    return sum(
        len(placed.grapheme.text)
        for row, height in zip(rows, heights, strict=True)
        for placed in row
        if height <= layout.height
    )


class _Slide:
    """Draws a slide."""

    def __init__(self, slides: Slides, step: int, look: Look, layout: _Layout | None) -> None:
        self.slides, self.step, self.look, self.layout = slides, step, look, layout
        self.theme: Theme = DARK if look.is_dark else LIGHT
        self.parts: list[str] = []
        self.notes: list[str] = []

    def svg(self) -> str:
        slides, step, theme = self.slides, self.step, self.theme
        self.words(_LEFT, 112, shorten(slides.heading(step), 70), 46, weight=700)
        self._sentence(slides.sentence(step))
        {TEXT: self._text, DIAGRAM: self._diagram, TABLE: self._tables}[self.look.content]()
        self.words(_LEFT, 968, slides.numbers(step), 32)
        for number, line in enumerate(textwrap.wrap(" ".join(self.notes), 160)[:2]):
            self.words(_LEFT, 1004 + 26 * number, line, 20, theme.quiet)
        self.words(_LEFT, 1060, shorten(" · ".join(slides.settings), 110), 20, theme.quiet)
        credited = credit(self.look.link)
        self.words(_LEFT + _WIDE, 1060, credited, 20, theme.quiet, "end", are_markup=True)
        paper = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{theme.background}"/>\n'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
            f"<title>{xml(visible(slides.heading(step)))}</title>\n"
            f"<style>{row_style(theme)}text.w{{font-family:system-ui,sans-serif}}"
            f".new{{stroke-width:{4 / (self.layout.scale if self.layout else 1):.3g}}}"
            "a{text-decoration:underline}</style>\n"
            + paper * self.look.is_filled
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )

    def words(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        fill: str = "",
        anchor: str = "start",
        weight: int = 400,
        *,
        are_markup: bool = False,
    ) -> None:
        """Write words, or markup, on their baseline."""
        if not words:
            return
        # A style, since the class of all texts would override an attribute.
        style = (
            f"font-size:{size:g}px;font-weight:{weight};fill:{fill or self.theme.text};"
            f"text-anchor:{anchor}"
        )
        written = words if are_markup else xml(visible(words))
        self.parts.append(f'<text class="w" x="{x:g}" y="{y:g}" style="{style}">{written}</text>')

    def _token(self, x: float, y: float, label: str, color: int, size: float) -> float:
        """Draw a token with its baseline at y; return its width."""
        wide = max(1, wcswidth(label)) * 0.6 * size
        box = wide + 0.5 * size
        fill = self.theme.fills[color] if color >= 0 else "none"
        self.parts.append(
            f'<rect x="{x:g}" y="{y - size:g}" width="{box:g}" height="{1.4 * size:g}" '
            f'fill="{fill}" stroke="{self.theme.quiet}"/>'
            f'<text x="{x + box / 2:g}" y="{y:g}" style="font-size:{size:g}px" '
            f'textLength="{wide:g}" lengthAdjust="spacingAndGlyphs">{xml(label)}</text>'
        )
        return box

    def _sentence(self, sentence: Sequence[Cell]) -> None:
        x = float(_LEFT)
        for cell in sentence:
            if isinstance(cell, tuple):
                x += self._token(x, 180, *cell, 32) + 16
            else:
                room = max(20, int((_LEFT + _WIDE - x) / 16))
                self.words(x, 180, shorten(cell, room), 30)
                x += max(30, 14 * len(cell)) + 16

    def _text(self) -> None:
        layout = self.layout
        assert layout is not None  # noqa: S101, of every text
        slides = self.slides
        columns = slides.columns(self.step, layout.shown, layout.wide)
        first, total = slides.characters
        if len(columns) > _COLUMNS:
            self.notes.append(f"{_COLUMNS} of {len(columns)} columns are shown.")
        columns = columns[:_COLUMNS]
        shown = sum(len(run.text) for line in columns[0].lines for run in line) if columns else 0
        if shown < total:
            self.notes.append(
                f"Characters {first + 1:,} to {first + shown:,} of {total:,} are shown."
            )
        self.notes += legend_of(columns)
        heads = distinct(shorten(column.title, 30) for column in columns)
        for number, column in enumerate(columns):
            x, y = _LEFT + number * (layout.width + _GAP), _TOP
            if len(columns) > 1:
                self.words(x, y + 10, heads[number], 32, weight=600)
                self.words(x, y + 52, column.note, 22, self.theme.quiet)
                y += _HEADS
            drawn = Rows()
            height = 0
            for row in layout.rows(column):
                height += drawn.row(row, 0, height)
            self.parts.append(
                f'<g transform="translate({x:g} {y}) scale({layout.scale:.4g})">{drawn.svg()}</g>'
            )

    def _tables(self) -> None:
        grids = self.slides.tables(self.step)
        several = len(grids) > 1
        if len(grids) > _COLUMNS:
            self.notes.append(f"{_COLUMNS} of {len(grids)} tables are shown.")
        grids = grids[:_COLUMNS]
        width = (_WIDE - (len(grids) - 1) * _GAP) / max(1, len(grids))
        heads = distinct(shorten(grid.title, 30) for grid in grids)
        for number, grid in enumerate(grids):
            x, y = _LEFT + number * (width + _GAP), _TOP
            if several:
                self.words(x, y + 10, heads[number], 32, weight=600)
                y += 40
            self._grid(grid, x, y, width)

    def _grid(self, grid: Grid, x: float, y: float, width: float) -> None:
        theme = self.theme
        line = 46
        most = int(_TOP + _HIGH - y - 60) // line
        rows = grid.rows[-most:] if grid.is_current else grid.rows[:most]
        if len(rows) < len(grid.rows):
            name = grid.names[0] if grid.is_current else "row"
            self.notes.append(f"{len(rows)} of {counted(len(grid.rows), name)} are shown.")
        if not rows:
            self.words(x, y + 80, grid.empty, 28, theme.quiet)
        sizes = [
            max(
                [wcswidth(name) + 1]
                + [max(1, wcswidth(_words_of(row[i]))) + (row[i] != "" and 1) for row in rows]
            )
            for i, name in enumerate(grid.names)
        ]
        sizes = [min(size, LABEL + 4) for size in sizes]
        gap = 3
        size = min(30.0, width / (0.62 * (sum(sizes) + gap * (len(sizes) - 1))))
        places, at = [], x
        for characters in sizes:
            places.append(at)
            at += (characters + gap) * 0.62 * size
        right = [
            bool(rows)
            and all(isinstance(row[i], str) and _is_figure(_words_of(row[i])) for row in rows)
            for i in range(len(sizes))
        ]
        end = at - gap * 0.62 * size

        def word(i: int, words: str, y: float, weight: int, fill: str) -> None:
            place = places[i] + sizes[i] * 0.62 * size if right[i] else places[i]
            limited = shorten(words, sizes[i] + 2)
            anchor = "end" if right[i] else "start"
            self.words(place, y, limited, size, fill, anchor, weight)

        for i, name in enumerate(grid.names):
            word(i, name, y + 40, 600, theme.quiet)
        self.rule(x, end, y + 54, theme.quiet)
        for number, row in enumerate(rows):
            below = y + 54 + (number + 1) * line - 12
            is_current = grid.is_current and number == len(rows) - 1
            if is_current:
                self.parts.append(
                    f'<rect x="{x - 14:g}" y="{below - 34:g}" width="{end - x + 28:g}" '
                    f'height="{line:g}" fill="none" stroke="{theme.accent}" stroke-width="3"/>'
                )
            for i, cell in enumerate(row):
                if isinstance(cell, tuple):
                    self._token(places[i], below, *cell, min(size, 28))
                else:
                    word(i, cell, below, 600 if is_current else 400, theme.text)

    def rule(self, x1: float, x2: float, y: float, stroke: str, width: float = 1) -> None:
        """Draw a horizontal line."""
        self.parts.append(
            f'<line x1="{x1:g}" x2="{x2:g}" y1="{y:g}" y2="{y:g}" stroke="{stroke}" '
            f'stroke-width="{width:g}"/>'
        )

    def _diagram(self) -> None:
        data = self.slides.diagram
        if data is not None:
            _Diagram(self, data).draw()


class _Diagram:
    """Draws a merge diagram: steps run up from the text, and down for a second tokenizer."""

    def __init__(self, slide: _Slide, data: Mapping[str, Any]) -> None:
        self.slide, self.data, self.theme = slide, data, slide.theme
        self.steps = slide.slides.own_steps(slide.step)
        sides = data["sides"]
        self.last: int = max(1, *(side["stepCount"] for side in sides))
        self.side = _HIGH - _AXIS - _TITLE if len(sides) == 1 else (_HIGH - _AXIS) // 2 - _TITLE
        self.text = _TOP + _TITLE + self.side
        self.column: float = min(80.0, (_WIDE - _SCALE - 20) / max(1, data["columnCount"]))

    def draw(self) -> None:
        """Draw it."""
        slide, theme = self.slide, self.theme
        for side, direction in zip(self.data["sides"], (-1, 1), strict=False):
            self._side(side, direction)
        for first, end, sign, cells in self.data["signs"]:
            x, wide = self._x((first + end) / 2), (end - first) * self.column
            ems = 0.6 * max(1, wcswidth(sign))
            size = min(34, max(10, (wide - 2) / ems))
            self._mono(x, self.text + 36, sign, size, theme.text)
            if len(cells) > 1:
                for column, name in cells:
                    small = min(17, (self.column - 2) / 1.2)
                    self._mono(self._x(column + 0.5), self.text + 62, name, small, theme.quiet)
                slide.rule(self._x(first) + 3, self._x(end) - 3, self.text + 44, theme.quiet)
        (first, end), (_, total) = self.data["characters"], slide.slides.characters
        if end - first < total:
            slide.notes.append(
                f"The diagram shows characters {first + 1:,} to {end:,} of {total:,}."
            )
        if len(self.steps) > 2:
            slide.notes.append(f"2 of {len(self.steps)} tokenizers are shown.")

    def _side(self, side: Mapping[str, Any], direction: int) -> None:
        slide, theme, unit = self.slide, self.theme, side["unit"]
        zero = self.text if direction < 0 else self.text + _AXIS
        end = zero + direction * (self.side + (16 if direction < 0 else 34))
        slide.words(_LEFT + _SCALE, end, f"{side['title']}: {unit}s (log scale)", 22)
        right = self._x(self.data["columnCount"])
        labeled = -100.0
        ticks = [0, *(10**n for n in range(9) if 10**n < self.last), self.last]
        for tick in ticks:
            away = self._distance(tick)
            if tick not in (0, self.last) and self._distance(self.last) - away < 26:
                continue
            y = zero + direction * away
            slide.rule(_LEFT + _SCALE, right, y, theme.quiet, 0.5)
            if away - labeled >= 22:
                labeled = away
                slide.words(_LEFT + _SCALE - 12, y + 7, f"{tick:,}", 20, theme.quiet, "end")
        step = self.steps[0 if direction < 0 else 1]
        for current in (False, True):  # outlines of current tokens are drawn over their neighbors
            for first, last, since, until, token_id in side["tokens"]:
                exists = since <= step and (until < 0 or step < until)
                if exists == current:
                    low = self._distance(since)
                    high = self.side if until < 0 else self._distance(until)
                    y = zero - high if direction < 0 else zero + low
                    box = (self._x(first), y, (last - first) * self.column, high - low)
                    label, color = side["tokenStyles"].get(token_id, ("", -1))
                    self._token(box, label, color, 2 if exists else 1 if since < step else 0)
        away = self._distance(step) + (_END / 2 if step >= side["stepCount"] else 0)
        y = zero + direction * away
        slide.rule(_LEFT + _SCALE, right + 16, y, theme.accent, 4)

    def _token(
        self, box: tuple[float, float, float, float], label: str, color: int, state: int
    ) -> None:
        """Draw a token in a box; its state is 2 for current, 1 for earlier, 0 for later."""
        x, y, wide, high = box
        theme = self.theme
        fill = theme.fills[color] if color >= 0 else theme.background
        stroke, width = (theme.text, 3) if state == 2 else (theme.quiet, 1)
        self.slide.parts.append(f'<g opacity="{1 if state else 0.35}">')
        self.slide.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{max(0, high):g}" '
            f'fill="{fill}" stroke="{stroke}" stroke-width="{width}"/>'
        )
        size = min(28, (wide - 6) / (0.61 * max(1, wcswidth(label))), high - 4)
        if size >= 10:
            self._mono(x + wide / 2, y + high / 2 + size * 0.35, label, size, theme.text)
        self.slide.parts.append("</g>")

    def _mono(self, x: float, y: float, words: str, size: float, fill: str) -> None:
        self.slide.parts.append(
            f'<text x="{x:g}" y="{y:g}" style="font-size:{size:.3g}px;fill:{fill}">'
            f"{xml(words)}</text>"
        )

    def _x(self, column: float) -> float:
        return _LEFT + _SCALE + column * self.column

    def _distance(self, step: int) -> float:
        """Return the distance of a step from the text in pixels, on a logarithmic scale."""
        return float(log1p(step) / log1p(self.last) * (self.side - _END))


def _words_of(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def _is_figure(words: str) -> bool:
    return words[:1].isdigit() or words[:1] in "+−-–" or not words
