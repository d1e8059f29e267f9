"""Algorithms and Pre-tokenize: one text in rows, under trainers and under pre-tokenizations."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from helpers import usual
from journeys.journey import Journey
from journeys.people import (
    PARAGRAPH,
    LockStep,
    Page,
    Rows,
    alert,
    await_equal,
    button,
    choose,
    expect,
    go_to,
    link,
    menu,
    text_box,
    type_text,
)

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.views.stage import steps_at

THREE = ("bpe", "wordpiece", "unigram")
YAO_MING = "姚明进入总决赛"

STAVES = """all => all.map(line => [...line.querySelectorAll(".staff")].map(staff => {
  const signs = document.createRange();
  signs.selectNodeContents(staff);
  const { left, right } = signs.getBoundingClientRect();
  const words = staff.textContent.replaceAll("</w>", "");
  return [words, Math.round(left), Math.round(right)].join();
}))"""
"""Returns the signs of the rows of each line, and where they begin and end."""

BELOW = """text => {
  const end = element => element.getBoundingClientRect().bottom;
  const ends = [...text.querySelectorAll(".line")].map(end);
  return end(text) - Math.max(...ends.filter(bottom => bottom <= end(text)));
}"""
"""Returns how much of the stage is empty below its last whole line."""


def train(key: str, **options: str) -> tuple[str, Training, Boundaries]:
    """Return a trainer's title, and its training of the paragraph with the page's options."""
    training = usual.train(key, PARAGRAPH, **usual.ON_ALGORITHMS | options)
    return TRAINERS[key].short, training, training.tokenizer().boundaries(PARAGRAPH)


def assert_rows(player: LockStep, trainings: list[Any], size: int) -> None:
    """Assert that each row shows its trainer at this size, letters below the same letters."""
    for title, training, boundaries in trainings:
        step = int(steps_at(training.sizes, size, size)[0])
        player.assert_row(title, boundaries, step)
    lines = player.text.locator(".line").evaluate_all(STAVES)
    assert lines
    for staves in lines:
        assert len(staves) == len(trainings)
        assert len({*staves}) == 1, staves


def opening_of(page: Page) -> int:
    """Return the size at which the page opens, once it is drawn; `tests/ui` tests which it is."""
    page.get_by_text(re.compile("^With [0-9]+ entries")).wait_for()
    return LockStep(page).size


def test_algorithms_in_lock_step(journey: Journey) -> None:
    with journey.step("Three algorithms are trained on one text, and stand in rows"):
        page = journey.open(link(PARAGRAPH, "/Algorithms", random_open=True))
        player = LockStep(page)
        trainings = [train(key) for key in THREE]
        bpe = trainings[0][1]
        low = int(min(training.sizes.min() for _, training, _ in trainings))
        high = int(max(training.sizes.max() for _, training, _ in trainings))
        opening = opening_of(page)
        expect(player.last).to_have_text(f"{high:,}")
        assert_rows(player, trainings, opening)
        expect(player.decision("Unigram")).to_contain_text(f"{opening} pieces left. Last removed")
        expect(player.decision("WordPiece")).to_contain_text("tokens, spaces left out")
    with journey.step("A word is sampled: its segmentations by BPE"):
        word = text_box(page, "Word (")
        expect(word).to_have_value(" lighthouse")
        samples = page.get_by_text(re.compile("different segmentations? in 1,000 samples"))
        step = int(steps_at(bpe.sizes, opening, opening)[0])
        word.fill(" keeper")
        word.press("Enter")
        seen = bpe.segmentations(step, " keeper", 0.1, 1_000, 0)
        average = sum(len(ids) * times for ids, times in seen.items()) / 1_000
        count = f"{len(seen)} different segmentations in 1,000 samples"
        expect(samples).to_contain_text(f"{count}, {average:.2f} tokens on average")
        page.get_by_role("slider", name=texts_of(bpe).randomness.strength).press("Home")
        tokens = len(bpe.at_step(step).encode(" keeper"))
        words = f"1 different segmentation in 1,000 samples, {tokens:.2f} tokens"
        expect(samples).to_contain_text(words)
    with journey.step("All rows follow the size, to the first and the last, and play"):
        for size in (high, low):
            player.go(size)
            assert_rows(player, trainings, size)
        for title, training, _ in trainings:
            if (smallest := training.sizes.min()) > low:
                expect(player.decision(title)).to_contain_text(f"vocabulary {smallest:,}")
        expect(samples).to_contain_text("in 1,000 samples, 7.00 tokens")
        player.button("Play").click()
        expect(player.track).to_have_value(re.compile("[1-9]"))
        player.button("Pause").click()
        size = player.size
        player.button("Step forward").click()
        expect(player.number).to_have_value(str(size + 1))
        assert_rows(player, trainings, size + 1)
        expect(alert(page, "")).to_have_count(0)
    with journey.step("The track has a line and a name for each"):
        names = player.section.locator(".course .ends span")
        places = names.evaluate_all(
            "all => all.map(name => [name.getBoundingClientRect().top, name.textContent])"
        )
        assert {name for _, name in places} == {TRAINERS[key].short for key in THREE}
        tops = sorted(top for top, _ in places)
        assert all(below - top >= 14 for top, below in pairwise(tops))
    with journey.step("Pointing at a token shows the same characters in all rows"):
        player.go(opening)
        player.point_at("BPE", PARAGRAPH.index("river") + 1)
        expect(player.card).to_contain_text("id ")
        lit = [player.row(TRAINERS[key].short).locator(".c.lit") for key in THREE]
        words = ["".join(pieces.all_text_contents()).strip("\u00a0") for pieces in lit]
        assert words[0]
        assert all(words[0] in others for others in words)
        page.mouse.move(0, 0)
        expect(player.text.locator(".lit")).to_have_count(0)
    with journey.step("A fourth algorithm is added, and an option changes its row alone"):
        with menu(page, "+ add") as names:
            names.get_by_role("button", name="SentencePiece BPE ·").click()
        trainings.append(train("sentencepiece"))
        expect(player.decisions).to_have_count(4)
        opening = opening_of(page)
        assert_rows(player, trainings, opening)
        assert player.text.evaluate(BELOW) < 60
        player.go(low + 5)
        with menu(page, "BPE") as options:
            expect(options.get_by_role("combobox", name="Start from")).to_be_visible()
            choose(page, "Start from", "Bytes")
        trainings[0] = train("bpe", atoms="bytes")
        expect(player.number).not_to_have_value(str(low + 5))
        assert_rows(player, trainings, opening_of(page))
    with journey.step("Far lines have the height that they have once drawn"):
        type_text(page, "\n".join(f"{i}. She sells seashells by the seashore." for i in range(60)))
        blocks = player.text.locator(".block")
        expect(blocks.nth(4)).to_be_attached()
        heights = "all => all.every(block => `${block.offsetHeight}px` === block.style.height)"
        await_equal(lambda: blocks.evaluate_all(heights), True)
    with journey.step("A text that no algorithm changes has no controls"):
        page.goto(journey.server.address + link("strawberry", "/Algorithms"))
        unchanged = "None of these algorithms changes this text."
        expect(player.section.get_by_text(unchanged)).to_be_visible()
        expect(player.button("Play")).to_be_hidden()
        expect(player.track).to_be_hidden()
    with journey.step("Where one fails, a message names it, and the steps of the other play"):
        some = {"algorithms": ["sentencepiece", "bpe"], "largest": 256}
        page.goto(journey.server.address + link("banana bandana", "/Algorithms", **some))
        expect(alert(page, "SentencePiece BPE: The vocabulary size must be")).to_be_visible()
        player.button("Play").click()


def add_split(page: Page, title: str) -> None:
    """Add a pre-tokenization, whose menu then closes."""
    with menu(page, "+ add") as names:
        button(names, title).click()


def test_pre_tokenizations_side_by_side(journey: Journey) -> None:
    titles = ["White space", "Words", "GPT-2", "GPT-4"]
    with journey.step("The text is split as Python splits it"):
        page = journey.open(link(PARAGRAPH, "/Pre-tokenize"))
        rows = Rows(page, "The text in each pre-tokenization")
        for key, title in zip(("whitespace", "words", "gpt2", "cl100k"), titles, strict=True):
            rows.await_text(title, "river")
            assert rows.pieces(title) == pretokenize(PARAGRAPH, key)
            rows.await_count(title, f"{len(rows.pieces(title))} pre-tokens")
    with journey.step("Pointing at a pre-token shows its span, and which rule made it"):
        spans = dict(zip(titles, (" lighthouse,", *[" lighthouse"] * 3), strict=True))
        rows.await_highlighted("GPT-2", PARAGRAPH.index(" lighthouse") + 3, spans)
        for words in (
            "11 characters, 11 bytes; ",
            "alternative 1: A run of characters that are not",
        ):
            expect(rows.card).to_contain_text(words)
        page.get_by_role("heading", level=1).hover()
        expect(rows.card).to_be_hidden()
    with journey.step("A row is added, and one is removed"):
        add_split(page, "NLTK's book")
        rows.await_text("NLTK's book", "river")
        assert rows.pieces("NLTK's book") == pretokenize(PARAGRAPH, "nltk")
        page.locator(".st-key-drop_splits_gpt2").get_by_role("button").click()
        expect(rows.row("GPT-2")).to_have_count(0)
    with journey.step("An expression is used as typed; an invalid one leaves the other rows"):
        add_split(page, "Regular expression")
        with menu(page, "Regular expression") as own:
            box = own.get_by_role("textbox")
            for typed in ("[a-z", "[a-z]+"):
                box.fill(typed)
                box.press("Enter")
                if typed == "[a-z":
                    expect(alert(page, "This is not a regular expression")).to_be_visible()
                    expect(rows.row("Regular expression")).to_have_count(0)
        rows.await_text("Regular expression", "river")
        assert rows.pieces("Regular expression") == pretokenize(PARAGRAPH, "regex", "[a-z]+")
    with journey.step("Two word lists; the text and the lists stay from page to page"):
        choose(page, "Text", YAO_MING)
        rows.await_text("Word list A", "总")
        assert rows.pieces("Word list A") == ["姚明", "进入", "总决赛"]
        with menu(page, "Word list A") as own:
            own.get_by_role("textbox").fill("姚明进入 总决赛")
            own.get_by_role("textbox").press("Control+Enter")
            rows.await_count("Word list A", "2 pre-tokens")
        go_to(page, "Train")
        expect(text_box(page)).to_have_value(YAO_MING)
        go_to(page, "Pre-tokenize")
        rows.await_count("Word list A", "2 pre-tokens")
