"""How a tokenizer is trained: the algorithm, its options and the pre-tokenization."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from bpeviz.ui.inputs.sentence import add_to, drop_from, menu, say, sentence
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
    unpacked,
)
from bpeviz.ui.inputs.vocabulary_size import LARGEST, SIZE
from bpeviz.ui.widgets import (
    NumberField,
    OneOf,
    SessionValues,
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

_GISTS = {key: f"{trainer.short} · {trainer.gist}" for key, trainer in TRAINERS.items()}
ALGORITHM = OneOf("algorithm", "Algorithm", titles=_GISTS)
SIDE_BY_SIDE = SomeOf("algorithms", "Algorithms", titles=ALGORITHMS, most=limits.ALGORITHMS)
_BESIDE = ("bpe", "wordpiece")
"""The algorithms that stand beside a single one."""
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


OF_MANY = MappingProxyType({THIS_TEXT: LANGUAGES})
"""What a page of many texts is trained on in place of the text of the page."""


class Corpus(NamedTuple):
    """A text to train on that differs from the text of the page.

    Attributes:
        name: Its name within a sentence.
        text: The text.
        is_own: Whether the user typed or opened it.
    """

    name: str
    text: str | Documents
    is_own: bool = False


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
        *(PATTERN, EXPRESSION, WORDS, LARGEST_SIZE, COUNTED),
        *(SPECIAL_TOKENS, SPLIT_AT_SPECIAL),
        *(widget for trainer in TRAINERS.values() for widget in _all_options(trainer)),
    ),
)
"""The settings that most users leave as they are."""

SIDE_OPTIONS = {
    key: Settings(f"{SIDE}_{key}_open", trainer.short, contents=_all_options(trainer, SIDE))
    for key, trainer in TRAINERS.items()
}
"""The options of each algorithm on the Algorithms page."""


def choose_training(
    text: str | Documents | None, line: DeltaGenerator | None = None
) -> tuple[str | Documents, TrainingChoice, DeltaGenerator]:
    """Draw how the user's tokenizer is trained, as a sentence.

    Args:
        text: The text of the page, or None on a page of many.
        line: The line of the sentence, if that has begun.

    Returns:
        The text of the page, the choice, and the place of the vocabulary size.
    """
    with line or sentence():
        say("Train" if line is None else "trained with")
        trainer = TRAINERS[_algorithm()]
        say("on")
        _corpus(has_text=text is not None)
        sizes = sentence("size_place")
        if place := MORE.menu():
            with place:
                _more(trainer, has_text=text is not None)
    return *_chosen(text), sizes


def choose_training_in_menu(
    text: str | Documents | None, line: DeltaGenerator
) -> tuple[str | Documents, TrainingChoice, DeltaGenerator | None]:
    """Draw the same in one menu of a line; the vocabulary size has a place while it is open."""
    with line:
        say("· Yours:")
        fold = replace(MORE, label="settings").menu()
    with fold or nullcontext():
        trainer = TRAINERS[ALGORITHM.value() if fold is None else ALGORITHM.select()]
        sizes = None
        if fold is not None:
            _corpus(lambda *_: fold, has_text=text is not None)
            sizes = sentence("size_place")
            _more(trainer, has_text=text is not None)
    return *_chosen(text), sizes


def _chosen(text: str | Documents | None) -> tuple[str | Documents, TrainingChoice]:
    """Return the text and the choice, with what is cut in words."""
    choice = choice_of(SessionValues(), text is not None)
    _warn_of_largest([choice])
    size = characters_in(text or "")
    if choice.corpus is not None and size > limits.PAGE_TEXT:
        st.caption(f"The first {limits.PAGE_TEXT:,} of {size:,} characters are shown.")
    return expanded(text or "", choice, st.error)


def choice_of(values: Values, has_text: bool = True) -> TrainingChoice:
    """Return how the user's tokenizer is trained.

    Args:
        values: The values of the page.
        has_text: Whether it has one text.
    """
    trainer = TRAINERS[ALGORITHM.value(values=values)]
    options = option_values(trainer, values)
    corpus = corpus_of(values, has_text)
    largest = _largest_of(values, [options], on_other=corpus is not None)
    how = (*pre_tokenization_of(values), COUNTED.value(values=values), tuple(options.items()))
    special = special_tokens_of(values, trainer.own_names(options))
    return TrainingChoice(trainer.key, largest, *how, *special, corpus)


def choices_of(
    values: Values, first: Sequence[str], initial: Mapping[str, str | int]
) -> list[TrainingChoice]:
    """Return how the tokenizers of several algorithms are trained.

    Args:
        values: The values of the page.
        first: The algorithms at first.
        initial: The first values of options, by their names.
    """
    keys = _side_by_side(values, first)
    options = [option_values(TRAINERS[key], values, SIDE, initial) for key in keys]
    corpus = corpus_of(values)
    largest = _largest_of(values, options, on_other=corpus is not None)
    how = (largest, *pre_tokenization_of(values), COUNTED.value(values=values))
    special = special_tokens_of(values, _reserved(keys))
    return [
        TrainingChoice(key, *how, tuple(own.items()), *special, corpus)
        for key, own in zip(keys, options, strict=True)
    ]


def _reserved(keys: Iterable[str]) -> Collection[str]:
    """Return the special tokens of some algorithms."""
    return dict.fromkeys(name for key in keys for name in TRAINERS[key].reserved)


def option_values(
    trainer: Trainer,
    values: Values,
    place: str = "",
    initial: Mapping[str, str | int] = MappingProxyType({}),
) -> dict[str, str | int]:
    """Return the options of a trainer that have an effect, by their names.

    Args:
        trainer: The trainer.
        values: The values of the page.
        place: Begins the names of options that have values of their own.
        initial: The first values of options, by their names.
    """
    options: dict[str, str | int] = {}
    for option in trainer.options:
        if option.name == trainer.largest or not option.applies(options):
            continue
        widget = option_widget(trainer, option, place)
        first = initial.get(option.name, option.at_first)
        if isinstance(widget, TextSource):
            options[option.name] = whole_text(text_of(values, widget))
        elif isinstance(widget, NumberField):
            options[option.name] = widget.value(int(first), values)
        else:
            options[option.name] = widget.value(str(first), values)
    return options


def corpus_of(values: Values, has_text: bool = True) -> Corpus | None:
    """Return the training text, or None for the text of the page."""
    if (name := _corpus_name(values, has_text)) is None:
        return None
    is_own = values.get(TRAIN_ON.sample) == OWN_TEXT or values.get(TRAIN_ON.file) is not None
    replaced = {} if has_text else OF_MANY
    return Corpus(name, text_of(values, TRAIN_ON, limits.TEXT, replaced), is_own)


def _corpus_name(values: Values, has_text: bool = True) -> str | None:
    """Return the name of the training text, or None for the text of the page."""
    replaced: Mapping[str, str] = {} if has_text else OF_MANY
    sample = values.get(TRAIN_ON.sample) or THIS_TEXT
    sample = replaced.get(sample, sample)
    if packed := values.get(TRAIN_ON.table_rows):
        return unpacked(packed).name
    if file := values.get(TRAIN_ON.file_name) or values.get(TRAIN_ON.boxed_file):
        return file
    if sample == THIS_TEXT:
        return None
    return "another text" if sample == OWN_TEXT else TRAIN_ON.sample.titles[sample]


def pre_tokenization_of(values: Values) -> tuple[str, str]:
    """Return the pattern of the pre-tokenization, and its expression or word list."""
    pattern = PATTERN.value(values=values)
    typed = {CUSTOM: (EXPRESSION, FIRST_EXPRESSION), WORD_LIST: (WORDS, "")}
    if pattern not in typed:
        return pattern, ""
    widget, first = typed[pattern]
    return pattern, widget.value(first, values)


def special_tokens_of(values: Values, own: Collection[str]) -> tuple[tuple[str, ...], bool]:
    """Return the special tokens, and whether the training text is split at them.

    Args:
        values: The values of the page.
        own: The special tokens of the algorithms.
    """
    names = tuple(dict.fromkeys(SPECIAL_TOKENS.value(values=values).split()))
    is_counted = COUNTED.value(values=values)
    if is_counted or not (names or own):
        return names, not is_counted
    return names, SPLIT_AT_SPECIAL.value(True, values)


def _largest_of(
    values: Values, options: Sequence[Mapping[str, str | int]], *, on_other: bool
) -> int:
    """Return the largest vocabulary size. on_other: whether it is trained on another text."""
    return _largest_widget(options).value(_first_largest(options, on_other=on_other), values)


def _over_bytes(options: Iterable[Mapping[str, str | int]]) -> bool:
    return any("bytes" in of_trainer.values() for of_trainer in options)


def _largest_widget(options: Iterable[Mapping[str, str | int]]) -> NumberField:
    why = "one entry per byte value"
    return replace(LARGEST_SIZE, low=BYTE_VALUES, why=why) if _over_bytes(options) else LARGEST_SIZE


def _algorithm() -> str:
    """Draw the menu of the algorithms; return the key of the one chosen."""
    key = ALGORITHM.value()
    if (place := menu(ALGORITHMS[key], "algorithm_menu")) is None:
        return key
    with place:
        short = replace(ALGORITHM, titles=ALGORITHMS)
        return short.radio([trainer.gist for trainer in TRAINERS.values()])


def _corpus(
    menu: Callable[[str, str], DeltaGenerator | None] = menu, *, has_text: bool = True
) -> None:
    """Draw the training text in a menu."""
    words = markdown.escape(_corpus_name(SessionValues(), has_text) or "this text")
    if place := menu(words, "trained_on_menu"):
        with place:
            choose_text(TRAIN_ON, limits.TEXT, {} if has_text else OF_MANY)


def on_languages(choice: TrainingChoice) -> TrainingChoice:
    """Return a choice as it is once the user trains on the passages in many languages."""
    corpus = Corpus(TRAIN_ON.others[LANGUAGES], samples.passages())
    largest, options = choice.largest, [dict(choice.options)]
    if largest == _first_largest(options, on_other=choice.corpus is not None):
        largest = _first_largest(options, on_other=True)
    return replace(choice, largest=largest, counted=False, corpus=corpus)


def expanded(
    text: str | Documents, choice: TrainingChoice, tell: Callable[[str], object] = str
) -> tuple[str | Documents, TrainingChoice]:
    """Return the text of a page and the choice, with a list of counted words written out.

    Args:
        text: The text.
        choice: How to train on it.
        tell: Is called with the reason why a list cannot be read.
    """
    if (corpus := choice.corpus) is None:
        written = expand_counts(text, choice.counted, limits.PAGE_TEXT, tell)
        is_list = written or not text
        # A text that is no list is shown, but not trained on.
        return (written, choice) if is_list else (text, replace(choice, corpus=Corpus("", "")))
    # A worker computes only the boundaries of the training text. Samples are no lists of words.
    is_list = choice.counted and corpus.is_own
    written = expand_counts(corpus.text, is_list, limits.TEXT, tell)
    return beginning(text, limits.PAGE_TEXT), replace(choice, corpus=corpus._replace(text=written))


def all_expanded(
    text: str | Documents, choices: Sequence[TrainingChoice], tell: Callable[[str], object] = str
) -> tuple[str | Documents, list[TrainingChoice]]:
    """Return the same for choices with one training text; see `expanded`."""
    text, first = expanded(text, choices[0], tell)
    return text, [replace(choice, corpus=first.corpus) for choice in choices]


def _more(trainer: Trainer, *, has_text: bool) -> None:
    """Draw the options of a trainer and the pre-tokenization."""
    values = SessionValues()
    _options(trainer, trainer.options[:1])
    _pre_tokenization()
    place = st.container()
    _options(trainer, trainer.options[1:])
    options = option_values(trainer, values)
    with place:
        on_other = _corpus_name(values, has_text) is not None
        _largest([options], trainer.largest_title, on_other=on_other)
    _special_tokens(trainer.own_names(options))
    _counted()
    st.caption(_source(trainer))


def choose_trainings(
    text: str | Documents, default: Sequence[str], initial: Mapping[str, str | int]
) -> tuple[str | Documents, list[TrainingChoice]]:
    """Draw the algorithms to compare on a text; the name of each opens its options.

    Args:
        text: The text.
        default: The algorithms at first.
        initial: The first values of options, by their names.

    Returns:
        The text of the page, and the choices: at least two.
    """
    values = SessionValues()
    SIDE_BY_SIDE.put(keys := _side_by_side(values, default))
    with sentence():
        say("Compare")
        for key in keys:
            _side_options(TRAINERS[key], initial, can_leave=len(keys) > len(_BESIDE))
        if len(keys) < SIDE_BY_SIDE.most:
            add_to(SIDE_BY_SIDE, {"": [key for key in TRAINERS if key not in keys]}, _GISTS)
        say("on")
        _corpus()
        if place := MORE.menu():
            with place:
                _pre_tokenization()
                options = [option_values(TRAINERS[key], values, SIDE, initial) for key in keys]
                _largest(options, on_other=_corpus_name(values) is not None)
                _special_tokens(_reserved(keys))
                _counted()
    choices = choices_of(values, default, initial)
    _warn_of_largest(choices)
    return all_expanded(text, choices, st.error)


def _side_by_side(values: Values, first: Sequence[str]) -> list[str]:
    """Return the algorithms to compare, at least two. first: those at first."""
    keys = [key for key in values.get(SIDE_BY_SIDE) or first if key in TRAINERS]
    return keys + [key for key in _BESIDE if key not in keys][: max(0, len(_BESIDE) - len(keys))]


def _side_options(trainer: Trainer, initial: Mapping[str, str | int], *, can_leave: bool) -> None:
    """Draw the name of an algorithm, which opens its rule and its options."""
    if (place := SIDE_OPTIONS[trainer.key].menu()) is None:
        return
    with place:
        st.markdown(f"{trainer.rule[0].upper()}{trainer.rule[1:]}.")
        st.caption(f"{trainer.about} {_source(trainer)}")
        _options(trainer, trainer.options, SIDE, initial)
        if can_leave:
            drop_from(SIDE_BY_SIDE, trainer.key, f"Leave {trainer.short} out")


def _first_largest(options: Iterable[Mapping[str, str | int]], *, on_other: bool) -> int:
    """Return the largest vocabulary at first: with room for the characters of many languages."""
    return OF_CHARACTERS if on_other and not _over_bytes(options) else LARGEST


def _source(trainer: Trainer) -> str:
    return f"Source: {trainer.source}."


def _pre_tokenization() -> None:
    """Draw the pre-tokenization."""
    before = PATTERNS.get(PATTERN.get() or next(iter(PATTERNS)))
    about = f" {before.title}: {before.about}" if before else ""
    pattern = PATTERN.select(help=SPLIT_HELP + about)
    if pattern == CUSTOM:
        regular_expression()
    if pattern == WORD_LIST:
        WORDS.area(height=90, help=f"Words separated by white space. {ABOUT_WORDS}")


def regular_expression() -> str:
    """Draw the box of the regular expression, the same on all pages; return its value."""
    return EXPRESSION.line(value=FIRST_EXPRESSION, help=HELP_EXPRESSION)


def _largest(
    options: Sequence[Mapping[str, str | int]], label: str = LARGEST_SIZE.label, *, on_other: bool
) -> None:
    """Draw the largest vocabulary."""
    replace(_largest_widget(options), label=label).any_number(
        _first_largest(options, on_other=on_other),
        help="Training stops at this size. You can then try any smaller size without retraining.",
    )


def _warn_of_largest(choices: Iterable[TrainingChoice]) -> None:
    """Draw a message if the largest vocabulary is not allowed, and its menu is closed."""
    if (number := LARGEST_SIZE.get()) is not None and not MORE.get():
        _largest_widget(dict(choice.options) for choice in choices).warn(int(number))


def _counted() -> None:
    COUNTED.toggle(
        help="One word per line with its count, such as “low 5”. Each word is repeated that many "
        "times. With pre-tokenization by white space, this trains as Sennrich et al. did."
    )


def _special_tokens(own: Collection[str]) -> None:
    """Draw the special tokens, and whether the training text is split at them.

    Args:
        own: Those of the algorithms.
    """
    names = SPECIAL_TOKENS.line(
        placeholder="<|endoftext|>",
        help="Separate names with spaces. Their ids follow all others; they do not count "
        "toward the vocabulary size, and are exported.",
    ).split()
    if COUNTED.get():
        if names:
            st.caption("Counted words are already split: names of special tokens are like others.")
        return
    also = f", also {', '.join(f'`{name}`' for name in own)}," if own else ""
    if names or own:
        SPLIT_AT_SPECIAL.toggle(
            value=SPLIT_AT_SPECIAL.value(True),
            help=f"Each name{also} in the training text is then one token that no merge touches, "
            "as in SentencePiece, nanochat and Stanford’s CS336. Without, merges are trained on "
            "its letters, too, as in Hugging Face tokenizers.",
        )


def _options(
    trainer: Trainer,
    options: Iterable[Option],
    place: str = "",
    initial: Mapping[str, str | int] = MappingProxyType({}),
) -> None:
    """Draw the options of a trainer that have an effect.

    Args:
        trainer: The trainer.
        options: Its options to draw.
        place: Begins the names of options that have values of their own.
        initial: The first values of options, by their names.
    """
    have_effect = option_values(trainer, SessionValues(), place, initial)
    for option in options:
        if option.name not in have_effect:
            continue
        widget = option_widget(trainer, option, place)
        first = initial.get(option.name, option.at_first)
        if isinstance(widget, TextSource):
            choose_text(widget)
        elif isinstance(widget, NumberField):
            widget.any_number(int(first), help=option.help)
        else:
            index = list(widget.titles).index(str(first))
            widget.select(index=index, help=option.help)
