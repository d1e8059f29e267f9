"""The key of a server, from which cookies of members, invitations and room words derive."""

from __future__ import annotations

import base64
import hmac
import secrets

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters that look like no digit."""

BYTES = 32
"""The size of a key."""

WORD = 6
"""The letters of a room word."""


class ServerKey:
    """A random key in memory.

    A room is known by its letters and a nonce. Only a server with the key can derive anything from
    them.
    """

    def __init__(self) -> None:
        self.secret = secrets.token_bytes(BYTES)

    def proof(self, letters: str, nonce: str) -> str:
        """Return the value of the cookie of a room's leader."""
        return f"{nonce}.{self._code('leader', letters, nonce)}"

    def nonce(self, letters: str, proof: str) -> str:
        """Return the nonce of a leader's cookie, or "" if this server has not made it."""
        nonce = proof.partition(".")[0]
        return nonce if is_equal(proof, self.proof(letters, nonce)) else ""

    def follower(self, letters: str, nonce: str, browser: str) -> str:
        """Return the value of the cookie of a follower's browser, which has a random name."""
        return f"{browser}.{self._code('follower', letters, nonce, browser)}"

    def browser(self, letters: str, nonce: str, cookie: str) -> str:
        """Return the name of the browser of a cookie, or "" if it is not of this room."""
        browser = cookie.partition(".")[0]
        return browser if is_equal(cookie, self.follower(letters, nonce, browser)) else ""

    def invitation(self, letters: str, nonce: str) -> str:
        """Return the key of a room's invitations, of 128 bits."""
        return self._code("invitation", letters, nonce)[:22]

    def word(self, letters: str, nonce: str) -> str:
        """Return a room's word, which opens it together with its letters."""
        number = int.from_bytes(self._digest("word", letters, nonce), "big")
        return "".join(LETTERS[number // len(LETTERS) ** i % len(LETTERS)] for i in range(WORD))

    def _code(self, *values: str) -> str:
        return base64.urlsafe_b64encode(self._digest(*values)).decode().rstrip("=")

    def _digest(self, *values: str) -> bytes:
        return hmac.digest(self.secret, "\n".join(values).encode(), "sha256")


def is_equal(given: str, expected: str) -> bool:
    """Compare two texts in a time that does not depend on where they differ."""
    return secrets.compare_digest(given.encode(), expected.encode())
