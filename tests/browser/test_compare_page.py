"""The Compare page: columns, difference marks, hovering, metrics, and a test text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from page_helpers import (
    ENGLISH,
    Columns,
    Locator,
    Page,
    box_at_rest,
    drawn_boundaries,
    english,
    expect,
    labelled,
    link,
    piece_at,
    trained,
    type_text,
    unfold,
)
from PIL import Image

import bpeviz
from bpeviz.analysis import figures
from bpeviz.analysis.comparison import Comparison
from bpeviz.analysis.figures import measure
from bpeviz.analysis.metrics import Column
from bpeviz.pretrained.catalog import TITLES

Open = Callable[..., Page]


def columns_of(text: str, *names: str) -> list[Column]:
    """Return the columns that Python computes, the user's tokenizer first."""
    training, boundaries = trained(text)
    found = [Column("Your tokenizer", training.tokenizer(), boundaries, len(training.merges))]
    for name in names:
        tokenizer = bpeviz.load(name)
        boundaries = tokenizer.boundaries(text)
        found.append(Column(TITLES[name], tokenizer, boundaries, tokenizer.steps))
    return found


def differences(columns: list[Column], baseline: int) -> list[tuple[int, int]]:
    """Return the number of extra and of missing boundaries of each column."""
    boundaries = [{*column.inner_boundaries.tolist()} for column in columns]
    expected = boundaries[baseline]
    return [(len(found - expected), len(expected - found)) for found in boundaries]


def marks(page: Page, column: Column) -> tuple[int, int]:
    """Return the number of marks for extra and for missing boundaries in a column."""
    found = Columns(page)
    return found.count(column.title, "extra"), found.count(column.title, "missing")


def test_deep_link_shows_verdict_columns_and_marks(open_page: Open) -> None:
    page = open_page(english("/Compare"))
    page.set_viewport_size({"width": 1280, "height": 768})
    columns = columns_of(ENGLISH, "gpt2", "cl100k_base", "o200k_base")
    counts = [column.tokens for column in columns]
    for column in columns:
        text = Columns(page).text(column.title)
        expect(text).to_contain_text("river")
        assert drawn_boundaries(text) == column.tokens
        expect(box_of(page, column)).to_contain_text(f"{column.tokens} tokens")
    percents = f"{(counts[1] - counts[3]) / counts[1]:.1%} fewer than GPT-2"
    assert counts[3] == min(counts)
    verdict = f"GPT-4o (o200k) needs the fewest tokens: {counts[3]}, {percents}"
    expect(page.get_by_text(verdict)).to_be_visible()
    expect(box_of(page, columns[3])).to_contain_text("Fewest")
    expect(Columns(page).frame.get_by_text("Fewest")).to_have_count(1)
    assert [marks(page, column) for column in columns] == differences(columns, 1)
    tops = {round(box["y"]) for column in columns if (box := box_of(page, column).bounding_box())}
    assert len(tops) == 1, "four columns fit at 1280 pixels"

    # On a projector, the verdict and several lines of text need no scrolling, and text is enlarged.
    page.set_viewport_size({"width": 1024, "height": 576})
    answer = page.get_by_text(verdict).bounding_box()
    text_box = box_at_rest(Columns(page).text("GPT-4o"))
    assert answer["y"] < 120
    assert min(text_box["y"] + text_box["height"], 576) - text_box["y"] > 200
    projector = Columns(page).frame.get_by_role("button", name="Projector")
    projector.click()
    expect(Columns(page).frame.get_by_text(verdict)).to_be_visible()
    expect(Columns(page).text("GPT-4o")).to_have_css("font-size", "25.6px")
    projector.click()
    expect(Columns(page).frame.get_by_text(verdict)).to_be_hidden()

    # The user's own tokenizer is removed like the others.
    page.get_by_role("button", name="Remove Your tokenizer").click()
    expect(Columns(page).text("Your tokenizer")).to_have_count(0)
    expect(Columns(page).text("GPT-2")).to_contain_text("river")

    page.get_by_text("Token ids").click()
    first = bpeviz.load("gpt2").encode(ENGLISH)[:3]
    expect(Columns(page).text("GPT-2").locator(".id").nth(2)).to_have_text(str(first[2]))
    assert drawn_boundaries(Columns(page).text("GPT-2")) == counts[1]

    page.set_viewport_size({"width": 390, "height": 844})
    expect(Columns(page).text("GPT-2")).to_be_visible()
    boxes = [box_of(page, column).bounding_box() for column in columns[1:]]
    assert len({round(box["x"]) for box in boxes if box}) == 1, "columns are stacked"
    name = box_of(page, columns[1]).locator("h2 .unbroken")
    expect(name).to_have_text("GPT-2")
    expect(name).to_have_css("white-space", "nowrap")


def box_of(page: Page, column: Column) -> Locator:
    """Return the column with a title."""
    heading = page.get_by_role("heading", name=column.title.removesuffix(")"))
    return Columns(page).frame.locator(".column").filter(has=heading)


def highlighted(text: Locator) -> str:
    """Return the highlighted part of a text."""
    found: str = text.evaluate(
        "text => [...text.querySelectorAll('.c.lit')].map(c => c.textContent).join('')"
    )
    return found.replace("\u00a0", " ")


def test_hovering_a_token_highlights_its_span_in_every_column(open_page: Open) -> None:
    page = open_page(english("/Compare"))
    titles = ("Your tokenizer", "GPT-2", "GPT-4 (cl100k)")
    texts = [Columns(page).text(title) for title in titles]
    for text in texts:
        expect(text).to_contain_text("river")
    # Nothing moves under the pointer any more.
    expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    at = ENGLISH.index(" lighthouse")
    for _ in range(20):
        piece_at(texts[1], at + 3).hover()
        if highlighted(texts[1]) == " lighthouse":
            break
        page.wait_for_timeout(500)
    expect(Columns(page).card).to_contain_text("Your tokenizer")
    assert [highlighted(text) for text in texts] == [" lighthouse"] * 3
    ids = bpeviz.load("gpt2").encode(" lighthouse")
    assert len(ids) == 1
    expect(Columns(page).card).to_contain_text(f"id {ids[0]}")
    page.get_by_role("heading", name="Metrics").hover()
    expect(Columns(page).card).to_be_hidden()
    assert [highlighted(text) for text in texts] == ["", "", ""]


def test_metrics_equal_python_on_training_and_test_text(open_page: Open) -> None:
    page = open_page(english("/Compare"))
    expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    expect(page.get_by_text("Your tokenizer was trained on this text")).to_be_visible()
    expect(page.get_by_text("Vocabulary sizes differ")).to_be_visible()
    # The icon before these words is not read out.
    expect(page.locator('[aria-label="balance icon"]')).to_have_attribute("aria-hidden", "true")
    unfold(page, "More metrics")
    columns = columns_of(ENGLISH, "gpt2", "cl100k_base", "o200k_base")
    table = page.locator("table.facts")
    expect(table).to_have_count(2)

    def shown(row: str, column: int) -> Locator:
        return table.locator("tr").filter(has_text=row).locator("td").nth(column)

    for number, measured in enumerate(measure(ENGLISH, columns, 1), 1):
        for figure in (figures.bytes_per_token, figures.whole_words, figures.f1):
            value = figure.text(figure.of(measured))
            expect(shown(figure.name, number)).to_have_text(value)
    unfold(page, "By vocabulary size")
    expect(page.get_by_test_id("stVegaLiteChart")).to_be_visible()

    page.get_by_label("Train on", exact=True).select_option("english-prose")
    text = "the keeper bakes zebras, quickly"
    type_text(page, text)
    expect(page.get_by_text("Your tokenizer was trained on English prose")).to_be_visible()
    for title in ("Your tokenizer", "GPT-2", "GPT-4 (cl100k)"):
        expect(Columns(page).text(title)).to_contain_text("zebras")
    training, _ = trained(ENGLISH)
    tokens = len(training.tokenizer().encode(text))
    assert drawn_boundaries(Columns(page).text("Your tokenizer")) == tokens


def test_signs_of_several_bytes_have_rulers_and_others_no_empty_row(open_page: Open) -> None:
    page = open_page("/Compare")
    type_text(page, "ภาษาไทย\nThai")
    text = Columns(page).text("GPT-2")
    expect(text).to_contain_text("ไ")
    rulers = [one.bounding_box() for one in text.locator(".atoms").all()]
    assert len(rulers) == len("ภาษาไทย")
    for left, right in pairwise(rulers):
        assert left["x"] + left["width"] <= right["x"] + 1
    ruled, plain = (line.bounding_box() for line in text.locator(".line").all())
    assert ruled
    assert plain
    assert ruled["height"] - plain["height"] == 6


MANY = "# English\nWhere is the river?\n# Spanish\n¿Dónde está el río?\n# Hindi\nनदी कहाँ है?\n"


def test_many_texts_are_compared_in_one_table(open_page: Open, tmp_path: Path) -> None:
    page = open_page(link(ENGLISH, "/Compare", compared=["gpt2", "o200k_base"]))
    page.get_by_role("radio", name="Many texts").click()
    chart = page.locator(".dots svg[aria-label^='Premium of 34 texts, sorted by GPT-4o']")
    expect(chart.locator(".row")).to_have_count(34)
    assert chart.bounding_box()["width"] > 800, "the width of the page"
    names = chart.locator(".name").all_text_contents()
    assert (names[0], names[-1]) == ("Amharic", "English")
    first = chart.locator(".row").first.locator(".mark.best")
    expect(first).to_have_accessible_name(re.compile(r"Amharic, GPT-4o \(o200k\): 6\.\d\d \(.*×"))
    expect(chart.locator(".interval")).to_have_count(68)

    # By keyboard: to the next text, and from mark to mark, then open the text.
    first.focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Burmese under GPT-2 and")).to_be_visible()
    expect(chart.locator("[aria-selected]")).to_have_accessible_name(re.compile("Burmese, GPT-2"))
    page.get_by_role("button", name="Back to all texts").click()
    expect(Columns(page).frame).to_have_count(0)
    for kind in ("svg", "png"):
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"Save as {kind.upper()}").click()
        saved.value.save_as(tmp_path / f"plot.{kind}")
    drawn = (tmp_path / "plot.svg").read_text("utf-8")
    assert all(f">{word}<" in drawn for word in ("Amharic", "English", "GPT-4o (o200k) 6.07×"))
    assert Image.open(tmp_path / "plot.png").width > 1000

    page.get_by_role("tab", name="Table").click()
    page.get_by_role("radio", name="Tokens", exact=True).click()
    table = labelled(page, "[role=grid]", "Tokens of 34 texts")
    expect(table.locator("tr")).to_have_count(35)
    table.locator("td").last.scroll_into_view_if_needed()
    expect(table.locator("th").last).to_be_in_viewport()
    page.get_by_role("radio", name="Premium").click()
    table = labelled(page, "[role=grid]", "Premium of 34 texts")
    expect(table.locator("tr")).to_have_count(35)
    page.set_viewport_size({"width": 390, "height": 844})
    table.locator("td").last.scroll_into_view_if_needed()
    expect(table.locator("th").last).to_be_in_viewport()
    heights = "rows => new Set(rows.map((row) => row.offsetHeight)).size"
    assert table.locator("tbody tr").evaluate_all(heights) == 1
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("radio", name="Tokens", exact=True).click()
    type_text(page, MANY, "Texts, each after")
    found = compare_texts(MANY)
    table = labelled(page, "[role=grid]", "Tokens of 3 texts")
    expect(page.get_by_text(found.verdict)).to_be_visible()
    for row in found.rows:
        cells = table.locator("tr").filter(has_text=row.text).locator("td")
        cell = cells.nth(1 if row.tokenizer == "GPT-2" else 2)
        expect(cell.locator("bdi")).to_have_text(f"{row.tokens:,}")
        others = [one.tokens for one in found.rows if one.text == row.text]
        is_best = row.tokens == min(others) < max(others)
        expect(cell.get_by_text("fewest")).to_have_count(int(is_best))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download CSV").click()
    saved.value.save_as(tmp_path / "texts.csv")
    written = (tmp_path / "texts.csv").read_text("utf-8-sig").splitlines()
    assert [line.split(",")[:3] for line in written[1:]] == [
        [row.text, row.tokenizer, str(row.tokens)] for row in found.rows
    ]

    # By keyboard: sort by a title, and open a text under a tokenizer.
    head = table.locator("th").nth(1)
    head.focus()
    head.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(table.locator("td").first).to_have_text("Hindi")
    page.keyboard.press("Space")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(table.locator("td").first).to_have_text("English")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    cell = table.locator("tr").filter(has_text="Spanish").locator("td").nth(2)
    expect(cell).to_be_focused()
    page.keyboard.press("Enter")
    expect(
        page.get_by_role("heading", name="Spanish under GPT-2 and GPT-4o (o200k)")
    ).to_be_visible()
    expect(Columns(page).text("GPT-4o")).to_contain_text("el")
    expect(Columns(page).frame).to_be_in_viewport()
    expect(cell).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Back to all texts").click()
    expect(cell).to_be_focused()
    expect(Columns(page).frame).to_have_count(0)
    expect(table.locator("td").first).to_have_text("English")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as SVG").click()
    saved.value.save_as(tmp_path / "texts.svg")
    drawn = (tmp_path / "texts.svg").read_text("utf-8")
    assert drawn.index(">English<") < drawn.index(">Spanish<") < drawn.index(">Hindi<")
    place = {word: float(x) for x, word in re.findall(r'<text x="([^"]+)"[^>]*>([^<]+)<', drawn)}
    assert all(place["English"] < place[f"{row.tokens:,}"] for row in found.rows)
    assert all(f">{row.tokens:,}<" in drawn for row in found.rows)

    # Files are opened together; one that is not a text does not keep the others out.
    page.get_by_role("button", name="Open files").click()
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
        [
            {"name": "t.csv", "mimeType": "text/csv", "buffer": b"en,de\nthe sea,das Meer\n"},
            {"name": "b.txt", "mimeType": "text/plain", "buffer": b"\xff\xfel\x00"},
        ]
    )
    expect(page.get_by_text("b.txt is not UTF-8 text")).to_be_visible()
    page.keyboard.press("Escape")
    table = labelled(page, "[role=grid]", "Tokens of 5 texts")
    expect(table.locator("tr").filter(has_text="de")).to_have_count(1)
    page.get_by_role("radio", name="One text").click()
    expect(Columns(page).text("GPT-2")).to_contain_text("river")


def compare_texts(pasted: str) -> Comparison:
    """Return the comparison of pasted texts with the library."""
    parts = pasted.removeprefix("# ").split("\n# ")
    texts = dict(part.rstrip("\n").split("\n", 1) for part in parts)
    tokenizers = {TITLES[name]: bpeviz.load(name) for name in ("gpt2", "o200k_base")}
    return bpeviz.compare(texts, tokenizers, "English")
