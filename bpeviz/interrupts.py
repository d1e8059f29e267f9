"""While the command line is imported, which takes most of a second: Ctrl-C, and a first line."""

from __future__ import annotations

import os
import signal
import sys

IS_SCRIPT = os.path.basename(sys.argv[0] if sys.argv else "").removesuffix(".exe") == "bpeviz"
"""Whether this process is the command `bpeviz`, not ``python -m bpeviz``."""


def _stop(*_: object) -> None:
    # An exception would end as a traceback, and libraries turn it into errors of their own.
    if IS_SCRIPT or "bpeviz" in sys.orig_argv:  # not a worker, which stops beside it
        os.write(2, b"Stopped.\n")
    os._exit(130)


def raise_again() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` again, once everything is imported."""
    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_starts = IS_SCRIPT or sys.argv[:1] == ["-m"]
if _starts and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _stop)
if _starts and sys.argv[1:2] == ["app"] and {"-h", "--help"}.isdisjoint(sys.argv):
    print("bpeviz is starting.", flush=True)
