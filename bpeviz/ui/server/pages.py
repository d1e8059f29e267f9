"""The pages as routes: Streamlit's HTML page with the style, early loads and policy of bpeviz.

As an element of a page, the style would arrive with the first run of the script, and then move
everything that is already on the screen. All pages are made once, when the server starts.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import secrets
from html import escape
from pathlib import PurePath

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from bpeviz import components, limits
from bpeviz.corpus import samples
from bpeviz.ui import private
from bpeviz.ui.inputs.text import TEXT
from bpeviz.ui.pages import train
from bpeviz.ui.registry import PAGES
from bpeviz.ui.runtime import long_texts
from bpeviz.ui.runtime.style import STYLE, fonts
from bpeviz.ui.runtime.user import COOKIE, cookie
from bpeviz.ui.tab_state import MARK

SCRIPT = components.UNAVAILABLE + (
    f"{components.FIRST_PAINT} "
    "window.__streamlit = { BACKEND_BASE_URL: new URL('./', location).href }; "  # asked first
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
    "Compare": ("player",),
    "Inspect": ("grid",),
    "Pre-tokenize": ("player",),
    "Algorithms": ("player",),
    "Learn": ("chapter_bar", "player"),
}
"""The components that a page draws at first."""

_IMPORTED = re.compile(r"""(?:from|import)\s*["'`]\./([\w.-]+\.js)["'`]""")


def content_security_policy(frame_ancestors: str) -> str:
    """Return the content security policy: nothing comes from another host.

    Args:
        frame_ancestors: The origins whose pages may show the app in a frame, separated by spaces.
            If empty, only the app's own.

    Raises:
        ValueError: `frame_ancestors` contains a comma, a semicolon or a line break.
    """
    if re.search(r"[,;\r\n]", frame_ancestors):
        raise ValueError(
            "The environment variable BPEVIZ_FRAME_ANCESTORS must be a list of origins, separated "
            f"by spaces. It is {frame_ancestors!r}."
        )
    page = private.PAGE.read_text(encoding="utf-8")
    scripts = [*re.findall("<script>(.*?)</script>", page, re.DOTALL), SCRIPT]
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    # Streamlit loads the scripts of components from blobs.
    return (
        f"default-src 'self'; script-src 'self' blob: {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
        "object-src 'none'; frame-src 'none'; base-uri 'none'; form-action 'self'; "
        f"frame-ancestors {frame_ancestors.strip() or chr(39) + 'self' + chr(39)}"
    )


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


def _module(name: str) -> str:
    return f"./{components.PATH}/{components.module(name).file}"


def _first_paint() -> str:
    """Return an element with the first page's title and text, and the module of its player."""
    text = samples.by_key(TEXT.first).text
    values = {"player": _module("player"), "title": train.heading(), "text": text}
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in values.items())
    return f'<meta name="first-paint"{data}>'


def _html() -> dict[str, str]:
    """Return the HTML of each page by its name in addresses, which is "" for Train."""
    added = f"<script>{SCRIPT}</script>{_preloads()}<style>{fonts('.')}</style>{STYLE}"
    before, end, after = private.PAGE.read_text(encoding="utf-8").partition("</head>")
    pages = {}
    for page, drawn in _COMPONENTS.items():
        modules = (_module(name) for name in (*_ON_ALL, *drawn))
        links = "".join(f'<link rel="modulepreload" href="{module}">' for module in modules)
        links += "" if page else _first_paint()
        pages[page] = f"{before}{links}{added}{end}{after}"
    return pages


class _Name(Convertor[str]):  # type: ignore[misc]
    """The name of a page; those of Streamlit's files have a dot."""

    regex = "[^/.]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


def routes(base: str) -> list[Route]:
    """Return the routes of pages, and of long texts. base: the path of the app."""
    register_url_convertor("page", _Name())
    below = base.rstrip("/")
    pages = {name: html.encode() for name, html in _html().items()}
    packed = {name: gzip.compress(html) for name, html in pages.items()}
    stems = {page.title.lower(): PurePath(page.path).stem for page in PAGES}
    names = {title: "" if stem == "app" else stem for title, stem in stems.items()}

    async def page(request: Request) -> Response:
        asked = request.path_params.get("name", "")
        name = names.get(asked.lower(), asked)
        if name != asked:
            return RedirectResponse(f"{below}/{name}?{request.url.query}".rstrip("?"))
        name = name if name in pages else "Learn"  # Streamlit says that there is no such page
        headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if is_packed := "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        response = HTMLResponse((packed if is_packed else pages)[name], headers=headers)
        if COOKIE not in request.cookies:
            token = secrets.token_urlsafe(16)
            response.headers.append("Set-Cookie", cookie(request.scope, COOKIE, token, base))
        return response

    texts = f"{long_texts.path(base)}/{{token}}/{{name}}/{{number}}"
    return [
        Route(f"{below}/", page),
        Route(f"{below}/{{name:page}}", page),
        Route(texts, _long_text, methods=["PUT"]),
    ]


async def _long_text(request: Request) -> Response:
    """Store a long text for its session (`bpeviz.ui.runtime.long_texts`)."""
    token, name, number = request.path_params.values()
    inbox = long_texts.find(token)
    if inbox is None or not re.fullmatch("[0-9]{1,16}", number):
        return PlainTextResponse("The session has ended. Reload the page.", 404)
    if int(request.headers["content-length"]) > 4 * limits.TEXT:
        return PlainTextResponse(f"The limit is {limits.TEXT:,} characters. Shorten the text.", 413)
    content = bytearray()  # grows in place: joining chunks would keep all users waiting
    try:
        async for chunk in request.stream():
            content += chunk
    except ClientDisconnect:
        return Response(status_code=400)
    inbox.put(name, int(number), content)
    return Response(status_code=204)
