"""The player: the first screen, playback, steps, token details, and the tables at the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from page_helpers import (
    ENGLISH,
    Locator,
    Page,
    Player,
    box_at_rest,
    expect,
)

if TYPE_CHECKING:
    pass

Open = Callable[..., Page]


def cell(page: Page, table: str, column: str, place: int) -> Locator:
    """Return a cell of a table of tokens, by the title of its column."""
    grid = page.locator(f".st-key-{table}").get_by_role("grid")
    expect(grid).to_be_visible()
    names: list[str] = grid.locator("th").all_inner_texts()
    return grid.locator(f"tr[data-place='{place}'] td").nth(names.index(column))


def test_tables_follow_the_player_step(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    training, boundaries = player.await_text(ENGLISH)
    tokenizer = training.tokenizer()
    player.go(12)
    expect(page.get_by_text("before merge 12.")).to_be_visible()
    merge = training.merges[11]
    labels = [tokenizer.token_label(one) for one in (merge.left, merge.right)]
    names = ("left", "right", "count", "note")
    for column, content in zip(names, [*labels, str(merge.count), "winner"], strict=True):
        expect(cell(page, "candidates", column, 0)).to_have_text(content)
    current = page.locator(".st-key-decisions tr[aria-current=step]")
    expect(current.locator("td").first).to_have_text("12")
    page.locator(".st-key-decisions .scroll").scroll_into_view_if_needed()
    expect(current.locator("td").first).to_be_in_viewport(ratio=0.9)
    player.go(13)
    expect(page.get_by_text("before merge 13.")).to_be_visible()

    # A click on a curve or on a row of the merges jumps to that step.
    chart = page.get_by_test_id("stVegaLiteChart").first
    box = box_at_rest(chart)
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
    expect(player.track).not_to_have_value("13")
    reached = player.step
    assert len(training.merges) / 4 < reached < len(training.merges)  # of a logarithmic axis
    expect(page.get_by_text(f"before merge {reached}.")).to_be_visible()
    expect(player.figure("tokens")).to_have_text(str(boundaries.token_counts[reached]))

    search = page.get_by_role("textbox", name="Find a token")
    search.fill("keep")
    search.press("Enter")
    found = [
        step
        for step, merge in enumerate(training.merges, 1)
        if "keep" in tokenizer.token_label(merge.new_id)
    ]
    assert found
    expect(cell(page, "decisions", "merge", 0)).to_have_text(str(found[0]))
    expect(cell(page, "decisions", "merge", len(found) - 1)).to_have_text(str(found[-1]))
    expect(cell(page, "decisions", "merge", len(found))).to_have_count(0)
    cell(page, "decisions", "token", 1).click()
    expect(player.track).to_have_value(str(found[1]))
    # The table is one tab stop. Enter keeps its focus, so that keys continue there.
    grid = page.locator(".st-key-decisions").get_by_role("grid")
    grid.focus()
    for key in ("Control+Home", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(player.track).to_have_value(str(found[0]))
    expect(grid).to_be_focused()
    # The jump applies once: the player can move on.
    player.button("Step forward").click()
    expect(page.get_by_text(f"before merge {found[0] + 1}.")).to_be_visible()
    # After another search, the first row is another merge.
    search.fill("bak")
    search.press("Enter")
    baked = next(m for m in training.merges if "bak" in tokenizer.token_label(m.new_id))
    expect(cell(page, "decisions", "id", 0)).to_have_text(str(baked.new_id))
    cell(page, "decisions", "merge", 0).click()
    expect(player.track).to_have_value(str(baked.new_id - tokenizer.first_merge_id + 1))
    search.fill("no such token")
    search.press("Enter")
    expect(page.get_by_text("No merge has a token that contains “no such token”")).to_be_visible()
