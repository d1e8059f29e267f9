"""Train, stop and finish long jobs, and run expressions, without what only POSIX systems have.

`test_portability.py` starts this script. Arguments: the script that takes it all away, to run it
in workers that ignore the environment.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path

import psutil

import bpeviz
from bpeviz.corpus import samples
from bpeviz.jobs import processors, trainings
from bpeviz.pretokenizers import expressions
from bpeviz.workers import child, pool

assert importlib.util.find_spec("bpeviz") is not None
assert not hasattr(os, "nice"), "the replacement of sitecustomize was not used"
assert child._OUT_OF_TIME is None
assert processors.available() >= 1
assert sys.flags.utf8_mode == 0

pool.WATCHED = True  # as on every system but Linux
child._RUN = f"{Path(sys.argv[1]).read_text('utf-8')}\n{child._RUN}"

TEXT = "".join(sample.text for sample in samples.SAMPLES if sample.text) * 20
OPTIONS = {"vocab_size": 700}


def command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []  # it has just ended


def workers() -> list[psutil.Process]:
    """Return the worker processes that run."""
    children = psutil.Process().children()
    return [one for one in children if any("bpeviz.jobs.worker" in word for word in command(one))]


# A long job finishes, with the result of the library.
with trainings.run("finished", TEXT, "bpe", OPTIONS, "ada") as job:
    assert job.wait(300)
    assert not isinstance(job.outcome, trainings.JobError), job.outcome
    assert job.outcome is not None
    training, boundaries = job.outcome
assert training.merges == bpeviz.train(TEXT, "bpe", **OPTIONS).merges
assert len(boundaries) == len(TEXT.encode())

# A job is stopped when its last user leaves.
with trainings.run("stopped", TEXT * 5, "bpe", {"vocab_size": 20_000}, "ada") as job:
    while not workers():
        assert not job.wait(0.05), job.outcome
    for worker in workers():
        worker.suspend()  # so it cannot end by itself
deadline = time.monotonic() + 60
while workers():
    assert time.monotonic() < deadline, "the worker still runs"
    time.sleep(0.05)

# A job that needs too much memory is stopped by the watch.
trainings.limits.JOB_MEMORY = 1
pool.LOOK_SECONDS = 0.01  # on a fast machine the job takes less than the usual half second
with trainings.run("large", TEXT * 5, "bpe", {"vocab_size": 20_000}, "ada") as job:
    assert job.wait(300)
    assert isinstance(job.outcome, trainings.JobError)
    assert "memory" in job.outcome.message, job.outcome

# Expressions run in workers, and the server stops those that take long.
found = bpeviz.pretokenize("low lower", pattern="regex", expression="[a-z]+")
assert found == ["low", " ", "lower"], found
try:
    expressions.ends("((){50000})", "a", 0.5)
except TimeoutError:
    print("stopped")
assert expressions.ends("b", "abc", 20) == [1, 2, 3]
print("done ü")
