"""The vocabulary size of the user's tokenizer: its box, and the step that has the size."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from bpeviz.core.training import Training
from bpeviz.trainers import texts_of
from bpeviz.ui.inputs.sentence import say
from bpeviz.ui.runtime import page_change
from bpeviz.ui.widgets import LARGEST_INTEGER, NumberField, SessionValue, Values

Options = Iterable[tuple[str, str | int]]
"""The options of a trainer, by name."""

LARGEST = 1_024
"""The largest vocabulary at first."""

FEW_STEPS = 10
"""Fewer steps than this are hardly worth watching; the stage says why."""


class _Size(NumberField):
    """The vocabulary size. The box has another key for each range, so a link sets it apart."""

    linked: SessionValue[int] = SessionValue("linked_size")

    def get(self) -> int | None:
        linked = self.linked.get()
        return super().get() if linked is None else linked

    def put(self, value: int) -> None:
        self.linked.put(value)

    def show(self, value: int) -> None:
        """Store the size that the box shows."""
        super().put(value)


SIZE = _Size("size", "Vocabulary size", low=1, high=LARGEST_INTEGER)
BOX = "vocabulary_size_"
"""Begins the keys of the boxes of the vocabulary size."""

_BOX_OF: SessionValue[int] = SessionValue("vocabulary_of")
_BOX_ON: SessionValue[str] = SessionValue("slider_on")

_WIDTH, _DIGIT = 22, 10
"""Pixels of an empty box, and of a digit."""


def least_count(options: Options) -> int:
    """Return the smallest count of a pair that is merged."""
    return int(dict(options).get("min_count", 1))


def why_stopped(training: Training, options: Options) -> str:
    """Return in a sentence why training stopped before its largest vocabulary; "" if it did not."""
    least = least_count(options)
    why = {
        "rare": f"no pair occurs {'twice' if least == 2 else f'{least:,} times'}",
        "no pair": f"no neighbors are left to {texts_of(training).verb}",
        "atoms": "only single characters are left",
    }
    return why.get(training.stopped, "")


def step_of(values: Values, training: Training) -> int:
    """Return the step that has the vocabulary size of a page, or the one to open with."""
    size, low, high = values.get(SIZE), int(training.sizes.min()), int(training.sizes.max())
    if low == high:
        return 0
    opening = int(training.sizes[training.opening])
    return training.step_of(min(max(opening if size is None else size, low), high))


def vocabulary_size(
    training: Training, largest: int, options: Options, *, is_open: bool = True
) -> int:
    """Draw the vocabulary size as words of the sentence; return the step that has it.

    Args:
        training: The training history.
        largest: The largest vocabulary size.
        options: The options of the trainer.
        is_open: Whether it is drawn.
    """
    low, high = int(training.sizes.min()), int(training.sizes.max())
    if low == high:
        idle_vocabulary_size()
        return 0
    # To Streamlit, a box with other bounds is another widget. With one key, their values would
    # be mixed up when the page changes, so each box has its own key.
    box: SessionValue[int] = SessionValue(f"{BOX}{low}_{high}")
    # A hash: sessions must not keep decisions in memory after the cache evicts them.
    decisions = hash((low, training.decisions_hash))
    opening = int(training.sizes[training.opening])
    if _BOX_OF.get() != decisions or SIZE.linked.present:
        _BOX_OF.put(decisions)
        linked = SIZE.linked.get()
        SIZE.linked.clear()
        box.put(min(max(opening if linked is None else linked, low), high))
    elif _BOX_ON.get() != page_change.current() and (known := box.get()) is not None:
        # The user comes from another page; the browser may still have an earlier value.
        box.put(known)
    _BOX_ON.put(page_change.current())
    first = known if (known := box.get()) is not None else opening
    if not is_open:
        SIZE.show(first)
        return training.step_of(first)
    say("until it has")
    number = st.number_input(
        SIZE.label,
        low,
        high,
        first,
        key=box.key,
        label_visibility="collapsed",
        width=_WIDTH + _DIGIT * len(str(high)),
        # The player follows the box while a key changes it again. The browser then sends both
        # changes in a request to run only the fragment of the player.
        on_change=st.rerun,
        persist_state="session",
    )
    why = why_stopped(training, options)
    missed = f" Then {why}, so {largest:,} cannot be reached." * bool(why and largest != LARGEST)
    say(f"tokens.{missed}")
    size = int(number or 0)
    SIZE.show(size)
    return training.step_of(size)


def idle_vocabulary_size() -> None:
    """Forget the size where there is no choice."""
    SIZE.clear()
