"""Texts of other scripts and directions: drawn, aligned, and copied as they are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from journeys.journey import Journey
from journeys.people import (
    Locator,
    Page,
    Rows,
    Stage,
    at_rest,
    await_equal,
    choose,
    copied,
    drawn_boundaries,
    drawn_text,
    expect,
    go_to,
    link,
    type_text,
)

from bpeviz.corpus import samples

ODD = samples.by_key("emoji-and-unicode").text + "\ttab\tand  spaces\n\nتعرف \u202e end"
SHAPES = (
    "मुझे हिंदी में लिखना अच्छा लगता है। क्षत्रिय",
    "สวัสดีชาวโลก ผู้ใหญ่",
    "مرحبا بالعالم",
    "a👩‍👩‍👧‍👦b 👍🏽 🇩🇪 é e\u0301",
    "東京都は日本の首都であり",
    "return office_fluffy[i] != 0",
)

MOVED = """text => Math.max(...[...text.querySelectorAll(".staff")].map(row => {
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
  const moves = [...row.children].map(piece => {
    at += piece.textContent.length;
    range.selectNodeContents(row);
    range.setEndAfter(piece);
    const move = range.getBoundingClientRect().width - shift(at);
    return piece.matches(".quiet") ? 0 : Math.abs(move); // a smaller sign
  });
  whole.remove();
  return Math.max(...moves);
}))"""
"""Returns how far the end of a piece is from that of the same signs in one element."""

FARTHEST = """text => {
  const range = document.createRange();
  const places = (row) => [...row.querySelectorAll(".c")].flatMap(({ firstChild: node }) =>
    [...node.data].map((sign, i, all) => {
      const start = all.slice(0, i).join("").length;
      range.setStart(node, start);
      range.setEnd(node, start + sign.length);
      return range.getBoundingClientRect().left;
    }));
  let farthest = 0;
  for (const line of text.querySelectorAll(".line")) {
    if (line.dir === "rtl") continue; // places inside ligatures are not those of letters
    const [first, ...others] = [...line.querySelectorAll(".score-row")].map(places);
    for (const row of others)
      row.forEach((left, i) => (farthest = Math.max(farthest, Math.abs(left - first[i]))));
  }
  return farthest;
}"""
"""Returns how far letters of a row are from the same letters of the first row."""


def assert_copied(page: Page, drawn: Locator, text: str) -> None:
    """Assert that the whole text is copied as it is, and a part that the mouse has selected."""
    drawn.evaluate("text => document.getSelection().selectAllChildren(text)")
    assert copied(page) == text
    pieces = drawn.locator(".score-row:not([inert]) .c")
    ends = [pieces.nth(place) for place in (2, 9)]
    page.evaluate("getSelection().empty()")  # the mouse would drag what is selected
    first, second = (at_rest(end) for end in ends)
    page.mouse.move(first["x"] + 1, first["y"] + first["height"] / 2)
    page.mouse.down()
    page.mouse.move(second["x"] + 1, second["y"] + second["height"] / 2, steps=6)
    page.mouse.up()
    start, end = (piece.evaluate("piece => piece.cell") for piece in ends)
    assert copied(page) == text[start:end]


def test_other_scripts_are_drawn_and_copied(journey: Journey) -> None:
    with journey.step("Emoji, joiners, tabs and marks of direction are copied as they are"):
        page = journey.open(link(ODD))
        stage = Stage(page)
        training, boundaries = stage.await_text(ODD)
        assert_copied(page, stage.text, ODD)
    with journey.step("Boundaries inside characters are drawn at each step"):
        for step in (0, training.steps // 2, training.steps):
            stage.go(step)
            assert drawn_boundaries(stage.text) == boundaries.boundary_mask(step).sum(), step
    with journey.step("So they are copied on Compare"):
        go_to(page, "Compare")
        rows = Rows(page)
        rows.await_text("GPT-4 (cl100k)", "ف")
        assert_copied(page, rows.text, ODD)
    with journey.step("The letters of all rows are exactly below one another"):
        type_text(page, "\n".join(SHAPES))
        for title in ("GPT-2", "GPT-4 (cl100k)", "GPT-4o"):
            rows.await_text(title, "東")
        await_equal(lambda: rows.text.evaluate(FARTHEST) < 0.3, True)
    with journey.step("Signs of several bytes have rulers, which do not overlap"):
        rulers = rows.row("GPT-2").locator(".atoms")
        boxes = [ruler.bounding_box() for ruler in rulers.all()[:12]]
        for left, right in pairwise(boxes):
            assert left
            assert right
            is_beside = left["x"] + left["width"] <= right["x"] + 1
            assert (
                is_beside or left["y"] + left["height"] <= right["y"] + 1 or left["x"] > right["x"]
            )
    with journey.step("Tokens do not move or change letters"):
        text = "\n".join(f"{line} {line}" for line in SHAPES)
        page.goto(journey.server.address + link(text))
        training, _ = stage.await_text(text)
        for step in (0, training.steps // 2, training.steps):
            stage.go(step)
            assert stage.text.evaluate(MOVED) <= 0.2
    with journey.step("Arabic and Hindi stand from right to left and left to right, complete"):
        for key in ("arabic-hindi", "chinese-japanese"):
            sample = samples.by_key(key)
            choose(page, "Text", sample.title)
            training, boundaries = stage.await_text(sample.text)
            count = boundaries.boundary_mask(training.steps).sum()
            await_equal(lambda count=count: drawn_boundaries(stage.text), count)
            marked = {c: f"⟨{ord(c):04X}⟩" for c in "\u200e\u200f\u3000"}
            expected = sample.text.translate(str.maketrans(marked)).replace("\n", "↵")
            assert drawn_text(stage.text) == expected
            directions = {*stage.text.locator(".line").evaluate_all("all => all.map(l => l.dir)")}
            assert ("rtl" in directions) == (key == "arabic-hindi")
    with journey.step("A character that is split shows its bytes; one of code points shows these"):
        text = "a hat, that cat 茶 👍🏽\na hat, that cat\n"  # its merges are not of bytes
        type_text(page, text)
        stage.await_text(text)
        stage.go(0)
        stage.text.locator(".c.split").filter(has_text="茶").first.hover()
        expect(stage.card.locator("i")).to_have_text(["E8", "8C", "B6"])
        assert "\ufffd" not in (stage.text.text_content() or "")
        choose(page, "Start from", "Characters")
        stage.await_text(text, atoms="characters")
        stage.go(0)
        stage.text.locator(".c.split").first.hover()
        expect(stage.card.locator("i")).to_have_text(["1F44D", "1F3FD"])
    with journey.step("Words show their end marks, which are not copied"):
        text = "low low lower नमस्ते naïve\n"
        type_text(page, text)
        stage.await_text(text, atoms="characters")
        choose(page, "End-of-word mark", "Separate symbol")
        how: dict[str, Any] = {"atoms": "characters", "end_mark": "symbol"}
        training, boundaries = stage.await_text(text, **how)
        words = [part for part in training.pre_tokenizer.pre_tokens(text) if not part.isspace()]
        expect(stage.text.get_by_text("</w>")).to_have_count(len(words))
        for step in (0, training.steps):
            stage.go(step)
            assert drawn_boundaries(stage.text) == boundaries.boundary_mask(step).sum()
        stage.text.evaluate("text => document.getSelection().selectAllChildren(text)")
        assert copied(page) == text
