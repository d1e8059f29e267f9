"""The number of examples of property tests, and the parts of grids that a fast run checks.

Every run draws other examples, so few are enough for one. `BPEVIZ_EXAMPLES=10` runs ten times as
many as the tests ask for, and 0.02 at least some.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")

SHARE = float(os.environ.get("BPEVIZ_EXAMPLES", "0.3"))
"""The share of the examples that a run draws."""

LEAST = 5

MANY = 100
"""The least number of examples of the tests with `many`, unless a run leaves out slow tests."""

FAST = False
"""Whether the run leaves out thorough tests."""


def examples(number: int) -> int:
    """Return the number of examples to draw where a test asks for `number`."""
    return max(LEAST, round(number * SHARE))


def many(number: int = MANY, least: int = MANY) -> settings:
    """Return the settings of a test of ids, boundaries, steps or saved files.

    Five examples a run would find few mistakes in these, and users rely on them.

    Args:
        number: The number of examples that the test asks for.
        least: The least number of a run, where each example takes long.
    """
    return settings(max_examples=max(min(least, MANY), examples(number)))


def quarter(values: Sequence[T], key: str) -> Sequence[T]:
    """Return all values, or in a fast run a quarter of them, which depends on the key."""
    return values[zlib.crc32(key.encode()) % 4 :: 4] if FAST else values


def mostly_thorough(values: Iterable[T], fast: Sequence[T]) -> list[object]:
    """Return the parameters of a test that is marked as thorough for all but a few of them."""
    return [one if one in fast else pytest.param(one, marks=pytest.mark.thorough) for one in values]
