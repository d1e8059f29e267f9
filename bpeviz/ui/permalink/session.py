"""Links that restore a page: what they hold, and how it is put back.

A link holds what is on the page where it was made: its text and its choices, nothing that was typed
elsewhere, and the step at which the player stands. It is applied once, when it is opened; then the
page goes on as if the user had made these choices. The address keeps the link, so loading the
page again brings back what the link holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from bpeviz.corpus import samples
from bpeviz.pretokenizers.patterns import CUSTOM, MAX_EXPRESSION, PATTERNS, WORD_LIST
from bpeviz.pretrained import catalog
from bpeviz.text import shorten
from bpeviz.trainers import TRAINERS, Trainer
from bpeviz.ui import components, export
from bpeviz.ui.inputs import (
    LINKED_SIZE,
    MAX_TEXT,
    MAX_VOCABULARY,
    MOST_SIDE_BY_SIDE,
    OWN,
    SIDE,
    SIZE,
    SLIDER,
    option_key,
)
from bpeviz.ui.pages import algorithms, inspect, pretokenize
from bpeviz.ui.permalink import codec
from bpeviz.ui.permalink.codec import LONGEST, LinkError, TooLongError, Value
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.views import merge_diagram

PARAMETER = "s"
STEP = "step"
"""What a link says in its address: all choices, packed, and the step, which the browser knows."""

MOST_STEPS = 100_000_000
LARGEST_INTEGER = 2**53 - 1
"""The largest whole number that a browser's inputs take."""

NAMESAKES = 1_000
"""Tokens that are called alike are numbered; a number that is not there means the first."""

WITHOUT = "without"
"""Under this name a link tells what it goes without."""

WHY = "too long, or from a file"
"""Why it goes without that."""

NAMED = 5
"""How many names are told at most of what a link goes without, or brings in vain."""

MADE = "made_link"
BUTTON = "copy_link"
OPENED = "opened_link"
SAYS = "link_says"
FRESH = "link_is_fresh"
"""Names of the session: the last link that was made; the button; what was opened, and what is said
about it; whether what it brought still has to be kept for the next page."""

Fits = Callable[[Any], bool]


@dataclass(frozen=True)
class Number:
    """The rule that a value is a whole number from `low` to `high`."""

    low: int
    high: int

    def __call__(self, value: Any) -> bool:
        return type(value) is int and self.low <= value <= self.high

    def nearest(self, value: int) -> int:
        """Return the number itself, or what the inputs use instead if it is out of range."""
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Kept:
    """Something that a link holds: its name in the session, its label, and what it must be.

    apart: whether it stands in a part of the page that runs by itself (`bpeviz/ui/runtime/fragments.py`).
    """

    name: str
    label: str
    fits: Fits
    apart: bool = False


@dataclass(frozen=True)
class Chosen:
    """What is chosen on a page: `value` of a name, or None; and all `names` that are at hand."""

    value: Callable[[str], Any]
    names: Iterable[str]

    def remapped(
        self, stem: str, label: str, first: int = 1, *, apart: bool = False
    ) -> Iterator[Kept]:
        """Yield what is one of so many, as its name says: "part_of_3" is 1, 2 or 3."""
        for name in self.names:
            if found := re.fullmatch(re.escape(stem) + "([1-9][0-9]{0,6})", name):
                yield Kept(name, label, Number(first, int(found[1]) - 1 + first), apart)


def _one_of(*values: str) -> Fits:
    return lambda value: isinstance(value, str) and value in values


def _some_of(values: Iterable[str], most: int) -> Fits:
    known = {*values}
    return lambda found: (
        isinstance(found, list)
        and len(found) <= most
        and all(isinstance(one, str) and one in known for one in found)
        and len({*found}) == len(found)
    )


def _text(most: int) -> Fits:
    return lambda value: isinstance(value, str) and len(value) <= most


def _switch(value: Any) -> bool:
    return isinstance(value, bool)


def _up_to(most: float) -> Fits:
    return lambda value: type(value) is float and 0 <= value <= most


def kept(page: str, chosen: Chosen) -> Iterator[Kept]:
    """Yield what a link to a page holds.

    Some inputs are only there where another has a certain value. That one is yielded before, so
    who puts a link back can take each value as it comes, and have only those asked for that fit.
    """
    yield from _a_text("text", "Text", chosen)
    yield from _OF_PAGES.get(page, _learnt)(chosen)


def _a_text(key: str, label: str, chosen: Chosen) -> Iterator[Kept]:
    """Yield what `bpeviz.ui.inputs.text` keeps: the name of a sample, or a text."""
    known = (OWN, *(one.key for one in samples.SAMPLES))
    yield Kept(f"{key}_sample", label, _one_of(*known))
    if chosen.value(f"{key}_sample") == OWN:
        yield Kept(f"{key}_box", label, _text(MAX_TEXT))


def _options(trainer: Trainer, place: str, chosen: Chosen) -> Iterator[Kept]:
    for option in trainer.options:
        needs, value = option.needs or (None, None)
        if needs is not None and chosen.value(option_key(trainer, needs, place)) != value:
            continue
        if option.name == trainer.largest:
            continue
        key = option_key(trainer, option.name, place)
        if option.sample is not None:
            yield from _a_text(key, option.label, chosen)
        elif option.choices is not None:
            yield Kept(key, option.label, _one_of(*option.choices))
        else:
            most = MAX_TEXT if option.maximum is None else option.maximum
            yield Kept(key, option.label, Number(option.minimum, most))


def _how(chosen: Chosen) -> Iterator[Kept]:
    """Yield the split, and how far is learnt from what."""
    yield Kept("pattern", "Split", _one_of(*PATTERNS, CUSTOM, WORD_LIST))
    if chosen.value("pattern") == CUSTOM:
        yield Kept("regex", "Regular expression", _text(MAX_EXPRESSION))
    if chosen.value("pattern") == WORD_LIST:
        yield Kept("words", "Word list", _text(MAX_TEXT))
    yield Kept("largest", "Largest vocabulary", Number(1, MAX_VOCABULARY))
    yield Kept("counted", "List of words with counts", _switch)


def _learnt(chosen: Chosen) -> Iterator[Kept]:
    """Yield how the user's own tokenizer is learnt, and its size."""
    yield Kept("algorithm", "Algorithm", _one_of(*TRAINERS))
    if trainer := TRAINERS.get(chosen.value("algorithm")):
        yield from _options(trainer, "", chosen)
    yield from _how(chosen)
    yield Kept(SIZE, "Vocabulary size", Number(1, LARGEST_INTEGER))


def _on_train(chosen: Chosen) -> Iterator[Kept]:
    yield from _learnt(chosen)
    yield Kept("search", "Find a token", _text(MAX_EXPRESSION), apart=True)
    yield Kept("drawn_words", "Words drawn", _text(merge_diagram.MOST), apart=True)
    yield from chosen.remapped("part_of_", "Part shown")


def _on_compare(chosen: Chosen) -> Iterator[Kept]:
    yield from _learnt(chosen)
    yield Kept("others", "Compare with", _some_of(catalog.NAMES, len(catalog.NAMES)))
    yield Kept("measured_on", "Text measured", _one_of("learnt", "held out"))
    if chosen.value("measured_on") == "held out":
        yield from _a_text("held_out", "Held-out text", chosen)
    yield from chosen.remapped("reference_of_", "Reference", first=0)
    yield from chosen.remapped("shown_of_", "Part shown")


def _on_inspect(chosen: Chosen) -> Iterator[Kept]:
    yield from _learnt(chosen)
    tokenizers = (inspect.YOURS, *catalog.NAMES)
    yield Kept("inspected", "Text to inspect", _one_of("own", "learnt"))
    if chosen.value("inspected") == "own":
        yield Kept("inspect_box", "Text to inspect", _text(MAX_TEXT))
    yield Kept("inspected_by", "Tokenizer", _one_of(*tokenizers))
    yield Kept("special_tokens", "Special tokens", _one_of("text", "special"))
    yield from chosen.remapped("inspected_part_of_", "Part shown")
    yield Kept("closer", "Look closer", _one_of(*inspect.CLOSER))
    if chosen.value("closer") == "picture":
        yield Kept("mirrored", "Mirrored below", _one_of("none", *tokenizers))
        yield from chosen.remapped("drawn_part_of_", "Stretch drawn")
    if chosen.value("closer") == "token":
        yield Kept("look_up", "Token looked up", _text(MAX_EXPRESSION))
        which = f"which of {chosen.value('look_up')} in {chosen.value('inspected_by')}"
        yield Kept(which, "Several tokens are called so", Number(0, NAMESAKES))
    if chosen.value("closer") == "ids":
        yield Kept("ids_box", "Ids", _text(MAX_TEXT))


def _on_algorithms(chosen: Chosen) -> Iterator[Kept]:
    yield Kept("algorithms", "Algorithms", _some_of(TRAINERS, MOST_SIDE_BY_SIDE))
    yield from _how(chosen)
    for key in chosen.value("algorithms") or ():
        yield from _options(TRAINERS[key], SIDE, chosen)
    yield from chosen.remapped("lock_of_", "Part shown")
    yield Kept("word", "Word", _text(algorithms.LONGEST_WORD), apart=True)
    yield from chosen.remapped("random_of_", "By", first=0, apart=True)
    for name in chosen.names:
        if found := re.fullmatch(r"strength of .{1,60} up to ([0-9]{1,3}\.[0-9]{1,3})", name):
            yield Kept(name, "Strength", _up_to(float(found[1])), apart=True)
    yield Kept("seed", "Seed", Number(-LARGEST_INTEGER, LARGEST_INTEGER), apart=True)


def _on_split(chosen: Chosen) -> Iterator[Kept]:
    splits = (*PATTERNS, *pretokenize.OWN)
    yield Kept("splits", "Split by", _some_of(splits, len(splits)))
    found = chosen.value("splits") or ()
    if CUSTOM in found:
        yield Kept("regex", "Regular expression", _text(MAX_EXPRESSION))
    for key, (name, *_) in pretokenize.PUBLISHED.items():
        if key in found:
            yield Kept(name, pretokenize.OWN[key], _text(MAX_TEXT))
    yield from chosen.remapped("side by side of ", "Part shown")
    yield from chosen.remapped("levels of ", "Part shown")


_OF_PAGES: Mapping[str, Callable[[Chosen], Iterator[Kept]]] = {
    "Train": _on_train,
    "Compare": _on_compare,
    "Inspect": _on_inspect,
    "Algorithms": _on_algorithms,
    "Split": _on_split,
}
"""What each page has besides its text."""


def inputs(page: str) -> list[str]:
    """Return the names of a page's inputs, but for those in parts that run by themselves."""
    names = [str(name) for name in st.session_state]
    found = [one.name for one in kept(page, Chosen(st.session_state.get, names)) if not one.apart]
    return found + [name for name in names if name.startswith(SLIDER)]


# ---- making a link


def make(page: str) -> tuple[str, list[str]]:
    """Return what is chosen on a page, packed, and a phrase for each thing that it goes without."""
    state = st.session_state
    held: dict[str, Value] = {}
    labels: dict[str, str] = {}
    without: list[str] = []
    for one in kept(page, Chosen(state.get, [str(name) for name in state])):
        value = state.get(one.name)
        if isinstance(one.fits, Number) and type(value) is int:
            value = one.fits.nearest(value)
        if value is None:
            continue
        if f"{one.name.removesuffix('_sample')}_file" in state:
            without.append(_described(one.name.removesuffix("_sample"), one.label))
        elif f"{one.name.removesuffix('_box')}_file" not in state:
            if one.fits(value):
                held[one.name], labels[one.name] = value, one.label
            else:
                without.append(_described(one.name.removesuffix("_box"), one.label))
    if page == "Compare":  # there each stands in a column
        without += [f"Tokenizer: {one.title}" for one in export.opened()]
    while True:
        try:
            return codec.pack(held | ({WITHOUT: without} if without else {})), without
        except TooLongError:
            longest = max(labels, key=lambda name: len(str(held[name])))
            without.append(_described(longest.removesuffix("_box"), labels.pop(longest)))
            del held[longest]


def _described(key: str, label: str) -> str:
    """Return what a text or a tokenizer is called, so that somebody else can find it again.

    Of a text also how long it is.
    """
    state = st.session_state
    for one in export.opened():
        if state.get(key) == one.key:
            return f"{label}: {one.title}"
    name = state.get(f"{key}_file_name") or state.get(f"{key}_boxed_file")
    found = state.get(f"{key}_file") or state.get(f"{key}_box") or state.get(key) or ""
    length = f"{len(str(found)):,} characters"
    return f"{label}: {shorten(name, 100)}, {length}" if name else f"{label}: {length}"


def offer(page: str) -> None:
    """Draw the button that copies a link to the page as it stands; after all of its inputs."""
    if st.session_state.pop(FRESH, False):
        # What is put into the session before its input was ever drawn is lost if the next run is
        # another page's. Now that all are drawn, one more run makes them stay.
        st.rerun()
    _button(page)


@fragment
def _button(page: str) -> None:
    """Draw the button. It is pressed for a number, and only then the link is made."""
    state = st.session_state
    request = (state.get(BUTTON) or {}).get("request", 0)
    made = state.get(MADE, {"request": 0, "packed": ""})
    if request and made["request"] != request:
        packed, without = make(page)
        made = state[MADE] = {"request": request, "packed": packed}
        if without:
            st.toast(
                f"This link goes without {_listed(without)}: {WHY}. Whoever opens it is told.",
                icon=":material/link:",
                duration="long",
            )
    components.copy_link(made, BUTTON)


# ---- opening a link


def restore(page: str) -> None:
    """Put what the address brings into the session, once, before any input is drawn."""
    state = st.session_state
    packed = st.query_params.get(PARAMETER)
    opened = None if packed is None else packed[: LONGEST + 1]
    if packed and state.get(OPENED) != opened:
        state[OPENED] = opened
        state[SAYS] = (page, _opened(page, packed))
    place, says = state.get(SAYS, (page, ""))
    if says and place == page:
        st.warning(says, icon=":material/link:")


def _opened(page: str, packed: str) -> str:
    """Put back what is packed; return what has to be said about it, if anything has."""
    state = st.session_state
    try:
        found = codec.unpack(packed)
    except LinkError as error:
        return str(error)
    without = found.pop(WITHOUT, [])
    taken, strange = _taken(page, found)
    for name, value in taken.items():
        state[LINKED_SIZE if name == SIZE else name] = value
        if name.endswith("_sample"):
            _put_text(name.removesuffix("_sample"), str(value), taken)
    step = st.query_params.get(STEP, "0")
    if re.fullmatch("[0-9]{1,9}", step, re.ASCII) and int(step) <= MOST_STEPS:
        if STEP in st.query_params:
            state[components.LINKED_STEP] = {"step": int(step), "timelineId": None}
    else:
        strange.append("Step")
    state[FRESH] = True
    said = []
    if isinstance(without, list) and without:
        said.append(
            f"This link goes without {_listed(without)}: {WHY}. Open or paste it here to see "
            "what was shown."
        )
    if strange:
        said.append(
            f"Left out of this link, since it does not fit here: {_listed(sorted(strange))}."
        )
    return " ".join(said)


def _taken(page: str, found: Mapping[str, Value]) -> tuple[dict[str, Value], list[str]]:
    """Return what of a link fits the page, and what the rest is called."""
    taken: dict[str, Value] = {}
    strange: list[str] = []
    rest = dict(found)
    for one in kept(page, Chosen(taken.get, list(found))):
        if one.name not in rest:
            continue
        value = rest.pop(one.name)
        if one.fits(value):
            taken[one.name] = value
        else:
            strange.append(one.label)
    return taken, strange + list(rest)


def _put_text(key: str, sample: str, taken: Mapping[str, Value]) -> None:
    """Put a text where `bpeviz.ui.inputs.text` keeps it, in the place of any other."""
    state = st.session_state
    for part in ("file", "file_name", "failed", "boxed_file"):
        state.pop(f"{key}_{part}", None)
    if sample != OWN:
        state[f"{key}_box"] = samples.by_key(sample).text
    elif f"{key}_box" not in taken and f"{key}_box" not in state:
        del state[f"{key}_sample"]  # it was too long for the link: the page begins with its own


def _listed(names: Iterable[str]) -> str:
    """Return names for a sentence. They may be anybody's words, so they stand there as code."""
    found = list(dict.fromkeys(names))
    told = [f"`{shorten(' '.join(one.replace('`', ' ').split()), 140)}`" for one in found[:NAMED]]
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    return ", ".join(told) + more
