"""Training histories for the pages, trained once for all users, in worker processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import bpeviz
from bpeviz.analysis import metrics
from bpeviz.analysis.hues import Hues
from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import Boundaries, Part
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents, whole_text
from bpeviz.jobs import trainings
from bpeviz.pretrained import catalog, download
from bpeviz.trainers import TRAINERS
from bpeviz.ui import markdown
from bpeviz.ui.inputs.training import ALGORITHMS, Corpus, TrainingChoice
from bpeviz.ui.runtime import fragments, run_lock, stop_run
from bpeviz.ui.runtime.cache import Failure, cache, cached, digest, value_of
from bpeviz.ui.runtime.user import current_user
from bpeviz.views import parts, race
from bpeviz.views.payloads import RaceGroup, Timeline
from bpeviz.views.stage import Row, Stage, TrainedOn, of_training

PROGRESS = 0.4
"""Seconds until the page shows the progress of a training, and between two looks at it.

The messages of many take time.
"""

_DRAWN = 5
"""The number of looks after which the progress is drawn again, even if it is the same."""

RACED_AT_ONCE = 10_000
"""The most steps times atoms of a training whose candidates are sent before the player moves."""

STOPPED = "Training was stopped."

Key = tuple[object, ...]
Outcome = trainings.Result | trainings.JobError | None


class TrainingError(ValueError):
    """A text cannot be trained on, or not be tokenized; the message is for the user."""


@dataclass(frozen=True)
class TrainingHandle(fragments.Handle):
    """The text and choice of a training, which is in the cache, or is trained again."""

    text: str | Documents
    choice: TrainingChoice

    @property
    def training_text(self) -> str | Documents:
        """The text to train on."""
        return self.text if self.choice.corpus is None else self.choice.corpus.text

    @cached_property
    def cache_key(self) -> Key:
        """A short key that identifies the training with the text of the page."""
        corpus = self.choice.corpus
        if corpus is None:
            return self.training_key
        return (*self.training_key, corpus.name, _digest(self.text))

    @cached_property
    def training_key(self) -> Key:
        """A short key that identifies the training.

        It depends on which published vocabularies among the options are on this machine, because
        the message that one is missing is valid only until it is downloaded.
        """
        choice = self.choice
        named = [str(value) for _, value in choice.options if value in catalog.NAMES]
        available = tuple(name for name in named if download.available(name))
        options = tuple((name, digest(str(value))) for name, value in choice.options)
        chosen = (choice.algorithm, choice.largest, choice.pattern, digest(choice.expression))
        text = _digest(self.training_text)
        return (text, chosen, options, choice.special_tokens, choice.split, available)

    def open(self) -> Trained:
        """Return the training, without drawing anything if it is in the cache."""
        return known(self.text, self.choice) or get(self.text, self.choice)


@dataclass(frozen=True, eq=False)
class Trained:
    """A training: the history, and the boundaries of the page's text and of the training text.

    Both are the same text unless the choice has a corpus. The player, and all that draws the text,
    show the page's text; candidates, counts and costs are those of the training text.

    A history may take a hundred times the memory of its page, so sessions must store its handle.
    """

    handle: TrainingHandle
    history: Training
    boundaries: Boundaries
    training_boundaries: Boundaries

    @cached_property
    def text(self) -> str:
        """The text of the page, of rows with a line end between two."""
        return whole_text(self.handle.text)

    @property
    def training_text(self) -> str | Documents:
        """The text that the tokenizer was trained on."""
        return self.handle.training_text

    @property
    def trained_on(self) -> str | None:
        """The name of the training text, or None if it is the text of the page."""
        return None if self.choice.corpus is None else self.choice.corpus.name

    @property
    def choice(self) -> TrainingChoice:
        """The algorithm and its options."""
        return self.handle.choice

    @property
    def cache_key(self) -> Key:
        """A short key that identifies the training."""
        return self.handle.cache_key

    def boundaries_of(self, text: str | Documents) -> Boundaries:
        """Return the boundaries of any text. Raises `TrainingError`."""
        if text == self.handle.text:
            return self.boundaries
        return _boundaries(self.handle.training_key, text, self.history)

    @cached()
    def parts(self) -> list[Part]:
        """Return the parts in which the player shows the text."""
        return parts.parts(self.text, self.boundaries)

    @cached_property
    def _rows(self) -> dict[Part, Row]:
        return {}

    def row(self, part: Part) -> Row:
        """Return the row of a part of the text, given in atoms of the text's own boundaries."""
        if part not in self._rows:
            self._rows[part] = of_training(
                self.history,
                self.handle.text,
                self.boundaries,
                part,
                title=ALGORITHMS[self.choice.algorithm],
                trained_on=TrainedOn(self.trained_on, self.training_text, self.training_boundaries),
                options=dict(self.choice.options),
            )
        return self._rows[part]

    @property
    def first(self) -> Row:
        """The row of the first part of the text."""
        return self.row(self.parts()[0])

    def stage(self, part: Part) -> Stage:
        """Return the stage of a part of the text."""
        return Stage([self.row(part)], self.hues(part), timelines=[self._timeline(part)])

    @cached()
    def uncolored(self, part: Part) -> Timeline:
        """Return the timeline of a part without colors; callers must not change it."""
        return self.row(part).uncolored

    @cached()
    def _timeline(self, part: Part) -> Timeline:
        return self.row(part).timeline(self.hues(part))

    @cached()
    def hues(self, part: Part) -> Hues:
        """Return the color indices of a part of the text, for all that shows this training."""
        return Stage([self.row(part)]).hues

    def settings(self, last: int) -> list[str]:
        """Return the settings in words, up to a last step."""
        return self.first.settings(last)

    @property
    def is_raced_at_once(self) -> bool:
        """Whether the best candidates of all steps take only milliseconds."""
        return self.history.steps * len(self.training_boundaries) <= RACED_AT_ONCE

    @cached()
    def race_groups(self, most: int) -> list[list[RaceGroup]]:
        """Return the best candidates of the first `most` steps."""
        return race.first_groups(self.first, most)

    @cached()
    def tokens(self, step: int) -> dict[bytes, str]:
        """Return the tokens of the vocabulary after a step, as `metrics.composed_tokens` does."""
        return metrics.composed_tokens(self.history.at_step(step))


def _digest(text: str | Documents) -> object:
    return digest(text) if isinstance(text, str) else text.cache_key


def get(
    text: str | Documents, choice: TrainingChoice, meanwhile: Callable[[], object] | None = None
) -> Trained:
    """Return the training of a text, trained if need be.

    Args:
        text: The text of the page, which it is trained on unless the choice has a corpus.
        choice: The algorithm and its options.
        meanwhile: Draws what the page shows while a worker trains; afterwards the page reruns.

    Raises:
        TrainingError: The text cannot be trained on, or not be tokenized.
    """
    handle = TrainingHandle(text, choice)
    history, boundaries = _find_or_train(handle, meanwhile)
    of_text = boundaries
    if choice.corpus is not None:
        of_text = _boundaries(handle.training_key, text, history)
    return Trained(handle, history, of_text, boundaries)


def known(text: str | Documents, choice: TrainingChoice, *, begin: bool = False) -> Trained | None:
    """Return a training if it is known, or None.

    Args:
        text: The text of the page.
        choice: How to train.
        begin: Whether to begin it otherwise, for later runs; the page does not wait for it. One
            training at a time is begun in this way.

    Raises:
        TrainingError: It is known that there is none.
    """
    handle = TrainingHandle(text, choice)
    result = cache.find(("training", *handle.training_key))
    if result is not None:
        history, of_training = cast(trainings.Result, value_of(result))
        of_text = _boundaries(handle.training_key, text, history)
        return Trained(handle, history, of_text, of_training)
    if begin and _beginning.acquire(blocking=False):
        Thread(target=_train_ahead, args=(handle,), daemon=True).start()
    return None


_beginning = Lock()


def _train_ahead(handle: TrainingHandle) -> None:
    key = ("training", *handle.training_key)
    choice = handle.choice
    how = (handle.training_text, choice.algorithm, _arguments(choice), "trained ahead")
    try:
        with trainings.run(key, *how) as job:
            while not job.wait(PROGRESS):
                pass
        _store(key, job.outcome)
    finally:
        _beginning.release()


def untrained(text: str | Documents) -> Trained:
    """Return a training without steps, which shows the bytes of a text."""
    choice = TrainingChoice("bpe", 256, "none", "", False, (), corpus=Corpus("", ""))
    handle = TrainingHandle(text, choice)
    history = bpeviz.train("", vocab_size=choice.largest, pattern=choice.pattern)
    boundaries = _boundaries(handle.training_key, text, history)
    return Trained(handle, history, boundaries, history.boundaries(""))


@cached()
def _boundaries(training_key: Key, text: str | Documents, _history: Training) -> Boundaries:
    """Return the boundaries of a text after a training. Raises `TrainingError`."""
    try:
        with run_lock.released():
            return _history.boundaries(text)
    except ValueError as error:
        raise TrainingError(str(error)) from error


@cached()
def published_boundaries(name: str, text: str | Documents) -> Boundaries:
    """Return a text's boundaries under a published tokenizer, whose files must be available.

    Raises:
        ValueError: The files cannot be read, or the text cannot be tokenized.
    """
    return bpeviz.load(name).boundaries(text)


def _find_or_train(
    handle: TrainingHandle, meanwhile: Callable[[], object] | None
) -> trainings.Result:
    """Return the result of a training. Without one, the page stops and offers to train again.

    A worker trains. After a moment, the page shows its progress and a button to stop it. When this
    script run ends, because of another choice or a closed tab, so does the training.
    """
    key = ("training", *handle.training_key)
    # Drawn in each run: else what follows would move, and stand twice on the page for a moment.
    place = st.empty()
    if (cached := cache.find(key)) is not None:
        return cast(trainings.Result, value_of(cached))
    state = st.session_state
    name = digest(repr(key)).hex()
    is_long = False
    if (ended := state.get("ended_training")) is None or ended[0] != name:
        choice = handle.choice
        with trainings.run(
            key, handle.training_text, choice.algorithm, _arguments(choice), current_user()
        ) as job:
            with run_lock.released():
                is_long = not job.wait(PROGRESS)
            if is_long:
                _show_progress(job, name, place, meanwhile)
        outcome = _store(key, job.outcome)
        if isinstance(outcome, tuple) or cache.find(key) is not None:
            place.empty()
            if is_long and meanwhile is not None:
                # The elements above the page shift those below, so the page is redrawn.
                st.rerun()
            return cast(trainings.Result, value_of(cache.find(key) or outcome))
        message = outcome.message if isinstance(outcome, trainings.JobError) else STOPPED
        state["ended_training"] = ended = (name, message)
        place.empty()
    if meanwhile is not None and not is_long:
        meanwhile()
    st.warning(markdown.escape(ended[1]))
    st.button("Train again", on_click=lambda: state.pop("ended_training", None))
    return stop_run.stop()


def _store(key: Key, outcome: Outcome) -> Outcome:
    """Cache the outcome of a training; return it, or that it is too large."""
    if isinstance(outcome, tuple) and not cache.put(key, outcome):
        outcome = trainings.JobError(trainings.TOO_LARGE, transient=False)
    if isinstance(outcome, trainings.JobError) and not outcome.transient:
        cache.put(key, Failure(TrainingError(outcome.message)))
    return outcome


def _show_progress(
    job: trainings.Job, name: str, place: DeltaGenerator, meanwhile: Callable[[], object] | None
) -> None:
    """Show the progress of a training and a button to stop it, until it has ended."""
    with place.container(key=f"training_progress {name}", horizontal=True):
        bar, drawn = st.progress(0.0, job.message()), (0.0, job.message())
        st.button("Stop training", key=f"stop {name}", on_click=_stop, args=(name,))
    if meanwhile is not None:
        meanwhile()
    with run_lock.released():
        looks = 0
        while not job.wait(PROGRESS):
            looks += 1
            # Streamlit stops a run only where it draws, also a run whose training does not go on.
            if (now := (job.share, job.message())) != drawn or looks % _DRAWN == 0:
                bar.progress(*now)
                drawn = now


def _arguments(choice: TrainingChoice) -> dict[str, Any]:
    return dict(choice.options) | {
        TRAINERS[choice.algorithm].largest: choice.largest,
        "pattern": choice.pattern,
        "expression": choice.expression,
        "special_tokens": choice.special_tokens,
        "split_at_special": choice.split,
    }


def _stop(name: str) -> None:
    st.session_state["ended_training"] = (name, STOPPED)
