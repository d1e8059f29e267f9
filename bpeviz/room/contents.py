"""The payloads of rooms. Those of players are divided by steps: none contains a later decision."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bpeviz.cached_property import cached_property
from bpeviz.room.votes import VoteOption, VoteQuestion
from bpeviz.views.playable import Interactive

OPTIONS = 4
"""The options of a vote. Four of the five best candidates: any of them may be left out."""

_COLUMNS = ("id", "left", "right", "count", "applied", "ties", "score", "round")


NONE = VoteOption([], "none of these")


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

    def full(self) -> dict[str, Any]:
        """Return the payload of all members."""
        score = self.page.data["score"]  # of one text, also in the file of many
        words = score["picture"]
        named = {"title": words["title"], "settings": " · ".join(words["about"])}
        return {"number": self.number, **named, "score": score}

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
    def player(self) -> dict[str, Any]:
        """The payload of the player."""
        player: dict[str, Any] = self.page.data["player"]
        return player

    @property
    def races(self) -> Sequence[dict[str, Any]] | None:
        """The payload of the race of each text, or None."""
        races: Sequence[dict[str, Any]] | None = self.page.data["races"]
        return races

    @property
    def last(self) -> int:
        """The last step of the player."""
        return int(self.player["last"])

    def full(self) -> dict[str, Any]:
        """Return the payload of the leader."""
        return self._named(self.player, self.races)

    def beginning(self) -> dict[str, Any]:
        """Return the payload of followers before the first step."""
        player = self.player
        views = [self._view(view, -1, self._reached(view, 0)) for view in player["views"]]
        races = self.races and [
            race | self._race(i, 0, self._reached(view, 0))
            for i, (race, view) in enumerate(zip(self.races, views, strict=True))
        ]
        first = player | {"last": 0, "initialStep": 0, "views": views}
        first["changingSteps"] = _changing(player, 0, 0)
        return self._named(first, races)

    def more(self, after: int, step: int) -> dict[str, Any]:
        """Return what followers lack who have the steps up to `after`, for those up to `step`."""
        more: dict[str, Any] = {"last": step, "views": [], "races": []}
        more["changingSteps"] = _changing(self.player, after, step)
        for i, view in enumerate(self.player["views"]):
            first, last = self._reached(view, after), self._reached(view, step)
            more["views"].append(self._view(view, first, last, only_new=True))
            if self.races:
                more["races"].append(self._race(i, first, last))
        return more

    def _race(self, number: int, after: int, last: int) -> dict[str, Any]:
        """Return the candidates of a view from one step to another, and their styles."""
        race = (self.races or ())[number]
        rows = race["first"][after:last]
        ids = {token_id for row in rows for ids, _ in row for token_id in ids}
        return {"first": rows, "styles": _chosen(race["styles"], ids)}

    def question(self, step: int) -> VoteQuestion | None:
        """Return the question about the decision after a step, or None without other candidates.

        Its options are true candidates in the order of their labels, and “none of these”. It has
        none of those that tie with the right one.
        """
        if not self.races or len(self.races) > 1:
            return None
        race = self.races[0]
        if step >= min(self.last, len(race["first"])):
            return None
        steps = self.player["views"][0]["steps"]
        names = ("id",) if steps["kind"] == "pruning" else ("left", "right")
        right = [steps[name][step] for name in names]
        # A candidate that only the tie rule excludes is not a wrong answer.
        best = [value for ids, value in race["first"][step] if ids == right]
        rows = [ids for ids, value in race["first"][step] if ids == right or value not in best]
        if len(rows) < 2:
            return None
        # The same for a rehearsal. Followers never get this seed.
        chosen = random.Random(f"{race['timelineId']} {step}").sample(  # noqa: S311
            rows, min(OPTIONS, len(rows))
        )
        listed = [([race["styles"][i] for i in ids], ids) for ids in chosen]
        listed.sort(key=lambda entry: [label for label, _ in entry[0]])
        options = [
            VoteOption(tokens, " + ".join(label for label, _ in tokens)) for tokens, _ in listed
        ]
        places = [ids for _, ids in listed]
        place = places.index(right) if right in places else len(places)
        is_pruning = steps["kind"] == "pruning"
        words = "Which piece is pruned next?" if is_pruning else "Which pair merges next?"
        return VoteQuestion([words], [*options, NONE], place, step)

    @cached_property
    def _changes(self) -> list[dict[int, list[list[int]]]]:
        """For each view, the boundaries that change at each step: [atom, step] or with an id."""
        by_view = []
        for view in self.player["views"]:
            steps: dict[int, list[list[int]]] = {}
            if (changes := view["changes"]) is None:
                for atom, step in enumerate(view["mergedAt"]):
                    if step >= 0:
                        steps.setdefault(step, []).append([atom, step])
            else:
                offsets = changes["offsets"]
                for k, (step, token) in enumerate(
                    zip(changes["steps"], changes["ids"], strict=True)
                ):
                    atom = bisect_right(offsets, k) - 1
                    steps.setdefault(step, []).append([atom, step, token])
            by_view.append(dict(sorted(steps.items())))
        return by_view

    def _reached(self, view: dict[str, Any], step: int) -> int:
        """Return the last step of a view that its player shows up to `step`."""
        return max(view["ownSteps"][: step + 1]) if "ownSteps" in view else step

    def _view(
        self, view: dict[str, Any], after: int, last: int, *, only_new: bool = False
    ) -> dict[str, Any]:
        """Return a view up to a step, or only the steps `after` + 1 to `last`."""
        first = max(after, 0)
        steps = view["steps"]
        columns = {name: steps[name][first:last] for name in _COLUMNS}
        notes = {k: note for k, note in steps["notes"].items() if first <= int(k) < last}
        number = self.player["views"].index(view)
        changes = self._changes[number]
        times = [*changes]
        begin = bisect_left(times, first if only_new else -1)
        changed = [
            change for time in times[begin : bisect_left(times, last)] for change in changes[time]
        ]
        ids = {i for name in ("id", "left", "right") for i in columns[name]}
        ids.update(change[2] for change in changed if len(change) > 2)
        if not only_new:
            ids.update(view["atomIds"] or view["text"].encode())
        sent = {
            "steps": {"kind": steps["kind"], "notes": notes, **columns},
            "changed": changed,
            "tokenStyles": _chosen(view["tokenStyles"], ids),
            "tokenCounts": view["tokenCounts"][after + 1 : last + 1],
            "changingSteps": _changing(view, first, last),
        }
        if only_new:
            return sent
        atoms = len(view["mergedAt"]) if view["mergedAt"] else 0
        rows = None if view["changes"] is None else len(view["changes"]["offsets"]) - 1
        return (
            view
            | sent
            | {
                "mergedAt": None if view["mergedAt"] is None else [-1] * atoms,
                "changes": rows and {"offsets": [0] * (rows + 1), "steps": [], "ids": []},
                "last": 0,
                "emptyMessage": "The leader has not played yet.",
            }
        )

    def _named(
        self, player: dict[str, Any], races: Sequence[dict[str, Any]] | None
    ) -> dict[str, Any]:
        """Return payloads whose keys depend on no step."""
        key = f"room {self.number}"
        named = {"key": key, "timelineId": key}
        views = [view | named for view in player["views"]]
        return {
            "number": self.number,
            "title": self.page.title,
            "settings": " · ".join(self.page.settings),
            "player": player | named | {"views": views},
            "races": races and [race | {"timelineId": key} for race in races],
        }


def _changing(payload: dict[str, Any], after: int, last: int) -> list[int] | None:
    """Return the steps from `after` + 1 to `last` that change the text, or None if all do."""
    steps = payload["changingSteps"]
    return None if steps is None else [step for step in steps if after < step <= last]


def _chosen(styles: dict[Any, Any], ids: Iterable[int]) -> dict[int, Any]:
    """Return the styles of some ids."""
    return {i: styles[i] for i in sorted({*ids}) if i in styles}
