"""Types of what the members of a room receive, as in `bpeviz.views.payloads`."""

from __future__ import annotations

from typing import Any, TypedDict

from bpeviz.views.payloads import Player, RoomContent, StageTask


class VoteState(TypedDict):
    """A vote as a member sees it. Nothing tells the right answer before it is revealed."""

    number: int
    name: str
    isAlone: bool
    isStaged: bool
    isAgain: bool
    answered: int
    sent: str
    had: int | None
    task: StageTask


class SheetState(TypedDict):
    """A run sheet, as the leader sees it: each part has the attributes of a `SheetPart`."""

    key: str
    title: str
    parts: list[dict[str, Any]]


class Refusal(TypedDict):
    """The answer to a connection that the room does not accept, with the reason."""

    refused: str


class Ended(TypedDict):
    """The answer to a connection of a room that does not exist, or no longer."""

    ended: str


class RoomState(TypedDict, total=False):
    """What a member of a room lacks."""

    ended: str
    step: int
    playing: bool
    speed: float
    lit: list[int] | None
    followers: int
    vote: VoteState | None
    stage: Player
    isBeforeVotes: bool
    answer: str
    canVote: bool
    content: RoomContent
    join: dict[str, str]
    part: int
    ready: list[int]
    elapsed: float
    problem: str
    sheet: SheetState
    canAsk: bool
    furthest: int
    link: str
    sums: str
