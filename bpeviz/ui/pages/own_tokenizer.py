"""The part of Compare that trains tokenizers on parallel texts, and compares the tokens of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Any

import streamlit as st

from bpeviz import formats, limits
from bpeviz.analysis.comparison import parallel_texts
from bpeviz.analysis.language_parity import Split
from bpeviz.analysis.lines import lines_of
from bpeviz.core.training import MergeTraining, Training
from bpeviz.corpus.documents import Documents, characters_in, unit_of
from bpeviz.corpus.named_texts import Texts
from bpeviz.text import counted, digest_of, joined
from bpeviz.trainers import TRAINERS
from bpeviz.trainers.multilingual_bpe import for_single_texts
from bpeviz.trainers.parity_bpe import ParityTraining
from bpeviz.ui import markdown, page_trainings
from bpeviz.ui.inputs.text import OWN_TEXT, TRAIN_ON, Rows
from bpeviz.ui.inputs.training import (
    ALGORITHM,
    BYTE_VALUES,
    COUNTED,
    LARGEST_SIZE,
    PATTERN,
    TrainingChoice,
    option_widget,
)
from bpeviz.ui.page_trainings import TrainingError
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import NumberField, OneOf, Section, SomeOf, Widget
from bpeviz.views.table import Cell, Table

SPLIT_BY = "o200k"
"""The pre-tokenization: unlike GPT-2's, it does not separate vowel signs from their letters."""

AS_THEY_ARE, EQUAL, PARITY = "1.0", "0.0", "parity"

EXPONENTS = {
    AS_THEY_ARE: "1, as they are",
    "0.7": "0.7",
    "0.5": "0.5",
    "0.3": "0.3",
    EQUAL: "0, all equal",
}


class _TextNames(SomeOf):
    """The choice of texts by name. A link may contain any names."""

    def allows(self, value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) <= self.most
            and all(isinstance(name, str) and len(name) <= 200 for name in value)
        )


OPEN = Section("own_for_texts", "Train your own tokenizer for these languages")
EXPONENT = OneOf("own_exponent", "Exponent of the shares", titles=EXPONENTS)
MERGES = NumberField("own_merges", "Merges", low=1, high=limits.VOCABULARY - BYTE_VALUES)
HELD_OUT = OneOf(
    "own_held_out",
    "Not trained on",
    titles={"none": "Nothing", "half": "Second half", "some": "Some languages"},
)
HELD_OUT_TEXTS = _TextNames(
    "own_held_out_texts", "Languages not trained on", titles={}, most=limits.COMPARED_TEXTS
)


def widgets() -> Iterator[Widget[Any]]:
    """Yield the widgets whose values belong in links."""
    yield from (OPEN, EXPONENT, MERGES, HELD_OUT, HELD_OUT_TEXTS)


def show(texts: Texts) -> None:
    """Draw the part, closed at first, at the end of the page."""
    OPEN.show(_compare, texts)


def _compare(texts: Texts) -> None:
    """Draw the inputs, train, and draw the ratios of tokens."""
    number, names = parallel_texts(texts)
    if number < 2 or not names:
        st.info("This needs parallel texts: two or more translations with as many lines or rows.")
        return
    lines = {name: lines_of(texts[name]) for name in names}
    st.caption(
        "BPE on several texts counts the pairs of all languages. An exponent changes each "
        "language’s share of all bytes: 1 leaves the shares as they are, 0 makes them equal. "
        "Parity-aware BPE merges, at each step, the most frequent pair of the language that needs "
        "the most tokens (Foroutan et al. 2026)."
    )
    exponent_at, merges_at = st.columns([3, 1], vertical_alignment="bottom")
    with exponent_at:
        exponent = EXPONENT.slider("0.5")
    with merges_at:
        merges = MERGES.any_number(1_000)
    split = _hold_out(lines, unit_of(*map(texts.__getitem__, names)))
    text = split.corpus
    size = characters_in(text)
    if not size:
        st.info("Leave at least one language to train on.")
        return
    if size > limits.PAGE_TEXT:
        st.info(f"Pages train on at most {limits.PAGE_TEXT:,} characters; these are {size:,}.")
        return
    exponents = sorted({AS_THEY_ARE, exponent, EQUAL}, reverse=True)
    choices = {key: _choice(key, merges) for key in (*exponents, PARITY)}
    try:
        trainings = {key: page_trainings.get(text, choice) for key, choice in choices.items()}
        key = digest_of([*lines.items()], split.half)
        ratios = {
            how: _ratios(training.handle, key, split, training)
            for how, training in trainings.items()
        }
    except TrainingError as error:
        st.error(markdown.escape(str(error)))
        return
    st.markdown(split.sentence({_within(how): ratio for how, ratio in ratios.items()}))
    _table(split, ratios)
    notes = _notes(split, trainings[PARITY].history, merges)
    st.caption("  \n".join(map(markdown.escape, notes)))
    _offer(text, trainings)


def _hold_out(lines: Mapping[str, Sequence[str]], unit: str) -> Split:
    """Draw the choice of what is held out of the training."""
    kind = HELD_OUT.segments(width="content")
    if kind != "some":
        return Split(lines, kind == "half", unit=unit)
    chosen = [name for name in HELD_OUT_TEXTS.get() or () if name in lines]
    if chosen != (HELD_OUT_TEXTS.get() or []):  # texts were closed, or have other names
        HELD_OUT_TEXTS.put(chosen)
    names = HELD_OUT_TEXTS.multiselect({name: name for name in lines})
    return Split(lines, held_out=frozenset(names), unit=unit)


def _choice(key: str, merges: int) -> TrainingChoice:
    """Return how to train with an exponent, or with parity."""
    options: dict[str, str | int]
    if key == PARITY:
        options = {"atoms": "bytes", "measure": "line", "global_merges": 0, "min_count": 2}
    else:
        options = {"atoms": "bytes", "smoothing": key}
    algorithm = PARITY if key == PARITY else "multilingual"
    size = BYTE_VALUES + merges
    return TrainingChoice(algorithm, size, SPLIT_BY, "", False, tuple(options.items()))


@cached()
def _ratios(
    handle: page_trainings.TrainingHandle, key: str, _split: Split, _trained: page_trainings.Trained
) -> dict[str, float]:
    """Return the ratios of the texts. Other users' pages can run meanwhile."""
    with run_lock.released():
        return _split.ratios(_trained.history.tokenizer())


def _table(split: Split, ratios: Mapping[str, Mapping[str, float]]) -> None:
    """Draw the ratios, a row for each text and a column for each way to train."""
    lines = len(next(iter(split.texts.values())))
    measured = f", {split.unit}s {split.first + 1:,} to {lines:,}" if split.half else ""
    header = [f"Language{measured}", *map(_title, ratios)]
    highest = max(ratio for of_texts in ratios.values() for ratio in of_texts.values())

    def cell(ratio: float) -> Cell:
        return Cell(f"{ratio:.2f}", log(ratio) / log(highest) if ratio > 1 else 0.0)

    rows: list[list[str | Cell]] = [
        [
            f"{name} (not trained on)" if name in split.held_out else name,
            *(cell(of_texts[name]) for of_texts in ratios.values()),
        ]
        for name in split.texts
    ]
    label = "Tokens relative to the language with the fewest"
    with st.container(key="own_texts_table"):
        table = Table.of_rows(header, rows)
        st.html(table.html(label, right=header[1:]))


def _title(key: str) -> str:
    """Return the title of a way to train, as the name of a column."""
    return {AS_THEY_ARE: "As they are", EQUAL: "All equal", PARITY: "Parity"}.get(
        key, f"Exponent {key}"
    )


def _within(key: str) -> str:
    """Return the name of a way to train within a sentence."""
    return {
        AS_THEY_ARE: "with shares as they are",
        EQUAL: "with equal shares",
        PARITY: "with parity",
    }.get(key, f"with exponent {key}")


def _notes(split: Split, history: Training, merges: int) -> list[str]:
    """Return notes on the figures, and on the languages for which parity merges."""
    lines = len(next(iter(split.texts.values())))
    notes = [
        "A figure is how many times as many tokens a language needs as the one with the fewest, "
        "among those that were trained on."
    ]
    if split.half:
        notes.append(
            f"Trained on {split.unit}s 1 to {split.first:,}, measured on {split.unit}s "
            f"{split.first + 1:,} to {lines:,}: no {split.unit} here was trained on."
        )
    elif not split.held_out:
        notes.append(
            f"Measured on the {split.unit}s that were trained on, which favors the tokenizers."
        )
    if isinstance(history, ParityTraining):
        names = [*split.trained]
        most = Counter(history.chosen[: history.steps]).most_common(3)
        often = joined([f"{names[text]} ({number:,})" for text, number in most])
        notes.append(f"Of parity’s {counted(history.steps, 'merge')}, most were for {often}.")
        if history.steps < merges:
            notes.append(
                f"Then it ended: {names[history.chosen[-1]]} had the most tokens, and no pair was "
                "left that occurs twice."
            )
    return notes


def _offer(text: str | Documents, trainings: Mapping[str, page_trainings.Trained]) -> None:
    """Draw a choice of the tokenizers, and buttons to use one on all pages, and to download it."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        how = st.segmented_control(
            "Use one of them",
            [*trainings],
            default=PARITY,
            required=True,
            format_func=_title,
            key=f"own_used {' '.join(trainings)}",  # another choice with other options
            width="content",
        )
        training = trainings.get(how, trainings[PARITY])
        st.button(
            "Make it your tokenizer", on_click=_use, args=(text, training.choice), key="use_own"
        )
        st.download_button(
            "Download tokenizer.json",
            # On demand: a browser fetches finished content at once, to check its address.
            lambda: file_of(training.history),
            "tokenizer.json",
            "application/json",
            key="own_for_texts_file",
            icon=":material/download:",
            help="For Hugging Face’s library.",
            on_click="ignore",
        )


def file_of(history: Training) -> bytes:
    """Return the file of a tokenizer for Hugging Face’s library."""
    if not isinstance(history, MergeTraining):
        raise TypeError(f"{history.algorithm} does not merge.")
    (content,) = formats.dump(for_single_texts(history), "huggingface").values()
    return content


def _use(text: str | Documents, choice: TrainingChoice) -> None:
    """Set the inputs of the user’s own tokenizer."""
    if isinstance(text, Documents):
        TRAIN_ON.put_rows(Rows("texts of Compare", "all languages", text).packed())
    else:
        TRAIN_ON.put(OWN_TEXT, text)
    ALGORITHM.put(choice.algorithm)
    trainer = TRAINERS[choice.algorithm]
    values = dict(choice.options)
    for option in trainer.options:
        if option.name in values:
            widget: Any = option_widget(trainer, option)
            widget.put(values[option.name])
    PATTERN.put(choice.pattern)
    LARGEST_SIZE.put(choice.largest)
    COUNTED.put(False)
    st.toast("It is your tokenizer now, on all pages.")
