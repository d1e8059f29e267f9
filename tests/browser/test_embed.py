"""The picture of a page in a frame of another page."""

from __future__ import annotations

from pathlib import Path

from helpers.http_server import Handler, Server, running
from page_helpers import Player, await_height, expect, link, open_share
from playwright.sync_api import Browser
from serving import OPTIONS, serving

TEXT = "low lower lowest " * 9


class Course(Handler):
    """Answers with a page that contains `code` twice."""

    code = ""

    def respond(self) -> None:
        self.answer(200, (self.code * 2).encode(), Content_Type="text/html")


def test_embed_code_shows_the_player_alone_in_another_page(
    browser: Browser, tmp_path: Path
) -> None:
    course = Server(Course)
    with (
        running(course),
        serving(tmp_path, BPEVIZ_FRAME_ANCESTORS=f"'self' {course.address}") as server,
    ):
        page = browser.new_context(**OPTIONS).new_page()
        page.goto(server.address + link(TEXT))
        player = Player(page)
        player.await_text(TEXT)
        player.go(2)
        open_share(page)
        button = page.locator(".copy-embed")
        button.click()
        expect(button).to_have_text("Copied")
        Course.code = page.evaluate("navigator.clipboard.readText()")
        page.goto(course.address)
        for number in range(2):
            frame = page.frame_locator("iframe").nth(number)
            step = frame.locator("input.step")
            expect(step).to_have_value("2")
            for hidden in ("top", "question", "inputs", "following"):
                expect(frame.locator(f".st-key-{hidden}")).to_be_hidden()
        for width in (390, 1000):
            page.set_viewport_size({"width": width, "height": 700})
            for frame in page.frames[1:]:
                await_height(frame, "[data-testid=stMainBlockContainer]")
        first, second = (page.frame_locator("iframe").nth(number) for number in range(2))
        first.locator("[aria-label=Last]").click()
        expect(first.locator("input.step")).not_to_have_value("2")
        expect(second.locator("input.step")).to_have_value("2")
        assert first.locator(".buttons").evaluate(
            "buttons => buttons.getBoundingClientRect().bottom < innerHeight"
        )
        page.context.close()
        assert server.tracebacks() == ""
