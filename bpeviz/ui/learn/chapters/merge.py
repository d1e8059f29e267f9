"""Chapter 2: choose the merge."""

from __future__ import annotations

from functools import partial

from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import DON_QUIJOTE, Chapter

ROUNDS = 6

CHAPTER = Chapter(
    key="merge",
    text=DON_QUIJOTE,
    stages={"pair": partial(engine.rounds_of, rounds=ROUNDS)},
    rounds={"pair": ROUNDS},
    own="pair",
    target=partial(
        engine.train_page, label="Open this text in Train", largest=256 + 20, min_count=1
    ),
)
