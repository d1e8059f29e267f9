"""The number of tokens of a text in GPT-4o, while one types."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from threading import Timer

import regex
import streamlit as st

from bpeviz.pretrained import catalog, download, rank_tokenizer
from bpeviz.text import clean, counted
from bpeviz.ui.runtime.cache import cached

NAME = "o200k_base"
TITLE = catalog.TITLES[NAME].partition(" (")[0]

LONGEST = 100_000
"""The most characters of a text whose tokens are counted."""

DELAY = 2.0
"""Seconds until the tokenizer is loaded: loading would delay the first page."""


def token_count(text: str) -> str:
    """Return the number of characters and tokens of a text in words; "" while they are not known.

    The first call in a browser loads the tokenizer in a thread, if its file is on this machine.
    """
    if rank_tokenizer.loaded(NAME) is None:
        if st.context.headers and download.available(NAME):
            _load_later()
        return ""
    return _in_words(clean(text)) if 0 < len(text) <= LONGEST else ""


@cached()
def _in_words(text: str) -> str:
    characters = len(text) if text.isascii() else len(regex.findall(r"\X", text))
    tokens = len(rank_tokenizer.load(NAME).encode(text))
    return f"{counted(characters, 'character')} · {counted(tokens, 'token')} in {TITLE}"


@cache
def _load_later() -> None:
    timer = Timer(DELAY, _load)
    timer.daemon = True
    timer.start()


def _load() -> None:
    with suppress(ValueError):  # a file that is damaged has no line
        if download.available(NAME):
            rank_tokenizer.load(NAME)
