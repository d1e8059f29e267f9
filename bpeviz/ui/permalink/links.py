"""Links: the settings of a page by name, such as `/?text=banana&size=260`, which anybody can type.

Names are those of widgets in links, or short ones. Values are texts, which widgets take as values
of their types (`meanings`). A long value is compressed by zlib (RFC 1950), in URL-safe base64
without padding (RFC 4648, section 5), after a tilde. A size has the meaning of `vocab_size` in
`bpeviz.train`: options that are not named have the defaults of the library, so that it is reached
where it can be.

Anyone can write a link, and zlib can expand data a thousandfold. So reading limits the sizes, and
returns only plain values. Names and values never change: a widget that changes reads earlier
values itself, in `allows` and `restore`. Earlier links have all values packed (`earlier`).

The server stores the values of short links for a limited time (`ShortLinks`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import secrets
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote, unquote, urlencode

from bpeviz import limits
from bpeviz.text import clean, shorten, visible
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs.text import OWN_TEXT, TEXT, THIS_TEXT, TRAIN_ON
from bpeviz.ui.inputs.training import ALGORITHM, LARGEST_SIZE, MORE
from bpeviz.ui.inputs.vocabulary_size import LARGEST, SIZE
from bpeviz.ui.tokenizers import OWN

Value = str | int | float | bool | list[str]
"""A value in a link."""

PACKED, STEP = "s", "step"
"""The parameters of an address with the name of a short link, and with the step."""

WITHOUT = "without"
"""The parameter that lists the values that a link does not contain."""

NOT_SETTINGS = frozenset((PACKED, STEP, "tour", "chapter", "teacher", "large", "ticket", "reload"))
"""The parameters of an address that have other effects than a setting."""

WITH, COMPARED = "with", "compared"
"""The short name of the tokenizers of Compare beside the user's own, and the name of all."""

SHORT = {
    "text": TEXT.box.link,
    "sample": TEXT.sample.link,
    "train_on": TRAIN_ON.sample.link,
    WITH: COMPARED,
}
"""The short names that differ from those in links. A page may have others (`Page.short`)."""

UNCHANGED: Mapping[str, Value] = {
    TRAIN_ON.sample.link: THIS_TEXT,
    "token_ids": False,
    "decimal": False,
    "how_many_texts": "one",
    "closer": "grid",
    "have": "text",
}
"""Values at first, which links of a page leave out."""

LONG = 200
"""Characters above which a value is packed."""

MAX_UNPACKED = 1_500_000
"""The largest size of a packed value, in bytes: enough for the longest text of a page, in ASCII."""

MAX_LINK_VALUES = max(100, limits.COMPARED_TEXTS)
"""The largest number of values in a link, and of entries in a list, such as names of texts."""

_BOXES = {source.sample.link: source.box.link for source in (TEXT, TRAIN_ON)}
"""The names of text boxes by those of the choice of a sample: a text says that it is one's own."""

_MARK = "~eN"
"""Begins a packed value: zlib's header in base64, after a tilde."""

_DAMAGED = "This link is damaged, so it was ignored. Ask for a new link."


class LinkError(ValueError):
    """A link is not valid; the message is user-facing."""


# ---- writing


def written(
    values: Mapping[str, Value],
    short: Mapping[str, str],
    unchanged: Mapping[str, Value] = UNCHANGED,
) -> str:
    """Return values, by their names in links, as a query.

    Args:
        values: The values.
        short: The short names of the page, beside those of all pages.
        unchanged: The values that are left out.

    >>> written({"text_sample": "own", "text_box": "banana", "decimal": True}, {})
    'text=banana&decimal=true'
    """
    shorter = {link: name for name, link in {**SHORT, **short}.items()}
    first: dict[str, Value] = {}
    if SIZE.link in values:  # reading it gives other options the defaults of the library
        first = _first_options(values, "at_first") | {ALGORITHM.link: _trainer(values)}
        unchanged = {**unchanged, **_first_options(values, "default")}
    query: dict[str, str] = {}
    for link, value in (first | dict(values)).items():
        is_implied = value == OWN_TEXT and _BOXES.get(link) in values
        if is_implied or unchanged.get(link) == value:
            continue
        name = shorter.get(link, link)
        if name == WITH and isinstance(value, list):
            name, value = (name, value[1:]) if value[:1] == [OWN] else (link, value)
        query[name] = _text(value)
    order = ("text", "sample", "train_on", ALGORITHM.link, SIZE.link)
    named = sorted(query.items(), key=lambda pair: [pair[0] != name for name in order])
    return urlencode(named, safe="/", quote_via=quote)


def _text(value: Value) -> str:
    """Return a value as in an address."""
    if isinstance(value, list):  # the separator, and spaces that are part of a name, are escaped
        value = ",".join(re.sub(r"[%,]|^\s|\s$", lambda sign: quote(sign[0]), key) for key in value)
    text = str(value).lower() if isinstance(value, bool) else clean(str(value))
    if len(text) <= LONG and not text.startswith(_MARK):
        return text
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()
    return f"~{packed.rstrip('=')}"


# ---- reading


def read(
    query: Iterable[tuple[str, str]], short: Mapping[str, str]
) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the settings in an address under their names in links, and how messages name them.

    Args:
        query: The names and texts of the address.
        short: The short names of the page, beside those of all pages.

    Raises:
        LinkError: There are too many, or one is damaged.
    """
    given: dict[str, list[str]] = {}
    for name, text in query:
        if name not in NOT_SETTINGS - {"chapter"}:  # Learn itself reads it from an address
            given.setdefault(clean(name), []).append(_unpacked(text))
    if len(given) > MAX_LINK_VALUES:
        raise LinkError(
            f"This address has {len(given):,} names, so it was ignored; the limit is "
            f"{MAX_LINK_VALUES:,}. Remove some."
        )
    values: dict[str, Value] = {WITHOUT: without} if (without := given.pop(WITHOUT, [])) else {}
    names: dict[str, str] = {}
    for name, texts in given.items():
        link, value = {**SHORT, **short}.get(name, name), texts[0]
        if len(texts) > 1:
            values[f"{name} (given twice)"] = texts  # no widget has this name
        elif link in values or (link == SIZE.link and not _is_size(value)):
            values[f"{name}={value}"] = value
        else:
            values[link] = f"{OWN},{value}" if name == WITH else value
            names[link] = f"{name}={value}"
    for sample, box in _BOXES.items():
        if box in values:
            values.setdefault(sample, OWN_TEXT)
            names.setdefault(sample, names[box])
    if isinstance(size := values.get(SIZE.link), str):
        trainer = _trainer(values)
        reach = _first_options(values, "default") | {ALGORITHM.link: trainer, MORE.link: False}
        if int(size) > LARGEST:
            reach[LARGEST_SIZE.link] = size
        names = dict.fromkeys(reach, names[SIZE.link]) | names
        values = reach | values
    return values, names


def meanings(value: Value) -> Iterator[Value]:
    """Yield a value, and for a text the values of other types that it may stand for."""
    yield value
    if not isinstance(value, str):
        return
    if re.fullmatch("-?[0-9]{1,16}", value, re.ASCII):
        yield int(value)
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,18})?", value, re.ASCII):
        yield float(value)
    if value in ("true", "false"):
        yield value == "true"
    yield [*dict.fromkeys(unquote(key) for part in value.split(",") if (key := part.strip()))]


def earlier(packed: str, longest: int = limits.LINK) -> dict[str, Value]:
    """Return the values of an earlier link, which are packed as one JSON object of form 1.

    Raises:
        LinkError: It has more characters, is damaged, or of a form that is not known.
    """
    if len(packed) > longest:
        raise LinkError(
            f"This link is too long, so it was ignored: its part “s” has {len(packed):,} "
            f"characters, and the limit is {longest:,}. Ask for a new link."
        )
    try:
        values = json.loads(_inflated(packed), parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise LinkError(_DAMAGED) from error
    if not isinstance(values, dict) or len(values) > MAX_LINK_VALUES:
        raise LinkError(_DAMAGED)
    if not all(map(_is_value, values.values())):
        raise LinkError(_DAMAGED)
    form = values.pop("form", 1)
    if form != 1:
        raise LinkError(
            f"This link is of form {visible(shorten(str(form), 20))}, and this version of bpeviz "
            "reads form 1, so it was ignored. Ask for a new link, or update bpeviz."
        )
    return {clean(name): _cleaned(value) for name, value in values.items()}


def _unpacked(text: str) -> str:
    """Return a text in an address, unpacked if it is packed. Raises `LinkError`."""
    return clean(_inflated(text[1:]) if text.startswith(_MARK) else text)


def _inflated(packed: str) -> str:
    """Return a packed text. Raises `LinkError`."""
    try:
        raw = base64.b64decode(packed + "=" * (-len(packed) % 4), b"-_", validate=True)
        decompressor = zlib.decompressobj()
        text = decompressor.decompress(raw, MAX_UNPACKED).decode()
    except (ValueError, zlib.error) as error:
        raise LinkError(_DAMAGED) from error
    if not decompressor.eof or decompressor.unused_data:
        raise LinkError(_DAMAGED)
    return text


def _reject_constant(name: str) -> NoReturn:
    """Reject NaN and the infinities, which `json` reads by default."""
    raise ValueError(f"{name} is not JSON.")


def _is_value(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= MAX_LINK_VALUES and all(isinstance(text, str) for text in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int)


def _cleaned(value: Value) -> Value:
    if isinstance(value, list):
        return [clean(text) for text in value]
    return clean(value) if isinstance(value, str) else value


def _is_size(text: str) -> bool:
    return any(map(LARGEST_SIZE.allows, meanings(text)))


def _first_options(values: Mapping[str, Value], which: str) -> dict[str, Value]:
    """Return the options of the algorithm that pages at first give other values than the library.

    Args:
        values: The values of a link.
        which: The value: "default", that of the library, or "at_first", that of the pages.
    """
    trainer = TRAINERS[_trainer(values)]
    options = [option for option in trainer.options if option.at_first != option.default]
    return {f"{trainer.key}_{option.name}": getattr(option, which) for option in options}


def _trainer(values: Mapping[str, Value]) -> str:
    """Return the key of the algorithm that a link names, or of the first one."""
    key = values.get(ALGORITHM.link)
    return key if isinstance(key, str) and key in TRAINERS else next(iter(TRAINERS))


# ---- short links

SHORT_MARK = "~"
"""Begins the name of a short link. Packed values of other links never contain it."""

_RANDOM_BYTES = 9
"""72 random bits: to guess one of 1,000 links takes 10^8 years at 1,000 tries a second."""


class ShortLinks:
    """The short links of all users, bounded in number, in bytes and in time.

    If there are too many, the oldest ones are removed, the user's own first.
    """

    def __init__(self, file: str = "", clock: Callable[[], float] = time.time) -> None:
        """Open the short links.

        Args:
            file: A file that several servers share, which others cannot read. If empty, the links
                are in memory.
            clock: The time in seconds, the same for all servers.
        """
        self._clock = clock
        self._lock = threading.Lock()
        if file:
            Path(file).touch(0o600)
        self._links = sqlite3.connect(
            file or ":memory:", check_same_thread=False, isolation_level=None
        )
        self._links.execute(
            "CREATE TABLE IF NOT EXISTS links (age INTEGER PRIMARY KEY AUTOINCREMENT, name"
            " TEXT UNIQUE, packed TEXT, size INTEGER, user TEXT, digest BLOB UNIQUE, ends REAL)"
        )

    def put(self, packed: str, user: str) -> str | None:
        """Store the packed values of a link.

        Args:
            packed: The settings, as a query.
            user: Identifies the user.

        Returns:
            The name of the link, the same at a second call, or None if the values are too long.
        """
        if len(packed) > limits.SHORT_LINK * 1_000:
            return None
        digest = hashlib.blake2b(f"{user}\n{packed}".encode(), digest_size=16).digest()
        now = self._clock()
        with self._lock, self._links as links:
            links.execute("BEGIN IMMEDIATE")
            links.execute("DELETE FROM links WHERE ends <= ?", (now,))
            known = links.execute("SELECT name FROM links WHERE digest = ?", (digest,)).fetchone()
            name = known[0] if known else SHORT_MARK + secrets.token_urlsafe(_RANDOM_BYTES)
            ends = now + limits.SHORT_LINK_HOURS * 3600
            links.execute(
                "REPLACE INTO links (name, packed, size, user, digest, ends)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (name, packed, len(packed), user, digest, ends),
            )
            while self._too_many(user):
                links.execute(
                    "DELETE FROM links WHERE age = (SELECT age FROM links WHERE name != ?"
                    " ORDER BY user != ?, age LIMIT 1)",
                    (name, user),
                )
        return str(name)

    def get(self, name: str) -> str | None:
        """Return the packed values of a link, or None if it is unknown or has expired."""
        with self._lock:
            row = self._links.execute(
                "SELECT packed FROM links WHERE name = ? AND ends > ?", (name, self._clock())
            ).fetchone()
        return None if row is None else row[0]

    def _too_many(self, user: str) -> bool:
        own, everyone, size = self._links.execute(
            "SELECT sum(user = ?), count(*), sum(size) FROM links", (user,)
        ).fetchone()
        return bool(
            own > limits.USER_SHORT_LINKS
            or everyone > limits.SHORT_LINKS
            or size > limits.SHORT_LINK_BYTES * 1_000_000
        )


SHORT_LINKS = ShortLinks(os.environ.get("BPEVIZ_SHORT_LINKS_FILE", ""))
"""The short links of this server."""
