"""The drawing of a colored text: its columns, their part of the text, and the legend of marks."""

from __future__ import annotations

import pytest

import bpeviz
from bpeviz.analysis.metrics import Column
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.views import export, playable
from bpeviz.views.credit import MADE_WITH, credit, parts
from bpeviz.views.parts import part_of
from bpeviz.views.stage import of_columns

TRAINED = bpeviz.train("low lower lowest, the newest 世界 ", vocab_size=280)


def column(tokenizer: Tokenizer, text: str, title: str = "A title") -> Column:
    return Column(title, tokenizer, tokenizer.boundaries(text), tokenizer.steps)


def notes(*columns: Column, text: str) -> list[str]:
    """Return how the notes of a drawing begin."""
    drawing = export.colored("T", of_columns(columns, text))
    return [" ".join(words.split()[:3]) for words in drawing.notes]


def test_notes_explain_only_the_marks_that_occur() -> None:
    text = "the lowest lamp"
    trained = column(TRAINED.tokenizer(), text)
    assert notes(trained, text=text) == []
    assert notes(column(TRAINED.tokenizer(), "世"), text="世") == ["The strip below"]


def test_notes_explain_unknown_and_omitted_text() -> None:
    text = "low 世 lower"
    tokenizer = bpeviz.train("low lower lowest", "wordpiece", vocab_size=20).tokenizer()
    assert notes(column(tokenizer, text), text=text) == [
        *("The strip below", "A wavy underline", "Pale text is")
    ]


def test_drawing_limits_long_texts_and_names_the_part() -> None:
    text = "low lower 世界 " * 3_000
    stage = of_columns([column(TRAINED.tokenizer(), text)], text)
    drawing = export.colored("T", stage.showing(part_of(text, 3, 9)))
    assert drawing.score["text"] == text[3:9]
    assert drawing.payload()["about"] == [f"Characters 4 to 9 of {len(text):,}."]
    drawing = export.colored("T", stage.showing(part_of(text, 5, len(text))))
    content = drawing.score["text"]
    assert export.HELD - 4 < len(content.encode()) <= export.HELD
    assert text[5:].startswith(content)
    assert drawing.payload()["about"] == [f"Characters 6 to {5 + len(content):,} of {len(text):,}."]


def test_drawing_and_file_name_the_version() -> None:
    text = "low lower"
    picture = export.colored("A title", of_columns([column(TRAINED.tokenizer(), text)], text))
    assert picture.payload("https://host")["credit"]["words"] == MADE_WITH
    page = playable.html(playable.of_score(picture))
    assert "<h1>A title</h1>" in page
    assert MADE_WITH in page


@pytest.mark.parametrize(
    ("host", "is_public"),
    [
        *((host, False) for host in ("localhost:8501", "127.0.0.1", "[::1]:8501", "192.168.1.7")),
        *((host, False) for host in ("10.0.0.4:8501", "[fe80::1]", "teacher", "teacher.local")),
        *((host, True) for host in ("bpeviz.example", "93.184.215.14:8501", "a.b:80/x")),
    ],
)
def test_files_link_only_to_addresses_that_others_can_open(host: str, is_public: bool) -> None:
    address = f"http://{host}/?s=1"
    assert parts(address)["link"] == (address if is_public else "")
    assert ("<a href" in credit(address)) == is_public
