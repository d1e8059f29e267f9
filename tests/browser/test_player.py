"""The player: the first screen, playback, steps, token details, and the tables at the step."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from page_helpers import (
    ENGLISH,
    ODD,
    Locator,
    Page,
    Player,
    Score,
    await_rest,
    box_at_rest,
    choose,
    expect,
    go_to,
    link,
    trained,
    type_text,
)

from bpeviz.corpus import samples
from bpeviz.text import hexadecimal

if TYPE_CHECKING:
    from playwright.sync_api import WebSocket

Open = Callable[..., Page]
FIRST = samples.by_key("seashells").text
POEM = "the cat sat on the mat, the cat sat\nthat the rat sat on the cat\n" * 3


def test_first_screen_plays_without_input(open_page: Open) -> None:
    page = open_page("/")
    player = Player(page)
    training, boundaries = trained(FIRST)
    steps = len(training.merges)
    expect(player.last).to_have_text(str(steps))
    # With reduced motion, the page opens at the last step.
    expect(player.track).to_have_value(str(steps))
    expect(page.get_by_text("See how language models")).to_be_visible()
    expect(player.sentence).to_contain_text(f"168 → 56 tokens in {steps} merges.")
    player.button("First").click()
    expect(player.sentence).to_contain_text("Every byte is its own piece")
    expect(player.figure("tokens")).to_have_text(str(len(FIRST.encode())))
    # The player with its controls is visible without scrolling, and takes much of the screen.
    parts = (player.section, player.text, player.button("Play"), player.figure("tokens"))
    for width, height, share in ((1024, 576, 0.3), (820, 1180, 0.2), (1366, 768, 0.4)):
        page.set_viewport_size({"width": width, "height": height})
        box = box_at_rest(player.section)
        for part in parts:
            expect(part).to_be_in_viewport(ratio=0.999)
        assert box["width"] * box["height"] > share * width * height
    # At the end of playback, repeated words are tokens.
    player.speed.select_option("16×")
    player.button("Play").click()
    expect(player.button("Replay")).to_be_visible()
    expect(player.track).to_have_value(str(steps))
    assert {" seashells", " seashore", " she"} <= {*player.pieces()}
    merge = training.merges[-1]
    for piece in (f"id {merge.left}", f"id {merge.right}", f"id {merge.new_id}"):
        expect(player.sentence).to_contain_text(piece)
    expect(player.sentence).to_contain_text(f"{merge.count} times")
    tokens = boundaries.token_counts[steps]
    expect(player.figure("bytes per token")).to_have_text(f"{len(FIRST.encode()) / tokens:.2f}")
    expect(player.section.locator(".announced")).to_contain_text(f"merge {steps} of {steps}")
    player.speed.select_option("½×")
    player.button("Replay").click()
    expect(player.button("Pause")).to_be_visible()
    assert player.step < steps
    # A reload keeps the step.
    player.button("Pause").click()
    player.go(5)
    page.locator("summary", has_text="Why this pair").click()
    expect(page.get_by_text("before merge 5.")).to_be_visible()
    page.reload()
    expect(player.last).to_have_text(str(steps))
    expect(player.track).to_have_value("5")


def test_full_session_from_paste_to_compare(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    type_text(page, POEM)
    training, boundaries = player.await_text(POEM)
    tokenizer = training.tokenizer()
    steps = len(training.merges)
    assert "".join(player.pieces()) == POEM

    player.button("First").click()
    expect(player.sentence).to_contain_text("Every byte is its own piece")
    expect(player.figure("tokens")).to_have_text(str(len(POEM)))
    player.speed.select_option("½×")
    player.button("Play").click()
    expect(player.sentence).to_contain_text(f"id {training.merges[2].new_id}")
    player.button("Pause").click()
    paused = player.step
    assert 2 < paused < steps

    player.button("Step forward").click()
    expect(player.number).to_have_value(str(paused + 1))
    player.button("Step back").click()
    player.button("Step back").click()
    expect(player.number).to_have_value(str(paused - 1))

    box = box_at_rest(player.track)
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    assert abs(player.step - steps / 2) <= 1
    player.go(7)
    expect(player.figure("tokens")).to_have_text(str(boundaries.token_counts[7]))
    merge = training.merges[6]
    for token_id in (merge.left, merge.right, merge.new_id):
        expect(player.sentence).to_contain_text(tokenizer.token_label(token_id))
        expect(player.sentence).to_contain_text(f"id {token_id}")
    for out_of_reach, reached in ((-5, 0), (99_999, steps)):
        player.number.fill(str(out_of_reach))
        player.number.press("Enter")
        expect(player.track).to_have_value(str(reached))
        expect(player.number).to_have_value(str(reached))
    player.go(7)
    expect(page.get_by_text("before merge 7.")).to_be_visible()

    go_to(page, "Compare")
    expect(page.get_by_role("textbox", name="Text to use")).to_have_value(POEM)
    Score(page).await_text("Your tokenizer", "that")
    go_to(page, "Train")
    expect(page.get_by_role("textbox", name="Text to use")).to_have_value(POEM)
    expect(player.track).to_have_value("7")
    expect(player.figure("tokens")).to_have_text(str(boundaries.token_counts[7]))


def test_keys_move_the_player(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    training, _ = player.await_text(ENGLISH)
    steps = str(len(training.merges))
    # The keys work on the whole page unless the focused control uses them.
    page.mouse.click(1000, 64)  # empty space
    outlined = "() => document.activeElement !== document.body && document.activeElement.tagName"
    assert page.evaluate(outlined) is False
    for key, step in (
        ("Home", "0"),
        ("ArrowRight", "1"),
        ("ArrowRight", "2"),
        ("ArrowLeft", "1"),
        ("End", steps),
        ("ArrowRight", steps),
        ("Home", "0"),
    ):
        page.keyboard.press(key)
        expect(player.track).to_have_value(step)
    player.speed.focus()
    page.keyboard.press("End")
    expect(player.track).to_have_value("0")
    player.speed.select_option("½×")
    page.mouse.click(1000, 64)
    page.keyboard.press(" ")
    expect(player.button("Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(player.button("Play")).to_be_visible()
    player.go(7)  # ends with Enter in the number field
    page.keyboard.press("ArrowRight")
    expect(player.track).to_have_value("8")
    page.get_by_role("link", name="Compare", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(player.track).to_have_value("9")
    # In a text field, the keys do not move the player.
    page.get_by_role("textbox", name="Text to use").focus()
    for key in ("Home", "ArrowRight", " ", "End", "?"):
        page.keyboard.press(key)
    expect(player.track).to_have_value("9")
    expect(player.button("Play")).to_be_visible()
    # A dialog lists the keys, and switches single letters off, also after a reload.
    shortcuts = player.section.locator("dialog")
    player.number.press("Enter")
    page.keyboard.press("?")
    expect(shortcuts).to_be_visible()
    shortcuts.get_by_role("checkbox").uncheck()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(shortcuts).to_be_hidden()
    page.reload()
    expect(player.last).to_have_text(steps)
    page.keyboard.press("?")
    page.keyboard.press(".")
    page.keyboard.press("Home")
    expect(player.track).to_have_value("0")
    expect(shortcuts).to_be_hidden()
    expect(player.card).to_be_hidden()
    player.button("Keyboard shortcuts").click()
    expect(shortcuts.get_by_role("checkbox")).not_to_be_checked()


def test_player_works_by_keyboard_alone(english_page: Page) -> None:
    page = english_page
    player = Player(page)
    player.await_text(ENGLISH)
    page.get_by_role("link", name="Skip to the player").focus()  # the first stop of Tab
    for _ in range(40):
        page.keyboard.press("Tab")
        if player.section.evaluate("section => section.getRootNode().activeElement === section"):
            break
    else:
        pytest.fail("Tab does not reach the player.")
    page.keyboard.press("Home")
    expect(player.track).to_have_value("0")
    page.keyboard.press(" ")
    expect(player.button("Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(player.button("Play")).to_be_visible()
    # Tab moves on to the buttons, which the space bar presses.
    for _ in range(6):
        page.keyboard.press("Tab")
        if player.button("Step forward").evaluate("b => b.getRootNode().activeElement === b"):
            break
    step = player.step
    page.keyboard.press(" ")
    expect(player.track).to_have_value(str(step + 1))


def test_drawn_boundaries_equal_python(english_page: Page) -> None:
    player = Player(english_page)
    training, boundaries = player.await_text(ENGLISH)
    steps = len(training.merges)
    jumps = random.Random(7).sample(range(steps + 1), 2)
    for step in (steps, 0, 1, 40, 39, *jumps):
        player.go(step)
        ends = (0, *boundaries.token_ends(step).tolist())
        assert player.pieces() == [ENGLISH[a:b] for a, b in pairwise(ends)], step
    # One step back and one forward restore the same classes.
    player.go(50)
    before = player.classes()
    player.button("Step back").click()
    player.button("Step forward").click()
    expect(player.track).to_have_value("50")
    assert player.classes() == before
    # A jump from a distant step restores them, too.
    for far in ("First", "Last"):
        player.button(far).click()
        player.go(50)
        assert player.classes() == before


def test_boundaries_inside_characters_are_drawn(open_page: Open) -> None:
    page = open_page(link(ODD))
    player = Player(page)
    for how in ({}, {"atoms": "characters"}):
        if how:
            choose(page, "Start from", "Characters")
        training, boundaries = player.await_text(ODD, **how)
        steps = len(training.merges)
        for step in (0, steps // 2, steps):
            player.go(step)
            assert player.drawn_boundaries() == boundaries.boundary_mask(step).sum(), step


def test_token_card_equals_python(english_page: Page) -> None:
    player = Player(english_page)
    training, boundaries = player.await_text(ENGLISH)
    tokenizer = training.tokenizer()
    for step, name in ((60, "·the"), (60, "W"), (len(training.merges), "·keeper")):
        player.go(step)
        ids = boundaries.ids(step).tolist()
        token = next(i for i, one in enumerate(ids) if tokenizer.token_label(one) == name)
        player.first_piece_of(boundaries.token_ends(step), token).hover()
        expect(player.card).to_be_visible()
        expect(player.card).to_contain_text(f"id {ids[token]}")
        expect(player.card).to_contain_text(hexadecimal(tokenizer.token_bytes(ids[token])))
        expect(player.card).to_contain_text(f"{ids.count(ids[token])}×")
        parents = tokenizer.parents(ids[token])
        if parents is None:
            expect(player.card).to_contain_text("not made by a merge")
        else:
            for parent in parents:
                expect(player.card).to_contain_text(f"{tokenizer.token_label(parent)} {parent}")
            expect(player.card).to_contain_text(f"merge {tokenizer.merge_step(ids[token]) + 1}")
    player.figure("tokens").hover()
    expect(player.card).to_be_hidden()


def test_keyboard_moves_between_tokens(english_page: Page) -> None:
    page = english_page
    player = Player(page)
    training, boundaries = player.await_text(ENGLISH)
    ids = boundaries.ids(len(training.merges)).tolist()
    player.section.focus()
    for key, token in ((".", 0), (".", 1), (".", 2), (".", 3), (",", 2)):
        page.keyboard.press(key)
        expect(player.card).to_contain_text(f"id {ids[token]}")
    page.keyboard.press("Enter")
    expect(player.merges).to_be_visible()
    expect(player.merges).to_contain_text(training.tokenizer().token_label(ids[2]))
    page.keyboard.press("Escape")
    expect(player.merges).to_be_hidden()
    # After Escape the player has the focus again; a click opens its merges, too.
    page.keyboard.press("Home")
    expect(player.track).to_have_value("0")
    player.button("Last").click()
    player.first_piece_of(boundaries.token_ends(len(training.merges)), 2).click()
    player.button("Close the merges of the token").click()
    expect(player.merges).to_be_hidden()
    # Also if a button has the focus, which Enter presses otherwise.
    player.button("First").focus()
    page.keyboard.press(".")
    page.keyboard.press("Enter")
    expect(player.merges).to_be_visible()
    expect(player.track).to_have_value(str(len(training.merges)))


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


def test_smaller_vocabulary_redraws_no_text_and_applies_beside_a_step(
    open_page: Open,
) -> None:
    page = open_page()
    player = Player(page)
    training, boundaries = player.await_text(ENGLISH)
    steps = len(training.merges)
    await_rest(page)  # until then, lines may be drawn once more
    player.text.evaluate(
        """text => {
          for (const line of text.querySelectorAll(".line")) line.drawnOnce = true;
        }"""
    )
    slider = page.get_by_role("slider", name="Vocabulary size")
    slider.focus()
    for pause in (0, 20, 60, 150, 0):  # milliseconds; short ones interrupt the previous update
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(pause)
    expect(player.last).to_have_text(str(steps - 5))
    expect(slider).to_be_focused()
    expect(player.figure("tokens")).to_have_text(str(boundaries.token_counts[steps - 5]))
    not_redrawn = "text => [...text.querySelectorAll('.line')].every(line => line.drawnOnce)"
    assert player.text.evaluate(not_redrawn)
    # Without merges, ways on stand below the stage.
    page.keyboard.press("Home")
    expect(player.last).to_have_text("0")
    expect(player.figure("tokens")).to_have_text(f"{boundaries.token_counts[0]:,}")
    # A larger size does not move the step.
    page.keyboard.press("End")
    expect(player.last).to_have_text(str(steps))
    expect(player.track).to_have_value("0")
    # A change of the slider and one of the player, both at once.
    expect(page.locator(".st-key-diagram_open")).to_be_visible()
    slider.focus()
    slider.evaluate(
        """slider => {
          const key = { key: "ArrowLeft", bubbles: true, cancelable: true };
          const detail = { step: 3, timelineId: "" };
          document.dispatchEvent(new CustomEvent("bpeviz-step-changed", { detail }));
          slider.dispatchEvent(new KeyboardEvent("keydown", key));
        }"""
    )
    expect(player.last).to_have_text(str(steps - 1))


def await_silence(page: Page, sent: list[int]) -> None:
    """Wait until no frame was sent for 1.5 seconds; a busy machine may send the last one late."""
    known = -1
    while known != len(sent):
        known = len(sent)
        page.wait_for_timeout(1_500)


def test_playback_sends_little_data_and_a_left_page_none(open_page: Open) -> None:
    sent: list[int] = []
    asked: list[int] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: sent.append(len(frame)))
        socket.on("framesent", lambda frame: asked.append(len(frame)))

    page = open_page(heard=listen)
    player = Player(page)
    player.await_text(ENGLISH)
    whole = sum(sent)
    player.button("First").click()
    expect(page.get_by_text("before merge 1.")).to_be_visible()
    await_silence(page, sent)
    sent.clear()
    player.button("Play").click()
    player.track.evaluate(
        """track => new Promise(done => {
          const wait = () => Number(track.value) > 3 ? done() : setTimeout(wait, 50);
          wait();
        })"""
    )
    # Tables and charts wait until the player rests.
    assert sum(sent) < 1_000
    player.button("Pause").click()
    expect(page.get_by_text(f"before merge {player.step}.")).to_be_visible()
    assert 1_000 < sum(sent) < whole / 2
    # A request of a fragment that no longer exists makes Streamlit clear the next page.
    tell = """() => {
      for (let step = 0; step < 9; step++) {
        const event = new CustomEvent("bpeviz-step-changed", { detail: { step, timelineId: "" } });
        setTimeout(() => document.dispatchEvent(event), 60 * step);
      }
    }"""
    asked.clear()
    page.evaluate(tell)
    await_silence(page, asked)
    assert asked
    asked.clear()
    # This link leads nowhere, so the player stays and receives the steps.
    page.evaluate(
        """() => {
          const link = document.body.appendChild(document.createElement("a"));
          link.click();
        }"""
    )
    page.evaluate(tell)
    page.wait_for_timeout(1_000)
    assert asked == []


def test_tables_follow_the_step_of_each_text_and_a_link_opens_its_page(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    # The tables follow also if both texts are at the same step.
    player.go(5)
    expect(page.get_by_text("before merge 5.")).to_be_visible()
    type_text(page, POEM)
    player.await_text(POEM)
    player.go(5)
    expect(page.get_by_text("before merge 5.")).to_be_visible()
    type_text(page, ENGLISH)
    expect(player.last).to_have_text("170")
    expect(player.track).to_have_value("5")
    expect(page.get_by_text("before merge 5.")).to_be_visible()
    # A link that is clicked while a step is reported.
    page.get_by_role("link", name="Compare", exact=True).evaluate(
        """link => {
          const detail = { step: 3, timelineId: "" };
          document.dispatchEvent(new CustomEvent("bpeviz-step-changed", { detail }));
          link.click();
        }"""
    )
    question = page.get_by_text("Which tokenizer needs the fewest tokens")
    expect(question).to_be_visible()
    page.wait_for_timeout(1_000)
    expect(question).to_be_visible()
