"""Examples in the README for contributors."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "bpeviz" / "README.md"


def example(part: str) -> str:
    """Return the source of the only example in Python that contains a text."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    (source,) = (block for block in blocks if part in block)
    return str(source)


def readme_trainer() -> str:
    """Return the source of the example trainer."""
    return example("TRAINER = Trainer(")
