"""The command line of bpeviz: ``python -m bpeviz --help``."""

from __future__ import annotations

import sys

from bpeviz.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
