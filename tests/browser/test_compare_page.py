"""The Compare page: columns, difference marks, hovering, metrics, and a test text."""

from __future__ import annotations

from collections.abc import Callable

from page_helpers import (
    ENGLISH,
    Columns,
    Locator,
    Page,
    choose,
    drawn_boundaries,
    expect,
    trained,
    type_text,
)

import bpeviz
from bpeviz.analysis.metrics import Column, measure
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


def differences(columns: list[Column], reference: int) -> list[tuple[int, int]]:
    """Return the number of extra and of missing boundaries of each column."""
    boundaries = [{*column.inner_boundaries.tolist()} for column in columns]
    expected = boundaries[reference]
    return [(len(found - expected), len(expected - found)) for found in boundaries]


def marks(page: Page, column: Column) -> tuple[int, int]:
    """Return the number of marks for extra and for missing boundaries in a column."""
    found = Columns(page)
    return found.count(column.title, "extra"), found.count(column.title, "missing")


def test_deep_link_shows_columns_and_difference_marks(open_page: Open) -> None:
    page = open_page("/Compare")
    columns = columns_of(ENGLISH, "gpt2", "cl100k_base")
    for column in columns:
        text = Columns(page).text(column.title)
        expect(text).to_contain_text("river")
        tokens = int(column.boundaries.boundary_mask(column.step).sum())
        assert drawn_boundaries(text) == tokens
        box = (
            Columns(page)
            .frame.locator(".column")
            .filter(has=page.get_by_role("heading", name=column.title))
        )
        expect(box).to_contain_text(f"{tokens} tokens")
    assert [marks(page, column) for column in columns] == differences(columns, 0)
    assert differences(columns, 0)[0] == (0, 0)

    choose(page, "Reference", "GPT-2")
    expect(Columns(page).frame.locator(".column.reference")).to_contain_text("GPT-2")
    assert [marks(page, column) for column in columns] == differences(columns, 1)

    # Add a third vocabulary.
    page.get_by_role("button", name="o200k").click()
    expect(Columns(page).text("o200k")).to_contain_text("river")
    columns = columns_of(ENGLISH, "gpt2", "cl100k_base", "o200k_base")
    tokens = int(columns[3].boundaries.boundary_mask(columns[3].step).sum())
    assert drawn_boundaries(Columns(page).text("o200k")) == tokens
    for name in ("GPT-2", "cl100k", "o200k"):
        page.get_by_role("button", name=name).click()
    expect(Columns(page).text("GPT-2")).to_have_count(0)
    expect(Columns(page).text("Your tokenizer")).to_contain_text("river")


def highlighted(text: Locator) -> str:
    """Return the highlighted part of a text."""
    found: str = text.evaluate(
        "text => [...text.querySelectorAll('.c.lit')].map(c => c.textContent).join('')"
    )
    return found


def test_hovering_a_token_highlights_its_span_in_every_column(open_page: Open) -> None:
    page = open_page("/Compare")
    titles = ("Your tokenizer", "GPT-2", "cl100k")
    texts = [Columns(page).text(title) for title in titles]
    for text in texts:
        expect(text).to_contain_text("river")
    at = ENGLISH.index(" lighthouse")
    texts[1].locator(".c").nth(at + 3).hover()
    expect(Columns(page).card).to_contain_text("Your tokenizer")
    assert [highlighted(text) for text in texts] == [" lighthouse"] * 3
    ids = bpeviz.load("gpt2").encode(" lighthouse")
    assert len(ids) == 1
    expect(Columns(page).card).to_contain_text(f"id {ids[0]}")
    page.get_by_role("heading", name="Metrics").hover()
    expect(Columns(page).card).to_be_hidden()
    assert [highlighted(text) for text in texts] == ["", "", ""]


def test_metrics_equal_python_on_training_and_test_text(open_page: Open) -> None:
    page = open_page("/Compare")
    expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    expect(page.get_by_text("Your tokenizer was trained on this very text")).to_be_visible()
    expect(page.get_by_text("Vocabulary sizes differ")).to_be_visible()
    table = page.get_by_test_id("stDataFrame")
    columns = columns_of(ENGLISH, "gpt2", "cl100k_base")

    def shown(row: str, column: int) -> Locator:
        return table.locator("tr").filter(has_text=row).locator("td").nth(column)

    for number, measured in enumerate(measure(ENGLISH, columns, 0), 1):
        assert measured.whole_words is not None
        expect(shown("bytes per token", number)).to_have_text(f"{measured.bytes_per_token:.2f}")
        expect(shown("words kept whole", number)).to_have_text(f"{measured.whole_words:.1%}")
        expect(shown("F1", number)).to_have_text(f"{measured.agreement.f1:.1%}")
    expect(page.get_by_test_id("stVegaLiteChart")).to_be_visible()

    page.get_by_role("radio", name="Different text").or_(
        page.get_by_role("button", name="Different text")
    ).first.click()
    text = "the keeper bakes zebras, quickly"
    type_text(page, text, "Test text to use")
    expect(page.get_by_text("This is a test text")).to_be_visible()
    for title in ("Your tokenizer", "GPT-2", "cl100k"):
        expect(Columns(page).text(title)).to_contain_text("zebras")
    training, _ = trained(ENGLISH)
    tokens = len(training.tokenizer().encode(text))
    assert drawn_boundaries(Columns(page).text("Your tokenizer")) == tokens
    # The training text remains in its own box.
    expect(page.get_by_role("textbox", name="Text to use", exact=True)).to_have_value(ENGLISH)
