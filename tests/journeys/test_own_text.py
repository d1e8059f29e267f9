"""An own text: typed, pasted, from a file, and reloaded."""

from __future__ import annotations

import re
from typing import Any

from journeys.journey import Journey
from journeys.people import (
    ENGLISH,
    PARAGRAPH,
    Page,
    Rows,
    Stage,
    alert,
    at_rest,
    await_equal,
    await_rest,
    button,
    choose,
    copied,
    drawn_boundaries,
    drawn_text,
    expect,
    go_to,
    link,
    menu,
    open_file,
    piece_at,
    put,
    set_number,
    size_of_vocabulary,
    text_box,
    type_text,
)

from bpeviz.text import hexadecimal
from bpeviz.views.parts import parts as parts_of

POEM = "the cat sat on the mat, the cat sat\nthat the rat sat on the cat\n" * 3

HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'> &amp; &lt;b&gt;\n"
    "a\u202eb 👩‍👩‍👧 nul\0 \u200b\u00a0 tab\tcarriage\r\nreturn \ufeff **no** $x$ `y`\n"
) * 2
STAND_INS = {"\u202e": "⟨202E⟩", "\0": "⟨0000⟩", "\u200b": "⟨200B⟩", "\u00a0": "⟨00A0⟩"}
STAND_INS |= {"\ufeff": "⟨FEFF⟩", "\r": "␍", "\n": "↵"}

SELECT = """text => {
  const pieces = [...text.querySelectorAll(".c")];
  const [first, last] = [pieces.at(700), pieces.at(-700)];
  getSelection().setBaseAndExtent(first.firstChild, 0, last.firstChild, last.textContent.length);
  return [first.cell, last.end];
}"""
"""Selects a part of a long text, of which few lines are drawn; returns where it is."""

ALL_KEYS = """() => new Promise((resolve) => {
  indexedDB.open("bpeviz").onsuccess = ({ target }) => {
    const all = target.result.transaction("tabs").objectStore("tabs").getAllKeys();
    all.onsuccess = () => (target.result.close(), resolve(all.result));
  };
})"""
"""Returns the keys under which the browser has stored the states of its tabs."""

SIZES = """() => {
  window.sizes = new Set();
  new MutationObserver(() => {
    const number = document.querySelector("[aria-label='Vocabulary size']");
    if (number) window.sizes.add(number.value);
  }).observe(document, { childList: true, subtree: true });
}"""
"""Records all vocabulary sizes that a page shows while it loads."""


def test_typed_text_is_trained_on_and_played(journey: Journey) -> None:
    with journey.step("Typed text is used once one stops typing, and its tokens are drawn"):
        page = journey.open(link(PARAGRAPH))
        stage = Stage(page)
        stage.await_text(PARAGRAPH)
        text_box(page).fill(POEM)
        training, boundaries = stage.await_text(POEM)
        steps = len(training.merges)
        for step in (steps, 0, 1, 12, 11):
            stage.go(step)
            stage.assert_drawn(POEM, boundaries, step)
            expect(stage.tokens).to_have_text(str(boundaries.token_counts[step]))
    with journey.step("The sentence names the parts, the id and the count of the merge"):
        stage.go(7)
        merge = training.merges[6]
        for token_id in (merge.left, merge.right, merge.new_id):
            expect(stage.sentence).to_contain_text(training.name(token_id))
        expect(stage.sentence).to_contain_text(f"id {merge.new_id}")
        expect(stage.sentence).to_contain_text(f"{merge.count} times")
    with journey.step("The pairs of the race are those that Python counts, the winner first"):
        candidates = training.candidates(POEM, boundaries, 6, 1)
        winner = stage.section.locator(".race .pair.wins")
        expect(winner).to_have_text("".join(map(training.name, candidates[0].ids)))
    with journey.step("Pause, a step on, two back, and a drag of the track"):
        stage.button("First").click()
        stage.speed.select_option("½×")
        stage.button("Play").click()
        stage.await_step(2)
        stage.button("Pause").click()
        paused = stage.step
        stage.button("Step forward").click()
        expect(stage.number).to_have_value(str(paused + 1))
        stage.button("Step back").click()
        stage.button("Step back").click()
        expect(stage.number).to_have_value(str(paused - 1))
        box = at_rest(stage.track)
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] - 2, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2, middle, steps=5)
        page.mouse.up()
        assert abs(stage.step - steps / 2) <= 1
    with journey.step("A number out of range goes to the end"):
        for typed, reached in ((-5, 0), (99_999, steps)):
            stage.number.fill(str(typed))
            stage.number.press("Enter")
            stage.await_step(reached)
    with journey.step("A token tells its id, its bytes and its parts"):
        ids = boundaries.ids(steps).tolist()
        token = ids.index(max(ids))
        stage.first_piece_of(boundaries.token_ends(steps), token).hover()
        expect(stage.card).to_contain_text(f"id {ids[token]}")
        raw = training.tokenizer().token_bytes(ids[token])
        expect(stage.card).to_contain_text(hexadecimal(raw))
        expect(stage.card).to_contain_text(f"{ids.count(ids[token])}×")
        for parent in training.tokenizer().parents(ids[token]) or ():
            expect(stage.card).to_contain_text(f"{training.name(parent)} {parent}")
        stage.first_piece_of(boundaries.token_ends(steps), token).click()
        expect(stage.made).to_contain_text(training.name(ids[token]))
        page.keyboard.press("Escape")
        expect(stage.made).to_be_hidden()
    with journey.step("A smaller size redraws no text, and a larger one does not move the step"):
        size_of_vocabulary(page).focus()
        page.keyboard.press("ArrowDown")
        expect(stage.last).to_have_text(str(steps - 1))
        await_rest(page)
        mark = "text => text.querySelectorAll('.line').forEach(line => (line.drawnOnce = true))"
        same = "text => [...text.querySelectorAll('.line')].every(line => line.drawnOnce)"
        redrawn: list[bool] = []
        for smaller in range(2, 6):
            stage.text.evaluate(mark)
            page.keyboard.press("ArrowDown")
            expect(stage.last).to_have_text(str(steps - smaller))
            redrawn.append(not stage.text.evaluate(same))
        expect(size_of_vocabulary(page)).to_be_focused()
        # While a worker is slow, the text stands in its letters.
        assert not all(redrawn)
        for _ in range(5):
            page.keyboard.press("ArrowUp")
        expect(stage.last).to_have_text(str(steps))
        stage.await_step(steps - 5)


def test_playing_sends_little_and_a_left_page_nothing(journey: Journey) -> None:
    received: list[int] = []

    def listen(socket: Any) -> None:
        socket.on("framereceived", lambda frame: received.append(len(frame)))

    def prepare(page: Page) -> None:
        page.on("websocket", listen)

    with journey.step("While a training plays, hardly anything is sent"):
        page = journey.open(link(PARAGRAPH, why_open=True), prepare=prepare)
        stage = Stage(page)
        stage.await_text(PARAGRAPH)
        stage.button("First").click()
        await_rest(page)
        whole = sum(received)
        received.clear()
        stage.button("Play").click()
        waits = "track => new Promise(d => setInterval(() => +track.value > 3 && d(), 50))"
        stage.track.evaluate(waits)
        assert sum(received) < 1_000
    with journey.step("What is below follows at a pause"):
        stage.button("Pause").click()
        await_rest(page)
        assert 1_000 < sum(received) < whole / 2
    with journey.step(
        "A link that is clicked while a step is reported opens its page, which stays"
    ):
        stage.button("Step forward").click()
        go_to(page, "Compare")
        Rows(page).await_text("GPT-2", "river")
        await_rest(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.url.endswith("/Compare") or "/Compare?" in page.url
    journey.close(page)


def test_pasted_and_opened_texts_are_drawn_or_refused(journey: Journey) -> None:
    with journey.step("A hostile file is displayed as plain text, and nothing of it runs"):
        page = journey.open("/")
        stage = Stage(page)
        # NUL and carriage returns cannot be typed into a box; a file may contain them.
        open_file(page, "hostile.txt", HOSTILE.encode())
        stage.await_text(HOSTILE)
        drawn = "".join(STAND_INS.get(sign, sign) for sign in HOSTILE)
        assert drawn_text(stage.text) == drawn
        piece_at(stage.text, 3).hover()
        expect(stage.card).to_contain_text("script")
        piece_at(stage.text, 3).click()
        expect(stage.made).to_contain_text("script")
        page.keyboard.press("Escape")
        go_to(page, "Compare")
        rows = Rows(page)
        rows.await_text("GPT-2", "<script>")
        assert drawn_text(rows.row("GPT-2")) == drawn
        assert page.locator("script:has-text('hacked'), img[src=x]").count() == 0
        assert page.evaluate("window.hacked") is None
        go_to(page, "Train")
    with journey.step("Files that are not UTF-8 are refused by name, and the text remains"):
        open_file(page, "marked.txt", "¡hola, hola! naïve\r\ncafé café\n".encode("utf-8-sig"))
        stage.await_text("¡hola, hola! naïve\r\ncafé café\n")
        for name, content, reason in (
            ("old.txt", "café".encode("latin-1"), "byte 4 is E9"),
            ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "byte 1 is 89"),
        ):
            open_file(page, name, content)
            expect(alert(page, reason)).to_contain_text(name)
        expect(text_box(page)).to_have_value("¡hola, hola! naïve\ncafé café\n")
        open_file(page, "good.txt", b"good good goods")
        stage.await_text("good good goods")
        expect(alert(page, "is not a text")).to_have_count(0)
    with journey.step("Pasted halves of characters are replaced, and the text comes back"):
        put(text_box(page), '"a \\ud800 a a"')
        stage.await_text("a \ufffd a a")
        choose(page, "Text", "English prose")
        stage.await_text(ENGLISH)
        choose(page, "Text", "Your own text")
        expect(text_box(page)).to_have_value("a \ufffd a a")
        stage.await_text("a \ufffd a a")
    with journey.step("Texts without merges have no dead keys, and an empty one says so"):
        for text in ("aa aa", ""):
            type_text(page, text)
            _, boundaries = stage.await_text(text)
            for key in ("Home", " ", "ArrowRight", ".", "Enter", "Escape"):
                stage.section.press(key)
            expect(stage.tokens).to_have_text(str(boundaries.token_counts[-1]))
        expect(stage.text).to_contain_text("There is no text yet")
        go_to(page, "Compare")
        expect(page.get_by_role("heading", name="There is no text yet")).to_be_visible()
        type_text(page, " \n\t \n")
        expect(page.get_by_role("heading", name="GPT-2").first).to_be_visible()
        go_to(page, "Train")
    with journey.step("A text without merges of its own leads to those of many languages"):
        type_text(page, "hello world")
        button(page, "34 languages").click()
        expect(stage.tokens).to_have_text("8")
        expect(stage.section).to_contain_text("153 times in the training text")
    with journey.step("A long text opens at its beginning; a press on its overview moves it"):
        page.goto(journey.server.address + "/")
        text = "".join(f"{i} plain line of letters\n" for i in range(400))
        type_text(page, text)
        training, boundaries = stage.await_text(text)
        assert stage.text.evaluate("text => text.scrollTop") == 0
        assert stage.text.locator(".block").count() < 30
        names = [training.name(merge.new_id) for merge in training.merges]
        step = names.index("39") + 1 if "39" in names else len(names)
        stage.go(step)
        await_equal(lambda: in_view(stage), True)
        assert drawn_boundaries(stage.text) == boundaries.boundary_mask(step).sum()
        overview = stage.section.locator(".overview svg")
        marks = overview.locator(".places").get_attribute("d") or ""
        assert marks.count("M") == (boundaries.merged_at == step - 1).sum()
        overview = at_rest(overview)
        page.mouse.click(overview["x"] + 5, overview["y"] + 2)
        await_equal(lambda: stage.text.evaluate("text => text.scrollTop < 100"), True)
        ends = stage.text.evaluate(SELECT)
        assert copied(page) == text[slice(*ends)]
        page.evaluate("getSelection().empty()")
        assert page.evaluate("find('399')")
    with journey.step("A text of several parts is paged"):
        text = ENGLISH * 15
        type_text(page, text)
        _, boundaries = stage.await_text(text)
        first, second = parts_of(text, boundaries)
        expect(page.get_by_text(f"Characters 1 to {first.last:,} of")).to_be_visible()
        stage.go(40)
        await_rest(page)
        number = page.get_by_role("spinbutton", name=re.compile("1 to 2$"))
        number.fill("2")
        number.press("Enter")
        expect(page.get_by_text(f"Characters {second.first + 1:,} to")).to_be_visible()
        stage.await_step(40)
        drawn = boundaries.boundary_mask(40)[second.start : second.end].sum()
        await_equal(lambda: drawn_boundaries(stage.text), drawn)


def in_view(stage: Stage) -> bool:
    """Return whether one of the tokens of the step is in view."""
    seen: bool = stage.text.evaluate(
        """text => {
          const { top, bottom } = text.getBoundingClientRect();
          const isSeen = box => box.top >= top - 2 && box.bottom <= bottom + 2;
          return [...text.querySelectorAll(".c.first")].some(c =>
            isSeen(c.getBoundingClientRect()));
        }"""
    )
    return seen


def test_reload_loses_nothing(journey: Journey) -> None:
    short = "banana bandana banana ananas"
    with journey.step("A reload in the middle of typing keeps the text"):
        page = journey.open("/")
        stage = Stage(page)
        text_box(page).fill(short)
        page.reload()
        expect(text_box(page)).to_have_value(short)
        stage.await_text(short)
    with journey.step("A reload keeps the text, the settings and the step, and shows no others"):
        with menu(page, "More"):
            set_number(page, "Largest vocabulary", 259)
        expect(stage.last).to_have_text("3")
        stage.go(2)
        await_rest(page)  # the browser has stored it
        journey.add_script(page, f"({SIZES})()")
        page.reload()
        stage.await_step(2)
        expect(stage.last).to_have_text("3")
        expect(text_box(page)).to_have_value(short)
        assert {*page.evaluate("[...sizes]")} <= {"259"}
        assert "reload" not in page.url
    with journey.step("So does a reload of another page"):
        go_to(page, "Algorithms")
        expect(text_box(page)).to_have_value(short)
        page.reload()
        expect(text_box(page)).to_have_value(short)
        go_to(page, "Train")
        stage.await_step(2)
    with journey.step("A duplicated tab has a state of its own"):
        with page.expect_popup() as opened:  # it has a copy of the session storage
            page.evaluate("window.open(location.href)")
        copy = opened.value
        type_text(copy, "hug pug hug pug")
        Stage(copy).await_text("hug pug hug pug")
        await_rest(copy)
        for tab, text in ((page, short), (copy, "hug pug hug pug")):
            tab.reload()
            expect(text_box(tab)).to_have_value(text)
    with journey.step("The state of a closed tab is deleted some days later"):
        tabs = lambda: {key.split("/")[0] for key in page.evaluate(ALL_KEYS)}  # noqa: E731
        await_equal(lambda: len(tabs()), 2)
        name = copy.evaluate("Object.values(sessionStorage).join()")
        (closed,) = [tab for tab in tabs() if tab in name]
        copy.close(run_before_unload=True)
        left = f"bpeviz-left-{closed}"
        await_equal(lambda: page.evaluate("left => left in localStorage", left), True)
        page.evaluate("left => localStorage.setItem(left, '1')", left)
        page.clock.install()
        page.reload()
        expect(stage.last).to_be_visible()
        page.clock.run_for(6_000)
        await_equal(lambda: closed in tabs(), False)
