"""Other spellings of the addresses of pages."""

from __future__ import annotations

import pytest
from helpers.asgi import HTML, ask, page

from bpeviz.ui.server.page_addresses import PageAddresses


@pytest.mark.parametrize(
    ("asked", "target"),
    [
        ("/learn", "/Learn"),
        ("/Train", "/"),
        ("/train?s=eN", "/?s=eN"),
        ("/pre-tokenize", "/Pre-tokenize"),
        ("/PRE-TOKENIZE/?s=a%20b&step=3", "/Pre-tokenize?s=a%20b&step=3"),
    ],
)
def test_address_is_redirected_with_its_query(asked: str, target: str) -> None:
    for base in ("/", "/class/7b"):
        below = base.rstrip("/")
        answer = ask(PageAddresses(page, base), "GET", below + asked, **HTML)
        assert (answer.status, answer.header("location")) == (307, below + target)


@pytest.mark.parametrize("asked", ["/", "/Learn", "/Pre-tokenize?s=x", "/unknown", "/Compare/x"])
def test_other_addresses_pass(asked: str) -> None:
    assert ask(PageAddresses(page, "/"), "GET", asked, **HTML).body == "the page behind"


def test_only_pages_are_redirected() -> None:
    app = PageAddresses(page, "/")
    assert ask(app, "GET", "/learn", accept="*/*").status == 200
    assert ask(app, "POST", "/learn", **HTML).status == 200
    assert ask(app, "WEBSOCKET", "/learn").status == 101
