"""Learns in a process of its own, for the pages: `python -m bpeviz.jobs.worker`, started by `jobs`.

One line of JSON comes in on standard input, how to learn, {"size": bytes} in it, and behind it the
text in UTF-8. Lines of JSON go out: how far learning has come, and in the end {"error": a
sentence}, or {"size": bytes, "arrays": [bytes, …]}, and behind it the result, pickled, and its
arrays: what was learnt, and when the boundaries of the text vanish under it. (A pickle may pass
between two processes of one program; none is ever read from a file, or from a user.)

Standard input stays open. When it ends, whoever asked is gone, and so is this process: also when
the server was killed and could not say anything.
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

PATIENCE = 0.1
"""Seconds between two reports."""


def _leave_with_the_server(given: BinaryIO) -> None:
    while given.read(1):
        pass
    os._exit(1)


def main() -> None:
    """Read a request, learn, and write the result."""
    given, output = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing that is printed may get between the lines
    request: dict[str, Any] = json.loads(given.readline())
    text = given.read(request["size"]).decode()
    threading.Thread(target=_leave_with_the_server, args=(given,), daemon=True).start()
    last = 0.0

    def tell(doing: str, done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PATIENCE:
            last = now
            _line(output, {"doing": doing, "done": done, "of": of})

    try:
        with progress.reporting_to(tell):
            learnt = bpeviz.train(text, request["algorithm"], **request["options"])
        _line(output, {"doing": "Cutting the text", "done": 0, "of": 0})
        boundaries = learnt.tokenizer().boundaries(text)
        # Every page asks for these, and they stay with what they were asked of.
        _ = boundaries.token_counts, boundaries.permanent
        found = learnt, boundaries
    except ValueError as error:
        _line(output, {"error": str(error)})
        return
    except MemoryError:
        _line(output, {"error": "There is not enough memory for this. Take a shorter text."})
        return
    buffers: list[pickle.PickleBuffer] = []
    result = pickle.dumps(found, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    _line(output, {"size": len(result), "arrays": [array.nbytes for array in arrays]})
    output.writelines([result, *arrays])
    output.flush()


def _line(output: BinaryIO, said: dict[str, object]) -> None:
    output.write(json.dumps(said).encode() + b"\n")
    output.flush()


if __name__ == "__main__":
    main()
