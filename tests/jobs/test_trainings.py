"""Trainings in workers: equal results, no orphans, a queue, and a message for each failure."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
from helpers.processes import PATIENCE, children, eventually, runs

import bpeviz
from bpeviz import limits
from bpeviz.jobs import processors, trainings
from bpeviz.pretokenizers import expressions
from bpeviz.trainers import TRAINERS
from bpeviz.workers import child, pool
from bpeviz.workers.pool import Places

pytestmark = pytest.mark.slow

TEXT = "the cat sat on the mat; the rat sat on the cat. " * 4
LONG = "".join(random.Random(3).choices("abcdefghijklm ", k=150_000))
SLOW = {"vocab_size": 30_000, "pattern": "none", "ties": "largest"}
"""Options with which training on `LONG` takes many seconds."""


def slow_job(
    number: int, user: str = "someone", **options: object
) -> AbstractContextManager[trainings.Job]:
    return trainings.run(("slow", number), LONG, "bpe", SLOW | options, user)


def process_of(job: trainings.Job) -> int:
    eventually(lambda: job._request.child is not None and job._training.progress.total)
    return job._request.child.process.pid


def places(monkeypatch: pytest.MonkeyPatch, slow: int, **waiting: int) -> None:
    """Let this many long trainings run at once."""
    monkeypatch.setitem(trainings._pool._places, True, Places(slow, 2, **waiting))


@pytest.fixture(scope="module", autouse=True)
def no_orphans() -> Iterator[None]:
    before = children()
    yield
    trainings.stop()
    eventually(lambda: not (children() - before))


@pytest.fixture(autouse=True)
def no_jobs() -> Iterator[None]:
    """Let no job outlive its test. An idle worker is there for the next test."""
    yield
    eventually(lambda: not trainings._pool._running)
    assert not trainings._jobs


@pytest.mark.parametrize("algorithm", ["bpe", "unigram"])
def test_job_result_equals_training_in_this_process(algorithm: str) -> None:
    trainer = TRAINERS[algorithm]
    options = {trainer.largest: 300, "pattern": "gpt2"}
    with trainings.run(("same", algorithm), TEXT, algorithm, options, "someone") as job:
        assert job.wait(PATIENCE)
    history, boundaries = job.outcome
    expected = bpeviz.train(TEXT, algorithm, **options)
    assert history.decisions == expected.decisions
    assert history.tokenizer().encode(TEXT) == expected.tokenizer().encode(TEXT)
    own = expected.tokenizer().boundaries(TEXT)
    assert (boundaries.ids(history.steps) == own.ids(history.steps)).all()
    assert (boundaries.token_counts == own.token_counts).all()


def test_job_error_is_the_message_of_the_trainer_and_lasting() -> None:
    with trainings.run("bad", TEXT, "bpe", {"vocab_size": 3}, "someone") as job:
        assert job.wait(PATIENCE)
    assert isinstance(job.outcome, trainings.JobError)
    assert "256" in job.outcome.message
    assert not job.outcome.transient


def test_job_reports_progress_and_is_killed_without_a_user_which_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where it turns out long, it keeps its worker."""
    with slow_job(0) as job:
        process = process_of(job)
        eventually(lambda: job.share > 0 and job._request.slow)
        assert process_of(job) == process
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, process) == min(19, own + child.NICENESS)
        assert job.message().startswith("Training merges: ")
        assert 0 < job.share < 1
        os.kill(process, signal.SIGSTOP)  # it cannot end by itself
        assert runs(process)
    eventually(lambda: not runs(process))
    assert job.wait(PATIENCE)
    assert not logged(caplog)


def test_killed_worker_is_a_transient_error_and_the_next_attempt_starts_a_new_job(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with slow_job(4) as job:
        os.kill(process_of(job), signal.SIGKILL)
        assert job.wait(PATIENCE)
        assert job.outcome == trainings.JobError(trainings.INTERRUPTED, transient=True)
        with slow_job(4) as again:
            assert again is not job
            os.kill(process_of(again), signal.SIGABRT)  # as C++ does without memory
            assert again.wait(PATIENCE)
    assert "probably because memory ran out" in again.outcome.message
    assert "shorter text" in again.outcome.message
    assert "code -6" in logged(caplog)


def test_waiting_jobs_report_their_place_in_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places(monkeypatch, 1)
    with slow_job(5) as first:
        process_of(first)
        with slow_job(6) as second, ExitStack() as stack:
            eventually(lambda: "1 other" in second.message())
            third = stack.enter_context(slow_job(7))
            eventually(lambda: "2 other" in third.message())
        with slow_job(8) as fourth:
            eventually(lambda: "1 other" in fourth.message())
            os.kill(process_of(first), signal.SIGKILL)
            process_of(fourth)
    assert not trainings._pool._waiting


def test_worker_exits_when_its_server_is_killed() -> None:
    program = (
        "import sys, time; sys.path[:0] = ['tests', 'tests/jobs', '.']\n"
        "import test_trainings\n"
        "with test_trainings.slow_job(9) as job:\n"
        "    print(test_trainings.process_of(job), flush=True)\n"
        "    time.sleep(600)\n"
    )
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=root, text=True
    ) as server:
        process = int(server.stdout.readline())
        assert runs(process)
        server.kill()
    eventually(lambda: not runs(process))


def test_programming_error_ends_the_job_and_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(job: trainings.Job) -> None:
        raise RuntimeError("a mistake")

    logged: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", logged.append)
    monkeypatch.setattr(trainings.Job, "_train", mistaken)
    with slow_job(11) as job:
        assert job.wait(PATIENCE)
    eventually(lambda: logged)
    assert logged[0].exc_type is RuntimeError
    assert job.outcome == trainings.JobError(trainings.FAILED, transient=True)
    assert not trainings._pool._running


# ---- limits


def random_chinese(characters: int) -> str:
    return "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9FA5), k=characters)))


def logged(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(one.getMessage() for one in caplog.records if one.name == "bpeviz")


@pytest.mark.thorough
@pytest.mark.skipif(pool.WATCHED, reason="this system does not limit address space")
def test_memory_limit_ends_a_job_with_a_message_and_a_log_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(limits, "JOB_MEMORY", 100)
    text = random_chinese(600_000)
    options = {"vocab_size": 32_768, "pattern": "gpt2"}
    with trainings.run("memory", text, "bpe", options, "someone") as job:
        assert job.wait(PATIENCE)
    assert isinstance(job.outcome, trainings.JobError)
    # A library may also abort the process where it gets no memory.
    assert job.outcome.message.startswith((trainings.TOO_MUCH_MEMORY, trainings.INTERRUPTED))
    assert "memory" in job.outcome.message
    assert "shorter text" in job.outcome.message
    assert "bpe" in logged(caplog)
    assert text[:3] not in caplog.text


def test_time_limit_ends_a_job_with_a_message_and_a_log_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(limits, "JOB_SECONDS", 0.1)
    monkeypatch.setattr(child, "LEAST", -1)  # even if other processes take all the time
    with slow_job(21) as job:
        assert job.wait(PATIENCE)
    assert job.outcome == trainings.JobError(trainings.TOO_LONG, transient=True)
    assert "time limit" in logged(caplog)
    assert "150,000 characters" in logged(caplog)


def test_too_large_result_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CACHE", 0)
    with trainings.run("large", TEXT, "bpe", {"vocab_size": 300}, "someone") as job:
        assert job.wait(PATIENCE)
    assert job.outcome == trainings.JobError(trainings.TOO_LARGE, transient=False)


def test_mistake_in_a_worker_is_no_lack_of_memory(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    trainings.stop()  # an idle worker of an earlier test writes to the errors of that test
    with trainings.run("mistake", TEXT, "bpe", {"algorithm": "twice"}, "someone") as job:
        assert job.wait(PATIENCE)
    assert job.outcome == trainings.JobError(trainings.FAILED, transient=True)
    assert "code 1" in logged(caplog)
    assert "Traceback" in capfd.readouterr().err


# ---- a queue that is fair by user


def test_own_expression_runs_in_the_workers_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    run = expressions.run
    monkeypatch.setattr(expressions, "run", lambda *given: asked.append(given) or run(*given))
    options = {"pattern": "regex", "expression": "[a-z]+", "merges": 9}
    with trainings.run("own", TEXT, "bpe", options, "someone") as job:
        assert job.wait(PATIENCE)
    history, _ = job.outcome
    assert asked[0][-1] == "someone"
    assert history.decisions == bpeviz.train(TEXT, "bpe", **options).decisions
    with trainings.run("bad", TEXT, "bpe", options | {"expression": "("}, "someone") as job:
        assert job.wait(PATIENCE)
    assert "missing )" in job.outcome.message
    expressions._pool.close()


def test_waiting_jobs_of_a_user_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    places(monkeypatch, 1, waiting=50, own_waiting=2)
    with slow_job(40) as running, slow_job(41) as first, slow_job(42) as second:
        eventually(lambda: len(trainings._pool._waiting) == 2)
        with slow_job(43) as refused:
            assert refused.wait(PATIENCE)
            assert refused.outcome == trainings.JobError(trainings.TOO_MANY_OWN, transient=True)
        with slow_job(42) as shared, slow_job(44, "other"):
            assert shared is second
        assert not any(one.wait(0) for one in (running, first, second))
    assert not trainings._jobs


def test_user_who_leaves_a_shared_job_hands_it_on() -> None:
    with slow_job(48, "b") as job:
        with slow_job(48, "a"):
            assert job._users == ["b", "a"]
        assert job._users == ["b"]
        with slow_job(48, "c"):
            job.leave("b")
            job._users.append("b")
            assert job._request.user == "c"
        assert not job.wait(0)


@pytest.mark.parametrize(
    ("limit", "expected"), [("max 100000", 3), ("200000 100000", 2), ("50000 100000", 1), ("", 3)]
)
def test_processors_heed_affinity_and_container_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5}, raising=False)
    if limit:
        (tmp_path / "cpu.max").write_text(limit + "\n")
    assert processors.available(tmp_path) == expected
