"""The merges of a tokenizer trained on much more text, for a text without merges of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import bpeviz
from bpeviz import limits
from bpeviz.analysis.hues import key_of
from bpeviz.corpus.documents import Documents
from bpeviz.pretrained import download
from bpeviz.text import counted
from bpeviz.trainers import texts_of
from bpeviz.ui import page_trainings
from bpeviz.ui.downloads import ready
from bpeviz.ui.inputs.token_count import NAME, TITLE
from bpeviz.ui.inputs.training import TrainingChoice, on_languages
from bpeviz.ui.page_trainings import Trained, TrainingError
from bpeviz.ui.runtime.cache import cached
from bpeviz.views import encoded
from bpeviz.views.stage import Row, Stage, names_in, of_pieces

Get = Callable[[str | Documents, TrainingChoice], Trained]

STEPPED_CHARACTERS = 240
"""The most characters of a text whose merges have steps; of a longer one there are only tokens."""


def stage_of(trained: Trained, get: Get = page_trainings.get) -> Stage | None:
    """Return a text without merges of its own under GPT-4o, if that has any.

    Without the file of GPT-4o, the stage shows a training on many languages. The file is only
    downloaded on request.

    Args:
        trained: The training on the text.
        get: Returns a training.
    """
    history, text = trained.history, trained.text
    is_own = trained.trained_on is None and len(text) <= limits.INSPECTED
    if not is_own or history.steps or history.stopped == "full" or len(text.encode()) < 2:
        return None
    if download.available(NAME):
        return _published(text)
    try:
        other = get(text, on_languages(trained.choice))
    except TrainingError:
        return None
    if not len(other.boundaries.change_steps):
        return None
    unit = texts_of(other.history).unit
    return _stage(other.first, f"A tokenizer trained here on {other.trained_on}", unit)


def draw_download() -> None:
    """Draw the progress of a download of GPT-4o that was requested."""
    if not download.available(NAME) and download.progress(NAME).state != "missing":
        ready([NAME])


@cached()
def _published(text: str) -> Stage | None:
    """Return the stage of GPT-4o; do not change it, it is cached."""
    tokenizer = bpeviz.load(NAME)
    if len(text) <= STEPPED_CHARACTERS:
        row = encoded.of_encoding(text, tokenizer)
        return _stage(row, TITLE, "merge") if row.steps else None
    tokens = [*tokenizer.tokens(text)]
    styles = {token.id: (token.label, key_of(tokenizer, token.id)) for token in tokens}
    pieces = [(token.id, len(token.raw)) for token in tokens]
    return _stage(of_pieces(text, "", pieces, names_in(styles), tokenizer), TITLE, "merge")


def _stage(row: Row, name: str, unit: str) -> Stage:
    """Return the stage of a row. Its head has the name and the figures."""
    counts = row.boundaries.token_counts
    changing_steps = len(row.boundaries.change_steps)
    rule = f"{counted(int(counts[-1]), 'token')} in this text"
    if changing_steps:
        rule += f", after {changing_steps:,} of its {counted(row.tokenizer.steps, unit)}"
    words = row.words._replace(algorithm=name, rule=rule)
    stage = Stage([replace(row, words=words, column=replace(row.column, title=name))])
    return replace(stage, timelines=[stage.rows[0].timeline(stage.hues)])
