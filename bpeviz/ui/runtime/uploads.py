"""Uploaded files, and the memory that the texts and files of a session take.

Streamlit stores every uploaded file until its session ends, even if the page has read it or
another file has replaced it. So each file is removed from there once the page has read it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import streamlit as st

from bpeviz import limits
from bpeviz.ui import private


def files(key: str) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files of an uploader.

    Files that it had before are removed. Others stay: they may be on their way to the page.

    Args:
        key: The key of the uploader.
    """
    uploaded = [*_uploaded(st.session_state.get(key))]
    ids = {file.file_id for file in uploaded}
    known = f"{key}_known"
    _remove(st.session_state.get(known, set()) - ids)
    st.session_state[known] = ids
    return [(file.name, file.getvalue()) for file in uploaded]


def take(key: str) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files of an uploader, and remove them as well.

    Streamlit treats that as a change of the uploader, which then has no files.
    """
    contents = files(key)
    _remove({file.file_id for file in _uploaded(st.session_state.get(key))})
    return contents


def remove_all() -> None:
    """Remove all uploads of this session."""
    _remove({*private.uploads()})


def held() -> int:
    """Return the size of the texts and files of this session, in bytes."""
    return sum(map(_size, st.session_state.to_dict().values())) + sum(
        map(len, private.uploads().values())
    )


def refusal(more: int) -> str:
    """Return a user-facing message if this session cannot store more bytes, else an empty text.

    Args:
        more: The number of bytes to store.
    """
    if held() + more <= limits.SESSION_TEXTS * 1_000_000:
        return ""
    return (
        f"The texts and files of this tab exceed the limit of {limits.SESSION_TEXTS:,} MB. Switch "
        "back to the text box, or close a file. Then open this file again."
    )


def _uploaded(value: Any) -> Iterator[Any]:
    """Yield the files of an uploader's value, except those that were removed."""
    for file in value if isinstance(value, list) else [value]:
        if hasattr(file, "getvalue"):
            yield file


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return sys.getsizeof(value)
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 0


def _remove(ids: set[str]) -> None:
    for file in ids & {*private.uploads()}:
        private.remove_upload(file)
