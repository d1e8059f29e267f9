"""One server and one browser for the whole run; a fresh, watched context for each test."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from serving import FLAGS, Server, chromium, serving

from bpeviz.pretrained import catalog, download

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request, Response

SCREEN = {"width": 1366, "height": 768}
PATIENCE = 15_000
"""Milliseconds until what is awaited has failed to come. This machine may be slow and busy."""

# On a cold deep link Streamlit's own script looks for its server below the page's address first,
# as in /Compare/_stcore/health, gets 404 from it, and then looks at the root. That is its way of
# finding out where it is mounted; the browser's console notes each 404 as an error.
PROBE = re.compile(r"/[^/]+/_stcore/(health|host-config)$")


def without(what: str) -> NoReturn:
    """Skip, with what to do about it; under CI, where everything must be there, fail."""
    if os.environ.get("CI"):
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without("No playwright: pip install -r tests/requirements.txt")
    if (found := chromium()) is None:
        without(
            "No Chromium: apt-get install chromium-headless-shell, or name one in BPEVIZ_CHROMIUM"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def vocabulary_files() -> None:
    """Bring the vocabularies ahead, so that Compare need not wait for them."""
    for name in catalog.NAMES:
        try:
            download.fetch(name)
        except download.VocabularyUnavailable as error:
            without(str(error))


@pytest.fixture(scope="session")
def server(
    browser: Browser, vocabulary_files: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    # The browser is asked for first: without one, no server need start.
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@dataclass
class Watch:
    """Notes all that must not happen in a context."""

    origin: str
    problems: list[str] = field(default_factory=list)

    def over(self, context: BrowserContext) -> None:
        context.on("request", self._request)
        context.on("response", self._response)
        context.on("requestfailed", self._failed)
        context.on("console", self._console)
        context.on("weberror", lambda error: self._note(f"page error: {error.error}"))
        context.on("page", self._page)

    def _note(self, problem: str) -> None:
        self.problems.append(problem)

    def _page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._inside(socket.url.replace("ws:", "http:", 1)))

    def _inside(self, url: str) -> None:
        if not url.startswith((f"{self.origin}/", "data:", "blob:")):
            self._note(f"request to the outside: {url}")

    def _request(self, request: Request) -> None:
        self._inside(request.url)

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not PROBE.search(response.url):
            self._note(f"{response.status}: {response.url}")

    def _failed(self, request: Request) -> None:
        self._note(f"failed: {request.url} ({request.failure})")

    def _console(self, message: Any) -> None:
        if message.type == "error" and not PROBE.search(message.location.get("url", "")):
            self._note(f"console: {message.text}")


@pytest.fixture
def open_at(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page of a server in a context of its own: `open_at(server, "/Compare")`.

    `prepare` is given the page before it is opened; further arguments are those of Playwright's
    `new_context`. At the end of the test, nothing
    that is watched may have happened, and no traceback may stand in the server's log.
    """
    opened: list[tuple[BrowserContext, Watch, Server]] = []

    def open_at(
        server: Server,
        path: str = "/",
        prepare: Callable[[Page], None] = lambda page: None,
        **options: Any,
    ) -> Page:
        context = browser.new_context(**{"viewport": SCREEN} | options)
        context.set_default_timeout(PATIENCE)
        watch = Watch(server.address)
        watch.over(context)
        opened.append((context, watch, server))
        page = context.new_page()
        prepare(page)
        page.goto(server.address + path)
        return page

    yield open_at
    problems = []
    for context, watch, server in opened:
        problems += watch.problems  # before closing, which may cut off requests
        context.close()
        problems += filter(None, [server.tracebacks()])
    assert problems == []


@pytest.fixture
def open_page(open_at: Callable[..., Page], server: Server) -> Callable[..., Page]:
    """Open a page of the shared server: `open_page("/Compare", color_scheme="dark")`."""

    def open_page(path: str = "/", **options: Any) -> Page:
        return open_at(server, path, **options)

    return open_page
