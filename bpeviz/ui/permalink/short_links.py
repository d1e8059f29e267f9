"""Short links, whose values the server stores for a limited time."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bpeviz import limits

MARK = "~"
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
            name = known[0] if known else MARK + secrets.token_urlsafe(_RANDOM_BYTES)
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
