"""The content of slides: texts in colored tokens, a merge diagram, or tables, for all steps.

The component `picture` draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bpeviz.text import digest_of
from bpeviz.views import merge_diagram
from bpeviz.views.credit import parts
from bpeviz.views.export import ColoredText
from bpeviz.views.parts import characters_of, part_of
from bpeviz.views.payloads import Contents, Diagram, Slide
from bpeviz.views.stage import Stage
from bpeviz.views.table import Table

TEXT, DIAGRAM, TABLE, POSTER = "Text", "Merge diagram", "Table", "Picture to share"
"""The contents of a slide. A poster is the merge diagram alone, in the size of a link's preview."""

_BEGINNING = {DIAGRAM: 60, POSTER: 40}
"""The most characters of the text in the merge diagram."""


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
    contents: Mapping[str, Callable[[], Contents]]
    step_name: str = "step"
    step_numbers: Sequence[int] = (0,)

    @property
    def last(self) -> int:
        """The last step."""
        return len(self.step_numbers) - 1

    def place(self, step: int | None) -> int:
        """Return a step of these, the last one for None."""
        return self.last if step is None else min(step, self.last)

    def payload(self, content: str, link: str) -> Slide:
        """Return the payload of all steps for the component `picture`.

        Args:
            content: `TEXT`, `DIAGRAM`, `TABLE` or `POSTER`.
            link: The address that opens the page again, or "".
        """
        data: Slide = {
            "key": "",
            "notes": [],
            "views": None,
            "score": None,
            "diagram": None,
            "table": None,
            "content": content,
            "title": self.title,
            "settings": " · ".join(self.settings),
            "credit": parts(link),
            "stepName": self.step_name,
            "stepNumbers": [*self.step_numbers],
            **self.contents[content](),
        }
        data["key"] = digest_of(data)
        return data


def of_score(title: str, picture: ColoredText, metrics: Table) -> Slides:
    """Return the slides of a text under several tokenizers, with their metrics."""
    first, _, total = characters_of(picture.text, picture.part, picture.breaks)
    data: Contents = {"score": picture.score, "characters": (first, total)}
    # The speaker explains the metrics.
    names = [name for name in metrics.names if name != "meaning"]
    rows = [[*map(str, row[: len(names)])] for row in metrics.rows]
    contents: dict[str, Callable[[], Contents]] = {
        TEXT: lambda: {**data, "notes": picture.notes},
        TABLE: lambda: {**data, "table": {"names": names, "rows": rows}},
    }
    return Slides(title, picture.settings, contents)


def of_stage(
    title: str,
    stage: Stage,
    settings: Sequence[str] = (),
    *,
    last: int | None = None,
    drawn: tuple[int, int] | None = None,
) -> Slides:
    """Return the slides of a stage.

    Args:
        title: The heading.
        stage: The stage.
        settings: The settings in words.
        last: The last step; by default that of the player.
        drawn: The characters of the text in the merge diagram, if they are in the part; else its
            beginning.
    """
    player, row = stage.payload, stage.rows[0]
    sizes, last = player["vocabSizes"], player["last"] if last is None else last
    first, _, total = characters_of(row.text, row.part, row.column.breaks)
    data: Contents = {"views": player["views"], "characters": (first, total)}
    contents: dict[str, Callable[[], Contents]] = {
        TEXT: lambda: data,
        DIAGRAM: lambda: {**data, "diagram": _diagram(title, stage, last, drawn, DIAGRAM)},
        TABLE: lambda: data,
        POSTER: lambda: {**data, "diagram": _diagram(title, stage, last, drawn, POSTER)},
    }
    unit = row.words.unit if row.events is None else "step"
    name = "vocabulary size" if sizes else unit
    return Slides(title, settings, contents, name, sizes or range(last + 1))


def of_diagram(diagram: Diagram) -> Slides:
    """Return the poster of a merge diagram, whose steps are those of its sides."""
    size = len(diagram["signs"])
    data: Contents = {"diagram": {**diagram, "characters": (0, size)}, "characters": (0, size)}
    last = max(side["stepCount"] for side in diagram["sides"])
    return Slides("", (), {POSTER: lambda: data}, step_numbers=range(last + 1))


def _diagram(
    title: str, stage: Stage, last: int, drawn: tuple[int, int] | None, content: str
) -> Diagram:
    """Return the merge diagram of a few words of at most two rows; see `of_stage`."""
    beginning = _BEGINNING[content]
    first, end = stage.rows[0].part.first, stage.rows[0].part.last
    part = stage.rows[0].text[first:end]
    low, high = (at - first for at in drawn or (first, first))
    if 0 <= low < high <= len(part):
        text = part[low:high]
    else:
        low, text = 0, part[: beginning + 1]
        if len(text) > beginning:
            text = text[:beginning].rpartition(" ")[0].rstrip() or text[:beginning]
    text = text.encode()[: merge_diagram.MAX_DRAWN].decode(errors="ignore")
    start = len(stage.rows[0].text[: first + low].encode())
    sides = []
    for row, own in [*zip(stage.rows, stage.own_steps(last), strict=True)][:2]:
        name = row.title if stage.by_size else title
        side = merge_diagram.Side(name, row.shown, own, own, row.look(stage.hues), row.words.unit)
        sides.append(side)
    diagram = merge_diagram.payload(text.encode(), sides, start)
    whole, breaks = stage.rows[0].text, stage.rows[0].column.breaks
    shown = part_of(whole, first + low, first + low + len(text))
    return {**diagram, "characters": characters_of(whole, shown, breaks)[:2]}
