"""The initial inputs of the pages for each trainer, so that tests can cover the registry."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import bpeviz
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs.vocabulary_size import LARGEST

ON_ALGORITHMS = {"atoms": "characters"}
"""Initial values of options, by name, on the Algorithms page."""


def options(key: str, **initial: str | int) -> dict[str, Any]:
    """Return the arguments that a page passes to a trainer if the user changes nothing.

    Args:
        key: A key of `TRAINERS`.
        initial: Initial values of options, by name, that replace their own.
    """
    trainer = TRAINERS[key]
    chosen: dict[str, Any] = {}
    for option in trainer.options:
        if option.name == trainer.largest:
            continue
        if option.needs is not None and chosen.get(option.needs[0]) != option.needs[1]:
            continue
        if option.sample is not None:
            chosen[option.name] = samples.by_key(option.sample).text
        else:
            usual = option.default if option.initial is None else option.initial
            chosen[option.name] = initial.get(option.name, usual)
    return chosen | {trainer.largest: LARGEST}


def train(key: str, text: str, **initial: str | int) -> Training:
    """Train on a text as a page does if the user changes no input."""
    return _trained(text, key, **options(key, **initial))


_trained = lru_cache(300)(bpeviz.train)
"""Many tests train on the same texts, and a training does not change."""
