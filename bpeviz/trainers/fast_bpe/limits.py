"""Sizes at which the fast BPE trainer changes its method.

The values were measured. Tests lower them, so that short texts reach every path.
"""

BLOCK = 1 << 20
"""Positions of the row that are processed at once, which bounds temporary memory."""

MAX_POSITIONS = 1 << 23
"""Pair positions that a round stores at its start; also those a batch of tied pairs may have."""

MAX_TABLE = 1 << 22
"""Number of possible pairs up to which a table counts them; above, they are sorted."""

MAX_TIED = 64
"""Tied pairs per merge up to which rewriting the row for that merge alone is worthwhile."""

LOOP_LIMIT = 48
"""Positions of a pair up to which a Python loop is faster than NumPy."""

BATCH_MIN = 16
"""Tied pairs from which merging them together is faster than one by one."""
