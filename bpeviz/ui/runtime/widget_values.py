"""Values of widgets that a browser does not send.

Streamlit 1.67 converts the value of a widget without a check of its type, so a message that was
written by hand ends the script run with a traceback.
"""

from __future__ import annotations

import functools
from typing import Any

from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import Serialized, WStates


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
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
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
