"""The content of slides: texts in colored tokens, a merge diagram, or tables, for all steps.

The component `picture` draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpeviz.core.boundaries import Boundaries
from bpeviz.text import digest_of
from bpeviz.views import merge_diagram
from bpeviz.views.credit import parts
from bpeviz.views.export import ColoredText
from bpeviz.views.table import Table

TEXT, DIAGRAM, TABLE = "Text", "Merge diagram", "Table"
"""The contents of a slide."""

_BEGINNING = 60
"""The most characters of the text below the merge diagram."""


@dataclass(frozen=True)
class Slides:
    """What can be drawn on slides, by step.

    Attributes:
        title: The heading.
        settings: The settings in words.
        contents: The contents to choose from, each with a function that returns what is drawn.
        step_name: The name of a step's number.
        step_numbers: The number of each step, in rising order.
    """

    title: str
    settings: Sequence[str]
    contents: Mapping[str, Callable[[], dict[str, Any]]]
    step_name: str = "step"
    step_numbers: Sequence[int] = (0,)

    @property
    def last(self) -> int:
        """The last step."""
        return len(self.step_numbers) - 1

    def place(self, step: int | None) -> int:
        """Return a step of these, the last one for None."""
        return self.last if step is None else min(step, self.last)

    def payload(self, content: str, link: str) -> dict[str, Any]:
        """Return the payload of all steps for the component `picture`.

        Args:
            content: `TEXT`, `DIAGRAM` or `TABLE`.
            link: The address that opens the page again, or "".
        """
        data = {
            "notes": [],
            **dict.fromkeys(("views", "score", "diagram", "table")),
            "content": content,
            "title": self.title,
            "settings": " · ".join(self.settings),
            "credit": parts(link),
            "stepName": self.step_name,
            "stepNumbers": [*self.step_numbers],
            **self.contents[content](),
        }
        return data | {"key": digest_of(data)}


def of_score(title: str, picture: ColoredText, metrics: Table) -> Slides:
    """Return the slides of a text under several tokenizers, with their metrics."""
    data = {"score": picture.score, "characters": (picture.part.first, len(picture.text))}
    # The speaker explains the metrics.
    names = [name for name in metrics.names if name != "meaning"]
    rows = [[*map(str, row[: len(names)])] for row in metrics.rows]
    contents = {
        TEXT: lambda: data | {"notes": picture.notes},
        TABLE: lambda: data | {"table": {"names": names, "rows": rows}},
    }
    return Slides(title, picture.settings, contents)


def of_steps(
    title: str,
    player: Mapping[str, Any],
    boundaries: Sequence[Boundaries],
    unit: str,
    settings: Sequence[str] = (),
    drawn: tuple[int, int] | None = None,
) -> Slides:
    """Return the slides of a timeline, or of several that are aligned by vocabulary size.

    Args:
        title: The heading.
        player: The payload of the player.
        boundaries: The boundaries of the shown part of the text, for each view.
        unit: The name of a step in the heading.
        settings: The settings in words.
        drawn: The characters of the text in the merge diagram, if they are in the part; else its
            beginning.
    """
    views, sizes = player["views"], player["vocabSizes"]
    first, _, total = views[0]["part"] or (0, 0, len(views[0]["text"]))
    data = {"views": views, "characters": (first, total)}
    contents = {
        TEXT: lambda: data,
        DIAGRAM: lambda: data | {"diagram": _diagram(title, player, boundaries, drawn)},
        TABLE: lambda: data,
    }
    numbers = sizes or range(int(player["last"]) + 1)
    return Slides(title, settings, contents, "vocabulary size" if sizes else unit, numbers)


def _diagram(
    title: str,
    player: Mapping[str, Any],
    boundaries: Sequence[Boundaries],
    drawn: tuple[int, int] | None,
) -> dict[str, Any]:
    """Return the merge diagram of a few words of at most two views; see `of_steps`."""
    views, last = player["views"], int(player["last"])
    part, first = views[0]["text"], (views[0]["part"] or [0])[0]
    low, high = (at - first for at in drawn or (first, first))
    if 0 <= low < high <= len(part):
        text = part[low:high]
    else:
        low, text = 0, part[: _BEGINNING + 1]
        if len(text) > _BEGINNING:
            text = text[:_BEGINNING].rpartition(" ")[0].rstrip() or text[:_BEGINNING]
    text = text.encode()[: merge_diagram.MAX_DRAWN].decode(errors="ignore")
    before = len(part[:low].encode())
    sides = []
    start = 0
    for view, shown in [*zip(views, boundaries, strict=True)][:2]:
        start = int(shown.ends[-1]) - len(view["text"].encode()) + before
        own = view["ownSteps"][last] if "ownSteps" in view else last
        name = view.get("title", title)
        sides.append(merge_diagram.Side(name, shown, own, own, _look(view), view["unit"]))
    diagram: dict[str, Any] = merge_diagram.merge_diagram_payload(text.encode(), sides, start)
    return diagram | {"characters": (first + low, first + low + len(text))}


def _look(view: Mapping[str, Any]) -> Callable[[int], tuple[str, int]]:
    def look(token_id: int) -> tuple[str, int]:
        label, color = view["tokenStyles"][token_id]
        return label, color

    return look
