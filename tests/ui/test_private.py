"""Streamlit still needs each of the names in `bpeviz.ui.private`, and only they are used."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from unittest.mock import Mock

import pytest
import streamlit as st
from helpers.asgi import run
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.caching.ttl_cache import TTLCache
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from bpeviz.ui import private, server

ROOT = Path(__file__).resolve().parents[2]


def imported(path: Path) -> set[str]:
    """Return the names that a module imports from Streamlit, with their modules."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names if one.name.split(".")[0] == "streamlit"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "streamlit":
            found |= {f"{node.module}.{one.name}" for one in node.names}
    return found


def test_one_module_imports_private_names() -> None:
    for path in [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("bpeviz/**/*.py")]:
        source = path.read_text("utf-8")
        if "streamlit." in source and path != Path(private.__file__):
            public = {"streamlit", "streamlit.delta_generator.DeltaGenerator"}
            assert imported(path) <= public, path


def test_private_names_are_seven() -> None:
    assert imported(Path(private.__file__)) - {"streamlit"} == {
        "streamlit.config",  # is_manually_set
        "streamlit.runtime",  # the storage of sessions
        "streamlit.runtime.app_session.AppSession",
        "streamlit.runtime.app_session.AppSessionState",
        "streamlit.delta_generator_singletons.context_dg_stack",
        "streamlit.runtime.scriptrunner.get_script_run_ctx",
        # file_storage, which this class declares
        "streamlit.runtime.memory_uploaded_file_manager.MemoryUploadedFileManager",
    }


def test_other_version_of_streamlit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    private.check()
    monkeypatch.setattr(st, "__version__", "1.670.0")
    with pytest.raises(RuntimeError, match=r"1\.67, .*1\.670\.0"):
        private.check()


def test_paths_are_those_of_streamlit() -> None:
    assert private.PAGE.is_file()
    assert private.SCRIPTS.is_dir()
    assert private.MEDIA.is_dir()


def test_sessions_of_closed_tabs_end_by_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now, ended = [0.0], Mock()
    storage = MemorySessionStorage(ttl_seconds=120)
    storage._cache = TTLCache(maxsize=128, ttl=120, timer=lambda: now[0])
    manager = WebsocketSessionManager(storage, Mock(), Mock(), Mock())
    monkeypatch.setattr(private.runtime, "exists", lambda: True)
    monkeypatch.setattr(private.runtime, "get_instance", lambda: Mock(_session_mgr=manager))
    storage.save(SessionInfo(client=None, session=Mock(id="closed", shutdown=ended)))
    for now[0], count in ((119.0, 0), (121.0, 1), (999.0, 1)):
        private.end_sessions()
        assert ended.call_count == count
    assert storage.list() == []


def test_request_of_a_fragment_waits_for_the_messages_of_a_run_that_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started, waiting = Mock(), []

    def request() -> list[str]:
        """Request a fragment just as a run has ended; return the fragments that then run."""
        started.reset_mock()
        AppSession.request_rerun(session, ClientState(fragment_id="menu"))
        return [call.args[1].fragment_id for call in started.call_args_list]

    session = Mock(_state=AppSessionState.APP_NOT_RUNNING, **{"has_fragment.return_value": True})
    session._create_scriptrunner = lambda data: AppSession._create_scriptrunner(session, data)
    session._event_loop.call_later = lambda _, function, *given: waiting.append((function, given))
    session._scriptrunner = ended = Mock(**{"request_rerun.return_value": False})
    monkeypatch.setattr(AppSession, "_create_scriptrunner", started)
    assert request() == ["menu"]  # Streamlit starts it at once
    private.keep_messages()
    assert request() == []
    for session._scriptrunner, fragments in ((ended, []), (None, ["menu"])):
        ((function, given),) = waiting
        waiting.clear()
        function(*given)
        assert [call.args[1].fragment_id for call in started.call_args_list] == fragments
    assert waiting == []


def test_server_ends_sessions_again_after_one_that_does_not_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[float] = []

    async def sleep(seconds: float) -> None:
        calls.append(seconds)
        if len(calls) > 2:
            raise asyncio.CancelledError

    monkeypatch.setattr(server.asyncio, "sleep", sleep)
    monkeypatch.setattr(private, "end_sessions", Mock(side_effect=OSError("It stays.")))
    starts = Mock()
    monkeypatch.setattr(server.trainings, "start", starts.of_trainings)
    monkeypatch.setattr(server.files, "start", starts.of_files)
    with pytest.raises(asyncio.CancelledError):
        run(server._keep_up())
    assert calls == [server.SESSIONS] * 3
    assert starts.of_trainings.call_count == starts.of_files.call_count == 2
