"""The worker of `bpeviz.jobs`, which calls functions: it trains on texts, and reads files of users.

Pickles are exchanged only between processes of one program, never read from files or users.
"""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import bpeviz
from bpeviz import context, progress
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import MergeTraining, Training
from bpeviz.corpus.documents import Documents, characters_in
from bpeviz.jobs.errors import StoppedError, is_transient
from bpeviz.workers import serving

CALL = 0
"""The operation."""

PROGRESS, IN_SERVER, LONG = 16, 17, 18
"""Messages before the answer: the state in JSON, a function that the server calls, and the
question whether a training that takes long may go on."""

SHORT = 50_000
"""Characters of a text that usually trains within 0.1 seconds."""

INTERVAL = 0.1
"""Seconds between two progress messages."""


def main() -> None:
    """Answer requests."""
    context.use(context.Context(call=_call_in_server))
    bpeviz.train("low lower", "bpe", merges=1)  # imports the modules of trainings
    serving.serve(lambda _, parts: _call(parts))


def packed(value: object) -> list[bytes | memoryview]:
    """Return a pickled value and its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return [pickled, *(buffer.raw() for buffer in buffers)]


def unpacked(parts: Sequence[serving.Buffer]) -> Any:
    """Return a pickled value, which another process of the same program has packed."""
    return pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301, see above


def _call(parts: Sequence[serving.Buffer]) -> Sequence[bytes | memoryview]:
    """Return the pickled result of a function and its arrays.

    Args:
        parts: The function, its arguments, and the largest result in bytes.

    Raises:
        Refused: With the error of the function and its cause, or nothing for a larger result.
    """
    function, arguments, largest = unpacked(parts)
    try:
        result = packed(function(*arguments))
    except (ValueError, StoppedError) as error:
        raise serving.Refused(*packed((error, error.__cause__))) from error
    if sum(map(len, result)) > largest:
        raise serving.Refused
    return result


def train(
    text: str | Documents, algorithm: str, options: dict[str, Any], quick: float
) -> tuple[Training, Boundaries]:
    """Return the training history, and the text's boundaries.

    Args:
        text: The training text.
        algorithm: A key of `TRAINERS`.
        options: The other arguments of `bpeviz.train`.
        quick: The processor seconds until it takes long.

    Raises:
        StoppedError: There is no result.
    """
    last, end = 0.0, time.thread_time() + quick

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
                raise StoppedError

    try:
        with progress.reporting_to(report):
            history = bpeviz.train(text, algorithm, **options)
        last = 0.0
        report("Computing token boundaries", 0, 0)
        boundaries = history.boundaries(text)
        check_time()
    except ValueError as error:
        raise StoppedError(str(error), is_transient(error)) from error
    # Compute the cached properties that every page needs, so that the result contains them.
    _ = boundaries.token_counts, boundaries.permanent
    if isinstance(history, MergeTraining):
        _ = history.names
        if characters_in(text) <= SHORT:  # the pages count the pairs of each step
            _ = history.barriers(text, 0), history.as_trained(text, boundaries)
    return history, boundaries


def _call_in_server(function: Callable[..., Any], *arguments: object) -> Any:
    serving.send(IN_SERVER, *packed((function, arguments)))
    result, error, cause = unpacked(serving.receive()[1])
    if error is not None:
        raise error from cause
    return result


def reply(parts: list[serving.Buffer], user: str) -> bytes:
    """Return the reply of the server to a worker that lets it call a function for a user."""
    function, arguments = unpacked(parts)
    parts.clear()  # they may be as large as a file
    try:
        return pickle.dumps((function(*arguments, user), None, None))
    except (ValueError, RecursionError, OSError, MemoryError) as error:
        return pickle.dumps((None, error, error.__cause__))


if __name__ == "__main__":
    from bpeviz.jobs import worker  # the module whose functions the server names

    worker.main()
