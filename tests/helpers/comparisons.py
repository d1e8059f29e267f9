"""A comparison of two tokenizers, as a file shows it."""

from __future__ import annotations

import bpeviz
from bpeviz.analysis import metrics
from bpeviz.analysis.figures import measure
from bpeviz.analysis.metrics import Column
from bpeviz.views import playable, tables
from bpeviz.views.export import ColoredText
from bpeviz.views.parts import parts as parts_of
from bpeviz.views.stage import of_columns


def columns_of(text: str) -> list[Column]:
    """Return the columns of a text, one of them with the text as its title."""
    tokenizers = bpeviz.load("gpt2"), bpeviz.train(text, vocab_size=270).tokenizer()
    return [
        Column(title, one, one.boundaries(text), one.steps)
        for title, one in zip(("GPT-2", text), tokenizers, strict=True)
    ]


def comparison(text: str) -> playable.Interactive:
    """Return the file of the columns of a text."""
    columns = columns_of(text)
    part = parts_of(text, metrics.common_boundaries(columns))[0]
    payload = of_columns(columns, text).showing(part).score() | {"verdict": text}
    measured = tables.metrics(measure(text, columns, 0))
    return playable.of_score(ColoredText("Score", text, part, payload), measured)
