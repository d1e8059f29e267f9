"""Pages as routes: their head, policy, cookie and other spellings; and requests with long texts."""

from __future__ import annotations

import gc
import re
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
import streamlit
from helpers.asgi import Answer, ask, run
from helpers.refusals import refusal
from starlette.applications import Starlette
from starlette.types import Message

from bpeviz import limits
from bpeviz.ui.runtime import long_texts
from bpeviz.ui.runtime.style import STYLE
from bpeviz.ui.runtime.user import COOKIE
from bpeviz.ui.server.pages import content_security_policy, routes

STATIC = Path(streamlit.__file__).parent / "static"
BASES = ("/", "/class/7b")
APPS = {base: Starlette(routes=routes(base)) for base in BASES}


def opened(address: str = "/", base: str = "/", **options: str) -> Answer:
    return ask(APPS[base], "GET", base.rstrip("/") + address, **options)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("address", ["/", "/Learn", "/Pre-tokenize?text=x", "/unknown"])
def test_page_has_the_style_in_its_head(address: str, base: str) -> None:
    answer = opened(address, base)
    assert (answer.status, answer.header("cache-control")) == (200, "no-cache")
    head, body = answer.body.split("</head>")
    assert head.endswith(STYLE)
    assert "root" in body
    assert ("first-paint" in head.split("<script>")[-2]) == (address == "/")


def test_page_is_compressed_where_the_browser_takes_it() -> None:
    assert opened(accept_encoding="gzip, br").header("content-encoding") == "gzip"
    assert opened().all("content-encoding") == []


def test_font_and_scripts_of_widgets_are_loaded_early_and_those_of_charts_are_not() -> None:
    added = opened("/Learn").body.partition("<script>")[2]
    [font] = {*re.findall(r'"\./([^"]+SourceCode[^"]+)" as', added)}
    assert (STATIC / font).is_file()
    links = re.findall(r'<link rel="modulepreload" href="\./(static/[^"]+)"', added)
    assert all((STATIC / script).is_file() for script in links)
    names = {Path(script).name.split(".")[0] for script in links}
    assert {"BidiComponent", "serialization", "PageLink", "Slider"} <= names
    assert names.isdisjoint({"embed", "DataFrame", "ArrowVegaLiteChart"})
    assert sum((STATIC / script).stat().st_size for script in links) < 1_000_000


@pytest.mark.parametrize(
    ("asked", "target"),
    [
        ("/learn", "/Learn"),
        ("/Train", "/"),
        ("/train?s=eN", "/?s=eN"),
        ("/PRE-TOKENIZE?s=a%20b&step=3", "/Pre-tokenize?s=a%20b&step=3"),
    ],
)
@pytest.mark.parametrize("base", BASES)
def test_other_spelling_is_redirected_with_its_query(asked: str, target: str, base: str) -> None:
    answer = opened(asked, base)
    assert (answer.status, answer.header("location")) == (307, base.rstrip("/") + target)


def test_page_is_no_route_for_files_and_other_methods() -> None:
    for address in ("/favicon.png", "/static/js/a.js", "/_stcore/health"):
        assert opened(address).status == 404  # Streamlit's routes follow
    assert ask(APPS["/"], "POST", "/learn").status == 405


def test_first_page_sets_a_random_cookie_for_the_session() -> None:
    headers = [opened("/Learn", "/class/7b").header("set-cookie") for _ in range(2)]
    first, second = (SimpleCookie(header)[COOKIE] for header in headers)
    assert first.value != second.value
    assert len(first.value) > 20
    assert (first["path"], first["samesite"], first["httponly"]) == ("/class/7b", "Lax", True)
    assert not first["secure"]
    assert first["max-age"] == first["expires"] == ""
    assert opened(scheme="https").header("set-cookie").endswith("; Secure")
    assert opened(cookie=f"a=b; {COOKIE}=known").all("set-cookie") == []


# ---- the policy


def directives(frame_ancestors: str = "") -> dict[str, str]:
    return dict(part.split(" ", 1) for part in content_security_policy(frame_ancestors).split("; "))


def test_policy_allows_neither_other_hosts_nor_evaluated_scripts() -> None:
    policy = directives()
    assert policy["default-src"] == "'self'"
    assert "'unsafe" not in policy["script-src"]
    for sources in policy.values():
        assert all(name.startswith("'") or name in ("blob:", "data:") for name in sources.split())


def test_only_the_app_itself_may_frame_it_unless_set() -> None:
    assert directives()["frame-ancestors"] == "'self'"
    given = "'self' https://course.example"
    assert directives(given)["frame-ancestors"] == given


@pytest.mark.parametrize("given", ["a; script-src *", "a\r\nX: y", "https://a, https://b"])
def test_invalid_frame_ancestors_are_an_error(given: str) -> None:
    refusal(content_security_policy, given, naming="BPEVIZ_FRAME_ANCESTORS")


# ---- long texts


def put(token: str, text: str, base: str = "/", name: str = "text", number: str = "5") -> Answer:
    path = f"{long_texts.path(base)}/{token}/{name}/{number}"
    return ask(APPS[base], "PUT", path, text.encode())


@pytest.mark.parametrize("base", BASES)
def test_text_is_stored_for_its_session(base: str) -> None:
    mine, other = long_texts.Inbox(), long_texts.Inbox()
    assert put(mine.token, "naïve 👋", base).status == 204
    assert other.take("text", 5) is None
    assert mine.take("text", 4) is mine.take("side", 5) is None
    assert mine.take("text", 5) == "naïve 👋"
    assert mine.take("text", 5) is None


def test_last_text_replaces_the_one_before() -> None:
    inbox = long_texts.Inbox()
    put(inbox.token, "one")
    put(inbox.token, "other", name="side")
    assert inbox.take("text", 5) is None
    assert inbox.take("side", 5) == "other"


def test_inbox_ends_with_its_session() -> None:
    inbox = long_texts.Inbox()
    token = inbox.token
    assert put(token, "text", number="9" * 17).status == 404
    del inbox
    gc.collect()
    answer = put(token, "text")
    assert answer.status == 404
    assert "Reload" in answer.body


def test_token_is_looked_up_before_the_text_arrives() -> None:
    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        answers.append(message)

    answers: list[Message] = []
    scope = {"type": "http", "method": "PUT", "path": "/texts/unknown/text/5", "headers": []}
    run(APPS["/"](scope, receive, send))
    assert answers[0]["status"] == 404


def test_text_above_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TEXT", 10)
    inbox = long_texts.Inbox()
    assert put(inbox.token, "a" * 40).status == 204
    answer = put(inbox.token, "b" * 41)
    assert answer.status == 413
    assert "10 characters" in answer.body
    assert inbox.take("text", 5) == "a" * 40
