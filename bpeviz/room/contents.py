"""The payloads of rooms. Those of players are divided by steps: none contains a later decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from bpeviz.cached_property import cached_property
from bpeviz.views.acts import PairAct
from bpeviz.views.payloads import (
    MoreSteps,
    NewCandidates,
    Player,
    Race,
    RoomContent,
    Score,
    Style,
    Timeline,
    TokenPart,
)
from bpeviz.views.playable import Interactive
from bpeviz.views.race import ids_of
from bpeviz.views.stage import (
    Changed,
    changed_at,
    changing_between,
    chosen,
    steps_between,
    without_steps,
)
from bpeviz.views.task import Task, judged

OPTIONS = 4
"""The most options of a vote: the right one, and others of the best candidates."""

NOT_PLAYED = "The leader has not played yet."


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

    def full(self) -> RoomContent:
        """Return the payload of all members."""
        score = cast(Score, self.page.data["score"])  # of one text, also in the file of many
        return {
            "number": self.number,
            "title": score.get("verdict") or self.page.title,
            "settings": " · ".join(self.page.settings),
            "score": score,
        }

    beginning = full


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

    def full(self) -> RoomContent:
        """Return the payload of the leader."""
        return self._named(self.player, self.races)

    def beginning(self) -> RoomContent:
        """Return the payload of followers before the first step."""
        player = self.player.copy()
        reached = [_reached(view, 0) for view in player["views"]]
        player["views"] = [
            without_steps(view, steps_between(view, changed, -1, last), NOT_PLAYED)
            for view, changed, last in zip(player["views"], self._changed, reached, strict=True)
        ]
        player["last"] = player["initialStep"] = 0
        player["changingSteps"] = changing_between(player["changingSteps"], 0, 0)
        races = [race.copy() for race in self.races or ()]
        for race, last in zip(races, reached, strict=bool(races)):
            race.update(cast(Race, _candidates(race, 0, last)))
        return self._named(player, races if self.races else self.races)

    def more(self, after: int, step: int) -> MoreSteps:
        """Return what followers lack who have the steps up to `after`, for those up to `step`."""
        views = self.player["views"]
        spans = [(_reached(view, after), _reached(view, step)) for view in views]
        return {
            "last": step,
            "views": [
                steps_between(view, changed, *span)
                for view, changed, span in zip(views, self._changed, spans, strict=True)
            ],
            "races": [
                _candidates(race, *span)
                for race, span in zip(self.races or (), spans, strict=bool(self.races))
            ],
            "changingSteps": changing_between(self.player["changingSteps"], after, step),
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

    @cached_property
    def _changed(self) -> list[Changed]:
        """The boundaries of each view that change at each step."""
        return [*map(changed_at, self.player["views"])]

    def _named(self, player: Player, races: Sequence[Race] | None) -> RoomContent:
        """Return payloads whose keys depend on no step."""
        key = f"room {self.number}"
        named, views = player.copy(), [view.copy() for view in player["views"]]
        named["views"] = views
        for payload in (named, *views):
            payload["key"] = key
        return {
            "number": self.number,
            "title": self.page.title,
            "settings": " · ".join(self.page.settings),
            "player": named,
            "races": [*races] if races else None,
        }


def _part(style: Style) -> TokenPart:
    label, color = style
    return {"label": str(label), "color": int(color)}


def _reached(view: Timeline, step: int) -> int:
    """Return the last step of a view that its player shows up to `step`."""
    return max(view["ownSteps"][: step + 1]) if "ownSteps" in view else step


def _candidates(race: Race, after: int, last: int) -> NewCandidates:
    """Return the candidates from one step to another, and their styles."""
    steps = race["first"][after:last]
    return {"first": steps, "styles": chosen(race["styles"], ids_of(steps))}
