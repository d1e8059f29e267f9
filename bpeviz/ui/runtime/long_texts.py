"""Long texts that browsers send by themselves, outside of Streamlit's messages.

Streamlit 1.67 parses the state of a component, copies it and converts it to JSON several times per
run. Ten million characters hold the interpreter for a second, and they are part of each later
message. So the browser sends a long text as the body of a request to `bpeviz.ui.server.pages`,
and the message contains only its number.
"""

from __future__ import annotations

import secrets
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st

LONGEST_MESSAGE = 20_000
"""The most characters of a text inside a message."""


def path(base: str) -> str:
    """Return the path below which texts are sent. base: the path of the app."""
    return "/".join(["", *filter(None, base.split("/")), "texts"])


def address(inbox: Inbox, name: str) -> str:
    """Return the path to which the browser sends the texts of a text box."""
    return f"{path(st.get_option('server.baseUrlPath'))}/{inbox.token}/{name}"


class Inbox:
    """The last long text that a session has received, until the page takes it.

    Attributes:
        token: A random secret; any browser that sends it can store texts for the session, and take
            over its files after a reload.
        held: Values of files of the session, by their keys in it.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(16)
        self.held: dict[str, Any] = {}
        self._text: tuple[str, int, bytes | bytearray] = ("", 0, b"")
        _inboxes[self.token] = self

    def put(self, name: str, number: int, content: bytes | bytearray) -> None:
        """Store a text in place of the last one.

        Args:
            name: The name of the text box.
            number: The number of the change that the text belongs to.
            content: The text in UTF-8.
        """
        self._text = (name, number, content)

    def take(self, name: str, number: int) -> str | None:
        """Remove a text and return it, or None if another one or none is stored."""
        *stored, content = self._text
        if stored != [name, number]:
            return None
        self._text = ("", 0, b"")
        return content.decode("utf-8", "replace")


_inboxes: WeakValueDictionary[str, Inbox] = WeakValueDictionary()
"""The inboxes of all sessions. An inbox ends with its session."""


def find(token: str) -> Inbox | None:
    """Return the inbox of a token, or None where its session has ended."""
    return _inboxes.get(token)
