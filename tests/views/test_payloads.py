"""Payloads of the stage in many states equal the stored ones, by their digests."""

from __future__ import annotations

import pytest
from helpers import payload_cases

CASES = dict(payload_cases.cases())
STORED = payload_cases.read(payload_cases.DIGESTS.read_text(encoding="utf-8"))


def test_stored_payloads_cover_all_states() -> None:
    assert len(STORED) > 200
    assert STORED.keys() == CASES.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_payloads_equal_the_stored_ones(name: str) -> None:
    """A difference is named by its path. If it is intended, run `payload_cases.py` again."""
    assert payload_cases.digests(payload_cases.as_values(CASES[name]())) == STORED[name]
