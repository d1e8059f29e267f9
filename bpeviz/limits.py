"""The limits that users can meet, in one place. Environment variables set some of them.

Limits of a picture, a chapter or a file format are beside its code.

The variables are read once, when the server starts. One that is not valid leaves the default, since
an error would prevent every import; the server and the command line `check` them first.
`bpeviz/DEPLOYMENT.md` contains the table that `python -m bpeviz.limits` prints.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

LIMITS: list[Limit] = []
"""All limits, in the order of the table."""


@dataclass(frozen=True)
class Limit:
    """A limit.

    Attributes:
        about: What it bounds.
        default: The value without an environment variable.
        unit: Its unit.
        variable: The environment variable that sets it; empty where it is fixed.
    """

    about: str
    default: int
    unit: str
    variable: str = ""

    @property
    def value(self) -> int:
        """The limit in effect. Raises `ValueError` where the variable is not a whole number."""
        given = os.environ.get(self.variable) if self.variable else None
        if not given:
            return self.default
        if not (given.isascii() and given.isdigit() and int(given)):
            raise ValueError(
                f"The environment variable {self.variable} must be a whole number of {self.unit}, "
                f"at least 1. It is {given!r}."
            )
        return int(given)


def _limit(about: str, default: int, unit: str, variable: str = "") -> int:
    LIMITS.append(limit := Limit(about, default, unit, variable))
    try:
        return limit.value
    except ValueError:
        return default


def check() -> None:
    """Raise `ValueError` where an environment variable is not valid."""
    for limit in LIMITS:
        _ = limit.value


def table() -> str:
    """Return all limits as a table in Markdown."""
    rows = []
    for limit in LIMITS:
        setting = f"`{limit.variable}`" if limit.variable else "fixed"
        unit = limit.unit.removesuffix("s") if limit.default == 1 else limit.unit
        rows.append(f"| {limit.about} | {limit.default:,} {unit} | {setting} |")
    return "\n".join(["| limit | default | set by |", "| --- | --- | --- |", *rows])


# ---- a training

JOB_MEMORY = _limit("memory of a training", 2_000, "MB", "BPEVIZ_JOB_MEMORY")
"""Beyond the memory of its process at the start."""

JOB_SECONDS = _limit("time of a training, without waiting", 600, "seconds", "BPEVIZ_JOB_SECONDS")

CACHE = _limit(
    "size of the result cache; also the largest single result", 400, "MB", "BPEVIZ_CACHE"
)

# ---- a user: a browser, or a tab where the browser refuses cookies

USER_RUNNING = _limit("running trainings of a user", 2, "trainings", "BPEVIZ_USER_RUNNING")
USER_WAITING = _limit("waiting trainings of a user", 3, "trainings", "BPEVIZ_USER_WAITING")
ALL_WAITING = _limit("waiting trainings of all users", 50, "trainings", "BPEVIZ_ALL_WAITING")

PASSWORD_TRIES = _limit("wrong passwords of an address", 20, "a minute", "BPEVIZ_PASSWORD_TRIES")
ALL_PASSWORD_TRIES = _limit(
    "wrong passwords of all addresses", 200, "a minute", "BPEVIZ_ALL_PASSWORD_TRIES"
)

# ---- a regular expression or word list of a user, a link or a file

EXPRESSION_SECONDS = _limit(
    "processor time of a regular expression or word list for a text", 2, "seconds"
)
EXPRESSION_MEMORY = _limit(
    "memory of a regular expression or word list, plus some per character", 200, "MB"
)
EXPRESSIONS_AT_ONCE = _limit("quick regular expressions that run at once", 4, "expressions")
USER_EXPRESSIONS = _limit("quick regular expressions of a user that run at once", 2, "expressions")
SLOW_EXPRESSIONS_AT_ONCE = _limit(
    "slow regular expressions that run beside quick ones, while others wait", 2, "expressions"
)
EXPRESSION_WAIT = _limit("waiting time of a regular expression", 5, "seconds")

EXPRESSION = _limit("regular expression, or another line of text", 2_000, "characters")
WORD = _limit("word of a word list", 100, "characters")

# ---- an opened file, read in a process of its own, and a tokenizer file, applied by its library

LIBRARY_SECONDS = _limit(
    "processor time of an opened file, plus some per character",
    5,
    "seconds",
    "BPEVIZ_LIBRARY_SECONDS",
)
LIBRARY_MEMORY = _limit("memory of an opened file, plus some per character", 1_000, "MB")
LIBRARY_PROCESSES = _limit("loaded tokenizer files", 4, "files", "BPEVIZ_LIBRARY_PROCESSES")
USER_LIBRARY_PROCESSES = _limit(
    "tokenizer files applied for a user at once", 1, "files", "BPEVIZ_USER_LIBRARY_PROCESSES"
)

# ---- a session: an open tab

TEXT = _limit("text on Train", 10_000_000, "characters")
PAGE_TEXT = _limit("text on the other pages", 1_200_000, "characters")
BOX = _limit("text in any other box, such as a word list", 500_000, "characters")
INSPECTED = _limit("text on Inspect", 30_000, "characters")
IDS = _limit("ids decoded at once", 2_000, "ids")
ID_LIST = _limit("list of ids", 40_000, "characters")
VOCABULARY = _limit("vocabulary of a training", 32_768, "entries")
COLUMNS = _limit("tokenizers side by side", 8, "tokenizers")
ALGORITHMS = _limit("algorithms side by side", 4, "algorithms")
COMPARED_TEXTS = _limit("texts in one comparison", 200, "texts")
COMPARED_SIZE = _limit("texts in one comparison, together", 10, "MB")
UPLOAD = _limit("uploaded text file", 40, "MB")
SESSION_TEXTS = _limit("texts and files of a session", 120, "MB", "BPEVIZ_SESSION_TEXTS")
REQUEST = _limit("any other request", 64, "kB")
TOKENIZER_FILES = _limit("files of a tokenizer, unpacked", 40, "MB")
HUB_CACHE = _limit("files from Hugging Face on the disk", 500, "MB", "BPEVIZ_HUB_CACHE")
HUB_DOWNLOADS = _limit("downloads from Hugging Face at once", 3, "downloads")
USER_HUB_DOWNLOADS = _limit("downloads from Hugging Face of a user at once", 1, "download")
TOKENIZERS = _limit("opened tokenizers of a session", 3, "tokenizers")

# ---- links

LINK = _limit("settings and text of a link, compressed", 7_500, "characters")
SHORT_LINKS = _limit("short links of all users", 1_000, "links", "BPEVIZ_SHORT_LINKS")
USER_SHORT_LINKS = _limit("short links of a user", 50, "links")
SHORT_LINK = _limit("settings and text of a short link, compressed", 500, "kB")
SHORT_LINK_BYTES = _limit("short links of all users together", 20, "MB")
SHORT_LINK_HOURS = _limit("time until a short link expires", 24, "hours", "BPEVIZ_SHORT_LINK_HOURS")

# ---- rooms

ROOMS = _limit("open rooms", 20, "rooms", "BPEVIZ_ROOMS")
ROOM_FOLLOWERS = _limit("followers of a room", 100, "followers", "BPEVIZ_ROOM_FOLLOWERS")
ROOM_HOURS = _limit("time until a room ends after its leader's last move", 2, "hours")
ROOM_MESSAGE = _limit("message of a member of a room", 10_000, "characters")
ROOM_RATE = _limit("messages of a member of a room; others are dropped", 20, "a second")


if __name__ == "__main__":
    print(table())
