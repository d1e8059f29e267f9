"""The inputs that the pages share: the text, and how a tokenizer is trained on it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Generic

import streamlit as st

from bpeviz import limits
from bpeviz.core.boundaries import Part
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.pretokenizers.patterns import (
    CUSTOM,
    HELP_EXPRESSION,
    MAX_EXPRESSION,
    PATTERNS,
    WORD_LIST,
    pattern_title,
)
from bpeviz.text import clean, shorten
from bpeviz.trainers import TRAINERS, Option, Trainer, texts_of
from bpeviz.ui import components, markdown
from bpeviz.ui.export import opened
from bpeviz.ui.runtime import fragments, long_texts, uploads
from bpeviz.ui.runtime.reconnection import reconnected
from bpeviz.ui.widgets import (
    LARGEST_INTEGER,
    Family,
    Number,
    OneOf,
    SessionValue,
    SomeOf,
    Switch,
    TextField,
    V,
    Values,
    Widget,
)
from bpeviz.views import player

MAX_TEXT = limits.PAGE_TEXT
"""The most characters of a text that the pages other than Train use."""

MAX_TRAINED = limits.TEXT
"""The most characters of a text that Train trains on."""

MAX_UPLOAD = limits.UPLOAD
"""The size limit of a file in megabytes: `MAX_TRAINED` characters of up to four bytes."""

EDITABLE = 100_000
"""The most characters of a file that are put into the text box; of a longer one the page shows
only the name."""

LARGEST = 1_024
MAX_VOCABULARY = limits.VOCABULARY
MAX_SIDE_BY_SIDE = limits.ALGORITHMS
SIDE = "side"
"""Begins the names of the options of the Algorithms page, which have values of their own."""

OWN = "own"
"""The key of the user's own text among the samples."""

ABOUT_WORDS = (
    "From the left, the longest listed word that matches becomes a pre-token; where none matches, "
    "a single character does."
)
BYTE_VALUES = 256


@dataclass(frozen=True)
class Choice:
    """How to train a tokenizer. Hashable, so that caches can use it as a key.

    Attributes:
        counted: Whether the text is a list of words, each with its count.
        special_tokens: Names that get the ids after all others.
    """

    algorithm: str
    largest: int
    pattern: str
    expression: str
    counted: bool
    options: tuple[tuple[str, str | int], ...]
    special_tokens: tuple[str, ...] = ()


# ---- the widgets, and their values in links


@dataclass(frozen=True, kw_only=True)
class Sample(OneOf):
    """The sample of a `TextSource`. A link contains neither the sample nor an open file."""

    source: TextSource

    def for_link(self) -> tuple[str | None, str | None]:
        if self.source.file.present:
            return None, self.source.described()
        return super().for_link()

    def restore(self, value: str) -> None:
        if value != OWN:  # the text itself follows, unless it was too long for the link
            self.source.put(value)


@dataclass(frozen=True, kw_only=True)
class Box(TextField):
    """The text of a `TextSource`."""

    source: TextSource

    def for_link(self) -> tuple[str | None, str | None]:
        return (None, None) if self.source.file.present else super().for_link()

    def described(self) -> str:
        return self.source.described()

    def restore(self, value: str) -> None:
        self.source.put(OWN, value)


class _Of(Generic[V]):
    """A value in the session of a `TextSource`, under the names of the source and of the value."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, source: TextSource, owner: type) -> SessionValue[V]:
        return SessionValue(f"{source.name}_{self._name}")


@dataclass(frozen=True)
class TextSource:
    """A text box with samples and files to choose from: its values in the session.

    The values are the session's own, not those of Streamlit widgets: the component `text_box` sends
    changes of the user, and changes of the script have versions. With widgets, a browser could
    repeat an old value after the script had replaced it, so that a pasted text was lost.

    Attributes:
        name: Begins their names in links and their keys in the session.
        label: The label.
        first: The key of the first sample.
    """

    name: str
    label: str
    first: str

    version = _Of[int]()
    """The number of the script's last change."""

    answered = _Of[int]()
    """The number of the last change of the user that was used."""

    typed_at = _Of[int]()
    """The version that the user's last text replaced. The browser has it, if it is the last."""

    component = _Of[dict[str, Any]]()
    """The state of the component, whose "change" is the user's last one."""

    file = _Of[str]()
    """The text of an opened file that is too long for the box."""

    file_name = _Of[str]()
    """The name of that file."""

    boxed_file = _Of[str]()
    """The name of the file whose text is in the box, until that is edited."""

    failed = _Of[str]()
    """Why the last file cannot be used."""

    upload = _Of[Any]()
    """The uploader. Unlike the box it loses its value when the page changes."""

    @property
    def sample(self) -> Sample:
        """The sample chosen."""
        titles = {one.key: one.title for one in samples.SAMPLES} | {OWN: "Your own text"}
        return Sample(f"{self.name}_sample", self.label, titles=titles, source=self)

    @property
    def box(self) -> Box:
        """The text in the box."""
        return Box(f"{self.name}_box", f"{self.label} to use", longest=MAX_TEXT, source=self)

    def widgets(self, values: Values) -> Iterator[Widget[Any]]:
        """Yield the widgets whose values a link contains: the sample's name, or the text."""
        yield self.sample
        if values.get(self.sample) == OWN:
            yield self.box

    def forget_file(self) -> None:
        """Remove the file, so that the box is used."""
        for value in (self.file, self.file_name, self.failed, self.boxed_file):
            value.clear()

    def put(self, sample: str, own: str = "") -> None:
        """Set the sample, or the user's own text, in place of any other text."""
        self.forget_file()
        self.sample.put(sample)
        self.box.put(own if sample == OWN else samples.by_key(sample).text)
        self.send_again()

    def send_again(self) -> None:
        """Replace the text in the browser by the session's text."""
        self.version.put((self.version.get() or 0) + 1)

    def take(self, change: Any) -> bool:
        """Use a change that the browser sent, unless it was used before; return whether it is new.

        Args:
            change: {"number", "sample": its key, "text"}, or anything else that a browser may send.
                With "isUploaded" in place of the text, the text was sent by itself. Without a
                text, the browser asks for it.
        """
        match change:
            case {"number": int(number), "sample": str(sample)}:
                if number <= (self.answered.get() or 0) or sample not in self.sample.titles:
                    return False
            case _:
                return False
        match change:
            case {"text": str(text)}:
                pass
            case {"text": None}:
                self.answered.put(number)
                self.send_again()
                return True
            case {"isUploaded": True}:
                uploaded = inbox().take(self.name, number)
                if uploaded is None:
                    return False
                text = uploaded
            case _:
                return False
        self.answered.put(number)
        if sample != OWN:
            self.put(sample)
            return True
        boxed = self.boxed_file.get() if text == self.box.get() else None
        self.forget_file()
        self.sample.put(OWN)
        self.box.put(text)
        self.typed_at.put(self.version.get() or 0)
        if boxed is not None:
            self.boxed_file.put(boxed)
        return True

    def described(self) -> str:
        """Return the label, the file's name and the length, so that others can find the text."""
        name = self.file_name.get() or self.boxed_file.get()
        length = f"{len(self.file.get() or self.box.get() or ''):,} characters"
        return (
            f"{self.label}: {shorten(name, 100)}, {length}" if name else f"{self.label}: {length}"
        )


TEXT = TextSource("text", "Text", "seashells")
"""The text of all pages. The first one is small enough to follow every merge."""


ALGORITHMS = {key: trainer.short for key, trainer in TRAINERS.items()}
"""The on-screen name of each algorithm, the same on every page."""

ALGORITHM = OneOf("algorithm", "Algorithm", titles=ALGORITHMS)
SIDE_BY_SIDE = SomeOf("algorithms", "Algorithms", titles=ALGORITHMS, most=MAX_SIDE_BY_SIDE)
PATTERN = OneOf(
    "pattern",
    "Pre-tokenization",
    titles={key: pattern_title(key) for key in (*PATTERNS, CUSTOM, WORD_LIST)},
)
EXPRESSION = TextField("regex", pattern_title(CUSTOM), longest=MAX_EXPRESSION)
WORDS = TextField("words", "Word list", longest=MAX_TEXT)
LARGEST_SIZE = Number("largest", "Largest vocabulary", low=1, high=MAX_VOCABULARY)
COUNTED = Switch("counted", "The text is a list of words with counts")
SPECIAL_TOKENS = TextField("special_names", "Special tokens", longest=MAX_EXPRESSION)


class _Size(Number):
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
SESSION: SessionValue[long_texts.Inbox] = SessionValue("session")
"""The inbox of long texts. A browser that sees another one's token sends its text again."""

PAGE: SessionValue[str] = SessionValue("page")
"""The title of the page that is drawn."""


def inbox() -> long_texts.Inbox:
    """Return the inbox of this session."""
    if (found := SESSION.get()) is None:
        SESSION.put(found := long_texts.Inbox())
    return found


def option_widget(trainer: Trainer, option: Option, place: str = "") -> OneOf | Number | TextSource:
    """Return the widget of an option. place: begins its name where it has a value of its own."""
    name = "_".join(filter(None, (place, trainer.key, option.name)))
    if option.sample is not None:
        return TextSource(name, option.label, option.sample)
    if option.choices is not None:
        return OneOf(name, option.label, titles=option.choices)
    most = MAX_TEXT if option.maximum is None else option.maximum
    return Number(name, option.label, low=option.minimum, high=most)


def option_widgets(trainer: Trainer, values: Values, place: str = "") -> Iterator[Widget[Any]]:
    """Yield the widgets of the options that matter, given the values of those before."""
    chosen: dict[str, Any] = {}
    for option in trainer.options:
        if option.name == trainer.largest:
            continue
        if not option.applies(chosen):
            continue
        widget = option_widget(trainer, option, place)
        if isinstance(widget, TextSource):
            yield from widget.widgets(values)
        else:
            yield widget
            chosen[option.name] = values.get(widget)


def pattern_widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets of the pre-tokenization, the largest vocabulary and the kind of text."""
    yield PATTERN
    if values.get(PATTERN) == CUSTOM:
        yield EXPRESSION
    if values.get(PATTERN) == WORD_LIST:
        yield WORDS
    yield LARGEST_SIZE
    yield COUNTED
    yield SPECIAL_TOKENS


def training_widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets of the user's own tokenizer: the text, how it is trained, and its size."""
    yield from TEXT.widgets(values)
    yield ALGORITHM
    if trainer := TRAINERS.get(values.get(ALGORITHM) or ""):
        yield from option_widgets(trainer, values)
    yield from pattern_widgets(values)
    yield BY_MERGES
    yield SIZE


# ---- the text


def text(source: TextSource, most: int = MAX_TEXT) -> str:
    """Draw a text box with samples and files to choose from.

    Args:
        source: Its widgets.
        most: The most characters that the page uses.

    Returns:
        The text, cleaned and cut after `most` characters; empty where a message says why it cannot
        be used.
    """
    if not source.box.present:
        source.put(source.first)

    def take_change() -> None:
        source.take((source.component.get() or {}).get("change"))

    def take_file() -> None:
        # The browser may send the upload again after the page has changed; then nothing is there.
        try:
            files = uploads.take(source.upload.key)
        except uploads.RefusedUploadError as error:
            source.failed.put(str(error))
            return
        for name, content in files:
            try:
                read = read_file(name, content)
            except UnreadableFileError as error:
                source.failed.put(str(error))
                continue
            if len(read) <= EDITABLE:
                source.put(OWN, read)
                source.boxed_file.put(name)
            elif refusal := uploads.refusal(sys.getsizeof(read)):
                source.failed.put(refusal)
            else:
                source.forget_file()
                source.file.put(read)
                source.file_name.put(name)

    change = components.text_box(_box_data(source), source.component.key, take_change)
    source.take(change)  # the first run of a session that replaces an earlier one has no callbacks
    message = st.empty()  # above the button, since its popover covers what is below
    with st.popover("Open a file", icon=":material/upload_file:", width="stretch"):
        st.file_uploader(
            f"UTF-8 text, up to {MAX_TRAINED:,} characters",
            key=source.upload.key,
            on_change=take_file,
            max_upload_size=MAX_UPLOAD,
        )
    if failed := source.failed.get():
        message.error(markdown.escape(failed))
    whole = source.file.get() or source.box.get() or ""
    chosen = clean(whole)
    if len(chosen) > MAX_TRAINED:
        st.error(
            f"This text has {len(chosen):,} characters; the limit is {MAX_TRAINED:,}. "
            "Shorten it, or use a part of it."
        )
        return ""
    if len(chosen) > most:
        st.caption(f"This page uses the first {most:,} of {len(chosen):,} characters.")
    return chosen[:most]


def _box_data(source: TextSource) -> dict[str, Any]:
    """Return the payload of the component (`TextBoxPayload` in its `text_state.js`)."""
    own = inbox()
    is_typed = source.typed_at.get() == source.version.get()
    file = source.file.get()
    named = f"{source.file_name.get()}: {len(file):,} characters" if file is not None else None
    return {
        "name": source.name,
        "session": own.token,
        "version": source.version.get(),
        "answered": source.answered.get() or 0,
        "sample": source.sample.get(),
        "text": None if is_typed else clean(source.box.get() or ""),
        "file": named,
        "files": [source.file_name.get()] * (file is not None) + [one.title for one in opened()],
        "limit": MAX_TRAINED,
        "address": long_texts.address(own, source.name),
        "longest": long_texts.LONGEST_MESSAGE,
        "own": OWN,
        "label": source.label,
        "boxLabel": source.box.label,
        "placeholder": "Type or paste text.",
        "help": "Start with a sample, or type or paste your own text into the box below.",
        "samples": [
            [group, [[one.key, f"{one.title} · {one.shows}"] for one in listed]]
            for group, listed in samples.GROUPS.items()
        ],
        "ownTitle": source.sample.titles[OWN],
    }


class UnreadableFileError(ValueError):
    """A file is not a text that can be used; the message says why."""


def read_file(name: str, content: bytes) -> str:
    """Return the text of a file without its byte order mark.

    Raises:
        UnreadableFileError: The file is no UTF-8 text, or too long.
    """
    try:
        found = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            reason = "it looks like UTF-16"
        else:
            reason = f"byte {error.start + 1:,} is {content[error.start]:02X}"
        raise UnreadableFileError(
            f"{name} is not UTF-8 text: {reason}. Save it as UTF-8 and open it again."
        ) from None
    if "\0" in found and found.count("\0") * 100 > len(found):
        raise UnreadableFileError(
            f"{name} contains many zero bytes, so it is not text. Open another."
        )
    if len(found) > MAX_TRAINED:
        raise UnreadableFileError(
            f"{name} has {len(found):,} characters; the limit is {MAX_TRAINED:,}. "
            "Open a part of it."
        )
    return found


def expanded(text: str, counted: bool) -> str:
    """Return the text to train on: a list of words with counts is written out.

    Where a line cannot be read, a message says which, and the text is empty.
    """
    if not counted:
        return text
    try:
        return samples.written_out(text, MAX_TEXT)
    except ValueError as error:
        st.error(markdown.escape(str(error)))
        return ""


# ---- a part of a long text


def choose_part(
    numbers: Family[Number], parts: Sequence[Part], whole: str = "", width: int = 200
) -> Part:
    """Draw the number of the part shown, where there are several; return the part.

    Args:
        numbers: The numbers of parts.
        parts: All parts of the text.
        whole: Begins the caption about the figures for the whole text. Without it there is none.
        width: The width of the box in pixels.
    """
    if len(parts) < 2:
        return parts[0]
    widget = numbers.member(len(parts))
    number = replace(widget, label=f"{widget.label}, 1 to {len(parts):,}").box(width=width)
    part = parts[number - 1]
    if whole:
        st.caption(
            f"Showing characters {part.first + 1:,} to {part.last:,} of {parts[-1].last:,}. "
            f"{whole} the whole text."
        )
    return part


# ---- how to train


def choice() -> Choice:
    """Draw the algorithm, its options and the pre-tokenization; return the choice."""
    shown = TRAINERS.get(ALGORITHM.get() or "", next(iter(TRAINERS.values())))
    trainer = TRAINERS[ALGORITHM.select(help=_about([shown]))]
    values: dict[str, str | int] = {}
    _options(trainer, trainer.options[:1], values)
    pattern, expression = _pre_tokenization()
    with st.expander("Advanced options"):
        place = st.container()
        _options(trainer, trainer.options[1:], values)
        special = _special_tokens()
        counted = _counted()
        if not trainer.prunes:
            BY_MERGES.toggle(on_change=_keep_size)
    with place:
        largest = _largest(over_bytes="bytes" in values.values(), label=trainer.largest_title)
    options = tuple(values.items())
    return Choice(trainer.key, largest, pattern, expression, counted, options, special)


def choices(default: Sequence[str], initial: Mapping[str, str | int]) -> list[Choice]:
    """Draw the algorithms to compare, each with its options; return the choices.

    Args:
        default: The algorithms at first.
        initial: The first values of options, by their names.
    """
    keys = SIDE_BY_SIDE.multiselect(default=list(default), help=_about(TRAINERS.values()))
    pattern, expression = _pre_tokenization()
    with st.expander("Advanced options"):
        place = st.container()
        special = _special_tokens()
        counted = _counted()
    options: dict[str, dict[str, str | int]] = {}
    for key in keys:
        with st.expander(f"{ALGORITHMS[key]} options"):
            options[key] = {}
            _options(TRAINERS[key], TRAINERS[key].options, options[key], SIDE, initial)
    with place:
        largest = _largest(over_bytes=any("bytes" in one.values() for one in options.values()))
    return [
        Choice(key, largest, pattern, expression, counted, tuple(options[key].items()), special)
        for key in keys
    ]


def _about(trainers: Iterable[Trainer]) -> str:
    return "\n".join(f"- **{one.title}**: {one.about} Source: {one.source}." for one in trainers)


def _pre_tokenization() -> tuple[str, str]:
    """Draw the pre-tokenization; return the pattern and the expression typed for it."""
    pattern = PATTERN.select(
        help="How the text is split into pre-tokens before training. No merge crosses from one "
        "pre-token to the next, except in the second phase of SuperBPE.\n\n"
        + "\n".join(f"- **{one.title}**: {one.about}" for one in PATTERNS.values()),
    )
    expression = ""
    if pattern == CUSTOM:
        expression = regular_expression()
    if pattern == WORD_LIST:
        expression = WORDS.area(height=90, help=f"Words separated by white space. {ABOUT_WORDS}")
    return pattern, expression


def regular_expression() -> str:
    """Draw the box of the regular expression, the same on all pages; return its value."""
    return EXPRESSION.line(value=r"\w+|[^\w\s]+|\s+", help=HELP_EXPRESSION)


def _largest(*, over_bytes: bool, label: str = LARGEST_SIZE.label) -> int:
    low = BYTE_VALUES if over_bytes else LARGEST_SIZE.low
    return replace(LARGEST_SIZE, low=low, label=label).any_number(
        LARGEST,
        why="one entry per byte value" if over_bytes else "",
        help="Training stops at this size. You can then try any smaller size without retraining.",
    )


def _counted() -> bool:
    return COUNTED.toggle(
        help="One word per line with its count, such as “low 5”. Each word is repeated that many "
        "times. With pre-tokenization by white space, this trains as Sennrich et al. did."
    )


def _keep_size() -> None:
    """Set the slider to the current size, since its bounds change."""
    if (size := SIZE.get()) is not None:
        SIZE.linked.put(size)


def _special_tokens() -> tuple[str, ...]:
    typed = SPECIAL_TOKENS.line(
        placeholder="<|endoftext|>",
        help="Names with a space between them, such as `<s> </s>`. They get the ids after all "
        "others, are not counted in the vocabulary size, and are part of exports. In the training "
        "text they are plain text.",
    )
    return tuple(dict.fromkeys(typed.split()))


def _options(
    trainer: Trainer,
    options: Iterable[Option],
    values: dict[str, str | int],
    place: str = "",
    initial: Mapping[str, str | int] = MappingProxyType({}),
) -> None:
    """Draw options of a trainer and add the values that have an effect to `values`.

    Args:
        trainer: The trainer.
        options: Its options to draw.
        values: The values chosen so far, by the options' names.
        place: Begins the names of options that have values of their own.
        initial: The first values of options, by their names.
    """
    for option in options:
        if option.name == trainer.largest:
            continue
        if option.applies(values):
            widget = option_widget(trainer, option, place)
            values[option.name] = _option(option, widget, initial.get(option.name, option.at_first))


def _option(option: Option, widget: OneOf | Number | TextSource, initial: str | int) -> str | int:
    if isinstance(widget, TextSource):
        return text(widget)
    if isinstance(widget, OneOf):
        index = list(widget.titles).index(str(initial))
        return widget.select(index=index, help=option.help)
    return widget.any_number(int(initial), help=option.help)


# ---- the vocabulary size

STOPPED = {
    "no pair": "No pair is left to merge",
    "rare": "No remaining pair reaches the minimum pair count (Advanced options; the default "
    "is 2 here, 1 in the library)",
}
"""Why training stops before its largest vocabulary."""


def size_step(training: Training | str, largest: int) -> int:
    """Draw the vocabulary size, disabled where training failed; return the step that has it."""
    if not isinstance(training, str):
        return vocabulary_size(training, largest)
    idle_vocabulary_size()
    return 0


def vocabulary_size(training: Training, largest: int) -> int:
    """Draw the slider of the vocabulary size; return the step at which it has that size."""
    low, high = int(training.sizes.min()), int(training.sizes.max())
    by_merges = bool(BY_MERGES.get()) and not TRAINERS[training.algorithm].prunes
    offset = low if by_merges else 0
    if low == high:
        idle_vocabulary_size()
        st.caption(f"{texts_of(training).vocabulary(training, 0)}. {player.still(training)}")
        return 0
    # To Streamlit, a slider with other bounds is another widget. With one key, their values would
    # be mixed up when the page changes, so each slider has its own key.
    slider: SessionValue[int] = SessionValue(f"{SLIDER}{'merges_' * by_merges}{low}_{high}")
    # A hash: sessions must not keep decisions in memory after the cache evicts them.
    decisions = hash((low, tuple(training.decisions)))
    opening = int(training.sizes[training.opening])
    if not _SLIDER_OF.present and reconnected():
        _SLIDER_OF.put(decisions)  # the browser sends the size
    elif _SLIDER_OF.get() != decisions or SIZE.linked.present:
        _SLIDER_OF.put(decisions)
        linked = SIZE.linked.get()
        SIZE.linked.clear()
        slider.put(min(max(opening if linked is None else linked, low), high) - offset)
    elif _SLIDER_ON.get() != PAGE.get() and (known := slider.get()) is not None:
        # The user comes from another page; the browser may still have an earlier value.
        slider.put(known)
    _SLIDER_ON.put(PAGE.get() or "")
    chosen = st.slider(
        "Number of merges" if by_merges else SIZE.label,
        low - offset,
        high - offset,
        None if slider.present else opening - offset,
        key=slider.key,
        on_change=fragments.page_input_changed,
        persist_state="session",
        help="Training ends at this size. Try any size: no retraining needed.",
    )
    size = chosen + offset
    SIZE.show(size)
    step = training.step_of(size)
    made = texts_of(training).vocabulary(training, step)
    why = STOPPED.get(training.stopped)
    ending = f" {after}" if (after := texts_of(training).at_the_end) else ""
    if why and largest != LARGEST:
        st.caption(f"{made}. {why}, so {largest:,} cannot be reached.{ending}")
    elif why and step == training.steps:
        st.caption(f"{made}. {why}.{ending}")
    else:
        st.caption(f"{made}.")
    return step


def idle_vocabulary_size(key: str = "no_vocabulary_size") -> None:
    """Draw a disabled slider if there is only one size."""
    st.slider(SIZE.label, 0, 1, 0, disabled=True, format=" ", key=key)
    SIZE.clear()
