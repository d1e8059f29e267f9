"""The run sheets that a server offers, with links to its pages."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from bpeviz.room import sheet
from bpeviz.room.run import Ready, Run
from bpeviz.room.sheet import Sheet
from bpeviz.ui.learn import vote_questions
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import session
from bpeviz.ui.permalink.links import STEP
from bpeviz.ui.registry import PAGES
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.user import acting_for

VARIABLE = "BPEVIZ_ROOM_SHEET"
"""The environment variable with the file of a run sheet, with which rooms begin."""

OWN_SHEET = "own"
"""The name of that run sheet."""


@cache
def offered() -> Mapping[str, Sheet]:
    """Return the run sheets by their names, that of the server first.

    Raises:
        ValueError: The run sheet of the server cannot be read or is not valid.
    """
    file = os.environ.get(VARIABLE)
    if not file:
        return sheet.ours()
    try:
        own = sheet.read(Path(file))
    except OSError as error:
        raise ValueError(f"The run sheet {file} cannot be read: {error.strerror}.") from error
    for part in own.parts:
        if part.kind == "learn" and vote_questions.find(part.words) is None:
            raise sheet.SheetError(
                f"Line {part.line} of the run sheet {file} asks for “learn "
                f"{part.words.removesuffix('/0')}”, but Learn has no such question. The list "
                "“Ask from Learn” on a leader's page has their names, such as “merge/pair”."
            )
    return {OWN_SHEET: own, **sheet.ours()}


def run(key: str) -> Run:
    """Return a new run through a run sheet."""
    return Run(key, offered()[key])


def page_of(link: str, user: str) -> Ready:
    """Return the page of a link, which is made for a user.

    Raises:
        ValueError: It cannot be made; the message is user-facing.
    """
    address = urlsplit(link)
    name = address.path.strip("/").lower()
    page = next(page for page in PAGES if path_of(page).strip("/").lower() == name)
    step = dict(parse_qsl(address.query)).get(STEP, "0")
    with acting_for(user), run_lock.hold():
        content = page.content(session.values_of(page, address.query))
    return Ready(content, link, int(step) if re.fullmatch("[0-9]{1,8}", step) else 0)


def path_of(page: Page) -> str:
    """Return the path of a page relative to the app."""
    return f"/{Path(page.path).stem if page.path.startswith('pages/') else ''}"
