"""Slides are valid SVG of any text, and show the tokens of their step."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace

import pytest
from helpers import usual
from helpers.difficult import DIFFICULT

import bpeviz
from bpeviz.analysis.figures import measure
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Part
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.text import clean
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.views import player, tables
from bpeviz.views.credit import MADE_WITH
from bpeviz.views.export import ColoredText
from bpeviz.views.slide_drawing import HEIGHT, WIDTH, Look, frames, svg
from bpeviz.views.slides import DIAGRAM, TABLE, TEXT, ColumnSlides, Slides, StepSlides

SVG = "{http://www.w3.org/2000/svg}"
ENGLISH = samples.by_key("english-prose").text
MARKUP = "</text><script>alert(1)</script> ]]> &lt; \u202e <img src=x onerror=1> \x00\x1b"


def slides_of(training: Training, text: str, title: str = "A title") -> StepSlides:
    boundaries = training.tokenizer().boundaries(text)
    part = player.parts(text, boundaries)[0]
    payload = player.payload(player.timeline(text, training, boundaries, part, training.steps))
    shown = boundaries.slice(part.start, part.end)
    return StepSlides(title, payload, [shown], texts_of(training).unit)


def in_lock_step(text: str, keys: Sequence[str]) -> StepSlides:
    trained = [(key, usual.train(key, text)) for key in keys]
    boundaries = [one.tokenizer().boundaries(text) for _, one in trained]
    timelines = [
        (key, player.timeline(text, one, found, Part(0, len(found), 0, len(text)), one.steps), one)
        for (key, one), found in zip(trained, boundaries, strict=True)
    ]
    return StepSlides("Several", player.lock_step(timelines), boundaries, "step")


def columns_of(text: str, names: Sequence[str]) -> ColumnSlides:
    training = bpeviz.train(text, vocab_size=270)
    found = training.tokenizer().boundaries(text)
    columns = [Column(name, training.tokenizer(), found, training.steps) for name in names]
    measured = tables.metrics(measure(text, columns, 0))
    return ColumnSlides(names[0], ColoredText(text, columns, "T"), measured)


def ends_drawn(root: ET.Element) -> int:
    paths = [one.get("d") or "" for one in root.iter(f"{SVG}path") if one.get("class") == "b"]
    return sum(len(re.findall(r"M[\d.]+ \d+V\d+(?=M|$)", path)) for path in paths)


def words(drawing: str) -> str:
    return " ".join("".join(one.itertext()) for one in ET.fromstring(drawing).iter(f"{SVG}text"))


def check(slides: Slides, step: int) -> None:
    for content in slides.contents:
        for is_dark in (False, True):
            made = svg(slides, step, Look(content, is_dark, is_filled=is_dark))
            root = ET.fromstring(made)
            assert (root.get("width"), root.get("height")) == (str(WIDTH), str(HEIGHT))
            kinds = {one.tag.removeprefix(SVG) for one in root.iter()}
            assert kinds <= {"svg", "title", "style", "g", "rect", "text", "path", "line"}
            names = {name for one in root.iter() for name in one.attrib}
            assert not any(name.startswith("on") or "href" in name for name in names)
            assert "\u202e" not in made
            assert MADE_WITH in words(made)
            papers = [one for one in root.findall(f"{SVG}rect") if one.get("height") == str(HEIGHT)]
            assert len(papers) == is_dark


@pytest.mark.slow
def test_slides_of_any_text_are_valid_and_contain_no_markup() -> None:
    for text in (*DIFFICULT, MARKUP, "\ud800", "a\x00b\ufffe\uffff\u2028\x85"):
        slides = slides_of(bpeviz.train(clean(text), vocab_size=262), clean(text), MARKUP)
        check(slides, slides.last)


@pytest.mark.slow
@pytest.mark.parametrize("key", TRAINERS)
def test_slides_of_every_algorithm_are_valid_at_any_step(key: str) -> None:
    slides = slides_of(usual.train(key, ENGLISH + MARKUP), ENGLISH + MARKUP)
    for step in {0, slides.last // 2, slides.last}:
        check(slides, step)


def test_slides_of_several_tokenizers_are_valid_and_say_which_are_left_out() -> None:
    slides = in_lock_step(ENGLISH[:300] + MARKUP, ["bpe", "wordpiece", "unigram"])
    for step in (0, slides.last):
        check(slides, step)
    assert "2 of 3 tokenizers are shown." in words(svg(slides, 0, Look(DIAGRAM)))
    others = columns_of(f"low lower {MARKUP}", [MARKUP, *"abcde"])
    check(others, 0)
    assert "4 of 6 columns are shown." in words(svg(others, 0, Look(TEXT)))


def test_text_shows_each_boundary_of_the_step_and_outlines_its_tokens() -> None:
    text = "She sells seashells by the seashore, for sure she sells 世界."
    training = bpeviz.train(text, merges=12)
    boundaries = training.tokenizer().boundaries(text)
    slides = slides_of(training, text)
    for step in range(training.steps + 1):
        root = ET.fromstring(svg(slides, step, Look(TEXT)))
        assert ends_drawn(root) == len(boundaries.token_ends(step))
        rings = "".join(
            one.get("d") or "" for one in root.iter(f"{SVG}path") if one.get("class") == "new"
        )
        assert bool(rings) == (step > 0)
        assert f"{len(boundaries.token_ends(step))} tokens" in words(svg(slides, step, Look(TEXT)))


def test_long_text_is_cut_and_the_slide_says_where() -> None:
    text = ENGLISH * 9
    slides = slides_of(bpeviz.train(text, vocab_size=300), text)
    drawing = svg(slides, slides.last, Look(TEXT))
    last = re.search(r"Characters 1 to ([\d,]+) of ([\d,]+) are shown", words(drawing))
    assert last is not None
    count, total = (int(one.replace(",", "")) for one in last.groups())
    assert total == len(text)
    letters = "".join(
        "".join(one.itertext())
        for one in ET.fromstring(drawing).iter(f"{SVG}text")
        if one.get("class") in (None, "q") and one.get("style") is None
    )
    assert len(letters) == count > 1_000
    assert "are shown" not in words(svg(slides_of(usual.train("bpe", "low"), "low"), 0, Look()))


def test_table_ends_with_the_step_and_says_how_many_rows_it_has() -> None:
    training = bpeviz.train(ENGLISH, vocab_size=300)
    slides = slides_of(training, ENGLISH)
    shown = words(svg(slides, 30, Look(TABLE)))
    assert f" {training.merges[29].count:,} " in shown
    rows = re.search(r"(\d+) of 30 merges are shown", shown)
    assert rows is not None
    assert f" {30 - int(rows[1]) + 1} " in shown
    assert "Before the first merge" in words(svg(slides, 0, Look(TABLE)))


def test_merge_diagram_outlines_the_tokens_of_the_step() -> None:
    text = "low lower lowest"
    training = bpeviz.train(text, merges=4)
    boundaries = training.tokenizer().boundaries(text)
    slides = slides_of(training, text)
    for step in range(training.steps + 1):
        root = ET.fromstring(svg(slides, step, Look(DIAGRAM)))
        outlined = [one for one in root.iter(f"{SVG}rect") if one.get("stroke-width") == "3"]
        assert len(outlined) == len(boundaries.token_ends(step))


def test_merge_diagram_shows_the_words_that_are_drawn_on_the_page() -> None:
    text = f"世界 {ENGLISH}"
    slides = slides_of(usual.train("bpe", text), text)
    at = text.index("lighthouse")
    for drawn, note in (
        ((at, at + 10), f"The diagram shows characters {at + 1} to {at + 10} of {len(text):,}."),
        ((at, len(text) + 1), "The diagram shows characters 1 to 5"),
        (None, "The diagram shows characters 1 to 5"),
    ):
        shown = words(svg(replace(slides, drawn=drawn), 0, Look(DIAGRAM)))
        assert note in shown
        assert ("l i g h t h o u s e" in shown) == (drawn == (at, at + 10))


def test_slide_names_settings_and_links_to_its_page() -> None:
    slides = replace(slides_of(usual.train("bpe", "low low"), "low low"), settings=["one", "two"])
    link = "https://host/?s=1&t=2"
    for content in slides.contents:
        made = svg(slides, 0, Look(content, link=link))
        assert f"one · two {MADE_WITH} Open it again" in words(made)
        assert [one.get("href") for one in ET.fromstring(made).iter(f"{SVG}a")] == [link]


@pytest.mark.parametrize("key", ["bpe", "unigram"])
def test_text_has_the_same_place_on_all_frames(key: str) -> None:
    text = "世界你好 low lower lowest 👍🏽 世界 مرحبا مرحبا " * 3
    slides = slides_of(usual.train(key, text), text)
    steps = range(slides.last + 1)
    places = [
        {
            (one.get("x"), one.get("y"))
            for one in ET.fromstring(frame).iter(f"{SVG}text")
            if "世" in "".join(one.itertext()) and one.get("style") is None
        }
        for frame in frames(slides, steps, Look(TEXT))
    ]
    scales = {re.findall(r"scale\(([\d.]+)\)", one)[0] for one in frames(slides, steps, Look())}
    assert len(scales) == 1
    assert len(places) == slides.last + 1
    heights = {frozenset(y for _, y in each) for each in places}
    assert len(heights) == 1
