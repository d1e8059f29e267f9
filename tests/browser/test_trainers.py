"""Algorithms other than BPE in the browser: on Train, in the player and on Compare.

`tests/ui` tests every algorithm of the registry without a browser: the pages in `pages`, and the
player's scripts in `components`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import usual
from page_helpers import ENGLISH, Columns, Page, Player, choose, drawn_boundaries, expect, go_to

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Pruning, Training
from bpeviz.trainers import TRAINERS, texts_of

Open = Callable[..., Page]


def ids_in_sentence(training: Training, step: int) -> list[int]:
    """Return the ids that the sentence of a step must contain."""
    decision = training.decisions[step - 1]
    if isinstance(decision, Pruning):
        return [decision.id]
    return [decision.left, decision.right, decision.new_id]


def check_token_card(player: Player, training: Training, boundaries: Boundaries, step: int) -> None:
    """Hover over the longest token of the text and click it; check its card and tree."""
    ids = boundaries.ids(step).tolist()
    ends = [0, *boundaries.token_ends(step).tolist()]
    token = max(range(len(ids)), key=lambda i: (ends[i + 1] - ends[i]) * (ids[i] >= 0))
    name = training.name(ids[token])
    cell = player.text.locator(".c").nth(ends[token])  # each ASCII character has a cell
    cell.hover()
    expect(player.card).to_contain_text(f"{name} id {ids[token]}")
    expect(player.card).to_contain_text(f"{ids.count(ids[token])}× in this text")
    cell.click()
    expect(player.tree).to_be_visible()
    expect(player.tree).to_contain_text(f"{name} id {ids[token]}")
    parents = training.parents(ids[token])
    for parent in parents or ():
        expect(player.tree.locator(".nodes")).to_contain_text(training.name(parent))
    player.page.keyboard.press("Escape")
    expect(player.tree).to_be_hidden()


@pytest.mark.large
def test_algorithm_plays_on_train_and_appears_on_compare(open_page: Open) -> None:
    page = open_page()
    expect(Player(page).last).to_be_visible()
    for key in ("unigram", "wordpiece", "scaffold"):  # boundaries return, and tokens disappear
        _assert_plays(page, key)
        go_to(page, "Train")


def _assert_plays(page: Page, key: str) -> None:
    training = usual.train(key, ENGLISH)
    boundaries = training.tokenizer().boundaries(ENGLISH)
    player = Player(page, texts_of(training).unit)
    expect(player.last).to_be_visible()
    choose(page, "Algorithm", TRAINERS[key].short)
    last = player.await_training(training, boundaries)
    assert last > 20
    for step in (0, last // 2, last):
        player.go(step)
        expect(player.figure("tokens")).to_have_text(f"{boundaries.token_counts[step]:,}")
        assert player.drawn_boundaries() == boundaries.boundary_mask(step).sum(), step
        if step:
            for token_id in ids_in_sentence(training, step):
                expect(player.sentence).to_contain_text(training.name(token_id))
                expect(player.sentence).to_contain_text(f"id {token_id}")
        else:
            expect(player.sentence).to_contain_text(texts_of(training).beginning(training))
    # One step back and one forward restore the same classes.
    player.go(last // 2)
    before = player.classes()
    player.button("Step back").click()
    player.button("Step forward").click()
    expect(player.track).to_have_value(str(last // 2))
    assert player.classes() == before
    check_token_card(player, training, boundaries, last // 2)

    # Below the player: the candidates under a heading of the algorithm, of which the first was
    # chosen, and both curves.
    expect(page.locator("summary", has_text=texts_of(training).heading)).to_be_visible()
    rule = texts_of(training).rule.format(step=f"{last // 2:,}")
    expect(page.get_by_text(rule)).to_be_visible()
    best = training.candidates(ENGLISH, boundaries, last // 2 - 1, 1)[0]
    table = page.get_by_test_id("stDataFrame").nth(1)
    for column, token_id in enumerate(best.ids):
        content = table.get_by_test_id(f"glide-cell-{column}-0")
        expect(content).to_have_text(training.name(token_id))
    charts = page.get_by_test_id("stVegaLiteChart")
    for number in range(2):
        expect(charts.nth(number).locator("canvas, svg").first).to_be_visible()
    for detail in texts_of(training).details(training, ENGLISH, boundaries, last // 2):
        heading = f"{TRAINERS[key].short}: {detail.title}"
        expect(page.get_by_role("heading", name=heading)).to_be_visible()

    player.button("First").click()
    player.button("Play").click()
    expect(player.button("Pause")).to_be_visible()
    expect(player.track).to_have_value(re.compile("[1-9]"))
    player.button("Pause").click()
    step = player.step
    expect(player.figure("tokens")).to_have_text(f"{boundaries.token_counts[step]:,}")
    assert player.drawn_boundaries() == boundaries.boundary_mask(step).sum(), step
    expect(page.get_by_test_id("stAlert")).to_have_count(0)

    go_to(page, "Compare")
    columns = Columns(page)
    expect(columns.text("Your tokenizer")).to_contain_text("river")
    box = columns.frame.locator(".column").filter(
        has=page.get_by_role("heading", name=f"Your tokenizer ({training.sizes[last]:,})")
    )
    expect(box).to_contain_text(f"{boundaries.token_counts[last]:,} tokens")
    # Compare does not show marks of no bytes.
    boundary_places = {*boundaries.cuts(last).tolist()} - {0}
    assert drawn_boundaries(columns.text("Your tokenizer")) == len(boundary_places)
    expect(page.get_by_test_id("stException")).to_have_count(0)
