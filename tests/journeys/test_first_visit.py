"""A first visit: what plays by itself, what is on the first screen, and the ways on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from journeys.journey import Journey
from journeys.people import (
    FIRST,
    SCREEN,
    Page,
    Stage,
    await_equal,
    button,
    choose,
    drop_file,
    expect,
    go_to,
    link,
    text_box,
    trained,
)

MOVING: dict[str, Any] = {
    "reduced_motion": "no-preference",
    "prepare": lambda page: page.clock.install(),
}
"""A page that moves, whose time passes as usual, and at once by `page.clock.run_for`."""

SAMPLE = """section => {
  window.samples = [];
  const find = selector => section.querySelector(selector);
  setInterval(() => samples.push({
    winner: find(".pair.wins")?.textContent,
    sentence: find(".sentence .created")?.textContent,
    places: section.querySelectorAll(".c.new.first").length,
    marker: find(".chip.now")?.step ?? 0,
    tokens: Number(find("[data-figure=tokens]").textContent),
    number: Number(find("[aria-label='Merge number']").value),
  }), 30);
}"""
"""Notes every 30 milliseconds what each part of the stage shows."""

STOPS = """() => {
  const stops = [];
  const visit = (root) => {
    for (const one of root.querySelectorAll("*")) {
      const box = one.getBoundingClientRect();
      const selector = "a[href], button, input, select, textarea, summary, [tabindex]";
      const isStop = one.matches(selector) && one.tabIndex >= 0 && !one.disabled;
      // Streamlit's buttons above a chart or a table are transparent until it has the pointer.
      const isControl = one.checkVisibility({ opacityProperty: true })
        && !one.matches("main, section, div, table");
      if (isStop && isControl && one.checkVisibility() && box.width && box.top < innerHeight)
        stops.push([one.tabIndex, box.top, box.bottom, box.left]);
      if (one.shadowRoot) visit(one.shadowRoot);
    }
  };
  visit(document);
  return stops;
}"""
"""Return the controls on the first screen in the order of the Tab key."""


def animated(stage: Stage) -> Callable[[str], bool]:
    """Return a function that presses a button and returns whether tokens move."""
    script = """(button) => {
      button.click();
      const isToken = ({ effect, playState }) =>
        playState === "running" && effect.target.closest(".text");
      return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
        () => done(button.getRootNode().getAnimations().some(isToken)))));
    }"""
    return lambda name: bool(stage.button(name).evaluate(script))


def test_first_visit_plays_once_and_leads_on(journey: Journey) -> None:
    with journey.step("The default text plays by itself"):
        page = journey.open("/", **MOVING)
        stage = Stage(page)
        expect(stage.button("Pause")).to_be_visible()
        stage.await_step(2)
        assert "merge" not in (stage.said.text_content() or "")
    with journey.step("At a tie, the sentence says which pair wins"):
        tied = "9 times, like 2 other pairs; the first in the text wins"
        expect(stage.section).to_contain_text(tied)
    with journey.step("It ends, says so, and never loops"):
        page.clock.run_for(20_000)
        expect(stage.button("Replay")).to_be_visible()
        stage.await_step(22)
        expect(stage.said).to_contain_text("merge 22 of 22: ")
        page.clock.run_for(5_000)
        expect(stage.button("Replay")).to_be_visible()
    with journey.step("A later visit opens at the end, and does not play"):
        page.goto(page.url)
        stage.await_step(22)
        page.clock.run_for(5_000)
        expect(stage.button("Play")).to_be_visible()
    with journey.step("A written text plays once; an edited one does not"):
        text_box(page).fill("banana bandana, banana bandana")
        expect(stage.button("Pause")).to_be_visible()
        text_box(page).press("End")
        stage.await_step(6)
        text_box(page).press("s")
        await_equal(lambda: "".join(stage.pieces())[-1], "s")
        page.clock.run_for(5_000)
        expect(stage.button("Play")).to_be_visible()
        expect(stage.button("Last")).to_be_disabled()
    with journey.step("After a Pause, the next text of the tab does not play"):
        text_box(page).fill("tomato potato, tomato potato")
        stage.button("Pause").click()
        text_box(page).fill("anna hannah, anna hannah")
        expect(stage.button("Last")).to_be_disabled()
        page.clock.run_for(5_000)
        expect(stage.button("Play")).to_be_visible()
    with journey.step("The link of a step opens there without motion"):
        page.goto(journey.server.address + link(FIRST).replace("9999", "4"))
        expect(stage.last).to_have_text("22")
        page.clock.run_for(2_000)
        stage.await_step(4)
    with journey.step("Turning the wheel stops an opening, and Play goes on"):
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.goto(journey.server.address)
        expect(stage.button("Pause")).to_be_visible()
        page.mouse.wheel(0, 40)
        expect(stage.button("Play")).to_be_visible()
        stopped = stage.step
        page.clock.run_for(3_000)
        assert stage.step == stopped < 22
        stage.button("Play").click()
        expect(stage.button("Pause")).to_be_visible()
    with journey.step("A table that is dropped on the text plays once"):
        page.evaluate("sessionStorage.clear()")
        page.goto(journey.server.address)
        stage.await_step(22)
        drop_file(stage.text, "t.csv", "id,text\n1,banana bandana\n2,banana bandana\n")
        expect(stage.button("Pause")).to_be_visible()
        page.clock.run_for(15_000)
        expect(stage.button("Replay")).to_be_visible()
        expect(stage.button("Last")).to_be_disabled()
    journey.close(page)


def test_merges_are_told_in_order(journey: Journey) -> None:
    with journey.step("Race, sentence and places show one merge; its number comes last"):
        page = journey.open("/", reduced_motion="no-preference")
        stage = Stage(page)
        stage.section.evaluate(SAMPLE)
        page.wait_for_function("() => samples.at(-1)?.number > 3")
        training, boundaries = trained(FIRST)
        names = [training.name(merge.new_id) for merge in training.merges]
        counts = boundaries.token_counts.tolist()
        told = [sample for sample in page.evaluate("samples") if sample["sentence"] in names]
        for sample in told:
            step = names.index(sample["sentence"]) + 1
            places = counts[step - 1] - counts[step]
            assert sample["places"] == places, sample
            assert sample["winner"] in (sample["sentence"], None), sample  # until it arrives
            assert step - 1 <= sample["number"] <= sample["marker"] <= step, sample
            assert sample["tokens"] == counts[sample["marker"]], sample
        steps = {names.index(sample["sentence"]) + 1 for sample in told}
        assert {1, 2, 3} <= steps
        assert any(sample["number"] < sample["marker"] for sample in told)
    with journey.step("A reload in the middle returns to the step, and does not play"):
        stage.track.evaluate("track => (sessionStorage.seen = track.value, location.reload())")
        expect(stage.button("Play")).to_be_visible()
        # It plays on until the page is left.
        assert stage.step - page.evaluate("Number(sessionStorage.seen)") in (0, 1)
    with journey.step("New tokens move one merge at a time, and not with reduced motion"):
        moves = animated(stage)
        stage.go(2)
        assert moves("Step forward")
        stage.await_step(3)
        assert not moves("Last")
        page.emulate_media(reduced_motion="reduce")
        stage.go(2)
        assert not moves("Step forward")
        stage.await_step(3)


PAINTED = """name => {
  const box = document.querySelector(`.${name}`);
  const host = [...box?.querySelectorAll("*") ?? []].find(({shadowRoot}) => shadowRoot);
  const text = host?.shadowRoot.querySelector(".text"), letter = text?.querySelector(".c");
  if (!letter || document.fonts.status !== "loaded") return null;
  const {left, top} = letter.getBoundingClientRect();
  const place = [left, top, parseFloat(getComputedStyle(text).fontSize)].map(Math.round);
  return [box.firstElementChild.textContent, place];
}"""
"""Returns the title, and the place and size of the first letter, once it is drawn."""


def test_text_of_a_link_stands_before_the_server_answers(journey: Journey) -> None:
    text = "The <b>cat</b> sat on the mat, the cat sat, and that was that."
    path = f"/?text={quote(text)}"
    with journey.step("The text and the title are there, at their places, without a run"):

        def silence(page: Page) -> None:
            page.route_web_socket(re.compile("_stcore/stream"), lambda socket: None)

        page = journey.open(path, prepare=silence)
        title, place = page.wait_for_function(PAINTED, arg="first-paint").json_value()
        assert title == "Join the most frequent pair of neighbors, again and again."
        drawn = page.locator(".first-paint .text").text_content() or ""
        assert text in drawn.replace("\xa0", " ")  # no markup
        journey.close(page)
    with journey.step("Nothing moves when the page has drawn them"):
        page = journey.open(path)
        expect(page.locator(".first-paint")).to_have_count(0)
        assert page.wait_for_function(PAINTED, arg="st-key-player").json_value()[1] == place


def test_first_screen_has_the_whole_answer(journey: Journey) -> None:
    with journey.step("With reduced motion, the last step is there at once, in words and numbers"):
        page = journey.open("/")
        stage = Stage(page)
        training, boundaries = trained(FIRST)
        steps = len(training.merges)
        expect(stage.last).to_have_text(str(steps))
        stage.await_step(steps)
        expect(stage.tokens).to_have_text(str(boundaries.token_counts[steps]))
        assert {" seashells", " seashore", " she"} <= {*stage.pieces()}
    with journey.step("The controls are few, and the Tab key takes them from top to bottom"):
        expect(button(page, "Share")).to_be_visible()
        await_equal(lambda: page.evaluate("document.activeElement === document.body"), True)
        controls = page.evaluate(STOPS)
        assert 8 < len(controls) <= 28
        assert {index for index, *_ in controls} == {0}
        for (_, top, bottom, left), (_, top_of_next, _, left_of_next) in pairwise(controls):
            assert bottom <= top_of_next + 40 or left <= left_of_next, (top, top_of_next)
    with journey.step("The text fills the stage in every window, and Play needs no scrolling"):
        sizes = []
        for width, height in ((1024, 576), (1366, 768)):
            page.set_viewport_size({"width": width, "height": height})
            await_equal(stage.fits, True)
            sizes.append(stage.letter_size())
            for part in (stage.button("Play"), stage.tokens, stage.text):
                expect(part).to_be_in_viewport(ratio=0.999)
        assert 18 <= sizes[0] < sizes[1] <= 72
    with journey.step("In the projector view, the letters are larger"):
        page.keyboard.press("p")
        expect(stage.section).to_have_js_property("clientHeight", SCREEN["height"])
        await_equal(stage.fits, True)
        assert stage.letter_size() > sizes[1]
        page.keyboard.press("p")
        page.wait_for_function("() => !document.fullscreenElement")
    with journey.step("The way to an own text selects what is in the box"):
        button(page, "Try your own text").click()
        expect(text_box(page)).to_be_focused()
        selected = "box => box.value.slice(box.selectionStart, box.selectionEnd)"
        assert text_box(page).evaluate(selected) == FIRST
        choose(page, "Text", "Your own text")
        expect(text_box(page)).to_have_value(FIRST)
    with journey.step("The way to GPT-4o leads to Compare"):
        button(page, "What does GPT-4o do with it?").click()
        page.wait_for_url("**/Compare*")
        page.go_back()
    with journey.step("Compare and back keep the text and the step"):
        stage.go(5)
        go_to(page, "Compare")
        expect(text_box(page)).to_have_value(FIRST)
        page.go_back()
        stage.await_step(5)


def test_helper_of_journeys_keeps_a_failure_and_goes_on(journey: Journey, monkeypatch: Any) -> None:
    kept: list[BaseException] = []

    class Subtests:
        @contextmanager
        def test(self, says: str) -> Iterator[None]:
            try:
                yield
            except BaseException as error:
                kept.append(error)

    monkeypatch.setattr(journey, "_subtests", Subtests())
    page: Page = journey.open("/Pre-tokenize")
    with journey.step("A check fails"):
        assert page.url == "elsewhere"
    with journey.step("The browser reports an error"):
        page.evaluate("console.error('broken')")
    with journey.step("A step needs what a failed one has not reached"):
        raise UnboundLocalError("page")
    failed, reported, left_out = kept
    assert isinstance(left_out, pytest.skip.Exception)
    assert any("Picture of http" in note for note in failed.__notes__)
    assert "console: broken" in str(reported)
