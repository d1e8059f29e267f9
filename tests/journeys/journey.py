"""A journey: named steps in a browser, each of which may fail while the journey goes on."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser.serving import OPTIONS, TIMEOUT, Server
from playwright.sync_api import Browser, Error, Frame, Page, Request, Response
from playwright.sync_api import expect as expect_at_once

if TYPE_CHECKING:
    from playwright.sync_api import WebSocket

AFTER_A_FAILURE = 10_000
"""Milliseconds until an action or an assertion fails once a step has failed."""

# On a deep link, Streamlit's frontend first requests its server below the page's URL, such as
# /Compare/_stcore/health. The response is 404, an error in the console; then it tries the root.
PROBE = re.compile(r"/[^/]+/_stcore/(health|host-config)$")

FORGET = """() => new Promise((resolve) => {
  Storage.prototype.setItem = () => {}; // a page run may still end
  localStorage.clear();
  sessionStorage.clear();
  const request = indexedDB.deleteDatabase("bpeviz");
  request.onsuccess = request.onerror = request.onblocked = resolve;
})"""
"""Deletes what a page has stored in the browser."""

RUNS = """
  const runs = { isBegun: true, sent: 0, ended: 0 };
  // Streamlit ignores what a part reports that is no longer on the page: then no run begins.
  const hasBegun = () => runs.isBegun || Date.now() - runs.sent > 10_000;
  window.hasEndedRuns = () => hasBegun() && Date.now() - runs.ended > 100;
  const watched = new WeakSet();
  const receive = ({ data }) => {
    const bytes = new Uint8Array(data);
    let at = 0;
    const number = () => {
      let value = 0, shift = 0;
      for (; bytes[at] > 127; shift += 7) value += (bytes[at++] & 127) * 2 ** shift;
      return value + bytes[at++] * 2 ** shift;
    };
    let field = number();
    while (field === 0x0a || field === 0x12) { // hash and metadata, which come first
      const size = number();
      at += size;
      field = number();
    }
    if (field === 0x22) Object.assign(runs, { isBegun: true, ended: Infinity }); // new_session
    if (field === 0x30 && runs.isBegun) runs.ended = Date.now(); // script_finished
  };
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (message) {
    if (message[0] === 0x5a) { // rerun_script
      Object.assign(runs, { isBegun: false, sent: Date.now() });
      if (!watched.has(this)) this.addEventListener("message", receive);
      watched.add(this);
    }
    return send.call(this, message);
  };
"""
"""Adds a function that returns whether the last run that the page requested has ended, and its
elements are drawn. Streamlit marks a page as running only once its server has begun."""


class Watch:
    """Collects everything on a page that counts as an error."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.problems: list[str] = []
        self._origin = origin
        self._documents = 0
        """How many documents the page has requested."""
        self._document = 0
        """The number of the one that it shows."""
        self._requested: dict[Request, int] = {}
        """The document that the page showed when each request began."""
        self._listeners: dict[Any, Callable[[Any], None]] = {
            "request": self._request,
            "framenavigated": self._navigated,
            "response": self._response,
            "requestfailed": self._failed,
            "console": self._console,
            "pageerror": self._error,
            "websocket": self._socket,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def end(self) -> None:
        """Watch no longer."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def take(self) -> list[str]:
        """Return the errors since the last call."""
        taken, self.problems = self.problems, []
        return taken

    def _address(self, url: str) -> None:
        if not url.startswith((f"{self._origin}/", "data:", "blob:", "about:")):
            self.problems.append(f"request to another server: {url}")

    def _request(self, request: Request) -> None:
        self._address(request.url)
        if request.is_navigation_request():
            self._documents += request.frame == self.page.main_frame
        self._requested[request] = self._document

    def _navigated(self, frame: Frame) -> None:
        if frame == self.page.main_frame:
            self._document = self._documents

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not PROBE.search(response.url):
            self.problems.append(f"{response.status}: {response.url}")

    def _failed(self, request: Request) -> None:
        is_old = self._requested.get(request, -1) < self._documents
        left = is_old or request.frame != self.page.main_frame
        if left and request.failure == "net::ERR_ABORTED":
            return  # by the browser, which has left the page for another one, or removes a frame
        self.problems.append(f"failed: {request.url} ({request.failure})")

    def _console(self, message: Any) -> None:
        if message.type == "error" and not PROBE.search(message.location.get("url", "")):
            self.problems.append(f"console: {message.text}")

    def _error(self, error: Error) -> None:
        self.problems.append(f"page error: {error}")

    def _socket(self, socket: WebSocket) -> None:
        self._address(socket.url.replace("ws:", "http:", 1))


class Journey:
    """What people do in a browser, step by step.

    The errors that a browser reports, requests to other servers and tracebacks in the log of the
    server fail the step in which they occur.

    Args:
        browser: The browser.
        server: The server that all journeys share.
        subtests: Pytest's reports of the steps.
        folder: The folder of the pictures of failed steps.
        tabs: Idle tabs of other journeys, which keep the compiled code of Streamlit's frontend.
    """

    def __init__(
        self,
        browser: Browser,
        server: Server,
        subtests: pytest.Subtests,
        folder: Path,
        tabs: list[Page],
    ) -> None:
        self.browser = browser
        self.server = server
        self.seconds: dict[str, float] = {}
        self._subtests = subtests
        self._folder = folder
        self._tabs = tabs
        self._watched: list[tuple[Watch, Server]] = []
        self._reusable: list[Page] = []
        self._failed = False

    @contextmanager
    def step(self, says: str, *, errors: str = "$^") -> Iterator[None]:
        """Do a step. If it fails, keep a picture of each page, and go on.

        Args:
            says: What the user does and sees.
            errors: A regular expression of the errors that belong to it.
        """
        start = time.monotonic()
        with self._subtests.test(says):
            try:
                yield
                problems = [each for each in self._problems() if not re.search(errors, each)]
                assert not problems, "\n".join(problems)
            except Exception as error:
                if self._failed and isinstance(error, UnboundLocalError):
                    pytest.skip(f"It needs what a failed step has not reached: {error}")
                for note in (*self._pictures(), *self._problems()):
                    error.add_note(note)
                self._fail_soon()
                raise
            finally:
                self.seconds[says] = time.monotonic() - start

    def open(self, path: str = "/", *, server: Server | None = None, **options: Any) -> Page:
        """Open a page as a new user.

        Args:
            path: The path of the page.
            server: The server, if not that of all journeys.
            **options: Options of Playwright's `new_context`, and `prepare`, a function that is
                called with the page before it is opened.
        """
        server = server or self.server
        prepare = options.pop("prepare", None)
        media = {
            name: options.pop(name, OPTIONS[name]) for name in ("color_scheme", "reduced_motion")
        }
        size = options.pop("viewport", OPTIONS["viewport"])
        if not options and not prepare and self._tabs:
            page = self._tabs.pop()
        else:
            context = self.browser.new_context(**OPTIONS | options)
            context.set_default_timeout(AFTER_A_FAILURE if self._failed else TIMEOUT)
            context.add_init_script(f"{{{RUNS}}}")
            page = context.new_page()
        if not options and not prepare:
            self._reusable.append(page)
        page.set_viewport_size(size)
        page.emulate_media(media="null", **media)
        if prepare:
            prepare(page)
        self.watch(page, server)
        page.goto(server.address + path)
        return page

    def add_script(self, page: Page, script: str) -> None:
        """Run a script before those of later documents of a page, which no later journey gets."""
        page.add_init_script(script)
        self._reusable.remove(page)

    def watch(self, page: Page, server: Server | None = None) -> Page:
        """Let the errors of a page, such as one that another has opened, fail its step."""
        server = server or self.server
        self._watched.append((Watch(page, server.address), server))
        return page

    def beside(
        self, page: Page, address: str, prepare: Callable[[Page], None] | None = None
    ) -> Page:
        """Open an address in another tab of the browser of a page."""
        (server,) = [server for watch, server in self._watched if watch.page is page]
        other = self.watch(page.context.new_page(), server)
        if prepare:
            prepare(other)
        other.goto(address)
        return other

    def close(self, *pages: Page) -> None:
        """Close pages, or leave them and delete what they stored, so that others can use them."""
        for page in pages:
            for watch, _ in self._watched:
                if watch.page is page:
                    watch.end()
            self._watched = [pair for pair in self._watched if pair[0].page is not page]
            if page.is_closed():
                continue
            if page not in self._reusable or self._failed:
                page.close()
                continue
            self._reusable.remove(page)
            for other in page.context.pages:
                if other is not page:
                    other.close()
            page.evaluate(FORGET)
            page.goto("about:blank")
            page.mouse.move(0, 0)
            page.context.clear_cookies()
            self._tabs.append(page)

    def end(self) -> None:
        """Close everything that the journey has opened."""
        for page in [watch.page for watch, _ in self._watched]:
            self.close(page)
        expect_at_once.set_options(timeout=TIMEOUT)

    def _problems(self) -> list[str]:
        problems = [problem for watch, _ in self._watched for problem in watch.take()]
        servers = {id(server): server for _, server in self._watched}
        return [*problems, *filter(None, (server.tracebacks() for server in servers.values()))]

    def _pictures(self) -> Iterator[str]:
        """Yield where a picture of each open page is."""
        for number, page in enumerate(dict.fromkeys(watch.page for watch, _ in self._watched)):
            path = self._folder / f"{len(self.seconds)}-{number}.png"
            try:
                page.screenshot(path=path, timeout=AFTER_A_FAILURE)
            except Error:
                continue
            yield f"Picture of {page.url}: {path}"

    def _fail_soon(self) -> None:
        """Wait no longer for long: what follows a failed step may never come."""
        self._failed = True
        expect_at_once.set_options(timeout=AFTER_A_FAILURE)
        for page in [watch.page for watch, _ in self._watched]:
            page.context.set_default_timeout(AFTER_A_FAILURE)
