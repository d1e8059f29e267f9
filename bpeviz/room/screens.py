"""Second screens: devices that show the notes of a room to its leader, beside the leader's page.

A device shows a code, and the leader types it on the leader's page. So nothing that gives rights is
ever on a projector or in an address, and a code without a leader is worth nothing.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

from bpeviz.room.server_key import LETTERS

SIZE = 4

CODE_SECONDS = 120
"""The time until a code expires."""

MOST = 1_000
"""The most devices that wait."""


class WaitingScreens:
    """The devices of a server that wait until a leader types their code."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[str, tuple[float, str]] = {}
        """The end of each code and the secret of its device, by code."""
        self._lock = threading.Lock()

    def code(self, secret: str) -> str:
        """Return the code of a device, which is new unless the last one is still valid."""
        with self._lock:
            self._remove_expired()
            codes = {other: code for code, (_, other) in self._waiting.items()}
            if secret in codes:
                return codes[secret]
            code = ""
            while not code or code in self._waiting:
                code = "".join(secrets.choice(LETTERS) for _ in range(SIZE))
            self._waiting = dict([*self._waiting.items()][-MOST + 1 :])
            self._waiting[code] = self._clock() + CODE_SECONDS, secret
            return code

    def admit(self, code: str) -> str:
        """Return the secret of the device that shows a code, once, or "" if none does."""
        with self._lock:
            self._remove_expired()
            _, secret = self._waiting.pop(code.strip().upper(), (0.0, ""))
            return secret

    def _remove_expired(self) -> None:
        now = self._clock()
        self._waiting = {code: entry for code, entry in self._waiting.items() if entry[0] > now}


WAITING = WaitingScreens()
"""The waiting devices of this server."""
