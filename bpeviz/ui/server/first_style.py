"""Add the style of the pages, and links to the files they load first, to the first response.

As an element of a page, the style would arrive with the first run of the script, and then move
everything that is already on the screen.
"""

from __future__ import annotations

import re
from html import escape

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bpeviz import components
from bpeviz.corpus import samples
from bpeviz.ui import private
from bpeviz.ui.inputs.text import TEXT
from bpeviz.ui.pages import train
from bpeviz.ui.runtime.style import STYLE, fonts
from bpeviz.ui.server.user_cookie import opens_page
from bpeviz.ui.tab_state import MARK

_END = b"</head>"

SCRIPT = components.UNAVAILABLE + (
    f"{components.FIRST_PAINT} "
    'const first = document.querySelector("meta[name=first-paint]")?.dataset; '
    "if (first) paintFirst(first, import(new URL(first.player, document.baseURI))); "
    'if (new URLSearchParams(location.search).get("embed") === "true") '
    'document.documentElement.dataset.embedded = ""; '
    'else try { const [{ type }] = performance.getEntriesByType("navigation"); '
    'if (["reload", "back_forward"].includes(type) && sessionStorage.getItem("bpeviz-tab")) { '
    f'const url = new URL(location); if (!url.searchParams.has("{MARK}")) '
    f'url.search += `${{url.search && "&"}}{MARK}=1`; '  # searchParams would write + for %20
    "history.replaceState(history.state, '', url); } } catch {}"
)
"""Defines the note in place of a component that is not available. Draws the text of the first page
before its first run, by what its head says of it. Marks a page that another one embeds, and
else the address of a reloaded tab, whose run waits for its state (`tab_state`)."""

_FIRST = (
    "BidiComponent",
    "Html",
    "PageLink",
    "Selectbox",
    "Multiselect",
    "Slider",
    "Button",
    "ButtonGroup",
)
"""The elements above the fold. Streamlit would load their scripts only after a run sends them."""

_ON_ALL = ("host", "frame", "tab_state", "text_box", "copy_link")
_COMPONENTS = {
    "": ("player",),
    "Compare": ("score",),
    "Inspect": ("grid", "player"),
    "Pre-tokenize": ("score",),
    "Algorithms": ("player",),
    "Learn": ("chapter_bar", "player"),
}
"""The components that a page draws at first."""

_IMPORTED = re.compile(r"""(?:from|import)\s*["'`]\./([\w.-]+\.js)["'`]""")


def _preloads() -> str:
    """Return links that load a font and scripts early.

    If the font of tokens came later, the lines of a text would break anew. The scripts of
    components and of common widgets would otherwise load only after the first run of a page.
    """
    font = private.FONTS["Source Code Pro"]
    scripts = {file.name: file for file in private.SCRIPTS.iterdir()}
    page = private.PAGE.read_text(encoding="utf-8")  # it loads most scripts early itself
    waiting = [name for name in scripts if name.split(".")[0] in _FIRST]
    preloaded: dict[str, None] = {}
    while waiting:
        name = waiting.pop()
        if name in scripts and name not in preloaded and name not in page:
            preloaded[name] = None
            waiting += _IMPORTED.findall(scripts[name].read_text(encoding="utf-8"))
    return f'<link rel="preload" href="./{font}" as="font" crossorigin>' + "".join(
        f'<link rel="modulepreload" href="./static/js/{name}" crossorigin>' for name in preloaded
    )


def _modules(page: str) -> str:
    """Return links that load the modules of a page's components early."""
    return "".join(
        f'<link rel="modulepreload" href="./{components.PATH}/{components.module(name).file}">'
        for name in (*_ON_ALL, *_COMPONENTS[page])
    )


def _first_paint() -> str:
    """Return an element with the first page's title and text, and the module of its player."""
    player = f"./{components.PATH}/{components.module('player').file}"
    values = {"player": player, "title": train.heading(), "text": samples.by_key(TEXT.first).text}
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in values.items())
    return f'<meta name="first-paint"{data}>'


class FirstStyle:
    """Adds the style of the pages to Streamlit's HTML page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._added = (
            f"<script>{SCRIPT}</script>{_preloads()}<style>{fonts('.')}</style>{STYLE}"
        ).encode()
        self._modules = {page: _modules(page).encode() for page in _COMPONENTS}
        self._modules[""] += _first_paint().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not opens_page(scope):
            await self._app(scope, receive, send)
            return
        start: Message = {}
        is_html = False
        body = b""

        async def send_with_style(message: Message) -> None:
            nonlocal start, is_html, body
            if message["type"] == "http.response.start":
                start = message
                is_html = Headers(raw=start["headers"]).get("content-type", "")[:9] == "text/html"
            if not is_html:
                await send(message)
            elif message["type"] == "http.response.body":
                body += message.get("body", b"")
                if not message.get("more_body"):
                    page = scope["path"].rpartition("/")[2]
                    added = self._modules.get(page, b"") + self._added
                    body = body.replace(_END, added + _END, 1)
                    headers = MutableHeaders(scope=start)
                    headers["Content-Length"] = str(len(body))
                    # It identifies Streamlit's file, which does not change with the style.
                    del headers["ETag"], headers["Last-Modified"]
                    await send(start)
                    await send({"type": "http.response.body", "body": body})

        # Request the page itself: it could be edited neither compressed nor as “not modified”.
        sent = Headers(scope=scope).mutablecopy()
        for name in ("accept-encoding", "if-none-match", "if-modified-since"):
            del sent[name]
        await self._app(scope | {"headers": sent.raw}, receive, send_with_style)
