"""Fixtures of the journeys, and the seconds of their steps."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.serving import Server

if TYPE_CHECKING:
    from journeys.journey import Journey
    from playwright.sync_api import Browser, Page

if not find_spec("playwright") and "CI" not in os.environ:
    collect_ignore_glob = ["test_*.py"]

SLOWEST = 4.0
"""The seconds of a step from which on the summary lists it."""

SECONDS = pytest.StashKey[dict[str, dict[str, float]]]()
"""The seconds of all steps, by journey."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def tabs() -> list[Page]:
    """Return the idle tabs."""
    return []


@pytest.fixture
def journey(
    browser: Browser,
    server: Server,
    tabs: list[Page],
    subtests: pytest.Subtests,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Journey]:
    """Begin a journey; at its end, close what it has opened."""
    from journeys.journey import Journey

    started = Journey(browser, server, subtests, tmp_path_factory.mktemp("pictures"), tabs)
    yield started
    started.end()
    request.config.stash.setdefault(SECONDS, {})[request.node.nodeid] = started.seconds


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the seconds of the journeys, and their slowest steps."""
    for node, seconds in config.stash.get(SECONDS, {}).items():
        terminalreporter.write_line(f"{sum(seconds.values()):6.1f} s  {node}")
        for says, duration in seconds.items():
            if duration >= SLOWEST:
                terminalreporter.write_line(f"{duration:14.1f} s  {says}")
