"""The worker of `bpeviz.jobs.trainings`: it trains on one text after the other.

Pickles are exchanged only between processes of one program, never read from files or users.
"""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Sequence
from math import inf

import bpeviz
from bpeviz import context, progress
from bpeviz.core.training import MergeTraining
from bpeviz.corpus.documents import Documents, characters_in
from bpeviz.jobs.errors import is_transient
from bpeviz.pretokenizers import expressions
from bpeviz.workers import serving

PROGRESS, EXPRESSION, LONG = 16, 17, 18
"""Messages before the answer: the state in JSON, a regular expression that the server runs, and the
question whether a training that takes long may go on."""

SHORT = 50_000
"""Characters of a text that usually trains within 0.1 seconds."""

INTERVAL = 0.1
"""Seconds between two progress messages."""


def main() -> None:
    """Answer requests: JSON with "algorithm", "options", "largest" and "quick", and the text.

    "largest" is the largest result in bytes, and "quick" the processor seconds until it takes long.
    """
    context.use(context.Context(run_expression=_ask_server))
    bpeviz.train("low lower", "bpe", merges=1)  # imports the modules of trainings
    serving.serve(_answer)


def _answer(operation: int, parts: Sequence[serving.Buffer]) -> Sequence[bytes | memoryview]:
    """Return the pickled result and its arrays: the training history, and the text's boundaries.

    Raises:
        Refused: With a message and whether it is transient. With nothing if the result is too
            large, and with an empty message alone if the training takes long and may not go on.
    """
    request = json.loads(bytes(parts[0]))
    text: str | Documents = pickle.loads(parts[1])  # noqa: S301, from the server
    last, end = 0.0, time.thread_time() + request["quick"]

    def report(task: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= INTERVAL:
            last = now
            serving.send(PROGRESS, json.dumps((task, done, total)).encode())
        check_time()

    def check_time() -> None:
        nonlocal end
        if time.thread_time() > end:
            end = inf
            serving.send(LONG)
            _, (goes_on,), _, _ = serving.receive()
            if not goes_on:
                raise serving.Refused(b"")

    try:
        with progress.reporting_to(report):
            history = bpeviz.train(text, request["algorithm"], **request["options"])
        last = 0.0
        report("Computing token boundaries", 0, 0)
        boundaries = history.boundaries(text)
        check_time()
    except ValueError as error:
        raise serving.Refused(str(error).encode(), bytes([is_transient(error)])) from error
    # Compute the cached properties that every page needs, so that the result contains them.
    _ = boundaries.token_counts, boundaries.permanent
    if isinstance(history, MergeTraining):
        _ = history.names
        if characters_in(text) <= SHORT:  # the pages count the pairs of each step
            _ = history.barriers(text, 0), history.as_trained(text, boundaries)
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps((history, boundaries), protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    if len(pickled) + sum(array.nbytes for array in arrays) > request["largest"]:
        raise serving.Refused
    return [pickled, *arrays]


def _ask_server(operation: int, expression: str, text: str, seconds: float) -> list[int]:
    """Let the server run an expression, whose workers all users share."""
    serving.send(EXPRESSION, pickle.dumps((operation, expression, text, seconds)))
    _, (reply,), _, _ = serving.receive()
    ends: list[int] | Exception = pickle.loads(reply)  # noqa: S301, from the server
    if isinstance(ends, Exception):
        raise ends
    return ends


def reply(message: serving.Buffer, user: str) -> bytes:
    """Return the reply of the server to an expression of a training of a user."""
    operation, expression, text, seconds = pickle.loads(message)  # noqa: S301, from our own worker
    try:
        return pickle.dumps(expressions.run(operation, expression, text, seconds, user))
    except (ValueError, RecursionError, OSError, MemoryError) as error:
        return pickle.dumps(error)


if __name__ == "__main__":
    main()
