"""Trainings of the pages: computed once in a run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import bpeviz
from bpeviz.jobs import trainings
from bpeviz.ui import trained
from bpeviz.ui.inputs.training import Choice
from bpeviz.ui.runtime import fragments, run_lock
from bpeviz.ui.runtime.cache import Cache

CHOICE = Choice("bpe", 258, "gpt2", "", counted=False, options=())


def test_run_keeps_its_training_where_the_cache_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments.st, "session_state", {})
    monkeypatch.setattr(trained, "cache", Cache(10**6))
    choice = Choice("bpe", 300, "gpt2", "", counted=False, options=())
    with fragments.script_run():
        one = trained.get("low lower", choice)
        trained.cache._values.clear()  # other values have evicted it
        with fragments.script_run():  # a fragment of the page
            history = one.history
        assert one.history is history
    trained.cache._values.clear()
    with fragments.script_run():
        assert one.history is not history


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be cached."""
    monkeypatch.setattr(trained, "cache", Cache(10**6))
    monkeypatch.setattr(fragments.st, "session_state", {})


@pytest.mark.usefixtures("empty")
def test_text_is_trained_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = bpeviz.train("low lower", "bpe", vocab_size=258)
    monkeypatch.setattr(bpeviz, "train", None)
    with fragments.script_run():
        assert trained.get("low lower", CHOICE).history.decisions == expected.decisions
        for _ in range(2):  # the error is cached
            with pytest.raises(trained.TrainingError, match="256"):
                trained.get("low lower", replace(CHOICE, largest=3))


@pytest.mark.usefixtures("empty")
def test_other_pages_run_while_a_text_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(job: trainings.Job, seconds: float) -> bool:
        with ThreadPoolExecutor() as pool:
            assert pool.submit(other_page).result(60)
        return waits(job, 60)

    def other_page() -> bool:
        with fragments.script_run():
            return True

    waits = trainings.Job.wait
    monkeypatch.setattr(trainings.Job, "wait", wait)
    monkeypatch.setattr(run_lock, "PATIENCE", 600)
    with fragments.script_run():
        assert trained.get("low lower", CHOICE).history.steps
