"""The colored text as a file to keep: a page of HTML, or a drawing as SVG, each whole in itself.

What is drawn is what the columns of Compare show: a text in UTF-8 bytes, cut in one way or in
several. Nothing in a file is run or fetched, and a text is only ever text. The colors are those of
the light theme, so that a file can be printed.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate, groupby
from typing import Any

import regex

from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED, UNKNOWN_ID
from bpeviz.text import character_stand_in, shorten
from bpeviz.views.player import Part, side_by_side

HELD = 20_000
"""How many bytes of a text a file holds at most."""

FILLS = (
    *("#fcd5d3", "#f9d8c6", "#efddbf", "#e1e3c1", "#d1e7cc", "#c4eadb"),
    *("#bee9eb", "#c3e6f8", "#cfe1fe", "#dedbfc", "#edd7f2", "#f8d4e4"),
)
"""The color indices by number (`bpeviz.text.color_index`): those of `ui/components/cells.css` on
white."""

INK, QUIET, ACCENT = "#31333f", "#5c5e67", "#1f6feb"

_UNSEEN = regex.compile(r"[\p{C}\p{Z}]")
_LONGEST_SIGN = 16  # UTF-16 units; what is longer is drawn by code points, as in cells.js

_LEGEND = {
    "cut": "Below a character that a token cuts stand its bytes.",
    "own": "A thick line is a cut that the reference does not make.",
    "missing": "A dotted line is a cut of the reference that is missing here.",
    "unknown": "A wavy line stands under what is not in the vocabulary.",
    "left-out": "What is pale becomes no token.",
}


def html(
    text: str,
    columns: Sequence[Column],
    *,
    title: str,
    reference: int = 0,
    first: int = 0,
    last: int | None = None,
) -> str:
    """Return the colored text as a page of HTML, its columns side by side.

    first, last: the characters that are held; what is more than `HELD` bytes is left out, and the
    page says so. reference: the column against whose cuts the others are held.
    """
    drawing = _drawing(text, columns, title, reference, first, last)
    body = [f"<h1>{escape(drawing.title)}</h1>"]
    body += [f"<p>{escape(about)}</p>" for about in drawing.about]
    body.append(f'<main class="{"one" if len(drawing.columns) == 1 else "several"}">')
    for column in drawing.columns:
        body.append(f"<section><h2>{escape(column.title)}</h2><p>{escape(column.note)}</p>")
        body += [f'<div dir="auto">{_html_line(line)}</div>' for line in column.lines]
        body.append("</section>")
    body.append("</main>")
    body += [f'<p class="legend">{escape(line)}</p>' for line in drawing.legend]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        # Also a reader of this file that would fetch or run something is told not to.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(drawing.title)}</title>\n<style>\n{_html_style()}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def svg(
    text: str,
    columns: Sequence[Column],
    *,
    title: str,
    reference: int = 0,
    first: int = 0,
    last: int | None = None,
) -> str:
    """Return the colored text as a drawing; arguments as for `html`."""
    return _Sheet(_drawing(text, columns, title, reference, first, last)).svg()


# What is drawn


@dataclass(frozen=True)
class _Byte:
    """A byte of the text, or a mark that is no text (`name` is then empty).

    name: the byte in hex. token: which of the tokens it belongs to, counted from 0. color_index: -1
    for none. ends: a token ends behind it; own: and the reference does not cut there; missing: only
    the reference cuts there. rest: "unknown" or "left-out", if it is so.
    """

    name: str
    token: int
    color_index: int
    ends: bool = False
    own: bool = False
    missing: bool = False
    rest: str = ""


@dataclass(frozen=True)
class _Sign:
    """What the eye takes for one sign, with its bytes. shown: itself, or its stand-in."""

    text: str
    shown: str
    bytes: tuple[_Byte, ...]

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
class _Lines:
    title: str
    note: str
    lines: list[list[_Sign]]


@dataclass(frozen=True)
class _Drawing:
    title: str
    about: list[str]
    columns: list[_Lines]
    legend: list[str]


def _drawing(
    text: str,
    columns: Sequence[Column],
    title: str,
    reference: int,
    first: int,
    last: int | None,
) -> _Drawing:
    last = len(text) if last is None else last
    raw = text[first:last].encode()
    if len(raw) > HELD:
        raw = raw[:HELD].decode(errors="ignore").encode()
        last = first + len(raw.decode())
    start = len(text[:first].encode())
    data = side_by_side(text, columns, Part(start, start + len(raw), first, last), reference)
    about = []
    if (first, last) != (0, len(text)):
        about.append(f"Characters {first + 1:,} to {last:,} of {len(text):,}.")
    drawn = [
        _lines(data["text"], one, _note(one, alone=len(columns) == 1, reference=i == reference))
        for i, one in enumerate(data["columns"])
    ]
    signs = [sign for one in drawn for line in one.lines for sign in line]
    kinds = {"cut"} if any(sign.cut for sign in signs) else set()
    for byte in (byte for sign in signs for byte in sign.bytes):
        kinds |= {byte.rest} | ({"own"} if byte.own else set())
        kinds |= {"missing"} if byte.missing else set()
    return _Drawing(
        title, about, drawn, [words for kind, words in _LEGEND.items() if kind in kinds]
    )


def _note(drawn: dict[str, Any], *, alone: bool, reference: bool) -> str:
    tokens = sum(token_id != DROPPED for token_id, *_ in drawn["tokens"])
    note = f"{tokens:,} token{'' if tokens == 1 else 's'}"
    if alone:
        return note
    if reference:
        return f"{note}; the reference"
    own, missing = len(drawn["own"]), len(drawn["missing"])
    return f"{note}; {own:,} cut{'' if own == 1 else 's'} of its own, {missing:,} missing"


def _signs(text: str) -> Iterator[str]:
    """Yield what is drawn as one: a grapheme, or each code point of one with something unseen."""
    for sign in regex.findall(r"\X", text):
        if _UNSEEN.search(sign) or len(sign.encode("utf-16-le")) > 2 * _LONGEST_SIGN:
            yield from sign
        else:
            yield sign


def _lines(text: str, drawn: dict[str, Any], note: str) -> _Lines:
    own, missing = set(drawn["own"]), set(drawn["missing"])
    raw = text.encode()
    each: list[_Byte] = []
    marks: dict[int, list[_Sign]] = {}  # by the byte behind which they stand
    start = 0
    tokens = zip(drawn["ends"], drawn["tokens"], strict=True)
    for number, (end, (token_id, label, _, color_index)) in enumerate(tokens):
        rest = {UNKNOWN_ID: "unknown", DROPPED: "left-out"}.get(token_id, "")
        if end == start:
            mark = _Byte("", number, color_index, ends=True, rest=rest)
            marks.setdefault(end, []).append(_Sign("", label, (mark,)))
        for at in range(start + 1, end + 1):
            looks = (at == end, at in own, at in missing)
            each.append(_Byte(f"{raw[at - 1]:02X}", number, color_index, *looks, rest))
        start = end
    lines: list[list[_Sign]] = [[*marks.get(0, ())]]
    at = 0
    for sign in _signs(text):
        size = len(sign.encode())
        shown = sign if len(sign) > 1 else character_stand_in(sign)
        lines[-1].append(_Sign(sign, shown, tuple(each[at : at + size])))
        at += size
        lines[-1] += marks.get(at, ())
        if sign == "\n":
            lines.append([])
    return _Lines(drawn["title"], note, lines if lines[-1] else lines[:-1])


# HTML


def _html_style() -> str:
    color_indices = "".join(
        f".h{number} {{ background: {fill}; }}\n" for number, fill in enumerate(FILLS)
    )
    return f"""\
:root {{ color-scheme: light; }}
body {{ margin: 1.5rem; background: #fff; color: {INK}; font: 16px/1.5 system-ui, sans-serif; }}
body * {{ -webkit-print-color-adjust: exact; print-color-adjust: exact; }}
h1 {{ font-size: 1.3rem; margin: 0 0 .3rem; }}
h2 {{ font-size: 1.1rem; margin: .8rem 0 0; }}
p {{ margin: 0 0 .4rem; color: {QUIET}; overflow-wrap: anywhere; }}
.several {{ display: grid; gap: 0 1.5rem; }}
.several {{ grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); }}
section {{ min-width: 0; }}
section div {{ font: 16px/1.8 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }}
section div {{ white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }}
section div {{ unicode-bidi: plaintext; break-inside: avoid-page; }}
i {{ font-style: normal; }}
.b {{ border-inline-end: 1px solid {QUIET}; }}
.own {{ border-inline-end: 3px solid {ACCENT}; }}
.missing {{ border-inline-end: 3px dotted {ACCENT}; }}
.unknown {{ text-decoration: underline wavy {ACCENT}; }}
.left-out {{ opacity: .45; }}
.q {{ color: {QUIET}; font-size: .8em; }}
.space {{ background: radial-gradient(circle, {QUIET} .07em, transparent .09em); }}
.tab {{ position: relative; }}
.tab::after {{ content: "→"; position: absolute; inset: 0; text-align: center; color: {QUIET}; }}
.tab::after {{ line-height: 1.2; }}
.cut {{ display: inline-block; vertical-align: top; text-align: center; }}
.right::before, .right::after {{ content: "\\200f"; }}
.left::before, .left::after {{ content: "\\200e"; }}
.cut .strip {{ display: flex; direction: ltr; border: 1px solid {QUIET}; }}
.cut .strip {{ font-size: .62em; line-height: 1.5; }}
.cut .strip i {{ padding: 0 .15em; }}
.legend {{ margin: .6rem 0 0; font-size: .9rem; }}
{color_indices}@page {{ margin: 12mm; }}
@media print {{ body {{ margin: 0; }} }}
"""


def _looks(byte: _Byte) -> str:
    """Return the class attribute of what ends with this byte."""
    names = [f"h{byte.color_index}" if byte.color_index >= 0 else "", byte.rest]
    names += ["own"] if byte.own else ["b"] if byte.ends else ["missing"] if byte.missing else []
    found = " ".join(filter(None, names))
    return f' class="{found}"' if found else ""


def _html_line(line: Sequence[_Sign]) -> str:
    def key(sign: _Sign) -> tuple[int, bool]:
        return sign.last.token, sign.cut

    return "".join(
        "".join(map(_html_cut, signs)) if cut else _html_run([*signs])
        for (_, cut), signs in groupby(line, key)
    )


def _html_cut(sign: _Sign) -> str:
    """Return a sign that a token cuts, over its bytes."""
    last = sign.last
    line = "own" if last.own else "b" if last.ends else "missing" if last.missing else ""
    quiet = ' class="q"' if sign.quiet else ""
    bare = replace(last, ends=False, own=False, missing=False)  # its line stands behind it all
    strip = "".join(f"<i{_looks(byte)}>{byte.name}</i>" for byte in (*sign.bytes[:-1], bare))
    # A box has no direction of its own, so that of its sign stands at either side of it.
    return (
        f'<span class="{"right" if _direction(sign) == "R" else "left"}"><span class="cut {line}">'
        f'<span{quiet}>{escape(sign.shown)}</span><span class="strip">{strip}</span></span></span>'
    )


def _html_run(signs: Sequence[_Sign]) -> str:
    """Return the signs of one token that stand in one line."""
    parts = []
    for sign in signs:
        if sign.text == " ":
            part = '<i class="space"> </i>'
        elif sign.text == "\t":
            part = '<i class="tab">\t</i>'
        elif sign.quiet:
            part = f'<i class="q">{escape(sign.shown)}</i>'
        else:
            part = escape(sign.shown)
        # A sign holds a cut of the reference anywhere: it is drawn behind the sign.
        missing = any(byte.missing for byte in sign.bytes) and sign is not signs[-1]
        parts.append(part + ('<i class="missing"></i>' if missing else ""))
    return f"<span{_looks(signs[-1].last)}>{''.join(parts)}</span>"


# SVG

_CELL = 9  # pixels: the width of a letter at this size of a monospaced font
_SIZE = 15
_ROW, _STRIP = 25, 15  # how high a row is, and what bytes below it add
_MARGIN = 20
_ONE, _SEVERAL = 96, 46  # cells in a row of a column that stands alone, or beside others
_GAP = 28
_MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


@dataclass(frozen=True)
class _Placed:
    """A sign in a row: its first cell, how many it has, and its level (odd: right to left)."""

    sign: _Sign
    at: int
    wide: int
    level: int


def _wide(sign: _Sign) -> int:
    """Return how many cells a sign takes."""
    if sign.text == "\t":
        cells = 4
    elif sign.quiet and len(sign.shown) > 1:
        cells = -(-len(sign.shown) * 4 // 5)  # stand-ins are smaller
    elif any(unicodedata.east_asian_width(c) in "WF" for c in sign.shown) or regex.search(
        r"\p{Emoji_Presentation}|\uFE0F", sign.shown
    ):
        cells = 2
    else:
        cells = max(1, sum(unicodedata.category(c) not in ("Mn", "Me") for c in sign.shown))
    return max(cells, -(-len(sign.bytes) * 3 // 2)) if sign.cut else cells


def levels(directions: Sequence[str]) -> list[int]:
    """Return the level of each sign of a line: odd where it runs from right to left.

    directions: of each sign "L", "R", "digit", or "" where it goes with its neighbors. A short
    form of Unicode's bidirectional algorithm (UAX #9), without embeddings: the first letter sets
    the line's direction, numbers run from left to right, and what stands between two signs of one
    direction goes with them.
    """
    base = 1 if next((one for one in directions if one in ("L", "R")), "L") == "R" else 0
    level = {"L": 2 * base, "R": 1}
    # Beside what stands between them, numbers do as the letter before them.
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


def _direction(sign: _Sign) -> str:
    for character in sign.text:
        kind = unicodedata.bidirectional(character)
        if kind in ("L", "R", "AL"):
            return "L" if kind == "L" else "R"
        if kind in ("EN", "AN"):
            return "digit"
    return ""


def in_order(shown: Sequence[int]) -> list[int]:
    """Return the places of a row's signs from left to right, from their levels."""
    order = [*range(len(shown))]
    for level in range(max(shown, default=0), 0, -1):
        # From the highest level down, each stretch of it or higher is turned round.
        turned: list[int] = []
        high = {place for place, one in enumerate(shown) if one >= level}
        for turn, stretch in groupby(order, high.__contains__):
            places = [*stretch]
            turned += places[::-1] if turn else places
        order = turned
    return order


def _rows(line: Sequence[_Sign], cells: int) -> Iterator[list[_Placed]]:
    """Break a line into rows, behind a space where there is one, and put each sign in its place."""
    level = levels([_direction(sign) for sign in line])
    wide = [_wide(sign) for sign in line]
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
        # A line from right to left begins at the right edge.
        at = max(0, cells - sum(wide[start:end])) if backwards else 0
        row = []
        for i in in_order(shown):
            row.append(_Placed(line[start + i], at, wide[start + i], shown[i]))
            at += wide[start + i]
        yield row
        start = end


class _Sheet:
    """Draws columns side by side, row by row."""

    def __init__(self, drawing: _Drawing) -> None:
        self.drawing = drawing
        alone = len(drawing.columns) == 1
        self.cells = _ONE if alone else _SEVERAL
        self.parts: list[str] = []
        # Lines of a kind are one path, which keeps the file small.
        self.paths: dict[str, list[str]] = {"b": [], "own": [], "missing": [], "unknown": []}

    def svg(self) -> str:
        drawing = self.drawing
        many = len(drawing.columns)
        width = 2 * _MARGIN + many * self.cells * _CELL + (many - 1) * _GAP
        y = self._words(drawing.title, _MARGIN, _MARGIN + 14, width - 2 * _MARGIN, "title", 10.5)
        for about in drawing.about:
            y = self._words(about, _MARGIN, y, width - 2 * _MARGIN, "quiet", 7)
        y += 8
        bottom = y
        for number, column in enumerate(drawing.columns):
            bottom = max(bottom, self._column(column, _MARGIN + number * self._step, y))
        y = bottom + 12
        for line in drawing.legend:
            y = self._words(line, _MARGIN, y, width - 2 * _MARGIN, "quiet", 7)
        lines = [f'<path class="{name}" d="{"".join(d)}"/>' for name, d in self.paths.items() if d]
        color_indices = "".join(f".h{number}{{fill:{fill}}}" for number, fill in enumerate(FILLS))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" '
            f'viewBox="0 0 {width} {y}" role="img">\n<title>{escape(drawing.title)}</title>\n'
            f"<style>text{{font:{_SIZE}px {_MONO};fill:{INK};text-anchor:middle}}"
            "text.words{font:14px system-ui,sans-serif;text-anchor:start}"
            "text.title{font:600 19px system-ui,sans-serif;text-anchor:start}"
            "text.head{font:600 16px system-ui,sans-serif;text-anchor:start}"
            f"text.quiet{{font:14px system-ui,sans-serif;text-anchor:start;fill:{QUIET}}}"
            f"text.q{{font-size:12px;fill:{QUIET}}}text.byte{{font-size:9.5px}}"
            f".left-out{{opacity:.45}}path{{fill:none;stroke:{QUIET}}}"
            f".own{{stroke:{ACCENT};stroke-width:3}}.unknown{{stroke:{ACCENT}}}"
            f".missing{{stroke:{ACCENT};stroke-width:3;stroke-dasharray:3 2}}{color_indices}</style>\n"
            f'<rect width="{width}" height="{y}" fill="#fff"/>\n'
            + "\n".join([*self.parts, *lines])
            + "\n</svg>\n"
        )

    @property
    def _step(self) -> int:
        return self.cells * _CELL + _GAP

    def _words(self, words: str, x: int, y: int, width: int, name: str, letter: float) -> int:
        """Write words in lines of this width; return where the next line stands."""
        for line in textwrap.wrap(words, max(10, int(width / letter))):
            self.parts.append(f'<text class="{name}" x="{x}" y="{y}">{_xml(line)}</text>')
            y += 22
        return y

    def _column(self, column: _Lines, x: int, y: int) -> int:
        wide = self.cells * _CELL
        self.parts.append(
            f'<text class="head" x="{x}" y="{y + 12}">{_xml(shorten(column.title, 40))}</text>'
        )
        y = self._words(column.note, x, y + 34, wide, "quiet", 7)
        for line in column.lines:
            for row in _rows(line, self.cells):
                y += self._row(row, x, y)
        return y + 10

    def _row(self, row: Sequence[_Placed], x: int, y: int) -> int:
        """Draw a row; return how high it is."""
        cut = any(placed.sign.cut for placed in row)
        low = y + _ROW - 4

        def same(placed: _Placed) -> tuple[Any, ...]:
            sign = placed.sign
            apart = sign.cut or sign.quiet or len(sign.bytes[0].name) == 0
            return sign.last.token, placed.level, apart, id(sign) if apart else 0

        def token(placed: _Placed) -> tuple[int, bool]:
            return placed.sign.last.token, placed.sign.cut

        for (_, parted), group in groupby(row, token):
            run = [*group]
            color_index = run[0].sign.last.color_index
            if color_index >= 0 and not parted:
                left, wide = x + run[0].at * _CELL, sum(one.wide for one in run) * _CELL
                self.parts.append(
                    f'<rect class="h{color_index}" x="{left}" y="{y}" width="{wide}" height="{_ROW - 4}"/>'
                )
        for _, group in groupby(row, same):
            self._text([*group], x, y)
        for placed in row:
            left, right = x + placed.at * _CELL, x + (placed.at + placed.wide) * _CELL
            self._line(placed.sign.last, left if placed.level % 2 else right, y, low)
            if placed.sign.cut:
                self._bytes(placed, left, right, low)
                continue
            if any(byte.missing for byte in placed.sign.bytes[:-1]):
                self.paths["missing"].append(f"M{(left + right) // 2} {y}V{low}")
            if placed.sign.last.rest == "unknown":
                wave = "".join("l2.25-3l2.25 3" for _ in range(2 * placed.wide))
                self.paths["unknown"].append(f"M{left} {low - 1}{wave}")
        return _ROW + (_STRIP if cut else 0)

    def _line(self, byte: _Byte, x: int, y: int, low: int) -> None:
        name = "own" if byte.own else "b" if byte.ends else "missing" if byte.missing else ""
        if name:
            # The middle of a thin line stands between two pixels, so that it is sharp.
            self.paths[name].append(f"M{x - 0.5 if name == 'b' else x} {y}V{low}")

    def _text(self, run: Sequence[_Placed], x: int, y: int) -> None:
        """Write signs that stand side by side and look alike."""
        level = run[0].level
        sign = run[0].sign
        shown = "".join(one.sign.shown for one in (reversed(run) if level % 2 else run))
        wide = sum(one.wide for one in run) * _CELL
        names = " ".join(filter(None, ("q" if sign.quiet else "", sign.last.rest * (not sign.cut))))
        looks = f' class="{names}"' if names else ""
        if level % 2:
            looks += ' direction="rtl"'
        if len(run) > 1:
            # Whatever the font, signs fill their cells; letters that are joined stay so.
            adjust = "spacingAndGlyphs" if level % 2 else "spacing"
            looks += f' textLength="{wide}" lengthAdjust="{adjust}"'
        middle = x + run[0].at * _CELL + wide / 2
        self.parts.append(f'<text{looks} x="{middle:g}" y="{y + 16}">{_xml(shown)}</text>')

    def _bytes(self, placed: _Placed, left: int, right: int, y: int) -> None:
        """Draw the bytes of a sign that is cut, side by side below it."""
        each = placed.sign.bytes
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
            if number < len(each) - 1:
                self._line(byte, int(at + wide), y, y + _STRIP - 2)
        self.paths["b"].append(f"M{left}.5 {y}H{right - 0.5}V{y + _STRIP - 2}H{left}.5z")


def _xml(words: str) -> str:
    return escape(words, quote=False)


__all__ = ["FILLS", "HELD", "html", "svg"]
