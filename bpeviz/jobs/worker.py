"""The worker process of `bpeviz.jobs.queue`; `python -m bpeviz.jobs.worker` runs one training.

Standard input is one line of JSON, {"algorithm", "options", "size": bytes}, followed by the text
in UTF-8. Standard output is lines of JSON for progress, {"task", "done", "total"}, then one of:

- {"error": message, "transient": whether another attempt may succeed}
- {"size": bytes, "arrays": [bytes, …]}, followed by the pickled result and its arrays: the training
  history, and the boundaries of the text. Pickles are exchanged only between two processes of one
  program, never read from files or users.

Standard input stays open. When it ends, even because the server was killed, the worker exits.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
import time
from typing import Any, BinaryIO

import bpeviz
from bpeviz import progress
from bpeviz.jobs.errors import is_transient

INTERVAL = 0.1
"""Seconds between two progress messages."""


def _exit_with_the_server(requests: BinaryIO) -> None:
    while requests.read(1):
        pass
    os._exit(1)


def main() -> None:
    """Read a request, train, and write the result."""
    requests, output = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # prints must not mix with the messages
    request: dict[str, Any] = json.loads(requests.readline())
    text = requests.read(request["size"]).decode()
    threading.Thread(target=_exit_with_the_server, args=(requests,), daemon=True).start()
    last = 0.0

    def report(task: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= INTERVAL:
            last = now
            _write(output, {"task": task, "done": done, "total": total})

    try:
        with progress.reporting_to(report):
            history = bpeviz.train(text, request["algorithm"], **request["options"])
        _write(output, {"task": "Computing token boundaries", "done": 0, "total": 0})
        boundaries = history.tokenizer().boundaries(text)
        # Compute the cached properties that every page needs, so that the result contains them.
        _ = boundaries.token_counts, boundaries.permanent
    except ValueError as error:
        _write(output, {"error": str(error), "transient": is_transient(error)})
        return
    except MemoryError:
        message = "There is not enough memory for this training. Use a shorter text."
        _write(output, {"error": message, "transient": True})
        return
    buffers: list[pickle.PickleBuffer] = []
    result = pickle.dumps((history, boundaries), protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    _write(output, {"size": len(result), "arrays": [array.nbytes for array in arrays]})
    output.writelines([result, *arrays])
    output.flush()


def _write(output: BinaryIO, message: dict[str, object]) -> None:
    output.write(json.dumps(message).encode() + b"\n")
    output.flush()


if __name__ == "__main__":
    main()
