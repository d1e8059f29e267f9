"""Links: copied with the button on every page, and opened in a new context on a fresh server."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from page_helpers import (
    ENGLISH,
    Locator,
    Page,
    Player,
    await_run,
    choose,
    close_dialog,
    expect,
    go_to,
    link,
    open_more,
    open_share,
    trained,
    type_text,
)
from serving import Server

import bpeviz
from bpeviz.ui.permalink.codec import pack, unpack
from bpeviz.ui.registry import PAGES

Open = Callable[..., Page]

TEXT = "the cat sat on the mat, the cat sat\nthat the rat sat on the cat 👋\n" * 3
OTHER_TEXT = "a rat is not a cat, that is that"
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
MAX_URL = 8_000


def button(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("^(Copy link|Copied|Not copied)$"))


def copy_link(page: Page) -> str:
    """Press the button; return the URL in the clipboard."""
    open_share(page)
    expect(button(page)).to_have_text("Copy link")  # its label changes for a moment when pressed
    button(page).click()
    expect(button(page)).to_have_text("Copied")
    address: str = page.evaluate("navigator.clipboard.readText()")
    assert len(address) < MAX_URL
    return address


def path_of(address: str) -> str:
    """Return the path of a URL with its query."""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}"


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Vocabulary size")


def decrease_size(page: Page, by: int) -> int:
    """Decrease the vocabulary size with the slider; return it."""
    slider(page).focus()
    size = int(slider(page).input_value())
    for _ in range(by):
        page.keyboard.press("ArrowLeft")
    expect(slider(page)).to_have_value(str(size - by))
    return size - by


def radio(page: Page, name: str) -> Locator:
    return page.get_by_role("radio", name=name, exact=True)


def box(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=label)


def selected(page: Page, label: str) -> Locator:
    return page.get_by_role("combobox", name=label, exact=True)


# ---- choices on each page, and checks of the page with these choices


def choose_on_train(page: Page) -> None:
    player = Player(page)
    type_text(page, TEXT)
    player.await_text(TEXT)
    choose(page, "Start from", "Characters")
    choose(page, "Pre-tokenization", "Regular expression")
    field = box(page, "Regular expression")
    field.fill(r"\w+|\W")
    field.press("Enter")
    how = {"atoms": "characters", "pattern": "regex", "expression": r"\w+|\W"}
    training, _ = player.await_text(TEXT, **how)
    decrease_size(page, 2)
    expect(player.last).to_have_text(str(training.steps - 2))
    page.locator("summary", has_text="Why this pair").click()
    player.section.press("Home")
    for _ in range(3):
        player.section.press("ArrowRight")
    expect(player.track).to_have_value("3")


def check_train(page: Page) -> None:
    player = Player(page)
    how = {"atoms": "characters", "pattern": "regex", "expression": r"\w+|\W"}
    training, boundaries = trained(TEXT, **how)
    expect(player.last).to_have_text(str(training.steps - 2))
    expect(player.track).to_have_value("3")
    expect(player.figure("tokens")).to_have_text(f"{boundaries.token_counts[3]:,}")
    expect(box(page, "Text to use")).to_have_value(TEXT)
    expect(selected(page, "Text")).to_have_value("own")
    open_more(page)
    expect(selected(page, "Start from")).to_have_value("Characters")
    expect(box(page, "Regular expression")).to_have_value(r"\w+|\W")
    size = str(int(training.sizes[-1]) - 2)
    expect(slider(page)).to_have_value(size)
    # The tables follow the step.
    expect(page.get_by_text(re.compile("before merge 3."))).to_be_visible()


def await_ids(page: Page, text: str) -> None:
    ids = [str(i) for i in bpeviz.load("cl100k_base").encode(text)]
    cells = page.get_by_role("group", name="From characters to ids").locator(".row.ids .cell")
    expect(cells).to_have_text(ids)


def choose_on_inspect(page: Page) -> None:
    expect(page.get_by_role("group", name="From characters to ids")).to_be_visible()
    choose(page, "Algorithm", "WordPiece")
    choose(page, "Tokenizer", "GPT-4 (cl100k)")
    type_text(page, OTHER_TEXT)
    await_ids(page, OTHER_TEXT)
    radio(page, "Special token").click()
    await_run(page)
    player = Player(page, unit="step")
    player.go(5)


def check_inspect(page: Page) -> None:
    await_ids(page, OTHER_TEXT)
    expect(box(page, "Text to use")).to_have_value(OTHER_TEXT)
    expect(selected(page, "Tokenizer")).to_have_value("GPT-4 (cl100k)")
    expect(radio(page, "Special token")).to_be_checked()
    player = Player(page, unit="step")
    expect(player.track).to_have_value("5")


def choose_on_learn(page: Page) -> None:
    page.locator('button[data-chapter="merge"]').click()
    check_learn(page)


def check_learn(page: Page) -> None:
    expect(page.get_by_role("heading", name="Choose the merge")).to_be_visible()
    expect(page.locator('button[aria-current="step"]')).to_have_attribute("data-chapter", "merge")


@pytest.mark.parametrize(
    ("path", "choose", "check", "step"),
    [
        pytest.param("/", choose_on_train, check_train, ["3"], marks=pytest.mark.thorough),
        pytest.param(
            "/Inspect", choose_on_inspect, check_inspect, ["5"], marks=pytest.mark.thorough
        ),
        ("/Learn", choose_on_learn, check_learn, None),
    ],
)
def test_link_restores_a_page_on_a_fresh_server(
    other_server: Server,
    open_page: Open,
    open_at: Open,
    path: str,
    choose: Callable[[Page], None],
    check: Callable[[Page], None],
    step: list[str] | None,
) -> None:
    """`tests/ui/permalink` tests the links of all pages, without a browser."""
    page = open_page(path, **CLIPBOARD)
    choose(page)
    address = copy_link(page)
    assert urlsplit(address).path == path
    query = parse_qs(urlsplit(address).query)
    assert query.get("step") == step
    check(page)  # copying does not change the page

    other = open_at(other_server, path_of(address), **CLIPBOARD)
    check(other)
    messages = other.get_by_test_id("stAlert").filter(has_text="link")
    expect(messages).to_have_count(0)
    # A link copied from the restored page is the same link.
    again = copy_link(other)
    assert urlsplit(again).path == urlsplit(address).path
    found = parse_qs(urlsplit(again).query)
    assert unpack(found["s"][0]) == unpack(query["s"][0])
    assert found.get("step") == query.get("step")


def test_restored_state_persists_across_pages(open_page: Open) -> None:
    training, _ = trained(TEXT, atoms="characters")
    size = int(training.sizes[-1]) - 2
    state = {"algorithm": "bpe", "bpe_atoms": "characters", "size": size}
    page = open_page(f"/?s={pack({'text_sample': 'own', 'text_box': TEXT} | state)}")
    player = Player(page)
    expect(player.last).to_have_text(str(training.steps - 2))
    go_to(page, "Compare")  # without any other action before
    expect(page.get_by_role("heading", name=f"Your tokenizer ({size:,})")).to_be_visible()
    expect(box(page, "Text to use")).to_have_value(TEXT)
    go_to(page, "Train")
    expect(player.last).to_have_text(str(training.steps - 2))
    expect(box(page, "Text to use")).to_have_value(TEXT)
    open_more(page)
    expect(selected(page, "Start from")).to_have_value("Characters")


def test_user_changes_override_an_opened_link(open_page: Open) -> None:
    page = open_page(f"/?s={pack({'text_sample': 'english-prose'})}&step=40", **CLIPBOARD)
    player = Player(page)
    expect(player.track).to_have_value("40")
    player.section.press("ArrowRight")
    expect(player.track).to_have_value("41")
    choose(page, "Text", "Russian")
    expect(player.button("Last")).to_be_disabled()  # the end, since the text is new
    third = parse_qs(urlsplit(copy_link(page)).query)
    assert unpack(third["s"][0])["text_sample"] == "russian"
    # A reload restores the link; another link in the same tab restores another state.
    page.reload()
    expect(player.track).to_have_value("40")
    expect(selected(page, "Text")).to_have_value("english-prose")
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(page.url))
    page.goto(origin + link(TEXT))
    player.await_text(TEXT)
    expect(box(page, "Text to use")).to_have_value(TEXT)
    page.go_back()
    expect(player.track).to_have_value("40")
    # A link contains what is in the box, also before it applies.
    box(page, "Text to use").fill(OTHER_TEXT)
    address = copy_link(page)
    assert unpack(parse_qs(urlsplit(address).query)["s"][0])["text_box"] == OTHER_TEXT


def test_link_contains_the_step_at_the_click_during_playback(english_page: Page) -> None:
    page = english_page
    player = Player(page)
    player.await_text(ENGLISH)
    player.section.press(" ")
    expect(player.track).not_to_have_value("0")
    step = int(parse_qs(urlsplit(copy_link(page)).query)["step"][0])
    assert step > 0
    expect(player.track).not_to_have_value(str(step))  # it goes on
    player.button("Pause").click()


def test_copy_link_falls_back_without_clipboard_api(open_page: Open) -> None:
    def remove_clipboard(page: Page) -> None:
        page.add_init_script("delete Navigator.prototype.clipboard")

    page = open_page(prepare=remove_clipboard)
    Player(page).await_text(ENGLISH)
    assert page.evaluate("navigator.clipboard") is None
    open_share(page)
    button(page).click()
    expect(button(page)).to_have_text("Copied")
    field = box(page, "Type or paste").or_(box(page, "Text to use")).first
    field.fill("")
    field.press("Control+v")
    expect(field).to_have_value(re.compile(r"^http://127\.0\.0\.1:\d+/\?s=[\w-]+&step=\d+$"))
    field.fill(TEXT)
    field.press("Control+Enter")
    Player(page).await_text(TEXT)

    page.evaluate("document.execCommand = () => false")
    open_share(page)
    button(page).click()
    expect(button(page)).to_have_text("Not copied")
    shown = page.get_by_role("textbox", name="Copy it from here:")
    expect(shown).to_be_focused()
    packed = parse_qs(urlsplit(shown.input_value()).query)["s"][0]
    assert unpack(packed)["text_box"] == TEXT
    shown.press("Escape")
    expect(shown).to_be_hidden()


@pytest.mark.thorough  # `test_typed_links.py` also opens the dialog, and `tests/ui` restores links
def test_qr_code_opens_a_dialog_with_a_link_that_restores_the_page(open_page: Open) -> None:
    page = open_page(link(TEXT), **CLIPBOARD)
    player = Player(page)
    player.await_text(TEXT)
    player.go(3)
    open_share(page)
    page.get_by_role("button", name="QR code").click()
    dialog = page.get_by_role("dialog", name="QR code")
    expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
    expect(dialog).to_contain_text("this machine only")
    address = dialog.locator("code").inner_text()
    assert re.search(r"/\?s=~[\w-]+&step=3$", address)
    close_dialog(page)

    page = open_page(path_of(address))
    player = Player(page)
    expect(player.track).to_have_value("3")
    expect(player.last).to_have_text(str(len(trained(TEXT)[0].merges)))
    expect(box(page, "Text to use")).to_have_value(TEXT)


def test_share_menu_aligns_with_pages_and_works_by_keyboard(open_page: Open) -> None:
    page = open_page("/Pre-tokenize", **CLIPBOARD)
    last = page.get_by_role("link", name=PAGES[-1].title, exact=True)
    share = page.get_by_role("button", name="Share", exact=True)
    expect(last).to_be_visible()
    for width, scheme in ((1366, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 768})
        page.emulate_media(color_scheme=scheme)
        expect(share).to_be_visible()
        await_run(page)
        here, menu = share.bounding_box(), last.bounding_box()
        if width > 1_000:  # on a phone, the menu has several lines
            assert abs(here["y"] + here["height"] / 2 - menu["y"] - menu["height"] / 2) < 3
            assert here["x"] >= menu["x"] + menu["width"]
        assert here["x"] + here["width"] <= width
        last.focus()
        page.keyboard.press("Tab")
        expect(share).to_be_focused()
        page.keyboard.press("Enter")
        button(page).press("Enter")
        expect(button(page)).to_have_text("Copied")
        page.keyboard.press("Escape")
        expect(button(page)).to_have_count(0)
