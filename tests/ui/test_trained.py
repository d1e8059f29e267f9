"""Trainings of the pages: computed once in a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import bpeviz
from bpeviz.jobs import queue, short
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.ui import trained
from bpeviz.ui.inputs import Choice
from bpeviz.ui.runtime import fragments, run_lock
from bpeviz.ui.runtime.cache import Cache
from bpeviz.ui.trained import Trained

CHOICE = Choice("bpe", 258, "gpt2", "", counted=False, options=())


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


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start the process for short trainings."""
    monkeypatch.setattr(trained, "cache", Cache(10**6))
    monkeypatch.setattr(fragments.st, "session_state", {})
    short.start()
    while not short.is_ready():
        time.sleep(0.02)
    yield
    short.stop()


@pytest.mark.usefixtures("process")
def test_short_text_is_trained_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = bpeviz.train("low lower", "bpe", vocab_size=258)
    monkeypatch.setattr(bpeviz, "train", None)
    with fragments.script_run():
        assert trained.get("low lower", CHOICE).history.decisions == expected.decisions
        for _ in range(2):  # the error is cached
            with pytest.raises(trained.TrainingError, match="256"):
                trained.get("low lower", replace(CHOICE, largest=3))


@pytest.mark.usefixtures("process")
def test_other_pages_run_while_a_short_text_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*arguments: object) -> queue.Result:
        with ThreadPoolExecutor() as pool:
            assert pool.submit(other_page).result(60)
        return of_worker(*arguments)

    def other_page() -> bool:
        with fragments.script_run():
            return True

    of_worker = short.train
    monkeypatch.setattr(short, "train", train)
    monkeypatch.setattr(run_lock, "PATIENCE", 600)
    with fragments.script_run():
        assert trained.get("low lower", CHOICE).history.steps


@pytest.mark.usefixtures("process")
def test_text_that_takes_long_is_trained_by_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = []
    monkeypatch.setattr(short, "SECONDS", -1.0)
    monkeypatch.setattr(trained, "_train_in_worker", lambda *arguments: jobs.append(arguments))
    for _ in range(2):  # it is known the second time
        with fragments.script_run():
            trained.get("low lower lowest" * 99, CHOICE)
        monkeypatch.setattr(short, "train", None)
    assert len(jobs) == 2


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("size", "choice"),
    [
        (trained.SHORT + 1, CHOICE),
        (9, replace(CHOICE, pattern=CUSTOM, expression=".")),
        (9, replace(CHOICE, algorithm="adaptive", options=(("base", "cl100k_base"),))),
    ],
    ids=["long text", "expression", "published vocabulary"],
)
def test_process_does_not_train_with(size: int, choice: Choice) -> None:
    assert trained._has_process(Trained("a" * trained.SHORT, CHOICE))
    assert not trained._has_process(Trained("a" * size, choice))
