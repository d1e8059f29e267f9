"""Tables: the only place that builds pandas frames."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bpeviz.compare import Measures
from bpeviz.replay import Candidate
from bpeviz.tokenizer import MergeTokenizer


def merges(tokenizer: MergeTokenizer, search: str = "") -> pd.DataFrame:
    """Return the merges, one a row: merge (from 1), left, right, token, id, count, applied, ties.

    `search` keeps the rows whose token holds it, as text, as shown, or as an id.
    """
    frame = pd.DataFrame(
        {
            "merge": range(1, tokenizer.steps + 1),
            "left": [tokenizer.token_label(merge.left) for merge in tokenizer.merges],
            "right": [tokenizer.token_label(merge.right) for merge in tokenizer.merges],
            "token": [tokenizer.token_label(merge.new_id) for merge in tokenizer.merges],
            "id": [merge.new_id for merge in tokenizer.merges],
            "count": [merge.count for merge in tokenizer.merges],
            "applied": [merge.applied for merge in tokenizer.merges],
            "ties": [merge.ties for merge in tokenizer.merges],
        }
    )
    wanted = search.replace(" ", "·")
    if not wanted:
        return frame
    hit = frame["token"].str.contains(wanted, regex=False) | (frame["id"].astype(str) == search)
    return frame[hit]


def candidates(tokenizer: MergeTokenizer, found: Sequence[Candidate], taken: int) -> pd.DataFrame:
    """Return a step's best pairs: pair, would become, count, and what is to be said of each.

    `taken` is the merge, from 0, that is made at this step.
    """
    merge = tokenizer.merges[taken]
    return pd.DataFrame(
        [
            {
                "left": tokenizer.token_label(pair.left),
                "right": tokenizer.token_label(pair.right),
                "count": pair.count,
                "note": "merged now"
                if (pair.left, pair.right) == (merge.left, merge.right)
                else "tied"
                if pair.count == merge.count
                else "",
            }
            for pair in found
        ],
        columns=["left", "right", "count", "note"],
    )


def measures(rows: Sequence[Measures]) -> pd.DataFrame:
    """Return the measures, one tokenizer a row."""
    return pd.DataFrame(
        [
            {
                "tokenizer": row.title,
                "vocabulary": row.vocab_size,
                "tokens": row.tokens,
                "bytes per token": row.bytes_per_token,
                "characters per token": row.characters_per_token,
                "tokens per word": row.tokens_per_word,
                "words kept whole": row.whole_words,
                "distinct tokens": row.distinct,
                "precision": row.agreement.precision,
                "recall": row.agreement.recall,
                "F1": row.agreement.f1,
            }
            for row in rows
        ]
    )
