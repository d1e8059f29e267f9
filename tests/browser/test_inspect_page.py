"""The Inspect page: grid, highlighting, player, merge diagram, single tokens, ids, and layout."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

from page_helpers import (
    Locator,
    Page,
    choose,
    expect,
    train_on,
    trained,
    type_text,
)
from PIL import Image

import bpeviz
from bpeviz.analysis import trace
from bpeviz.corpus import samples
from bpeviz.pretrained import catalog

Open = Callable[..., Page]

FIRST = samples.by_key("seashells").text
TEXT = "The naïve 世界 isn’t 3.14159 👍🏽"

SVG = "{http://www.w3.org/2000/svg}"


class Inspect:
    """The elements of the Inspect page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.grid = page.get_by_role("group", name="From characters to ids")
        self.picture = page.locator("section.merge-diagram")
        self.rule = page.get_by_role("slider", name="Step of the merge diagram")
        self.player = page.locator('section[aria-label^="Player: "]')

    def row(self, name: str) -> list[str]:
        """Return the texts of the cells of a row, in all lines."""
        found: list[str] = self.grid.locator(f".row.{name} .cell").all_inner_texts()
        return [text.strip("\n") for text in found]

    def await_ids(self, ids: list[int]) -> None:
        expect(self.grid.locator(".row.ids .cell")).to_have_text([str(i) for i in ids])

    def closer(self, name: str) -> None:
        self.page.get_by_role("radio", name=name, exact=True).click()


def opened(page: Page, text: str, tokenizer: str = "GPT-4 (cl100k)") -> Inspect:
    """Type a text and choose a tokenizer; wait until the grid shows its ids."""
    inspect = Inspect(page)
    expect(inspect.grid).to_be_visible()
    chosen = page.get_by_role("combobox", name="Tokenizer", exact=True)
    if chosen.input_value() != tokenizer:
        choose(page, "Tokenizer", tokenizer)
    type_text(page, text)
    names = {title: name for name, title in catalog.TITLES.items()}
    inspect.await_ids(bpeviz.load(names[tokenizer]).encode(text))
    return inspect


def middle(cell: Locator) -> float:
    """Return the horizontal center of a cell."""
    box = cell.bounding_box()
    return box["x"] + box["width"] / 2


def test_deep_link_shows_text_from_characters_to_ids(open_page: Open) -> None:
    page = open_page("/Inspect")
    inspect = Inspect(page)
    # The text of the other pages first, whose many lines scroll.
    training, _ = trained(FIRST)
    inspect.await_ids(training.tokenizer().encode(FIRST))
    lines = inspect.grid.locator(".lines")
    assert lines.evaluate("box => box.scrollHeight > 2 * box.clientHeight")
    assert lines.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    expect(inspect.player).to_be_attached()
    type_text(page, TEXT)
    train_on(page, "seashells")
    inspect.await_ids(training.tokenizer().encode(TEXT))
    assert inspect.row("graphemes") == [*"The·naïve·世界·isn’t·3.14159·", "👍🏽"]
    assert "".join(inspect.row("bytes")) == TEXT.encode().hex().upper()
    expect(page.get_by_text("Lossless.")).to_be_visible()
    # The grid is the heart of the page: it is whole on the first screen, above the details.
    box = inspect.grid.bounding_box()
    assert box["y"] < 420
    assert box["height"] <= 330
    assert "".join(inspect.row("decimals")[-1:]) == str(ord("🏽"))
    assert page.get_by_text("Step by step").bounding_box()["y"] < 768
    # On a projector, the same grid is enlarged, and its lines fit the screen.
    height = "cells => cells[0].getBoundingClientRect().height"
    cells = inspect.grid.locator(".row.tokens .cell")
    before = cells.evaluate_all(height)
    projector = inspect.grid.get_by_role("button", name="Projector")
    projector.click()
    expect(inspect.grid.locator(".lines")).to_have_css("--zoom", "1.6")
    assert cells.evaluate_all(height) > 1.5 * before
    assert inspect.grid.evaluate("grid => grid.scrollWidth - grid.clientWidth") <= 0
    inspect.await_ids(training.tokenizer().encode(TEXT))
    projector.click()
    expect(inspect.grid.locator(".lines")).to_have_css("--zoom", "1")


def test_grid_aligns_characters_bytes_tokens_and_ids(inspect_page: Page) -> None:
    """cl100k: 👍 is [9468, 239, 235], three tokens of one character."""
    inspect = opened(inspect_page, "hi👍")
    ids = [str(i) for i in bpeviz.load("cl100k_base").encode("hi👍")]
    assert inspect.row("ids") == ids
    assert inspect.row("preTokens") == ["hi", "👍"]
    assert not any("\ufffd" in text for text in inspect.row("tokens"))
    # Each grapheme is above its bytes, each id below its token.
    cells = inspect.grid.locator(".row .cell")
    spans: dict[str, list[tuple[float, float]]] = {}
    for name in ("graphemes", "bytes", "tokens", "ids"):
        found = inspect.grid.locator(f".row.{name} .cell").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(b => [b.left, b.right])"
        )
        spans[name] = [(round(a), round(b)) for a, b in found]
    assert spans["tokens"] == spans["ids"]
    assert spans["graphemes"][2] == (spans["bytes"][2][0], spans["bytes"][5][1])
    assert cells.count() > 20
    # A marker and a caption show boundaries inside a character.
    expect(inspect.grid.locator(".marker:not(.grapheme)")).to_have_count(2)
    expect(inspect.grid).to_contain_text("2 token boundaries inside a character")
    thumb = inspect.grid.locator(".row.graphemes .cell").nth(2)
    thumb.hover()
    expect(inspect.grid.locator(".row.ids .cell.lit")).to_have_text(ids[1:])
    expect(inspect.grid.get_by_role("tooltip")).to_contain_text(
        f"in 3 tokens: {', '.join(ids[1:])}"
    )
    left, right = spans["graphemes"][2]
    assert left < middle(inspect.grid.locator(".row.tokens .cell").nth(2)) < right


def test_lossy_encoding_is_reported(open_page: Open) -> None:
    page = open_page("/Inspect")
    inspect = Inspect(page)
    expect(inspect.grid.locator(".row.ids .cell").first).to_be_visible()
    choose(page, "Algorithm", "WordPiece")
    expect(page.get_by_text("Lossy.")).to_be_visible()
    train_on(page, "seashells")
    type_text(page, "she  sells 世")
    expect(inspect.grid.locator(".row.tokens .cell.unknown")).to_have_text(["[UNK]"])
    expect(page.get_by_text("Lossy.")).to_be_visible()
    expect(inspect.grid.locator(".row.tokens .cell.left-out")).to_have_count(3)


def test_player_steps_through_the_merges_of_the_text(inspect_page: Page) -> None:
    inspect = opened(inspect_page, "hello hello")
    inspect.closer("Step by step")
    merges = len(trace.inspect("hello hello", bpeviz.load("cl100k_base")).events)
    expect(inspect.player.locator("output.last")).to_have_text(str(merges))
    sentence = inspect.player.locator(".sentence")
    expect(sentence).to_contain_text("of 100,000")  # the first merge
    inspect.player.locator(".text .c").first.click()
    inspect.player.get_by_role("button", name="Close the merges of the token").click()
    inspect.player.get_by_role("button", name="Last", exact=True).click()
    expect(inspect.player.locator("[data-figure=tokens]")).to_have_text("2")


def test_merge_diagram_is_mirrored_and_saved_as_a_picture(open_page: Open, tmp_path: Path) -> None:
    page = open_page("/Inspect", color_scheme="dark")
    text = "naïve <b>&amp;</b> 世 👍"
    inspect = opened(page, text)
    inspect.closer("Merge diagram")
    choose(page, "Compare with (mirrored below)", "GPT-2")
    expect(inspect.picture).to_contain_text("GPT-2: ")
    inspect.picture.get_by_role("button", name="Save this picture").click()
    dialog = page.get_by_role("dialog", name="Save this picture")
    expect(dialog.get_by_alt_text(re.compile("with GPT-4 .* with GPT-2"))).to_be_visible()
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Picture (SVG)").click()
    assert download.value.suggested_filename == "bpeviz-picture.svg"
    target = tmp_path / "picture.svg"
    download.value.save_as(target)
    root = ET.parse(target).getroot()
    assert root.tag == f"{SVG}svg"
    written = target.read_text(encoding="utf-8")
    for foreign in ("var(--", "class=", "<script", "href", "url(", "oklch"):
        assert foreign not in written
    fills = [path.get("fill", "") for path in root.findall(f".//{SVG}path")]
    assert len(fills) > 20
    assert all(re.fullmatch(r"#[0-9a-f]{6}|none", fill) for fill in fills)
    words = [one.text or "" for one in root.findall(f".//{SVG}text")]
    assert all(sign in "".join(words) for sign in "<&世👍")
    assert words[-2:] == ["bpeviz", "Type your name: what does a model see?"]
    assert root.get("viewBox") == "0 0 1200 630"
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Picture (PNG)").click()
    download.value.save_as(target)
    with Image.open(target) as image:
        assert image.size == (1200, 630)
        image.verify()
    assert 5_000 < target.stat().st_size <= 100_000


def test_markup_in_text_is_not_rendered(inspect_page: Page) -> None:
    page = inspect_page
    text = "<img src=x onerror=alert(1)><b>x</b>"
    inspect = opened(page, text)
    assert inspect.row("graphemes") == [*text.replace(" ", "·")]
    for name in ("Merge diagram", "Look up a token", "Decode ids"):
        inspect.closer(name)
        expect(inspect.grid).to_be_visible()
    assert page.evaluate("document.querySelectorAll('img[src=x]').length") == 0
