"""What the pages begin with for every learner, so that tests can walk the registry."""

from __future__ import annotations

from typing import Any

import bpeviz
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs import LARGEST

ON_ALGORITHMS = {"atoms": "characters"}
"""What options of a name begin with on the Algorithms page."""


def options(key: str, **initial: str | int) -> dict[str, Any]:
    """Return what a page passes on to a learner untouched: its options, and how far to go.

    initial: what options of a name begin with, where it is not what they say themselves.
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
    """Learn from a text as a page does whose inputs nobody has touched."""
    return bpeviz.train(text, key, **options(key, **initial))
