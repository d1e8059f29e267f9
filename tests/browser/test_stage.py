"""The stage of the player: the size of its text, and the places of a merge that it shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from helpers import properties
from page_helpers import (
    LockStep,
    Page,
    Player,
    choose,
    expect,
    go_to,
    link,
)

from bpeviz.corpus import samples

Open = Callable[..., Page]
FIRST = samples.by_key("seashells").text


@pytest.fixture
def first_page(share_page: Callable[[str], Page]) -> Page:
    """Return the Train page with its first text, which several tests share."""
    return share_page("/")


def test_controls_are_on_the_screen_below_a_remark(open_page: Open) -> None:
    for path, text in {"/": "مرحبا بالعالم", "/Inspect": "👩‍👩‍👧‍👦"}.items():
        page = open_page(link(text, path), viewport={"width": 1024, "height": 576})
        section = Player(page).section
        main = section.get_by_role("button", name=re.compile("Play|Replay"))
        if path == "/Inspect":  # the grid comes first
            expect(section.locator(".remark button")).not_to_have_count(0)
            main.scroll_into_view_if_needed()
        expect(main).to_be_in_viewport(ratio=0.9)
        hidden = "box => [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight]"
        expect(section.locator(".sentence > *")).not_to_have_count(0)
        for box in section.locator(".sentence, .sentence .enlarged").all():
            assert box.evaluate(hidden) == [0, 0]


def test_race_keeps_its_height_before_its_bars_arrive(open_page: Open) -> None:
    states = ({}, {"trained_on_sample": "languages", "trained_on_box": ""})
    for state in states[:1] if properties.FAST else states:
        player = Player(open_page(link("zq zq zq", **state)))
        race = player.section.locator(".race")
        expect(race.locator(".group").first).to_be_visible()
        before, after = race.evaluate(
            """race => {
              const full = race.offsetHeight;
              race.querySelector("h2").replaceChildren();
              return [race.offsetHeight, full];
            }"""
        )
        assert abs(before - after) <= 1


def test_race_is_shown_for_each_algorithm_and_while_inspecting(open_page: Open) -> None:
    page = open_page("/Algorithms")
    section = LockStep(page).section
    for heading in (
        "BPE most frequent pairs",
        "WordPiece highest scores",
        "Unigram cheapest pieces",
    ):
        race = section.locator(".race").filter(has=page.get_by_role("heading", name=heading))
        expect(race.locator(".group.wins:not(.gone)")).to_have_count(1)
    section.press("p")
    expect(section.locator(".race").first).to_be_hidden()  # the rows have its place
    page.keyboard.press("p")

    go_to(page, "Inspect")
    player = Player(page)
    expect(player.section.get_by_role("heading", name="Most frequent pairs")).to_be_visible()
    # A published tokenizer has not counted the pairs of this text.
    before = player.last.inner_text()
    choose(page, "Tokenizer", "GPT-2")
    expect(player.last).not_to_have_text(before)
    expect(player.section.locator(".race")).to_be_hidden()


def test_track_is_the_curve_of_the_number_of_tokens(first_page: Page) -> None:
    page = first_page
    player = Player(page)
    training, boundaries = player.await_text(FIRST)
    counts = boundaries.token_counts.tolist()
    course = player.section.locator(".course")
    half = training.steps // 3
    expect(course.locator(".start")).to_have_text(str(counts[0]))
    expect(course.locator(".ends")).to_have_text(str(counts[-1]))
    box = player.track.bounding_box()
    assert box
    heights = []
    for step in (0, half, training.steps):
        # The handle of the slider lies on the drawn curve.
        width = box["width"] - 16
        page.mouse.click(box["x"] + 8 + width * step / training.steps, box["y"] + 20)
        expect(player.track).to_have_value(str(step))
        expect(player.track).to_have_attribute(
            "aria-valuetext", f"merge {step} of {training.steps}"
        )
        left, top = course.locator(".here").evaluate(
            """line => [
              line.getBoundingClientRect().x,
              parseFloat(getComputedStyle(line, "::after").top),
            ]"""
        )
        assert left == pytest.approx(box["x"] + 8 + width * step / training.steps, abs=2)
        heights.append(top)
    first, middle, end = heights
    saved = [count - counts[-1] for count in counts]
    assert (end - middle) / (end - first) == pytest.approx(saved[half] / saved[0], abs=0.02)


def test_algorithms_without_steps_have_no_controls_and_whole_sentences(open_page: Open) -> None:
    page = open_page(link("strawberry", "/Algorithms"), viewport={"width": 1024, "height": 576})
    section = LockStep(page).section
    expect(section.get_by_text("None of these algorithms changes this text.")).to_be_visible()
    for name in (".buttons", ".track", ".step", ".speed"):
        expect(section.locator(name)).to_be_hidden()
    starts = section.locator(".sentence .start")
    expect(starts).to_have_count(3)
    for overflow in starts.evaluate_all("all => all.map(e => e.scrollWidth - e.clientWidth)"):
        assert overflow <= 0
    # The text is seen between the remark and the controls.
    tops = [section.locator(name).bounding_box()["y"] for name in (".frame", ".controls")]
    assert tops[1] - tops[0] > 50


def test_track_has_a_line_and_a_name_for_each_algorithm(share_page: Open) -> None:
    lock_step = LockStep(share_page("/Algorithms"))
    course = lock_step.section.locator(".course")
    expect(course.locator(".ends span")).to_have_count(3)
    names = course.locator(".ends span").evaluate_all(
        "all => all.map(name => [name.getBoundingClientRect().top, name.textContent])"
    )
    assert {name for _, name in names} == {"BPE", "WordPiece", "Unigram"}
    tops = sorted(top for top, _ in names)
    assert all(other - top >= 14 for top, other in pairwise(tops))
    curves = course.locator(".drawing path:not(.changes)").all()
    assert [curve.get_attribute("class") for curve in curves] == ["stroke1", "stroke2", "first"]
    assert all((curve.get_attribute("d") or "").count("M") == 1 for curve in curves)
    # The player passes over sizes at which no text changes, and marks the others.
    expect(lock_step.section.locator(".rank")).to_contain_text("that changes your text")
    assert (course.locator(".changes").get_attribute("d") or "").count("M") > 10
    lock_step.button("Last").click()
    expect(lock_step.section.locator(".rank")).to_have_text("no change in your text")
    lock_step.button("Step back").click()
    expect(lock_step.section.locator(".rank")).to_contain_text("that changes your text")
    expect(lock_step.button("Step forward")).to_be_disabled()


def test_merges_of_a_short_text_are_blocks_on_its_letters(open_page: Open) -> None:
    page = open_page(link("banana bandana, banana bandana"))
    player = Player(page)
    player.await_text("banana bandana, banana bandana")
    blocks = player.section.locator(".merge-block")
    assert {*blocks.locator("bdi").all_text_contents()} == {
        *("an", "ana", "ban", "·ban", "·band", "·bandana")
    }
    # Each block is as wide as its letters, and lies on its parts.
    boxes = blocks.evaluate_all(
        "blocks => blocks.map(block => [block.textContent, block.getBoundingClientRect().toJSON()])"
    )
    letters = player.text.evaluate(
        "text => [...text.querySelectorAll('.c')].map(c => c.getBoundingClientRect().toJSON())"
    )
    first = next(box for words, box in boxes if words.startswith("ana"))
    tokens = [(piece["left"], piece["right"]) for piece in letters]
    assert any(
        abs(first["left"] - left) < 3 and abs(first["right"] - right) < 3 for left, right in tokens
    )
    # A later block is absent before its step, and the block of the step is ringed.
    player.go(1)
    expect(blocks).to_have_count(8)
    assert {*blocks.locator("bdi").all_text_contents()} == {"an"}
    player.button("Last").click()
    assert {*player.section.locator(".merge-block.now bdi").all_text_contents()} == {"·bandana"}
    # The switch takes the blocks off, and no letter moves.
    place = """text => JSON.stringify(
      [...text.querySelectorAll(".c")].map(c => c.getBoundingClientRect()))"""
    before = player.text.evaluate(place)
    player.button("Merge diagram").click()
    expect(blocks.first).to_be_hidden()
    assert player.text.evaluate(place) == before
    player.button("Merge diagram").click()
    # A press, or a key, says how it was made; arrows move between parent, parts and neighbors.
    top = player.section.locator(".merge-block.top", has_text="·bandana").first
    top.click()
    sentence = "merge 6 of 6: ·band + ana → ·bandana, id 261"
    expect(player.card).to_have_text(sentence)
    expect(top).to_have_attribute("aria-label", sentence)
    focused = player.section.locator(".merge-block:focus bdi")
    for key, label in (("Down", "·band"), ("Right", "ana"), ("Up", "·bandana")):
        page.keyboard.press(f"Arrow{key}")
        expect(focused).to_have_text(label)
    expect(player.track).to_have_value("6")
