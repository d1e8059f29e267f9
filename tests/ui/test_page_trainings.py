"""Trainings of the pages: computed once in a run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from helpers.refusals import refusal

import bpeviz
from bpeviz.jobs import trainings
from bpeviz.ui import page_trainings
from bpeviz.ui.inputs.training import TrainingChoice
from bpeviz.ui.runtime import fragments, run_lock
from bpeviz.ui.runtime.cache import Cache

CHOICE = TrainingChoice("bpe", 258, "gpt2", "", counted=False, options=())


def test_fragment_stores_the_handle_of_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def store(run: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            stored.append(arguments)
            run(*arguments)

        return call

    stored: list[tuple[object, ...]] = []
    drawn: list[page_trainings.Trained] = []
    monkeypatch.setattr(fragments.st, "fragment", store)
    monkeypatch.setattr(fragments.st, "session_state", {})
    monkeypatch.setattr(page_trainings, "cache", Cache(10**6))
    part = fragments.fragment(lambda ours, step: drawn.extend(ours))
    with fragments.script_run():
        one = page_trainings.get("low lower", replace(CHOICE, largest=300))
        page_trainings.cache._values.clear()  # other values have evicted it
        part([one], 2)
    assert stored == [([one.handle], 2)]
    assert drawn.pop() is one
    part([one.handle], 2)  # as Streamlit reruns the fragment
    assert drawn[0] is not one
    assert drawn[0].history.decisions == one.history.decisions


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be cached."""
    monkeypatch.setattr(page_trainings, "cache", Cache(10**6))
    monkeypatch.setattr(fragments.st, "session_state", {})


@pytest.mark.usefixtures("empty")
def test_text_is_trained_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = bpeviz.train("low lower", "bpe", vocab_size=258)
    monkeypatch.setattr(bpeviz, "train", None)
    with fragments.script_run():
        assert page_trainings.get("low lower", CHOICE).history.decisions == expected.decisions
        for _ in range(2):  # the error is cached
            refusal(
                page_trainings.get,
                "low lower",
                replace(CHOICE, largest=3),
                naming="256",
                error=page_trainings.TrainingError,
            )


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
    monkeypatch.setattr(run_lock, "LOCK_SECONDS", 600)
    with fragments.script_run():
        assert page_trainings.get("low lower", CHOICE).history.steps
