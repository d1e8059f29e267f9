"""Trainings that tests share: each is made once in a process, since a training does not change."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest

import bpeviz
from bpeviz.core.training import Training
from bpeviz.trainers import TRAINERS, Option

TEXT = (
    "low lower lowest slow slower slowest, newer and widest: été 👋🏽 12 12345\n"
    "The cat sat on the mat; the hat that the cat sat on was old. AbAb\n---\n"
    "kissa istui matolla ja katsoi toista kissaa. kissa istui\n\n"
) * 2
"""A text with ties, several scripts, digits, lines and two parts, in which all trainers train."""


@lru_cache(400)
def trained(key: str, text: str = TEXT, **options: Any) -> Training:
    """Return the training on a text, of 40 merges or pruned to 60 pieces where no size is given."""
    if not {"merges", "vocab_size"} & {*options}:
        pieces = 300 if options.get("atoms") == "bytes" else 60
        options |= {"vocab_size": pieces} if TRAINERS[key].prunes else {"merges": 40}
    return bpeviz.train(text, key, **options)


def needed(option: Option) -> dict[str, str]:
    """Return the value of another option that an option needs."""
    return dict([option.needs]) if option.needs else {}


def choices(key: str) -> list[dict[str, str]]:
    """Return each choice of each option but its default and vocabularies, which take long."""
    return [
        needed(option) | {option.name: value}
        for option in TRAINERS[key].options
        for value in option.choices or ()
        if value != option.default and option.name != "base"
    ]


CASES = [
    pytest.param(key, how, id=f"{key}-{'-'.join(how.values())}")
    for key in TRAINERS
    for how in [{}, *choices(key)]
]
"""Each trainer without options and with each choice of each option."""

each_trainer = pytest.mark.parametrize("key", TRAINERS)
each_case = pytest.mark.parametrize(("key", "how"), CASES)
