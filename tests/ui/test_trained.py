"""Trainings of the pages: computed once in a run."""

from __future__ import annotations

import pytest

from bpeviz.ui import trained
from bpeviz.ui.inputs import Choice
from bpeviz.ui.runtime import fragments
from bpeviz.ui.runtime.cache import Cache


def test_run_keeps_its_training_where_the_cache_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments.st, "session_state", {})
    monkeypatch.setattr(trained, "cache", Cache(1))
    choice = Choice("bpe", 300, "gpt2", "", counted=False, options=())
    with fragments.script_run():
        one = trained.get("low lower", choice)
        with fragments.script_run():  # a fragment of the page
            history = one.history
        assert one.history is history
    assert one.history is not history
