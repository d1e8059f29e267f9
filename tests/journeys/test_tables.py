"""The tables of Train: they show the step or all steps, sort, search, and are saved."""

from __future__ import annotations

import csv
from pathlib import Path

from journeys.journey import Journey
from journeys.people import (
    ENGLISH,
    Locator,
    Page,
    Stage,
    await_run,
    download,
    expect,
    link,
    unfold,
)


def cell(table: Locator, column: str, place: int) -> Locator:
    """Return a cell of a table by the title of its column and the number of its row."""
    names: list[str] = table.locator("th").all_inner_texts()
    return table.locator(f"tr[data-place='{place}'] td").nth(names.index(column))


def search(page: Page, words: str) -> None:
    page.locator(".st-key-decisions").get_by_role("searchbox").fill(words)


def test_tables_show_steps_and_are_saved(journey: Journey, tmp_path: Path) -> None:
    with journey.step("Candidates show the step of the player"):
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
    with journey.step("A search finds tokens, or says that there are none; heads sort"):
        steps = [
            step
            for step, merge in enumerate(merges, 1)
            if "keep" in tokenizer.token_label(merge.new_id)
        ]
        search(page, "keep")
        expect(cell(table, "merge", 0)).to_have_text(str(steps[0]))
        expect(cell(table, "merge", len(steps) - 1)).to_have_text(str(steps[-1]))
        expect(cell(table, "merge", len(steps))).to_have_count(0)
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
        unfold(page, "The vocabulary: all tokens")
        table = page.get_by_role("grid", name="All tokens")
        head = table.get_by_role("columnheader", name="id")
        orders = {"descending": 255 + training.steps, "ascending": 0}
        for order, first in orders.items():
            head.click()
            expect(head).to_have_attribute("aria-sort", order)
            expect(cell(table, "id", 0)).to_have_text(str(first))
