"""Every file that leaves bpeviz, of a text that is also each of its names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import bpeviz
from bpeviz.analysis.comparison import Comparison
from bpeviz.views import playable
from bpeviz.views.export import ColoredText, colored
from bpeviz.views.stage import of_columns
from helpers.comparisons import columns_of, comparison
from helpers.stages import played


def link(text: str) -> str:
    """Return an address with a text."""
    return f"https://host.example/?a={text}"


def animation(text: str) -> str:
    """Return the file that plays a training."""
    training = bpeviz.train(text, vocab_size=270, special_tokens=(text,))
    shown = played(training, text)
    return playable.html(replace(shown, title=text, settings=[text]), link(text))


def pages(text: str) -> Iterator[str]:
    """Yield the HTML files."""
    yield animation(text)
    tokenizer = bpeviz.train(text, vocab_size=270).tokenizer()
    yield playable.html(playable.of_tokenizer(tokenizer, text, text), link(text))
    yield playable.html(comparison(text), link(text))
    yield playable.html(playable.of_texts(compared(text), [text]), link(text))
    yield playable.html(playable.of_score(picture(text)), link(text))


def cells(text: str) -> Iterator[str]:
    """Yield the cells of a notebook, and the code of a frame."""
    training = bpeviz.train(text, vocab_size=270, special_tokens=(text,))
    tokens = training.tokenizer().tokens(text, allowed_special=[text])
    for shown in (training, tokens, compared(text)):
        yield str(shown._repr_html_())
    yield playable.embed_code("play.html", text)


def compared(text: str) -> Comparison:
    """Return the comparison of two texts."""
    tokenizer = bpeviz.train(text, vocab_size=270).tokenizer()
    return bpeviz.compare({text: text, "other": "low lower"}, {text: tokenizer})


def picture(text: str) -> ColoredText:
    """Return the colored text."""
    return colored(text, of_columns(columns_of(text), text), settings=[text])
