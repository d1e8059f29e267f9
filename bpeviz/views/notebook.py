"""HTML of notebook cells: a training that plays, tokens in color, and tables of many texts.

Each is a page in a frame of its own, isolated from the notebook and from other cells. A notebook
that does not trust a cell removes the frame, and shows the sentence within.
"""

from __future__ import annotations

from html import escape

from bpeviz.analysis import trace
from bpeviz.analysis.comparison import Comparison
from bpeviz.analysis.metrics import Column
from bpeviz.core.tokenizer import Tokens
from bpeviz.core.training import Training
from bpeviz.notebook_cell import html_of
from bpeviz.text import counted
from bpeviz.views import playable
from bpeviz.views.export import colored
from bpeviz.views.parts import part_of
from bpeviz.views.stage import of_columns

_SHOWN = 2_000
"""The most characters of a text whose tokens are shown."""

_LINE = 240
"""The height of a line of text in tokens, with its heading, in pixels."""

_HIGHEST = 480
"""The height above which the tables scroll, in pixels."""


_FIT = (
    " onload=\"window.addEventListener('message', (e) => { if (e.source === this.contentWindow "
    '&amp;&amp; e.data?.bpevizHeight) this.height = e.data.bpevizHeight; })"'
)
"""Makes a frame as high as its content. A notebook would show the code of a script it removes."""


@html_of.register
def of_training(training: Training) -> str | None:
    """Return a cell that plays a training on its text, if `bpeviz.train` trained on a text."""
    if training.training_text is None:
        return None
    page = playable.to_html(training, training.training_text)
    return _frame(repr(training), page, playable.FRAME_HEIGHT, "play the training here", _FIT)


@html_of.register
def of_tokens(tokens: Tokens) -> str:
    """Return a cell with the tokens in color."""
    inspected = trace.inspect(tokens.text, tokens.tokenizer, tokens.allowed_special)
    name = tokens.tokenizer.name
    column = Column(name, inspected.tokenizer, inspected.boundaries, inspected.boundaries.steps)
    beginning = part_of(tokens.text, 0, min(len(tokens.text), _SHOWN))
    stage = of_columns([column], tokens.text).showing(beginning)
    title = f"{counted(len(tokens), 'token')} of {name}"
    page = playable.html(playable.of_score(colored("Tokens", stage)))
    return _frame(title, page, _LINE, "see the tokens in color", _FIT)


@html_of.register
def of_comparison(comparison: Comparison) -> str:
    """Return a cell with the tables of many texts."""
    page = playable.html(playable.of_texts(comparison))
    return _frame("Comparison of texts", page, _HIGHEST, "see the tables")


def _frame(title: str, page: str, height: int, purpose: str, more: str = "") -> str:
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts" allow="fullscreen"{more} '
        f'width="100%" height="{height}" style="border: 0" srcdoc="{escape(page)}">'
        f"To {purpose}, run this cell again (Shift+Enter). To see all cells, trust the notebook: "
        "“Trust Notebook” is in the command palette (Ctrl+Shift+C) or in the menu “File”.</iframe>"
    )
