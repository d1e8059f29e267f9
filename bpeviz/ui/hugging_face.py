"""The box for the id of a model on Hugging Face, whose tokenizer the server downloads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import streamlit as st

from bpeviz.pretrained import download, hub
from bpeviz.pretrained.transfer import VocabularyUnavailable
from bpeviz.ui import markdown
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.widgets import SessionValue

OPTION = "BPEVIZ_HUGGING_FACE"
"""The environment variable that allows such downloads with 1, and forbids them with 0."""

_AGAIN: SessionValue[bool] = SessionValue("hugging_face_again")
"""Whether the user asks to repeat a failed download."""

_LOCAL = ("localhost", "127.0.0.1", "::1")


def allowed() -> bool:
    """Return whether users may name models.

    By default, only if nobody but the user of this machine uses the server: it listens on this
    machine, without a path for a proxy and without a password.
    """
    if (given := os.environ.get(OPTION)) in ("0", "1"):
        return given == "1"
    shared = st.get_option("server.baseUrlPath") or os.environ.get("BPEVIZ_PASSWORD")
    return st.get_option("server.address") in _LOCAL and not shared


def box(key: str, opened: Callable[[str, Sequence[tuple[str, bytes]]], None]) -> None:
    """Draw the box. The server downloads the tokenizer of the model that the user names.

    Args:
        key: Key of the widget.
        opened: Called with the title and the files, once they are on this machine.
    """
    if not allowed():
        return
    given = st.text_input(
        "Or a model on Hugging Face",
        key=key,
        placeholder="owner/name",
        max_chars=300,
        help="Its tokenizer is downloaded to this server and stays there; owner/name@revision "
        "selects a branch, tag or commit. Gated and private models cannot be opened.",
    )
    typed = given.strip().removeprefix(hub.PREFIX)
    if not typed:
        return
    name = hub.PREFIX + typed
    try:
        if not download.available(name):
            _await(name)
        files = [*download.contents(name).items()]
    except VocabularyUnavailable as error:
        st.error(markdown.escape(str(error)))
        st.button("Try again", key="hugging_face_try_again", on_click=_AGAIN.put, args=(True,))
    except ValueError as error:
        st.error(markdown.escape(str(error)))
    else:
        opened(typed.rpartition("/")[2], files)


def _await(name: str) -> None:
    """Download the tokenizer of a model, and show the progress. Other pages go on meanwhile.

    Raises:
        ValueError: `name` is not valid.
        VocabularyUnavailable: The download failed, or may not start now.
    """
    again = bool(_AGAIN.get())
    _AGAIN.clear()
    download.fetch_in_background(name, retry=again)
    place = st.empty()
    while (now := download.progress(name)).state == "fetching":
        place.info(markdown.escape(now.message), icon=":material/downloading:")
        with run_lock.released():
            time.sleep(0.2)
    place.empty()
    if now.state != "ready":
        raise VocabularyUnavailable(now.message)
