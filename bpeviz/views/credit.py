"""The last line of every file that leaves a page."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

from bpeviz.version import __version__

MADE_WITH = f"Made with bpeviz {__version__}."

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def check_link(link: str) -> None:
    """Raise `ValueError` if a link is neither empty nor an address of the web."""
    if link and not link.startswith(("https://", "http://")):
        raise ValueError("The link must begin with https:// or http://.")


def credit(link: str = "") -> str:
    """Return the line as HTML.

    Args:
        link: The address that opens what the file shows, or "".

    Raises:
        ValueError: The link is not an address of the web.
    """
    check_link(link)
    if not link:
        return MADE_WITH
    where = " on the same computer" if urlsplit(link).hostname in _LOOPBACK else ""
    return f'{MADE_WITH} <a href="{escape(link)}" rel="noreferrer">Open it again{where}</a>'
