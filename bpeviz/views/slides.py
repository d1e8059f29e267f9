"""The content of slides: texts in colored tokens, a merge diagram, or tables, for all steps.

The component `picture` draws them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

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

    def place(self, step: int | None) -> int:
        """Return a step of these, the last one for None."""
        return self.last if step is None else min(step, self.last)

    def payload(self, content: str, link: str) -> dict[str, Any]:
        """Return the payload of all steps for the component `picture`.

        Args:
            content: `TEXT`, `DIAGRAM` or `TABLE`.
            link: The address that opens the page again, or "".
        """
        names = ("views", "score", "diagram", "table")
        data = {
            "notes": [],
            **dict.fromkeys(names),
            "content": content,
            "title": self.title,
            "settings": " · ".join(self.settings),
            "credit": parts(link),
            "stepName": self.step_name,
            "stepNumbers": [*self.step_numbers],
            **self._drawn(content),
        }
        return data | {"key": digest_of(data)}

    @abstractmethod
    def _drawn(self, content: str) -> dict[str, Any]:
        """Return what is drawn."""


@dataclass(frozen=True)
class ScoreSlides(Slides):
    """A text under several tokenizers, with their metrics.

    Attributes:
        picture: The text.
        metrics: The metrics.
    """

    picture: ColoredText
    metrics: Table

    def _drawn(self, content: str) -> dict[str, Any]:
        of = self.picture
        data = {"score": of.score, "characters": (of.part.first, len(of.text))}
        if content == TEXT:
            return data | {"notes": of.notes}
        # The speaker explains the metrics.
        names = [name for name in self.metrics.names if name != "meaning"]
        rows = [[*map(str, row[: len(names)])] for row in self.metrics.rows]
        return data | {"table": {"names": names, "rows": rows}}


@dataclass(frozen=True)
class StepSlides(Slides):
    """The steps of a timeline, or of several that are aligned by vocabulary size.

    Attributes:
        player: The payload of the player.
        boundaries: The boundaries of the shown part of the text, for each view.
        unit: The name of a step in the heading.
        drawn: The characters of the text in the merge diagram, if they are in the part; else its
            beginning.
    """

    player: Mapping[str, Any]
    boundaries: Sequence[Boundaries]
    unit: str
    drawn: tuple[int, int] | None = field(default=None, kw_only=True)

    contents = (TEXT, DIAGRAM, TABLE)

    @property
    def step_name(self) -> str:
        """The unit, or the vocabulary size that aligns several timelines."""
        return "vocabulary size" if self.player["vocabSizes"] else self.unit

    @property
    def step_numbers(self) -> Sequence[int]:
        """The steps, or the vocabulary sizes."""
        return self.player["vocabSizes"] or range(self.last + 1)

    @property
    def last(self) -> int:
        """The last step."""
        return int(self.player["last"])

    def _drawn(self, content: str) -> dict[str, Any]:
        views = self.player["views"]
        part = views[0]["part"]
        characters = (part[0], part[2]) if part else (0, len(views[0]["text"]))
        diagram = self._diagram(characters[0]) if content == DIAGRAM else None
        return {"views": views, "characters": characters, "diagram": diagram}

    def _diagram(self, first: int) -> dict[str, Any]:
        """Return the merge diagram of a few words of at most two views."""
        views = self.player["views"]
        part = views[0]["text"]
        low, high = (at - first for at in self.drawn or (first, first))
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
        for view, boundaries in [*zip(views, self.boundaries, strict=True)][:2]:
            start = int(boundaries.ends[-1]) - len(view["text"].encode()) + before
            last = view["ownSteps"][self.last] if "ownSteps" in view else self.last
            title = view.get("title", self.title)
            look = _look(view)
            sides.append(merge_diagram.Side(title, boundaries, last, last, look, view["unit"]))
        diagram: dict[str, Any] = merge_diagram.merge_diagram_payload(text.encode(), sides, start)
        return diagram | {"characters": (first + low, first + low + len(text))}


def _look(view: Mapping[str, Any]) -> Callable[[int], tuple[str, int]]:
    def look(token_id: int) -> tuple[str, int]:
        label, color = view["tokenStyles"][token_id]
        return label, color

    return look
