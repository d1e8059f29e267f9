"""Texts from the box and from files; invalid input shows a message and the page works."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import pytest
from helpers import properties
from page_helpers import (
    ENGLISH,
    Page,
    Player,
    Score,
    alert,
    await_sign,
    choose,
    english,
    expect,
    go_to,
    link,
    open_file,
    open_more,
    trained,
    type_number,
    type_text,
    unfold,
)
from playwright.sync_api import Browser
from serving import OPTIONS, TIMEOUT, serving

from bpeviz import limits
from bpeviz.corpus import samples
from bpeviz.pretrained import download
from bpeviz.ui.permalink.codec import pack
from bpeviz.ui.runtime.long_texts import LONGEST_MESSAGE
from bpeviz.views.parts import parts as parts_of

Open = Callable[..., Page]


def test_uploaded_files_are_read_or_rejected_with_a_message(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    box = page.get_by_role("textbox", name="Text to use")

    text = "¡hola, hola! naïve\r\ncafé café café\n"
    open_file(page, "plain.txt", text.encode())
    player.await_text(text)
    expect(page.get_by_role("combobox", name="Text", exact=True)).to_have_value("own")
    open_file(page, "marked.txt", ("con " + text).encode("utf-8-sig"))
    player.await_text("con " + text)
    # Files that are not UTF-8 are rejected; the previous text remains.
    for name, content, reason in (
        ("wide.txt", "hello hello".encode("utf-16"), "it looks like UTF-16"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "byte 1 is 89"),
        ("zero.bin", bytes(100), "many zero bytes"),
    ):
        open_file(page, name, content)
        expect(alert(page, reason)).to_contain_text(name)
    expect(box).to_have_value("con " + text.replace("\r", ""))
    # A valid file removes the message.
    open_file(page, "good.txt", b"good good goods")
    player.await_text("good good goods")
    expect(alert(page, "is not a text")).to_have_count(0)


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


@pytest.mark.thorough
def test_long_text_is_paged(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    text = ENGLISH * 15
    type_text(page, text)
    _, boundaries = player.await_text(text)
    parts = parts_of(text, boundaries)
    assert len(parts) == 2
    label = page.get_by_text(f"Showing characters 1 to {parts[0].last:,} of {len(text):,}")
    expect(label).to_be_visible()
    player.go(40)
    shown = [boundaries.boundary_mask(40)[part.start : part.end].sum() for part in parts]
    assert player.drawn_boundaries() == shown[0]
    # The figures describe the whole text.
    expect(player.figure("tokens")).to_have_text(f"{boundaries.token_counts[40]:,}")
    type_number(page, "Part shown", 2)
    label = page.get_by_text(f"Showing characters {parts[1].first + 1:,} to {len(text):,}")
    expect(label).to_be_visible()
    expect(player.track).to_have_value("40")  # the step stays
    assert player.drawn_boundaries() == shown[1]


def test_tiny_texts_are_displayed(open_page: Open) -> None:
    page = open_page(link("a"))
    player = Player(page)
    expect(player.section.get_by_text("One character: nothing to merge.")).to_be_visible()
    for text in ("aa aa", "") if properties.FAST else ("a", " \n\t \n", "aa aa", ""):
        type_text(page, text)
        _, boundaries = player.await_text(text)
        # The keys do nothing, since there are no steps.
        for key in ("Home", " ", "ArrowRight", "End", ".", "Enter", "Escape"):
            player.section.press(key)
        expect(player.figure("tokens")).to_have_text(str(boundaries.token_counts[-1]))
    expect(player.text).to_contain_text("There is no text yet")
    expect(player.sentence).to_contain_text("No text, no tokens")
    go_to(page, "Compare")
    expect(alert(page, "There is no text yet")).to_be_visible()
    for text in (" \n\t \n", "a"):
        type_text(page, text)
        expect(page.get_by_role("heading", name="GPT-2")).to_be_visible()
        expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    Score(page).await_text("GPT-2", "a")
    type_text(page, ENGLISH)
    Score(page).await_text("Your tokenizer", "river")


def test_short_text_leads_to_merges_of_other_texts(open_page: Open) -> None:
    page = open_page(link("hello world"))
    player = Player(page)
    player.section.get_by_role("button", name="Train on 34 languages").click()
    expect(page.get_by_label("Train on", exact=True)).to_have_value("languages")
    # It trains, and plays to the end.
    expect(player.figure("tokens")).to_have_text("8", timeout=2 * TIMEOUT)
    expect(player.section).to_contain_text("153 times in the training text")
    if not download.available("o200k_base"):
        return
    player.section.get_by_role("button", name="Watch GPT-4o’s merges").click()
    expect(page).to_have_url(re.compile("/Inspect"))
    expect(player.figure("tokens")).to_have_text("2")
    expect(player.track).to_have_value("9")


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


def test_vocabulary_size_survives_an_immediate_page_change(open_page: Open) -> None:
    page = open_page(english("/Compare"))
    training, _ = trained(ENGLISH)
    expect(
        page.get_by_role("heading", name=f"Your tokenizer ({int(training.sizes[-1]):,})")
    ).to_be_visible()
    # Where it is opened in a new tab, too, it leads there.
    train = page.get_by_role("link", name="Train", exact=True)
    expect(train).to_have_js_property("href", urljoin(page.url, "/"))
    go_to(page, "Train")
    Player(page).await_text(ENGLISH)


@pytest.mark.thorough
def test_text_outlasts_a_restart_of_the_server(
    browser: Browser, vocabulary_files: None, tmp_path: Path
) -> None:
    context = browser.new_context(**OPTIONS)  # not watched: this test loses the connection
    page = context.new_page()
    player = Player(page)
    text = "banana bandana banana " * 1_000
    assert len(text) > LONGEST_MESSAGE  # sent by itself, also after the restart
    link = pack({"text_sample": "spanish", "algorithm": "bpe", "bpe_min_count": 3})
    with serving(tmp_path) as server:
        page.goto(f"{server.address}/?s={link}")
        player.await_text(samples.by_key("spanish").text, min_count=3)
        with page.expect_request("**/texts/*/text/*"):
            type_text(page, text)
        player.await_text(text, min_count=3)
        open_file(page, "long.txt", (ENGLISH * 70).encode())
        player.await_text(ENGLISH * 70, min_count=3)
        port = int(server.address.rsplit(":", 1)[1])
    with serving(tmp_path, port=port) as server:
        expect(page.get_by_role("alert").filter(has_text="long.txt")).to_be_visible()
        player.await_text(text, min_count=3)
        expect(page.get_by_role("textbox", name="Text to use")).to_have_value(text)
        page.reload()  # restores the link again
        player.await_text(samples.by_key("spanish").text, min_count=3)
        assert not server.tracebacks()
    context.close()


def test_typing_applies_by_itself_replaces_lone_surrogates_and_comes_back(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    box = page.get_by_role("textbox", name="Text to use")
    box.fill("banana bandana banana")
    player.await_text("banana bandana banana")
    put = """field => {
      const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value");
      field.focus();
      set.call(field, "a \\ud800 a a");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.blur();
    }"""
    # A field of Streamlit: the server rejects its messages with lone surrogates.
    unfold(page, "Merge diagram")
    field = page.get_by_role("textbox", name="Some words of the text")
    field.evaluate(put)
    expect(field).to_have_value("a \ufffd a a")
    box.evaluate(put)
    own = "a \ufffd a a"
    player.await_text(own)
    # It comes back in place of a sample.
    for come_back in (
        lambda: choose(page, "Text", "Your own text"),
        lambda: box.press("Control+Z"),
    ):
        choose(page, "Text", "English prose")
        await_sign(player.text, "river")
        come_back()
        expect(box).to_have_value(own)
        player.await_text(own)
