"""The process of `bpeviz.jobs.short`; `python -m bpeviz.jobs.reused_worker` trains on short texts.

Its output begins with an empty message, {}, when it is ready. Then it answers one request after the
other, until its input ends.

A request is one line of JSON, {"algorithm", "options", "size": bytes, "seconds": processor time},
followed by the text in UTF-8. An answer is a line {"error", "transient"} or {"size", "arrays"} with
the result as in `bpeviz.jobs.worker`, or {"limit": "time" or "memory"}.
"""

from __future__ import annotations

import json
import signal
import sys
from time import thread_time
from typing import Any, BinaryIO

import bpeviz
from bpeviz import limits, progress
from bpeviz.core.training import MergeTraining
from bpeviz.jobs import worker
from bpeviz.jobs.errors import is_transient


class _TakesLongError(Exception):
    """The processor time of a request is used up."""


def main() -> None:
    """Answer all requests."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its input ends with the server
    requests, output = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # prints must not mix with the messages
    worker.limit_memory(limits.JOB_MEMORY * 1_000_000)
    bpeviz.train("low lower", "bpe", merges=1)  # imports the modules of trainings
    worker.write(output, {})
    while line := requests.readline():
        request = json.loads(line)
        _answer(request, requests.read(request["size"]).decode(), output)


def _answer(request: dict[str, Any], text: str, output: BinaryIO) -> None:
    end = thread_time() + request["seconds"]

    def stop_when_long(*_progress: object) -> None:
        if thread_time() > end:
            raise _TakesLongError

    try:
        with progress.reporting_to(stop_when_long):
            history = bpeviz.train(text, request["algorithm"], **request["options"])
            stop_when_long()
            boundaries = history.tokenizer().boundaries(text)
            stop_when_long()
            if isinstance(history, MergeTraining):
                # Cached in the history: the pages count the pairs of each step.
                _ = history.barriers(text, 0), history.as_trained(text, boundaries)
            result = worker.pickled(history, boundaries)
    except _TakesLongError:
        worker.write(output, {"limit": "time"})
    except MemoryError:
        worker.write(output, {"limit": "memory"})
    except ValueError as error:
        worker.write(output, {"error": str(error), "transient": is_transient(error)})
    else:
        worker.write_result(output, result)


if __name__ == "__main__":
    main()
