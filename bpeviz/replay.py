"""What the player needs to show a text at any step: decisions as plain JSON values, no frames.

The browser gets, for each atom shown, when the boundary behind it vanishes; and for each merge,
what it joins. Everything else (which tokens there are, where a step leads) it reads off these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz.boundaries import NEVER, Boundaries
from bpeviz.compare import Column
from bpeviz.text import hexadecimal, hue, shorten
from bpeviz.tokenizer import END_OF_WORD, MergeTokenizer, Training

WINDOW = 20_000
"""How many atoms the player shows at once; a longer text is shown in parts."""

CANDIDATES = 8
"""How many of a step's best pairs are shown."""


@dataclass(frozen=True)
class Part:
    """A stretch of a text: atoms `start` to `end`, characters `first` to `last`."""

    start: int
    end: int
    first: int
    last: int


def parts(text: str, boundaries: Boundaries, size: int = WINDOW) -> list[Part]:
    """Cut a text into stretches of at most `size` atoms that can be shown one at a time.

    A part ends where no token is cut at any step, if there is such a place in its second half;
    else between two characters.
    """
    atoms = len(boundaries)
    if atoms <= size:
        return [Part(0, atoms, 0, len(text))]
    # Bytes up to the end of each character; an atom ends a character where its end is among them.
    character_ends = np.fromiter(
        accumulate(len(character.encode()) for character in text), np.int64, len(text)
    )
    between_characters = np.isin(boundaries.ends, character_ends)
    # Of atoms that end at the same byte (a mark follows a character) only the last is a place.
    between_characters[:-1] &= boundaries.ends[:-1] != boundaries.ends[1:]
    between_tokens = between_characters & (boundaries.vanishes == NEVER)
    found: list[Part] = []
    start = first = 0
    while start < atoms:
        end = min(start + size, atoms)
        if end < atoms:
            end = _last(between_tokens, start + size // 2, end) or (
                _last(between_characters, start, end) or end
            )
        last = int(np.searchsorted(character_ends, boundaries.ends[end - 1], "right"))
        found.append(Part(start, end, first, last))
        start, first = end, last
    return found


def _last(places: NDArray[np.bool_], low: int, high: int) -> int:
    """Return the index behind the last place in `low` to `high`, or 0."""
    found = np.flatnonzero(places[low:high])
    return low + int(found[-1]) + 1 if len(found) else 0


def film(
    text: str, training: Training, boundaries: Boundaries, part: Part, last: int
) -> dict[str, Any]:
    """Return what the player shows, as plain JSON values.

    boundaries: of the whole text under the largest tokenizer of `training`.
    part: what of it is shown. last: the step at which the film ends.
    """
    tokenizer = training.tokenizer()
    shown = slice(part.start, part.end)
    vanishes = boundaries.vanishes[shown]
    atom_ids = boundaries.atom_ids[shown]
    merges = training.merges
    whole = part.end - part.start == len(boundaries)
    data: dict[str, Any] = {
        "text": text[part.first : part.last],
        "atoms": tokenizer.atoms,
        "mark": training.splitting.end_mark,
        "marks": _marks(training, atom_ids),
        "vanish": np.where(vanishes == NEVER, -1, vanishes).tolist(),
        "atomIds": None if tokenizer.atoms == "bytes" else atom_ids.tolist(),
        "alphabet": {
            i: training.names[i]
            for i in (set(atom_ids.tolist()) | _atoms_of_merges(training)) - {-1}
        },
        "merges": {
            "left": [merge.left for merge in merges],
            "right": [merge.right for merge in merges],
            "count": [merge.count for merge in merges],
            "applied": [merge.applied for merge in merges],
            "ties": [merge.ties for merge in merges],
            "label": list(training.names[len(training.alphabet) :]),
            "hue": list(training.hues),
        },
        "still": still(training),
        "firstId": len(training.alphabet),
        "tokens": boundaries.token_counts.tolist(),
        "bytes": int(boundaries.ends[-1]) if len(boundaries) else 0,
        "part": None if whole else [part.first, part.last, len(text)],
    }
    digest = hashlib.blake2b(digest_size=12)
    digest.update(repr(data).encode())
    identity = hashlib.blake2b(digest_size=12)
    identity.update(repr((training.splitting, data["tokens"], data["merges"], text)).encode())
    # `last` may change while everything above stays: the player then keeps what it has drawn.
    return data | {"key": digest.hexdigest(), "film": identity.hexdigest(), "last": last}


def still(training: Training) -> str:
    """Return why no merge is shown, where none is."""
    if training.merges:
        return "This vocabulary holds the atoms alone. Make it larger to see merges."
    return {
        "full": "This vocabulary holds the atoms alone. Make it larger to see merges.",
        "no pair": "There is no pair here that could be merged.",
        "rare": "No pair comes often enough to be merged. “More” sets the smallest count.",
    }[training.stopped]


def _atoms_of_merges(training: Training) -> set[int]:
    """Return the atoms that merges join directly."""
    atoms = len(training.alphabet)
    return {i for merge in training.merges for i in (merge.left, merge.right) if i < atoms}


def _marks(training: Training, atom_ids: NDArray[np.int32]) -> list[int]:
    """Return which of the atoms shown are, or carry, an end-of-word mark."""
    if training.splitting.end_mark == "none":
        return []
    marked = [
        i
        for i, symbol in enumerate(training.alphabet)
        if symbol.endswith(END_OF_WORD) and len(symbol) > 1
    ]
    found: list[int] = np.flatnonzero(np.isin(atom_ids, marked)).tolist()
    return found


@dataclass(frozen=True)
class Candidate:
    """A pair that might be merged next, and how often it stands side by side."""

    left: int
    right: int
    count: int


def candidates(
    tokenizer: MergeTokenizer,
    boundaries: Boundaries,
    chunk_ends: NDArray[np.int64],
    step: int,
    limit: int = CANDIDATES,
) -> list[Candidate]:
    """Count the pairs of a text after `step` merges, most frequent first.

    Pairs within chunks only, overlaps included, as the learner counts them. Of equal counts the
    pair that is merged next comes first, whatever the tie rule; then the order of the text.
    """
    ends = boundaries.token_ends(step)
    if len(ends) < 2:
        return []
    ids = tokenizer.ids_at(boundaries, step)
    inside = ~np.isin(ends[:-1], chunk_ends) & (ids[:-1] >= 0) & (ids[1:] >= 0)
    keys = ids[:-1][inside].astype(np.int64) << 32 | ids[1:][inside]
    distinct, first, count = np.unique(keys, return_index=True, return_counts=True)
    taken = [merge.left << 32 | merge.right for merge in tokenizer.merges[step : step + 1]]
    order = np.lexsort((first, ~np.isin(distinct, taken), -count))[:limit]
    return [
        Candidate(key >> 32, key & 0xFFFFFFFF, times)
        for key, times in zip(distinct[order].tolist(), count[order].tolist(), strict=True)
    ]


def side_by_side(
    text: str, columns: Sequence[Column], part: Part, reference: int
) -> dict[str, Any]:
    """Return what the columns of Compare show, as plain JSON values: one text, cut several ways.

    part: what of the text is shown, in bytes for `start` and `end`. reference: the column whose
    cuts the others are held against. Cuts are in UTF-8 bytes.
    """
    shown = []
    standard = _cuts_within(columns[reference], part)
    for column in columns:
        cuts = _cuts_within(column, part)
        tokens = _tokens(column, part)
        shown.append(
            {
                "title": column.title,
                "ends": [end for end, *_ in tokens],
                "tokens": [rest for _, *rest in tokens],
                "own": np.setdiff1d(cuts, standard).tolist(),
                "missing": np.setdiff1d(standard, cuts).tolist(),
            }
        )
    data: dict[str, Any] = {
        "text": text[part.first : part.last],
        "columns": shown,
        "reference": reference,
    }
    digest = hashlib.blake2b(repr(data).encode(), digest_size=12)
    return data | {"key": digest.hexdigest()}


def _cuts_within(column: Column, part: Part) -> NDArray[np.int64]:
    """Return the cuts strictly inside a part, from its start."""
    cuts = column.inner_cuts()
    return cuts[(cuts > part.start) & (cuts < part.end)] - part.start


def _tokens(column: Column, part: Part) -> list[tuple[int, int, str, str, int]]:
    """Return of each token of a part: its end in bytes, id, label, bytes in hex, and hue.

    A token that reaches beyond the part is itself, cut short.
    """
    tokenizer = column.tokenizer
    ends = column.boundaries.cuts(column.step)
    first = np.searchsorted(ends, part.start, "right")
    last = max(
        np.searchsorted(ends, part.end, "right"), np.searchsorted(ends, part.end, "left") + 1
    )
    ids = tokenizer.ids_at(column.boundaries, column.step)[first:last].tolist()
    looks: dict[int, tuple[str, str, int]] = {-1: ("not in the vocabulary", "", -1)}
    for token_id in {*ids} - {-1}:
        raw = tokenizer.token_bytes(token_id)
        made = tokenizer.merge_step(token_id) >= 0
        looks[token_id] = (
            shorten(tokenizer.token_label(token_id)),
            shorten(hexadecimal(raw)),
            hue(raw) if made else -1,
        )
    shown = np.minimum(ends[first:last], part.end) - part.start
    return [
        (end, token_id, *looks[token_id]) for end, token_id in zip(shown.tolist(), ids, strict=True)
    ]
