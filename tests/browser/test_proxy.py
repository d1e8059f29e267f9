"""Two servers behind nginx, configured as `bpeviz/DEPLOYMENT.md` shows."""

from __future__ import annotations

import http.client
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from benchmarks.load import Measured, connected
from helpers.asgi import run
from helpers.payloads import payload_of
from page_helpers import (
    Page,
    Player,
    close_dialog,
    expect,
    link,
    open_file,
    open_share,
    type_text,
)
from playwright.sync_api import Browser
from serving import OPTIONS, Server, proxied

from bpeviz.ui.runtime.user import COOKIE

TEXT = "low lower lowest " * 9


def request(address: str, method: str, path: str, **headers: str) -> int:
    """Return the status of the answer to a request."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request(method, path, headers=headers)
    return connection.getresponse().status


def users_of_both(address: str, servers: list[Server], first: int = 0) -> list[str]:
    """Return a value of the user's cookie for each server, by which nginx leads to it."""

    async def load(cookie: str) -> str:
        """Return the path to which a tab sends its texts; one of the servers knows it."""
        async with connected(address, Measured(), f"{COOKIE}={cookie}") as user:
            await user.load()
            return str(payload_of(user.widgets["text_component"].bytes)["address"])

    found: dict[int, str] = {}
    for number in range(first, first + 30):
        path = run(load(str(number)))
        answers = [request(one.address, "PUT", f"{path}/1") for one in servers]
        assert sorted(answers) == [204, 404]
        found.setdefault(answers.index(204), str(number))
        if len(found) == 2:
            break
    return [found[0], found[1]]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nginx") is None, reason="No nginx: apt-get install nginx-light")
def test_two_servers_behind_nginx_share_links_and_keep_their_tabs(
    browser: Browser, tmp_path: Path
) -> None:
    def opened(cookie: str, path: str) -> Page:
        context = browser.new_context(**OPTIONS)
        context.add_cookies([{"name": COOKIE, "value": cookie, "url": address}])
        page = context.new_page()
        page.goto(address + path)
        return page

    with proxied(tmp_path) as (address, servers):
        page_path = "/bpeviz/"
        assert request(address, "GET", page_path, Host="class.example") == 200
        for server in servers:
            assert request(server.address, "GET", page_path, Host="class.example") == 200
            assert request(server.address, "GET", page_path, Host="evil.example:8501") == 403

        # The pages are open at the same time: nginx must tell their requests apart.
        cookies = users_of_both(address, servers)
        pages = [opened(cookie, link(TEXT)) for cookie in cookies]
        for number, page in enumerate(pages):
            player = Player(page)
            player.await_text(TEXT)
            open_file(page, "a.txt", f"{number} {TEXT}".encode())
            player.await_text(f"{number} {TEXT}")
            with page.expect_response(lambda answer: "/texts/" in answer.url) as sent:
                type_text(page, f"{number} {TEXT}" * 150)  # too long for a message
            assert sent.value.status == 204
            expect(page.locator(".source .status").first).not_to_have_text(
                "Updates when you stop typing"
            )
            open_share(page)
            page.get_by_role("button", name="Export").click()
            with page.expect_download() as download:
                page.get_by_role("dialog").get_by_role("button", name="Hugging Face").first.click()
            assert download.value.path().stat().st_size > 1_000
            close_dialog(page)

        open_share(pages[0])
        pages[0].get_by_role("button", name="QR code").click()
        short = pages[0].get_by_role("dialog", name="QR code").locator("code").inner_text()
        assert "/bpeviz/?s=~" in short
        other = opened(cookies[1], short.removeprefix(address))
        expect(other.get_by_role("textbox", name="Text to use")).to_have_value(f"0 {TEXT}" * 150)
        for page in (*pages, other):
            page.context.close()
        assert [one.tracebacks() for one in servers] == ["", ""]
