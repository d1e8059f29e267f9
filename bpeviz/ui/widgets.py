"""Declarations of the widgets whose values belong in links, for pages and for links.

The name of a widget in links never changes, since existing links must still open. It is also the
widget's key in the session, unless another name is declared. The class of a widget defines the type
of its value and the allowed values.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.cached_property import cached_property
from bpeviz.text import clean
from bpeviz.ui import markdown
from bpeviz.ui.runtime import page_change

V = TypeVar("V")

LARGEST_INTEGER = 2**53 - 1
"""The largest integer that a browser's inputs take."""


@dataclass(frozen=True)
class SessionValue(Generic[V]):
    """A typed value of the session, under a key."""

    key: str

    @property
    def present(self) -> bool:
        """Whether the session has the value."""
        return self.key in st.session_state

    def get(self) -> V | None:
        """Return the value, or None where there is none."""
        return cast("V | None", st.session_state.get(self.key))

    def put(self, value: V) -> None:
        """Set the value."""
        st.session_state[self.key] = value

    def clear(self) -> None:
        """Remove the value."""
        st.session_state.pop(self.key, None)


@dataclass(frozen=True)
class Widget(SessionValue[V], ABC):
    """A widget whose value belongs in a link.

    Attributes:
        label: Its label on the page.
        link: Its name in links, by default its key.
    """

    label: str
    link: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", self.link or self.key)

    @abstractmethod
    def allows(self, value: Any) -> bool:
        """Return whether a link may contain this value."""

    def known(self, value: Any) -> tuple[Any, Sequence[str]]:
        """Return a value of a link without parts that the page does not know, and those parts."""
        return value, ()

    def used(self, value: V) -> V:
        """Return the value that the page uses for a typed value."""
        return value

    def for_link(self) -> tuple[V | None, str | None]:
        """Return the value for a link, or None with a description if it is too long for a link."""
        if (value := self.get()) is None:
            return None, None
        value = self.used(value)
        return (value, None) if self.allows(value) else (None, self.described())

    def described(self) -> str:
        """Return the label and the length, so that others can find the value."""
        return f"{self.label}: {len(str(self.get() or '')):,} characters"

    def restore(self, value: V) -> None:
        """Set the value of a link."""
        self.put(value)

    def _stored(self, values: Values | None) -> V | None:
        """Return the value of a widget, by default of the session, that this run may not draw."""
        if values is not None:
            return values.get(self)
        page_change.set_again(self.key)
        return self.get()

    # Fields get their current value as default: on a busy machine, a browser may draw a field only
    # when a later run no longer sends a link's value, and would then send the default back.

    @property
    def _drawn(self) -> dict[str, Any]:
        page_change.set_again(self.key)
        return {"label": self.label, "key": self.key, "persist_state": "session"}

    def _drawn_of(self, values: Sequence[V], options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a choice of some values, with other options."""
        drawn = {"options": values, **self._drawn, **options}
        return drawn | {"index": values.index(now)} if (now := self.get()) in values else drawn


@dataclass(frozen=True, kw_only=True)
class TextField(Widget[str]):
    """A text of at most `longest` characters."""

    longest: int

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) <= self.longest

    def value(self, initial: str = "", values: Values | None = None) -> str:
        """Return the text, cleaned, without drawing it. initial: the text at first."""
        text = clean(initial if (text := self._stored(values)) is None else text)
        return text[: limits.BOX]

    def line(self, value: str = "", **options: Any) -> str:
        """Draw a box for one line; return the text, cleaned. value: the text at first."""
        drawn = self._drawn | {"value": value if (now := self.get()) is None else now}
        return clean(st.text_input(max_chars=self.longest, **drawn, **options) or "")

    def area(self, **options: Any) -> str:
        """Draw a box for several lines; return the text, cleaned."""
        text = clean(st.text_area(**self._drawn, **options) or "")
        if len(text) > limits.BOX:  # the browser sends one character more (`frame.js`)
            st.warning(f"This box takes {limits.BOX:,} characters. The rest was left out.")
        return text[: limits.BOX]


@dataclass(frozen=True, kw_only=True)
class OneOf(Widget[str]):
    """One of a few values, each with its title."""

    titles: Mapping[str, str]

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.titles

    def value(self, initial: str = "", values: Values | None = None) -> str:
        """Return the value without drawing it. initial: the value at first, or "" for the first."""
        value = self._stored(values)
        first = initial or next(iter(self.titles))
        return value if value is not None and self.allows(value) else first

    def select(self, titles: Mapping[str, str] | None = None, **options: Any) -> str:
        """Draw a drop-down list; return the value. titles: where these are not the declared."""
        by_key = titles or self.titles
        return cast(
            str,
            st.selectbox(format_func=by_key.__getitem__, **self._drawn_of([*by_key], options)),
        )

    def radio(self, captions: Sequence[str], **options: Any) -> str:
        """Draw all values below each other, each with a caption; return the value."""
        return cast(
            str,
            st.radio(
                format_func=lambda key: markdown.escape(self.titles[key]),
                captions=captions,
                **self._drawn_of([*self.titles], options),
            ),
        )

    def segments(
        self, initial: str = "", titles: Mapping[str, str] | None = None, **options: Any
    ) -> str:
        """Draw all values side by side; return the value.

        Args:
            initial: The value at first, by default the first one.
            titles: The titles where they are not the declared.
            **options: Those of Streamlit's function.
        """
        by_key = titles or self.titles
        return cast(
            str,
            st.segmented_control(
                options=list(by_key),
                default=initial or next(iter(by_key)),
                required=True,
                format_func=by_key.__getitem__,
                **self._drawn,
                **options,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class SomeOf(Widget[list[str]]):
    """Some of several values, at most `most` of them."""

    titles: Mapping[str, str]
    most: int

    def allows(self, value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) <= self.most
            and all(isinstance(key, str) and key in self.titles for key in value)
            and len({*value}) == len(value)
        )

    def known(self, value: Any) -> tuple[Any, Sequence[str]]:
        are_names = isinstance(value, list) and all(isinstance(key, str) for key in value)
        if not are_names or not any(key in self.titles for key in value):
            return value, ()
        unknown = [key for key in value if key not in self.titles]
        return [key for key in value if key in self.titles], unknown

    def multiselect(self, titles: Mapping[str, str] | None = None, **options: Any) -> list[str]:
        """Draw a drop-down list for several; return those chosen.

        Args:
            titles: The titles where these are not the declared ones.
            **options: Arguments of `st.multiselect`.
        """
        shown = titles or self.titles
        return st.multiselect(
            options=list(shown),
            format_func=shown.__getitem__,
            max_selections=self.most,
            **self._drawn,
            **options,
        )


@dataclass(frozen=True, kw_only=True)
class NumberField(Widget[int]):
    """A whole number from `low` to `high`.

    Attributes:
        low: The smallest number.
        high: The largest number.
        why: The reason of the smallest one, for a message.
    """

    low: int
    high: int
    why: str = ""

    def allows(self, value: Any) -> bool:
        return type(value) is int and self.low <= value <= self.high

    def used(self, value: int) -> int:
        return min(max(value, self.low), self.high) if type(value) is int else value

    def value(self, initial: int, values: Values | None = None) -> int:
        """Return the number, or the nearest one that is allowed. initial: the number at first."""
        number = self._stored(values)
        return self.used(initial if number is None else int(number))

    def warn(self, number: int) -> None:
        """Draw a message if a number is not allowed."""
        bounded = self.used(number)
        if bounded != number:
            why = f": {self.why}" if self.why and bounded == self.low else ""
            bound = "least" if bounded == self.low else "most"
            st.warning(f"{self.label} must be at {bound} {bounded:,}{why}. {bounded:,} is used.")

    def box(self, **options: Any) -> int:
        """Draw a box that takes only allowed numbers; return the number."""
        return int(st.number_input(self.label, self.low, self.high, key=self.key, **options))

    def any_number(self, initial: int, **options: Any) -> int:
        """Draw a box that takes any number; return it, or the nearest one that is allowed.

        Args:
            initial: The number at first.
            **options: Arguments of `st.number_input`.
        """
        drawn = self._drawn
        value = initial if (current := self.get()) is None else int(current)
        number = int(st.number_input(value=value, **drawn, **options))
        with st.empty():  # always, so that the elements after it keep their identity
            self.warn(number)
        return self.used(number)

    def select(self, titles: Sequence[str], **options: Any) -> int:
        """Draw a drop-down list of a title for each number, from 0; return the number chosen."""
        return cast(
            int,
            st.selectbox(
                format_func=titles.__getitem__, **self._drawn_of(range(len(titles)), options)
            ),
        )

    def radio(self, titles: Sequence[str], **options: Any) -> int:
        """Draw a title for each number, from 0; return the number chosen."""
        numbers = range(len(titles))
        return int(
            st.radio(self.label, numbers, format_func=titles.__getitem__, key=self.key, **options)
        )


@dataclass(frozen=True, kw_only=True)
class Switch(Widget[bool]):
    """On or off."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool)

    def value(self, initial: bool = False, values: Values | None = None) -> bool:
        """Return whether it is on, without drawing it. initial: whether it is on at first."""
        return initial if (is_on := self._stored(values)) is None else bool(is_on)

    def toggle(self, **options: Any) -> bool:
        """Draw the switch; return whether it is on."""
        drawn = self._drawn | options
        return st.toggle(**drawn if (now := self.get()) is None else drawn | {"value": bool(now)})


@dataclass(frozen=True, kw_only=True)
class Section(Switch):
    """A part of a page under a title, closed at first.

    Attributes:
        contents: Widgets in it. An address that has a value of one of them, and none of the
            section, opens it.
    """

    contents: tuple[Widget[Any] | WidgetFamily[Any], ...] = ()

    def for_link(self) -> tuple[bool | None, str | None]:
        is_closed = False if self.has_value(SessionValues()) else None
        return self.get() or is_closed, None

    def has_value(self, values: Values) -> bool:
        """Return whether a widget in the section has a value."""
        return any(
            any(values.members(item))
            if isinstance(item, WidgetFamily)
            else values.get(item) is not None
            for item in self.contents
        )

    def opened(self, label: str = "") -> DeltaGenerator | None:
        """Draw the title; return the place below it, or None while it is closed.

        Args:
            label: The title where it is not the declared one.
        """
        page_change.set_again(self.key)
        label = label or self.label
        # Under another title, Streamlit closes it.
        titles = st.session_state.setdefault("titles_of_sections", {})
        if titles.get(self.key, label) != label and self.key in st.session_state:
            st.session_state[self.key] = st.session_state[self.key]
        titles[self.key] = label
        place = st.expander(label, key=self.key, on_change="rerun")
        return place if place.open else None

    def show(self, draw: Callable[..., object], *values: Any, label: str = "") -> None:
        """Draw the title, and while it is open the content below it; see `opened`."""
        if (place := self.opened(label)) is not None:
            with place:
                draw(*values)


@dataclass(frozen=True, kw_only=True)
class Settings(Section):
    """Settings in a menu of the sentence, which are drawn only while it is open.

    A link that has a value of one of them opens them.
    """

    def for_link(self) -> tuple[None, None]:
        return None, None

    def menu(self) -> DeltaGenerator | None:
        """Draw the words that open the settings; return their place, or None while it is closed."""
        page_change.set_again(self.key)
        for widget in self.contents:
            if isinstance(widget, Widget):
                page_change.set_again(widget.key)
        place = st.popover(self.label, type="tertiary", key=self.key, on_change="rerun")
        return place if place.open else None


@dataclass(frozen=True, kw_only=True)
class Share(Widget[float]):
    """A number from 0 to `most`, with a fraction."""

    most: float

    def allows(self, value: Any) -> bool:
        return type(value) is float and 0 <= value <= self.most

    def slider(self, label: str, initial: float) -> float:
        """Draw a slider; return its number."""
        return st.slider(label, 0.0, self.most, initial, 0.05, key=self.key)


@dataclass(frozen=True)
class Price(Widget[float]):
    """A price, or nothing."""

    def allows(self, value: Any) -> bool:
        return type(value) in (int, float) and 0 <= value < 1e9

    def value(self) -> float | None:
        """Return the price without drawing its box."""
        return None if (price := self._stored(None)) is None else float(price)

    def box(self) -> float | None:
        """Draw a box for a number; return it, or None where it is empty."""
        price = st.number_input(
            min_value=0.0, value=self.get(), format="%g", step=0.5, width=140, **self._drawn
        )
        return None if price is None else float(price)


W = TypeVar("W", bound="Widget[Any]")


@dataclass(frozen=True)
class WidgetFamily(Generic[W]):
    """Widgets whose names differ only at the end, such as "part_of_3", one of three parts.

    To Streamlit, a widget with other bounds is another widget, so each has its own key.

    Attributes:
        beginning: The beginning of their names.
        ends: A regular expression of all ends.
        make: Makes the widget of a name, given also the end.
    """

    beginning: str
    ends: str
    make: Callable[[str, str], W]

    def member(self, end: object) -> W:
        """Return the widget of an end."""
        return self.make(f"{self.beginning}{end}", str(end))

    def members(self, names: Iterable[str]) -> Iterator[W]:
        """Yield the widgets of those names that fit."""
        for name in names:
            if match := re.fullmatch(f"{re.escape(self.beginning)}({self.ends})", name):
                yield self.member(match[1])


def numbers(beginning: str, label: str, first: int = 1) -> WidgetFamily[NumberField]:
    """Return the family of numbers that are one of so many, from `first`."""

    def make(name: str, end: str) -> NumberField:
        return NumberField(name, label, low=first, high=int(end) - 1 + first)

    return WidgetFamily(beginning, "[1-9][0-9]{0,6}", make)


class Values(Protocol):
    """The values of a page's widgets, in the session or in a link."""

    def get(self, value: SessionValue[V]) -> V | None:
        """Return the value of a widget, or None where it has none.

        Links have no other values; of a session, it may be any one.
        """
        ...

    def members(self, family: WidgetFamily[W]) -> Iterator[W]:
        """Yield the widgets of a family that have values."""
        ...


class SessionValues(Values):
    """The values that the session has."""

    def get(self, value: SessionValue[V]) -> V | None:
        return value.get()

    def members(self, family: WidgetFamily[W]) -> Iterator[W]:
        return family.members(self._names)

    @cached_property
    def _names(self) -> list[str]:
        # Streamlit computes all values of the session to list their names.
        return [str(name) for name in st.session_state]


@dataclass(frozen=True)
class LinkValues(Values):
    """The values of a link.

    Attributes:
        taken: Those that were found to be allowed, by their names in links.
        names: The names of all.
    """

    taken: dict[str, Any]
    names: Sequence[str]

    def get(self, value: SessionValue[V]) -> V | None:
        return cast("V | None", self.taken.get(value.link)) if isinstance(value, Widget) else None

    def members(self, family: WidgetFamily[W]) -> Iterator[W]:
        return family.members(self.names)
