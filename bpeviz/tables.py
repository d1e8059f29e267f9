"""Tables: the only place that builds pandas frames."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bpeviz.compare import Measures
from bpeviz.replay import Candidate
from bpeviz.splits import Summary
from bpeviz.splits import name as chunk_name
from bpeviz.tokenizer import Training


def merges(training: Training, last: int, search: str = "") -> pd.DataFrame:
    """Return the first `last` merges, one a row, with the number of each from 1.

    Columns: merge, left, right, token, id, count, applied, ties. "applied" is left out where it
    is the count in every row, as it is without pairs like (a, a). `search` keeps the rows whose
    token holds it, as text, as shown, or as an id.
    """
    names, shown = training.names, training.merges[:last]
    frame = pd.DataFrame(
        {
            "merge": range(1, len(shown) + 1),
            "left": [names[merge.left] for merge in shown],
            "right": [names[merge.right] for merge in shown],
            "token": [names[merge.new_id] for merge in shown],
            "id": [merge.new_id for merge in shown],
            "count": [merge.count for merge in shown],
            "applied": [merge.applied for merge in shown],
            "ties": [merge.ties for merge in shown],
        }
    )
    if (frame["applied"] == frame["count"]).all():
        frame = frame.drop(columns="applied")
    wanted = search.replace(" ", "·")
    if not wanted:
        return frame
    hit = frame["token"].str.contains(wanted, regex=False) | (frame["id"].astype(str) == search)
    return frame[hit]


def candidates(training: Training, found: Sequence[Candidate], step: int) -> pd.DataFrame:
    """Return the best pairs of a step: left, right, count, and what is to be said of each.

    step: 1 or more for the pairs before that merge was made; 0 for those before the first, which
    is still to come.
    """
    taken = training.merges[max(step, 1) - 1]

    def note(pair: Candidate) -> str:
        if (pair.left, pair.right) == (taken.left, taken.right):
            return "merged" if step else "comes first"
        return "tied" if pair.count == taken.count else ""

    return pd.DataFrame(
        [
            (
                training.names[pair.left],
                training.names[pair.right],
                pair.count,
                note(pair),
            )
            for pair in found
        ],
        columns=["left", "right", "count", "note"],
    )


def measures(rows: Sequence[Measures]) -> pd.DataFrame:
    """Return the measures, one a row with a column for each tokenizer and one that explains."""

    def number(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    lines = [
        (
            "tokens",
            [number(row.tokens, ",") for row in rows],
            "how many the text is cut into",
        ),
        (
            "bytes per token",
            [number(row.bytes_per_token, ".2f") for row in rows],
            "UTF-8 bytes that one token stands for, on average",
        ),
        (
            "characters per token",
            [number(row.characters_per_token, ".2f") for row in rows],
            "the same in characters",
        ),
        (
            "tokens per word",
            [number(row.tokens_per_word, ".2f") for row in rows],
            "pieces of a word, on average; a word is a run of letters, marks and digits",
        ),
        (
            "words kept whole",
            [number(row.whole_words, ".1%") for row in rows],
            "no boundary inside",
        ),
        (
            "distinct tokens",
            [number(row.distinct, ",") for row in rows],
            "different ones that occur",
        ),
        (
            "vocabulary",
            [number(row.vocab_size, ",") for row in rows],
            "atoms and merges, special tokens not counted",
        ),
        (
            "precision",
            [number(row.agreement.precision, ".1%") for row in rows],
            "share of its cuts that the reference makes, too",
        ),
        (
            "recall",
            [number(row.agreement.recall, ".1%") for row in rows],
            "share of the reference's cuts that it makes",
        ),
        (
            "F1",
            [number(row.agreement.f1, ".1%") for row in rows],
            "harmonic mean of the two",
        ),
    ]
    return pd.DataFrame(
        [(name, *values, meaning) for name, values, meaning in lines],
        columns=["measure", *(row.title for row in rows), "what it says"],
    )


def splits(rows: Sequence[Summary]) -> pd.DataFrame:
    """Return what is told of each split, one a row."""

    def pairs(row: Summary) -> str:
        return "   ".join(
            f"{chunk_name(one.pair)} {one.cut:,} of {one.times:,}" for one in row.apart
        )

    return pd.DataFrame(
        {
            "split": [row.title for row in rows],
            "chunks": [f"{row.chunks:,}" for row in rows],
            "merges forbidden": [
                f"{row.forbidden:,} of {row.merges:,}" if row.merges else "–" for row in rows
            ],
            "most often cut apart": [pairs(row) or "–" for row in rows],
            "distinct": [f"{row.distinct:,}" for row in rows],
            "characters per chunk": [f"{row.characters / row.chunks:.2f}" for row in rows],
            "longest chunk": [chunk_name(row.longest) for row in rows],
        }
    )


def standing(tokens: Sequence[str], places: Sequence[tuple[str, Sequence[int]]]) -> pd.DataFrame:
    """Return the merges learnt where nothing is split, one a row, and what splits leave of them.

    places: for each split its title, and in how many places each token stands within one chunk.
    """
    frame = pd.DataFrame({"merge": range(1, len(tokens) + 1), "token": [*map(chunk_name, tokens)]})
    for title, counts in places:
        frame[title] = [f"{count:,}" if count else "forbidden" for count in counts]
    return frame
