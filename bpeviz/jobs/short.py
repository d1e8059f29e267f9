"""Train on short texts in one reused process, so that other pages can run meanwhile.

Starting a process takes longer than training on a short text. So the server reuses one
(`bpeviz.jobs.reused_worker`), which serves one training after the other. Until it is ready, and
where it cannot be started, the caller trains.
"""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast

from bpeviz.jobs.queue import JobError, Result, read_result

SECONDS = 0.5
"""Processor seconds after which a training is left to a job.

For English texts of 50,000 characters, algorithms take 0.1 to 0.6 seconds, boundaries included.
For as many random Chinese characters, WordPiece takes 30 seconds.
"""

PATIENCE = 10.0
"""Wall-clock seconds after which the process is killed, because it hangs."""

_ROOT = Path(__file__).resolve().parents[2]
_log = logging.getLogger("bpeviz")


class TakesLongError(Exception):
    """The process for short trainings does not finish a training, so it should become a job."""


class _Worker:
    """A process that trains. It is ready some time after its start."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bpeviz.jobs.reused_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
        )
        self._requests = cast(BinaryIO, self.process.stdin)
        self._output = cast(BufferedReader, self.process.stdout)
        self.is_ready = False
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # ended meanwhile
            self.is_ready = bool(self._output.readline())

    def ask(self, text: str, algorithm: str, options: Mapping[str, Any]) -> Result | JobError:
        """Return the outcome of a training.

        Raises:
            TakesLongError: It exceeds `SECONDS` or the memory limit.
            OSError, ValueError: The process has ended.
        """
        content = text.encode()
        header = {
            "algorithm": algorithm,
            "options": options,
            "size": len(content),
            "seconds": SECONDS,
        }
        self._requests.writelines([json.dumps(header).encode(), b"\n", content])
        self._requests.flush()
        message = json.loads(self._output.readline())
        if "error" in message:
            return JobError(message["error"], message["transient"])
        if "size" not in message:
            raise TakesLongError
        return read_result(self._output, message)

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        with contextlib.suppress(OSError):  # part of the request is still buffered
            self._requests.close()
        self._output.close()
        self.process.wait()


_lock = threading.Lock()
_worker: _Worker | None = None


def start() -> None:
    """Start the process, and return before it is ready."""
    global _worker
    _worker = None
    with contextlib.suppress(OSError, RuntimeError):  # no process or thread is granted
        _worker = _Worker()


def stop() -> None:
    """End the process."""
    global _worker
    worker, _worker = _worker, None
    if worker is not None:
        worker.end()


def is_ready() -> bool:
    """Return whether the process is ready to train."""
    return _worker is not None and _worker.is_ready


def train(text: str, algorithm: str, options: Mapping[str, Any]) -> Result | JobError:
    """Return the training history of a text and the boundaries of the text, or the error.

    Raises:
        TakesLongError: It exceeds a limit, or the process is not ready or has ended.
    """
    with _lock:
        worker = _worker
        if worker is None or not worker.is_ready:
            raise TakesLongError
        watch = threading.Timer(PATIENCE, worker.process.kill)
        watch.start()
        try:
            return worker.ask(text, algorithm, options)
        except (OSError, ValueError):
            worker.end()
            _log.warning(
                "The process for short trainings ended. Algorithm %s, %s characters.",
                algorithm,
                f"{len(text):,}",
            )
            if _worker is worker:  # not stopped meanwhile
                start()
            raise TakesLongError from None
        finally:
            watch.cancel()
