"""The number of open tabs."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from asgi import HTML, handle, run
from starlette.types import Receive, Scope, Send

from bpeviz import limits
from bpeviz.ui.server import connections
from bpeviz.ui.server.connections import OF_TAB, RESERVED, Connections


@pytest.mark.parametrize(
    ("most", "files", "tabs", "is_full"),
    [(3, 10_000, 3, True), (3, 10_000, 2, False), (100, RESERVED + 2 * OF_TAB, 2, True)],
)
def test_tabs_beyond_the_limit_are_refused_until_others_close(
    most: int, files: int, tabs: int, is_full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SESSIONS", most)

    async def check() -> None:
        leave = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "websocket":
                await send({"type": "websocket.accept"})
                if tabs_open.is_set():
                    return
                await leave.wait()
            else:
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": b""})

        tabs_open = asyncio.Event()
        limited = Connections(app, files)
        opened = [asyncio.create_task(handle(limited, "WEBSOCKET")) for _ in range(tabs)]
        await asyncio.sleep(0.01)
        tabs_open.set()
        page = await handle(limited, **HTML)
        script = await handle(limited, address="/static/a.js")
        tab = await handle(limited, "WEBSOCKET")
        assert (page.status, tab.status == 403) == ((503, True) if is_full else (200, False))
        assert ("Too many tabs" in page.body) is is_full
        assert script.status == 200
        leave.set()
        await asyncio.gather(*opened)
        assert (await handle(limited, **HTML)).status == 200

    run(check())


@pytest.mark.parametrize(
    ("soft", "hard", "raised"), [(1_024, 9_000, 9_000), (1_024, 10**6, 65_536), (9_000, 9_000, 0)]
)
def test_server_may_open_as_many_files_as_the_system_allows(
    soft: int, hard: int, raised: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 1,024 files, a default of many systems, 250 tabs would stop the server."""
    given: list[tuple[int, int]] = []
    system = SimpleNamespace(
        RLIMIT_NOFILE=7,
        RLIM_INFINITY=-1,
        getrlimit=lambda _of: (soft, hard),
        setrlimit=lambda _of, pair: given.append(pair),
    )
    monkeypatch.setattr(connections, "resource", system)
    assert connections.raise_open_files() == (raised or soft)
    assert given == ([(raised, hard)] if raised else [])
