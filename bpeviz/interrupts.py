"""Ctrl-C while the command line is imported, which takes most of a second."""

from __future__ import annotations

import os
import signal
import sys


def _stop(*_: object) -> None:
    # An exception would end as a traceback, and libraries turn it into errors of their own.
    if "bpeviz" in sys.orig_argv:  # not a worker, which stops beside it
        os.write(2, b"Stopped.\n")
    os._exit(130)


def raise_again() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` again, once everything is imported."""
    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _stop)
