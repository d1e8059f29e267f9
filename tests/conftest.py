"""What all tests share: how hypothesis works, and the sources that tests quote."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# A first example may fill caches or load a vocabulary, so no example has a deadline of its own.
settings.register_profile("bpeviz", deadline=None)
settings.load_profile("bpeviz")


@pytest.fixture(scope="session")
def tiny_shakespeare() -> str:
    """Tiny Shakespeare, 1,115,394 bytes, where the machine has it."""
    path = Path(__file__).parents[2] / "shared" / "data" / "tinyshakespeare.txt"
    if not path.exists():
        pytest.skip(f"There is no {path.name} beside this repository.")
    return path.read_bytes().decode()
