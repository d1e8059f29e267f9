"""Fixtures of the browser tests: one server, one browser, and pages that record errors."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from journeys.journey import FORGET, Watch
from serving import OPTIONS, TIMEOUT, Server

from bpeviz.ui.permalink import codec

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHANGEABLE = {"viewport", "color_scheme", "reduced_motion"}
"""The options of a context that can be changed while a tab is open."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("browser")


class Tabs:
    """Tabs of a browser, each in a context of its own, that tests use one after the other.

    A tab keeps the compiled code of Streamlit's frontend. In a new context, opening a page takes
    twice the processor time.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: dict[str, list[Page]] = {}
        """Empty tabs by the options that cannot be changed while they are open."""

    def open(self, *, reusable: bool, **options: Any) -> Page:
        """Return an empty tab with these options of Playwright's `new_context`."""
        options = OPTIONS | options
        if reusable and (idle := self._idle.get(fixed(options))):
            page = idle.pop()
            page.set_viewport_size(options["viewport"])
        else:
            context = self._browser.new_context(**options)
            context.set_default_timeout(TIMEOUT)
            page = context.new_page()
        page.emulate_media(
            media="null",
            color_scheme=options["color_scheme"],
            reduced_motion=options["reduced_motion"],
        )
        return page

    def close(self, page: Page, *, reusable: bool, **options: Any) -> None:
        """Close a page, or leave it and delete what it stored, so that its tab can be reused."""
        if not reusable or page.is_closed():
            page.context.close()
            return
        for other in page.context.pages:
            if other is not page:
                other.close()
        page.evaluate(FORGET)
        page.goto("about:blank")
        page.mouse.move(0, 0)
        page.context.clear_cookies()
        self._idle.setdefault(fixed(OPTIONS | options), []).append(page)


def fixed(options: dict[str, Any]) -> str:
    """Return the options of a context that cannot be changed while a tab is open, as a key."""
    return repr(sorted((name, options[name]) for name in options.keys() - CHANGEABLE))


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Tabs:
    return Tabs(browser)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def open_at(tabs: Tabs, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    """Open a page of a server as a new user: `open_at(server, "/Compare")`.

    `prepare` is called with the page before it is opened; further arguments are those of
    Playwright's `new_context`. The test fails if the browser reports an error or a request to
    another server, or if the server's log contains a traceback.
    """
    opened: list[tuple[Page, Watch, Server, bool, dict[str, Any]]] = []

    def open_at(
        server: Server,
        path: str = "/",
        prepare: Callable[[Page], None] | None = None,
        **options: Any,
    ) -> Page:
        reusable = prepare is None
        page = tabs.open(reusable=reusable, **options)
        opened.append((page, Watch(page, server.address), server, reusable, options))
        if prepare:
            prepare(page)
        page.goto(server.address + path)
        return page

    yield open_at
    problems = []
    for page, watch, server, reusable, options in opened:
        problems += watch.problems  # before leaving the page, which may interrupt requests
        watch.end()
        tabs.close(page, reusable=reusable and not request.node.stash[FAILED], **options)
        problems += filter(None, [server.tracebacks()])
    assert problems == []


_TABLES = {"text_sample": "english-prose", "why_open": True, "log_open": True}
ENGLISH_TRAINED = f"/?s={codec.pack(_TABLES)}&step=9999"
"""A link to the English prose on the Train page, at the last merge, with its tables."""


@pytest.fixture(scope="session")
def loaded() -> dict[str, Page]:
    """Return the tabs that tests share, by path: those used before and not in a failed test."""
    return {}


@pytest.fixture
def share_page(
    tabs: Tabs, server: Server, loaded: dict[str, Page], request: pytest.FixtureRequest
) -> Iterator[Callable[[str], Page]]:
    """Return a page that several tests share; loading one takes seconds of processor time."""
    used: list[tuple[str, Watch]] = []

    def share_page(path: str) -> Page:
        if path not in loaded:
            loaded[path] = tabs.open(reusable=False)
            loaded[path].goto(server.address + path)
        used.append((path, Watch(loaded[path], server.address)))
        return loaded[path]

    yield share_page
    problems = []
    for path, watch in used:
        problems += watch.problems
        watch.end()
        if request.node.stash[FAILED]:
            tabs.close(loaded.pop(path), reusable=False)
            continue
        page = loaded[path]
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur(), scrollTo(0, 0)")
        page.mouse.move(0, 0)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.set_viewport_size(OPTIONS["viewport"])
    assert problems == []
    assert server.tracebacks() == ""


@pytest.fixture
def english_page(share_page: Callable[[str], Page]) -> Page:
    """Return the Train page with the English prose, which several tests share.

    The tests may move the step, open what Escape closes, and change the color scheme. They must
    not change an input.
    """
    return share_page(ENGLISH_TRAINED)


@pytest.fixture
def inspect_page(share_page: Callable[[str], Page]) -> Page:
    """Return the Inspect page, which several tests share.

    Each test types its text and chooses its tokenizer and its part of the page. It must not change
    another input.
    """
    return share_page("/Inspect")


@pytest.fixture
def open_page(open_at: Callable[..., Page], server: Server) -> Callable[..., Page]:
    """Open a page of the shared server: `open_page("/Compare", color_scheme="dark")`."""

    def open_page(path: str = ENGLISH_TRAINED, **options: Any) -> Page:
        return open_at(server, path, **options)

    return open_page
