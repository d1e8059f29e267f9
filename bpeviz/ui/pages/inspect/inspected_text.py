"""The text that Inspect shows, under one tokenizer, and the declaration of a detail below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from bpeviz.analysis.hues import Hues
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import Part
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.trainers import TRAINERS
from bpeviz.ui import markdown
from bpeviz.ui.export_dialog import EXPORT, Export, Exported
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.tokenizers import OWN, Offer
from bpeviz.ui.widgets import Values, Widget
from bpeviz.views import inspection as views
from bpeviz.views import playable, player
from bpeviz.views.export import ColoredText, colored
from bpeviz.views.playable import Interactive
from bpeviz.views.slides import Slides, of_steps


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
    def atoms(self) -> Part:
        """The part in the grid, in atoms of the boundaries."""
        return player.part_between(self.inspection.boundaries, self.part, self.inspection.text)

    def offer_exports(self, diagram: Part | None = None) -> None:
        """Offer the exports. diagram: the part in the merge diagram, if the page draws one."""
        offer, has_steps = self.offer, self.tokenizer.without_steps is None
        own = Exported(offer.title, offer.cache_key, offer.make, is_large=offer.training is None)
        animation = self._animation if has_steps and self.inspection.events else None
        slides = partial(self._slides, diagram)
        EXPORT.put(Export("inspect", self._colored, own, animation, slides=slides))

    def _colored(self) -> ColoredText:
        boundaries = self.inspection.boundaries
        column = Column(self.offer.title, self.tokenizer, boundaries, boundaries.steps)
        how: dict[str, Any] = {"hues": self.colors, "settings": self.offer.settings}
        return colored("One text as tokens", self.inspection.text, [column], **how)

    def _animation(self) -> Callable[[], Interactive]:
        training = self.offer.training
        title = self.offer.title if training is None else TRAINERS[training.algorithm].title
        options = {} if self.offer.own is None else dict(self.offer.own.choice.options)
        how = (self.inspection, title, training, self.colors, options)
        return partial(playable.of_inspection, *how, trained_on=self.trained_on)

    def _slides(self, diagram: Part | None) -> Slides:
        name = "Your tokenizer" if self.offer.key == OWN else self.offer.title
        atoms, training = self.atoms, self.offer.training
        timeline = views.timeline(self.inspection, atoms, name, training, self.colors)
        return of_steps(
            name,
            player.payload(timeline),
            [views.part_of(self.inspection, atoms)[0]],
            "step",
            settings=self.offer.settings,
            drawn=None if diagram is None else (diagram.first, diagram.last),
        )


@dataclass(frozen=True)
class InspectionDetail:
    """A detail below the grid, of which the page draws one at a time.

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
        st.caption(f"{title} has no merges to replay: {why}. Its tokens and ids are above.")
    return why is None
