"""What is computed once and kept, for all visitors. Every cache is bounded."""

from __future__ import annotations

from typing import Any

import streamlit as st

import bpeviz
from bpeviz import compare, encodings, replay, vocabularies
from bpeviz.boundaries import Boundaries
from bpeviz.learners import LEARNERS
from bpeviz.training import Training
from bpeviz.ui.inputs import Choice


def training(text: str, choice: Choice) -> Training | str:
    """Return what is learnt from a text, or the sentence that says why nothing can be."""
    return _training(text, choice, _there(choice))


def boundaries(text: str, learnt_from: str, choice: Choice) -> Boundaries | str:
    """Return when the boundaries of a text vanish under what was learnt from another."""
    return _boundaries(text, learnt_from, choice, _there(choice))


def _there(choice: Choice) -> tuple[str, ...]:
    """Return which published vocabularies that are chosen are on this machine.

    What is kept depends on it: the sentence that one is away is no longer true once it has come.
    """
    named = [str(value) for _, value in choice.options if value in vocabularies.NAMES]
    return tuple(name for name in named if vocabularies.available(name))


@st.cache_resource(max_entries=24, show_spinner="Learning …")
def _training(text: str, choice: Choice, there: tuple[str, ...]) -> Training | str:
    options: dict[str, Any] = dict(choice.options)
    options[LEARNERS[choice.algorithm].largest] = choice.largest
    try:
        return bpeviz.train(
            text,
            choice.algorithm,
            pattern=choice.pattern,
            expression=choice.expression,
            **options,
        )
    except ValueError as error:
        return str(error)


@st.cache_resource(max_entries=24, show_spinner=False)
def _boundaries(
    text: str, learnt_from: str, choice: Choice, there: tuple[str, ...]
) -> Boundaries | str:
    learnt = _training(learnt_from, choice, there)
    if isinstance(learnt, str):
        return learnt
    try:
        return learnt.tokenizer().boundaries(text)
    except ValueError as error:
        return str(error)


@st.cache_resource(max_entries=24, show_spinner=False)
def parts(text: str, choice: Choice) -> list[replay.Part]:
    """Return the parts in which the player shows a text."""
    of_text = boundaries(text, text, choice)
    return [] if isinstance(of_text, str) else replay.parts(text, of_text)


@st.cache_resource(max_entries=24, show_spinner=False)
def film(text: str, choice: Choice, part: int, last: int) -> dict[str, Any]:
    """Return what the player shows. Nobody may change it: it is shared."""
    learnt, of_text = training(text, choice), boundaries(text, text, choice)
    if isinstance(learnt, str) or isinstance(of_text, str):
        raise TypeError("There is nothing to show.")
    return replay.film(text, learnt, of_text, parts(text, choice)[part], last)


@st.cache_resource(max_entries=24, show_spinner=False)
def film_of_part(text: str, choice: Choice, part: replay.Part) -> dict[str, Any]:
    """Return the film of all steps, of the characters that a part shows. It is shared, too."""
    learnt, of_text = training(text, choice), boundaries(text, text, choice)
    if isinstance(learnt, str) or isinstance(of_text, str):
        raise TypeError("There is nothing to show.")
    shown = replay.part_between(of_text, part, text)
    return replay.film(text, learnt, of_text, shown, learnt.steps)


@st.cache_resource(max_entries=48, show_spinner=False)
def learnt_tokens(text: str, choice: Choice, step: int) -> dict[bytes, str]:
    """Return the tokens of a vocabulary after a step (`bpeviz.compare.learnt_tokens`)."""
    learnt = training(text, choice)
    return {} if isinstance(learnt, str) else compare.learnt_tokens(learnt.at_step(step))


@st.cache_resource(max_entries=12, show_spinner=False)
def published(name: str, text: str) -> tuple[encodings.RankTokenizer, Boundaries]:
    """Return a published tokenizer, whose files must be there, and a text's boundaries."""
    tokenizer = encodings.load(name)
    return tokenizer, tokenizer.boundaries(text)
