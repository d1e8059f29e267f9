"""Fixtures and settings of all tests, and the order in which several processes run them."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from _pytest.doctest import DoctestModule
from browser.serving import FLAGS, UNOPTIMIZED, Server, chromium, serving
from helpers import properties
from helpers.properties import examples
from helpers.shell import shell, trained  # noqa: F401
from hypothesis import HealthCheck, Phase, settings

from bpeviz.pretrained import catalog, download

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

# What pytest collects stays to the end. Looking for garbage in it takes a quarter of the time.
gc.disable()


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads --hypothesis-profile
def pytest_configure(config: pytest.Config) -> None:
    """Set the number of examples of property tests: few where thorough tests are left out."""
    marks = config.getoption("markexpr")
    properties.FAST = "not thorough" in marks or "not slow" in marks
    if properties.FAST and "BPEVIZ_EXAMPLES" not in os.environ:
        properties.SHARE = 0.05
    if "not slow" in marks:  # for while one works; the check of the project draws more
        properties.MANY = 2 * properties.LEAST
    # A first example may fill caches or load a vocabulary, so examples have no deadline.
    # Making a failing example smaller may take minutes: BPEVIZ_SHRINK=1 does so.
    phases = [phase for phase in Phase if phase.name != "shrink" or "BPEVIZ_SHRINK" in os.environ]
    # A busy machine also draws examples slowly, which Hypothesis takes for a fault of the test.
    slow = [HealthCheck.too_slow]
    common: dict[str, Any] = {"deadline": None, "phases": phases, "suppress_health_check": slow}
    settings.register_profile("bpeviz", **common, max_examples=examples(100))
    settings.register_profile("quick", **common, max_examples=5)
    settings.load_profile("bpeviz")


collect_ignore = ["portability"]
"""Scripts of `test_portability.py`: importing them, as doctest does, takes away parts of `os`."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file whose tests would all be left out: importing takes half as long as they do."""
    if "not slow" not in config.getoption("markexpr"):
        return None
    if collection_path.is_dir():
        return True if collection_path.name == "journeys" else None
    if collection_path.suffix != ".py":
        return None
    source = collection_path.read_text("utf-8")
    return True if "\npytestmark = pytest.mark.slow\n" in source else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Search no tests for examples in their docstrings, which only the package contains."""
    collectors = yield
    return [one for one in collectors if not isinstance(one, DoctestModule)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests, and order them: those of Dask, of a browser, others, and thorough ones."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker("slow")
        if item.get_closest_marker("thorough"):
            item.add_marker("slow")
    items.sort(key=lambda item: bool(item.get_closest_marker("thorough")))
    items.sort(key=lambda item: not item.get_closest_marker("browser"))
    # After Playwright, an event loop runs in the process, in which no Dask cluster can start.
    items.sort(key=lambda item: item.path.name != "test_dask.py")


def pytest_collection_finish() -> None:
    """Let Streamlit search the installed packages and compile a page once, not for each `AppTest`.

    The search takes nearly half the processor time of a page.
    """
    gc.enable()
    # After each 700 objects, as usual, it would take an eighth of the processor time of tests.
    gc.set_threshold(100_000, 20, 50)
    gc.freeze()
    if "streamlit.testing.v1" in sys.modules:
        from streamlit.components.v2 import manifest_scanner
        from streamlit.testing.v1 import local_script_runner

        scan = manifest_scanner.scan_component_manifests
        manifest_scanner.scan_component_manifests = functools.cache(scan)
        local_script_runner.ScriptCache = functools.cache(local_script_runner.ScriptCache)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Assign tests of a browser one by one, and others by file, so that those share trainings.

    The first process begins at the start, the others at the end. So it runs the tests of a browser
    until it meets the others: two browsers, with a server each, run side by side for as short a
    time as possible, and no process is idle.
    """
    from xdist.scheduler import LoadScopeScheduling

    class FromBothEnds(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if "/journeys/" in nodeid else nodeid.partition("::")[0]

        def _assign_work_unit(self, node: Any) -> None:
            if node is not self.nodes[0]:
                self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
            super()._assign_work_unit(node)

    config.option.loadscopereorder = False  # the order of `pytest_collection_modifyitems`
    return FromBothEnds(config, log)


def unavailable(reason: str) -> NoReturn:
    """Skip the test, or fail it under CI, where everything must be installed."""
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Start the driver of browsers."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("No playwright: pip install -r tests/requirements.txt")
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Start a browser."""
    if (path := chromium()) is None:
        unavailable(
            "No Chromium: apt-get install chromium-headless-shell, or set BPEVIZ_CHROMIUM to one"
        )
    browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, UNOPTIMIZED])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def vocabulary_files() -> None:
    """Download the published vocabularies in advance, so that no page waits for them."""
    for name in catalog.NAMES:
        try:
            download.fetch(name)
        except download.VocabularyUnavailable as error:
            unavailable(str(error))


@pytest.fixture(scope="session")
def server(
    browser: Browser, vocabulary_files: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Start the server that tests in a browser share."""
    # The browser fixture is first: without a browser, no server starts.
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def tiny_shakespeare() -> str:
    """Return Tiny Shakespeare, 1,115,394 bytes, or skip the test where the file is missing."""
    path = Path(__file__).parents[2] / "shared" / "data" / "tinyshakespeare.txt"
    if not path.exists():
        pytest.skip(f"There is no {path.name} beside this repository.")
    return path.read_bytes().decode()
