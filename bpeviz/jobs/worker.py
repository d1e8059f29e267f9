"""The worker process of `bpeviz.jobs.queue`; `python -m bpeviz.jobs.worker` runs one training.

Standard input is one line of JSON, {"algorithm", "options", "size": bytes, "memory": bytes or 0,
"largest_result": bytes}, followed by the text in UTF-8. `memory` bounds the memory beyond that of
the start; 0 means no limit.

Standard output is lines of JSON for progress, {"task", "done", "total"}, then one of:

- {"error": message, "transient": whether another attempt may succeed}
- {"limit": "memory" or "size" (of the result)}, the limit that stopped it
- {"size": bytes, "arrays": [bytes, …]}, followed by the pickled result and its arrays: the training
  history, and the boundaries of the text. Pickles are exchanged only between two processes of one
  program, never read from files or users.

Standard input stays open. When it ends, even because the server was killed, the worker exits.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import bpeviz
from bpeviz import progress
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import MergeTraining, Training
from bpeviz.jobs.errors import is_transient

INTERVAL = 0.1
"""Seconds between two progress messages."""


def _exit_with_the_server(requests: BinaryIO) -> None:
    while requests.read(1):
        pass
    os._exit(1)


def limit_memory(more: int) -> None:
    """Limit the memory of this process to its present address space and some more bytes.

    Libraries reserve much address space when they are imported, so the limit is relative.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on every system

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would contain the text
        # If the machine runs out of memory, Linux ends a worker rather than the server.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
        pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, hard))


def main() -> None:
    """Read a request, train, and write the result."""
    requests, output = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # prints must not mix with the messages
    request: dict[str, Any] = json.loads(requests.readline())
    text = requests.read(request["size"]).decode()
    threading.Thread(target=_exit_with_the_server, args=(requests,), daemon=True).start()
    if request["memory"]:
        limit_memory(request["memory"])
    try:
        parts = _train(text, request, output)
        if sum(part.nbytes for part in parts) > request["largest_result"]:
            write(output, {"limit": "size"})
            return
    except ValueError as error:
        write(output, {"error": str(error), "transient": is_transient(error)})
        return
    except (MemoryError, ImportError):  # the latter where a library does not fit into memory
        write(output, {"limit": "memory"})
        return
    write_result(output, parts)


def _train(text: str, request: dict[str, Any], output: BinaryIO) -> list[memoryview]:
    """Train, and return the pickled result and its arrays."""
    last = 0.0

    def report(task: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= INTERVAL:
            last = now
            write(output, {"task": task, "done": done, "total": total})

    with progress.reporting_to(report):
        history = bpeviz.train(text, request["algorithm"], **request["options"])
    write(output, {"task": "Computing token boundaries", "done": 0, "total": 0})
    return pickled(history, history.tokenizer().boundaries(text))


def pickled(history: Training, boundaries: Boundaries) -> list[memoryview]:
    """Return a pickled result and its arrays."""
    # Compute the cached properties that every page needs, so that the result contains them.
    _ = boundaries.token_counts, boundaries.permanent
    if isinstance(history, MergeTraining):
        _ = history.names
    buffers: list[pickle.PickleBuffer] = []
    result = pickle.dumps((history, boundaries), protocol=5, buffer_callback=buffers.append)
    return [memoryview(result), *(buffer.raw() for buffer in buffers)]


def write_result(output: BinaryIO, parts: Sequence[memoryview]) -> None:
    """Write a pickled result and its arrays."""
    sizes = [part.nbytes for part in parts]
    write(output, {"size": sizes[0], "arrays": sizes[1:]})
    output.writelines(parts)
    output.flush()


def write(output: BinaryIO, message: dict[str, object]) -> None:
    """Write a message as a line."""
    output.write(json.dumps(message).encode() + b"\n")
    output.flush()


if __name__ == "__main__":
    # Python's own exit would abort, because a thread waits for standard input.
    try:
        main()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
