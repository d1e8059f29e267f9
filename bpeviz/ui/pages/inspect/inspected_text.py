"""The text that Inspect shows, under one tokenizer, and the declaration of another view of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from bpeviz.analysis import token_lookup
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import Part
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.trainers import TRAINERS
from bpeviz.ui import markdown
from bpeviz.ui.export_dialog import EXPORT, Export, Exported
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.tokenizers import Offer
from bpeviz.ui.widgets import Values, Widget
from bpeviz.views import encoded as views
from bpeviz.views import playable
from bpeviz.views.export import ColoredText, colored
from bpeviz.views.parts import part_between, parts
from bpeviz.views.playable import Interactive
from bpeviz.views.stage import Stage, TrainedOn, of_columns


@dataclass(frozen=True)
class InspectedText:
    """A text under a tokenizer, with the part in the grid.

    Attributes:
        offer: The tokenizer.
        inspection: The encoded text.
        part: The part in the grid.
        trained_on: Whether the tokenizer, if it was trained here, was trained on this text.
    """

    offer: Offer
    inspection: Inspection
    part: Part
    trained_on: bool

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that encoded the text."""
        return self.inspection.tokenizer

    @property
    def colors(self) -> Hues:
        """The color indices at all steps."""
        return _colors(self.offer, self.inspection)

    @property
    def look(self) -> Callable[[int], tuple[str, int]]:
        """Returns the label and the color index of an id, as in the grid."""
        return token_lookup.look_of(self.tokenizer, self.colors)

    def stage(self, title: str = "") -> Stage:
        """Return the stage of the part in the grid.

        Args:
            title: The name of the tokenizer, by default that of its algorithm if it is trained.
        """
        at = part_between(self.inspection.boundaries, self.part, self.inspection.text)
        return self._stage(at, title)

    def _stage(self, at: Part, title: str = "") -> Stage:
        training, own = self.offer.training, self.offer.own
        algorithm = self.offer.title if training is None else TRAINERS[training.algorithm].title
        trained_on = None
        if own is not None and self.trained_on and at.last - at.first == len(self.inspection.text):
            text = self.inspection.text
            trained_on = TrainedOn(None, text, own.history.boundaries(text))
        options = None if own is None else dict(own.choice.options)
        row = views.of_inspection(
            self.inspection,
            at,
            title or algorithm,
            training,
            trained_on=trained_on,
            options=options,
        )
        return Stage([row], self.colors)

    def offer_exports(self) -> None:
        """Offer the exports."""
        offer, has_steps = self.offer, self.tokenizer.without_steps is None
        own = Exported(offer.title, offer.cache_key, offer.make)
        animation = self._animation if has_steps and self.inspection.events else None
        EXPORT.put(Export("inspect", self._colored, own, animation))

    def content(self) -> Interactive:
        """Return the steps of the text, or its tokens where the tokenizer has no steps."""
        if self.tokenizer.without_steps is None:
            return self._animation()()
        return playable.of_score(self._colored())

    def _colored(self) -> ColoredText:
        boundaries = self.inspection.boundaries
        column = Column(self.offer.title, self.tokenizer, boundaries, boundaries.steps)
        stage = of_columns([column], self.inspection.text, self.colors)
        return colored("One text as tokens", stage, settings=self.offer.settings)

    def _animation(self) -> Callable[[], Interactive]:
        first = parts(self.inspection.text, self.inspection.boundaries)[0]
        return lambda: playable.of_stage(self._stage(first))


@dataclass(frozen=True)
class InspectionDetail:
    """A view of the text in the place of the grid, or below it; the page draws one at a time.

    Attributes:
        title: Its name in the choice.
        draw: Draws it for a text; the tokenizers are all that the page offers.
        widgets: Yields the widgets whose values belong in a link where the page draws it.
    """

    title: str
    draw: Callable[[InspectedText, Sequence[Offer]], None]
    widgets: Callable[[Values], Iterator[Widget[Any]]]


@cached()
def _colors(offer: Offer, inspection: Inspection) -> Hues:
    return views.hues_of(inspection, offer.training)


def has_steps(offer: Offer, tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer has steps to show; draw the reason otherwise."""
    why = tokenizer.without_steps
    if why is not None:
        title = markdown.escape(offer.title)
        st.caption(f"{title} has no merges to replay: {why}. The grid has its tokens and ids.")
    return why is None
