"""Values of a type that a widget does not send, and the lookup of one value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2.bidi_component import main
from streamlit.components.v2.bidi_component.serialization import BidiComponentSerde
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState, WStates
from streamlit.testing.v1 import AppTest

from bpeviz.ui.runtime import widget_values

ROOT = Path(__file__).resolve().parents[3]

SLIDER: WidgetMetadata[Any] = WidgetMetadata(
    id="slider",
    deserializer=lambda value: 3 if value is None else int(value[0]),
    serializer=lambda value: [value],
    value_type="double_array_value",
)


NUMBER: WidgetMetadata[Any] = WidgetMetadata(
    id="number",
    deserializer=lambda value: 3 if value is None else value,
    serializer=lambda value: value,
    value_type="double_value",
)


def received(widget: WidgetMetadata[Any] = SLIDER, **value: Any) -> WStates:
    """Return the values of a session after a message of a browser."""
    states = WStates()
    states.set_widget_metadata(widget)
    states.set_widget_from_proto(WidgetState(id=widget.id, **value))
    return states


@pytest.fixture
def original(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Restore Streamlit's own function after the test."""
    found = getattr(WStates.__getitem__, "__wrapped__", WStates.__getitem__)
    monkeypatch.setattr(WStates, "__getitem__", found)
    return found


WRONG: list[dict[str, Any]] = [
    {"string_value": "x"},
    {"double_array_value": {"data": []}},
    {"double_array_value": {"data": [float("nan")]}},
    {"double_array_value": {"data": [float("inf")]}},
    {"json_value": "{"},
]


COMPONENT: WidgetMetadata[Any] = WidgetMetadata(
    id="component",
    deserializer=BidiComponentSerde({"step": None}).deserialize,
    serializer=str,
    value_type="json_value",
)


def test_default_replaces_json_that_is_nested_too_deep(original: Any) -> None:
    widget_values.ignore_invalid()
    states = received(COMPONENT, json_value='{"step": ' + "[" * 1_000_000)
    assert states["component"] == {"step": None}


@pytest.mark.parametrize("value", WRONG, ids=str)
def test_default_replaces_a_wrong_value(value: dict[str, Any], original: Any) -> None:
    with pytest.raises((ArithmeticError, LookupError, TypeError, ValueError)):
        received(**value)["slider"]  # as Streamlit does without `ignore_invalid`
    widget_values.ignore_invalid()
    states = received(**value)
    assert [*states.items()] == [("slider", 3)]
    assert states["slider"] == 3


def test_values_of_browsers_stay(original: Any) -> None:
    widget_values.ignore_invalid()
    widget_values.ignore_invalid()
    assert WStates.__getitem__.__wrapped__ is original  # type: ignore[attr-defined]
    assert received(double_array_value={"data": [7]})["slider"] == 7
    assert received()["slider"] == 3
    # A number input, with integers or with fractions.
    assert received(NUMBER, int_value=2)["number"] == 2
    assert received(NUMBER, double_value=2.5)["number"] == 2.5
    with pytest.raises(KeyError):
        received()["unknown"]


def test_widget_looks_up_its_value_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = vars(SafeSessionState)["filtered_state"]
    monkeypatch.setattr(SafeSessionState, "filtered_state", found)
    state = SafeSessionState(SessionState(), lambda: None)
    for key in "abc":
        state[key] = key.upper()
    everything = dict(state.filtered_state)
    widget_values.look_up_singly()
    widget_values.look_up_singly()
    assert dict(state.filtered_state) == everything == {"a": "A", "b": "B", "c": "C"}
    assert "d" not in state.filtered_state
    asked: list[str] = []
    original = SessionState.__getitem__
    monkeypatch.setattr(
        SessionState, "__getitem__", lambda one, key: asked.append(key) or original(one, key)
    )
    assert "b" in state.filtered_state
    assert state.filtered_state["b"] == "B"
    assert {*asked} == {"b"}
    asked.clear()
    assert sorted(state.filtered_state) == ["a", "b", "c"]
    assert not asked


def test_keys_of_a_page_are_those_of_streamlit() -> None:
    widget_values.look_up_singly()
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
    assert not app.exception
    state = app.session_state._state._state  # of the last run, and of the test
    assert {"copy_link", "text_component", "page"} < {*state.filtered_state}
    values = SafeSessionState(state, lambda: None).filtered_state
    assert sorted(values) == sorted(state.filtered_state)


def test_component_is_looked_up_without_triggers(monkeypatch: pytest.MonkeyPatch) -> None:
    original = main.make_bidi_component_presenter  # type: ignore[attr-defined]
    monkeypatch.setattr(main, "make_bidi_component_presenter", original)
    widget_values.look_up_components_plainly()
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
    assert not app.exception
    assert "<locals>" not in type(app.session_state["copy_link"]).__qualname__
    assert app.session_state["copy_link"] == {"request": 0}
