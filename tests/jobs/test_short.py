"""Short trainings: equal results, limits, and a new process for one that ended."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from properties import mostly_large

import bpeviz
from bpeviz.core.boundaries import Boundaries
from bpeviz.jobs import queue, reused_worker, short
from bpeviz.trainers import TRAINERS

TEXT = "the cat sat on the mat; the rat sat on the cat. " * 4
PATIENCE = 60.0


def await_process() -> int:
    """Wait until the process is ready; return its id."""
    end = time.monotonic() + PATIENCE
    while not short.is_ready():
        assert time.monotonic() < end, "the process is ready"
        time.sleep(0.02)
    assert short._worker is not None
    return short._worker.process.pid


@pytest.fixture
def process() -> Iterator[int]:
    short.start()
    yield await_process()
    short.stop()


@pytest.mark.parametrize("algorithm", mostly_large(TRAINERS, ["bpe", "unigram"]))
def test_result_equals_training_in_this_process(process: int, algorithm: str) -> None:
    options = {TRAINERS[algorithm].largest: 300, "pattern": "gpt2"}
    history, boundaries = short.train(TEXT, algorithm, options)
    expected = bpeviz.train(TEXT, algorithm, **options)
    assert history.decisions == expected.decisions
    own = expected.tokenizer().boundaries(TEXT)
    assert (boundaries.ids(history.steps) == own.ids(history.steps)).all()


def test_error_is_the_message_of_the_trainer(process: int) -> None:
    outcome = short.train(TEXT, "bpe", {"vocab_size": 3})
    assert isinstance(outcome, queue.JobError)
    assert "256" in outcome.message
    assert not outcome.transient
    assert isinstance(short.train("", "bpe", {"merges": 5}), tuple)


def test_long_training_is_refused_and_the_process_goes_on(
    process: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(random.Random(3).choices("abcdefghijklm ", k=50_000))
    slow = {"vocab_size": 5_000, "pattern": "none", "ties": "largest"}
    monkeypatch.setattr(short, "SECONDS", 0.1)
    with pytest.raises(short.TakesLongError):
        short.train(text, "bpe", slow)
    assert isinstance(short.train(TEXT, "bpe", {"merges": 5}), tuple)
    assert await_process() == process


@pytest.mark.parametrize("slow", ["train", "boundaries"])
def test_time_limit_applies_where_no_progress_is_reported(
    monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    passed = [0.0]
    history = bpeviz.train("low", "bpe", merges=0)

    class Tokenizer:
        def boundaries(self, text: str) -> Boundaries:
            assert slow == "boundaries", "training has used up the time"
            passed[0] += 1.0
            return history.tokenizer().boundaries(text)

    class Slow:
        def tokenizer(self) -> Tokenizer:
            return Tokenizer()

    def train(*_request: object, **_options: object) -> Slow:
        passed[0] += 1.0 if slow == "train" else 0.0
        return Slow()

    monkeypatch.setattr(bpeviz, "train", train)
    monkeypatch.setattr(reused_worker, "thread_time", lambda: passed[0])
    output = io.BytesIO()
    request = {"algorithm": "bpe", "options": {}, "seconds": 0.5}
    reused_worker._answer(request, "low", output)
    assert output.getvalue() == b'{"limit": "time"}\n'


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_process_that_hangs_or_ends_is_replaced(
    process: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(short, "PATIENCE", 0.2)
    for end in (signal.SIGSTOP, signal.SIGKILL):
        os.kill(process, end)
        with pytest.raises(short.TakesLongError):
            short.train(TEXT, "bpe", {"merges": 5})
        assert "short trainings ended" in caplog.text
        assert TEXT[:9] not in caplog.text
        caplog.clear()
        monkeypatch.setattr(short, "PATIENCE", PATIENCE)
        process = await_process()
        assert isinstance(short.train(TEXT, "bpe", {"merges": 5}), tuple)


def test_without_a_process_nothing_is_ready() -> None:
    assert not short.is_ready()
    with pytest.raises(short.TakesLongError):
        short.train(TEXT, "bpe", {"merges": 5})


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process is killed like this here")
def test_process_ends_with_the_server() -> None:
    server = (
        "import os, time\n"
        "from bpeviz.jobs import short\n"
        "short.start()\n"
        "while not short.is_ready(): time.sleep(0.02)\n"
        "print('ready', flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    # The process inherits the error output, whose end this waits for.
    found = subprocess.run([sys.executable, "-c", server], capture_output=True, timeout=PATIENCE)
    assert found.stdout == b"ready\n"
