"""Chapter 2: choose the merge."""

from __future__ import annotations

from functools import partial

from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import DON_QUIJOTE, Chapter

ROUNDS, MERGES = 3, 20
"""The merges that the user chooses, and those after which the engine stops."""

AHEAD, CLEVER = 10, 94
"""A number of merges, and the tokens after the best known ones, which a test repeats."""

NEW_TEXT = "tomato potato"


def _figures() -> dict[str, int | str]:
    training = engine.merges_of(DON_QUIJOTE, merges=AHEAD)
    greedy = int(training.boundaries(DON_QUIJOTE).token_counts[-1])
    return {"merges": AHEAD, "greedy": greedy, "clever": CLEVER}


CHAPTER = Chapter(
    key="merge",
    texts={"pair": DON_QUIJOTE, "next": NEW_TEXT},
    tasks={
        "pair": partial(engine.rounds_of, rounds=ROUNDS, last=MERGES),
        "next": partial(engine.rounds_of, rounds=1, start=1),
    },
    rounds={"pair": ROUNDS},
    own="pair",
    figures=_figures,
    target=partial(engine.train_page, label="Open this text in Train", merges=MERGES),
)
