"""What a trainer is: a function from a text to a training, and what may be chosen about it."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from bpeviz.core.training import Training
from bpeviz.trainers.screen import Texts

Corpus = str | Mapping[str, int]
"""What is learnt from: a running text, or pre-tokens with how often each comes."""


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep the garbage collector away: a trainer makes many small things and no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True)
class Option:
    """Something a user may choose about a trainer; drawn by the pages, passed on by name.

    With `choices` (value to label) it is one of them; with `sample` it is a text, and the pages
    begin with that sample; else it is a whole number, `minimum` to
    `maximum`. `needs` names another
    option and the value that it must have for this one to matter. `initial` is what the pages
    begin with, where that should differ from `default`.
    """

    name: str
    label: str
    help: str
    default: str | int
    choices: Mapping[str, str] | None = None
    minimum: int = 1
    maximum: int | None = None
    needs: tuple[str, str] | None = None
    initial: str | int | None = None
    sample: str | None = None


class Train(Protocol):
    """The signature that all trainers share; what else they take stands in their options."""

    def __call__(
        self,
        corpus: Corpus,
        *,
        vocab_size: int | None,
        merges: int | None,
        pattern: str,
        expression: str,
        special_tokens: tuple[str, ...],
        **options: str | int,
    ) -> Training: ...


@dataclass(frozen=True)
class Trainer:
    """An entry of the registry. `source` names the publication that the trainer follows.

    short: what it is called where there is little room.

    largest: the argument that says how large the vocabulary may ever be: "vocab_size", or, for a
        trainer that begins with many pieces and gives them up, how many it begins with.
    largest_title: what that is called on the pages.
    texts: On-screen texts about its trainings.
    """

    key: str
    title: str
    short: str
    about: str
    source: str
    train: Train
    options: tuple[Option, ...] = ()
    largest: str = "vocab_size"
    largest_title: str = "Largest vocabulary"
    texts: Texts = field(default_factory=Texts)
