"""The tables of Train: they follow the step, move it, sort, search, and are saved."""

from __future__ import annotations

import csv
from pathlib import Path

from journeys.journey import Journey
from journeys.people import (
    ENGLISH,
    Locator,
    Page,
    Stage,
    at_rest,
    await_run,
    download,
    expect,
    link,
    text_box,
    unfold,
)


def cell(table: Locator, column: str, place: int) -> Locator:
    """Return a cell of a table by the title of its column and the number of its row."""
    names: list[str] = table.locator("th").all_inner_texts()
    return table.locator(f"tr[data-place='{place}'] td").nth(names.index(column))


def search(page: Page, words: str) -> None:
    text_box(page, "Find a token").fill(words)
    text_box(page, "Find a token").press("Enter")


def test_tables_follow_and_move_the_step(journey: Journey, tmp_path: Path) -> None:
    with journey.step("Candidates and merges show the step of the player"):
        page = journey.open(link(ENGLISH, why_open=True, log_open=True))
        stage = Stage(page)
        training, _ = stage.await_text(ENGLISH)
        tokenizer, merges = training.tokenizer(), training.merges
        candidates, table = (
            page.get_by_role("grid", name=name) for name in ("All candidates", "All merges")
        )
        stage.go(12)
        merge = merges[11]
        labels = [tokenizer.token_label(token) for token in (merge.left, merge.right)]
        contents = [*labels, str(merge.count), "winner"]
        for column, content in zip(("left", "right", "count", "note"), contents, strict=True):
            expect(cell(candidates, column, 0)).to_have_text(content)
        current = table.locator("tr[aria-current=step]")
        expect(current.locator("td").first).to_have_text("12")
        table.scroll_into_view_if_needed()
        expect(current).to_be_in_viewport(ratio=0.9)
    with journey.step("Only rows in view are drawn; keys reach the last"):
        rows = table.locator("tbody tr[data-place]")
        assert rows.count() < 60 < training.steps
        assert table.get_attribute("aria-rowcount") == str(training.steps + 1)
        table.focus()
        page.keyboard.press("Control+End")
        last = table.locator(f"tr[aria-rowindex='{training.steps + 1}']")
        expect(last).to_be_in_viewport(ratio=0.9)
        expect(last.locator("td").first).to_have_text(str(training.steps))
        heights = "rows => [...new Set(rows.map(row => row.getBoundingClientRect().height))]"
        assert rows.evaluate_all(heights) == [28]  # as the script assumes, in all scripts
    with journey.step("A press on a row, or Enter, moves the step; selecting text does not"):
        steps = [
            step
            for step, merge in enumerate(merges, 1)
            if "keep" in tokenizer.token_label(merge.new_id)
        ]
        search(page, "keep")
        expect(cell(table, "merge", 0)).to_have_text(str(steps[0]))
        expect(cell(table, "merge", len(steps) - 1)).to_have_text(str(steps[-1]))
        expect(cell(table, "merge", len(steps))).to_have_count(0)
        cell(table, "token", 1).click()
        stage.await_step(steps[1])
        box = at_rest(cell(table, "token", 0).locator("bdi").last)
        page.mouse.move(box["x"], box["y"] + 8)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"], box["y"] + 8, steps=3)
        page.mouse.up()
        assert page.evaluate("String(getSelection())")
        stage.await_step(steps[1])
        table.focus()
        for key in ("Control+Home", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        stage.await_step(steps[0])
        expect(table).to_be_focused()
        stage.button("Step forward").click()
        stage.await_step(steps[0] + 1)
    with journey.step("A search without a result says so; heads sort"):
        search(page, "no such token")
        words = "No merge has a token that contains “no such token”"
        expect(page.get_by_text(words)).to_be_visible()
        search(page, "")
        expect(table).to_be_visible()
    with journey.step("The table is saved as CSV, whole"):
        await_run(page)
        _, content = download(
            page, "Download CSV", tmp_path, page.locator(".st-key-all-merges-as-a-file")
        )
        header, *lines = csv.reader(content.decode("utf-8-sig").splitlines())
        assert len(header) > 5
        assert len(lines) == training.steps
    with journey.step("The vocabulary sorts by its heads, and searches as one types"):
        unfold(page, "The vocabulary: all tokens, and the cost of its size")
        table = page.get_by_role("grid", name="All tokens")
        head = table.get_by_role("columnheader", name="id")
        orders = {"descending": 255 + training.steps, "ascending": 0}
        for order, first in orders.items():
            head.click()
            expect(head).to_have_attribute("aria-sort", order)
            expect(cell(table, "id", 0)).to_have_text(str(first))
