"""The number of examples of property tests.

Every run draws other examples, so few are enough for one. `BPEVIZ_EXAMPLES=10` runs ten times as
many as the tests ask for, and 0.02 at least some.
"""

from __future__ import annotations

import os

SHARE = float(os.environ.get("BPEVIZ_EXAMPLES", "0.3"))
"""The share of the examples that a run draws."""

LEAST = 5


def examples(number: int) -> int:
    """Return the number of examples to draw where a test asks for `number`."""
    return max(LEAST, round(number * SHARE))
