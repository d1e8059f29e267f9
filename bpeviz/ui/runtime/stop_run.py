"""Stop a script run before its last line.

After `st.stop` Streamlit draws nothing more, but the frame of a page (`bpeviz/ui/page.py`) still
has to draw the button that copies a link. So pages stop with an exception of their own.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any, NoReturn


class _Stopped(Exception):  # noqa: N818 - not an error
    pass


def stop() -> NoReturn:
    """Stop the page or fragment; what it has drawn stays."""
    raise _Stopped


def until_stopped() -> AbstractContextManager[Any]:
    """Return a context that ends at its last line or at `stop`."""
    return suppress(_Stopped)
