"""The number of files that the server may open."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bpeviz.ui import server


@pytest.mark.parametrize(
    ("soft", "hard", "most", "raised"),
    [
        (1_024, 9_000, 10**9, 9_000),
        (1_024, 10**6, 10**9, 65_536),
        (9_000, 9_000, 10**9, 0),
        (256, -1, 10_240, 10_240),  # macOS: with 256, the 59th tab fails
        (-1, -1, 10**9, 0),
        (256, 10**6, 0, 0),
    ],
)
def test_server_may_open_as_many_files_as_the_system_allows(
    soft: int, hard: int, most: int, raised: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []

    def put(_of: int, pair: tuple[int, int]) -> None:
        if pair[0] > most:
            raise ValueError
        given.append(pair)

    system = SimpleNamespace(
        RLIMIT_NOFILE=7, RLIM_INFINITY=-1, getrlimit=lambda _of: (soft, hard), setrlimit=put
    )
    monkeypatch.setattr(server, "resource", system)
    server.raise_open_files()
    assert given == ([(raised, hard)] if raised else [])
