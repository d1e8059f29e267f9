"""Types of the payloads that the browser draws: plain JSON values, without frames.

The scripts document the same keys as types of their own; a test compares both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

Style = Sequence[str | int]
"""The label of a token and its color index."""


class TokenPart(TypedDict):
    """A token in a message, drawn as it looks in a text."""

    label: str
    color: int
    mark: NotRequired[str]
    id: NotRequired[int]


MessagePart = str | TokenPart
"""A part of a message: plain text, or a token."""


class MessageRow(TypedDict):
    """A list of messages with a title."""

    title: str
    items: Sequence[Sequence[MessagePart]]
    numbered: bool


class Steps(TypedDict):
    """The decision of each step: lists of equal length, empty where they do not apply."""

    kind: Literal["merge", "pruning"]
    notes: dict[int, str]
    id: list[int]
    left: list[int]
    right: list[int]
    count: list[int]
    applied: list[int]
    ties: list[int]
    score: list[float]
    round: list[int]


class Changes(TypedDict):
    """The tokens that begin at each atom over time (`ChangingBoundaries`).

    `counts` has the number of changes of each atom: small numbers, which compress well.
    """

    counts: list[int]
    steps: list[int]
    ids: list[int]


class BoundarySteps(TypedDict):
    """The merge that removes each boundary, or the tokens that begin at each atom over time."""

    mergedAt: list[int] | None
    firstMergeId: int | None
    changes: Changes | None


class TokenStyles(TypedDict):
    """The label and color index of each id."""

    tokenStyles: dict[int, Style]


class Timeline(BoundarySteps, TokenStyles):
    """A row of a stage: a text, and the decisions that change it."""

    key: str
    text: str
    atomKind: str
    atomBytes: list[int] | None
    endMarks: list[int]
    atomIds: list[int] | None
    unknownLabel: str | None
    steps: Steps
    unit: str
    last: int
    initialMessage: str
    emptyMessage: str
    tokenCounts: list[int]
    changingSteps: list[int] | None
    part: list[int] | None
    rowEnds: NotRequired[list[int]]
    algorithm: NotRequired[str]
    rule: NotRequired[str]
    weighted: NotRequired[bool]
    leftOut: NotRequired[str]
    trainedOn: NotRequired[str | None]
    tieRule: NotRequired[str | None]
    title: NotRequired[str]
    ownSteps: NotRequired[list[int]]
    vocabSizes: NotRequired[list[int]]
    noText: NotRequired[str]


class Remark(TypedDict):
    """Why few steps change a text, with the keys and titles of buttons."""

    sentence: str
    ways: list[list[str]]


class Curve(TypedDict):
    """A curve of the track, in percent."""

    title: str
    values: list[float]


class Curves(TypedDict):
    """Curves that the track shows in place of numbers of tokens."""

    lines: list[Curve]
    marks: list[tuple[int, str]]
    rows: int | None


class TaskResult(TypedDict):
    """What the stage says about the answers so far."""

    kind: str
    message: Sequence[MessagePart]
    note: str


class VoteChoice(TypedDict):
    """An answer to a vote: a candidate as its tokens, with their ids if the room shows them."""

    value: int
    tokens: Sequence[Style]
    words: str
    ids: Sequence[int]


Answer = int | str | list[int]
"""The answer to a task: a number, a typed text, or places or ids in their order."""


class StageTask(TypedDict, total=False):
    """What the user does on the stage, or a follower of a room, whose answer is counted."""

    of: str
    act: str | None
    prompt: Sequence[MessagePart]
    rows: Sequence[MessageRow]
    places: Sequence[int]
    pieces: Sequence[TokenPart]
    isLive: bool
    canShow: bool
    longest: int | None
    given: Answer | None
    right: Sequence[int] | None
    result: TaskResult | None
    isTitled: bool
    isVote: bool
    isClosed: bool
    isLed: bool
    options: Sequence[VoteChoice]
    counts: Sequence[int] | None
    earlier: Sequence[int] | None


RaceGroup = tuple[float, int, list[list[int]]]
"""Candidates (pairs, or pieces) of one value: the value, their number, and the ids of the first."""


class AtRest(TypedDict):
    """The candidates of a later step."""

    step: int
    groups: list[RaceGroup]


class Race(TypedDict):
    """The best candidates of each step, in groups of one value."""

    heading: str
    measure: str
    first: list[list[RaceGroup]]
    isUnwatched: NotRequired[bool]
    styles: dict[int, Style]
    atRest: AtRest | None
    note: NotRequired[str]


class Player(TypedDict):
    """One row, or several that are aligned by vocabulary size."""

    key: str
    last: int
    initialStep: int
    tourStep: NotRequired[str]
    unit: str
    vocabSizes: list[int] | None
    changingSteps: list[int] | None
    views: list[Timeline]
    opensInMotion: NotRequired[bool]
    plays: NotRequired[bool]
    isWritten: NotRequired[bool]
    remark: NotRequired[Remark | None]
    ways: NotRequired[list[tuple[str, str]]]
    races: NotRequired[list[Race] | None]
    isFollowed: NotRequired[bool]
    isLive: NotRequired[bool]
    isDiagram: NotRequired[bool]
    mirrored: NotRequired[Timeline]
    name: NotRequired[str]
    isStill: NotRequired[bool]
    isBare: NotRequired[bool]
    isPlain: NotRequired[bool]
    task: NotRequired[StageTask]
    goal: NotRequired[int]
    curves: NotRequired[Curves]


ScoreToken = Sequence[int | str | list[str] | None]
"""An id or None, a label, the bytes in hex or a note, a color index, and how it was made."""


class ScoreRow(TypedDict):
    """A text under a tokenizer, without steps."""

    title: str
    tokenEnds: list[int]
    tokens: list[int]
    distinct: list[ScoreToken]
    notes: list[str]
    tokenCount: int
    isBest: NotRequired[bool]
    isOwn: NotRequired[bool]
    isInSample: NotRequired[bool]


class Score(TypedDict):
    """The rows of a text at one step."""

    key: str
    text: str
    rows: list[ScoreRow]
    showIds: NotRequired[bool]
    unit: NotRequired[str]
    ariaLabel: NotRequired[str]
    verdict: NotRequired[str]
    rowEnds: NotRequired[list[int]]
    reveal: NotRequired[int | None]


class DotPlot(TypedDict):
    """What the dot plot of a table of texts shows."""

    leader: int
    axis: str
    unit: str
    note: str


class TextsRow(TypedDict):
    """The cells of a text: a label, a shade, a mark, a value, and its interval."""

    name: str
    cells: list[tuple[str, float, str, float | None, tuple[float, float] | None]]


class TextsTable(TypedDict):
    """Many texts under several tokenizers, in one figure."""

    key: str
    label: str
    header: list[str]
    rows: list[TextsRow]
    plot: DotPlot | None
    legends: NotRequired[tuple[str, str]]
    startsAsTable: NotRequired[bool]
    opens: NotRequired[Sequence[str]]
    shown: NotRequired[dict[str, str | None] | None]


class FileData(TypedDict, total=False):
    """The content of a file that plays or shows: a player, a score, or tables of texts."""

    player: Player
    races: list[Race] | None
    score: Score | None
    tables: list[TextsTable]


class PlayerReport(TypedDict):
    """What the browser reports of a player: the step at rest, and whether it lacks candidates."""

    key: str
    step: int
    isLacking: bool


GridSpan = Sequence[int | str]
"""The first column, the end column, and a text."""


GridNote = Sequence[int | str]
"""The first column, the end column, a text, and a note about it."""


class GridToken(TypedDict):
    """A token of the grid."""

    start: int
    end: int
    id: int | None
    label: str
    color: int
    hex: str
    note: str
    kind: str


class Grid(TypedDict):
    """A text from characters to ids; spans are in columns."""

    key: str
    firstByte: int
    columnCount: int
    graphemes: list[GridSpan]
    codePoints: list[GridNote]
    bytes: list[list[int]]
    decimal: bool
    normalized: list[GridNote] | None
    preTokens: list[GridSpan] | None
    tokens: list[GridToken]
    innerBoundaries: list[GridSpan]


class TokenStrip(TypedDict):
    """A conversation in tokens: ends, ids, labels, colors and kinds, and who speaks where."""

    title: str
    note: str
    text: str
    tokens: list[tuple[int, int, str, int, int]]
    speakers: list[tuple[int, str, str, bool]]


TurnRows = tuple[str, list[tuple[str, list[tuple[int, str, int]]]]]
"""A sentence, and rows of tokens under titles: id, label and color index of each."""


class ConversationStrips(TypedDict):
    """A conversation as a model reads it, also in the safe encoding, and before the last turn."""

    key: str
    strips: list[TokenStrip]
    turns: list[TurnRows]


class TokenColumn(TypedDict):
    """A column of a table of tokens: ids of tokens, one or several in a cell, or other values."""

    name: str
    values: list[int | float | str | Sequence[int] | None]
    isToken: bool


class TokenTable(TokenStyles):
    """A table of tokens and figures."""

    key: str
    label: str
    columns: list[TokenColumn]
    searches: bool


class RoomContent(TypedDict):
    """What a room shows: a player with the race of each row, or a score."""

    number: int
    title: str
    settings: str
    player: NotRequired[Player]
    races: NotRequired[list[Race] | None]
    score: NotRequired[Score]
