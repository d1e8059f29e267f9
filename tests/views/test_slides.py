"""The payload of slides has all that the browser draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helpers import usual

import bpeviz
from bpeviz.analysis.figures import measure
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Part
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.corpus.documents import Documents
from bpeviz.views import playable, tables
from bpeviz.views.credit import MADE_WITH
from bpeviz.views.export import colored
from bpeviz.views.slides import DIAGRAM, POSTER, TABLE, TEXT, Slides, of_diagram, of_score, of_stage
from bpeviz.views.stage import Stage, of_columns, of_training

ENGLISH = samples.by_key("english-prose").text


def slides_of(training: Training, text: str, **options: Any) -> Slides:
    boundaries = training.tokenizer().boundaries(text)
    return of_stage("A title", Stage([of_training(training, text, boundaries)]), **options)


def columns_of(text: str, names: Sequence[str]) -> Slides:
    training = bpeviz.train(text, vocab_size=270)
    found = training.tokenizer().boundaries(text)
    columns = [Column(name, training.tokenizer(), found, training.steps) for name in names]
    measured = tables.metrics(measure(text, columns, 0))
    return of_score(names[0], colored("T", of_columns(columns, text)), measured)


def test_merge_diagram_shows_the_words_that_are_drawn_on_the_page() -> None:
    text = f"世界 {ENGLISH}"
    training = usual.train("bpe", text)
    at = text.index("lighthouse")
    for drawn, characters in (
        ((at, at + 10), (at, at + 10)),
        ((at, len(text) + 1), (0, 59)),
        (None, (0, 59)),
    ):
        diagram = slides_of(training, text, drawn=drawn).payload(DIAGRAM, "")["diagram"]
        first, last = diagram["characters"]
        assert (first, last) == characters or (not characters[0] and 0 == first < 50 < last <= 60)
        assert next(sign for *_, sign, _ in diagram["signs"]) == ("l" if first else "世")


def test_poster_has_few_characters_and_the_steps_of_its_diagram() -> None:
    data = slides_of(usual.train("bpe", ENGLISH), ENGLISH).payload(POSTER, "")
    assert 20 < data["diagram"]["characters"][1] <= 40
    slides = of_diagram(data["diagram"])
    assert [*slides.contents] == [POSTER]
    assert slides.step_numbers[-1] == data["diagram"]["sides"][0]["stepCount"]
    assert slides.payload(POSTER, "")["diagram"]["sides"] == data["diagram"]["sides"]


def test_slide_names_settings_and_links_to_its_page() -> None:
    slides = slides_of(usual.train("bpe", "low low"), "low low", settings=["one", "two"])
    for content in slides.contents:
        data = slides.payload(content, "https://host.example/?s=1&t=2")
        assert data["settings"] == "one · two"
        assert data["credit"]["words"] == MADE_WITH
        assert data["credit"]["link"] == "https://host.example/?s=1&t=2"


def test_characters_of_slides_are_those_of_rows() -> None:
    rows = Documents.of(["low", "lower", "é new"] * 2_000)
    training = bpeviz.train(rows.texts, merges=4)
    row = of_training(training, rows, training.boundaries(rows), Part(6, 26, 6, 25))
    stage, total = Stage([row]), 2_000 * len("lowloweré new")
    for content in (TEXT, POSTER):
        assert of_stage("rows", stage).payload(content, "")["characters"] == (5, total)
    assert of_stage("rows", stage).payload(POSTER, "")["diagram"]["characters"][0] == 5
    picture = colored("rows", stage)
    assert picture.payload()["about"][-1] == f"Characters 6 to 21 of {total:,}."
    slide = of_score("rows", picture, tables.metrics([])).payload(TEXT, "")
    assert slide["characters"] == (5, total)
    assert "Characters 6 to 21 are shown" in playable.html(playable.of_score(picture))


def test_slides_of_columns_have_their_metrics_without_meanings() -> None:
    slides = columns_of("low lower", ["a", "b"])
    table = slides.payload(TABLE, "")["table"]
    assert "meaning" not in table["names"]
    assert {len(row) for row in table["rows"]} == {len(table["names"])}
    assert len(slides.payload(TEXT, "")["score"]["rows"]) == 2
