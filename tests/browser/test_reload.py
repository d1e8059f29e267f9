"""A reload of the tab, also after a restart of the server, loses neither texts nor settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from page_helpers import (
    Player,
    await_equal,
    await_rest,
    expect,
    go_to,
    labelled,
    trained,
    type_text,
    unfold,
    with_clock,
)
from serving import OPTIONS, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., "Page"]

FILE = Path(__file__).parents[1] / "fixtures" / "bpe.tiktoken"
SHORT = "banana bandana banana ananas"
LONG = "".join(f"lorem ipsum dolor {number % 100} " for number in range(2_000))[:20_100]
"""Too long for a message, and short enough for a training at the usual priority."""

RECORD = """() => {
  window.figures = new Set();
  const record = () => {
    for (const one of document.querySelectorAll(".st-key-inputs [data-testid=stCaptionContainer]"))
      window.figures.add(one.innerText);
  };
  new MutationObserver(record).observe(document, { childList: true, subtree: true });
}"""
"""Records all vocabulary sizes that a page shows while it loads."""

IS_STORED = """(words) => new Promise((resolve) => {
  indexedDB.open("bpeviz").onsuccess = ({ target }) => {
    const all = target.result.transaction("tabs").objectStore("tabs").getAll();
    all.onsuccess = () => {
      target.result.close();
      resolve(JSON.stringify(all.result).includes(words));
    };
  };
})"""
"""Returns whether the browser has stored some words for its tabs."""


def text_field(page: Page) -> Any:
    return labelled(page, "textarea", "Text to use")


def test_reload_keeps_a_short_text_settings_and_steps(open_page: Open) -> None:
    page = open_page("/")
    player = Player(page)
    type_text(page, SHORT)
    player.await_text(SHORT)
    page.get_by_test_id("stExpander").get_by_text("More", exact=True).click()
    largest = labelled(page, "input", "Largest vocabulary")
    largest.fill("259")
    largest.press("Enter")
    expect(player.last).to_have_text("3")
    player.go(2)
    # An input of a fragment, which runs without its page.
    unfold(page, "Merge diagram")
    words = labelled(page, "input", "Some words of the text")
    words.fill("ananas")
    words.press("Enter")
    expect(page.get_by_text("ananas").first).to_be_visible()
    await_rest(page)  # the browser has stored it
    page.add_init_script(f"({RECORD})()")
    page.reload()
    expect(player.track).to_have_value("2")
    expect(player.last).to_have_text("3")
    expect(text_field(page)).to_have_value(SHORT)
    expect(words).to_have_value("ananas")
    # The results of the default text were never shown.
    assert all(
        "256 bytes + 3 merges" in one for one in page.evaluate("[...figures]") if "bytes +" in one
    )
    assert "reload" not in page.url
    go_to(page, "Algorithms")
    expect(text_field(page)).to_have_value(SHORT)
    page.reload()
    expect(text_field(page)).to_have_value(SHORT)
    go_to(page, "Train")
    expect(player.track).to_have_value("2")


def test_duplicated_tab_has_a_state_of_its_own(open_page: Open) -> None:
    page = open_page("/")
    type_text(page, SHORT)
    Player(page).await_text(SHORT)
    with page.expect_popup() as opened:  # it has a copy of the session storage
        page.evaluate("window.open(location.href)")
    copy = opened.value
    type_text(copy, "hug pug hug pug")
    Player(copy).await_text("hug pug hug pug")
    for one, text in ((page, SHORT), (copy, "hug pug hug pug")):
        one.reload()
        expect(text_field(one)).to_have_value(text)
    copy.close()


def test_state_of_a_closed_tab_is_deleted(open_page: Open) -> None:
    page = open_page("/", prepare=with_clock)
    keys = """() => new Promise((resolve) => {
      indexedDB.open("bpeviz").onsuccess = ({ target }) => {
        const all = target.result.transaction("tabs").objectStore("tabs").getAllKeys();
        all.onsuccess = () => (target.result.close(), resolve(all.result));
      };
    })"""

    def tabs() -> set[str]:
        return {key.split("/")[0] for key in page.evaluate(keys)}

    expect(Player(page).last).to_be_visible()
    # Before the page has made its database, opening it would make another one.
    await_equal(lambda: page.evaluate("indexedDB.databases().then(all => all.length)"), 1)
    await_equal(lambda: len(tabs()), 1)
    own = tabs()
    other = page.context.new_page()
    other.goto(page.url)
    type_text(other, SHORT)
    Player(other).await_text(SHORT)
    await_equal(lambda: len(tabs()), 2)
    [name] = tabs() - own
    other.close(run_before_unload=True)
    left = f"bpeviz-left-{name}"
    await_equal(lambda: page.evaluate("left => left in localStorage", left), True)
    page.evaluate("left => localStorage.setItem(left, '1')", left)  # long ago
    page.reload()
    expect(Player(page).last).to_be_visible()
    page.clock.run_for(6_000)
    await_equal(lambda: name in tabs(), False)


def test_restart_and_reload_keep_a_long_text_and_name_lost_files(
    browser: Browser, vocabulary_files: None, tmp_path: Path
) -> None:
    context = browser.new_context(**OPTIONS)  # not watched: this test loses the connection
    page = context.new_page()
    player = Player(page)
    with serving(tmp_path) as server:
        page.goto(f"{server.address}/")
        type_text(page, LONG)
        steps = len(trained(LONG)[0].merges)
        expect(player.last).to_have_text(str(steps))
        player.go(7)
        go_to(page, "Compare")
        page.get_by_role("button", name="Open a tokenizer file").click()
        dialog = page.get_by_test_id("stDialog")
        dialog.locator("input[type=file]").set_input_files(FILE)
        dialog.locator("button").filter(has_text="Open").last.click()
        chosen = page.get_by_test_id("stMultiSelect")
        expect(chosen).to_contain_text("bpe.tiktoken")
        await_equal(lambda: page.evaluate(IS_STORED, "bpe.tiktoken"), True)
        await_rest(page)
        page.reload()
        expect(chosen).to_contain_text("bpe.tiktoken")
        assert page.get_by_test_id("stAlert").count() == 0
        assert not server.tracebacks()
        port = int(server.address.rsplit(":", 1)[1])
    waiting = page.get_by_role("dialog", name="Waiting for the server")
    expect(waiting).to_contain_text("Your texts and settings are not lost")
    expect(page.get_by_text("streamlit run")).to_be_hidden()
    with serving(tmp_path, port=port) as server:
        expect(waiting).to_be_hidden()
        page.reload()
        expect(page.get_by_role("alert").filter(has_text="bpe.tiktoken")).to_be_visible()
        await_rest(page)
        go_to(page, "Train")
        expect(text_field(page)).to_have_value(LONG)
        expect(player.last).to_have_text(str(steps))
        expect(player.track).to_have_value("7")
        assert not server.tracebacks()
    context.close()
