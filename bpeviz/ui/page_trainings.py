"""Training histories for the pages, trained once for all users, in worker processes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import bpeviz
from bpeviz.analysis.hues import Hues
from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import Boundaries, Part
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents, whole_text
from bpeviz.jobs import trainings
from bpeviz.pretrained import catalog, download
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs.training import ALGORITHMS, Corpus, TrainingChoice
from bpeviz.ui.runtime import fragments, run_lock
from bpeviz.ui.runtime.cache import Failure, cache, cached, digest, value_of
from bpeviz.ui.runtime.user import current_user
from bpeviz.views import parts, race
from bpeviz.views.payloads import RaceGroup, Timeline
from bpeviz.views.stage import Row, Stage, TrainedOn, of_training

RACED_AT_ONCE = 10_000
"""The most steps times atoms of a training whose candidates are sent before the player moves."""

STOPPED = "Training was stopped."

Key = tuple[object, ...]


class TrainingError(ValueError):
    """A text cannot be trained on, or not be tokenized; the message is for the user."""


class UntrainedError(TrainingError):
    """A training has no result, but may have one if it is tried again."""


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
        """Return the training."""
        return get(self.text, self.choice)


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


def _digest(text: str | Documents) -> object:
    return digest(text) if isinstance(text, str) else text.cache_key


def get(text: str | Documents, choice: TrainingChoice) -> Trained:
    """Return the training of a text, trained if need be; draw nothing.

    Args:
        text: The text of the page, which it is trained on unless the choice has a corpus.
        choice: The algorithm and its options.

    Raises:
        TrainingError: The text cannot be trained on, or not be tokenized.
    """
    handle = TrainingHandle(text, choice)
    if (trained := cached_training(handle)) is not None:
        return trained
    with job_of(handle) as job, run_lock.released():
        while not job.wait(60):
            pass
    return outcome_of(handle, job)


def cached_training(handle: TrainingHandle) -> Trained | None:
    """Return a training if it is in the cache. Raises `TrainingError`."""
    result = cache.find(_key(handle))
    return None if result is None else _trained(handle, value_of(result))


def job_of(handle: TrainingHandle) -> AbstractContextManager[trainings.Job]:
    """Provide the job of a training, in a worker, for this user."""
    choice = handle.choice
    how = (handle.training_text, choice.algorithm, _arguments(choice), current_user())
    return trainings.run(_key(handle), *how)


def outcome_of(handle: TrainingHandle, job: trainings.Job) -> Trained:
    """Cache the outcome of an ended job; return the training. Raises `TrainingError`."""
    key, outcome = _key(handle), job.outcome
    if isinstance(outcome, tuple) and not cache.put(key, outcome):
        outcome = trainings.JobError(trainings.TOO_LARGE, transient=False)
    if isinstance(outcome, tuple):
        return _trained(handle, outcome)
    error = TrainingError(outcome.message if outcome else STOPPED)
    if outcome and not outcome.transient:
        cache.put(key, Failure(error))
        raise error
    raise UntrainedError(str(error))


def _key(handle: TrainingHandle) -> Key:
    return ("training", *handle.training_key)


def _trained(handle: TrainingHandle, result: trainings.Result) -> Trained:
    history, boundaries = result
    of_text = boundaries
    if handle.choice.corpus is not None:
        of_text = _boundaries(handle.training_key, handle.text, history)
    return Trained(handle, history, of_text, boundaries)


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


def _arguments(choice: TrainingChoice) -> dict[str, Any]:
    return dict(choice.options) | {
        TRAINERS[choice.algorithm].largest: choice.largest,
        "pattern": choice.pattern,
        "expression": choice.expression,
        "special_tokens": choice.special_tokens,
        "split_at_special": choice.split,
    }
