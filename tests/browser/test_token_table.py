"""The table of tokens: 200,000 rows, its keys, and how tokens look in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.stages import timeline
from page_helpers import Page, expect
from playwright.sync_api import Browser

import bpeviz
from bpeviz.text import as_json, label
from bpeviz.views import playable, token_table
from bpeviz.views.table import Table

COLUMNS = ("id", "left", "right", "count", "applied", "ties")
"""The columns of steps of merges."""

ROWS = 200_000
MARK = "\u0e34".encode()  # a Thai vowel above
TOKENS = [b" the", b"t", MARK, "नमस्ते".encode(), "سلام".encode(), "語".encode()]

HOST = """
token_table(shadow("token_table"), JSON.parse(document.getElementById("data").textContent), ignore);
"""

PLAYER = """
window.step = 2500;
document.addEventListener("bpeviz-step-requested", ({ detail }) => detail?.(step));
document.addEventListener("bpeviz-jump", ({ detail }) => {
  step = detail;
  document.dispatchEvent(new CustomEvent("bpeviz-step-changed", { detail: { step } }));
});
"""
"""What the table needs of a player."""


def opened(browser: Browser, file: Path, data: object, host: str = HOST) -> Page:
    """Return a page with a table."""
    script, markup = playable.program(("token_table",), playable.SHADOW + host)
    packed = f'<script type="text/plain" id="data">{as_json(data).decode()}</script>'
    body = '<div id="place-token_table"></div>'
    html = playable.document("Tokens", body, markup + packed, script)
    file.write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(file.as_uri(), timeout=120_000)
    return page


@pytest.fixture
def table(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """Return a page with a table of many rows."""
    ids = [i % len(TOKENS) for i in range(ROWS)]
    rows = Table.of({"id": range(ROWS), "token": ids, "uses": [i * 7 % 1000 for i in range(ROWS)]})
    look = {i: (label(raw), i if len(raw) > 1 else -1) for i, raw in enumerate(TOKENS)}
    data = token_table.payload(rows, "Tokens", {"token": ids}, look.__getitem__, searches=1)
    page = opened(browser, tmp_path / "table.html", data)
    yield page
    page.close()


def test_the_row_of_the_step_is_in_view_and_a_press_on_a_row_moves_the_step(
    browser: Browser, tmp_path: Path
) -> None:
    training = bpeviz.train({"ab": 3, "abc": 2}, merges=2)
    view = timeline("abc", training)
    steps: dict[str, Any] = {**view["steps"]}
    steps |= {name: steps[name][:1] * 3_000 for name in COLUMNS}
    data = {"view": {**view, "last": 3_000, "steps": steps}}
    page = opened(browser, tmp_path / "steps.html", data, PLAYER + HOST)
    page.get_by_text("All merges").click()
    current = page.locator("tr[aria-current=step]")
    expect(current.locator("td").first).to_have_text("2,500")
    expect(current).to_be_in_viewport(ratio=0.9)
    expect(current.locator("bdi.t").last).to_have_text("ab")
    page.locator("tr[aria-rowindex='2500']").click()
    expect(current.locator("td").first).to_have_text("2,499")
    assert page.evaluate("step") == 2_499
    # Text can be selected, which moves nothing.
    text = current.locator("bdi").last
    box = text.bounding_box()
    assert box is not None
    page.mouse.move(box["x"], box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"], box["y"] + 8, steps=3)
    page.mouse.up()
    assert page.evaluate("String(getSelection())")
    assert page.evaluate("step") == 2_499
    page.evaluate(
        "step = 3; document.dispatchEvent(new CustomEvent('bpeviz-step-changed', {detail: {step}}))"
    )
    expect(current.locator("td").first).to_have_text("3")
    expect(current).to_be_in_viewport(ratio=0.9)
    page.close()


def test_only_rows_in_view_are_in_the_page(table: Page) -> None:
    grid, rows = table.get_by_role("grid", name="Tokens"), table.locator("tbody tr[data-place]")
    expect(rows.first).to_contain_text("·the")
    expect(grid).to_have_attribute("aria-rowcount", str(ROWS + 1))
    assert rows.count() < 60
    heights = rows.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    assert {*heights} == {28}  # as the script assumes, in all scripts
    grid.focus()
    table.keyboard.press("Control+End")
    last = table.locator(f"tr[aria-rowindex='{ROWS + 1}']")
    expect(last).to_be_in_viewport(ratio=0.9)
    expect(last.locator("td").first).to_have_text(str(ROWS - 1))
    assert rows.count() < 60
    reached = table.locator("[id=reached]")
    expect(reached).to_have_text(str((ROWS - 1) * 7 % 1000))
    table.keyboard.press("ArrowUp")
    table.keyboard.press("Home")
    expect(reached).to_have_text(str(ROWS - 2))


def test_heads_sort_and_a_search_finds(table: Page) -> None:
    grid, first = table.get_by_role("grid", name="Tokens"), table.locator("tr[data-place='0'] td")
    head = table.get_by_role("columnheader", name="uses")
    expect(head).to_have_attribute("aria-sort", "none")
    grid.focus()
    for key in ("Control+Home", "ArrowUp", "End", "Enter"):
        table.keyboard.press(key)
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(first.last).to_have_text("999")
    head.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(first).to_have_text(["0", "·the", "0"])
    table.get_by_label("Find a token").fill("\u0e34")
    expect(table.get_by_role("status")).to_have_text("33,333 rows contain “\u0e34”.")
    table.get_by_label("Find a token").fill("no such token")
    expect(table.get_by_role("status")).to_contain_text("No row has a token that contains")


def test_a_combining_mark_stands_on_a_circle_and_is_one_em_wide(table: Page) -> None:
    piece = table.locator("tr[data-place='2'] bdi.piece")
    expect(piece).to_have_text("◌\u0e34")
    width, em = piece.evaluate(
        "one => [one.getBoundingClientRect().width, parseFloat(getComputedStyle(one).fontSize)]"
    )
    assert width >= em
