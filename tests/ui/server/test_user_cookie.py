"""The cookie that tells users apart."""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest
from helpers.asgi import HTML, ask, page

from bpeviz.ui.runtime.user import COOKIE
from bpeviz.ui.server.user_cookie import UserCookie

APP = UserCookie(page, "/room")


def test_first_page_sets_a_random_cookie_for_the_session() -> None:
    found = [SimpleCookie(ask(APP, **HTML).header("set-cookie"))[COOKIE] for _ in range(2)]
    assert found[0].value != found[1].value
    assert len(found[0].value) > 20
    assert (found[0]["path"], found[0]["samesite"]) == ("/room", "Lax")
    assert found[0]["httponly"]
    assert not found[0]["secure"]
    assert found[0]["max-age"] == found[0]["expires"] == ""


def test_cookie_is_secure_over_https() -> None:
    assert ask(APP, scheme="https", **HTML).header("set-cookie").endswith("; Secure")


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", HTML | {"cookie": f"a=b; {COOKIE}=known"}),
        ("GET", {"accept": "*/*"}),
        ("GET", {}),
        ("POST", HTML),
    ],
)
def test_other_responses_set_no_cookie(method: str, headers: dict[str, str]) -> None:
    answer = ask(APP, method, **headers)
    assert answer.body == "the page behind"
    assert answer.all("set-cookie") == []


def test_websocket_passes() -> None:
    assert ask(APP, "WEBSOCKET").status == 101
