"""What the pages ask for: computed once for all users, and long learning not in this process."""

from __future__ import annotations

from typing import Any, cast
from weakref import WeakValueDictionary

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import bpeviz
from bpeviz.analysis import metrics
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.jobs import queue
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.pretrained import catalog, download, rank_tokenizer
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs import Choice, idle_vocabulary_size
from bpeviz.ui.runtime import run_lock, stop_run
from bpeviz.ui.runtime.cache import digest, kept
from bpeviz.views import player

AT_ONCE, AT_ONCE_UNSPLIT = 50_000, 10_000
"""Characters of a text that is learnt from at once, in about 100 ms, where it is split into words,
and where its pre-tokens may be long. To start a process takes longer than that."""

Key = tuple[object, ...]

_OWN = "learnt_here"
"""Under which a session itself holds what was learnt for it and is too large to be kept for
everybody, with its key."""

_held: WeakValueDictionary[Key, Training] = WeakValueDictionary()
"""What another process learnt, as long as some page still uses it: not to be learnt twice within
one run, though it be too large to be kept or have had to go."""


def key_of(text: str, choice: Choice) -> Key:
    """Return what tells a learning from all others; short, however long the text is.

    It depends on which published vocabularies that are chosen are on this machine: the sentence
    that one is away is no longer true once it has come.
    """
    named = [str(value) for _, value in choice.options if value in catalog.NAMES]
    there = tuple(name for name in named if download.available(name))
    options = tuple((name, digest(str(value))) for name, value in choice.options)
    chosen = (choice.algorithm, choice.largest, choice.pattern, digest(choice.expression))
    return (digest(text), chosen, options, there)


def training(text: str, choice: Choice, sizes: DeltaGenerator | None = None) -> Training | str:
    """Return what is learnt from a text, or the sentence that says why nothing can be.

    sizes: the place where the slider of the vocabulary size will stand among the inputs. While
    something is learnt elsewhere, one that cannot be moved stands there; then the page runs anew.
    """
    return _learnt(text, choice, sizes)[0]


def boundaries(text: str, training_text: str, choice: Choice) -> Boundaries | str:
    """Return when the boundaries of a text vanish under what was learnt from another."""
    learnt, own = _learnt(training_text, choice)
    if isinstance(learnt, str) or text == training_text:
        return own
    key = ("boundaries", digest(text), *key_of(training_text, choice))
    return kept.once(key, lambda: _cut(learnt, text))


def _cut(learnt: Training, text: str) -> Boundaries | str:
    try:
        return learnt.tokenizer().boundaries(text)
    except ValueError as error:
        return str(error)


Learnt = tuple[Training, Boundaries | str] | tuple[str, str]


def _learnt(text: str, choice: Choice, slider: DeltaGenerator | None = None) -> Learnt:
    """Return what is learnt from a text, and the text's own boundaries."""
    key = ("training", *key_of(text, choice))
    if (found := kept.find(key)) is not None:
        return cast(Learnt, found)
    own = st.session_state.get(_OWN)
    if own is not None and own[0] == key:
        return cast(Learnt, own[1])
    if (held := _held.get(key)) is not None:
        return held, _cut(held, text)
    if not _at_once(text, choice):
        return _elsewhere(key, text, choice, slider)
    with st.spinner("Learning …"):
        return kept.once(key, lambda: _here(text, choice))


def _at_once(text: str, choice: Choice) -> bool:
    long_pre_tokens = choice.pattern in ("none", "sentences", CUSTOM)
    return len(text) <= (AT_ONCE_UNSPLIT if long_pre_tokens else AT_ONCE)


def _arguments(choice: Choice) -> dict[str, Any]:
    return dict(choice.options) | {
        TRAINERS[choice.algorithm].largest: choice.largest,
        "pattern": choice.pattern,
        "expression": choice.expression,
    }


def _here(text: str, choice: Choice) -> Learnt:
    try:
        learnt = bpeviz.train(text, choice.algorithm, **_arguments(choice))
    except ValueError as error:
        return str(error), str(error)
    return learnt, _cut(learnt, text)


def _elsewhere(key: Key, text: str, choice: Choice, slider: DeltaGenerator | None) -> Learnt:
    """Let another process learn, and say how that goes; the user may stop it.

    Whatever ends this run of the page, a change or a closed tab, ends the learning: nobody wants
    it any more. If nothing was learnt, the page ends here, with a button to learn after all.
    slider: the place of the slider of the vocabulary size. What is drawn there, and above the page,
    stands in the way of what is drawn next, so the page runs anew when the learning has ended.
    """
    state = st.session_state
    state.pop(_OWN, None)
    below = None
    if slider is not None:
        with slider.container():
            idle_vocabulary_size("vocabulary_size_while_learning")
            below = st.empty()  # as high as the words that will stand there
    name = digest(repr(key)).hex()
    place = st.empty()
    ended = state.get("ended_learning")
    if ended is None or ended[0] != name:
        with (
            queue.learning(key, text, choice.algorithm, _arguments(choice)) as job,
            place.container(),
        ):
            if below is not None:
                below.caption("Learning …")
            bar = st.progress(0.0, job.sentence())
            st.button("Stop learning", key=f"stop {name}", on_click=_stop, args=(name,))
            run_lock.give_up()
            while not job.wait(0.2):
                bar.progress(job.share, job.sentence())
        sentence = "Learning was stopped."
        if isinstance(job.found, str):
            sentence = job.found
        if job.found is not None and not job.failed:
            learnt = job.found if isinstance(job.found, tuple) else (sentence, sentence)
            place.empty()
            if not kept.keep(key, learnt):
                state[_OWN] = key, learnt
            if isinstance(learnt[0], Training):
                _held[key] = learnt[0]
            if slider is not None:
                st.rerun()
            return cast(Learnt, learnt)
        state["ended_learning"] = ended = (name, sentence)
    if below is not None:
        below.empty()
    with place.container():
        st.warning(ended[1])
        st.button("Learn again", on_click=lambda: state.pop("ended_learning", None))
    return stop_run.stop()


def _stop(name: str) -> None:
    st.session_state["ended_learning"] = (name, "Learning was stopped.")


def parts(text: str, choice: Choice) -> list[player.Part]:
    """Return the parts in which the player shows a text."""
    of_text = boundaries(text, text, choice)
    if isinstance(of_text, str):
        return []
    return kept.once(("parts", *key_of(text, choice)), lambda: player.parts(text, of_text))


def timeline(text: str, choice: Choice, part: player.Part) -> dict[str, Any]:
    """Return the timeline of all steps, of a part of the text. Nobody may change it: it is shared.

    part: of the text's own boundaries.
    """
    learnt, of_text = there(text, choice)
    return kept.once(
        ("film", *key_of(text, choice), part),
        lambda: player.timeline(text, learnt, of_text, part, learnt.steps),
    )


def there(text: str, choice: Choice) -> tuple[Training, Boundaries]:
    """Return what is learnt from a text, and the text's own boundaries, where both can be had.

    What runs again by itself asks for them here, and does not hold them: they may be a hundred
    times as large as a page, and what is kept for everybody is bounded.
    """
    learnt, of_text = _learnt(text, choice)
    if isinstance(learnt, str) or isinstance(of_text, str):
        raise TypeError("There is nothing to show.")
    return learnt, of_text


def composed_tokens(text: str, choice: Choice, step: int) -> dict[bytes, str]:
    """Return the tokens of a vocabulary after a step (`bpeviz.analysis.metrics.composed_tokens`)."""
    learnt = training(text, choice)
    if isinstance(learnt, str):
        return {}
    return kept.once(
        ("tokens", *key_of(text, choice), step),
        lambda: metrics.composed_tokens(learnt.at_step(step)),
    )


def published(name: str, text: str) -> tuple[rank_tokenizer.RankTokenizer, Boundaries]:
    """Return a published tokenizer, whose files must be there, and a text's boundaries."""
    tokenizer = rank_tokenizer.load(name)
    key = ("published", name, digest(text))
    return tokenizer, kept.once(key, lambda: tokenizer.boundaries(text))
