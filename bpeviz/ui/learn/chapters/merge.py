"""Chapter 2: choose the merge."""

from __future__ import annotations

from functools import partial

from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import DON_QUIJOTE, SENTENCES, Chapter

ROUNDS, AHEAD = 6, 10
"""The merges that the user chooses, and those that are compared with the best known ones."""

CLEVER = 94
"""The tokens after the best known ones, which a test repeats."""


def _figures() -> dict[str, int | str]:
    training = engine.merges_of(DON_QUIJOTE, merges=AHEAD)
    greedy = int(training.boundaries(DON_QUIJOTE).token_counts[-1])
    return {"merges": AHEAD, "greedy": greedy, "clever": CLEVER}


CHAPTER = Chapter(
    key="merge",
    texts={"pair": SENTENCES[:3]},
    tasks={"pair": partial(engine.rounds_of, rounds=ROUNDS)},
    rounds={"pair": ROUNDS},
    own="pair",
    figures=_figures,
    target=partial(
        engine.train_page, label="Open this text in Train", largest=256 + 20, min_count=1
    ),
)
