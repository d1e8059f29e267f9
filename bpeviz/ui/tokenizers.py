"""The tokenizers that pages offer: the user's own, published ones, and those from files.

Pages list them with `offers`. A link contains the keys of `LINKED`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from streamlit.delta_generator import DeltaGenerator

import bpeviz
from bpeviz.analysis.metrics import Column, with_size
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents, breaks_of, whole_text
from bpeviz.formats.opened import Opened
from bpeviz.libraries.chat_template import ChatTemplate
from bpeviz.pretrained import catalog, download
from bpeviz.text import distinct
from bpeviz.trainers import TRAINERS
from bpeviz.ui import opened_tokenizers, page_trainings, training_progress
from bpeviz.ui.inputs.text import TEXT, text_of
from bpeviz.ui.inputs.training import TrainingChoice, choice_of, expanded
from bpeviz.ui.inputs.vocabulary_size import idle_vocabulary_size, step_of, vocabulary_size
from bpeviz.ui.opened_tokenizers import RESERVED, YOURS, opened
from bpeviz.ui.page_trainings import Trained, TrainingError
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import OneOf, Values

OWN = "yours"
"""The key of the user's own tokenizer."""

LINKED = {OWN: YOURS} | {key: entry.title for key, entry in catalog.ENTRIES.items()}
"""The tokenizers that a link may contain, by key: all but those from files."""


class OneTokenizer(OneOf):
    """The choice of a tokenizer. A link contains it unless it is from a file."""

    def for_link(self) -> tuple[str | None, str | None]:
        return (self.get() if self.get() in LINKED else None), None


@dataclass(frozen=True)
class Offer:
    """A tokenizer that a page offers.

    Attributes:
        key: Its identity in widgets.
        name: Its name without the size, since the browser keeps the words of a choice.
        make: Returns it, or raises `ValueError` with a user-facing message.
        boundaries: Returns the boundaries of a text, or raises `ValueError` likewise.
        own: Its training, where it was trained here.
        step: The step of the vocabulary size, where it was trained here.
        identity: The rest of its identity in caches.
        needs: The published vocabulary whose files it needs.
        chat: The chat template of its model.
        assumption: What its files do not contain, and is assumed, as a sentence, or "".
    """

    key: str
    name: str
    make: Callable[[], Tokenizer]
    boundaries: Callable[[str | Documents], Boundaries]
    own: Trained | None = None
    step: int | None = None
    identity: tuple[object, ...] = ()
    needs: str | None = None
    chat: ChatTemplate | None = None
    assumption: str = ""

    @property
    def training(self) -> Training | None:
        """Its training history, where it was trained here."""
        return None if self.own is None else self.own.history

    @property
    def cache_key(self) -> tuple[object, ...]:
        """The identity in caches."""
        return self.key, self.name, self.identity

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The names of the special tokens; none if the tokenizer cannot be made."""
        try:
            return tuple(self.make().special_tokens)
        except ValueError:
            return ()

    @property
    def settings(self) -> list[str]:
        """The settings of its training in words, if it was trained here."""
        if self.own is None or self.step is None:
            return []
        words = [TRAINERS[self.own.choice.algorithm].short, *self.own.settings(self.step)]
        return [f"{self.name}: {', '.join(words)}"]

    @property
    def title(self) -> str:
        """The name, with the size where that may change."""
        if self.training is None or self.step is None:
            return self.name
        return with_size(self.name, int(self.training.sizes[self.step]))

    def column(self, text: str | Documents) -> Column:
        """Return the column of a text in a comparison. Raises `ValueError`."""
        return _column(self, text)


@cached()
def _column(offer: Offer, text: str | Documents) -> Column:
    tokenizer = offer.make()
    step = tokenizer.steps if offer.step is None else offer.step
    title = with_size(offer.name, int(tokenizer.sizes[step]))
    in_sample = offer.own is not None and whole_text(offer.own.training_text) == whole_text(text)
    how = (tokenizer, offer.boundaries(text), step, offer.name, breaks_of(text), in_sample)
    return Column(title, *how)


def names() -> dict[str, str]:
    """Return the unique names of all tokenizers that pages offer, by key, the user's own first."""
    titles = distinct([*RESERVED, *(file.title for file in opened())])[len(RESERVED) :]
    return LINKED | {file.key: title for file, title in zip(opened(), titles, strict=True)}


def short(names: Mapping[str, str]) -> dict[str, str]:
    """Return names without what is in parentheses, unless another one is equal then."""
    brief = {key: "Yours" if key == OWN else name.split(" (")[0] for key, name in names.items()}
    counts = Counter(brief.values())
    return {key: name if counts[name] == 1 else names[key] for key, name in brief.items()}


def offers(own: Trained | str, step: int) -> list[Offer]:
    """Return all tokenizers that pages offer, the user's own first.

    Args:
        own: The user's training, or the message that says why there is none. It is "" if the
            page does not show the user's own tokenizer.
        step: The step of the vocabulary size.
    """
    titles = names()
    files = (_from_file(file, titles[file.key]) for file in opened())
    return [_own(own, step), *map(_published, catalog.ENTRIES), *files]


def linked_offers(values: Values, keys: Collection[str]) -> tuple[str | Documents, list[Offer]]:
    """Return the text of a link, and its tokenizers whose files are on this machine.

    Args:
        values: The values of the link.
        keys: The keys of the tokenizers.
    """
    text = text_of(values, TEXT)
    offers = [_published(name) for name in catalog.ENTRIES if download.available(name)]
    if OWN in keys:
        text, choice = expanded(text, choice_of(values))
        with suppress(TrainingError):
            own = page_trainings.get(text, choice)
            offers.append(_own(own, step_of(values, own.history)))
    by_key = {offer.key: offer for offer in offers}
    return text, [by_key[key] for key in sorted(keys, key=OWN.__eq__) if key in by_key]


def offers_with_own(
    text: str | Documents, choice: TrainingChoice, sizes: DeltaGenerator | None
) -> list[Offer]:
    """Train the user's own tokenizer, draw its vocabulary size, and return all tokenizers.

    Args:
        text: The text of the page.
        choice: How to train.
        sizes: The place of the vocabulary size, or None while it is folded.
    """
    try:
        own = training_progress.get(text, choice, idle_vocabulary_size)
    except TrainingError as error:
        idle_vocabulary_size()
        return offers(str(error), 0)
    with sizes or nullcontext():
        how = (own.history, choice.largest, choice.options)
        step = vocabulary_size(*how, is_open=sizes is not None)
    return offers(own, step)


def _own(own: Trained | str, step: int) -> Offer:
    if isinstance(own, str):

        def failed(text: str | Documents = "") -> Any:
            raise ValueError(own)

        return Offer(OWN, YOURS, failed, failed, identity=(own,))
    history = own.history
    return Offer(
        OWN,
        YOURS,
        lambda: history.at_step(step),
        own.boundaries_of,
        own,
        step,
        (own, step),
    )


def _published(name: str) -> Offer:
    shape = catalog.ENTRIES[name].chat
    return Offer(
        name,
        LINKED[name],
        lambda: bpeviz.load(name),
        lambda text: page_trainings.published_boundaries(name, text),
        needs=name,
        chat=None if shape is None else shape.chat_template,
    )


def _from_file(file: Opened, title: str) -> Offer:
    return Offer(
        file.key,
        title,
        lambda: file.tokenizer,
        lambda text: opened_tokenizers.boundaries(file.key, text, file.tokenizer),
        chat=file.chat,
        assumption=file.assumption,
    )
