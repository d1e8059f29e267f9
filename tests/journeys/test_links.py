"""Links and addresses: copied, opened by somebody else, typed, changed, and shown as a QR code."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from helpers.links import settings_of
from journeys.journey import Journey
from journeys.people import (
    PARAGRAPH,
    Page,
    Stage,
    alert,
    await_run,
    button,
    change_size,
    choose,
    copy_link,
    expect,
    go_to,
    link,
    menu,
    open_share,
    size_of_vocabulary,
    text_box,
    trained,
    type_text,
)

TEXT = "the cat sat on the mat, the cat sat\nthat the rat sat on the cat 👋\n" * 3
OTHER_TEXT = "a rat is not a cat, that is that"
HOW = {"atoms": "characters", "pattern": "regex", "expression": r"\w+|\W"}
TYPED = "?text=banana%20bandana&algorithm=bpe&size=260"


def parts_of(address: str) -> tuple[str, dict[str, Any], list[str] | None]:
    """Return the path, the state and the step of a link."""
    parts = urlsplit(address)
    query = parse_qs(parts.query)
    return parts.path, settings_of(parts.query), query.get("step")


def path_of(address: str) -> str:
    """Return the path of a URL with its query."""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}"


def assert_choices_of_train(page: Page) -> None:
    stage = Stage(page)
    training, boundaries = trained(TEXT, **HOW)
    expect(stage.last).to_have_text(str(training.steps - 2))
    stage.await_step(3)
    expect(stage.tokens).to_have_text(f"{boundaries.token_counts[3]:,}")
    expect(text_box(page)).to_have_value(TEXT)
    expect(size_of_vocabulary(page)).to_have_value(str(int(training.sizes[-1]) - 2))
    with menu(page, "More"):
        starts = page.get_by_role("combobox", name="Start from", exact=True)
        expect(starts).to_have_value("Characters")
        expect(text_box(page, "Regular expression")).to_have_value(r"\w+|\W")


def test_copied_links_open_what_was_seen(journey: Journey) -> None:
    with journey.step("All choices of Train are in its link, and copying changes none"):
        page = journey.open("/")
        stage = Stage(page)
        type_text(page, TEXT)
        stage.await_text(TEXT)
        choose(page, "Start from", "Characters")
        choose(page, "Pre-tokenization", "Regular expression")
        with menu(page, "More"):
            text_box(page, "Regular expression").fill(r"\w+|\W")
            text_box(page, "Regular expression").press("Enter")
        training, _ = stage.await_text(TEXT, **HOW)
        change_size(page, -2)
        expect(stage.last).to_have_text(str(training.steps - 2))
        stage.go(3)
        address = copy_link(page)
        assert len(address) < 8_000
        assert parts_of(address)[::2] == ("/", ["3"])
        assert_choices_of_train(page)
    with journey.step("Somebody else sees them, without a message, and copies the same link"):
        other = journey.open(path_of(address), permissions=["clipboard-read", "clipboard-write"])
        assert_choices_of_train(other)
        expect(alert(other, "link")).to_have_count(0)
        assert parts_of(copy_link(other)) == parts_of(address)
        other.keyboard.press("Escape")
        journey.close(other)


def test_opened_links_give_way_to_what_one_does(journey: Journey) -> None:
    with journey.step("A choice after opening a link counts, and is in the next link"):
        page = journey.open("/?sample=seashells&step=4")
        stage = Stage(page)
        stage.await_step(4)
        stage.section.press("ArrowRight")
        stage.await_step(5)
        choose(page, "Text", "Old cat, cold cat")
        expect(stage.button("Last")).to_be_disabled()  # the end, since the text is new
        assert parts_of(copy_link(page))[1]["sample"] == "old-cat"
        page.keyboard.press("Escape")
    with journey.step("A link has the words in the box before they are used, and the playing step"):
        text_box(page).fill(OTHER_TEXT)
        assert parts_of(copy_link(page))[1]["text"] == OTHER_TEXT
        page.keyboard.press("Escape")
        type_text(page, PARAGRAPH)
        stage.await_text(PARAGRAPH)
        stage.go(0)
        stage.button("Play").click()
        expect(stage.track).not_to_have_value("0")
        _, _, steps = parts_of(copy_link(page))
        assert steps
        expect(stage.track).not_to_have_value(steps[0])  # it goes on
        assert int(steps[0]) > 0
        stage.button("Pause").click()
        page.keyboard.press("Escape")
    with journey.step("Share is beside the pages, and works by keyboard"):
        await_run(page)
        share, last = button(page, "Share"), page.get_by_role("link", name="Learn", exact=True)
        here, menu = share.bounding_box(), last.bounding_box()
        assert here
        assert menu
        middle, of_menu = here["y"] + here["height"] / 2, menu["y"] + menu["height"] / 2
        assert middle == pytest.approx(of_menu, abs=3)
        assert here["x"] >= menu["x"] + menu["width"]
        last.focus()
        page.keyboard.press("Tab")
        expect(share).to_be_focused()
        page.keyboard.press("Enter")
        button(page, "Copy link").press("Enter")
        expect(button(page, "Copied")).to_be_visible()
        page.keyboard.press("Escape")
        expect(button(page, "Copied")).to_have_count(0)
    with journey.step("A page is left with Share open, by a quick click"):
        open_share(page)
        go_to(page, "Pre-tokenize")
        expect(text_box(page)).to_have_value(PARAGRAPH)
        await_run(page)
    with journey.step("Without the browser's clipboard, the link is copied, or shown to be copied"):
        journey.add_script(page, "delete Navigator.prototype.clipboard")
        page.goto(journey.server.address + link(TEXT))
        stage.await_text(TEXT)
        open_share(page)
        button(page, "Copy link").click()
        expect(button(page, "Copied")).to_be_visible()
        page.keyboard.press("Escape")
        text_box(page).fill("")
        text_box(page).press("Control+v")
        copied = re.compile(r"http://127\.0\.0\.1:\d+/\?text=[^ ]+&step=\d+$")
        expect(text_box(page)).to_have_value(copied)
        type_text(page, TEXT)
        stage.await_text(TEXT)
        page.evaluate("document.execCommand = () => false")
        open_share(page)
        button(page, "Copy link").click()
        expect(button(page, "Not copied")).to_be_visible()
        to_copy = text_box(page, "Copy it from here:")
        expect(to_copy).to_be_focused()
        assert parts_of(to_copy.input_value())[1]["text"] == TEXT
        to_copy.press("Escape")
        expect(to_copy).to_be_hidden()


def test_typed_addresses_open_on_each_page(journey: Journey) -> None:
    page = journey.open("/Compare" + TYPED)
    message = alert(page, "cannot use it")
    with journey.step("An address that names a text, an algorithm and a size"):
        expect(text_box(page)).to_have_value("banana bandana")
        expect(page.get_by_role("heading", name="Yours (260)")).to_be_visible()
        expect(message).to_have_count(0)
    with journey.step("A page that does not use a part of it says so"):
        for path, ignored in (("/Pre-tokenize", "size=260"), ("/Learn", "algorithm=bpe")):
            page.goto(journey.server.address + path + TYPED)
            expect(message).to_contain_text(ignored)
