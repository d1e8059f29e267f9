"""The stage of the player: the size of its text, and the places of a merge that it shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers import properties
from page_helpers import (
    Locator,
    LockStep,
    Page,
    Player,
    await_equal,
    choose,
    english,
    expect,
    go_to,
    link,
)

from bpeviz.corpus import samples

Open = Callable[..., Page]
FIRST = samples.by_key("seashells").text

ENTER = """(box, text) => {
  box.value = text;
  box.dispatchEvent(new Event("input"));
}"""

LOOK = """section => {
  const text = section.querySelector(".text"), frame = text.getBoundingClientRect();
  const cells = [...text.querySelectorAll(".c")].map(cell => cell.getBoundingClientRect());
  const [left, top] = ["left", "top"].map(name => Math.min(...cells.map(box => box[name])));
  const [right, bottom] = ["right", "bottom"].map(name => Math.max(...cells.map(box => box[name])));
  const places = [...text.querySelectorAll(".c.first")].map(cell => cell.getBoundingClientRect());
  const isSeen = box => box.top >= frame.top - 2 && box.bottom <= frame.bottom + 2;
  return {
    size: parseFloat(getComputedStyle(text).fontSize),
    covered: (right - left) * (bottom - top) / (frame.width * frame.height),
    height: frame.height,
    scrolls: text.scrollHeight > text.clientHeight,
    seen: places.filter(isSeen).length,
    above: places.filter(box => (box.top + box.bottom) / 2 < frame.top).length,
    below: places.filter(box => (box.top + box.bottom) / 2 > frame.bottom).length,
    end: section.getBoundingClientRect().bottom - innerHeight,
  };
}"""


def look(player: Player) -> dict[str, Any]:
    """Return how the text lies in the stage, and where the tokens of this step are."""
    found: dict[str, Any] = player.section.evaluate(LOOK)
    return found


def await_look(player: Player, is_right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until the stage looks right, as after a change of the window."""
    found: dict[str, Any] = {}
    for _ in range(300):
        if is_right(found := look(player)):
            return found
        player.page.wait_for_timeout(100)
    raise AssertionError(found)


@pytest.fixture
def first_page(share_page: Callable[[str], Page]) -> Page:
    """Return the Train page with its first text, which several tests share."""
    return share_page("/")


def test_text_fills_the_stage_in_every_window_and_in_the_projector_view(first_page: Page) -> None:
    page = first_page
    player = Player(page)
    player.await_text(FIRST)

    def fills(found: dict[str, Any]) -> bool:
        return bool(found["covered"] >= 0.5 and not found["scrolls"] and found["end"] <= 2)

    sizes = {}
    for width, height in ((1366, 768), (1024, 576), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        sizes[width] = await_look(player, fills)["size"]
    assert 18 <= sizes[1024] < sizes[1366] <= 72
    for width, height in ((1024, 576), (1920, 1080), (3840, 2160)):
        page.set_viewport_size({"width": width, "height": height})
        page.keyboard.press("p")
        expect(player.section).to_have_js_property("clientHeight", height)
        found = await_look(player, fills)
        assert found["size"] <= max(72, found["height"] / 10)
        page.keyboard.press("p")
        page.wait_for_function("() => !document.fullscreenElement")
    assert found["size"] > 100


@pytest.mark.parametrize(
    ("text", "size"),
    [pytest.param("low lower", 72, marks=pytest.mark.thorough), (FIRST * 40, 20)],
)
def test_short_texts_are_large_and_long_ones_scroll(
    open_page: Open, text: str, size: float
) -> None:
    player = Player(open_page(link(text)))
    player.await_text(text)
    found = look(player)
    assert found["size"] == size
    assert found["scrolls"] == (size == 20)
    assert found["end"] <= 2  # the buttons at the end are on the screen


def is_whole(player: Player) -> bool:
    """Return whether every line that is not covered is seen from top to bottom, but for a pixel."""
    seen: bool = player.text.evaluate(
        """text => {
          const {top, bottom} = text.getBoundingClientRect();
          const cover = name => parseFloat(getComputedStyle(text.parentElement, name).height);
          const [low, high] = [top + 1 + cover("::before"), bottom - 1 - cover("::after")];
          return [...text.querySelectorAll(".line")].map(line => line.getBoundingClientRect())
            .filter(line => line.bottom > low + 1 && line.top < high - 1)
            .every(line => line.top >= low - 1 && line.bottom <= high + 1);
        }"""
    )
    return seen


def test_long_text_opens_at_its_beginning_with_all_places_in_its_overview(open_page: Open) -> None:
    text = "".join(f"{i} plain line of letters\n" for i in range(60)) + "zzqx zzqx\n" * 3
    page = open_page(link(text))
    player = Player(page)
    training, boundaries = player.await_text(text)
    names = [training.name(merge.new_id) for merge in training.merges]
    rare = names.index("zz") + 1
    overview = player.section.locator(".overview svg")
    marks = "svg => svg.querySelector('.places').getAttribute('d').split('M').length - 1"
    assert player.text.evaluate("text => text.scrollTop") == 0
    assert is_whole(player)
    for enlarged in (False, True):
        if enlarged:
            page.set_viewport_size({"width": 1024, "height": 576})
            page.keyboard.press("p")
        player.go(rare)
        await_look(player, lambda found: found["seen"] > 0 and not found["below"])
        # The first merge has places everywhere, so the text stays where it is.
        player.go(1)
        found = await_look(player, lambda found: found["above"] > 10)
        assert found["seen"]
        assert overview.evaluate(marks) == np.count_nonzero(boundaries.merged_at == 0)
        box = overview.bounding_box()
        assert box
        page.mouse.click(box["x"] + 5, box["y"] + 2)
        await_look(player, lambda found: found["below"] > 10 and not found["above"])
        player.text.hover()
        page.mouse.wheel(0, 75)
        page.wait_for_timeout(300)  # it begins to scroll
        await_equal(lambda: is_whole(player), True)


def test_click_outside_the_bracket_opens_another_part(open_page: Open) -> None:
    page = open_page(english("/"))
    player = Player(page)
    page.get_by_label("Text to use").evaluate(ENTER, "".join(f"{i} low\n" for i in range(3000)))
    page.get_by_label("Text to use").press("Control+Enter")
    whole = player.section.locator(".whole")
    expect(whole).to_have_attribute("title", re.compile("^Characters 1 to "))
    box = whole.bounding_box()
    assert box
    page.mouse.click(box["x"] + 3, box["y"] + box["height"] - 3)
    expect(whole).to_have_attribute("title", re.compile("to 25,890 of 25,890"))
    expect(page.get_by_label("Part shown, 1 to 2")).to_have_value("2")


SHAPES = (
    "मुझे हिंदी में लिखना अच्छा लगता है। क्षत्रिय",
    "สวัสดีชาวโลก ผู้ใหญ่",
    "مرحبا بالعالم",
    "a👩‍👩‍👧‍👦b 👍🏽 🇩🇪 é e\u0301",
    "東京都は日本の首都であり",
    "return office_fluffy[i] != 0",
)


def test_tokens_do_not_move_or_change_letters(open_page: Open) -> None:
    text = "\n".join(f"{one} {one}" for one in SHAPES)
    page = open_page(link(text))
    player = Player(page)
    training, _ = player.await_text(text)
    # The end of each piece in a line, and of the same signs where no element divides them.
    moved = """text => [...text.querySelectorAll(".staff")].map(row => {
      const whole = row.cloneNode();
      whole.textContent = row.textContent;
      row.parentElement.append(whole);
      const range = document.createRange();
      const shift = at => {
        range.setStart(whole.firstChild, 0);
        range.setEnd(whole.firstChild, at);
        return range.getBoundingClientRect().width;
      };
      let at = 0;
      const {left} = row.getBoundingClientRect();
      const moves = [...row.children].map(piece => {
        at += piece.textContent.length;
        range.selectNodeContents(row);
        range.setEndAfter(piece);
        const move = range.getBoundingClientRect().width - shift(at);
        return piece.matches(".quiet") ? 0 : Math.abs(move); // a smaller sign
      });
      whole.remove();
      return Math.max(...moves);
    })"""
    for step in (0, training.steps // 2, training.steps):
        player.go(step)
        assert max(player.text.evaluate(moved)) <= 0.2


def bars(within: Locator) -> list[tuple[str, str, bool, str]]:
    """Return the bars of the race from the top: pair, value, whether it wins, and its note."""
    found: list[list[Any]] = within.locator(".bar:not(.gone)").evaluate_all(
        """bars => bars.map(bar => [
          bar.style.getPropertyValue("--place"),
          [...bar.querySelectorAll(".piece")].map(piece => piece.textContent).join(" + "),
          bar.querySelector(".value").textContent,
          bar.classList.contains("wins"),
          bar.querySelector(".equal").textContent,
        ])"""
    )
    return [(pair, value, wins, note) for _, pair, value, wins, note in sorted(found)]


def test_race_shows_the_best_pairs_beside_the_text_and_below_it(open_page: Open) -> None:
    own = f"{FIRST} She sells them."
    page = open_page(link(own))
    player = Player(page)
    training, boundaries = player.await_text(own)
    expect(player.section.get_by_role("heading", name="Most frequent pairs")).to_be_visible()
    for step in (training.steps, 1, 4, 12):
        player.go(step)
        candidates = training.candidates(own, boundaries, step - 1, 5)
        candidates = [
            candidate for candidate in candidates if candidate.count >= 2
        ]  # the others may not merge
        winner = player.section.locator(".bar.wins:not(.gone) .pair")
        expect(winner).to_have_text("".join(map(training.name, candidates[0].ids)))
        expect(player.section.locator(".bar:not(.gone)")).to_have_count(len(candidates))
        assert bars(player.section) == [
            (
                " + ".join(map(training.name, candidate.ids)),
                str(candidate.count),
                i == 0,
                "same count" if i and candidate.count == candidates[0].count else "",
            )
            for i, candidate in enumerate(candidates)
        ]
    race, text = player.section.locator(".race"), player.text
    for width, beside in ((1366, True), (1024, True), (820, False), (390, False)):
        page.set_viewport_size({"width": width, "height": 768})
        boxes = race.bounding_box(), text.bounding_box()
        assert boxes[0]
        assert boxes[1]
        assert (boxes[0]["x"] > boxes[1]["x"] + boxes[1]["width"]) == beside
        assert (boxes[0]["y"] >= boxes[1]["y"] + boxes[1]["height"]) == (not beside)


def test_controls_are_on_the_screen_below_a_remark(open_page: Open) -> None:
    for path, text in {"/": "مرحبا بالعالم", "/Inspect": "👩‍👩‍👧‍👦"}.items():
        page = open_page(link(text, path), viewport={"width": 1024, "height": 576})
        section = Player(page).section
        expect(section.locator(".remark button")).not_to_have_count(0)
        main = section.get_by_role("button", name=re.compile("Play|Replay"))
        if path == "/Inspect":  # the grid comes first
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
        expect(race.locator(".bar").first).to_be_visible()
        before, after = race.evaluate(
            """race => {
              const full = race.offsetHeight;
              race.querySelector("h2").replaceChildren();
              return [race.offsetHeight, full];
            }"""
        )
        assert abs(before - after) <= 1


def test_elements_below_a_playing_player_say_that_they_wait(first_page: Page) -> None:
    page = first_page
    player = Player(page)
    player.await_text(FIRST)
    below = page.locator(".st-key-following")
    note = "below => getComputedStyle(below, '::before').content"
    expect(below.get_by_text("Click the curve or a row of the table")).to_be_visible()
    assert below.evaluate(note) == "none"
    player.speed.select_option("½×")
    player.button("Play").click()
    expect(player.button("Pause")).to_be_visible()
    assert below.evaluate(note) == '"Updates when you pause"'
    player.button("Pause").click()
    assert below.evaluate(note) == "none"


def test_phone_shows_the_text_play_and_the_ways_on_without_scrolling(first_page: Page) -> None:
    page = first_page
    page.set_viewport_size({"width": 390, "height": 844})
    player = Player(page)
    player.await_text(FIRST)
    play_button = player.section.locator("[data-act=play]")  # "Replay" after another test
    for shown in (play_button, player.section.locator(".figures")):
        expect(shown).to_be_in_viewport(ratio=1)
    for way in player.section.locator(".ways button").all():
        expect(way).to_be_in_viewport(ratio=1)
    race = player.section.locator(".race").bounding_box()
    play = play_button.bounding_box()
    assert race
    assert play
    assert race["y"] > play["y"] + play["height"]


def test_race_is_shown_for_each_algorithm_and_while_inspecting(open_page: Open) -> None:
    page = open_page("/Algorithms")
    section = LockStep(page).section
    for heading in (
        "BPE most frequent pairs",
        "WordPiece highest scores",
        "Unigram cheapest pieces",
    ):
        race = section.locator(".race").filter(has=page.get_by_role("heading", name=heading))
        expect(race.locator(".bar.wins:not(.gone)")).to_have_count(1)
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
    half = next(i for i, count in enumerate(counts) if 2 * count <= counts[0] + counts[-1])
    expect(course).to_contain_text(f"half of the saving after {half} of {training.steps} merges")
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
