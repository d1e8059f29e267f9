"""What all tests share: how hypothesis works, and the sources that tests quote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A first example may fill caches or load a vocabulary, so no example has a deadline of its own.
settings.register_profile("bpeviz", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=5)  # --hypothesis-profile=quick
settings.load_profile("bpeviz")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where several processes run tests, let one run all that drive the browser.

    Two browsers with a server each are too much for a small machine.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneBrowser(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "browser" if nodeid.startswith("tests/browser/") else nodeid

    return OneBrowser(config, log)


@pytest.fixture(scope="session")
def tiny_shakespeare() -> str:
    """Tiny Shakespeare, 1,115,394 bytes, where the machine has it."""
    path = Path(__file__).parents[2] / "shared" / "data" / "tinyshakespeare.txt"
    if not path.exists():
        pytest.skip(f"There is no {path.name} beside this repository.")
    return path.read_bytes().decode()
