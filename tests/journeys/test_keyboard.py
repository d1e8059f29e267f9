"""Every player by keyboard alone, and what a screen reader gets."""

from __future__ import annotations

import re
from itertools import pairwise

from journeys.journey import Journey
from journeys.people import (
    FIRST,
    PARAGRAPH,
    Grid,
    LockStep,
    Rows,
    Stage,
    await_rest,
    await_run,
    button,
    choose,
    copied,
    expect,
    focused,
    go_to,
    link,
    tab_to,
    text_box,
    type_text,
)


def test_train_by_keyboard(journey: Journey) -> None:
    with journey.step("The first stop of the Tab key leads to Play"):
        # A tab of its own, where Tab begins at the start of the page.
        page = journey.open(link(PARAGRAPH), prepare=lambda page: None)
        stage = Stage(page)
        training, boundaries = stage.await_text(PARAGRAPH)
        steps = len(training.merges)
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the player")).to_be_focused()
        page.keyboard.press("Enter")
        assert focused(page) in ("Play", "Replay")
    with journey.step("Keys move the step where nothing has the focus"):
        page.evaluate("document.activeElement.blur()")
        for key, step in (
            ("Home", 0),
            ("ArrowRight", 1),
            ("ArrowRight", 2),
            ("ArrowLeft", 1),
            ("End", steps),
            ("ArrowRight", steps),
            ("Home", 0),
        ):
            page.keyboard.press(key)
            stage.await_step(step)
        page.keyboard.press(" ")
        expect(stage.button("Pause")).to_be_visible()
        page.keyboard.press(" ")
        expect(stage.button("Play")).to_be_visible()
    with journey.step("A control with the focus keeps its own keys"):
        stage.go(7)  # ends with Enter in the number field
        page.keyboard.press("ArrowRight")
        stage.await_step(8)
        stage.speed.focus()
        page.keyboard.press("End")
        stage.await_step(8)
        text_box(page).focus()
        for key in ("Home", "ArrowRight", " ", "End", "?"):
            page.keyboard.press(key)
        stage.await_step(8)
        expect(stage.button("Play")).to_be_visible()
        type_text(page, PARAGRAPH)
        await_rest(page)  # the typed signs may have been used
        stage.go(8)
    with journey.step("The space bar presses a button that Tab has reached"):
        stage.section.focus()
        assert stage.has_focus()
        tab_to(page, "Step forward")
        page.keyboard.press(" ")
        stage.await_step(9)
    with journey.step("Period and comma go from token to token, Enter opens its merges"):
        page.keyboard.press("End")
        stage.button("Last").evaluate("button => button.blur()")
        stage.section.focus()
        page.keyboard.press("End")
        stage.await_step(steps)
        ids = boundaries.ids(steps).tolist()
        for key, token in ((".", 0), (".", 1), (".", 2), (",", 1)):
            page.keyboard.press(key)
            expect(stage.card).to_contain_text(f"id {ids[token]}")
        page.keyboard.press("Enter")
        expect(stage.made).to_contain_text(training.name(ids[1]))
        page.keyboard.press("Escape")
        expect(stage.made).to_be_hidden()
        page.keyboard.press("Home")
        stage.await_step(0)
    with journey.step("Question mark lists the keys, and switches single letters off for good"):
        dialog = stage.section.locator("dialog")
        page.keyboard.press("?")
        expect(dialog).to_be_visible()
        dialog.get_by_role("checkbox").uncheck()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        page.reload()
        expect(stage.last).to_have_text(str(steps))
        for key in ("?", ".", "Home"):
            page.keyboard.press(key)
        stage.await_step(0)
        expect(dialog).to_be_hidden()
        expect(stage.card).to_be_hidden()
        stage.button("Signs and keys").click()
        expect(dialog.get_by_role("checkbox")).not_to_be_checked()
    journey.close(page)


def test_other_players_by_keyboard(journey: Journey) -> None:
    with journey.step("The blocks of a short text are reached by arrows, and tell their merge"):
        page = journey.open(link("banana bandana, banana bandana"))
        stage = Stage(page)
        stage.await_text("banana bandana, banana bandana")
        top = stage.section.locator(".merge-block.top", has_text="·bandana").first
        top.click()
        sentence = "merge 6 of 6: ·band + ana → ·bandana, id 261"
        expect(stage.card).to_have_text(sentence)
        expect(top).to_have_attribute("aria-label", sentence)
        for key, label in (("Down", "·band"), ("Right", "ana"), ("Up", "·bandana")):
            page.keyboard.press(f"Arrow{key}")
            expect(stage.section.locator(".merge-block:focus bdi")).to_have_text(label)
        stage.await_step(6)
    with journey.step("Compare tells the token of each row"):
        go_to(page, "Compare")
        rows = Rows(page)
        type_text(page, PARAGRAPH)
        for title in ("GPT-2", "GPT-4 (cl100k)", "GPT-4o (o200k)"):
            rows.await_text(title, "river")
        page.evaluate("document.activeElement.blur()")
        for key in "..,":
            page.keyboard.press(key)
        told = "GPT-2: Where. GPT-4: Where. GPT-4o: Where. Your tokenizer: W; h; er; e"
        expect(rows.frame.locator(".announced")).to_have_text(told)
        page.keyboard.press("Escape")
        expect(rows.card).to_be_hidden()
    with journey.step("Inspect moves from token to token, and looks one up"):
        go_to(page, "Inspect")
        grid = Grid(page)
        expect(grid.frame).to_be_visible()
        choose(page, "Tokenizer", "GPT-4 (cl100k)")
        type_text(page, "hello world")
        grid.await_ids([15339, 1917])
        grid.frame.get_by_role("button", name="hello, id 15339").focus()
        page.keyboard.press("ArrowRight")
        second = grid.frame.get_by_role("button", name="space world, id 1917")
        expect(second).to_be_focused()
        expect(grid.frame.get_by_role("tooltip")).to_contain_text("20 77 6F 72 6C 64")
        page.keyboard.press("Enter")
        expect(page.get_by_role("textbox", name="Token id or text")).to_have_value("1917")
        expect(page.get_by_role("heading", name="Neighbors in the vocabulary")).to_be_visible()
    with journey.step("Its merge diagram plays by the same keys"):
        grid.closer("Merge diagram")
        expect(grid.blocks).to_have_text(["hello", "·world"])
        page.locator(".st-key-diagram_player section.player").focus()
        page.keyboard.press("Home")
        expect(grid.blocks).to_have_count(0)
        page.keyboard.press("End")
        expect(grid.blocks).to_have_text(["hello", "·world"])
    with journey.step("Algorithms tells the token of each algorithm"):
        page.goto(journey.server.address + link(PARAGRAPH, "/Algorithms"))
        rows_of_all = LockStep(page)
        expect(rows_of_all.decisions).to_have_count(3)
        page.keyboard.press(".")
        said = re.compile(r"^BPE: .*, id \d+\. WordPiece: .*Unigram: ")
        expect(rows_of_all.said).to_have_text(said)
        page.keyboard.press("Home")
        rows_of_all.await_step(0)
        await_run(page)
        button(page, "+ add").press("Enter")
        first = page.get_by_role("dialog", name="+ add").get_by_role("button").first
        expect(first).to_be_visible()
        page.keyboard.press("Tab")
        expect(first).to_be_focused()


def test_screen_reader_gets_a_list_and_few_announcements(journey: Journey) -> None:
    with journey.step("The tokens are a list with their ids, spaces in words"):
        page = journey.open("/")
        stage = Stage(page)
        training, boundaries = stage.await_text(FIRST)
        last = len(training.merges)
        ids = boundaries.ids(last).tolist()
        stage.button("Step back").click()
        stage.button("Step forward").click()
        expect(stage.said).to_contain_text(f"merge {last} of {last}: ")
        expect(stage.section.locator(".token-list li")).to_have_count(len(ids))
        tokens = page.get_by_role("list", name=re.compile("^Tokens")).get_by_role("listitem")
        items = tokens.all_text_contents()
        assert [int(item.split(", id ")[1].removesuffix(", new")) for item in items] == ids
        first = training.tokenizer().token_label(ids[0])
        assert items[0].startswith(f"{first}, id {ids[0]}")
        assert any(item.startswith("space ") for item in items)
    with journey.step("The list is not part of what one copies"):
        stage.text.focus()
        stage.text.evaluate("text => getSelection().selectAllChildren(text)")
        assert copied(page) == FIRST
        page.evaluate("getSelection().selectAllChildren(document.body)")
        assert f", id {ids[0]}" not in copied(page)
        page.evaluate("getSelection().empty()")
    with journey.step("A token is announced with its id"):
        page.keyboard.press(".")
        expect(stage.said).to_contain_text(f"{first}, id {ids[0]}")
    with journey.step("While playing, only the number is announced, once a second, at rest all"):
        stage.said.evaluate(
            """announced => {
              window.said = [];
              const note = () => said.push([Date.now(), announced.textContent]);
              new MutationObserver(note).observe(announced, { childList: true });
            }"""
        )
        stage.speed.select_option("8")
        stage.button("Play").click()
        expect(stage.button("Replay")).to_be_visible()
        expect(stage.said).to_contain_text(f"merge {last} of {last}: ")
        *playing, (_, rest) = said = page.evaluate("said")
        assert playing
        assert all(re.fullmatch(rf"merge \d+ of {last}", words) for _, words in playing)
        assert f"{boundaries.token_counts[last]} tokens" in rest
        assert all(later - sooner > 900 for (sooner, _), (later, _) in pairwise(said))
    with journey.step("The characters, bytes and ids of Inspect are a table with names"):
        go_to(page, "Inspect")
        expect(button(page, "Share")).to_be_visible()
        grid = Grid(page)
        choose(page, "Tokenizer", "GPT-4 (cl100k)")
        type_text(page, "hi 👍")
        grid.await_ids([6151, 62904, 235])
        table = grid.frame.get_by_role("table").first
        expect(table.get_by_role("rowheader").first).to_have_text("characters")
        heads = {"characters", "UTF-8 bytes", "pre-tokens", "tokens", "ids"}
        assert heads <= {*table.get_by_role("rowheader").all_inner_texts()}
        expect(table.get_by_label(re.compile("1 of the 4 bytes of 👍")).first).to_be_attached()
