"""The inputs that the pages share: the text, and how it is learnt from. They stand at the left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import streamlit as st

from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.pretokenizers.patterns import CUSTOM, MAX_EXPRESSION, PATTERNS, WORD_LIST
from bpeviz.text import clean
from bpeviz.trainers import TRAINERS, Option, Trainer, texts_of
from bpeviz.ui.export import as_text
from bpeviz.ui.runtime import run_lock
from bpeviz.views import player

MAX_TEXT = 1_200_000
"""Characters of a text that the pages use; Train takes more."""

MAX_TRAINED = 10_000_000
"""Characters of a text that can be learnt from on Train."""

MAX_UPLOAD = 40
"""Megabytes of a file: so many characters, at most four bytes each."""

EDITABLE = 100_000
"""Characters of a file that are still put into the text box; a longer one is only named."""

LARGEST = 1_024
MAX_VOCABULARY = 32_768

OWN = "own"

ABOUT_EXPRESSION = "Each match is a chunk; so is what stands between two matches."

SIZE = "size"
LINKED_SIZE = "linked_size"
"""Where the session keeps the vocabulary size that is chosen, and one that a link brought."""

PAGE, SLIDER_ON = "page", "slider_on"
"""Where the session keeps which page is drawn, and which one the slider was last drawn on."""

SLIDER = "vocabulary_size_"
"""How the names of its sliders begin: each range of sizes has its own."""

SIDE = "side"
"""Begins the names of options that stand side by side; those have values of their own."""

MOST_SIDE_BY_SIDE = 4


@dataclass(frozen=True)
class Choice:
    """How a user wants to learn. Hashable: the caches use it as a key.

    counted: whether the text is a list of words, each with how often it comes.
    """

    algorithm: str
    largest: int
    pattern: str
    expression: str
    counted: bool
    options: tuple[tuple[str, str | int], ...]


def one_of(label: str, titles: Mapping[str, str], key: str, about: str | None = None) -> str:
    """Let the user choose one of a few, which all are seen; return its name.

    titles: by name, the first is chosen at first. about: what the question mark says.
    """
    return st.segmented_control(
        label,
        list(titles),
        default=next(iter(titles)),
        required=True,
        format_func=titles.__getitem__,
        key=key,
        persist_state="session",
        help=about,
    )


def text(key: str, label: str, first_sample: str, most: int = MAX_TEXT) -> str:
    """Draw a text box with samples and a file to choose from; return the text, cleaned.

    `key` begins the names under which the values are kept. Where the text cannot be taken, a
    sentence says so, and what is returned is empty. Of a text that can be learnt from on Train,
    but is too long for the page that asks, the first `most` characters are returned.
    """
    state = st.session_state
    box, sample, file, name, failed, upload, boxed = (
        f"{key}_{part}"
        for part in ("box", "sample", "file", "file_name", "failed", "upload", "boxed_file")
    )
    if box not in state:
        state[box] = samples.by_key(first_sample).text
        state[sample] = first_sample
    elif upload not in state and name not in state:
        # A value put into the state before its widget was ever drawn is lost if the next run is
        # another page's. So it is put there again when the user arrives: the upload, which is
        # not kept from page to page, tells that.
        state[box], state[sample] = state[box], state[sample]

    def take_sample() -> None:
        forget_file()
        if state[sample] != OWN:
            state[box] = samples.by_key(state[sample]).text

    def typed() -> None:
        state[sample] = OWN
        state.pop(boxed, None)

    def forget_file() -> None:
        for part in (file, name, failed, boxed):
            state.pop(part, None)

    def take_file() -> None:
        # The browser may tell of it once more when another page is there already.
        given = state.get(upload)
        if given is None:
            return
        forget_file()
        read = read_file(given.name, given.getvalue())
        if isinstance(read, UnreadableFile):
            state[failed] = str(read)
            return
        state[sample] = OWN
        if len(read) <= EDITABLE:
            state[box], state[boxed] = read, given.name
        else:
            state[file], state[name] = read, given.name

    about = {one.key: one for one in samples.SAMPLES}
    st.selectbox(
        label,
        [*about, OWN],
        format_func=lambda one: about[one].title if one in about else "A text of your own",
        key=sample,
        on_change=take_sample,
        persist_state="session",
        help="A sample to begin with. Type or paste into the box below to use your own text.",
    )
    if file in state:
        said = f"{as_text(state[name])}: {len(state[file]):,} characters"
        with st.container():  # one element, as the box is, so that nothing behind it folds up
            st.info(said, icon=":material/description:")
            st.button("Back to the text box", on_click=forget_file, key=f"{key}_back")
    else:
        st.text_area(
            f"{label} to use",
            key=box,
            height=140,
            on_change=typed,
            persist_state="session",
            label_visibility="collapsed",
            placeholder="Type or paste a text, then press Ctrl+Enter.",
        )
    with st.popover("Open a file", icon=":material/upload_file:", width="stretch"):
        st.file_uploader(
            f"A text in UTF-8, up to {MAX_TRAINED:,} characters",
            key=upload,
            on_change=take_file,
            max_upload_size=MAX_UPLOAD,
        )
    if failed in state:
        st.error(as_text(state[failed]))
    chosen = clean(state.get(file) or state[box] or "")
    if len(chosen) > MAX_TRAINED:
        st.error(
            f"This text has {len(chosen):,} characters, and bpeviz takes up to {MAX_TRAINED:,}. "
            "Shorten it, or choose a part of it."
        )
        return ""
    if len(chosen) > most:
        st.caption(f"Of its {len(chosen):,} characters, this page uses the first {most:,}.")
    return chosen[:most]


class UnreadableFile(str):
    """The sentence that says why a file is not taken."""


def read_file(name: str, content: bytes) -> str | UnreadableFile:
    """Return the text of a file, or why it is none. A byte order mark is left out."""
    try:
        found = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            what = "it looks like UTF-16"
        else:
            what = f"byte {error.start + 1:,} is {content[error.start]:02X}"
        return UnreadableFile(
            f"{name} is not a text in UTF-8: {what}. Save it as UTF-8 and open it again."
        )
    if "\0" in found and found.count("\0") * 100 > len(found):
        return UnreadableFile(f"{name} is full of zero bytes, so it is not a text. Open another.")
    if len(found) > MAX_TRAINED:
        return UnreadableFile(
            f"{name} has {len(found):,} characters, and bpeviz takes up to {MAX_TRAINED:,}. "
            "Open a part of it."
        )
    return found


def choice() -> Choice:
    """Draw the algorithm with its options and the split; return what is chosen."""
    key = st.selectbox(
        "Algorithm",
        TRAINERS,
        format_func=lambda one: TRAINERS[one].title,
        key="algorithm",
        persist_state="session",
        help=_about([TRAINERS[st.session_state.get("algorithm", next(iter(TRAINERS)))]]),
    )
    trainer = TRAINERS[key]
    values: dict[str, str | int] = {}
    _options(trainer, trainer.options[:1], values)
    pattern, expression = _split()
    with st.expander("More"):
        largest = _largest(trainer.largest_title)
        _options(trainer, trainer.options[1:], values)
        counted = _counted()
    return Choice(key, largest, pattern, expression, counted, tuple(values.items()))


def choices(default: Sequence[str], initial: Mapping[str, str | int]) -> list[Choice]:
    """Draw the algorithms that stand side by side, each with its options; return what is chosen.

    initial: what options of a name begin with here. They are apart from those of the other pages.
    """
    keys = st.multiselect(
        "Algorithms",
        TRAINERS,
        default=list(default),
        format_func=lambda one: TRAINERS[one].short,
        max_selections=MOST_SIDE_BY_SIDE,
        key="algorithms",
        persist_state="session",
        help=_about(TRAINERS.values()),
    )
    pattern, expression = _split()
    with st.expander("More"):
        largest = _largest()
        counted = _counted()
    found = []
    for key in keys:
        values: dict[str, str | int] = {}
        with st.expander(f"Options of {TRAINERS[key].short}"):
            _options(TRAINERS[key], TRAINERS[key].options, values, SIDE, initial)
        found.append(Choice(key, largest, pattern, expression, counted, tuple(values.items())))
    return found


def _about(trainers: Iterable[Trainer]) -> str:
    return "\n".join(f"- **{one.title}**: {one.about} Source: {one.source}." for one in trainers)


def _split() -> tuple[str, str]:
    """Draw how the text is split first; return the pattern and what is typed for it."""
    pattern = st.selectbox(
        "Split the text first by",
        [*PATTERNS, CUSTOM, WORD_LIST],
        format_func=split_title,
        key="pattern",
        persist_state="session",
        help="A split cuts the text into chunks. No learnt token crosses from one to the next, but "
        "in SuperBPE's second phase.\n\n"
        + "\n".join(f"- **{one.title}**: {one.about}" for one in PATTERNS.values()),
    )
    expression = ""
    if pattern == CUSTOM:
        expression = regular_expression()
    if pattern == WORD_LIST:
        expression = st.text_area(
            "Words, separated by white space",
            key="words",
            persist_state="session",
            height=90,
            help="From the left, the longest listed word that fits is a chunk; where none fits, "
            "one character is.",
        )
    return pattern, expression


def regular_expression() -> str:
    """Draw the box of the regular expression, the same on all pages; return what is in it."""
    run_lock.give_up()  # matching may take seconds, but lets other threads run
    return st.text_input(
        split_title(CUSTOM),
        r"\w+|[^\w\s]+|\s+",
        key="regex",
        persist_state="session",
        max_chars=MAX_EXPRESSION,
        help=f"{ABOUT_EXPRESSION} Syntax: the Python package regex.",
    )


def _largest(title: str = "Largest vocabulary") -> int:
    return _number(
        title,
        "largest",
        LARGEST,
        1,
        MAX_VOCABULARY,
        "How far to learn. Every size on the way can then be chosen without learning anew.",
    )


def _counted() -> bool:
    return st.toggle(
        "The text is a list of words with counts",
        key="counted",
        persist_state="session",
        help="One word a line with how often it comes, such as “low 5”. Each word is then written "
        "out that often. Split by white space to learn as Sennrich et al. did.",
    )


def _options(
    trainer: Trainer,
    options: Iterable[Option],
    values: dict[str, str | int],
    place: str = "",
    initial: Mapping[str, str | int] = MappingProxyType({}),
) -> None:
    """Draw options of a trainer; add to `values` what is chosen, without what does not matter.

    place: where options stand that have values of their own. initial: what some begin with there.
    """
    for option in options:
        if option.name == trainer.largest:
            continue
        if option.needs is None or values.get(option.needs[0]) == option.needs[1]:
            key = option_key(trainer, option.name, place)
            usual = option.default if option.initial is None else option.initial
            values[option.name] = _option(option, key, initial.get(option.name, usual))


def option_key(trainer: Trainer, option: str, place: str = "") -> str:
    """Return the name under which the value of an option is kept."""
    return "_".join(filter(None, (place, trainer.key, option)))


def split_title(pattern: str) -> str:
    """Return what a split is called on the pages."""
    own = {CUSTOM: "Regular expression", WORD_LIST: "Word list"}
    return own[pattern] if pattern in own else PATTERNS[pattern].title


def written_out(text: str, counted: bool) -> str:
    """Return the text to learn from: a list of words with counts, if it is one, written out.

    Where a line cannot be read, a sentence says which, and what is returned is empty.
    """
    if not counted:
        return text
    try:
        return samples.written_out(text, MAX_TEXT)
    except ValueError as error:
        st.error(str(error))
        return ""


def _option(option: Option, key: str, initial: str | int) -> str | int:
    if option.sample is not None:
        return text(key, option.label, option.sample)
    if option.choices is None:
        most = MAX_TEXT if option.maximum is None else option.maximum
        return _number(option.label, key, int(initial), option.minimum, most, option.help)
    keys = list(option.choices)
    chosen: str = st.selectbox(
        option.label,
        keys,
        index=keys.index(str(initial)),
        format_func=option.choices.__getitem__,
        key=key,
        help=option.help,
        persist_state="session",
    )
    return chosen


def vocabulary_size(training: Training, largest: int) -> int:
    """Draw the slider of the vocabulary size; return the step at which it has that size.

    Moving it trains nothing anew: every size on the way is a step.
    """
    state = st.session_state
    low, high = int(training.sizes.min()), int(training.sizes.max())
    if low == high:
        idle_vocabulary_size()
        st.caption(f"{texts_of(training).vocabulary(training, 0)}. {player.still(training)}")
        return 0
    # A slider of other bounds is another widget to Streamlit. Under one key it would mix up their
    # values when the page changes, so each has its own.
    key = f"{SLIDER}{low}_{high}"
    if state.get("vocabulary_of") != (low, training.decisions) or LINKED_SIZE in state:
        state["vocabulary_of"] = (low, training.decisions)
        # It begins where a link says, if one was opened.
        size = state.pop(LINKED_SIZE, int(training.sizes[training.opening]))
        state[key] = min(max(size, low), high)
    elif state.get(SLIDER_ON) != state.get(PAGE) and key in state:
        # The user comes from another page, and the browser may not know yet where it stood.
        state[key] = state[key]
    state[SLIDER_ON] = state.get(PAGE)
    chosen = st.slider(
        "Vocabulary size",
        low,
        high,
        key=key,
        persist_state="session",
        help="Move it freely: learning has passed through every size, so nothing is learnt anew.",
    )
    state[SIZE] = chosen
    step = training.step_of(chosen)
    made = texts_of(training).vocabulary(training, step)
    why = {
        "full": "",
        "no pair": "no pair is left",
        "rare": "every pair left is rarer than the smallest count",
        "atoms": "",
    }[training.stopped]
    if why and largest != LARGEST:
        st.caption(f"{made}. This text cannot give {largest:,}: {why}.")
    elif why and step == training.steps:
        st.caption(f"{made}, all that this text gives.")
    else:
        st.caption(f"{made}.")
    return step


def idle_vocabulary_size(key: str = "no_vocabulary_size") -> None:
    """Hold the place of the slider while there is nothing to choose."""
    st.slider("Vocabulary size", 0, 1, 0, disabled=True, format=" ", key=key)
    st.session_state.pop(SIZE, None)


def _number(label: str, key: str, initial: int, low: int, high: int, about: str) -> int:
    """Draw a number to choose; one out of range is put into it, and that is said."""
    number = int(
        st.number_input(label, value=initial, key=key, help=about, persist_state="session")
    )
    # Always a place for it, so that nothing behind it becomes another element and folds up.
    place = st.empty()
    if not low <= number <= high:
        within = min(max(number, low), high)
        place.caption(f"From {low:,} to {high:,} is possible; {within:,} is used.")
        return within
    return number
