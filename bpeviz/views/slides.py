"""The content of slides at a step: a text in colored tokens, a merge diagram, or a table.

`slide_drawing` draws them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import DROPPED_ID, INSIDE_ID, Boundaries
from bpeviz.text import counted, shorten
from bpeviz.views import merge_diagram
from bpeviz.views.export import (
    ColoredText,
    Lines,
    colored_lines,
    drawing_of,
)
from bpeviz.views.table import Table

TEXT, DIAGRAM, TABLE = "Text", "Merge diagram", "Table"
"""The contents of a slide."""

_BEGINNING = 60
"""The most characters of the text below the merge diagram."""

LABEL = 24
"""The most characters of a token's label."""

Cell = str | tuple[str, int]
"""Words, or the label of a token and its color index."""


@dataclass(frozen=True)
class Grid:
    """A table on a slide.

    Attributes:
        title: Its heading, or "".
        names: The names of the columns.
        rows: The cells.
        is_current: Whether the last row is that of the present step.
        empty: What to say without rows.
    """

    title: str
    names: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    is_current: bool = False
    empty: str = ""


@dataclass(frozen=True)
class Slides(ABC):
    """The contents that can be drawn on slides, by step.

    Attributes:
        title: The heading.
        settings: The settings in words.
    """

    title: str
    settings: Sequence[str] = field(default=(), kw_only=True)

    contents: ClassVar[Sequence[str]] = (TEXT, TABLE)
    """The contents to choose from."""

    @property
    def last(self) -> int:
        """The last step."""
        return 0

    @property
    def step_name(self) -> str:
        """The name of a step's number."""
        return "step"

    @property
    def step_numbers(self) -> Sequence[int]:
        """The number of each step, in rising order."""
        return range(self.last + 1)

    @property
    def diagram(self) -> Mapping[str, Any] | None:
        """The payload of the merge diagram, as from `merge_diagram.merge_diagram_payload`.

        "characters" has the number of its first character, from 0, and that behind its last one.
        """
        return None

    def own_steps(self, step: int) -> Sequence[int]:
        """Return the step of each column."""
        return ()

    @property
    @abstractmethod
    def characters(self) -> tuple[int, int]:
        """The number of the first character of the columns, from 0, and that of the whole text."""

    def heading(self, step: int) -> str:
        """Return the heading of a step."""
        return self.title

    def sentence(self, step: int) -> Sequence[Cell]:
        """Return the decision of a step."""
        return ()

    def numbers(self, step: int) -> str:
        """Return the figures of a step in words."""
        return ""

    @abstractmethod
    def columns(self, step: int, most: int, wide: Sequence[Collection[int]] = ()) -> list[Lines]:
        """Return the text at a step, in columns.

        Args:
            step: The step.
            most: The number of characters.
            wide: For each column, the ends of tokens for which graphemes leave room.
        """

    def ends(self, steps: Sequence[int], most: int) -> Sequence[Collection[int]]:
        """Return for each column the ends of tokens at any of some steps, in bytes."""
        return ()

    @abstractmethod
    def tables(self, step: int) -> list[Grid]:
        """Return the tables of a step."""


@dataclass(frozen=True)
class ColumnSlides(Slides):
    """Columns of several tokenizers, with their metrics.

    Attributes:
        picture: The columns.
        metrics: The metrics.
    """

    picture: ColoredText
    metrics: Table

    @property
    def characters(self) -> tuple[int, int]:
        """The first character, and the number of characters of the text."""
        return self.picture.first, len(self.picture.text)

    def columns(self, step: int, most: int, wide: Sequence[Collection[int]] = ()) -> list[Lines]:
        first, last = self.picture.first, self.picture.last
        end = min(first + most, len(self.picture.text) if last is None else last)
        return drawing_of(replace(self.picture, last=end)).columns

    def tables(self, step: int) -> list[Grid]:
        # The speaker explains the metrics.
        names = [name for name in self.metrics.names if name != "meaning"]
        return [Grid("", names, [[*map(str, row[: len(names)])] for row in self.metrics.rows])]


@dataclass(frozen=True)
class StepSlides(Slides):
    """The steps of a timeline, or of several that are aligned by vocabulary size.

    Attributes:
        payload: The payload of the player.
        boundaries: The boundaries of the shown part of the text, for each view.
        unit: The name of a step in the heading.
        drawn: The characters of the text in the merge diagram, if they are in the part; else its
            beginning.
    """

    payload: Mapping[str, Any]
    boundaries: Sequence[Boundaries]
    unit: str
    drawn: tuple[int, int] | None = field(default=None, kw_only=True)

    contents = (TEXT, DIAGRAM, TABLE)

    @property
    def views(self) -> Sequence[Mapping[str, Any]]:
        """The timelines."""
        views: Sequence[Mapping[str, Any]] = self.payload["views"]
        return views

    @property
    def step_name(self) -> str:
        """The unit, or the vocabulary size that aligns several timelines."""
        return "vocabulary size" if self.payload["vocabSizes"] else self.unit

    @property
    def step_numbers(self) -> Sequence[int]:
        """The steps, or the vocabulary sizes."""
        return self.payload["vocabSizes"] or range(self.last + 1)

    def own_steps(self, step: int) -> Sequence[int]:
        return [self._own_step(view, step) for view in self.views]

    def _own_step(self, view: Mapping[str, Any], step: int) -> int:
        return int(view["ownSteps"][step]) if "ownSteps" in view else step

    @property
    def last(self) -> int:
        """The last step."""
        return int(self.payload["last"])

    @property
    def characters(self) -> tuple[int, int]:
        """The first character of the part, and the number of characters of the text."""
        view = self.views[0]
        part = view["part"]
        return (part[0], part[2]) if part else (0, len(view["text"]))

    def heading(self, step: int) -> str:
        of = "" if self.payload["vocabSizes"] else f" of {self.last:,}"
        return f"{self.title}: {self.step_name} {self.step_numbers[step]:,}{of}"

    def sentence(self, step: int) -> Sequence[Cell]:
        if len(self.views) > 1:
            return ()
        (view,) = self.views
        at = self._own_step(view, step) - 1
        if at < 0:
            return (f"Before the first {view['unit']}",)
        steps = view["steps"]
        facts = "; ".join(filter(None, (_facts(view, at), steps["notes"].get(at, ""))))
        if steps["kind"] == "pruning":
            return (_label(view, steps["id"][at]), "is pruned:", facts)
        if steps["left"][at] < 0:
            return (_label(view, steps["id"][at]), facts)
        left, right, new = (_label(view, steps[name][at]) for name in ("left", "right", "id"))
        return (left, "+", right, "→", new, facts)

    def numbers(self, step: int) -> str:
        return "" if len(self.views) > 1 else _numbers(self.views[0], step)

    def columns(self, step: int, most: int, wide: Sequence[Collection[int]] = ()) -> list[Lines]:
        found = []
        baseline: set[int] = set()
        for i, (view, boundaries) in enumerate(zip(self.views, self.boundaries, strict=True)):
            own = self._own_step(view, step)
            text = view["text"][:most]
            tokens = _Tokens(view, boundaries, own, len(text.encode()))
            cuts = {*tokens.ends}
            different: dict[str, Collection[int]] = {}
            if i:
                kept = {end for end, one in zip(tokens.ends, tokens.ids, strict=True) if one >= -1}
                different = {"extra": kept - baseline, "missing": baseline - cuts}
            else:
                baseline = cuts
            if own and (not step or own != self._own_step(view, step - 1)):
                before = _Tokens(view, boundaries, own - 1, len(text.encode()))
                different["new"] = tokens.new_since(before)
            note = _numbers(view, own, with_step=True) if len(self.views) > 1 else ""
            drawn = tokens.drawn(view) | different
            title = view.get("title", "")
            room = wide[i] if wide else ()
            found.append(colored_lines(text, drawn | {"title": title}, note, room))
        return found

    def ends(self, steps: Sequence[int], most: int) -> Sequence[Collection[int]]:
        return [
            {
                end
                for step in {self._own_step(view, one) for one in steps}
                for end in _Tokens(view, boundaries, step, len(view["text"][:most].encode())).ends
            }
            for view, boundaries in zip(self.views, self.boundaries, strict=True)
        ]

    def tables(self, step: int) -> list[Grid]:
        several = len(self.views) > 1
        found = []
        for view in self.views:
            at, steps, unit = self._own_step(view, step), view["steps"], view["unit"]
            names = [unit, "token"]
            columns: list[list[Cell]] = [
                [f"{i + 1:,}" for i in range(at)],
                [_label(view, one) for one in steps["id"][:at]],
            ]
            if steps["kind"] == "merge" and not several:
                names[1:1] = ["left", "right"]
                columns[1:1] = [
                    [_label(view, one) for one in steps[side][:at]] for side in ("left", "right")
                ]
            names.append("uses" if steps["kind"] == "pruning" else "count")
            columns.append([f"{one:,}" for one in steps["count"][:at]])
            if steps["score"] and not several:
                names.append("cost" if steps["kind"] == "pruning" else "score")
                columns.append([f"{one:.3g}" for one in steps["score"][:at]])
            rows = [*zip(*columns, strict=True)]
            empty = f"Before the first {unit}"
            found.append(Grid(view.get("title", ""), names, rows, is_current=True, empty=empty))
        return found

    @property
    def diagram(self) -> Mapping[str, Any] | None:
        """The merge diagram of a few words, of at most two views."""
        return self._diagram

    @cached_property
    def _diagram(self) -> Mapping[str, Any] | None:
        part, (first, _) = self.views[0]["text"], self.characters
        low, high = (at - first for at in self.drawn or (first, first))
        if 0 <= low < high <= len(part):
            text = part[low:high]
        else:
            low, text = 0, part[: _BEGINNING + 1]
            if len(text) > _BEGINNING:
                text = text[:_BEGINNING].rpartition(" ")[0].rstrip() or text[:_BEGINNING]
        text = text.encode()[: merge_diagram.MAX_DRAWN].decode(errors="ignore")
        if not text:
            return None
        before = len(part[:low].encode())
        sides = []
        start = 0
        for view, boundaries in [*zip(self.views, self.boundaries, strict=True)][:2]:
            start = int(boundaries.ends[-1]) - len(view["text"].encode()) + before
            last = self._own_step(view, self.last)
            title = view.get("title", self.title)
            look = _look(view)
            sides.append(merge_diagram.Side(title, boundaries, last, last, look, view["unit"]))
        found: dict[str, Any] = merge_diagram.merge_diagram_payload(text.encode(), sides, start)
        return found | {"characters": (first + low, first + low + len(text))}


def _look(view: Mapping[str, Any]) -> Callable[[int], tuple[str, int]]:
    def look(token_id: int) -> tuple[str, int]:
        label, color = view["tokenStyles"][token_id]
        return label, color

    return look


def _label(view: Mapping[str, Any], token_id: int) -> Cell:
    label, color = view["tokenStyles"].get(token_id, (view["unknownLabel"] or "?", -1))
    return shorten(label, LABEL), color


def _facts(view: Mapping[str, Any], at: int) -> str:
    steps = view["steps"]
    count = steps["count"][at]
    if steps["kind"] == "pruning":
        used = f"used {counted(count, 'time')}" if count else "not used"
        return f"costs {steps['score'][at]:.3g}, {used}"
    times = f"weighted count {count:,}" if view.get("weighted") else counted(count, "time")
    return f"{times}, score {steps['score'][at]:.3g}" if steps["score"] else times


def _numbers(view: Mapping[str, Any], step: int, *, with_step: bool = False) -> str:
    tokens = view["tokenCounts"][step]
    words = [f"{view['unit']} {step:,}"] if with_step else []
    words.append(counted(tokens, "token"))
    if not with_step and tokens != view["tokenCounts"][0]:
        words[-1] += f" instead of {view['tokenCounts'][0]:,}"
    if tokens:
        words.append(f"{view['byteCount'] / tokens:.2f} bytes per token")
    return " · ".join(words)


class _Tokens:
    """The tokens of the beginning of a part at a step.

    ends: Their ends in bytes, of which there are `size`.
    ids: Their ids.
    """

    def __init__(
        self, view: Mapping[str, Any], boundaries: Boundaries, step: int, size: int
    ) -> None:
        ends = boundaries.cuts(step)
        ids = boundaries.ids(step).tolist()
        if len(ids) < len(ends):  # the first one begins before the part
            ids = [INSIDE_ID, *ids]
        before = int(boundaries.ends[-1]) - len(view["text"].encode()) if len(ends) else 0
        found = (ends - before).tolist()
        count = sum(end < size for end in found)
        while count < len(found) and found[count] == size:
            count += 1
        self.ends, self.ids = found[:count], ids[:count]
        if (self.ends[-1] if self.ends else 0) < size:  # a token goes on after the beginning
            self.ends.append(size)
            self.ids.append(ids[count])

    def new_since(self, before: _Tokens) -> set[int]:
        """Return the numbers of the tokens that did not exist at another step."""
        known = {*before._spans()}
        return {
            number
            for number, span in enumerate(self._spans())
            if span not in known and span[2] != DROPPED_ID
        }

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        return zip([0, *self.ends], self.ends, self.ids, strict=False)

    def drawn(self, view: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tokens in the format of `export.colored_lines`."""
        return {
            "tokenEnds": self.ends,
            "tokens": range(len(self.ends)),
            "distinct": [(one, *_whole_label(view, one)) for one in self.ids],
        }


def _whole_label(view: Mapping[str, Any], token_id: int) -> tuple[str, None, int]:
    label, color = view["tokenStyles"].get(token_id, ("", -1))
    return label, None, color
