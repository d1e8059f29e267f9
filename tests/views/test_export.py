"""A colored text to export: its part of the text, and its last line."""

from __future__ import annotations

import pytest

import bpeviz
from bpeviz.analysis.metrics import Column
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.views import export, playable
from bpeviz.views.credit import credit
from bpeviz.views.parts import part_of
from bpeviz.views.stage import of_columns

TRAINED = bpeviz.train("low lower lowest, the newest 世界 ", vocab_size=280)


def column(tokenizer: Tokenizer, text: str, title: str = "A title") -> Column:
    return Column(title, tokenizer, tokenizer.boundaries(text), tokenizer.steps)


def test_colored_text_is_limited_and_names_its_part() -> None:
    text = "low lower 世界 " * 3_000
    stage = of_columns([column(TRAINED.tokenizer(), text)], text)
    drawing = export.colored("T", stage.showing(part_of(text, 3, 9)))
    assert drawing.score["text"] == text[3:9]
    assert playable.of_score(drawing).settings[1] == "Characters 4 to 9 are shown"
    drawing = export.colored("T", stage.showing(part_of(text, 5, len(text))))
    content = drawing.score["text"]
    assert export.HELD - 4 < len(content.encode()) <= export.HELD
    assert text[5:].startswith(content)


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
    assert (f'<a href="{address}"' in credit(address)) == is_public
