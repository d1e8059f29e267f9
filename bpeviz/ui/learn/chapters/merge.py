"""Chapter 2: choose the merge."""

from __future__ import annotations

from functools import cache, partial

from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import DON_QUIJOTE, SENTENCES, Chapter
from bpeviz.ui.learn.figures import BEST_KNOWN, own_merges

ROUNDS, AHEAD = 6, 10
"""The merges that the user chooses, and those that are compared with the best known ones."""


@cache
def _figures() -> dict[str, int | str]:
    pairs = BEST_KNOWN[:AHEAD]
    ways = engine.merges_of(DON_QUIJOTE, merges=AHEAD), own_merges(DON_QUIJOTE, pairs)
    greedy, clever = (int(way.boundaries(DON_QUIJOTE).token_counts[-1]) for way in ways)
    return {"merges": AHEAD, "greedy": greedy, "clever": clever}


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
