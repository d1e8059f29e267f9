"""Texts from the box and from files; invalid input shows a message and the page works."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from page_helpers import (
    ENGLISH,
    Page,
    Player,
    Score,
    alert,
    expect,
    go_to,
    link,
    open_file,
    open_more,
)

from bpeviz import limits
from bpeviz.corpus import samples

Open = Callable[..., Page]


@pytest.mark.thorough
def test_long_file_is_not_copied_into_the_text_box(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    text = ENGLISH * 70
    open_file(page, "long.txt", text.encode())
    file = page.get_by_text("long.txt: ")
    expect(file).to_contain_text(f"{len(text):,} characters")
    chosen = page.get_by_role("combobox", name="Text", exact=True)
    expect(chosen).to_have_value("own")
    player.await_text(text)
    go_to(page, "Compare")
    expect(file).to_be_visible()
    Score(page).await_text("GPT-2", "river")
    page.get_by_role("button", name="Back to the text box").click()
    expect(page.get_by_role("textbox", name="Text to use")).to_have_value(ENGLISH)
    expect(chosen).to_have_value("english-prose")
    go_to(page, "Train")
    player.await_text(ENGLISH)


BOX = "textarea[aria-label='Text to use']"  # the box of the text, in CSS


def paste(page: Page, text: str, times: int, box: str = BOX) -> None:
    """Paste a very long text in the browser, without sending it through the driver."""
    page.locator(box).evaluate(
        """(box, [text, times]) => {
          box.focus();
          const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
          set.call(box, text.repeat(times));
          box.dispatchEvent(new Event("input", { bubbles: true }));
          box.blur();
        }""",
        [text, times],
    )


@pytest.mark.thorough  # 11 MB take long; `tests/ui/pages/test_pages.py` tests the message
def test_too_long_paste_shows_an_error_and_page_works(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    line = "the quick brown fox jumps over the lazy dog and on it goes for ever\n"
    times = 11_000_000 // len(line)
    paste(page, line, times)
    # CSS selectors: with roles, the driver would read the long text repeatedly.
    message = page.locator(f".source:has({BOX}) .notice")
    expect(message).to_contain_text(f"This text has {times * len(line):,} characters")
    expect(message).to_contain_text(f"limit is {limits.TEXT:,}")
    # The box keeps the text while the page runs for another reason.
    page.locator("input[type=range]").last.press("ArrowLeft")
    page.wait_for_function("document.querySelector('[data-test-script-state=notRunning]')")
    length = page.locator(BOX).evaluate("box => box.value.length")
    assert length == times * len(line)
    page.locator(f".source:has({BOX}) select").select_option("spanish")
    player.await_text(samples.by_key("spanish").text)
    expect(message).to_be_hidden()


@pytest.mark.parametrize(
    ("path", "box", "line", "times", "says"),
    [
        (
            link("", "/Inspect", closer="ids"),
            "ids_box",
            "1, ",
            1_000_000,
            "at most 40,000 are allowed",
        ),
        pytest.param(
            *(link("low", pattern="list"), "words", "👋", 3_000_000, "has 500,000 characters"),
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_box_is_cut_at_its_limit_with_a_message(
    path: str, box: str, line: str, times: int, says: str, open_page: Open
) -> None:
    page = open_page(path)
    field = f".st-key-{box} textarea"
    if box == "words":
        open_more(page)
    expect(page.locator(field)).to_be_visible()
    paste(page, line, times, field)
    expect(alert(page, f"This box takes {limits.BOX:,} characters")).to_be_visible()
    cut = page.locator(field).evaluate("box => [...box.value].length")
    assert cut == limits.BOX + 1
    expect(page.get_by_text(says).first).to_be_visible()
