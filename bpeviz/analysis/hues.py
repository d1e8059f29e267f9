"""Color indices of the tokens of a text, so that tokens that touch differ.

A token's own index follows from its bytes. Where it touches another token of the same index, at any
step and under any of the tokenizers that a page shows, one of them takes another index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import (
    INSIDE_ID,
    UNKNOWN_ID,
    Boundaries,
    ChangingBoundaries,
    TokenSpans,
)
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import COLORS, color_key

Keys = Callable[[int], int]
"""A function from ids to color keys (`bpeviz.text.color_key`), -1 for a token without color."""

Ids = NDArray[np.int64]

Contacts = Counter[tuple[int, int]]
"""How many times a pair of tokens touch, left and right."""


@dataclass(frozen=True)
class Hues:
    """The color index of each token of a text under some tokenizers.

    Attributes:
        indices: The color indices by color key. Other tokens have their own index.
    """

    indices: Mapping[int, int] = field(default_factory=dict)

    def index(self, key: int) -> int:
        """Return the color index of a key, -1 if it is -1."""
        return key if key < 0 else self.indices.get(key, key % COLORS)


OWN = Hues()
"""All tokens have their own color index."""


def key_of(tokenizer: Tokenizer, token_id: int) -> int:
    """Return the color key of a token of a vocabulary, -1 for a single atom or an unknown token."""
    if token_id < 0 or tokenizer.is_atom(token_id):
        return -1
    return color_key(tokenizer.token_bytes(token_id))


def keys_of(tokenizer: Tokenizer) -> Keys:
    """Return a function from ids of a tokenizer to color keys."""
    return lambda token_id: key_of(tokenizer, token_id)


def contacts(boundaries: Boundaries) -> Contacts:
    """Count how often tokens touch, by their ids: each pair at each place, for each that begins.

    A token that is not in the vocabulary touches none.
    """
    tokens = boundaries.merged_tokens()
    if tokens is None:
        return _contacts_of_changes(boundaries.as_changes())
    atoms = boundaries.atom_ids
    before = _beside(tokens, tokens.ends, tokens.starts, np.append(np.int32(UNKNOWN_ID), atoms))
    after = _beside(tokens, tokens.starts, tokens.ends, np.append(atoms, np.int32(UNKNOWN_ID)))
    # Before the first step, each atom begins.
    lefts: Ids = np.concatenate((before, tokens.ids, atoms[:-1], atoms[:-1]))
    rights: Ids = np.concatenate((tokens.ids, after, atoms[1:], atoms[1:]))
    known = (lefts >= 0) & (rights >= 0)
    period = int(rights.max(initial=0)) + 1
    pairs, counts = np.unique(lefts[known] * period + rights[known], return_counts=True)
    columns = (*np.divmod(pairs, period), counts)
    ids = zip(*(column.tolist() for column in columns), strict=True)
    return Counter({(left, right): times for left, right, times in ids})


def _beside(
    tokens: TokenSpans,
    sides: NDArray[np.int64],
    places: NDArray[np.int64],
    atoms: NDArray[np.int64],
) -> Ids:
    """Return the id of the token on one side of each token at the time when it begins.

    Args:
        tokens: The tokens.
        sides: Their ends for the side before, their starts for the side after.
        places: Where the tokens on that side must end or start.
        atoms: The id of the atom there, for each place.
    """
    period = int(tokens.times.max(initial=0)) + 1
    keys = sides * period + tokens.times
    order = np.argsort(keys)
    latest = np.searchsorted(keys[order], places * period + tokens.times, "right") - 1
    chosen = order[np.maximum(latest, 0)]
    is_there = (latest >= 0) & (sides[chosen] == places)
    return np.where(is_there, tokens.ids[chosen], atoms[places])


def _contacts_of_changes(changes: ChangingBoundaries) -> Contacts:
    """Count how often tokens touch while boundaries change, step by step."""
    size = len(changes)
    atoms = np.repeat(np.arange(1, size + 1), np.diff(changes.rows))
    order = np.argsort(changes.times, kind="stable")
    columns = (changes.times[order], atoms[order], changes.entries[order])
    by_time = groupby(zip(*(column.tolist() for column in columns), strict=True), itemgetter(0))
    # The token that begins at each atom, and the atoms where the tokens beside it begin. Before the
    # first atom and after the last one are tokens without color.
    ids = [UNKNOWN_ID, *[INSIDE_ID] * size, UNKNOWN_ID]
    before, after = [0] * len(ids), [0] * len(ids)
    contacts: Contacts = Counter()
    for time, entries in by_time:
        begun = []
        for _, atom, token_id in entries:
            if token_id == INSIDE_ID:
                left, right = before[atom], after[atom]
                after[left], before[right] = right, left
            elif time >= 0:
                begun.append(atom)
                if ids[atom] == INSIDE_ID:
                    left = atom - 1
                    while ids[left] == INSIDE_ID:
                        left -= 1
                    right = after[left]
                    before[atom], after[atom] = left, right
                    after[left] = before[right] = atom
            ids[atom] = token_id
        if time < 0:
            begun = [atom for atom, token_id in enumerate(ids) if token_id != INSIDE_ID]
            for left, right in pairwise(begun):
                after[left], before[right] = right, left
            begun = begun[1:-1]
        for atom in begun:
            for left, right in ((before[atom], atom), (atom, after[atom])):
                if ids[left] >= 0 and ids[right] >= 0:
                    contacts[ids[left], ids[right]] += 1
    return contacts


def contacts_at(ids: Iterable[int]) -> Contacts:
    """Count how often tokens touch in a sequence of ids."""
    return Counter(pairwise(ids))


def hues(shown: Iterable[tuple[Contacts, Keys]], given: Hues = OWN) -> Hues:
    """Return color indices that differ where tokens touch, as far as there are enough colors.

    Tokens are colored one by one, those that touch others most often first. Each keeps its own
    index unless a token that it touches has it, else it takes the one that touches least.

    Args:
        shown: The contacts of the tokens in each view, and the function from their ids to keys.
        given: Color indices that stay.
    """
    touching: dict[int, Counter[int]] = {}
    for pairs, key_of_id in shown:
        ids = {token_id for pair in pairs for token_id in pair}
        keys = {token_id: key_of_id(token_id) if token_id >= 0 else -1 for token_id in ids}
        for key in keys.values():
            if key >= 0:
                touching.setdefault(key, Counter())
        for (left, right), times in pairs.items():
            first, second = keys[left], keys[right]
            if first != second and first >= 0 and second >= 0:
                touching[first][second] += times
                touching[second][first] += times
    indices = dict(given.indices)
    most_first = sorted(touching, key=lambda key: (-touching[key].total(), key))
    for key in most_first:
        if key in indices:
            continue
        taken = [0] * COLORS
        for other, times in touching[key].items():
            if other in indices:
                taken[indices[other]] += times
        own = key % COLORS
        # Similar colors are side by side in a circle.
        beside = [taken[i - 1] + taken[(i + 1) % COLORS] for i in range(COLORS)]
        best = min(range(COLORS), key=lambda i: (taken[i], beside[i], (i - own) % COLORS))
        indices[key] = best if taken[own] else own
    return Hues(indices)
