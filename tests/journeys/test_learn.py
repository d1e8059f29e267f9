"""Learn: tasks answered wrong and right, by pointer and keyboard, a reload; teachers, and tours."""

from __future__ import annotations

import re

import pytest
from helpers.properties import mostly_thorough
from journeys.journey import Journey
from journeys.people import (
    PHONE,
    SCREEN,
    Locator,
    Page,
    await_equal,
    await_rest,
    await_run,
    button,
    copy_link,
    expect,
    press_between,
    tab_to,
    told,
)
from journeys.test_every_page import STILL, violations

from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.ui.learn.tours import TOURS, Tour

LETTERS = """text => [...text.querySelectorAll(".c")].map(piece => piece.textContent).join("")"""

PROJECTOR = {"width": 1024, "height": 576}

MOST_PAGES = 2
"""The most pages of a printed sheet."""

AROUND = """() => {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  const inner = active.getBoundingClientRect();
  const { shadowRoot } = [...document.querySelectorAll("*")]
    .find(({ shadowRoot }) => shadowRoot?.querySelector(".ring"));
  const outer = shadowRoot.querySelector(".ring").getBoundingClientRect();
  return outer.left <= inner.left && outer.right >= inner.right && outer.top <= inner.top;
}"""
"""Returns whether the focus is within the ring around the part that a tour is about."""


def at_question(page: Page, title: str) -> None:
    """Wait for a question, which is the title of the page."""
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    await_rest(page)


def go_on(page: Page, title: str) -> None:
    """Go to the next question by keyboard."""
    page.get_by_role("button", name=re.compile("^Next|^Skip")).press("Enter")
    at_question(page, title)


def is_in_first_view(page: Page) -> None:
    """Check that the stage begins in the upper part of the window, and its buttons are in it."""
    expect(page.locator(".show:visible").first).to_be_in_viewport(ratio=1)
    top = "section => section.getBoundingClientRect().top <= 220"
    await_equal(lambda: page.locator("section.player").first.evaluate(top), True)


def places(page: Page) -> Locator:
    """Return the places between letters that can be pressed."""
    return page.locator("button.gap")


def test_answers_wrong_and_right_are_judged_and_kept(journey: Journey) -> None:
    with journey.step("Why: boundaries are placed by keyboard; the first try is wrong"):
        page = journey.open("/Learn", prepare=lambda page: page.clock.install())
        text = page.locator(".text").first
        for view in (SCREEN, PROJECTOR, PHONE, SCREEN):
            page.set_viewport_size(view)
            is_in_first_view(page)
        expect(places(page)).to_have_count(9)
        letters = text.evaluate(LETTERS)
        tab_to(page, "Boundary between s and t")
        page.keyboard.press("Enter")
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        between = button(page, "Boundary between w and b")
        expect(between).to_have_attribute("aria-pressed", "true")
        tab_to(page, "Check my boundaries")
        page.keyboard.press("Enter")
        told(page, "Not yet. Look again at the first token")
        expect(page.locator(".told").first).to_be_focused()  # so a screen reader says it
        expect(button(page, "Check my boundaries")).to_be_disabled()
    with journey.step("The second is right; the engine plays the truth beside the user's marks"):
        tab_to(page, "Boundary between s and t")
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        tab_to(page, "Check my boundaries")
        page.keyboard.press("Enter")
        told(page, re.compile(r"Right\. 3 tokens and their ids: st\s*302 raw\s*1618 berry\s*19772"))
        told(page, "Second try")
        expect(page.locator("i.gap.right")).to_have_count(2)
        page.clock.run_for(20_000)
        expect(page.locator(".text .c.b.t, .text .c.b:not(.tick)")).not_to_have_count(0)
        assert text.evaluate(LETTERS) == letters
    with journey.step("One of three words is picked; a belief is corrected; a reload keeps both"):
        go_on(page, "Which of these words")
        button(page, "banana").press("Enter")
        told(page, "Not yet. banana is in the list.")
        button(page, "sunflower").press("Enter")
        told(page, "Right. sunflower becomes sun flower.")
        go_on(page, "count the letters")
        wrong, right = (page.get_by_role("button", name=f"It {says}") for says in ("takes", "gets"))
        wrong.press("Enter")
        expect(page.get_by_text("Not yet.")).to_be_visible()
        expect(wrong).to_be_focused()
        expect(page.get_by_text("In fact:")).to_have_count(0)
        right.press("Enter")
        expect(page.get_by_text("In fact:")).to_be_visible()
        expect(right).to_be_focused()
        done = button(page, "Chapter 0: Strawberry, done, 0 of 3 at the first try")
        expect(done).to_be_visible()
        await_run(page)  # the browser has stored the answers
        page.reload()
        expect(page.get_by_text("In fact:")).to_be_visible()
        expect(done).to_be_visible()
        done.press("Enter")
        at_question(page, "Where does GPT-4o split")
        told(page, "Right. 3 tokens")
    with journey.step("A typed text is judged at once, and loses no letter"):
        page.goto(f"{journey.server.address}/Learn?chapter=units/weights")
        typed = page.get_by_role("textbox")
        typed.press_sequentially("éé", delay=90)
        told(page, "4 bytes in 2 characters: 6 bytes to go.")
        typed.press_sequentially("你你", delay=500)  # the page runs between
        told(page, "Right. 10 bytes in 4 characters.")
        expect(typed).to_have_value("éé你你")
        expect(typed).to_be_focused()
        expect(typed).to_have_count(1)
        await_run(page)
        button(page, "Again").click()
        expect(typed).to_have_value("")
        button(page, "Show me").click()
        expect(typed).to_have_value("你好😃")
        expect(page.locator(".told").first).to_contain_text("For example: 10 bytes")
    with journey.step("Merge: a pair is chosen, and all its places ring; then twenty play"):
        page.goto(f"{journey.server.address}/Learn?chapter=merge")
        expect(places(page)).to_have_count(130)
        check = button(page, "Merge this pair")
        expect(check).to_be_disabled()
        press_between(page, "e and space")
        expect(page.locator(".text .c.outlined-first")).to_have_count(6)
        expect(page.get_by_text("6 times")).to_have_count(0)
        check.click()
        told(page, "Not yet. e + · occurs 6 times; another pair occurs more often.")
        press_between(page, "o and space")
        check.click()
        told(page, "Right. o + · occurs 7 times")
        at_question(page, "(2 of 3)")
        expect(page.locator(".text .c.new")).to_have_count(14)
        expect(page.get_by_text("131 → 124 tokens").first).to_be_visible()
        for number in (2, 3):
            at_question(page, f"({number} of 3)")
            button(page, "Show me").click()
            told(page, "The answer.")
        page.clock.run_for(30_000)
        expect(page.get_by_text("82 → 81 tokens").first).to_be_visible()
        button(page, "Again").click()
        at_question(page, "(1 of 3)")
        expect(places(page)).to_have_count(130)
    with journey.step("Stop: a line is set by keyboard; the curve of a new text follows"):
        page.goto(f"{journey.server.address}/Learn?chapter=stop")
        page.set_viewport_size(PROJECTOR)
        is_in_first_view(page)
        track = page.get_by_role("slider", name="Step")
        curve = page.locator(".others path")
        expect(page.get_by_text("training text 47%")).to_be_visible()
        expect(curve).to_have_count(0)
        training = page.locator(".drawing path.first")
        before = training.get_attribute("d") or ""
        track.press("End")
        expect(page.get_by_text("62 → 61 tokens").first).to_be_visible()
        button(page, "Stop here").press("Enter")
        told(page, "Not yet. Here, tokens are long parts of the training text.")
        expect(curve).to_have_count(0)
        for _ in range(21):
            track.press("ArrowLeft")
        button(page, "Stop here").press("Enter")
        told(page, "Not quite. Too late: the last merges before your line")
        expect(curve).to_have_attribute("d", re.compile("^M0.0000,0.1"))
        expect(training).to_have_attribute("d", before)
        for mark in ("merge 14, the last that helps", "yours"):
            expect(page.get_by_text(mark, exact=True)).to_be_visible()
        expect(track).to_have_value("14")
        rows = "Entries of the vocabulary: 256 bytes + 14 merges = 270"
        expect(page.get_by_text(rows)).to_be_visible()
    with journey.step("Fences: each is counted at once"):
        page.set_viewport_size(SCREEN)
        page.goto(f"{journey.server.address}/Learn?chapter=fences")
        expect(places(page)).to_have_count(35)
        merges, left_out = page.locator(".rows ol"), page.locator(".rows ul")
        listed = ["sa", "sa.", "sa.·", "ro", "ca", "sa.·ro"]
        expect(merges.locator("li")).to_have_text(listed)
        press_between(page, "Fence between period and space")
        joined = (
            "17 tokens, and 16 without fences. 2 merges join a word with a mark or the next word"
        )
        told(page, joined)
        expect(left_out.locator(".out")).to_have_text(["sa.·", "sa.·ro"])
        announced = page.locator(".announced").first
        expect(announced).to_contain_text("17 tokens, and 16 without fences")
        places(page).nth(3).press("Enter")
        expect(button(page, "Pause")).to_have_count(1)  # the merges are played once more
        told(page, "Right. 17 tokens")
        for place in (10, 11, 16, 17, 22, 23, 28, 29, 35):
            places(page).nth(place - 1).press("Enter")
            expect(places(page).nth(place - 1)).to_be_focused()
        page.set_viewport_size(PROJECTOR)  # the text is laid out anew
        expect(places(page).nth(34)).to_be_focused()
        told(page, "Right. 17 tokens")
        fences = page.locator('button.gap[aria-pressed="true"]')
        expect(fences).to_have_count(11)
    with journey.step("Back: ids are taken away, and the focus stays among them"):
        page.goto(f"{journey.server.address}/Learn?chapter=back/ids")
        button(page, "Take away C, id 67").press("Enter")
        expect(button(page, "Take away o, id 111")).to_be_focused()
        told(page, "10 ids decode to “omo estás?”.")
    journey.close(page)


@pytest.mark.parametrize("key", mostly_thorough([*BY_KEY], []))
def test_axe_finds_nothing_in_any_state_of_a_chapter(journey: Journey, key: str) -> None:
    chapter = f"/Learn?chapter={key}/"
    with journey.step("When a belief is corrected"):
        page = journey.open(
            f"{chapter}belief", viewport=PHONE, prepare=lambda page: page.clock.install()
        )
        page.add_style_tag(content=STILL)
        for number in range(2):
            page.locator(".st-key-belief button").nth(number).press("Enter")
        await_rest(page)
        assert violations(page) == []
    for name in BY_KEY[key].texts:
        with journey.step(f"{name}: at first, on a phone, and after a wrong try"):
            page.goto(f"{journey.server.address}{chapter}{name}")
            is_in_first_view(page)
            page.add_style_tag(content=STILL)
            assert violations(page) == []
            if places(page).count():
                places(page).first.press("Enter")
                if page.locator(".check").first.is_visible():
                    page.locator(".check").first.press("Enter")
                expect(page.locator(".told").first).to_be_visible()
                await_rest(page)
                assert violations(page) == []
        with journey.step(f"{name}: when the answer is shown"):
            shows = page.locator(".show:visible")
            while shows.count():
                # In the browser, since a button may go meanwhile.
                shows.evaluate_all("buttons => buttons.forEach(button => button.click())")
                page.wait_for_timeout(200)
            page.clock.run_for(60_000)
            expect(button(page, "Pause")).to_have_count(0)
            await_rest(page)  # while the page runs, what it has not drawn yet is dim
            assert violations(page) == []
    journey.close(page)


def test_teacher_prints_and_opens_a_question(journey: Journey) -> None:
    with journey.step("The teacher's and the students' sheet are printed on two pages"):
        page = journey.open("/Learn?teacher=student")
        for is_last in (False, True):
            expect(page.get_by_role("link", name="Where is this message")).to_be_visible()
            printed = page.pdf(format="A4")
            assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= MOST_PAGES
            if not is_last:
                page.goto(f"{journey.server.address}/Learn?teacher=1")
    with journey.step("A question is opened, shown on the whole screen, and answered"):
        page.get_by_role("link", name="Which pair becomes").click()
        at_question(page, "Which pair becomes")
        page.locator("section.player").first.focus()
        page.keyboard.press("p")
        button(page, "Show me").click()
        told(page, "The answer. o + ·")
        assert page.evaluate("Boolean(document.fullscreenElement)")
    journey.close(page)


# ---- tours


def tour_box(page: Page) -> Locator:
    return page.get_by_role("dialog")


def at_step(page: Page, tour: Tour, number: int) -> None:
    """Wait for a step of a tour, whose part is on the page."""
    box = tour_box(page)
    expect(box).to_contain_text(f" · Step {number} of {len(tour.steps)}")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("data-mark", "found")  # a key leaves a closed section closed
    expect(box).to_be_in_viewport(ratio=1)
    await_run(page)


def press(page: Page, name: str) -> None:
    """Press a button of the box by keyboard; links of sources come before the buttons."""
    tab_to(page, name, most=8)
    page.keyboard.press("Enter")


def guess(page: Page, tour: Tour) -> None:
    assert tour.guess
    at_step(page, tour, 1)
    expect(tour_box(page).get_by_role("heading", name="Guess first")).to_be_visible()
    press(page, tour.guess.options[tour.guess.right].words.replace("`", ""))
    expect(tour_box(page)).to_contain_text("Right.")


@pytest.mark.parametrize(
    "tour",
    [
        pytest.param(tour, id=key, marks=[pytest.mark.thorough] if key != "splitting" else [])
        for key, tour in TOURS.items()
    ],
)
def test_tour_is_walked_by_keyboard(journey: Journey, tour: Tour) -> None:
    with journey.step("It begins with a guess"):
        page = journey.open(f"{tour.page.path[5:-3]}?tour={tour.key}")
        guess(page, tour)
    for number, step in enumerate(tour.steps, 1):
        with journey.step(f"Step {number}: the part is on the page, and can be reached"):
            at_step(page, tour, number)
            expect(tour_box(page).get_by_role("heading")).to_have_text(step.heading)
            if number == 2:
                press(page, "Go to this part")
                page.wait_for_function(AROUND)
                page.keyboard.press("Escape")
                expect(tour_box(page)).to_be_focused()
            press(page, "Next" if number < len(tour.steps) else "Back to Learn")
    with journey.step("It leads back to Learn"):
        expect(page.get_by_role("heading", level=1)).to_contain_text("Where does GPT-4o split")
        expect(tour_box(page)).to_have_count(0)
        expect(page.get_by_role("navigation").locator("ol button")).not_to_have_count(0)
    if tour.key == "splitting":
        keeps_its_place(journey, page, tour)
    journey.close(page)


def keeps_its_place(journey: Journey, page: Page, tour: Tour) -> None:
    """Share a step, close its part, reload, go back, and end the tour."""
    with journey.step("The link of a step contains it"):
        page.goto(f"{journey.server.address}{tour.page.path[5:-3]}?tour={tour.key}.2")
        at_step(page, tour, 2)
        assert copy_link(page).endswith(f"&tour={tour.key}.2")
        page.keyboard.press("Escape")
    with journey.step("On a phone: a closed part is said to be missing, and opens on request"):
        page.set_viewport_size(PHONE)
        page.locator("summary").filter(has_text="Why is it split here?").click()
        expect(tour_box(page)).to_contain_text("does not show this part")
        tour_box(page).focus()
        press(page, "Go to this part")
        expect(tour_box(page)).not_to_contain_text("does not show this part")
        page.wait_for_function(AROUND)
        box, ring = tour_box(page).bounding_box(), page.locator(".ring").bounding_box()
        assert box
        assert ring
        assert 0 <= box["x"] <= PHONE["width"] - box["width"]
        assert box["y"] >= ring["y"] + ring["height"] or box["y"] + box["height"] <= ring["y"]
    with journey.step("A reload and the browser's Back keep the step; the end keeps the page"):
        await_rest(page)  # the browser has stored that the part is open
        page.reload()
        at_step(page, tour, 2)
        press(page, "Back")
        at_step(page, tour, 1)
        page.go_back()
        at_step(page, tour, 2)
        press(page, "End tour")
        expect(tour_box(page)).to_have_count(0)
        assert "tour" not in page.url
        expect(page.get_by_text('"10"').first).to_be_visible()
