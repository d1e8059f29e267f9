"""How a tokenizer is trained: the algorithm, its options and the pre-tokenization."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.corpus import samples
from bpeviz.corpus.documents import Documents, beginning, characters_in, whole_text
from bpeviz.pretokenizers.patterns import (
    CUSTOM,
    HELP_EXPRESSION,
    MAX_EXPRESSION,
    PATTERNS,
    WORD_LIST,
    pattern_title,
)
from bpeviz.trainers import TRAINERS, Option, Trainer
from bpeviz.ui import markdown
from bpeviz.ui.inputs.sentence import menu, say, sentence
from bpeviz.ui.inputs.text import (
    LANGUAGES,
    OWN_TEXT,
    TEXT,
    THIS_TEXT,
    TRAIN_ON,
    TextSource,
    choose_text,
    expand_counts,
    text_of,
)
from bpeviz.ui.inputs.vocabulary_size import BY_MERGES, LARGEST, SIZE
from bpeviz.ui.widgets import (
    NumberField,
    OneOf,
    Settings,
    SomeOf,
    Switch,
    TextField,
    Values,
    Widget,
)

SIDE = "side"
"""Begins the names of the options of the Algorithms page, which have values of their own."""


ABOUT_WORDS = (
    "From the left, the longest listed word that matches becomes a pre-token; where none matches, "
    "a single character does."
)
BYTE_VALUES = 256
OF_CHARACTERS = 4_096
"""The largest vocabulary at first that is trained on the characters of another text."""

ALGORITHMS = {key: trainer.short for key, trainer in TRAINERS.items()}
"""The on-screen name of each algorithm, the same on every page."""

ALGORITHM = OneOf(
    "algorithm",
    "Algorithm",
    titles={key: f"{trainer.short} · {trainer.gist}" for key, trainer in TRAINERS.items()},
)
SIDE_BY_SIDE = SomeOf("algorithms", "Algorithms", titles=ALGORITHMS, most=limits.ALGORITHMS)
PATTERN = OneOf(
    "pattern",
    "Pre-tokenization",
    titles={key: pattern_title(key) for key in (*PATTERNS, CUSTOM, WORD_LIST)},
)
EXPRESSION = TextField("regex", pattern_title(CUSTOM), longest=MAX_EXPRESSION)
WORDS = TextField("words", "Word list", longest=limits.PAGE_TEXT)
LARGEST_SIZE = NumberField("largest", "Largest vocabulary", low=1, high=limits.VOCABULARY)
COUNTED = Switch("counted", "The text is a list of words with counts")


SPECIAL_TOKENS = TextField("special_names", "Special tokens", longest=MAX_EXPRESSION)
SPLIT_AT_SPECIAL = Switch("split_at_special", "Split the training text at special tokens")


class Corpus(NamedTuple):
    """A text to train on that differs from the text of the page, and its name within a sentence."""

    name: str
    text: str | Documents


@dataclass(frozen=True)
class TrainingChoice:
    """How to train a tokenizer. Hashable, so that caches can use it as a key.

    Attributes:
        counted: Whether the training text is a list of words, each with its count.
        special_tokens: Names that get the ids after all others.
        split: Whether the training text is split at these names and those of the algorithm.
        corpus: The training text, or None for the text of the page.
    """

    algorithm: str
    largest: int
    pattern: str
    expression: str
    counted: bool
    options: tuple[tuple[str, str | int], ...]
    special_tokens: tuple[str, ...] = ()
    split: bool = True
    corpus: Corpus | None = None


def option_widget(
    trainer: Trainer, option: Option, place: str = ""
) -> OneOf | NumberField | TextSource:
    """Return the widget of an option. place: begins its name where it has a value of its own."""
    name = "_".join(filter(None, (place, trainer.key, option.name)))
    if option.sample is not None:
        return TextSource(name, option.label, option.sample)
    if option.choices is not None:
        return OneOf(name, option.label, titles=option.choices)
    most = limits.PAGE_TEXT if option.maximum is None else option.maximum
    return NumberField(name, option.label, low=option.minimum, high=most)


def option_widgets(trainer: Trainer, values: Values, place: str = "") -> Iterator[Widget[Any]]:
    """Yield the widgets of the options that matter, given the values of those before."""
    chosen: dict[str, Any] = {}
    for option in trainer.options:
        if option.name == trainer.largest or not option.applies(chosen):
            continue
        widget = option_widget(trainer, option, place)
        if isinstance(widget, TextSource):
            yield from widget.widgets(values)
        else:
            yield widget
            chosen[option.name] = values.get(widget) or option.at_first


def pattern_widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets of the pre-tokenization, the largest vocabulary and the kind of text."""
    yield MORE
    yield PATTERN
    if values.get(PATTERN) == CUSTOM:
        yield EXPRESSION
    if values.get(PATTERN) == WORD_LIST:
        yield WORDS
    yield LARGEST_SIZE
    yield COUNTED
    yield SPECIAL_TOKENS
    yield SPLIT_AT_SPECIAL


def training_widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets of the user's own tokenizer: the texts, how it is trained, and its size."""
    yield from TEXT.widgets(values)
    yield from TRAIN_ON.widgets(values)
    yield ALGORITHM
    if trainer := TRAINERS.get(values.get(ALGORITHM) or next(iter(ALGORITHMS))):
        yield from option_widgets(trainer, values)
    yield from pattern_widgets(values)
    yield BY_MERGES
    yield SIZE


FIRST_EXPRESSION = r"\w+|[^\w\s]+|\s+"
"""The regular expression at first."""

SPLIT_HELP = "The text is split into pre-tokens before training; no merge crosses their ends."


def _all_options(trainer: Trainer, place: str = "") -> tuple[Widget[Any], ...]:
    """Return the widgets of all options of a trainer, for links that have a value of one."""
    options = [option for option in trainer.options if option.name != trainer.largest]
    widgets = [option_widget(trainer, option, place) for option in options]
    return tuple(widget.sample if isinstance(widget, TextSource) else widget for widget in widgets)


MORE = Settings(
    "more_open",
    "More",
    contents=(
        *(PATTERN, EXPRESSION, WORDS, LARGEST_SIZE, COUNTED, BY_MERGES),
        *(SPECIAL_TOKENS, SPLIT_AT_SPECIAL),
        *(widget for trainer in TRAINERS.values() for widget in _all_options(trainer)),
    ),
)
"""The settings that most users leave as they are."""

SIDE_OPTIONS = {
    key: Settings(
        f"{SIDE}_{key}_open", f"{trainer.short} options", contents=_all_options(trainer, SIDE)
    )
    for key, trainer in TRAINERS.items()
}
"""The options of each algorithm on the Algorithms page."""


def choose_training(
    text: str | Documents | None, line: DeltaGenerator | None = None, verb: str = "Train"
) -> tuple[str | Documents, TrainingChoice, DeltaGenerator]:
    """Draw how the user's tokenizer is trained, as a sentence.

    Args:
        text: The text of the page, or None on a page of many.
        line: The line of the sentence, if that has begun.
        verb: The first words.

    Returns:
        The text of the page, the choice, and the place of the vocabulary size.
    """
    with line or sentence():
        say(verb)
        trainer = TRAINERS[_algorithm()]
        say("on")
        corpus = _corpus(has_text=text is not None)
        sizes = sentence("size_place")
        choice = _more(trainer, corpus)
    return *_expanded(text or "", choice), sizes


def _algorithm() -> str:
    """Draw the menu of the algorithms; return the key of the one chosen."""
    key = ALGORITHM.value()
    if (place := menu(ALGORITHMS[key], "algorithm_menu")) is None:
        return key
    with place:
        short = replace(ALGORITHM, titles=ALGORITHMS)
        return short.radio([trainer.gist for trainer in TRAINERS.values()])


def _corpus(*, has_text: bool = True) -> Corpus | None:
    """Draw the menu of the training text; return it, or None for the text of the page."""
    replaced = {} if has_text else {THIS_TEXT: LANGUAGES}

    def chosen() -> str | None:
        sample = TRAIN_ON.sample.get() or THIS_TEXT
        sample = replaced.get(sample, sample)
        file = TRAIN_ON.file_name.get() or TRAIN_ON.boxed_file.get()
        if sample == THIS_TEXT and file is None:
            return None
        name = "another text" if sample == OWN_TEXT else TRAIN_ON.sample.titles[sample]
        return file or name

    words = markdown.escape(chosen() or "this text")
    with menu(words, "trained_on_menu") or nullcontext() as place:
        how = TRAIN_ON, limits.TEXT, replaced
        text = text_of(*how) if place is None else choose_text(*how)
    return None if (name := chosen()) is None else Corpus(name, text)


def on_languages(choice: TrainingChoice) -> TrainingChoice:
    """Return a choice as it is once the user trains on the passages in many languages."""
    corpus = Corpus(TRAIN_ON.others[LANGUAGES], samples.passages())
    first = _first_largest(corpus, over_bytes=("atoms", "bytes") in choice.options)
    largest = choice.largest if LARGEST_SIZE.present else first
    return replace(choice, largest=largest, counted=False, corpus=corpus)


def _expanded(
    text: str | Documents, choice: TrainingChoice
) -> tuple[str | Documents, TrainingChoice]:
    """Return the text of the page and the choice, with a list of counted words written out."""
    if (corpus := choice.corpus) is None:
        written = expand_counts(text, choice.counted, limits.PAGE_TEXT)
        is_list = written or not text
        # A text that is no list is shown, but not trained on.
        return (written, choice) if is_list else (text, replace(choice, corpus=Corpus("", "")))
    if (size := characters_in(text)) > limits.PAGE_TEXT:
        # A worker computes only the boundaries of the training text.
        st.caption(f"The first {limits.PAGE_TEXT:,} of {size:,} characters are shown.")
    # Samples are no lists of words.
    written = expand_counts(corpus.text, choice.counted and TRAIN_ON.has_box, limits.TEXT)
    return beginning(text, limits.PAGE_TEXT), replace(choice, corpus=corpus._replace(text=written))


def _more(trainer: Trainer, corpus: Corpus | None) -> TrainingChoice:
    """Draw the options of a trainer and the pre-tokenization in a menu; return the choice."""
    values: dict[str, str | int] = {}
    fold = MORE.menu()
    is_open = fold is not None
    with fold or nullcontext():
        _options(trainer, trainer.options[:1], values, is_open=is_open)
        pattern, expression = _pre_tokenization(is_open=is_open)
        place = st.container() if is_open else None
        _options(trainer, trainer.options[1:], values, is_open=is_open)
        special = _special_tokens(trainer.own_names(values), is_open=is_open)
        counted = _counted(is_open=is_open)
        if is_open:
            if not trainer.prunes:
                BY_MERGES.toggle(on_change=_keep_size)
            st.caption(_source(trainer))
    over_bytes = "bytes" in values.values()
    first = _first_largest(corpus, over_bytes=over_bytes)
    largest = _largest(place, first, over_bytes=over_bytes, label=trainer.largest_title)
    options = tuple(values.items())
    how = (trainer.key, largest, pattern, expression, counted, options)
    return TrainingChoice(*how, *special, corpus)


def choose_trainings(
    text: str | Documents, default: Sequence[str], initial: Mapping[str, str | int]
) -> tuple[str | Documents, list[TrainingChoice]]:
    """Draw the algorithms to compare on a text, each with its options.

    Args:
        text: The text.
        default: The algorithms at first.
        initial: The first values of options, by their names.

    Returns:
        The text of the page, and the choices.
    """
    options: dict[str, dict[str, str | int]] = {}
    with sentence():
        say("Compare")
        keys = SIDE_BY_SIDE.multiselect(default=list(default), label_visibility="collapsed")
        say("on")
        corpus = _corpus()
        fold = MORE.menu()
        is_open = fold is not None
        with fold or nullcontext():
            pattern, expression = _pre_tokenization(is_open=is_open)
            place = st.container() if is_open else None
            own = dict.fromkeys(name for key in keys for name in TRAINERS[key].reserved)
            special = _special_tokens(own, is_open=is_open)
            counted = _counted(is_open=is_open)
        for key in keys:
            options[key] = _side_options(TRAINERS[key], initial)
    over_bytes = any("bytes" in values.values() for values in options.values())
    largest = _largest(place, _first_largest(corpus, over_bytes=over_bytes), over_bytes=over_bytes)
    shared = (largest, pattern, expression, counted)
    choices = [
        TrainingChoice(key, *shared, (*options[key].items(),), *special, corpus) for key in keys
    ]
    if not choices:
        return text, []
    text, first = _expanded(text, choices[0])
    return text, [replace(choice, corpus=first.corpus) for choice in choices]


def _side_options(trainer: Trainer, initial: Mapping[str, str | int]) -> dict[str, str | int]:
    """Draw the menu of an algorithm's options; return their values."""
    values: dict[str, str | int] = {}
    fold = SIDE_OPTIONS[trainer.key].menu()
    with fold or nullcontext():
        if fold is not None:
            st.caption(f"{trainer.about} {_source(trainer)}")
        _options(trainer, trainer.options, values, SIDE, initial, is_open=fold is not None)
    return values


def _first_largest(corpus: Corpus | None, *, over_bytes: bool) -> int:
    """Return the largest vocabulary at first: with room for the characters of many languages."""
    return LARGEST if corpus is None or over_bytes else OF_CHARACTERS


def _source(trainer: Trainer) -> str:
    return f"Source: {trainer.source}."


def _pre_tokenization(*, is_open: bool) -> tuple[str, str]:
    """Draw the pre-tokenization, if it is open; return the pattern and its expression."""
    if not is_open:
        pattern = PATTERN.value()
        typed = {CUSTOM: EXPRESSION.value(FIRST_EXPRESSION), WORD_LIST: WORDS.value()}
        return pattern, typed.get(pattern, "")
    before = PATTERNS.get(PATTERN.get() or next(iter(PATTERNS)))
    about = f" {before.title}: {before.about}" if before else ""
    pattern = PATTERN.select(help=SPLIT_HELP + about)
    expression = ""
    if pattern == CUSTOM:
        expression = regular_expression()
    if pattern == WORD_LIST:
        expression = WORDS.area(height=90, help=f"Words separated by white space. {ABOUT_WORDS}")
    return pattern, expression


def regular_expression() -> str:
    """Draw the box of the regular expression, the same on all pages; return its value."""
    return EXPRESSION.line(value=FIRST_EXPRESSION, help=HELP_EXPRESSION)


def _largest(
    place: DeltaGenerator | None, first: int, *, over_bytes: bool, label: str = LARGEST_SIZE.label
) -> int:
    """Draw the largest vocabulary in its place, if that is open; return it."""
    low = BYTE_VALUES if over_bytes else LARGEST_SIZE.low
    widget = replace(LARGEST_SIZE, low=low, label=label)
    if place is None:
        return widget.value_in(MORE, first)
    with place:
        return widget.any_number(
            first,
            why="one entry per byte value" if over_bytes else "",
            help="Training stops at this size. You can then try any smaller size without "
            "retraining.",
        )


def _counted(*, is_open: bool) -> bool:
    if not is_open:
        return COUNTED.value()
    return COUNTED.toggle(
        help="One word per line with its count, such as “low 5”. Each word is repeated that many "
        "times. With pre-tokenization by white space, this trains as Sennrich et al. did."
    )


def _keep_size() -> None:
    """Set the slider to the current size, since its bounds change."""
    if (size := SIZE.get()) is not None:
        SIZE.linked.put(size)


def _special_tokens(own: Collection[str], *, is_open: bool) -> tuple[tuple[str, ...], bool]:
    """Draw the special tokens; return them, and whether the training text is split at them.

    Args:
        own: Those of the algorithms.
        is_open: Whether the settings are drawn.
    """
    typed = (
        SPECIAL_TOKENS.line(
            placeholder="<|endoftext|>",
            help="Separate names with spaces. Their ids follow all others; they do not count "
            "toward the vocabulary size, and are exported.",
        )
        if is_open
        else SPECIAL_TOKENS.value()
    )
    names = tuple(dict.fromkeys(typed.split()))
    if is_open and names and COUNTED.get():
        st.caption("Counted words are already split: names of special tokens are like others.")
    if COUNTED.get() or not (names or own):
        return names, not COUNTED.get()
    if not is_open:
        return names, SPLIT_AT_SPECIAL.value(True)
    also = f", also {', '.join(f'`{name}`' for name in own)}," if own else ""
    return names, SPLIT_AT_SPECIAL.toggle(
        value=SPLIT_AT_SPECIAL.value(True),
        help=f"Each name{also} in the training text is then one token that no merge touches, as in "
        "SentencePiece, nanochat and Stanford’s CS336. Without, merges are trained on its letters, "
        "too, as in Hugging Face tokenizers.",
    )


def _options(
    trainer: Trainer,
    options: Iterable[Option],
    values: dict[str, str | int],
    place: str = "",
    initial: Mapping[str, str | int] = MappingProxyType({}),
    *,
    is_open: bool,
) -> None:
    """Add the values of a trainer's options that have an effect to `values`.

    Args:
        trainer: The trainer.
        options: Its options to draw.
        values: The values chosen so far, by the options' names.
        place: Begins the names of options that have values of their own.
        initial: The first values of options, by their names.
        is_open: Whether to draw them.
    """
    fold = SIDE_OPTIONS[trainer.key] if place else MORE
    for option in options:
        if option.name == trainer.largest or not option.applies(values):
            continue
        widget = option_widget(trainer, option, place)
        first = initial.get(option.name, option.at_first)
        if isinstance(widget, TextSource):
            values[option.name] = whole_text(choose_text(widget) if is_open else text_of(widget))
        elif isinstance(widget, NumberField):
            values[option.name] = (
                widget.any_number(int(first), help=option.help)
                if is_open
                else widget.value_in(fold, int(first))
            )
        elif is_open:
            index = list(widget.titles).index(str(first))
            values[option.name] = widget.select(index=index, help=option.help)
        else:
            values[option.name] = widget.value(str(first))
