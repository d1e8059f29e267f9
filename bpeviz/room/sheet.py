"""Run sheets: the parts of a workshop, in a text file that can be edited.

    A workshop of 7 minutes

    2 min  show /?sample=old-cat
           # A note for the leader, which is printed and not shown.
    3 min  vote 0
           right: e + space
           mistake: t + h
    1 min  step 5
    1 min  ask How many bytes is 🐚?
           - 1
           * 4

The first line is the title. `show` opens a page of the app, `step` moves its player, and `vote N`
asks about the decision after step N. `learn merge/pair` asks a question of Learn, by its address.
`ask` asks a question with the options below it, of which `*` marks the right one. Below a vote,
`right:` and `mistake:` name answers for the leader's notes, as the options have them. Notes that
begin with “Afterwards:” are listed after these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, cast, get_args
from urllib.parse import urlsplit

PartKind = Literal["show", "step", "vote", "learn", "ask"]

MAX_PARTS, MAX_LINE, MAX_OPTIONS = 100, 10_000, 8
"""The most parts of a sheet, characters of a line, and options of a question."""

FOLDER = Path(__file__).parent / "sheets"

CLAIMS = ("right", "mistake")
"""What a line below a vote may say about an answer."""

PAGES = ("", "Compare", "Inspect", "Algorithms", "Pre-tokenize", "Learn")
"""The pages that a run sheet shows, by their addresses."""

_PART = re.compile(r"(\d{1,3}) min\s+([a-z]+)\b\s*(.*)")


class SheetError(ValueError):
    """A run sheet is not valid; the message is user-facing, and names the line."""


@dataclass
class SheetPart:
    """A part of a workshop.

    Attributes:
        line: The number of its line.
        minutes: The minutes that it takes.
        kind: What the leader does.
        words: The question of "ask", or the key of that of "learn", such as `merge/pair/0`.
        link: The page of "show": its address relative to the app.
        step: The step of "step" and "vote".
        options: The answers to choose from.
        right: The index of the right one, -1 before it is known.
        notes: Notes for the leader.
        claims: The answers that the notes name, by `CLAIMS`.
    """

    line: int
    minutes: int
    kind: PartKind
    words: str = ""
    link: str = ""
    step: int = 0
    options: list[str] = field(default_factory=list)
    right: int = -1
    notes: list[str] = field(default_factory=list)
    claims: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheet:
    """A run sheet.

    Attributes:
        title: The title.
        parts: Its parts.
    """

    title: str
    parts: Sequence[SheetPart]

    @property
    def minutes(self) -> int:
        """The minutes of all parts together."""
        return sum(part.minutes for part in self.parts)


@cache
def ours() -> dict[str, Sheet]:
    """Return the run sheets that come with bpeviz, by the names of their files."""
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.txt"))}


def read(path: Path) -> Sheet:
    """Read a run sheet.

    Raises:
        SheetError: It is not valid.
        OSError: The file cannot be read.
    """
    try:
        return parse(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SheetError("The run sheet is not text in UTF-8. Save it in this encoding.") from error


def parse(text: str) -> Sheet:
    """Return the run sheet of a text.

    Raises:
        SheetError: It is not valid.
    """
    title = ""
    parts: list[SheetPart] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words:
            continue
        try:
            if len(words) > MAX_LINE:
                raise SheetError(f"has more than {MAX_LINE:,} characters")
            match = _PART.fullmatch(words)
            if not title and not words.startswith("#"):
                if match:
                    raise SheetError("is a part, but a title must come first")
                title = words
            elif match:
                _check_end(parts)
                parts.append(_part(number, match, parts))
            elif parts:
                _add(parts[-1], words)
            elif not words.startswith("#"):
                raise SheetError("is not a part: it must begin like “3 min show /”")
        except SheetError as error:
            raise SheetError(f"Line {number} of the run sheet {error}.") from None
    if not parts:
        raise SheetError("The run sheet has no parts. One is a line such as “3 min show /”.")
    try:
        _check_end(parts)
    except SheetError as error:
        raise SheetError(f"The end of the run sheet {error}.") from None
    return Sheet(title, parts)


def _part(number: int, match: re.Match[str], before: Sequence[SheetPart]) -> SheetPart:
    minutes, kind, rest = match.groups()
    if kind not in get_args(PartKind):
        kinds = ", ".join(get_args(PartKind))
        raise SheetError(f"has “{kind}” after the minutes: use one of {kinds}")
    if len(before) >= MAX_PARTS:
        raise SheetError(f"is one part too many: the limit is {MAX_PARTS}")
    part = SheetPart(number, int(minutes), cast(PartKind, kind))
    if kind == "ask":
        if not rest:
            raise SheetError("has no question after “ask”")
        part.words = rest
    elif kind == "show":
        part.link = page_link(rest)
    elif kind == "learn":
        if not re.fullmatch(r"[a-z_-]+/[a-z_-]+(/[0-9]{1,2})?", rest):
            raise SheetError("needs the name of a question, such as “learn merge/pair”")
        part.words = rest if rest.count("/") == 2 else f"{rest}/0"
    else:
        if all(earlier.kind != "show" for earlier in before):
            raise SheetError(f"needs a “show” above it: “{kind}” is about the page that is shown")
        if not re.fullmatch("[0-9]{1,8}", rest):
            raise SheetError(f"needs the number of a step, such as “{kind} 3”")
        part.step = int(rest)
    return part


def page_link(rest: str) -> str:
    """Return the address of a page relative to the app, also of one copied with its server.

    Raises:
        SheetError: A run sheet does not show it.
    """
    try:
        address = urlsplit(rest)
    except ValueError:
        address = urlsplit("")
    is_copied = address.scheme in ("http", "https")
    if not (is_copied or rest.startswith("/")) or re.search(r"\s", rest):
        raise SheetError("needs an address of this app, such as “show /Compare”")
    page = address.path.rpartition("/")[2]
    if page.lower() not in map(str.lower, PAGES):
        names = ", ".join(f"/{name}" for name in PAGES)
        raise SheetError(f"needs a page that a run sheet shows: {names}")
    return f"/{page}" + (f"?{address.query}" if address.query else "")


def _add(part: SheetPart, words: str) -> None:
    """Add a line below a part: a note, a claim, or an option of a question."""
    sign, option = words[0], words[1:].strip()
    claim, _, named = words.partition(": ")
    if claim in CLAIMS and named:
        if part.kind not in ("vote", "learn"):
            raise SheetError(f"is about an answer, but there is no vote above it: “{claim}:”")
        part.claims.setdefault(claim, []).append(named.strip())
        return
    if sign == "#":
        part.notes.append(option)
    elif sign not in "-*" or not option:
        raise SheetError(
            "is neither a part (“3 min …”), an option (“- …”, “* …”), a note (“# …”) nor an answer "
            "(“right: …”, “mistake: …”)"
        )
    elif part.kind != "ask":
        raise SheetError("is an option, but there is no “ask” above it")
    elif len(part.options) >= MAX_OPTIONS:
        raise SheetError(f"is one option too many: the limit is {MAX_OPTIONS}")
    else:
        if sign == "*":
            if part.right >= 0:
                raise SheetError("marks a second right answer")
            part.right = len(part.options)
        part.options.append(option)


def _check_end(parts: Sequence[SheetPart]) -> None:
    """Check that the question before this line is complete."""
    if parts and parts[-1].kind == "ask":
        if len(parts[-1].options) < 2:
            raise SheetError(f"comes too soon: “ask” in line {parts[-1].line} needs two options")
        if parts[-1].right < 0:
            raise SheetError(f"comes too soon: no option of line {parts[-1].line} is marked by *")
