"""A room's run through a run sheet: the current part, and the pages that are ready."""

from __future__ import annotations

from dataclasses import dataclass, field

from bpeviz.room.payloads import SheetState
from bpeviz.room.sheet import Sheet
from bpeviz.views.acts import BeliefAct
from bpeviz.views.playable import Interactive
from bpeviz.views.task import Task, judged


@dataclass(frozen=True)
class Ready:
    """A page that a room can show at once.

    Attributes:
        page: The timeline or the score.
        link: The address that opens it again, or "".
        step: The step to begin at.
    """

    page: Interactive
    link: str
    step: int


@dataclass
class Run:
    """A run through a run sheet.

    Attributes:
        key: The name of the sheet on this server.
        sheet: The sheet.
        part: The index of the part, -1 before the first one.
        began: The time of the first part.
        ready: The pages, by the index of their part; of part -1, the page before the first one.
        problem: Why the last page could not be made, or "".
    """

    key: str
    sheet: Sheet
    part: int = -1
    began: float | None = None
    ready: dict[int, Ready] = field(default_factory=dict)
    problem: str = ""

    def page_of(self, part: int) -> int:
        """Return the part that shows the page of a part, or -1 if none does."""
        kinds = [earlier.kind for earlier in self.sheet.parts[: part + 1]]
        return max((i for i, kind in enumerate(kinds) if kind == "show"), default=-1)

    def step_at(self, part: int) -> int | None:
        """Return the step to which the parts on the page of a part lead, or None."""
        moves = self.sheet.parts[self.page_of(part) + 1 : part + 1]
        return next((move.step for move in reversed(moves) if move.kind in ("step", "vote")), None)

    def payload(self) -> SheetState:
        """Return the sheet for the leader."""
        parts = [*map(vars, self.sheet.parts)]
        return {"key": self.key, "title": self.sheet.title, "parts": parts}

    def question(self) -> Task[int]:
        """Return the question of the current part."""
        part = self.sheet.parts[self.part]
        return Task(BeliefAct(tuple(part.options)), judged(part.right), prompt=[part.words])
