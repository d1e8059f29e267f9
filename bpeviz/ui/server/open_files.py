"""The number of files that the system lets the server open."""

from __future__ import annotations

import contextlib

try:
    import resource
except ImportError:  # Windows, where sockets are not files
    resource = None  # type: ignore[assignment]

_WANTED = (65_536, 10_240)
"""Numbers of files to try: macOS refuses more than the second one."""


def raise_open_files() -> None:
    """Let this process open as many files as the system allows.

    A tab takes four: with 256, the default of macOS, the 59th tab would fail.
    """
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in _WANTED:
        most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        if soft == resource.RLIM_INFINITY or soft >= most:
            return
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return
