"""The progress of a training on a page, with a button to stop it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.corpus.documents import Documents
from bpeviz.jobs import trainings
from bpeviz.ui import markdown
from bpeviz.ui.inputs.training import TrainingChoice
from bpeviz.ui.page_trainings import (
    STOPPED,
    Trained,
    TrainingHandle,
    UntrainedError,
    cached_training,
    job_of,
    outcome_of,
)
from bpeviz.ui.runtime import run_lock, stop_run
from bpeviz.ui.runtime.cache import digest

PROGRESS = 0.4
"""Seconds until the page shows the progress of a training, and between two looks at it.

The messages of many take time.
"""

_DRAWN = 5
"""The number of looks after which the progress is drawn again, even if it is the same."""


def get(
    text: str | Documents, choice: TrainingChoice, meanwhile: Callable[[], object] | None = None
) -> Trained:
    """Return a training. Without one, the page stops and offers to train again.

    A worker trains. After a moment, the page shows its progress and a button to stop it. When this
    script run ends, because of another choice or a closed tab, so does the training.

    Args:
        text: The text of the page.
        choice: How to train.
        meanwhile: Draws what the page shows while a worker trains; afterwards the page reruns.

    Raises:
        TrainingError: The text cannot be trained on, or not be tokenized.
    """
    handle = TrainingHandle(text, choice)
    # Drawn in each run: else what follows would move, and stand twice on the page for a moment.
    place = st.empty()
    if (trained := cached_training(handle)) is not None:
        return trained
    name = digest(repr(handle.training_key)).hex()
    is_long = False
    if (ended := st.session_state.get("ended_training")) is None or ended[0] != name:
        with job_of(handle) as job:
            with run_lock.released():
                is_long = not job.wait(PROGRESS)
            if is_long:
                _draw(job, name, place, meanwhile)
        place.empty()
        try:
            trained = outcome_of(handle, job)
        except UntrainedError as error:
            st.session_state["ended_training"] = ended = (name, str(error))
        else:
            if is_long and meanwhile is not None:
                # The elements above the page shift those below, so the page is redrawn.
                st.rerun()
            return trained
    if meanwhile is not None and not is_long:
        meanwhile()
    st.warning(markdown.escape(ended[1]))
    st.button("Train again", on_click=lambda: st.session_state.pop("ended_training", None))
    return stop_run.stop()


def _draw(
    job: trainings.Job, name: str, place: DeltaGenerator, meanwhile: Callable[[], object] | None
) -> None:
    """Draw the progress of a training and a button to stop it, until it has ended."""
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


def _stop(name: str) -> None:
    st.session_state["ended_training"] = (name, STOPPED)
