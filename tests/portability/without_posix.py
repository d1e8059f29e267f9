"""Take away what only POSIX systems have. Run before anything of bpeviz is imported."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any

with suppress(ImportError):
    import psutil  # noqa: F401 (on Linux it needs one of these modules; it is not ours)

MODULES = ("resource", "fcntl", "pwd", "grp", "termios", "tty", "syslog")
OF_OS = (
    *("nice", "setpriority", "getpriority", "PRIO_PROCESS", "sched_getaffinity", "sysconf"),
    *("fork", "forkpty", "register_at_fork", "killpg", "setsid", "getpgid", "getuid", "geteuid"),
)
OF_SIGNAL = ("SIGALRM", "SIGPROF", "SIGPIPE", "SIGHUP", "SIGUSR1", "setitimer", "alarm", "pause")


class _Missing:
    """Finds none of the modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, _Missing())  # type: ignore[arg-type]
for name in MODULES:
    sys.modules.pop(name, None)
for name in OF_OS:
    if hasattr(os, name):
        delattr(os, name)
for name in OF_SIGNAL:
    if hasattr(signal, name):
        delattr(signal, name)
