"""The style of the pages in the first response."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit
from helpers.asgi import HTML, ask
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp

from bpeviz.ui.runtime.style import STYLE
from bpeviz.ui.server.first_style import FirstStyle

STATIC = Path(streamlit.__file__).parent / "static"


def test_streamlits_page_contains_the_style_in_its_head() -> None:
    answer = ask(FirstStyle(FileResponse(STATIC / "index.html")), **HTML)
    head, body = answer.body.split("</head>")
    assert head.endswith(STYLE)
    assert "root" in body
    assert answer.header("content-length") == str(len(answer.body.encode()))


def test_font_of_tokens_is_loaded_early() -> None:
    answer = ask(FirstStyle(FileResponse(STATIC / "index.html")), **HTML)
    [font] = {*re.findall(r'"\./([^"]+SourceCode[^"]+)"', answer.body)}
    assert (STATIC / font).is_file()


def test_scripts_of_components_are_loaded_early_and_those_of_charts_are_not() -> None:
    answer = ask(FirstStyle(FileResponse(STATIC / "index.html")), **HTML)
    added = answer.body.split("SourceCode")[1]
    assert "/code/" not in added
    scripts = re.findall(r'<link rel="modulepreload" href="\./([^"]+)"', added)
    assert all((STATIC / script).is_file() for script in scripts)
    names = {Path(script).name.split(".")[0] for script in scripts}
    assert {"BidiComponent", "serialization", "PageLink", "Slider"} <= names
    assert names.isdisjoint({"embed", "DataFrame", "ArrowVegaLiteChart"})
    assert sum((STATIC / script).stat().st_size for script in scripts) < 1_000_000


def test_unchanged_or_compressed_page_is_never_answered() -> None:
    sent: list[dict[str, str]] = []

    async def app(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        sent.append({name.decode(): value.decode() for name, value in scope["headers"]})
        headers = {"ETag": "a", "Last-Modified": "b"}
        await HTMLResponse("<head></head>", headers=headers)(scope, receive, send)

    conditions = {"if_none_match": "a", "if_modified_since": "b", "accept_encoding": "gzip"}
    answer = ask(FirstStyle(app), **HTML, **conditions)
    assert sent == [HTML]
    assert STYLE in answer.body
    assert answer.all("etag") == answer.all("last-modified") == []


def test_other_responses_do_not_change() -> None:
    text: ASGIApp = PlainTextResponse("</head>")
    assert ask(FirstStyle(text), **HTML).body == "</head>"
    page = HTMLResponse("</head>", headers={"ETag": "a"})
    assert ask(FirstStyle(page), accept="*/*").header("etag") == "a"
