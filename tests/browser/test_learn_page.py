"""The Learn page in a browser: tasks on the stage by pointer and by keyboard, and a reload."""

from __future__ import annotations

import re
from collections.abc import Callable

from page_helpers import Page, await_rest, expect, with_clock

Open = Callable[..., Page]

FOCUSED = """() => {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active?.ariaLabel ?? active?.textContent ?? "";
}"""

LETTERS = """text => [...text.querySelectorAll(".c")].map(piece => piece.textContent).join("")"""


def focus(page: Page, label: str, most: int = 40) -> None:
    """Press Tab until the element of this label or text has the focus."""
    for _ in range(most):
        if str(page.evaluate(FOCUSED)).startswith(label):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{label} was not reached.")


def told(page: Page, words: str | re.Pattern[str]) -> None:
    expect(page.locator(".told").first).to_contain_text(words)


def press_between(page: Page, name: str) -> None:
    """Press with the mouse where a place of the text is."""
    place = page.get_by_role("button", name=name, exact=True).first.bounding_box()
    assert place
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)


def test_boundaries_are_placed_by_keyboard_and_survive_a_reload(open_page: Open) -> None:
    page = open_page("/Learn", prepare=with_clock)
    text = page.locator(".text").first
    expect(page.locator("button.gap")).to_have_count(9)
    letters = text.evaluate(LETTERS)
    focus(page, "Boundary between s and t")
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    between = page.get_by_role("button", name="Boundary between w and b")
    expect(between).to_have_attribute("aria-pressed", "true")
    focus(page, "Check my boundaries")
    page.keyboard.press("Enter")
    told(page, "Not yet. Look again at the first token")
    expect(page.locator(".told").first).to_be_focused()  # so a screen reader says it
    expect(page.get_by_role("button", name="Check my boundaries")).to_be_disabled()
    focus(page, "Boundary between s and t")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    focus(page, "Check my boundaries")
    page.keyboard.press("Enter")
    told(page, re.compile(r"Right\. 3 tokens: st\s*302 raw\s*1618 berry\s*19772"))
    told(page, "Second try")
    # The engine plays the truth on the same letters, beside the marks of the user.
    expect(page.locator(".player.playing")).to_have_count(1)
    expect(page.locator("i.gap.right")).to_have_count(2)
    step = page.get_by_role("spinbutton", name="Step number").first
    page.clock.run_for(20_000)
    expect(step).to_have_value("7")
    assert text.evaluate(LETTERS) == letters

    options = page.locator(".st-key-belief button")
    options.filter(has_text="It reads each word").press("Enter")
    expect(page.get_by_text("Not yet.")).to_be_visible()
    options.filter(has_text="ids that it gets").press("Enter")
    expect(page.get_by_text("Second try")).to_have_count(2)
    page.locator(".text").nth(1).scroll_into_view_if_needed()  # it waited until it is seen
    expect(page.locator(".player .step").nth(1)).not_to_have_value("0")
    bar = page.locator('button[data-chapter="why"]')
    done = "Chapter 0: Why, done, 0 of 2 at the first try"
    expect(bar).to_have_attribute("aria-label", done)
    page.reload()
    told(page, "Right. 3 tokens")
    expect(bar).to_have_attribute("aria-label", done)


def test_pair_is_chosen_by_pointer_and_all_its_places_ring(open_page: Open) -> None:
    page = open_page("/Learn?chapter=merge")
    expect(page.locator("button.gap")).to_have_count(130)
    check = page.get_by_role("button", name="Merge this pair")
    expect(check).to_be_disabled()
    press_between(page, "e and space")
    expect(page.locator(".text .c.outlined-first")).to_have_count(6)
    assert "6 times" not in page.locator(".player").inner_text()
    check.click()
    told(page, "Not yet. e + · occurs 6 times; another pair occurs more often.")
    press_between(page, "o and space")
    check.click()
    told(page, "Right. o + · occurs 7 times")
    expect(page.locator(".prompt")).to_contain_text("Merge 2 of 6")
    expect(page.locator(".text .c.new")).to_have_count(14)
    expect(page.locator(".sentence")).to_contain_text("131 → 124 tokens")
    page.get_by_role("button", name="Show me").click()
    told(page, "The answer. e + · occurs 6 times")
    expect(page.locator(".prompt")).to_contain_text("Merge 3 of 6")
    bar = page.locator('button[data-chapter="merge"]')
    expect(bar).to_contain_text("◐◌")
    page.get_by_role("button", name="Again").click()
    expect(page.locator(".prompt")).to_contain_text("Merge 1 of 6")
    expect(page.locator("button.gap")).to_have_count(130)
    expect(bar).to_contain_text("◐◌")  # the first marks count


def test_typed_text_is_seen_at_once_and_loses_no_letter(open_page: Open) -> None:
    page = open_page("/Learn?chapter=units")
    typed = page.locator(".typed")
    typed.press_sequentially("lugar", delay=40)
    told(page, "lugar is in the list.")
    text = "lugar del niño, caterpillars everywhere"
    typed.press_sequentially(text.removeprefix("lugar"), delay=90)  # the page runs meanwhile
    told(page, "Right.")
    expect(typed.first).to_have_value(text)
    expect(typed.first).to_be_focused()
    expect(page.locator(".text .c.unknown").first).to_be_visible()
    expect(typed).to_have_count(2)
    page.reload()
    told(page, "Right.")
    expect(typed.first).to_have_value(text)
    page.get_by_role("button", name="Show me").click()
    expect(typed.nth(1)).to_have_value("你好😃")
    expect(page.locator(".told").nth(1)).to_contain_text("For example: 10 bytes in 3 characters.")
    typed.first.fill("lugar")
    told(page, "lugar is in the list.")
    page.reload()
    told(page, "lugar is in the list.")
    expect(typed).to_have_count(2)  # the first task is done, also while its text changes
    page.get_by_role("button", name="Again").click()
    expect(typed).to_have_count(1)
    expect(typed.first).to_have_value("")
    expect(page.locator(".text .c")).to_have_count(0)
    expect(page.get_by_role("button", name="Show me")).to_have_count(1)


def test_line_is_set_by_keyboard_and_the_curve_of_a_new_text_follows(open_page: Open) -> None:
    page = open_page("/Learn?chapter=stop", viewport={"width": 1024, "height": 576})
    for element in (".prompt", ".plot"):  # nobody has to scroll
        expect(page.locator(element)).to_be_in_viewport(ratio=1)
    track = page.get_by_role("slider", name="Step")
    curve = page.locator(".others path")
    expect(page.locator(".ends")).to_have_text("training text 47%")
    expect(curve).to_have_count(0)
    training = page.locator(".drawing path.first")
    before = training.get_attribute("d") or ""
    track.press("End")
    expect(page.locator(".sentence")).to_contain_text("62 → 61 tokens")
    page.get_by_role("button", name="Stop here").press("Enter")
    told(page, "Not yet. Here, tokens are long parts of the training text.")
    expect(curve).to_have_count(0)
    for _ in range(21):
        track.press("ArrowLeft")
    page.get_by_role("button", name="Stop here").press("Enter")
    told(page, "Not quite. Too late: the last merges before your line")
    expect(curve).to_have_attribute("d", re.compile("^M0.0000,0.1"))
    expect(training).to_have_attribute("d", before)
    expect(page.locator(".marks .mark")).to_have_text(["merge 14, the last that helps", "yours"])
    expect(track).to_have_value("14")
    expect(page.locator(".table")).to_have_text(
        "Rows of the embedding table: 256 + 14 merges = 270"
    )
    page.get_by_role("button", name="Again").click()
    expect(curve).to_have_count(0)
    expect(track).to_have_value("0")


def test_fences_are_counted_at_once_and_stay_on_the_stage(open_page: Open) -> None:
    page = open_page("/Learn?chapter=fences")
    expect(page.locator("button.gap")).to_have_count(35)
    merges, left_out = page.locator(".rows ol"), page.locator(".rows ul")
    expect(merges.locator("li")).to_have_text(["sa", "sa.", "sa.·", "ro", "ca", "sa.·ro"])
    press_between(page, "Fence between period and space")
    joined = "17 tokens, and 16 without fences. 2 merges join a word with a mark or the next word"
    told(page, joined)
    expect(left_out.locator(".out")).to_have_text(["sa.·", "sa.·ro"])
    announced = page.locator(".announced").first
    expect(announced).to_contain_text("17 tokens, and 16 without fences")
    fences = page.locator('button.gap[aria-pressed="true"]')
    page.locator("button.gap").nth(3).press("Enter")
    expect(page.locator(".player.playing")).to_have_count(1)  # the merges are played once more
    told(page, "Right. 17 tokens")
    for place in (10, 11, 16, 17, 22, 23, 28, 29, 35):
        page.locator("button.gap").nth(place - 1).press("Enter")
        expect(page.locator("button.gap").nth(place - 1)).to_be_focused()
    told(page, "Right. 17 tokens")
    expect(fences).to_have_count(11)
    expect(page.locator(".player").get_by_role("button", name="Show me")).to_have_count(0)
    await_rest(page)  # the tab has the last fence
    page.reload()
    told(page, "Right. 17 tokens")
    expect(fences).to_have_count(11)
    page.get_by_role("button", name="Again").click()
    expect(merges.locator("li")).to_have_text(["sa", "sa.", "sa.·", "ro", "ca", "sa.·ro"])
    expect(fences).to_have_count(0)


def test_golf_merges_by_keyboard_undoes_and_survives_a_reload(open_page: Open) -> None:
    page = open_page("/Learn?chapter=golf", prepare=with_clock)
    gaps, still = page.locator("button.gap"), page.locator(".player:not(.playing)").first
    expect(gaps).to_have_count(130)
    focus(page, "E and n")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")  # n and space
    told(page, "127 tokens after 1 merge: 46 to go.")
    expect(gaps).to_have_count(126)
    assert str(page.evaluate(FOCUSED)) == "E and n space"  # the place before the new token
    page.keyboard.press("Enter")  # also while the first merge plays
    told(page, "126 tokens after 2 merges")
    expect(still).to_be_visible()
    expect(page.locator(".sentence").first).to_contain_text("127 → 126 tokens")
    focus(page, "Undo")
    page.keyboard.press("Enter")
    told(page, "127 tokens after 1 merge")
    assert page.evaluate(FOCUSED) == "Undo"
    page.reload()
    told(page, "127 tokens after 1 merge")
    page.get_by_role("button", name="Show me").click()
    told(page, "For example: 18 merges, the fewest known.")
    expect(page.locator(".player.playing")).to_have_count(1)
    page.clock.run_for(30_000)
    expect(page.get_by_role("spinbutton", name="Merge number").first).to_have_value("18")
    page.get_by_role("button", name="Start over").click()
    told(page, "131 tokens after 0 merges: 50 to go.")
    expect(gaps).to_have_count(130)


def test_ten_questions_are_answered_by_keyboard_and_survive_a_reload(open_page: Open) -> None:
    page = open_page("/Learn?chapter=end")
    groups = page.get_by_role("radiogroup")
    expect(groups).to_have_count(10)
    for group in groups.all():
        group.get_by_role("radio").first.press("Space")
        expect(group.get_by_role("radio").first).to_be_checked()
    page.get_by_role("button", name="See the answers").press("Enter")
    expect(page.get_by_text("Right: after 5 of 10.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Right: after 5 of 10.")).to_be_visible()
