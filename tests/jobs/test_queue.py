"""Long learning in another process: the same result, no orphans, a queue, faults in a sentence."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bpeviz
from bpeviz.jobs import queue
from bpeviz.trainers import TRAINERS
from bpeviz.ui.runtime.cache import Kept, digest, size_of

TEXT = "the cat sat on the mat; the rat sat on the cat. " * 4
LONG = "".join(random.Random(3).choices("abcdefghijklm ", k=150_000))
SLOW = {"vocab_size": 30_000, "pattern": "none", "ties": "largest"}
"""What takes a learner many seconds on `LONG`."""

PATIENCE = 60.0


def await_that(condition: object, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def children() -> set[int]:
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(one) for listed in found for one in listed.read_text().split()}


def learning(number: int, **options: object) -> queue.Job:
    return queue.learning(("slow", number), LONG, "bpe", SLOW | options)


def process_of(job: queue.Job) -> int:
    await_that(lambda: job._process is not None and job._of, "learning began")
    return job._process.pid


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    before = children()
    yield
    await_that(lambda: not (children() - before), "all processes have ended")


@pytest.mark.parametrize("algorithm", TRAINERS)
def test_another_process_learns_the_same(algorithm: str) -> None:
    trainer = TRAINERS[algorithm]
    options = {trainer.largest: 300, "pattern": "gpt2"}
    with queue.learning(("same", algorithm), TEXT, algorithm, options) as job:
        assert job.wait(PATIENCE)
    learnt, boundaries = job.found
    expected = bpeviz.train(TEXT, algorithm, **options)
    assert learnt.decisions == expected.decisions
    assert learnt.tokenizer().encode(TEXT) == expected.tokenizer().encode(TEXT)
    own = expected.tokenizer().boundaries(TEXT)
    assert (boundaries.ids(learnt.steps) == own.ids(learnt.steps)).all()
    assert (boundaries.token_counts == own.token_counts).all()


def test_what_cannot_be_learnt_is_the_learners_own_sentence() -> None:
    with queue.learning("bad", TEXT, "bpe", {"vocab_size": 3}) as job:
        assert job.wait(PATIENCE)
    assert "at least 256" in str(job.found)
    assert not job.failed


def test_progress_is_said_while_it_learns() -> None:
    with learning(0) as job:
        process_of(job)
        await_that(lambda: job.share > 0, "something is done")
        assert job.sentence().startswith("Training merges: ")
        assert 0 < job.share < 1


def test_a_job_that_nobody_wants_is_ended() -> None:
    with learning(1) as job:
        process = process_of(job)
        assert alive(process)
    await_that(lambda: not alive(process), "the process has ended")


def test_what_ends_the_page_ends_the_job() -> None:
    class Stopped(BaseException):
        pass

    processes = []

    def page() -> None:
        with learning(2) as job:
            processes.append(process_of(job))
            raise Stopped

    with pytest.raises(Stopped):
        page()
    (process,) = processes
    await_that(lambda: not alive(process), "the process has ended")


def test_those_who_want_the_same_share_one_process() -> None:
    with learning(3) as first:
        process = process_of(first)
        with learning(3) as second:
            assert second is first
        assert alive(process)


def test_a_killed_worker_is_a_sentence_and_the_next_try_begins_anew() -> None:
    with learning(4) as job:
        os.kill(process_of(job), signal.SIGKILL)
        assert job.wait(PATIENCE)
        assert job.failed
        assert str(job.found).startswith("Learning was cut off")
        with learning(4) as again:
            assert again is not job
            process_of(again)


def test_the_others_wait_for_their_turn_and_are_told_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queue, "AT_ONCE", 1)
    with learning(5) as first:
        process_of(first)
        with learning(6) as second, learning(7) as third:
            assert second.sentence() == "Waiting for a turn to learn: 1 other is before this."
            assert third.sentence() == "Waiting for a turn to learn: 2 others are before this."
        with learning(8) as fourth:
            assert "1 other is" in fourth.sentence()
            os.kill(process_of(first), signal.SIGKILL)
            process_of(fourth)
    assert not queue._waiting


def test_a_worker_ends_with_its_server_however_that_ends() -> None:
    program = (
        "import sys, time; sys.path[:0] = ['tests', 'tests/jobs', '.']\n"
        "import test_queue\n"
        "job = test_queue.learning(9).__enter__()\n"
        "print(test_queue.process_of(job), flush=True)\n"
        "time.sleep(600)\n"
    )
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=root, text=True
    ) as server:
        process = int(server.stdout.readline())
        assert alive(process)
        server.kill()
    await_that(lambda: not alive(process), "the worker has ended")


def test_no_process_to_be_had_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue.sys, "executable", "/nowhere/python")
    with learning(10) as job:
        assert job.wait(PATIENCE)
    assert job.failed
    assert job.found == "Learning could not be started: No such file or directory. Try again."


def test_a_mistake_of_ours_lets_nobody_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(job: queue.Job) -> None:
        raise RuntimeError("a mistake")

    logged: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", logged.append)
    monkeypatch.setattr(queue.Job, "_learn", mistaken)
    with learning(11) as job:
        assert job.wait(PATIENCE)
    await_that(lambda: logged, "the log has it")
    assert logged[0].exc_type is RuntimeError
    assert job.failed
    assert str(job.found).startswith("Learning was cut off")
    assert not queue._running


def test_a_digest_tells_texts_apart_however_often_it_is_asked() -> None:
    found = set()
    for number in range(50):  # more than are remembered, and most stand where another one stood
        text = f"{number} " + "x" * 20_000
        assert len({digest(text), digest(text), digest("".join(text))}) == 1
        found.add(digest(text))
    assert len(found | {digest("x")}) == 51


def test_what_is_kept_stays_within_its_size() -> None:
    kept = Kept(1_000_000)
    for number in range(50):
        kept.once(number, lambda: np.zeros(25_000))
        assert kept.size <= 1_000_000
    assert kept.find(0) is None
    assert kept.find(49) is not None
    kept.keep("large", np.zeros(200_000))
    assert kept.find("large") is None
    assert kept.find(49) is not None


def test_sizes_are_those_of_what_is_inside() -> None:
    array = np.zeros(1_000_000)
    for value in (array, [array], {"a": (array,)}, ["x" * 80] * 100_000):
        assert 7_900_000 < size_of(value) < 14_000_000
    learnt = bpeviz.train(TEXT, vocab_size=300)
    assert 3_000 < size_of(learnt) < 500_000
