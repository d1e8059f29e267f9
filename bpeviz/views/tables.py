"""Tables: the only place that builds pandas frames."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bpeviz.analysis.metrics import Measures, Vocabulary
from bpeviz.analysis.pretokenization import Summary
from bpeviz.analysis.pretokenization import name as chunk_name
from bpeviz.analysis.round_trip import Loss
from bpeviz.analysis.token_lookup import Ancestor, Decoded, Found
from bpeviz.core.merges import Merge
from bpeviz.core.training import Candidate, Pruning, Training
from bpeviz.text import hexadecimal, shorten
from bpeviz.trainers import texts_of
from bpeviz.trainers.screen import Detail


def decisions(training: Training, last: int, search: str = "") -> pd.DataFrame:
    """Return the first `last` decisions, one a row, with the number of each from 1.

    The first column is named after the unit of a step. Merges: left, right, token, id, count,
    applied, ties, and the score and what else is said of them, if anything. "applied" is left out
    where it is the count in every row, as it is without pairs like (a, a). Prunings: token, id,
    cost, uses, round. `search` keeps the rows whose token holds it, as text, as shown, or as an
    id.
    """
    name, shown = training.name, training.decisions[:last]
    columns: dict[str, Sequence[object]] = {texts_of(training).unit: range(1, len(shown) + 1)}
    if merges := [one for one in shown if isinstance(one, Merge)]:
        columns |= {
            "left": [name(merge.left) for merge in merges],
            "right": [name(merge.right) for merge in merges],
            "token": [name(merge.new_id) for merge in merges],
            "id": [merge.new_id for merge in merges],
        }
        if merges[0].score is not None:
            columns[texts_of(training).score or "score"] = [merge.score for merge in merges]
        columns[_counted(training)] = [merge.count for merge in merges]
        if any(merge.applied != merge.count for merge in merges):
            columns["applied"] = [merge.applied for merge in merges]
        columns["ties"] = [merge.ties for merge in merges]
    if prunings := [one for one in shown if isinstance(one, Pruning)]:
        columns |= {
            "token": [name(pruning.id) for pruning in prunings],
            "id": [pruning.id for pruning in prunings],
            texts_of(training).score or "cost": [pruning.loss for pruning in prunings],
            "uses": [pruning.count for pruning in prunings],
            "round": [pruning.round for pruning in prunings],
        }
    if any(one.note for one in shown):
        columns["note"] = [one.note for one in shown]
    frame = pd.DataFrame(columns)
    wanted = search.replace(" ", "·")
    if not wanted or not len(shown):
        return frame
    hit = frame["token"].str.contains(wanted, regex=False) | (frame["id"].astype(str) == search)
    return frame[hit]


def _counted(training: Training) -> str:
    return "weighted count" if training.weighted else "count"


def candidates(training: Training, found: Sequence[Candidate], step: int) -> pd.DataFrame:
    """Return the best candidates of a step: what they are, what decides, and what is to be said.

    step: 1 or more for those before that step was taken; 0 for those before the first, which is
    still to come.
    """
    taken = training.decisions[max(step, 1) - 1]
    ids = (taken.id,) if isinstance(taken, Pruning) else (taken.left, taken.right)
    best = next(((one.score, one.count) for one in found if one.ids == ids), None)
    scored = any(one.score is not None for one in found)

    def note(candidate: Candidate) -> str:
        if candidate.ids == ids:
            taken_now = "merged" if len(ids) == 2 else "pruned"
            return taken_now if step else "comes first"
        what = candidate.score if scored else candidate.count
        return "tied" if best and what == best[0 if scored else 1] else ""

    names = ("left", "right") if len(ids) == 2 else ("token",)
    counted = _counted(training) if len(ids) == 2 else "uses"
    frame = pd.DataFrame(
        [
            (*map(training.name, one.ids), one.score, one.count, note(one))
            for one in found
            if len(one.ids) == len(names)
        ],
        columns=[*names, texts_of(training).score or "score", counted, "note"],
    )
    return frame if scored else frame.drop(columns=texts_of(training).score or "score")


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
            "how many ids there are, special tokens not counted",
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
            # Isolated: else letters from right to left would change places with the numbers.
            f"\u2068{chunk_name(one.pair)}\u2069 {one.cut:,} of {one.times:,}"
            for one in row.apart
        )

    return pd.DataFrame(
        {
            "split": [row.title for row in rows],
            "chunks": [f"{row.pre_tokens:,}" for row in rows],
            "merges forbidden": [
                f"{row.forbidden:,} of {row.merges:,}" if row.merges else "–" for row in rows
            ],
            "most often cut apart": [pairs(row) or "–" for row in rows],
            "distinct": [f"{row.distinct:,}" for row in rows],
            "characters per chunk": [f"{row.characters / row.pre_tokens:.2f}" for row in rows],
            "longest chunk": [chunk_name(row.longest) for row in rows],
        }
    )


def standing(tokens: Sequence[str], places: Sequence[tuple[str, Sequence[int]]]) -> pd.DataFrame:
    """Return the merges learnt where nothing is split, one a row, and what splits leave of them.

    places: for each split its title, and in how many places each token stands within one pre-token.
    """
    frame = pd.DataFrame({"merge": range(1, len(tokens) + 1), "token": [*map(chunk_name, tokens)]})
    for title, counts in places:
        frame[title] = [f"{count:,}" if count else "forbidden" for count in counts]
    return frame


def detail(shown: Detail) -> pd.DataFrame:
    """Return the table of a detail."""
    return pd.DataFrame({name: list(values) for name, values in shown.columns.items()})


def vocabularies(rows: Sequence[Vocabulary]) -> pd.DataFrame:
    """Return how vocabularies overlap, one a row."""
    return pd.DataFrame(
        [(row.title, row.learnt, row.shared, row.own, "  ".join(row.examples)) for row in rows],
        columns=["algorithm", "learnt tokens", "shared by all", "in it alone", "some of these"],
    )


def losses(found: Sequence[Loss]) -> pd.DataFrame:
    """Return what the way from ids back to text did not return, one reason a row."""
    return pd.DataFrame(
        {
            "lost": [loss.title for loss in found],
            "times": [loss.times for loss in found],
            "first places": [
                "   ".join(f"{at:,}: {was} → {became}" for at, was, became in loss.places)
                for loss in found
            ],
            "why": [loss.why for loss in found],
        }
    )


def decoded(found: Sequence[Decoded]) -> pd.DataFrame:
    """Return ids with what each stands for by itself."""
    return pd.DataFrame(
        {
            "id": [str(one.id) for one in found],
            "token": [shorten(one.label) for one in found],
            "bytes": ["–" if one.raw is None else shorten(hexadecimal(one.raw)) for one in found],
            "note": [one.note for one in found],
        }
    )


def tokens(found: Sequence[Found]) -> pd.DataFrame:
    """Return tokens of a vocabulary, one a row."""
    return pd.DataFrame(
        {
            "id": [str(one.id) for one in found],
            "token": [shorten(one.label) for one in found],
            "bytes": [shorten(hexadecimal(one.raw)) for one in found],
            "what it is": [one.place for one in found],
        }
    )


def ancestry(found: Sequence[Ancestor]) -> pd.DataFrame:
    """Return a token and all it is merged from, one a row, level by level."""

    def parent(one: Ancestor, side: int) -> str:
        if one.parents is None:
            return ""
        return f"{shorten(one.parents[side].label, 40)}  {one.parents[side].id}"

    return pd.DataFrame(
        {
            "level": [one.level for one in found],
            "token": [shorten(one.token.label, 40) for one in found],
            "id": [str(one.token.id) for one in found],
            "left parent": [parent(one, 0) for one in found],
            "right parent": [parent(one, 1) for one in found],
            "what it is": [one.token.place for one in found],
        }
    )
