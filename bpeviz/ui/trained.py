"""Training histories for the pages: trained once for all users, long ones in worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from time import thread_time
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import bpeviz
from bpeviz import progress
from bpeviz.analysis import metrics
from bpeviz.analysis.hues import Hues
from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import Boundaries, Part
from bpeviz.core.training import Training
from bpeviz.jobs import queue, short
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.pretrained import catalog, download
from bpeviz.trainers import TRAINERS
from bpeviz.ui import markdown
from bpeviz.ui.inputs import Choice, idle_vocabulary_size
from bpeviz.ui.runtime import fragments, run_lock, stop_run
from bpeviz.ui.runtime.cache import Failure, cache, cached, digest
from bpeviz.ui.runtime.user import current_user
from bpeviz.views import player

SHORT, SHORT_UNSPLIT = 50_000, 10_000
"""Characters of a text that usually trains within about 100 ms, less than a process takes to start:
with short pre-tokens, and with pre-tokens that may be long."""

PROGRESS = 0.4
"""Seconds between two looks at the progress of a worker. The messages of many take time."""

STOPPED = "Training was stopped."

Key = tuple[object, ...]


class TrainingError(ValueError):
    """A text cannot be trained on, or not be tokenized; the message is for the user."""


@dataclass(frozen=True)
class Trained:
    """A handle of a training history and the boundaries of its text, which are in the cache.

    Streamlit stores the arguments of a fragment as long as its page is open. A history may take a
    hundred times the memory of its page, so sessions must not store histories. After an eviction
    the text is trained again.
    """

    text: str
    choice: Choice

    @cached_property
    def cache_key(self) -> Key:
        """A short key that identifies the training.

        It depends on which published vocabularies among the options are on this machine, because
        the message that one is missing is valid only until it is downloaded.
        """
        choice = self.choice
        named = [str(value) for _, value in choice.options if value in catalog.NAMES]
        available = tuple(name for name in named if download.available(name))
        options = tuple((name, digest(str(value))) for name, value in choice.options)
        chosen = (choice.algorithm, choice.largest, choice.pattern, digest(choice.expression))
        return (digest(self.text), chosen, options, choice.special_tokens, available)

    @property
    def history(self) -> Training:
        """The training history."""
        return _result(self)[0]

    @property
    def boundaries(self) -> Boundaries:
        """The boundaries of the training text."""
        return _result(self)[1]

    def boundaries_of(self, text: str) -> Boundaries:
        """Return the boundaries of any text. Raises `TrainingError`."""
        return self.boundaries if text == self.text else self._boundaries_of(text)

    @cached()
    def _boundaries_of(self, text: str) -> Boundaries:
        return _boundaries(self.history, text)

    @cached()
    def parts(self) -> list[Part]:
        """Return the parts in which the player shows the text."""
        return player.parts(self.text, self.boundaries)

    @cached()
    def timeline(self, part: Part) -> dict[str, Any]:
        """Return the timeline of all steps for a part of the text. Callers must not change it.

        Args:
            part: A part of the training text's own boundaries.
        """
        history, boundaries = _result(self)
        hues = self.hues(part)
        return player.timeline(self.text, history, boundaries, part, history.steps, hues)

    @cached()
    def hues(self, part: Part) -> Hues:
        """Return the color indices of a part of the text, for all that shows this training."""
        return player.hues_of([(*_result(self), part)])

    @cached()
    def tokens(self, step: int) -> dict[bytes, str]:
        """Return the tokens of the vocabulary after a step, as `metrics.composed_tokens` does."""
        return metrics.composed_tokens(self.history.at_step(step))


def get(text: str, choice: Choice, slider: DeltaGenerator | None = None) -> Trained:
    """Return the training of a text, trained if need be.

    Args:
        text: The training text.
        choice: The algorithm and its options.
        slider: The container of the vocabulary size among the inputs. While a worker trains, it
            shows a slider that cannot be moved; afterwards the page reruns.

    Raises:
        TrainingError: The text cannot be trained on, or not be tokenized.
    """
    trained = Trained(text, choice)
    _result(trained, slider)
    return trained


@cached()
def published_boundaries(name: str, text: str) -> Boundaries:
    """Return a text's boundaries under a published tokenizer, whose files must be available.

    Raises:
        ValueError: The files cannot be read, or the text cannot be tokenized.
    """
    return bpeviz.load(name).boundaries(text)


def _result(trained: Trained, slider: DeltaGenerator | None = None) -> queue.Result:
    key = _key(trained)
    values = fragments.run_values()
    if key not in values:
        values[key] = _find_or_train(key, trained, slider)
    result: queue.Result = values[key]
    return result


def _find_or_train(key: Key, trained: Trained, slider: DeltaGenerator | None) -> queue.Result:
    takes_long = ("takes long", *trained.cache_key)
    waiting: Any = nullcontext()
    if cache.find(key) is None:
        if not _is_short(trained) or cache.find(takes_long):
            return _train_in_worker(key, trained, slider)
        waiting = st.spinner("Training …")
    try:
        with waiting, short_trainings(trained):
            return cache.get_or_create(key, lambda: _train(trained))
    except short.TakesLongError:
        cache.put(takes_long, True)
        return _train_in_worker(key, trained, slider)


@contextmanager
def short_trainings(*wanted: Trained) -> Iterator[None]:
    """Let other pages run within the block, if it trains in the process for short trainings."""
    if any(_has_process(one) and cache.find(_key(one)) is None for one in wanted):
        with run_lock.released():
            yield
    else:
        yield


def _has_process(trained: Trained) -> bool:
    """Return whether the process for short trainings should train on a text.

    It would load published vocabularies again, and start processes of its own for an expression.
    """
    choice = trained.choice
    loads = any(str(value) in catalog.NAMES for _, value in choice.options)
    return _is_short(trained) and choice.pattern != CUSTOM and not loads and short.is_ready()


def _key(trained: Trained) -> Key:
    return ("training", *trained.cache_key)


def _is_short(trained: Trained) -> bool:
    longest = SHORT_UNSPLIT if _may_be_long(trained.choice) else SHORT
    return len(trained.text) <= longest


def _may_be_long(choice: Choice) -> bool:
    return choice.pattern in ("none", "sentences", CUSTOM)


def _arguments(choice: Choice) -> dict[str, Any]:
    return dict(choice.options) | {
        TRAINERS[choice.algorithm].largest: choice.largest,
        "pattern": choice.pattern,
        "expression": choice.expression,
        "special_tokens": choice.special_tokens,
    }


def _train(trained: Trained) -> queue.Result:
    choice = trained.choice
    if _has_process(trained):
        outcome = short.train(trained.text, choice.algorithm, _arguments(choice))
        if isinstance(outcome, queue.JobError):
            cause = TimeoutError() if outcome.transient else None
            raise TrainingError(outcome.message) from cause
        return outcome
    end = thread_time() + short.SECONDS

    def stop_when_long(_task: str, _done: int, _total: int) -> None:
        if thread_time() > end:
            raise short.TakesLongError

    with progress.reporting_to(stop_when_long):
        with _user_facing_errors():
            history = bpeviz.train(trained.text, choice.algorithm, **_arguments(choice))
        return history, _boundaries(history, trained.text)


def _boundaries(history: Training, text: str) -> Boundaries:
    with _user_facing_errors():
        return history.tokenizer().boundaries(text)


@contextmanager
def _user_facing_errors() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise TrainingError(str(error)) from error


def _train_in_worker(key: Key, trained: Trained, slider: DeltaGenerator | None) -> queue.Result:
    """Train in a worker process, and show its progress with a button to stop it.

    When this script run ends, because of another choice or a closed tab, so does the job. Without a
    result the page stops, with a button to train again.
    """
    state = st.session_state
    below = None
    if slider is not None:
        with slider.container():
            idle_vocabulary_size("vocabulary_size_while_training")
            below = st.empty()  # as high as the caption that replaces it
    name = digest(repr(key)).hex()
    place = st.empty()
    if (ended := state.get("ended_training")) is None or ended[0] != name:
        choice = trained.choice
        with (
            queue.run(
                key, trained.text, choice.algorithm, _arguments(choice), current_user()
            ) as job,
            place.container(),
        ):
            if below is not None:
                below.caption("Training …")
            bar, shown = st.progress(0.0, job.message()), (0.0, job.message())
            st.button("Stop training", key=f"stop {name}", on_click=_stop, args=(name,))
            with run_lock.released():
                while not job.wait(PROGRESS):
                    if (now := (job.share, job.message())) != shown:
                        bar.progress(*now)
                        shown = now
        outcome = job.outcome
        if isinstance(outcome, tuple) and not cache.put(key, outcome):
            outcome = queue.JobError(queue.TOO_LARGE, transient=False)
        if isinstance(outcome, queue.JobError) and not outcome.transient:
            cache.put(key, Failure(TrainingError(outcome.message)))
        if isinstance(outcome, tuple) or cache.find(key) is not None:
            place.empty()
            if slider is not None:
                # The elements above the page shift those below, so the page is redrawn.
                st.rerun()
            return outcome if isinstance(outcome, tuple) else _result(trained)
        message = outcome.message if isinstance(outcome, queue.JobError) else STOPPED
        state["ended_training"] = ended = (name, message)
    if below is not None:
        below.empty()
    with place.container():
        st.warning(markdown.escape(ended[1]))
        st.button("Train again", on_click=lambda: state.pop("ended_training", None))
    return stop_run.stop()


def _stop(name: str) -> None:
    st.session_state["ended_training"] = (name, STOPPED)
