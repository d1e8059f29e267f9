"""A room: a leader's page, followers that see the same step, and a vote."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from page_helpers import await_rest
from playwright.sync_api import Browser, Page, expect
from serving import OPTIONS, TIMEOUT, serving


def beside(page: Page, address: str, prepare: Callable[[Page], None] | None = None) -> Page:
    """Open an address in the browser of a page."""
    other = page.context.new_page()
    if prepare:
        prepare(other)
    other.goto(address)
    return other


def room_link(page: Page) -> str:
    """Open a room on a page; return the address of the leader's page."""
    await_rest(page)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Open a room").click()
    return page.get_by_role("link", name="Open the leader's page").get_attribute("href") or ""


SLOW = 2 * TIMEOUT
"""Milliseconds until a room is there on a new server, whose first page run takes long."""


@pytest.mark.parametrize("has_key", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_restarted_server_has_its_rooms_where_it_has_their_key(
    browser: Browser, tmp_path: Path, has_key: bool
) -> None:
    page, phone = (browser.new_context(**OPTIONS).new_page() for _ in range(2))
    environment = {"BPEVIZ_PASSWORD": "tea at four"}
    if has_key:
        environment["BPEVIZ_SHORT_LINKS_FILE"] = str(tmp_path / "links")
    with serving(tmp_path, **environment) as server:
        page.goto(server.address)
        page.get_by_label("Password").fill("tea at four")
        page.keyboard.press("Enter")
        leader = beside(page, room_link(page))
        written = re.compile("^[A-Z]{6}$")
        expect(leader.locator(".word b")).to_have_text(written, timeout=SLOW)
        word = leader.locator(".word b").inner_text()
        phone.goto(leader.url.removesuffix("/lead"))
        phone.get_by_label("room word").fill(word.lower())
        phone.keyboard.press("Enter")
        expect(phone.get_by_text("Following the leader")).to_be_visible()
        for content in (leader.content(), phone.content()):
            assert "tea at four" not in content
    with serving(tmp_path, port=urlsplit(server.address).port or 0, **environment):
        if has_key:
            leader.get_by_role("button", name="Open it again").click()
            expect(leader.get_by_text("1 follower")).to_be_visible(timeout=SLOW)
            expect(phone.get_by_text("Following the leader")).to_be_visible()
        else:
            for member in (leader, phone):
                expect(member.get_by_role("alert")).to_contain_text("This room is over: the server")
            expect(leader.get_by_role("button", name="Open it again")).to_be_hidden()
            leader.reload()
            expect(leader.get_by_role("alert")).to_contain_text("This room is over: the server")
        for member in (page, phone):
            member.context.close()
        assert server.tracebacks() == ""
