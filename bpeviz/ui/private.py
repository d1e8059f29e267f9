"""Everything in Streamlit that bpeviz uses although it is not public.

Seven Python names, each with the reason and a public issue. `tests/ui/test_private.py` fails when
Streamlit no longer needs one of them. Below are paths. The CSS selectors, mostly test ids, are in
`runtime/style.css`, `runtime/style.py` and `components/frame/frame.js`.
"""

from __future__ import annotations

import importlib.resources
from typing import Any, cast

import streamlit as st
from streamlit import config, runtime
from streamlit.delta_generator_singletons import context_dg_stack
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

VERSION = "1.67"
"""The version of Streamlit that these names belong to."""

HEALTH = "_stcore/health"
UPLOAD = "_stcore/upload_file"
"""Paths of the server, below that of the app."""

STATIC = importlib.resources.files("streamlit") / "static"
PAGE = STATIC / "index.html"
SCRIPTS = STATIC / "static" / "js"
MEDIA = STATIC / "static" / "media"
"""Files of Streamlit's frontend."""

FONTS = {
    family: f"static/media/{file.name}"
    for family, start in (("Source Sans", "SourceSansVF-U"), ("Source Code Pro", "SourceCodeVF-U"))
    for file in MEDIA.iterdir()
    if file.name.startswith(start)
}
"""The paths of the fonts of text and of tokens, below that of the app."""


def check() -> None:
    """Raise `RuntimeError` where another version of Streamlit is installed."""
    if not st.__version__.startswith(f"{VERSION}."):
        raise RuntimeError(
            f"bpeviz needs Streamlit {VERSION}, but {st.__version__} is installed. Install the "
            "packages that requirements.txt lists."
        )


# ---- get_script_run_ctx: the session of a page run
# https://github.com/streamlit/streamlit/issues/6545


def session_id() -> str:
    """Return the id of the session of this thread's page run; empty outside of page runs."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


# ---- runtime: Streamlit ends the sessions of closed tabs only when it stores another one. Until
# then, each has three open files.


def end_sessions() -> None:
    """End the sessions of tabs that were closed some minutes ago, in the thread of the server."""
    if runtime.exists():
        manager: Any = runtime.get_instance()._session_mgr
        for _, stored in manager._session_storage._cache.expire():
            stored.session.shutdown()


# ---- file_storage: Streamlit stores an upload until its session ends, even if another one has
# replaced it. https://github.com/streamlit/streamlit/issues/9218


def uploads() -> dict[str, bytes]:
    """Return the uploads of the session of this page run, by their ids."""
    context = get_script_run_ctx()
    if context is None:
        return {}
    files = _manager(context).file_storage.get(context.session_id, {})
    return {file_id: file.data for file_id, file in files.items()}


def remove_upload(file_id: str) -> None:
    """Remove an upload of the session of this page run."""
    if (context := get_script_run_ctx()) is not None:
        _manager(context).remove_file(context.session_id, file_id)


def _manager(context: Any) -> MemoryUploadedFileManager:
    return cast(MemoryUploadedFileManager, context.uploaded_file_mgr)


# ---- context_dg_stack: if a page is requested just as a fragment ends, it runs in the same thread,
# and is drawn inside the containers around the fragment, such as a dialog.
# https://github.com/streamlit/streamlit/pull/8798 fixed this for `st.rerun` only.


def leave_containers() -> None:
    """Draw outside of all containers from now on."""
    context_dg_stack.set(context_dg_stack.get()[:1])


# ---- is_manually_set: an option that is not set cannot be told from one that is set to its default
# https://github.com/streamlit/streamlit/issues/8629


def server_name() -> str | None:
    """Return the option `browser.serverAddress`, or None where it is not set."""
    name = "browser.serverAddress"
    return cast(str, st.get_option(name)) if config.is_manually_set(name) else None


# ---- AppSession: if a fragment is requested just as a run has ended, another thread runs it, and
# what the ended run has drawn is dropped: a menu that was opened then stays empty.
# https://github.com/streamlit/streamlit/issues/9921

ENDING = 0.002
"""Seconds until a request is tried again that meets a run whose messages are not sent yet."""


def keep_messages() -> None:
    """Let requests of fragments wait until the messages of a run that has ended are sent."""
    start = AppSession._create_scriptrunner

    def start_or_wait(session: Any, request: Any) -> None:
        if session._scriptrunner is None or not request.fragment_id:
            start(session, request)
        else:
            session._event_loop.call_later(ENDING, try_again, session, request)

    def try_again(session: Any, request: Any) -> None:
        if session._state == AppSessionState.SHUTDOWN_REQUESTED:
            return
        run = session._scriptrunner
        if session.has_fragment(request.fragment_id) and (
            run is None or not run.request_rerun(request)
        ):
            start_or_wait(session, request)

    AppSession._create_scriptrunner = start_or_wait  # type: ignore[method-assign, assignment]
