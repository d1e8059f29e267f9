"""Users of a server."""

from __future__ import annotations

from collections.abc import Callable

current: Callable[[], str] = str
"""Returns the identity of the user whose work runs in this thread, or an empty text: a program has
no users, and no shares. `bpeviz.ui` replaces it."""
