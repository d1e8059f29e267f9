"""The vocabulary size of the user's tokenizer: the slider, and the step that has the size."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from bpeviz.core.training import Training
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui.runtime import page_change
from bpeviz.ui.runtime.reconnection import reconnected
from bpeviz.ui.widgets import LARGEST_INTEGER, NumberField, SessionValue, Switch

Options = Iterable[tuple[str, str | int]]
"""The options of a trainer, by name."""

LARGEST = 1_024
"""The largest vocabulary at first."""

FEW_STEPS = 10
"""Fewer steps than this are hardly worth watching; the stage says why."""


class _Size(NumberField):
    """The vocabulary size. The slider has another key for each range, so a link sets it apart."""

    linked: SessionValue[int] = SessionValue("linked_size")

    def get(self) -> int | None:
        linked = self.linked.get()
        return super().get() if linked is None else linked

    def put(self, value: int) -> None:
        self.linked.put(value)

    def show(self, value: int) -> None:
        """Store the size that the slider shows."""
        super().put(value)


SIZE = _Size("size", "Vocabulary size", low=1, high=LARGEST_INTEGER)
BY_MERGES = Switch("by_merges", "Set the number of merges instead of the size")
SLIDER = "vocabulary_size_"
"""Begins the keys of the sliders of the vocabulary size."""

_SLIDER_OF: SessionValue[int] = SessionValue("vocabulary_of")
_SLIDER_ON: SessionValue[str] = SessionValue("slider_on")


def why_stopped(training: Training, options: Options) -> str:
    """Return why training stopped before its largest vocabulary, or "" if it did not."""
    least = int(dict(options).get("min_count", 1))
    often = "twice" if least == 2 else f"{least:,} times"
    if training.stopped == "rare" and not training.steps:
        return f"No pair occurs {often}, so there is nothing to merge"
    why = {"no pair": "no pair is left", "rare": f"no pair occurs {often} any more"}
    return f"Training stopped: {reason}" if (reason := why.get(training.stopped)) else ""


def vocabulary_size(
    training: Training,
    largest: int,
    options: Options,
    *,
    has_stage: bool = False,
    in_words: bool = False,
) -> int:
    """Draw the slider of the vocabulary size; return the step at which it has that size.

    Args:
        training: The training history.
        largest: The largest vocabulary size.
        options: The options of the trainer.
        has_stage: Whether the page has a stage, which says why there are few steps.
    """
    low, high = int(training.sizes.min()), int(training.sizes.max())
    by_merges = bool(BY_MERGES.get()) and not TRAINERS[training.algorithm].prunes
    offset = low if by_merges else 0
    if low == high and in_words:
        st.number_input(
            SIZE.label, low, low, low, disabled=True, label_visibility="collapsed", width=52,
            key="only_vocabulary_size",
        )
        return 0
    if low == high:
        idle_vocabulary_size()
        _draw_ending(training, largest, options, 0, has_stage)
        return 0
    # To Streamlit, a slider with other bounds is another widget. With one key, their values would
    # be mixed up when the page changes, so each slider has its own key.
    slider: SessionValue[int] = SessionValue(f"{SLIDER}{'merges_' * by_merges}{low}_{high}")
    # A hash: sessions must not keep decisions in memory after the cache evicts them.
    decisions = hash((low, training.decisions_hash))
    opening = int(training.sizes[training.opening])
    if not _SLIDER_OF.present and reconnected():
        _SLIDER_OF.put(decisions)  # the browser sends the size
    elif _SLIDER_OF.get() != decisions or SIZE.linked.present:
        _SLIDER_OF.put(decisions)
        linked = SIZE.linked.get()
        SIZE.linked.clear()
        slider.put(min(max(opening if linked is None else linked, low), high) - offset)
    elif _SLIDER_ON.get() != page_change.current() and (known := slider.get()) is not None:
        # The user comes from another page; the browser may still have an earlier value.
        slider.put(known)
    _SLIDER_ON.put(page_change.current())
    chosen = (st.number_input if in_words else st.slider)(
        "Number of merges" if by_merges else SIZE.label,
        low - offset,
        high - offset,
        (slider.get() if in_words else None) if slider.present else opening - offset,
        key=slider.key,
        # The player follows the slider while a key moves it again. The browser then sends both
        # changes in a request to run only the fragment of the player.
        on_change=st.rerun,
        persist_state="session",
        **({"label_visibility": "collapsed", "width": 22 + 10 * len(str(high)), "help": None} if in_words else {}),
    )
    size = chosen + offset
    SIZE.show(size)
    step = training.step_of(size)
    if not in_words:
        _draw_ending(training, largest, options, step, has_stage)
    return step


def _draw_ending(
    training: Training, largest: int, options: Options, step: int, has_stage: bool
) -> None:
    """Draw the vocabulary at a step in words, and at the last one why training stopped there."""
    vocabulary = texts_of(training).vocabulary(training, step)
    why = why_stopped(training, options)
    ending = f" {after}" if (after := texts_of(training).at_the_end) else ""
    if why and largest != LARGEST:
        st.caption(f"{vocabulary}. {why}, so {largest:,} cannot be reached.{ending}")
    elif why and step == training.steps and not (has_stage and step < FEW_STEPS):
        st.caption(f"{why}." if not step else f"{vocabulary}. {why}.{ending}")
    else:
        st.caption(f"{vocabulary}.")


def idle_vocabulary_size(key: str = "no_vocabulary_size") -> None:
    """Draw a disabled slider if there is only one size."""
    st.slider(SIZE.label, 0, 1, 0, disabled=True, format=" ", key=key)
    SIZE.clear()
