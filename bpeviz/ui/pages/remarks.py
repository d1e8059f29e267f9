"""The remark in the stage where few steps change a text, with buttons for next steps."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpeviz.core.boundaries import UNKNOWN_ID
from bpeviz.corpus.documents import Documents, beginning, characters_in
from bpeviz.pretrained import download
from bpeviz.text import counted, joined
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui import components, page_trainings
from bpeviz.ui.inputs.sentence import say
from bpeviz.ui.inputs.text import LANGUAGES, TEXT, THIS_TEXT, TRAIN_ON
from bpeviz.ui.inputs.token_count import NAME as GPT4O
from bpeviz.ui.inputs.token_count import TITLE
from bpeviz.ui.inputs.training import ALGORITHM, COUNTED, option_widget
from bpeviz.ui.inputs.vocabulary_size import FEW_STEPS, least_count, why_stopped
from bpeviz.ui.page_trainings import Trained
from bpeviz.ui.pages import base
from bpeviz.ui.runtime import page_change
from bpeviz.ui.widgets import NumberField, SessionValue
from bpeviz.views.parts import WINDOW
from bpeviz.views.payloads import Player, Remark

UNKNOWN_SHARE = 0.1
"""The share of unknown characters above which the stage says so."""

ONCE, GET = "once", "get"
"""The keys of next steps, beside those of texts to train on."""

WAYS = {
    LANGUAGES: f"Train on {TRAIN_ON.others[LANGUAGES]}",
    ONCE: "Merge pairs that occur once",
    GET: f"Get {TITLE}’s merges",
    THIS_TEXT: "Train on this text",
}
"""The titles of the next steps, in their order."""

MOST_WAYS = 2
"""The most next steps that a remark offers."""

_MIN_COUNT = "min_count"

_PLAYS: SessionValue[str] = SessionValue("plays_at_once")
"""The next step that was chosen, until a player plays."""


def add(payload: Player, trainings: Sequence[Trained], steps: int, last: int | None = None) -> None:
    """Add to the payload of a player a remark about its text, and whether it plays.

    Args:
        payload: The payload.
        trainings: The trainings on the stage.
        steps: The number of steps that change the text on it.
        last: The last step on it; None if all are.
    """
    _add(payload, _remark(trainings, steps, last))


def say_other(payload: Player, trained: Trained) -> None:
    """Say in the sentence of settings whose merges are on the stage, as the text has none.

    In a frame, the remark says it.
    """
    view, name = payload["views"][0], TRAIN_ON.others[LANGUAGES]
    is_published = view["algorithm"] == TITLE
    drawn = f"{view['steps']['kind']}s" if payload["last"] else "tokens"
    whose = f"{TITLE}’s {drawn}" if is_published else f"The {drawn} of {name}"
    why = why_stopped(trained.history, trained.choice.options)
    sentence = f"{whose}, since {why}."
    if st.context.is_embedded:
        _add(payload, _with_ways(sentence, set()))
        return
    _add(payload, None)
    if is_published:
        number = counted(view["tokenCounts"][-1], "token")
        base.TITLE.get().title(f"**{number}** in {TITLE}", anchor=False)
    others = _once(trained) if is_published else {GET}
    with st.container(key="other_merges", horizontal=True, gap="xxsmall"):
        say(f"{sentence} Train on")
        _way(LANGUAGES, name)
        for way in others:
            say("or")
            _way(way, f"{WAYS[way][0].lower()}{WAYS[way][1:]}")


def _way(way: str, title: str) -> None:
    """Draw a next step as words of the sentence."""
    st.button(title, type="tertiary", key=f"way_{way}", on_click=follow, args=(way,))


def add_to_published(payload: Player, text: str, steps: int) -> None:
    """Add the same for a published tokenizer, whose steps may not change the text.

    Args:
        payload: The payload.
        text: The text.
        steps: The number of steps that change it.
    """
    sentence = payload["views"][0]["emptyMessage"]
    _add(payload, None if steps or not text else _with_ways(sentence, set()))


def _add(payload: Player, remark: Remark | None) -> None:
    payload["plays"], payload["remark"] = _PLAYS.present, remark
    payload["isWritten"] = bool(TEXT.is_new.get()) and not page_change.has_arrived()
    _PLAYS.clear()
    TEXT.is_new.clear()


def _remark(trainings: Sequence[Trained], steps: int, last: int | None) -> Remark | None:
    text = trainings[0].text
    if not text or trainings[0].trained_on == "":
        return None
    if not trainings[0].training_text:
        sentence = "There is no text to train on: type or paste one, or open a file."
        return _with_ways(sentence, {LANGUAGES, THIS_TEXT})
    name = trainings[0].trained_on
    if any(_unknown(trained) > UNKNOWN_SHARE for trained in trainings):
        sentence = "Many of these characters do not occur in the training text: they are unknown."
        return _with_ways(sentence, {THIS_TEXT})
    if steps >= FEW_STEPS:
        return None
    reasons = dict.fromkeys(why for trained in trainings if (why := _why(trained, last)))
    if not reasons:
        return None
    sentence = next(iter(reasons))
    if len(reasons) > 1 and len(text) > 1:
        sentence = f"Few steps change this text: {joined([*map(_changing, trainings)])}."
        if not any(len(trained.boundaries.change_steps) for trained in trainings):
            sentence = "None of these algorithms changes this text."
        if name is not None:
            sentence = f"Trained on {name}: {sentence[0].lower()}{sentence[1:]}"
    ways = {way for trained in trainings for way in _ways(trained)}
    # Others lead away from the algorithms, or are options in their menus.
    return _with_ways(sentence, ways if len(trainings) == 1 else ways & {*TRAIN_ON.others})


def _with_ways(sentence: str, ways: set[str]) -> Remark:
    offered = [] if st.context.is_embedded else [way for way in WAYS if way in ways]
    return {"sentence": sentence, "ways": [[way, WAYS[way]] for way in offered[:MOST_WAYS]]}


def _unknown(trained: Trained) -> float:
    """Return the share of the text's atoms that the vocabulary lacks."""
    atoms = trained.boundaries.atom_ids
    return 0.0 if trained.trained_on is None else float((atoms == UNKNOWN_ID).mean())


def _why(trained: Trained, last: int | None) -> str:
    """Return why few steps change the text, or "" if the chosen size is the reason."""
    history, name = trained.history, trained.trained_on
    if name is None:
        return _why_few(trained, last)
    last = history.steps if last is None else last
    unit = texts_of(history).unit
    changing = int((trained.boundaries.change_steps < last).sum())
    if not changing:
        return f"No {unit} trained on {name} changes this text."
    verb = "changes" if changing == 1 else "change"
    return f"{changing:,} of {counted(last, unit)} trained on {name} {verb} this text."


def _why_few(trained: Trained, last: int | None) -> str:
    """Return in a sentence why a training on a short text has few steps.

    Args:
        trained: The training.
        last: The last step on screen; None if all are.
    """
    training, options = trained.history, trained.choice.options
    texts, steps = texts_of(training), training.steps if last is None else last
    if training.stopped == "full" or steps < training.steps:
        size = "smaller" if texts.unit == "pruning" else "larger"
        return "" if steps else f"No {texts.unit}s at this size. Choose a {size} one to see some."
    if len(trained.text) == 1 and not steps and training.stopped != "rare":
        return f"One character: nothing to {texts.verb}."
    why = why_stopped(training, options)
    if not steps:
        return f"{why[0].upper()}{why[1:]}, so there is nothing to {texts.verb} in this text alone."
    joined_once = training.stopped == "no pair" and least_count(options) == 1
    memorizes = " Pairs seen once were joined, too: that is memorizing." * joined_once
    return f"After {counted(steps, texts.unit)}, {why}.{memorizes}"


def _changing(trained: Trained) -> str:
    """Return the algorithm with the number of its steps that change the text."""
    unit, number = texts_of(trained.history).unit, len(trained.boundaries.change_steps)
    return f"{TRAINERS[trained.choice.algorithm].short} {counted(number, unit)}"


def _ways(trained: Trained) -> set[str]:
    """Return the next steps that may give a text more merges."""
    if characters_in(trained.text) < 2:
        return set()
    if trained.choice.corpus is None:
        return {LANGUAGES, *_once(trained)}
    has_languages = trained.trained_on == TRAIN_ON.others[LANGUAGES]
    return {THIS_TEXT} if has_languages else {LANGUAGES, THIS_TEXT}


def _once(trained: Trained) -> set[str]:
    """Return the next step to pairs that occur once, if there is one."""
    least = least_count(trained.choice.options)
    return {ONCE} if trained.history.stopped == "rare" and least > 1 else set()


def follow(way: str) -> None:
    """Set the inputs for a pressed button (a callback). way: the key of the button."""
    if way not in WAYS:
        return
    if way == GET:
        download.fetch_in_background(GPT4O, retry=True)
        return
    _PLAYS.put(way)
    if way in TRAIN_ON.others:
        TRAIN_ON.put(way)
        if COUNTED.get():  # a value in the link would open “More”
            COUNTED.put(False)
    if way == ONCE:
        trainer = TRAINERS[ALGORITHM.value()]
        for option in trainer.options:
            widget = option_widget(trainer, option)
            if option.name == _MIN_COUNT and isinstance(widget, NumberField):
                widget.put(1)  # the page may not draw it
                page_change.remember({widget.key: 1})


def atoms_only(text: str | Documents, key: str) -> None:
    """Draw a stage with a text in bytes, where a message says why no tokenizer is trained.

    Of a long text, only the first part: all of it would hold the server.
    """
    if text := beginning(text, WINDOW):
        trained = page_trainings.untrained(text)
        payload = trained.stage(trained.parts()[0]).payload.copy()
        # The letters stay where they are once the candidates arrive.
        payload["races"] = [] if key == "player" else None
        components.player(payload, key)
