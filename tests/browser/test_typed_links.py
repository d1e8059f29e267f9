"""Addresses that people type, on each page, in frames and below a path.

`tests/ui/permalink/test_typed.py` tests what each opens, without a browser.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from helpers.http_server import Handler, running
from helpers.http_server import Server as PageServer
from page_helpers import (
    Player,
    await_height,
    close_dialog,
    expect,
    open_share,
    type_text,
)
from playwright.sync_api import Browser
from serving import OPTIONS, serving

from bpeviz.ui.permalink.codec import unpack

TYPED = "?text=banana%20bandana&algorithm=bpe&size=260"


class Course(Handler):
    """Answers with a page that contains `code` twice."""

    code = ""

    def respond(self) -> None:
        self.answer(200, (self.code * 2).encode(), Content_Type="text/html")


def test_typed_link_below_a_path_until_a_change_and_in_frames(
    browser: Browser, tmp_path: Path
) -> None:
    course = PageServer(Course)
    options = {
        "STREAMLIT_SERVER_BASE_URL_PATH": "/class/7b",
        "BPEVIZ_FRAME_ANCESTORS": f"'self' {course.address}",
    }
    with running(course), serving(tmp_path, **options) as server:
        page = browser.new_context(**OPTIONS).new_page()
        page.goto(f"{server.address}/{TYPED}&step=2")
        player = Player(page)
        expect(player.last).to_have_text("4")
        expect(player.track).to_have_value("2")
        page.reload()
        expect(player.track).to_have_value("2")

        open_share(page)
        page.get_by_role("button", name="Copy link").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = urlsplit(page.evaluate("navigator.clipboard.readText()"))
        assert copied.path == "/class/7b/"
        assert unpack(parse_qs(copied.query)["s"][0])["text_box"] == "banana bandana"
        page.locator(".copy-embed").click()
        expect(page.locator(".copy-embed")).to_have_text("Copied")
        Course.code = page.evaluate("navigator.clipboard.readText()")
        written = TYPED.replace("&", "&amp;")
        assert f'src="{server.address}/{written}&amp;step=2&amp;embed=true"' in Course.code
        page.get_by_role("button", name="QR code").click()
        dialog = page.get_by_role("dialog", name="QR code")
        expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
        expect(dialog.locator("code")).to_contain_text(f"{server.address}/?s=")
        close_dialog(page)
        page.keyboard.press("Escape")

        assert page.url == f"{server.address}/{TYPED}&step=2"
        type_text(page, "low lower lowest")
        expect(page).to_have_url(f"{server.address}/")
        page.reload()  # the tab remembers the change
        box = page.get_by_role("textbox", name="Text to use")
        expect(box).to_have_value("low lower lowest")
        page.goto(f"{server.address}/{TYPED}")  # typed again, it wins again
        expect(box).to_have_value("banana bandana")

        page.goto(course.address)
        first, second = frames = [page.frame_locator("iframe").nth(number) for number in range(2)]
        for frame in frames:
            expect(frame.locator("input.step")).to_have_value("2")
            expect(frame.locator("output")).to_have_text("4")
            for hidden in ("top", "question", "inputs"):
                expect(frame.locator(f".st-key-{hidden}")).to_be_hidden()
        for width in (390, 1000):
            page.set_viewport_size({"width": width, "height": 700})
            for content in page.frames[1:]:
                await_height(content, "[data-testid=stMainBlockContainer]")
        first.locator("[aria-label=Last]").click()
        expect(first.locator("input.step")).to_have_value("4")
        expect(second.locator("input.step")).to_have_value("2")
        assert first.locator(".buttons").evaluate(
            "buttons => buttons.getBoundingClientRect().bottom < innerHeight"
        )
        page.context.close()
        assert server.tracebacks() == ""
