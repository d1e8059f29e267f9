"""Uploaded files, and the texts and files that one session holds.

Streamlit holds every uploaded file until its session ends, also one that the page has read or that
another file has replaced. So each file is removed from there once the page has read it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, cast

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from bpeviz import limits


def files(key: str) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files of an uploader; all other uploads are removed.

    Args:
        key: The key of the uploader.
    """
    found = [*_uploaded(st.session_state.get(key))]
    _remove_all_but({one.file_id for one in found})
    return [(one.name, one.getvalue()) for one in found]


def take(key: str) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files of an uploader, and remove them as well.

    Streamlit takes that for a change of the uploader, which then has no files.
    """
    found = files(key)
    remove_all()
    return found


def remove_all() -> None:
    """Remove all uploads of this session."""
    _remove_all_but(set())


def held() -> int:
    """Return the size of the texts and files that this session holds, in bytes."""
    return sum(map(_size, st.session_state.to_dict().values())) + sum(
        len(one.data) for one in [*_stored().values()]
    )


def refusal(more: int) -> str:
    """Return why this session cannot hold some more bytes, or an empty text if it can."""
    if held() + more <= limits.SESSION_TEXTS * 1_000_000:
        return ""
    return (
        f"The texts and files of this tab take more than {limits.SESSION_TEXTS:,} MB, which is the "
        "limit. Go back to the text box for another text, or close a file. Then open this one."
    )


def _uploaded(value: Any) -> Iterator[UploadedFile]:
    """Yield the files of an uploader's value, except those that were removed."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, UploadedFile):
            yield one


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return sys.getsizeof(value)
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 0


def _stored() -> dict[str, UploadedFileRec]:
    """Return the uploads of this session that Streamlit holds, by their ids."""
    context = get_script_run_ctx()
    if context is None or not isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        return {}
    return context.uploaded_file_mgr.file_storage.get(context.session_id, {})


def _remove_all_but(kept: set[str]) -> None:
    for file in {*_stored()} - kept:
        if context := get_script_run_ctx():
            cast(MemoryUploadedFileManager, context.uploaded_file_mgr).remove_file(
                context.session_id, file
            )
