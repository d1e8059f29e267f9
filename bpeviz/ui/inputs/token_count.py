"""The number of tokens of a text in GPT-4o, while one types."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from threading import Timer

import regex
import streamlit as st

from bpeviz.corpus.documents import Documents, characters_in, documents_of
from bpeviz.pretrained import catalog, download, rank_tokenizer
from bpeviz.text import counted
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.dialogs import rerun_unless_open

NAME = "o200k_base"
TITLE = catalog.TITLES[NAME].partition(" (")[0]

COUNTED_CHARACTERS = 100_000
"""The most characters of a text whose tokens are counted."""

DELAY = 2.0
"""Seconds until the tokenizer is loaded: loading would delay the first page."""


def token_count(text: str | Documents) -> str:
    """Return the number of characters and tokens of a text in words; "" while they are not known.

    The first call in a browser loads the tokenizer in a thread, if its file is on this machine.
    """
    if rank_tokenizer.loaded(NAME) is None:
        _is_loading()
        return ""
    return _in_words(text) if 0 < characters_in(text) <= COUNTED_CHARACTERS else ""


@cached()
def character_count(text: str | Documents) -> str:
    """Return the number of characters of a text in words; "" for a long one."""
    if characters_in(text) > COUNTED_CHARACTERS:
        return ""
    texts = documents_of(text)
    characters = sum(
        len(each) if each.isascii() else len(regex.findall(r"\X", each)) for each in texts
    )
    return counted(characters, "character")


@cached()
def _in_words(text: str | Documents) -> str:
    tokens = sum(rank_tokenizer.load(NAME).count_batch(documents_of(text)))
    return f"{character_count(text)} · {counted(tokens, 'token')} in {TITLE}"


def run_once_loaded() -> None:
    """Run the page again once the tokenizer is loaded, which it was too early for.

    The last element of a page calls this: another one would move those below, which close then.
    """
    if rank_tokenizer.loaded(NAME) is None and _is_loading():
        _run_once_loaded()


def _is_loading() -> bool:
    return bool(st.context.headers) and download.available(NAME) and _loading().is_alive()


@cache
def _loading() -> Timer:
    timer = Timer(DELAY, _load)
    timer.daemon = True
    timer.start()
    return timer


@st.fragment(run_every=1.0)
def _run_once_loaded() -> None:
    if not _loading().is_alive():
        rerun_unless_open()


def _load() -> None:
    with suppress(ValueError):  # a file that is damaged has no line
        if download.available(NAME):
            rank_tokenizer.load(NAME)
