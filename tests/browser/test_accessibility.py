"""Accessibility (WCAG 2.2 AA): axe finds nothing, and a keyboard reaches Play soon."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers import properties
from helpers.properties import mostly_thorough
from page_helpers import Page, Player, Score, choose, expect, link, type_text, with_clock

from bpeviz.corpus import samples
from bpeviz.ui.inputs.text import TEXT
from bpeviz.ui.learn.chapters import BY_KEY

Open = Callable[..., Page]

PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1366, "height": 768}

OUT_OF_REACH: dict[str, str] = {}
"""Elements inside Streamlit's widgets that axe reports, by selector, each with the reason."""

# Colors that are still changing have no contrast of their own.
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"

OPENERS = {
    "/": ("Keyboard shortcuts", "Share"),
    "/Compare": ("Open a tokenizer file",),
}
"""The buttons that open a popover or a dialog, by page. Further pages have the same ones."""

OPENED = "[role=dialog]:not([hidden]), dialog[open], [data-testid=stPopoverBody]"

OPEN_ALL = """() => {
  for (const { open, firstElementChild } of document.querySelectorAll("details"))
    if (!open) firstElementChild.click();
  document.documentElement.setAttribute("data-inputs-open", "");
}"""


def violations(page: Page, within: dict[str, Any] | None = None) -> list[str]:
    """Return the violations that axe finds on the page, or within a context of axe."""
    # The rule for the size of targets is off by default.
    rules = {"target-size": {"enabled": True}}
    options = {"resultTypes": ["violations"], "rules": rules}
    found = Axe().run(page, within, options).response["violations"]
    return [
        f"{one['id']}: {node['html'][:120]} ({node['failureSummary'][:200]})"
        for one in found
        for node in one["nodes"]
        if not any(selector in str(node["target"]) for selector in OUT_OF_REACH)
    ]


def opened_part(page: Page) -> dict[str, Any]:
    """Wait until one dialog or popover is open; return the context of axe that contains it."""
    opened = page.locator(OPENED)
    expect(opened).to_have_count(1)
    expect(page.locator(".stFileUploader section[role=presentation]")).to_have_count(0)
    if opened.evaluate("opened => opened.getRootNode() === document"):
        return {"include": [OPENED]}
    opened.evaluate("opened => opened.getRootNode().host.setAttribute('data-axe-host', '')")
    return {"include": [{"fromShadowDom": ["[data-axe-host]", OPENED]}]}


TOUR = "/Pre-tokenize?tour=splitting.2"

PATHS = (
    "/",
    "/Compare",
    link("hello world"),
    link("", "/Compare", how_many_texts="many", own_for_texts=True),
    "/Inspect",
    "/Algorithms",
    "/Pre-tokenize",
    "/Learn",
    "/Learn?chapter=end",
    "/Learn?teacher=1",
    TOUR,
)


@pytest.mark.parametrize("path", mostly_thorough(PATHS, ["/", "/Learn", TOUR]))
def test_axe_finds_nothing_in_either_theme_or_size(open_page: Open, path: str) -> None:
    page = open_page(path, color_scheme="light")
    expect(page.locator("[aria-current=page]")).to_have_count(1)
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1)
    page.add_style_tag(content=STILL)
    page.evaluate(OPEN_ALL)
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    assert page.locator("h1").count() == 1
    found = []
    # Colors do not depend on the size of the window.
    for i, (scheme, size) in enumerate((("light", SCREEN), ("dark", PHONE))):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator(".stApp")).to_have_css("color-scheme", scheme)
        page.set_viewport_size(size)
        found += [f"{scheme}, {size['width']}: {one}" for one in violations(page)]
        for name in OPENERS.get(path, ())[i :: 2 if properties.FAST else 1]:
            page.get_by_role("button", name=name, exact=True).first.click()
            found += [f"{scheme}, {name}: {one}" for one in violations(page, opened_part(page))]
            page.keyboard.press("Escape")
            expect(page.locator(OPENED)).to_have_count(0)
            page.evaluate(
                "document.querySelector('[data-axe-host]')?.removeAttribute('data-axe-host')"
            )
    assert found == []


def listed_tokens(page: Page) -> dict[str, list[str]]:
    """Return the lists of tokens in the accessibility tree, by name."""
    client = page.context.new_cdp_session(page)
    nodes = {one["nodeId"]: one for one in client.send("Accessibility.getFullAXTree")["nodes"]}
    client.detach()

    def role(node: dict[str, Any]) -> str:
        return str(node.get("role", {}).get("value"))

    def within(node: dict[str, Any], wanted: str) -> list[dict[str, Any]]:
        children = [nodes[child] for child in node["childIds"] if child in nodes]
        return [
            found
            for child in children
            for found in ([child] if role(child) == wanted else within(child, wanted))
        ]

    def words(node: dict[str, Any]) -> str:
        return "".join(one["name"]["value"] for one in within(node, "StaticText"))

    return {
        name: [words(item) for item in within(node, "listitem")]
        for node in nodes.values()
        if role(node) == "list" and (name := node["name"]["value"]).startswith("Tokens")
    }


def test_screen_reader_gets_tokens_as_list_and_few_announcements(open_page: Open) -> None:
    page = open_page("/")
    player = Player(page)
    text = samples.by_key(TEXT.first).text
    training, boundaries = player.await_text(text)
    last = len(training.merges)
    ids = boundaries.ids(last).tolist()
    announced = player.section.locator(".announced")
    player.button("Step back").click()
    player.button("Step forward").click()
    expect(announced).to_contain_text(f"merge {last} of {last}: ")
    expect(player.section.locator(".token-list li")).to_have_count(len(ids))
    (items,) = listed_tokens(page).values()
    assert [int(item.split(", id ")[1].removesuffix(", new")) for item in items] == ids
    first = training.tokenizer().token_label(ids[0])
    assert items[0].startswith(f"{first}, id {ids[0]}")
    assert any(item.startswith("space ") for item in items)

    # The list is not part of the copied text, neither alone nor with the whole page.
    player.text.focus()
    player.text.evaluate("text => getSelection().selectAllChildren(text)")
    page.keyboard.press("Control+C")
    assert page.evaluate("navigator.clipboard.readText()") == text
    page.evaluate("getSelection().selectAllChildren(document.body)")
    page.keyboard.press("Control+C")
    assert f", id {ids[0]}" not in page.evaluate("navigator.clipboard.readText()")
    page.evaluate("getSelection().empty()")

    page.keyboard.press(".")
    expect(announced).to_contain_text(f"{first}, id {ids[0]}")

    # While playing, only the place is announced, and at rest the sentence.
    announced.evaluate(
        """announced => {
          window.said = [];
          const note = () => said.push([Date.now(), announced.textContent]);
          new MutationObserver(note).observe(announced, { childList: true });
        }"""
    )
    player.speed.select_option("8")
    player.button("Play").click()
    expect(player.button("Replay")).to_be_visible()
    expect(announced).to_contain_text(f"merge {last} of {last}: ")
    *playing, (_, rest) = said = page.evaluate("said")
    assert playing
    assert all(re.fullmatch(rf"merge \d+ of {last}", words) for _, words in playing)
    assert f"{boundaries.token_counts[last]} tokens" in rest
    assert all(later - sooner > 900 for (sooner, _), (later, _) in pairwise(said))


def test_skip_link_leads_to_play(open_page: Open) -> None:
    page = open_page()  # in a tab of its own, where Tab begins at the start of the page
    play = page.locator("button[data-act=play]")
    expect(play).to_be_visible()
    expect(page.locator("[aria-current=page]")).to_have_count(1)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the player")).to_be_focused()
    page.keyboard.press("Enter")
    assert play.evaluate("button => button.getRootNode().activeElement === button")


def test_button_unfolds_the_inputs_on_a_narrow_screen(open_page: Open) -> None:
    page = open_page(viewport={"width": 820, "height": 1180})
    toggle = page.get_by_role("button", name="Text and settings")
    inputs = page.get_by_role("region", name="Text and settings")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(inputs).to_be_hidden()
    toggle.click()
    expect(inputs).to_be_visible()
    expect(toggle).to_have_attribute("aria-expanded", "true")
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.locator("[aria-current=page]")).to_have_text("Compare")
    expect(inputs).to_be_visible()  # as before the change of the page
    type_text(page, "low lower lowest")
    Score(page).await_text("Your tokenizer", "lowest")
    expect(inputs).to_be_visible()  # while one types
    page.get_by_role("button", name="Share", exact=True).focus()
    expect(inputs).to_be_hidden()
    toggle.click()
    page.get_by_text("More", exact=True).click()
    expect(page.get_by_text("Special tokens", exact=True)).to_be_visible()
    choose(page, "Algorithm", "Unigram")
    expect(inputs).to_be_hidden()
    toggle.click()
    page.set_viewport_size(SCREEN)
    expect(toggle).to_be_hidden()
    expect(inputs).to_be_visible()


@pytest.mark.parametrize("chapter", mostly_thorough([*BY_KEY], ["merge"]))
def test_axe_finds_nothing_in_any_state_of_a_chapter(open_page: Open, chapter: str) -> None:
    page = open_page(
        f"/Learn?chapter={chapter}", prepare=with_clock, viewport=PHONE, color_scheme="light"
    )
    expect(page.locator(".prompt").first).to_be_visible()
    page.add_style_tag(content=STILL)
    found = violations(page)
    gaps = page.locator("button.gap")
    if gaps.count():
        gaps.first.press("Enter")
        if page.locator(".check").first.is_visible():
            page.locator(".check").first.press("Enter")
        expect(page.locator(".told").first).to_be_visible()
        found += violations(page)  # a wrong first try
    show = page.locator(".show:visible")
    while show.count():
        # In the browser, since a button may go meanwhile.
        show.evaluate_all("(buttons) => buttons.forEach((button) => button.click())")
        page.wait_for_timeout(200)
    page.clock.run_for(60_000)
    expect(page.locator(".player.playing")).to_have_count(0)
    found += violations(page)
    for option in page.locator(".st-key-belief button").all()[:2]:
        option.press("Enter")
    found += violations(page)
    assert found == []
