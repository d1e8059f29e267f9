"""Stop a script run before its last line.

After `st.stop` a script cannot draw, but the frame of a page (`bpeviz/ui/page.py`) still draws the
button that copies a link. So pages stop with an exception of their own.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any, NoReturn


class _Stopped(Exception):  # noqa: N818 - not an error
    pass


def stop() -> NoReturn:
    """Stop the page or fragment; the elements drawn so far remain."""
    raise _Stopped


def until_stopped() -> AbstractContextManager[Any]:
    """Return a context that ends at its last line or at `stop`."""
    return suppress(_Stopped)
