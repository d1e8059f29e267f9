"""Colored text as a self-contained HTML page, and the payload of its drawing by the browser.

Both show the columns of the Compare page. Nothing in a file is executed or fetched, and user text
is always escaped. Colors are those of the light theme, so that files can be printed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from typing import Any

import regex

from bpeviz.analysis import verdict
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID, Part
from bpeviz.palette import LIGHT
from bpeviz.text import character_stand_in, counted
from bpeviz.views.credit import credit, parts
from bpeviz.views.player import side_by_side

HELD = 20_000
"""The largest size of an exported text, in bytes."""

_UNSEEN = regex.compile(r"[\p{C}\p{Z}]")
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


def payload(picture: ColoredText, link: str = "") -> dict[str, Any]:
    """Return the payload of the colored text for the component `picture`.

    Args:
        picture: The colored text.
        link: The address that opens it again, or "".
    """
    drawing = drawing_of(picture)
    words = {"title": drawing.title, "about": drawing.about, "notes": drawing.notes}
    return words | {"credit": parts(link), "columns": drawing.payload}


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
    """

    name: str
    token: int
    color_index: int
    ends: bool = False
    own: bool = False
    missing: bool = False
    rest: str = ""


@dataclass(frozen=True)
class _Grapheme:
    """A grapheme with its bytes.

    Attributes:
        text: Its text, or "" for a mark.
        sign: Its text on screen, which may be a stand-in.
        bytes: Its bytes.
    """

    text: str
    sign: str
    bytes: tuple[_Byte, ...]

    @property
    def quiet(self) -> bool:
        return self.sign != self.text

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
    """The columns of a text, with their heading and the legend of their marks.

    payload: the columns for the browser, as from `player.side_by_side`.
    part: the part of the text, in bytes.
    """

    title: str
    about: list[str]
    columns: list[Lines]
    legend: list[str]
    payload: dict[str, Any]
    part: Part

    @property
    def notes(self) -> list[str]:
        """The legend of the drawing by the browser, which has brackets for thick lines."""
        return [words.replace("A thick line is", "A bracket marks") for words in self.legend]


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
        _colored_lines(data["text"], column, _note(data, i))
        for i, column in enumerate(data["columns"])
    ]
    return Drawing(picture.title, about, drawn, _legend_of(drawn), data, part)


def _legend_of(columns: Sequence[Lines]) -> list[str]:
    """Return the explanations of the marks in some columns."""
    graphemes = [grapheme for column in columns for line in column.lines for grapheme in line]
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


def _colored_lines(text: str, drawn: dict[str, Any], note: str) -> Lines:
    """Return the lines of a text under a tokenizer.

    Args:
        text: The text.
        drawn: The tokens, as in the columns of `player.side_by_side`.
        note: A line below the title.
    """
    own, missing = ({*drawn.get(name, ())} for name in ("extra", "missing"))
    raw = text.encode()
    each: list[_Byte] = []
    marks: dict[int, list[_Grapheme]] = {}  # by the byte that precedes them
    start = 0
    tokens = zip(drawn["tokenEnds"], drawn["tokens"], strict=True)
    for number, (end, index) in enumerate(tokens):
        token_id, label, _, color_index = drawn["distinct"][index]
        rest = {UNKNOWN_ID: "unknown", DROPPED_ID: "left-out"}.get(token_id, "")
        if end == start:
            mark = _Byte("", number, color_index, ends=True, rest=rest)
            marks.setdefault(end, []).append(_Grapheme("", label, (mark,)))
        for at in range(start + 1, end + 1):
            looks = (at == end, at in own, at in missing)
            each.append(_Byte(f"{raw[at - 1]:02X}", number, color_index, *looks, rest))
        start = end
    lines: list[list[_Grapheme]] = [[*marks.get(0, ())]]
    at = 0
    for grapheme in _graphemes(text):
        size = len(grapheme.encode())
        sign = grapheme if len(grapheme) > 1 else character_stand_in(grapheme)
        lines[-1].append(_Grapheme(grapheme, sign, tuple(each[at : at + size])))
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
    joined = " ".join(filter(None, names))
    return f' class="{joined}"' if joined else ""


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
    kinds = map(unicodedata.bidirectional, grapheme.text)
    side = "right" if any(kind in ("R", "AL") for kind in kinds) else "left"
    return (
        f'<span class="{side}"><span class="cut {line}"><span{quiet}>{escape(grapheme.sign)}'
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
            part = f'<i class="q">{escape(grapheme.sign)}</i>'
        else:
            part = escape(grapheme.sign)
        # A boundary of the baseline inside a grapheme is drawn after it.
        missing = any(byte.missing for byte in grapheme.bytes) and grapheme is not graphemes[-1]
        parts.append(part + ('<i class="missing"></i>' if missing else ""))
    return f"<span{_looks(graphemes[-1].last)}>{''.join(parts)}</span>"


__all__ = ["HELD", "ColoredText", "html", "payload"]
