"""The values of widgets in the session's state: their types, and the cost of looking one up.

Streamlit 1.67 converts the value of a widget without a check of its type, so a message that was
written by hand ends the script run with a traceback.

In Streamlit 1.67, each number input, select box, slider and text input builds a dictionary of the
values of all widgets to look up its own, and so does a list of the keys. On a page
with 30 widgets this was an eighth of the processor time of a run (`tests/benchmarks/load.py`).

Streamlit 1.67 merges the triggers of a component into its state, and defines a class for the
result each time. The components of bpeviz have no triggers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from streamlit.components.v2.bidi_component import main as components
from streamlit.runtime.state.common import WidgetMetadata, is_element_id
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import (
    Serialized,
    SessionState,
    WStates,
    _is_internal_key,
)


def ignore_invalid() -> None:
    """Use the default of a widget in place of a value of a type that the widget does not send."""
    if getattr(WStates.__getitem__, "__wrapped__", None) is not None:
        return
    original = WStates.__getitem__

    @functools.wraps(original)
    def find(states: WStates, widget: str) -> Any:
        stored, metadata = states.states.get(widget), states.widget_metadata.get(widget)
        if not isinstance(stored, Serialized) or metadata is None:
            return original(states, widget)
        try:
            if _fits(stored, metadata):
                return original(states, widget)
        except (
            *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
            RecursionError,  # JSON that is nested too deep
        ):
            pass
        states.set_from_value(widget, metadata.deserializer(None))
        return original(states, widget)

    WStates.__getitem__ = find  # type: ignore[method-assign]


def _fits(stored: Serialized, metadata: WidgetMetadata[Any]) -> bool:
    """Return whether a value has the type of its widget. None is a value of every widget.

    A number input declares fractions, and sends integers where it takes only these.
    """
    sent = stored.value.WhichOneof("value")
    is_integer = (sent, metadata.value_type) == ("int_value", "double_value")
    return is_integer or sent in (None, metadata.value_type)


class _Values(Mapping[str, Any]):
    """The values of a session by key, each looked up when it is asked for."""

    def __init__(self, state: SafeSessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        return self._state[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._state

    def __iter__(self) -> Iterator[str]:
        state: SessionState = self._state._state
        with self._state._lock:
            names = state._key_id_mapper.id_key_mapping
            keys = [
                names.get(key) if is_element_id(key) else key
                for key in state._keys()
                if not _is_internal_key(key)
            ]
        return (key for key in keys if key is not None)  # without elements that have no key

    def __len__(self) -> int:
        return sum(1 for _ in self)


def look_up_singly() -> None:
    """Let a widget look up its own value without those of all others."""
    SafeSessionState.filtered_state = property(_Values)  # type: ignore[method-assign, assignment]


def look_up_components_plainly() -> None:
    """Look up the state of a component as it is, without its triggers."""
    setattr(components, "make_bidi_component_presenter", lambda *_, **__: None)  # noqa: B010
