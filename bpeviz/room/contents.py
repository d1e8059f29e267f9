"""The contents of rooms: a timeline or a score, which all members receive whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from bpeviz.views.acts import PairAct
from bpeviz.views.payloads import (
    Player,
    Race,
    RoomContent,
    Score,
    Style,
    TokenPart,
)
from bpeviz.views.playable import Interactive
from bpeviz.views.task import Task, judged

OPTIONS = 4
"""The most options of a vote: the right one, and others of the best candidates."""


@dataclass(frozen=True, eq=False)
class RoomScore:
    """A text under several tokenizers that a leader shows. They have no steps.

    Attributes:
        number: Their number in the room.
        page: The score, as in the interactive file.
    """

    number: int
    page: Interactive

    last = 0

    def payload(self) -> RoomContent:
        """Return the payload of all members."""
        score = cast(Score, self.page.data["score"])  # of one text, also in the file of many
        return {
            "number": self.number,
            "title": score.get("verdict") or self.page.title,
            "settings": " · ".join(self.page.settings),
            "score": score,
        }


@dataclass(frozen=True, eq=False)
class RoomTimeline:
    """A timeline that a leader shows.

    Attributes:
        number: Its number in the room.
        page: The timeline, as in the file that plays.
    """

    number: int
    page: Interactive

    @property
    def player(self) -> Player:
        """The payload of the player."""
        return self.page.data["player"]

    @property
    def races(self) -> Sequence[Race] | None:
        """The payload of the race of each text, or None."""
        return self.page.data["races"]

    @property
    def last(self) -> int:
        """The last step of the player."""
        return self.player["last"]

    def payload(self) -> RoomContent:
        """Return the payload of all members; its key differs from that of an equal page."""
        player = self.player.copy()
        player["key"] = f"room {self.number}"
        return {
            "number": self.number,
            "title": self.page.title,
            "settings": " · ".join(self.page.settings),
            "player": player,
            "races": [*self.races] if self.races else None,
        }

    def question(self, step: int) -> Task[int] | None:
        """Return the question about the decision after a step, or None without other candidates.

        Its options are the right candidate and the best others, in the order of their labels. It
        has none of those that tie with the right one.
        """
        if not self.races or len(self.races) > 1:
            return None
        race = self.races[0]
        if step >= min(self.last, len(race["first"])):
            return None
        steps = self.player["views"][0]["steps"]
        names = ("id",) if steps["kind"] == "pruning" else ("left", "right")
        columns: Any = steps
        right = [columns[name][step] for name in names]
        # A candidate that only the tie rule excludes is not a wrong answer.
        members = [members for *_, members in race["first"][step]]
        wrong = [ids for tied in members if right not in tied for ids in tied]
        if not any(right in tied for tied in members) or not wrong:
            return None
        best = wrong[: OPTIONS - 1]
        listed = sorted((right, *best), key=lambda ids: [race["styles"][i][0] for i in ids])
        pairs = {at: [_part(race["styles"][i]) for i in ids] for at, ids in enumerate(listed)}
        at = listed.index(right)
        named = [word for part in pairs[at] for word in (" + ", part)][1:]
        is_pruning = steps["kind"] == "pruning"
        words = "Which piece is pruned next?" if is_pruning else "Which pair merges next?"
        act = PairAct(pairs, [*pairs], dict(enumerate(listed)))
        return Task(act, judged(at, [*named, "."]), prompt=[words], step=step)


def _part(style: Style) -> TokenPart:
    label, color = style
    return {"label": str(label), "color": int(color)}
