"""The Learn page in a browser: a chapter by keyboard alone, a reload, and the forms of answers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from page_helpers import FloatRect, Page, box_at_rest, expect

from bpeviz.ui.learn.registry import CHAPTERS

Open = Callable[..., Page]


def focus(page: Page, label: str, key: str = "Tab", most: int = 40) -> None:
    """Press Tab until the element of this label or text has the focus."""
    for _ in range(most):
        found: str = page.evaluate(
            """() => {
              let active = document.activeElement;
              while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
              return active?.ariaLabel ?? active?.textContent ?? "";
            }"""
        )
        if found.startswith(label):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{label} was not reached by {key}.")


def result(page: Page, number: int, words: str) -> None:
    expect(page.locator(".result").nth(number)).to_contain_text(words)


def test_chapter_is_done_by_keyboard_alone_and_survives_a_reload(open_page: Open) -> None:
    page = open_page("/Learn?chapter=first-merge")
    expect(page.locator(".pickable")).to_be_visible()
    expect(page.locator(".result:not(:empty)")).to_have_count(0)
    expect(page.locator(".check").first).to_be_disabled()

    focus(page, "Pair of neighbors")
    page.keyboard.press("End")
    expect(page.locator(".chosen")).to_have_text("Your pair: r + o")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".chosen")).to_have_text("Your pair: e + r")
    track = page.get_by_label("Pair of neighbors")
    expect(track).to_have_attribute("aria-valuetext", re.compile("e and r, pair 129 of 130"))
    expect(page.locator("[aria-current=step]")).to_have_text("4 The first merge")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")
    result(page, 0, "Not yet. e + r occurs 2 times; another pair occurs more often.")
    expect(page.locator(".result").first).to_be_focused()
    expect(page.locator(".check").first).to_be_disabled()  # until the answer is another one
    expect(page.locator(".answer")).to_have_count(1)
    focus(page, "Pair of neighbors", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")
    result(page, 0, "Not quite. o + · occurs 7 times")
    result(page, 0, "Yours, r + o")
    result(page, 0, "○ Shown")
    # The focus announces the result once: it is not a live region, too.
    expect(page.locator(".result").first).to_be_focused()
    words = re.compile(r"^Not quite\. o \+ space occurs 7 times")
    expect(page.locator(".result").first).to_have_attribute("aria-label", words)
    expect(page.locator(".answer [role=status]")).to_have_count(0)
    expect(page.locator(".text").first.locator(".c.new")).to_have_count(14)

    focus(page, "Number of tokens")
    page.keyboard.type("7")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")
    result(page, 1, "Not yet. 7 is how many disappear. How many remain?")
    focus(page, "Number of tokens", "Shift+Tab")
    page.keyboard.type("124")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")
    result(page, 1, "Right. 131 tokens − 7 = 124 tokens")
    result(page, 1, "◐ Second try")

    # A group of radio buttons is one tab stop; the arrow keys choose.
    expect(page.locator("input[type=radio]")).to_have_count(4)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(
            """() => {
              let active = document.activeElement;
              while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
              return active?.type === "radio";
            }"""
        ):
            break
    page.get_by_label("It saves the most tokens in one step.").focus()
    page.keyboard.press("Space")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")
    result(page, 2, "Right.")
    result(page, 2, "● First try")
    bar = page.locator('button[data-chapter="first-merge"]')
    expect(bar).to_have_attribute(
        "aria-label", "Chapter 4: The first merge, done, 1 of 3 at the first try"
    )

    page.reload()
    expect(page.get_by_role("heading", name="The first merge")).to_be_visible()
    result(page, 0, "Yours, r + o")
    result(page, 1, "Right.")
    expect(bar).to_have_attribute(
        "aria-label", "Chapter 4: The first merge, done, 1 of 3 at the first try"
    )

    page.get_by_role("button", name="Try again").nth(1).click()
    expect(page.get_by_label("Number of tokens")).to_be_visible()
    expect(page.locator(".answer").nth(1)).to_be_focused()
    page.get_by_role("button", name="Show me").click()
    result(page, 1, "The answer. 131 tokens − 7")
    # The first mark of a question counts.
    expect(bar).to_have_attribute("aria-label", re.compile("done, 1 of 3 at the first try"))

    focus(page, "Next: The loop", most=150)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="5. The loop")).to_be_in_viewport()
    focus(page, "Chapter 5: The loop", most=1)
    focus(page, "Chapter 7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Encode and decode")).to_be_visible()
    expect(page).to_have_url(re.compile("chapter=encoding"))


def swipe(page: Page, *places: tuple[float, float]) -> float:
    """Drag one finger along places, in pixels; return by how many pixels the page scrolls."""
    main = page.get_by_test_id("stMain")
    before: float = main.evaluate("main => main.scrollTop")
    client = page.context.new_cdp_session(page)
    for at, (x, y) in enumerate(places):
        touch = {"type": "touchMove" if at else "touchStart", "touchPoints": [{"x": x, "y": y}]}
        client.send("Input.dispatchTouchEvent", touch)
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    client.detach()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    after: float = main.evaluate("main => main.scrollTop")
    return after - before


def between(start: FloatRect, end: FloatRect, steps: int = 8) -> list[tuple[float, float]]:
    """Return places from the middle of one box to that of another."""
    (x, y), (to_x, to_y) = (
        (one["x"] + one["width"] / 2, one["y"] + one["height"] / 2) for one in (start, end)
    )
    shares = [step / steps for step in range(steps + 1)]
    return [(x + (to_x - x) * share, y + (to_y - y) * share) for share in shares]


def test_answers_are_given_by_mouse_and_touch(open_page: Open) -> None:
    page = open_page(
        "/Learn?chapter=two-ways", viewport={"width": 390, "height": 844}, has_touch=True
    )
    first, second = (
        page.get_by_label(f"Boundary between {pair}") for pair in ("a and b", "b and c")
    )
    first.tap()
    expect(first).to_have_attribute("aria-pressed", "true")
    assert swipe(page, *between(box_at_rest(first), box_at_rest(second))) == 0
    expect(second).to_have_attribute("aria-pressed", "true")
    expect(first).to_have_attribute("aria-pressed", "false")
    second.drag_to(first)
    expect(first).to_have_attribute("aria-pressed", "true")
    first.drag_to(second)
    expect(second).to_have_attribute("aria-pressed", "true")
    expect(first).to_have_attribute("aria-pressed", "false")
    first.tap()
    page.get_by_role("button", name="Check my answer").click()
    result(page, 0, "Not yet. You left every letter alone, but a merge applies here.")
    first.tap()
    expect(second).to_have_attribute("aria-pressed", "true")  # the form is as it was
    page.get_by_role("button", name="Check my answer").click()
    result(page, 0, "Not quite. 2 tokens: a bc")
    expect(page.get_by_label("Boundary between b and c: extra")).to_be_visible()
    expect(page.get_by_label("Boundary between a and b: missing")).to_be_visible()

    chapters = page.get_by_role("combobox", name="Chapter")
    chapters.select_option("training-loop")
    curve = page.get_by_role("group", name="Your curve: tokens by merges")
    expect(curve).to_be_visible()
    expect(page.locator(".answer")).to_have_count(1)
    page.set_viewport_size({"width": 1024, "height": 576})
    expect(page.locator(".check")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 390, "height": 844})
    box = box_at_rest(curve)
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3)
    page.mouse.down()
    for share in (0.5, 0.7, 0.95):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] * 0.5)
    page.mouse.up()
    drawn = [one.get_attribute("aria-valuenow") for one in curve.locator("[role=slider]").all()]
    across = [
        (box["x"] + box["width"] * share, box["y"] + box["height"] * (0.3 + 0.4 * share))
        for share in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    ]
    assert swipe(page, *across) == 0
    values = [
        int(one.get_attribute("aria-valuenow") or "")
        for one in curve.locator("[role=slider]").all()
    ]
    assert values == sorted(values, reverse=True)
    assert list(map(str, values)) != drawn
    assert all(0 < value < 131 for value in values)
    page.get_by_role("button", name="Check my answer").click()
    result(page, 0, "Not yet. You halve it at each dot")
    curve.get_by_label("tokens at 20 merges").press("ArrowUp")
    values[-1] = int(curve.get_by_label("tokens at 20 merges").get_attribute("aria-valuenow") or "")
    page.get_by_role("button", name="Check my answer").click()
    expect(page.locator(".result").first).to_be_in_viewport(ratio=1)
    result(page, 0, f"You expected {values[-1]} tokens, it was 81")
    expect(page.locator("path.truth")).to_be_visible()

    chapters.select_option("encoding")
    expect(page.get_by_role("heading", name="Encode and decode")).to_be_visible()
    expect(page.get_by_role("spinbutton", name="Number of tokens")).to_be_visible()
    page.get_by_role("button", name="Show me").click()
    result(page, 0, "The answer. 9 tokens")
    rows = page.locator("li.movable")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("a + n")
    page.get_by_label("Move a and n down, now 1 of 4").click()
    expect(rows.nth(1)).to_contain_text("a + n")
    rows.nth(1).drag_to(rows.nth(3), target_position={"x": 40, "y": 35})
    expect(rows.nth(3)).to_contain_text("a + n")
    top, bottom = box_at_rest(rows.first), box_at_rest(rows.nth(3))
    assert swipe(page, *between(bottom, top), (top["x"] + 20, top["y"] + 2)) == 0
    expect(rows.first).to_contain_text("a + n")
    page.get_by_role("button", name="Check my answer").click()
    result(page, 1, "Look for them in the list of merges above.")
    rows.first.get_by_label("down").click()
    page.get_by_role("button", name="Check my answer").click()
    result(page, 1, "Merges apply in the order of training")
    expect(page.locator("li .yours")).to_have_count(4)


ANSWERED = ".result:not(:empty)"


def answer_by_keyboard(page: Page, kind: str) -> None:
    """Give any answer to the last question, by the keys of its form."""
    if kind == "pair":
        focus(page, "Pair of neighbors", most=150)
        page.keyboard.press("ArrowRight")
    elif kind == "number":
        focus(page, "Number of", most=150)
        page.keyboard.type("1")
    elif kind == "boundaries":
        focus(page, "Boundary between", most=150)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
    elif kind == "curve":
        focus(page, "tokens at", most=150)
        page.keyboard.press("PageDown")
    elif kind == "order":
        focus(page, "Move ", most=150)
        page.keyboard.press("Enter")
        focus(page, "This order is my answer")
        page.keyboard.press("Enter")
    else:
        assert kind == "choice"
        focus_radio(page)
        page.keyboard.press("Space")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")


def focus_radio(page: Page) -> None:
    """Press Tab until a group of radio buttons, which is one tab stop, has the focus."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate(
            """() => {
              let active = document.activeElement;
              while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
              return active?.matches(".form input[type=radio]:enabled") ?? false;
            }"""
        ):
            return
    raise AssertionError("No radio button was reached by Tab.")


@pytest.mark.large
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_chapters_are_done_by_keyboard_alone(open_page: Open, theme: str) -> None:
    page = open_page(f"/Learn?chapter={CHAPTERS[0].key}", color_scheme=theme)
    for number, chapter in enumerate(CHAPTERS, 1):
        heading = page.get_by_role("heading", name=f"{number}. {chapter.title}", exact=True)
        expect(heading).to_be_visible()
        expect(page.locator(".answer")).to_have_count(1)  # those of the chapter before are gone
        asked = page.locator("[class*=st-key-ask_]")
        done = page.locator(f'button[data-chapter="{chapter.key}"][aria-label*=", done"]')
        for given in range(len(chapter.questions) + 1):
            expect(asked.nth(given).locator(".check")).to_be_visible()
            expect(page.locator(ANSWERED)).to_have_count(given)
            kind = (asked.nth(given).get_attribute("class") or "").split("st-key-ask_")[1]
            answer_by_keyboard(page, kind.split("_")[0])
            expect(asked.nth(given).locator(ANSWERED)).to_be_visible()
            if asked.nth(given).locator(".result.again").count():
                focus(page, "Show me")
                page.keyboard.press("Enter")
                expect(asked.nth(given).locator(".result.shown")).to_be_visible()
            if done.count():
                break
        expect(done).to_have_count(1)
        height = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
        assert height <= 1_600, chapter.key
        focus(page, "edit", most=200)  # the icon of the folded part
        page.keyboard.press("Enter")
        focus(page, chapter.inputs[0].widget.label, most=200)
        focus(page, "open_in_new", most=20)  # the icon of the link to another page
        focus(page, chapter.inputs[0].widget.label, "Shift+Tab")
        page.keyboard.press("Control+a")
        page.keyboard.type("banana bandana")
        page.keyboard.press("Control+Enter")
        back = page.get_by_role("button", name="Back to the first text")
        expect(back).to_be_visible()
        expect(page.locator(ANSWERED)).to_have_count(given + 1)
        focus(page, "Back to the first text")
        page.keyboard.press("Enter")
        expect(back).to_have_count(0)
        if number < len(CHAPTERS):
            focus(page, f"Chapter {number + 1}:", "Shift+Tab", most=300)
            page.keyboard.press("Enter")


def test_marks_are_kept_for_other_tabs_until_the_user_starts_again(open_page: Open) -> None:
    page = open_page("/Learn?chapter=text-is-numbers")
    page.get_by_role("spinbutton").fill("4")
    page.get_by_role("button", name="Check my answer").click()
    result(page, 0, "● First try")
    other = page.context.new_page()
    other.goto(page.url.split("?")[0])
    expect(other.get_by_text("1 of 1 at the first try")).to_be_visible()
    other.locator('button[data-chapter="end"]').click()
    expect(other.get_by_text("1 of 1 at the first try.")).to_be_visible()
    other.get_by_role("button", name="Start again").click()
    expect(other.get_by_role("heading", name="1. Text is numbers")).to_be_visible()
    expect(other.get_by_text("at the first try")).to_have_count(0)
    other.reload()
    expect(other.get_by_role("button", name="Check my answer")).to_be_visible()
    expect(other.locator(ANSWERED)).to_have_count(0)
    expect(other.get_by_text("at the first try")).to_have_count(0)
    other.close()


def test_feedback_is_not_behind_the_buttons_on_a_projector(open_page: Open) -> None:
    page = open_page("/Learn?chapter=splitting-rules", viewport={"width": 1024, "height": 576})
    page.get_by_role("button", name="It cuts nowhere else").click()
    page.get_by_role("button", name="Check my answer").click()
    result(page, 0, "Not yet. You cut at the spaces alone.")
    told, buttons = box_at_rest(page.locator(".result")), box_at_rest(page.locator(".actions"))
    assert told["y"] + told["height"] <= buttons["y"] + 1


def test_own_text_is_remembered_in_a_new_tab(open_page: Open) -> None:
    page = open_page("/Learn?chapter=first-merge")
    for number in range(3):
        page.get_by_role("button", name="Show me").click()
        expect(page.locator(ANSWERED)).to_have_count(number + 1)
    page.get_by_text("Now with your own text").click()
    page.get_by_role("button", name="Overlaps").click()
    own = "[class*=st-key-own_] .pickable"
    expect(page.locator(own)).to_have_text("aaabdaaabac")
    page.locator("[class*=st-key-own_]").get_by_role("button", name="Show me").click()
    expect(page.locator(ANSWERED)).to_have_count(4)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(ANSWERED)).to_have_count(4)
    expect(other.get_by_label("Number of tokens")).to_be_visible()
    other.close()


def test_teacher_shows_one_question_large_without_the_menu(open_page: Open) -> None:
    page = open_page("/Learn?teacher=1")
    page.get_by_role("button", name="Show 4.2 large").click()
    expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()
    expect(page.locator(ANSWERED)).to_have_count(0)
    page.get_by_role("button", name="Show me").click()
    result(page, 0, "The answer. 131 tokens − 7 = 124 tokens.")
    page.get_by_role("button", name="All questions").click()
    expect(page.get_by_role("heading", name="4. The first merge")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
