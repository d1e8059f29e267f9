"""Types of the payloads of a page's controls: links, text boxes, chapters.

Those of what a stage draws are in `bpeviz.views.payloads`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class LinkedStep(TypedDict):
    """The step of a link or of a tour, and the key of its player, if that is known."""

    step: int
    key: str | None
    tourStep: NotRequired[str]


class LinkAnswer(TypedDict):
    """The answer to a request for a link: the settings as a query."""

    request: int
    query: str
    page: NotRequired[str]


class CopyLink(LinkAnswer):
    """The buttons that copy a link."""

    isEmbeddable: bool
    fitFrames: str


class Messages(TypedDict):
    """The text of a conversation, or of a text box, as the browser and the server agree on it."""

    name: str
    session: str
    version: int | None
    answered: int
    sample: str | None
    text: str | None
    file: str | None
    limit: int
    address: str
    longest: int
    own: str


class TextBox(Messages):
    """A text box with samples to choose from."""

    hasRows: bool
    count: str | None
    label: str
    boxLabel: str
    placeholder: str
    help: str
    fileHelp: str
    uploader: str
    others: list[tuple[str, str]]
    samples: list[tuple[str, list[tuple[str, str]]]]
    ownTitle: str
    replaced: Mapping[str, str]


class ChapterEntry(TypedDict):
    """A chapter in the bar of the Learn page, with the mark of each of its questions."""

    key: str
    number: str
    title: str
    marks: Sequence[str | None]


class ChapterBar(TypedDict):
    """The chapters of the Learn page, and the progress that the browser stores, as JSON."""

    chapters: list[ChapterEntry]
    current: str
    place: str
    progress: str
    cleared: bool
    session: str | None
    names: str
