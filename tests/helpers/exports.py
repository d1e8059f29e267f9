"""Every file that leaves bpeviz, of a text that is also each of its names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import bpeviz
from bpeviz.analysis import figures
from bpeviz.analysis.comparison import Comparison
from bpeviz.analysis.figures import measure
from bpeviz.trainers import texts_of
from bpeviz.views import export, playable, player, slide_drawing, tables, text_table
from bpeviz.views.export import ColoredText
from bpeviz.views.slide_drawing import Look
from bpeviz.views.slides import ColumnSlides, Slides, StepSlides
from helpers.comparisons import columns_of, comparison


def link(text: str) -> str:
    """Return an address with a text."""
    return f"https://host/?a={text}"


def animation(text: str) -> str:
    """Return the file that plays a training."""
    training = bpeviz.train(text, vocab_size=270, special_tokens=(text,))
    shown = playable.of_training(training, text)
    return playable.html(replace(shown, title=text, settings=[text]), link(text))


def pages(text: str) -> Iterator[str]:
    """Yield the HTML files."""
    yield animation(text)
    tokenizer = bpeviz.train(text, vocab_size=270).tokenizer()
    yield playable.html(playable.of_tokenizer(tokenizer, text, text), link(text))
    yield playable.html(comparison(text), link(text))
    yield playable.html(playable.of_texts(compared(text), [text]), link(text))
    yield export.html(picture(text), link(text))


def cells(text: str) -> Iterator[str]:
    """Yield the cells of a notebook, and the code of a frame."""
    training = bpeviz.train(text, vocab_size=270, special_tokens=(text,))
    tokens = training.tokenizer().tokens(text, allowed_special=[text])
    for shown in (training, tokens, compared(text)):
        yield str(shown._repr_html_())
    yield playable.embed_code("play.html", text)


def drawings(text: str) -> Iterator[str]:
    """Yield the SVG files."""
    yield export.svg(picture(text), link(text))
    payload = text_table.payload(compared(text), figures.tokens, text, is_parallel=False)
    yield text_table.svg(compared(text), figures.tokens, payload, [text], link(text))
    for slides in (steps(text), columns(text)):
        for content in slides.contents:
            look = Look(content, link=link(text))
            yield slide_drawing.svg(slides, slides.last, look)


def compared(text: str) -> Comparison:
    """Return the comparison of two texts."""
    tokenizer = bpeviz.train(text, vocab_size=270).tokenizer()
    return bpeviz.compare({text: text, "other": "low lower"}, {text: tokenizer})


def picture(text: str) -> ColoredText:
    """Return the colored text."""
    return ColoredText(text, columns_of(text), text, settings=[text])


def steps(text: str) -> Slides:
    """Return the slides of a training."""
    training = bpeviz.train(text, vocab_size=270)
    boundaries = training.tokenizer().boundaries(text)
    (part,) = player.parts(text, boundaries)
    payload = player.payload(player.timeline(text, training, boundaries, part, training.steps))
    return StepSlides(text, payload, [boundaries], texts_of(training).unit, settings=[text])


def columns(text: str) -> Slides:
    """Return the slides of a comparison."""
    shown = picture(text)
    measured = measure(text, shown.columns, 0)
    return ColumnSlides(text, shown, tables.metrics(measured), settings=[text])
