"""A browser that repeats a replaced value does not undo what the script set."""

from __future__ import annotations

from typing import Any

import pytest

from bpeviz.ui.runtime import repeats


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found: dict[str, Any] = {"sample": "english"}
    monkeypatch.setattr(repeats.st, "session_state", found)
    return found


def test_repeated_value_is_undone_each_time(state: dict[str, Any]) -> None:
    repeats.put("sample", "own")
    for _ in range(2):
        state["sample"] = "english"
        assert repeats.undo("sample")
        assert state["sample"] == "own"


def test_other_value_is_a_choice_and_so_is_the_old_one_after_it(state: dict[str, Any]) -> None:
    repeats.put("sample", "own")
    for chosen in ("russian", "english"):
        state["sample"] = chosen
        assert not repeats.undo("sample")
        assert state["sample"] == chosen


def test_old_value_is_a_choice_once_the_page_is_drawn(state: dict[str, Any]) -> None:
    repeats.put("sample", "own")
    repeats.forget()
    state["sample"] = "english"
    assert not repeats.undo("sample")
    assert state["sample"] == "english"
