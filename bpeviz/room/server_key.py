"""The key of a server, from which leaders' cookies, invitations and room words derive."""

from __future__ import annotations

import base64
import hmac
import os
import secrets
from pathlib import Path

from bpeviz.cached_property import cached_property

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters that look like no digit."""

BYTES = 32
"""The size of a key."""

WORD = 6
"""The letters of a room word."""


class ServerKey:
    """A random key, in memory or in a file that servers behind one proxy share.

    A room is known by its letters and a nonce. Only a server with the key can derive anything from
    them. A room that is opened again has the same nonce.
    """

    def __init__(self, file: str = "") -> None:
        """Prepare a key, which is read or made when it is first needed.

        Args:
            file: The file; if empty, the key is lost when the server ends.
        """
        self._file = file
        self.is_lasting = bool(file)

    @cached_property
    def secret(self) -> bytes:
        """The bytes of the key.

        Raises:
            ValueError: The file cannot be read or written, or contains no key.
        """
        if not self._file:
            return secrets.token_bytes(BYTES)
        try:
            if not os.path.exists(self._file):
                _write(self._file)
            key = Path(self._file).read_bytes()
        except OSError as error:
            raise ValueError(
                f"The key of rooms {self._file} cannot be read or written: {error.strerror}."
            ) from error
        if len(key) != BYTES:
            raise ValueError(f"The key of rooms {self._file} must have {BYTES} bytes. Remove it.")
        return key

    def proof(self, letters: str, nonce: str) -> str:
        """Return the value of the cookie of a room's leader."""
        return f"{nonce}.{self._code('leader', letters, nonce)}"

    def nonce(self, letters: str, proof: str) -> str:
        """Return the nonce of a leader's cookie, or "" if this server has not made it."""
        nonce = proof.partition(".")[0]
        return nonce if is_equal(proof, self.proof(letters, nonce)) else ""

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


def _write(file: str) -> None:
    """Write a new key, unless another server does so at the same time."""
    own = f"{file}.{secrets.token_hex(8)}"
    try:
        with open(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(secrets.token_bytes(BYTES))
        os.link(own, file)  # fails if the file exists
    except FileExistsError:
        pass
    finally:
        Path(own).unlink(missing_ok=True)
