"""Exports of colored text: an HTML page or an SVG drawing, each self-contained.

Both show the columns of the Compare page. Nothing in a file is executed or fetched, and user text
is always escaped. Colors are those of the light theme, so that files can be printed.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate, groupby
from typing import Any

import regex
from wcwidth import wcswidth

from bpeviz.analysis import verdict
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID, Part
from bpeviz.palette import LIGHT, Theme
from bpeviz.text import character_stand_in, counted, distinct, shorten
from bpeviz.views.credit import credit
from bpeviz.views.player import side_by_side

HELD = 20_000
"""The largest size of an exported text, in bytes."""

_UNSEEN = regex.compile(r"[\p{C}\p{Z}]")
_CONTROL = regex.compile(r"[\p{Cc}\uFFFE\uFFFF]")
_LONGEST_GRAPHEME = 16  # UTF-16 units; longer graphemes are drawn by code points, as in cells.js

_LEGEND = {
    "cut": "Bytes are shown below a character with a token boundary inside.",
    "own": "A thick line is a boundary that the baseline does not have.",
    "missing": "A dotted line is a boundary that only the baseline has.",
    "unknown": "A wavy underline marks tokens that are not in the vocabulary.",
    "left-out": "Pale text is dropped: it does not become a token.",
}


@dataclass(frozen=True)
class ColoredText:
    """The colored text to export.

    text: the whole text.
    columns: tokenizers with their boundaries.
    title: the heading.
    baseline: the column that the others are compared with.
    first, last: the characters to export. At most `HELD` bytes are, and the file says so.
    settings: the settings in words.
    """

    text: str
    columns: Sequence[Column]
    title: str
    baseline: int = 0
    first: int = 0
    last: int | None = None
    hues: Hues | None = None
    settings: Sequence[str] = ()


def html(picture: ColoredText, link: str = "") -> str:
    """Return the colored text as an HTML page with columns side by side.

    Args:
        picture: The colored text.
        link: The address that opens it again, or "".
    """
    drawing = drawing_of(picture)
    body = [f"<h1>{escape(drawing.title)}</h1>"]
    body += [f"<p>{escape(about)}</p>" for about in drawing.about]
    body.append(f'<main class="{"one" if len(drawing.columns) == 1 else "several"}">')
    for column in drawing.columns:
        body.append(f"<section><h2>{escape(column.title)}</h2><p>{escape(column.note)}</p>")
        body += [f'<div dir="auto">{_html_line(line)}</div>' for line in column.lines]
        body.append("</section>")
    body.append("</main>")
    legend = [*map(escape, drawing.legend), credit(link)]
    body += [f'<p class="legend">{line}</p>' for line in legend]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        # Forbids every fetch and script.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(drawing.title)}</title>\n<style>\n{_html_style()}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def svg(picture: ColoredText, link: str = "") -> str:
    """Return the colored text as an SVG drawing.

    Args:
        picture: The colored text.
        link: The address that opens it again, or "".
    """
    return _Sheet(drawing_of(picture), link).svg()


@dataclass(frozen=True)
class _Byte:
    """A byte of the text, or a mark that is not text (with an empty `name`).

    Attributes:
        name: The byte in hexadecimal.
        token: The number of its token, from 0.
        color_index: The color index of the token, or -1.
        ends: Whether a token ends after the byte.
        own: Whether that boundary is absent in the baseline.
        missing: Whether only the baseline has a boundary after the byte.
        rest: "unknown", "left-out", or empty.
        new: Whether the token is outlined.
    """

    name: str
    token: int
    color_index: int
    ends: bool = False
    own: bool = False
    missing: bool = False
    rest: str = ""
    new: bool = False


@dataclass(frozen=True)
class _Grapheme:
    """A grapheme with its bytes.

    Attributes:
        text: Its text, or "" for a mark.
        shown: Its text on screen, which may be a stand-in.
        bytes: Its bytes.
        wide: Whether it has room for its bytes even if no token ends inside.
    """

    text: str
    shown: str
    bytes: tuple[_Byte, ...]
    wide: bool = False

    @property
    def quiet(self) -> bool:
        return self.shown != self.text

    @property
    def cut(self) -> bool:
        return any(byte.ends for byte in self.bytes[:-1])

    @property
    def last(self) -> _Byte:
        return self.bytes[-1]


@dataclass(frozen=True)
class Lines:
    """The lines of a column, with its title and a note."""

    title: str
    note: str
    lines: list[list[_Grapheme]]


@dataclass(frozen=True)
class Drawing:
    """The columns of a text, with their heading and the legend of their marks."""

    title: str
    about: list[str]
    columns: list[Lines]
    legend: list[str]


def drawing_of(picture: ColoredText) -> Drawing:
    """Return the columns of a colored text, line by line."""
    text, columns, first = picture.text, picture.columns, picture.first
    last = len(text) if picture.last is None else picture.last
    raw = text[first:last].encode()
    if len(raw) > HELD:
        raw = raw[:HELD].decode(errors="ignore").encode()
        last = first + len(raw.decode())
    start = len(text[:first].encode())
    part = Part(start, start + len(raw), first, last)
    data = side_by_side(text, columns, part, picture.baseline, hues=picture.hues)
    about = [" · ".join(picture.settings)] if picture.settings else []
    if (first, last) != (0, len(text)):
        about.append(f"Characters {first + 1:,} to {last:,} of {len(text):,}.")
    drawn = [
        colored_lines(data["text"], one, _note(data, i)) for i, one in enumerate(data["columns"])
    ]
    return Drawing(picture.title, about, drawn, legend_of(drawn))


def legend_of(columns: Sequence[Lines]) -> list[str]:
    """Return the explanations of the marks in some columns."""
    graphemes = [grapheme for one in columns for line in one.lines for grapheme in line]
    kinds = {"cut"} if any(grapheme.cut for grapheme in graphemes) else set()
    for byte in (byte for grapheme in graphemes for byte in grapheme.bytes):
        kinds |= {byte.rest} | ({"own"} if byte.own else set())
        kinds |= {"missing"} if byte.missing else set()
    return [words for kind, words in _LEGEND.items() if kind in kinds]


def _note(data: dict[str, Any], number: int) -> str:
    drawn = data["columns"][number]
    ids = [drawn["distinct"][index][0] for index in drawn["tokens"]]
    note = counted(sum(token_id != DROPPED_ID for token_id in ids), "token")
    if len(data["columns"]) == 1:
        return note
    if number == data["baseline"]:
        return f"{note}; baseline"
    differences = verdict.cut_words(len(drawn["extra"]), len(drawn["missing"]))
    return f"{note}; {differences[0].lower()}{differences[1:]}"


def _graphemes(text: str) -> Iterator[str]:
    """Yield graphemes; those with invisible characters are divided into code points."""
    for grapheme in regex.findall(r"\X", text):
        if _UNSEEN.search(grapheme) or len(grapheme.encode("utf-16-le")) > 2 * _LONGEST_GRAPHEME:
            yield from grapheme
        else:
            yield grapheme


def colored_lines(text: str, drawn: dict[str, Any], note: str, wide: Collection[int] = ()) -> Lines:
    """Return the lines of a text under a tokenizer.

    Args:
        text: The text.
        drawn: The tokens, as in the columns of `player.side_by_side`; "new" has the numbers of
            those to outline.
        note: A line below the title.
        wide: The ends of bytes, from 1, inside graphemes that get room for all their bytes.
    """
    own, missing, new = ({*drawn.get(name, ())} for name in ("extra", "missing", "new"))
    raw = text.encode()
    each: list[_Byte] = []
    marks: dict[int, list[_Grapheme]] = {}  # by the byte that precedes them
    start = 0
    tokens = zip(drawn["tokenEnds"], drawn["tokens"], strict=True)
    for number, (end, index) in enumerate(tokens):
        token_id, label, _, color_index = drawn["distinct"][index]
        rest = {UNKNOWN_ID: "unknown", DROPPED_ID: "left-out"}.get(token_id, "")
        if end == start:
            mark = _Byte("", number, color_index, ends=True, rest=rest, new=number in new)
            marks.setdefault(end, []).append(_Grapheme("", label, (mark,)))
        for at in range(start + 1, end + 1):
            looks = (at == end, at in own, at in missing)
            look = (*looks, rest, number in new)
            each.append(_Byte(f"{raw[at - 1]:02X}", number, color_index, *look))
        start = end
    lines: list[list[_Grapheme]] = [[*marks.get(0, ())]]
    at = 0
    for grapheme in _graphemes(text):
        size = len(grapheme.encode())
        shown = grapheme if len(grapheme) > 1 else character_stand_in(grapheme)
        inside = any(place in wide for place in range(at + 1, at + size))
        lines[-1].append(_Grapheme(grapheme, shown, tuple(each[at : at + size]), inside))
        at += size
        lines[-1] += marks.get(at, ())
        if grapheme == "\n":
            lines.append([])
    return Lines(drawn["title"], note, lines if lines[-1] else lines[:-1])


# HTML


def _html_style() -> str:
    color_indices = "".join(
        f".h{number} {{ background: {fill}; }}\n" for number, fill in enumerate(LIGHT.fills)
    )
    return f"""\
:root {{ color-scheme: light; }}
body {{ margin: 1.5rem; background: {LIGHT.background}; color: {LIGHT.text}; }}
body {{ font: 16px/1.5 system-ui, sans-serif; }}
body * {{ -webkit-print-color-adjust: exact; print-color-adjust: exact; }}
h1 {{ font-size: 1.3rem; margin: 0 0 .3rem; }}
h2 {{ font-size: 1.1rem; margin: .8rem 0 0; }}
p {{ margin: 0 0 .4rem; color: {LIGHT.quiet}; overflow-wrap: anywhere; }}
.several {{ display: grid; gap: 0 1.5rem; }}
.several {{ grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); }}
section {{ min-width: 0; }}
section div {{ font: 16px/1.8 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }}
section div {{ white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }}
section div {{ unicode-bidi: plaintext; break-inside: avoid-page; }}
i {{ font-style: normal; }}
.b {{ border-inline-end: 1.5px solid {LIGHT.quiet}; }}
.own {{ border-inline-end: 3px solid {LIGHT.accent}; }}
.missing {{ border-inline-end: 3px dotted {LIGHT.accent}; }}
.unknown {{ text-decoration: underline wavy {LIGHT.accent}; }}
.left-out {{ opacity: .45; }}
.q {{ color: {LIGHT.quiet}; font-size: .8em; }}
.space {{ background: radial-gradient(circle, {LIGHT.quiet} .07em, transparent .09em); }}
.tab {{ position: relative; }}
.tab::after {{ content: "→"; position: absolute; inset: 0; text-align: center; }}
.tab::after {{ line-height: 1.2; color: {LIGHT.quiet}; }}
.cut {{ display: inline-block; vertical-align: top; text-align: center; }}
.right::before, .right::after {{ content: "\\200f"; }}
.left::before, .left::after {{ content: "\\200e"; }}
.cut .strip {{ display: flex; direction: ltr; border: 1px solid {LIGHT.quiet}; }}
.cut .strip {{ font-size: .62em; line-height: 1.5; }}
.cut .strip i {{ padding: 0 .15em; }}
.legend {{ margin: .6rem 0 0; font-size: .9rem; }}
{color_indices}@page {{ margin: 12mm; }}
@media print {{ body {{ margin: 0; }} }}
"""


def _looks(byte: _Byte) -> str:
    """Return the class attribute of an element that ends with this byte."""
    names = [f"h{byte.color_index}" if byte.color_index >= 0 else "", byte.rest]
    names += ["own"] if byte.own else ["b"] if byte.ends else ["missing"] if byte.missing else []
    found = " ".join(filter(None, names))
    return f' class="{found}"' if found else ""


def _html_line(line: Sequence[_Grapheme]) -> str:
    def key(grapheme: _Grapheme) -> tuple[int, bool]:
        return grapheme.last.token, grapheme.cut

    return "".join(
        "".join(map(_html_cut, graphemes)) if cut else _html_run([*graphemes])
        for (_, cut), graphemes in groupby(line, key)
    )


def _html_cut(grapheme: _Grapheme) -> str:
    """Return a grapheme with a token boundary inside, above its bytes."""
    last = grapheme.last
    line = "own" if last.own else "b" if last.ends else "missing" if last.missing else ""
    quiet = ' class="q"' if grapheme.quiet else ""
    bare = replace(last, ends=False, own=False, missing=False)  # drawn after the whole grapheme
    strip = "".join(f"<i{_looks(byte)}>{byte.name}</i>" for byte in (*grapheme.bytes[:-1], bare))
    # An inline box has no direction, so directional marks surround it.
    side = "right" if _direction(grapheme) == "R" else "left"
    return (
        f'<span class="{side}"><span class="cut {line}"><span{quiet}>{escape(grapheme.shown)}'
        f'</span><span class="strip">{strip}</span></span></span>'
    )


def _html_run(graphemes: Sequence[_Grapheme]) -> str:
    """Return the graphemes of one token in a line."""
    parts = []
    for grapheme in graphemes:
        if grapheme.text == " ":
            part = '<i class="space"> </i>'
        elif grapheme.text == "\t":
            part = '<i class="tab">\t</i>'
        elif grapheme.quiet:
            part = f'<i class="q">{escape(grapheme.shown)}</i>'
        else:
            part = escape(grapheme.shown)
        # A boundary of the baseline inside a grapheme is drawn after it.
        missing = any(byte.missing for byte in grapheme.bytes) and grapheme is not graphemes[-1]
        parts.append(part + ('<i class="missing"></i>' if missing else ""))
    return f"<span{_looks(graphemes[-1].last)}>{''.join(parts)}</span>"


# SVG

CELL = 9  # pixels: width of a monospaced letter at this font size
_SIZE = 15
ROW, _STRIP = 25, 15  # height of a row, and of the bytes below it
_MARGIN = 20
_ONE, _SEVERAL = 96, 46  # cells per row of a single column, or of several
_GAP = 28
MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


@dataclass(frozen=True)
class Placed:
    """A grapheme in a row: first cell, number of cells, and level (odd: right to left)."""

    grapheme: _Grapheme
    at: int
    wide: int
    level: int


def _wide(grapheme: _Grapheme) -> int:
    """Return the number of cells of a grapheme."""
    if grapheme.text == "\t":
        cells = 4
    elif grapheme.quiet and len(grapheme.shown) > 1:
        cells = -(-len(grapheme.shown) * 4 // 5)  # stand-ins are smaller
    else:
        cells = max(1, wcswidth(grapheme.shown))
    has_bytes = grapheme.cut or grapheme.wide
    return max(cells, -(-len(grapheme.bytes) * 3 // 2)) if has_bytes else cells


def levels(directions: Sequence[str]) -> list[int]:
    """Return the embedding level of each grapheme of a line; odd levels run from right to left.

    This is a short form of Unicode's bidirectional algorithm (UAX #9) without explicit embeddings.
    The first letter sets the direction of the line, and numbers run from left to right.

    Args:
        directions: "L", "R", "digit", or "" for neutral graphemes.
    """
    base = 1 if next((one for one in directions if one in ("L", "R")), "L") == "R" else 0
    level = {"L": 2 * base, "R": 1}
    # Neutral graphemes beside a number use the direction of the letter before it.
    sides: list[str] = []
    strong = "LR"[base]
    for one in directions:
        if one in level:
            strong = one
        sides.append(strong if one else "")

    def latest(each: Sequence[str]) -> list[str]:
        return [*accumulate(each, lambda before, side: side or before, initial="LR"[base])][1:]

    found: list[int] = []
    for one, before, after in zip(
        directions, latest(sides), reversed(latest(sides[::-1])), strict=True
    ):
        if one == "digit":
            found.append(2 * max(base, before == "R"))
        else:
            found.append(level[before] if before == after else base)
    return found


def _direction(grapheme: _Grapheme) -> str:
    for character in grapheme.text:
        kind = unicodedata.bidirectional(character)
        if kind in ("L", "R", "AL"):
            return "L" if kind == "L" else "R"
        if kind in ("EN", "AN"):
            return "digit"
    return ""


def in_order(shown: Sequence[int]) -> list[int]:
    """Return the visual order of a row, from left to right, given the levels."""
    order = [*range(len(shown))]
    for level in range(max(shown, default=0), 0, -1):
        # From the highest level down, each stretch of that level or higher is reversed.
        turned: list[int] = []
        high = {place for place, one in enumerate(shown) if one >= level}
        for turn, stretch in groupby(order, high.__contains__):
            places = [*stretch]
            turned += places[::-1] if turn else places
        order = turned
    return order


def rows_of(line: Sequence[_Grapheme], cells: int) -> Iterator[list[Placed]]:
    """Break a line into rows, after a space if possible, and place each grapheme."""
    level = levels([_direction(grapheme) for grapheme in line])
    wide = [_wide(grapheme) for grapheme in line]
    backwards = min(level, default=0) > 0
    start = 0
    while start < len(line):
        end, used = start, 0
        while end < len(line) and (end == start or used + wide[end] <= cells):
            used += wide[end]
            end += 1
        if end < len(line):
            behind = (i + 1 for i in range(end - 1, start, -1) if line[i].text in (" ", "\t"))
            end = next((i for i in behind if i - start > (end - start) // 2), end)
        shown = level[start:end]
        # A right-to-left line begins at the right edge.
        at = max(0, cells - sum(wide[start:end])) if backwards else 0
        row = []
        for i in in_order(shown):
            row.append(Placed(line[start + i], at, wide[start + i], shown[i]))
            at += wide[start + i]
        yield row
        start = end


def has_strip(row: Sequence[Placed]) -> bool:
    """Return whether a row has room for bytes below it."""
    return any(placed.grapheme.cut or placed.grapheme.wide for placed in row)


def row_height(row: Sequence[Placed]) -> int:
    """Return the height of a row in pixels."""
    return ROW + (_STRIP if has_strip(row) else 0)


class Rows:
    """Draws rows of text, whose colors the classes of `style` define."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        # One path per kind of line keeps the file small.
        self._paths: dict[str, list[str]] = {
            "b": [],
            "own": [],
            "missing": [],
            "unknown": [],
            "new": [],
        }

    def svg(self) -> str:
        """Return what is drawn, without its frame and its style."""
        lines = [f'<path class="{name}" d="{"".join(d)}"/>' for name, d in self._paths.items() if d]
        return "\n".join([*self.parts, *lines])

    def row(self, row: Sequence[Placed], x: int, y: int) -> int:
        """Draw a row; return its height."""
        low = y + ROW - 4

        def same(placed: Placed) -> tuple[Any, ...]:
            grapheme = placed.grapheme
            apart = grapheme.cut or grapheme.quiet or len(grapheme.bytes[0].name) == 0
            return grapheme.last.token, placed.level, apart, id(grapheme) if apart else 0

        def token(placed: Placed) -> tuple[int, bool]:
            return placed.grapheme.last.token, placed.grapheme.cut

        for (_, parted), group in groupby(row, token):
            run = [*group]
            last = run[0].grapheme.last
            color_index = last.color_index
            left, wide = x + run[0].at * CELL, sum(one.wide for one in run) * CELL
            if last.new and not parted:
                self._ring(left, y, wide, ROW - 4)
            if color_index >= 0 and not parted:
                self.parts.append(
                    f'<rect class="h{color_index}" x="{left}" y="{y}" width="{wide}" '
                    f'height="{ROW - 4}"/>'
                )
        for _, group in groupby(row, same):
            self._text([*group], x, y)
        for placed in row:
            left, right = x + placed.at * CELL, x + (placed.at + placed.wide) * CELL
            self._line(placed.grapheme.last, left if placed.level % 2 else right, y, low)
            if placed.grapheme.cut:
                self._bytes(placed, left, right, low)
                continue
            if any(byte.missing for byte in placed.grapheme.bytes[:-1]):
                self._paths["missing"].append(f"M{(left + right) // 2} {y}V{low}")
            if placed.grapheme.last.rest == "unknown":
                wave = "".join("l2.25-3l2.25 3" for _ in range(2 * placed.wide))
                self._paths["unknown"].append(f"M{left} {low - 1}{wave}")
        return row_height(row)

    def _line(self, byte: _Byte, x: int, y: int, low: int) -> None:
        name = "own" if byte.own else "b" if byte.ends else "missing" if byte.missing else ""
        if name:
            # A thin line between two pixels would be blurred.
            self._paths[name].append(f"M{x - 0.5 if name == 'b' else x} {y}V{low}")

    def _ring(self, x: float, y: int, width: float, height: int) -> None:
        self._paths["new"].append(f"M{x + 1:g} {y + 1}h{width - 2:g}v{height - 2}h{2 - width:g}z")

    def _text(self, run: Sequence[Placed], x: int, y: int) -> None:
        """Write neighboring graphemes with the same style."""
        level = run[0].level
        grapheme = run[0].grapheme
        shown = "".join(one.grapheme.shown for one in (reversed(run) if level % 2 else run))
        wide = sum(one.wide for one in run) * CELL
        names = " ".join(
            filter(None, ("q" if grapheme.quiet else "", grapheme.last.rest * (not grapheme.cut)))
        )
        looks = f' class="{names}"' if names else ""
        if level % 2:
            looks += ' direction="rtl"'
        if len(run) > 1:
            # Text fills its cells in every font, and joined letters remain joined.
            adjust = "spacingAndGlyphs" if level % 2 else "spacing"
            looks += f' textLength="{wide}" lengthAdjust="{adjust}"'
        middle = x + run[0].at * CELL + wide / 2
        self.parts.append(f'<text{looks} x="{middle:g}" y="{y + 16}">{xml(shown)}</text>')

    def _bytes(self, placed: Placed, left: int, right: int, y: int) -> None:
        """Draw the bytes of a grapheme below it, side by side."""
        each = placed.grapheme.bytes
        wide = (right - left) / len(each)
        for number, byte in enumerate(each):
            at = left + number * wide
            if byte.color_index >= 0:
                self.parts.append(
                    f'<rect class="h{byte.color_index}" x="{at:g}" y="{y}" width="{wide:g}" '
                    f'height="{_STRIP - 2}"/>'
                )
            self.parts.append(
                f'<text class="byte" x="{at + wide / 2:g}" y="{y + 10}">{byte.name}</text>'
            )
            if byte.new:
                self._ring(at, y, wide, _STRIP - 2)
            if number < len(each) - 1:
                self._line(byte, int(at + wide), y, y + _STRIP - 2)
        self._paths["b"].append(f"M{left}.5 {y}H{right - 0.5}V{y + _STRIP - 2}H{left}.5z")


def row_style(theme: Theme) -> str:
    """Return the style of rows of text."""
    fills = "".join(f".h{number}{{fill:{fill}}}" for number, fill in enumerate(theme.fills))
    return (
        f"text{{font:{_SIZE}px {MONO};fill:{theme.text};text-anchor:middle}}"
        f"text.q{{font-size:12px;fill:{theme.quiet}}}text.byte{{font-size:9.5px}}"
        f".left-out{{opacity:.45}}path{{fill:none;stroke:{theme.quiet}}}"
        f".own{{stroke:{theme.accent};stroke-width:3}}.unknown{{stroke:{theme.accent}}}"
        f".missing{{stroke:{theme.accent};stroke-width:3;stroke-dasharray:3 2}}"
        f".new{{stroke:{theme.accent};stroke-width:2}}{fills}"
    )


class _Sheet(Rows):
    """Draws columns side by side, row by row."""

    def __init__(self, drawing: Drawing, link: str) -> None:
        super().__init__()
        self.drawing, self.link = drawing, link
        alone = len(drawing.columns) == 1
        self.cells = _ONE if alone else _SEVERAL

    def svg(self) -> str:
        drawing = self.drawing
        many = len(drawing.columns)
        width = 2 * _MARGIN + many * self.cells * CELL + (many - 1) * _GAP
        y = self._words(drawing.title, _MARGIN, _MARGIN + 14, width - 2 * _MARGIN, "title", 10.5)
        for about in drawing.about:
            y = self._words(about, _MARGIN, y, width - 2 * _MARGIN, "quiet", 7)
        y += 8
        bottom = y
        heads = distinct(shorten(one.title, 40) for one in drawing.columns)
        for number, (head, column) in enumerate(zip(heads, drawing.columns, strict=True)):
            bottom = max(bottom, self._column(head, column, _MARGIN + number * self._step, y))
        y = bottom + 12
        for line in drawing.legend:
            y = self._words(line, _MARGIN, y, width - 2 * _MARGIN, "quiet", 7)
        self.parts.append(f'<text class="quiet" x="{_MARGIN}" y="{y}">{credit(self.link)}</text>')
        y += 22
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" '
            f'viewBox="0 0 {width} {y}" role="img">\n<title>{xml(drawing.title)}</title>\n'
            f"<style>{row_style(LIGHT)}"
            "text.words{font:14px system-ui,sans-serif;text-anchor:start}"
            "text.title{font:600 19px system-ui,sans-serif;text-anchor:start}"
            "text.head{font:600 16px system-ui,sans-serif;text-anchor:start}"
            f"text.quiet{{font:14px system-ui,sans-serif;text-anchor:start;fill:{LIGHT.quiet}}}"
            "a{text-decoration:underline}</style>\n"
            f'<rect width="{width}" height="{y}" fill="{LIGHT.background}"/>\n'
            f"{super().svg()}\n</svg>\n"
        )

    @property
    def _step(self) -> int:
        return self.cells * CELL + _GAP

    def _words(self, words: str, x: int, y: int, width: int, name: str, letter: float) -> int:
        """Write wrapped words; return the y position of the next line."""
        for line in textwrap.wrap(words, max(10, int(width / letter))):
            self.parts.append(f'<text class="{name}" x="{x}" y="{y}">{xml(line)}</text>')
            y += 22
        return y

    def _column(self, head: str, column: Lines, x: int, y: int) -> int:
        wide = self.cells * CELL
        self.parts.append(f'<text class="head" x="{x}" y="{y + 12}">{xml(head)}</text>')
        y = self._words(column.note, x, y + 34, wide, "quiet", 7)
        for line in column.lines:
            for row in rows_of(line, self.cells):
                y += self.row(row, x, y)
        return y + 10


def xml(words: str) -> str:
    """Return escaped words, with stand-ins for control characters, which XML does not allow."""
    return escape(_CONTROL.sub(lambda one: character_stand_in(one[0]), words), quote=False)


__all__ = ["HELD", "ColoredText", "html", "svg"]
