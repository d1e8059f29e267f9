"""The password of the room, in a browser."""

from __future__ import annotations

from pathlib import Path

from page_helpers import await_rest, expect
from playwright.sync_api import Browser
from serving import OPTIONS, serving

from bpeviz.corpus import samples

FIRST = samples.by_key("seashells").text


def test_password_opens_the_page_of_a_link(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, BPEVIZ_PASSWORD="tea for two", STREAMLIT_SERVER_BASE_URL_PATH="/7b") as (
        server
    ):
        page = browser.new_context(**OPTIONS).new_page()
        problems: list[str] = []
        page.goto(f"{server.address}/Pre-tokenize?s=broken")
        box = page.get_by_label("Password of this server")
        expect(box).to_be_focused()
        box.fill("coffee")
        box.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("wrong")
        page.on("console", lambda message: problems.append(message.text))
        page.get_by_label("Password of this server").fill("tea for two")
        page.get_by_role("button", name="Open").click()
        alert = page.get_by_test_id("stAlert")
        expect(alert).to_contain_text("link is damaged")
        expect(page.get_by_role("textbox", name="Text to use")).to_have_value(FIRST)
        assert page.url == f"{server.address}/Pre-tokenize?s=broken"
        assert not [one for one in problems if "Content Security Policy" in one]
        cookies = {one["name"]: one for one in page.context.cookies()}
        assert {"bpeviz_password", "bpeviz_user"} <= {*cookies}
        for name in ("bpeviz_password", "bpeviz_user"):
            assert (cookies[name]["httpOnly"], cookies[name]["path"]) == (True, "/7b")
        assert server.tracebacks() == ""

        page.goto(server.address)
        await_rest(page)
        page.get_by_role("button", name="Share").click()
        page.get_by_role("button", name="Open a room").click()
        link = page.get_by_role("link", name="Open the leader's page").get_attribute("href") or ""
        leader = page.context.new_page()
        leader.goto(link)
        leader.get_by_role("button", name="Copy invitation").click()
        expect(leader.get_by_role("button", name="Copied")).to_be_visible()
        expect(leader.get_by_text("tea for two")).to_have_count(0)  # it is sent to nobody
        invitation = leader.evaluate("navigator.clipboard.readText()")
        phone = browser.new_page()
        phone.goto(invitation)
        expect(phone.get_by_text("Following the leader: merge 0")).to_be_visible()
        address = link.partition("/lead")[0]
        assert (phone.url, invitation.partition("?key=")[0]) == (address, address)
        expect(phone.get_by_role("button", name="Save what was shown")).to_be_visible()
        leader.get_by_role("button", name="Close the room").click()
        phone.reload()
        expect(phone.get_by_role("alert")).to_contain_text("its room may have ended")
        assert invitation.partition("=")[2] not in server.log.read_text()
        for one in (phone, page):
            one.context.close()
        assert server.tracebacks() == ""
