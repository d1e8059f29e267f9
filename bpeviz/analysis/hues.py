"""Color indices of the tokens of a text, which tell tokens apart.

An index is one of six hues in one of two strengths. Tokens that touch, at any step and under any of
the tokenizers that a page shows, differ in hue, or of the longest texts at least in strength. As
far as that allows, the first tokens of the text have different indices, and while there are few of
them, all that the text has at one step. A token that extends another has the hue of its longer
part, so that a word that grows is one color, in the other strength. A token's own index follows
from its bytes, and the tokens get theirs in the order of the text, so that most of them keep it
while a user types.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import NEVER, UNKNOWN_ID, Boundaries, MergeBoundaries, TokenSpans
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.palette import COLORS, HUES
from bpeviz.text import color_key

Keys = Callable[[int], int]
"""A function from ids to color keys (`bpeviz.text.color_key`), -1 for a token without color."""

Parents = Callable[[int], tuple[int, int] | None]
"""A function from ids to the two ids that were merged into each, or None."""

Ids = NDArray[np.int64]

Neighbors = defaultdict[int, set[int]]
"""The color keys of the tokens from which each should differ."""

_STEP = 4
"""A token with this many more neighbors is colored earlier, whatever the order of the text."""


_MORE = 4
"""So many tokens more than looks may a text have at a step for which they are told apart."""

_MOST_EVICTED, _MOST_EVICTED_AGAIN = 0.5, 3
"""How often a token may lose its hue on average, before tokens that touch only differ in strength,
and before they may be equal."""


class Contacts(NamedTuple):
    """The tokens of a text at all steps, by their ids.

    Attributes:
        pairs: All that touch, left and right; atoms may be left out.
        ids: All tokens, those that begin first in the text first.
        row: The text at the step at which it is seen first.
        early: The tokens of the text at each of the first steps, while there are few of them.
        sizes: The number of atoms of each token.
    """

    pairs: Iterable[tuple[int, int]]
    ids: Iterable[int]
    row: Sequence[int]
    early: Iterable[Collection[int]] = ()
    sizes: Mapping[int, int] = MappingProxyType({})


class Coloring(NamedTuple):
    """A text under a tokenizer: its tokens, their color keys, and the parts of each."""

    contacts: Contacts
    key: Keys
    parents: Parents = lambda _: None


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


OWN_HUES = Hues()
"""All tokens have their own color index."""


def key_of(tokenizer: Tokenizer, token_id: int) -> int:
    """Return the color key of a token of a vocabulary, -1 for a single atom or an unknown token."""
    if token_id < 0 or tokenizer.is_atom(token_id):
        return -1
    return color_key(tokenizer.token_bytes(token_id))


def contacts(boundaries: Boundaries, opening: int | None = None) -> Contacts:
    """Return which tokens touch at any step.

    A token that is not in the vocabulary touches none.

    Args:
        boundaries: The boundaries of the text.
        opening: The step at which the text is seen first, by default the last one.
    """
    row = boundaries.ids(boundaries.steps if opening is None else opening).tolist()
    tokens = boundaries.token_spans()
    before = _beside(tokens, tokens.ends, tokens.starts)
    after = _beside(tokens, tokens.starts, tokens.ends)
    lefts: Ids = np.concatenate((before, tokens.ids))
    rights: Ids = np.concatenate((tokens.ids, after))
    known = (lefts >= 0) & (rights >= 0)
    period = int(rights.max(initial=0)) + 1
    columns = np.divmod(np.unique(lefts[known] * period + rights[known]), period)
    pairs = zip(*(column.tolist() for column in columns), strict=True)
    ids = tokens.ids.tolist()
    sizes = dict(zip(ids, (tokens.ends - tokens.starts).tolist(), strict=True))
    return Contacts([*pairs], ids, row, [*_early(boundaries, tokens)], sizes)


def _early(boundaries: Boundaries, tokens: TokenSpans) -> Iterator[Collection[int]]:
    """Yield the distinct ids, without atoms, after each step that changes the text.

    It ends at the first step with more of them than colors can tell apart.
    """
    atoms = {*boundaries.atom_ids.tolist()}
    first, last = _lifetimes(boundaries, tokens)
    for step in boundaries.change_steps.tolist():
        if len(last):  # else boundaries may come back
            ids = {*(np.flatnonzero(last[: step + 1] > step) + first).tolist()}
        else:
            ids = {*boundaries.ids(step + 1).tolist()} - atoms
        if len(ids) > COLORS + _MORE:
            return
        yield ids


def _lifetimes(boundaries: Boundaries, tokens: TokenSpans) -> tuple[int, Ids]:
    """Return the id of the first merge, and the last step at which each merge has a token.

    There are none where boundaries come back, or where special tokens are.
    """
    if not isinstance(boundaries, MergeBoundaries) or (boundaries.merged_at < 0).any():
        return 0, np.zeros(0, np.int64)
    last = np.zeros(boundaries.steps, np.int64)
    # A token is there until one of the boundaries beside it is merged away.
    after = boundaries.merged_at[tokens.ends - 1]
    before = np.where(tokens.starts > 0, boundaries.merged_at[tokens.starts - 1], NEVER)
    np.maximum.at(last, tokens.times, np.minimum(before, after))
    return boundaries.first_merge_id, last


def _beside(tokens: TokenSpans, sides: Ids, places: Ids) -> Ids:
    """Return the id of the token on one side of each token at the time when it begins.

    Args:
        tokens: The tokens.
        sides: Their ends for the side before, their starts for the side after.
        places: Where the tokens on that side must end or start.
    """
    times = tokens.times + 1  # 0 is the beginning
    period = int(times.max(initial=0)) + 1
    keys = sides * period + times
    order = np.argsort(keys)
    latest = np.searchsorted(keys[order], places * period + times, "right") - 1
    chosen = order[np.maximum(latest, 0)]
    is_there = (latest >= 0) & (sides[chosen] == places)
    return np.where(is_there, tokens.ids[chosen], UNKNOWN_ID)


def contacts_at(ids: Sequence[int]) -> Contacts:
    """Return which tokens touch in a sequence of ids."""
    return Contacts({*pairwise(ids)}, ids, ids)


def hues(rows: Iterable[Coloring], given: Hues = OWN_HUES) -> Hues:
    """Return color indices that tell the tokens of some rows apart.

    Tokens get theirs one by one, each after the longer part of which it is made: those of the first
    steps, the first ones of each row, then those with many neighbors. Each takes the best of its
    own order. Tokens that touch it and have its hue get others.

    Args:
        rows: The text under each tokenizer.
        given: Color indices that stay.
    """
    keys, touching, near, firsts, longer = _neighbors(rows)
    families = _families(keys, touching, longer)
    indices = dict(given.indices)
    waiting = [key for key in keys if key not in indices][::-1]
    evictions: Counter[tuple[int, int]] = Counter()
    while waiting:
        key = waiting.pop()
        touch, beside, among = (
            Counter(indices[other] for other in others[key] if other in indices)
            for others in (touching, near, firsts)
        )
        hue_touch = [touch[hue] + touch[hue + HUES] for hue in range(HUES)] * 2
        # Of the longest texts, not all tokens that touch can differ in hue, but in strength.
        evicted = evictions.total() / len(keys)
        period, alike = (HUES, hue_touch) if evicted < _MOST_EVICTED else (COLORS, touch)
        part = indices.get(longer.get(key, -1))
        if part is None:  # a first token also avoids the hues of families that its own will touch
            avoided = {indices[other] % HUES for other in families[key] if other in indices}
        else:
            avoided = {*range(HUES)} - {part % HUES}
        # In steps without a common divisor with 12, so that it meets all indices.
        way = (1, 5, 7, 11)[key // COLORS % 4]
        *_, index = min(
            (
                *(alike[i] and alike[i] + evictions[key, i % period], hue_touch[i], among[i]),
                *(i % HUES in avoided, beside[i], place, i),
            )
            for place, i in enumerate((key + way * place) % COLORS for place in range(COLORS))
        )
        clashing = [
            other
            for other in touching[key] - given.indices.keys()
            if other in indices and indices[other] % period == index % period
        ]
        for other in clashing if evicted < _MOST_EVICTED_AGAIN else ():
            del indices[other]
            evictions[other, index % period] += 1
            waiting.append(other)
        indices[key] = index
    return Hues(indices)


ColoredToken = tuple[int, int, int]
"""The start and the end of a token in the text, in bytes, and its color key."""


def of_differences(rows: Sequence[Sequence[ColoredToken]], given: Hues) -> Hues | None:
    """Return color indices for rows in which only tokens that differ have color, or None.

    Tokens of one place, at whose ends alone all rows end a token, differ in hue as far as the hues
    reach; so do those that touch or lie over each other at any place.

    Args:
        rows: The tokens of each row.
        given: Color indices that are known.
    """
    pairs: set[tuple[int, int]] = set()
    keys: dict[int, None] = {}
    last: Sequence[int] = ()
    for place in _places(rows) if len(rows) > 1 else ():
        here = {key for tokens in place for *_, key in tokens if key >= 0}
        keys |= dict.fromkeys(sorted(here))
        pairs.update(combinations(sorted(here), 2) if len(here) <= HUES else _meeting(place))
        pairs.update((key, tokens[0][2]) for key, tokens in zip(last, place, strict=bool(last)))
        last = [tokens[-1][2] for tokens in place]
    return hues([Coloring(Contacts(pairs, keys, [*keys]), int)], given) if keys else None


def _places(rows: Sequence[Sequence[ColoredToken]]) -> Iterator[Sequence[Sequence[ColoredToken]]]:
    """Yield the tokens of each row at each place where rows differ, in the order of the text."""
    common = sorted(set.intersection(*({end for _, end, _ in tokens} for tokens in rows)))
    at = [0] * len(rows)
    for stop in common:
        place = []
        for i, tokens in enumerate(rows):
            begin = at[i]
            while at[i] < len(tokens) and tokens[at[i]][1] <= stop:
                at[i] += 1
            place.append(tokens[begin : at[i]])
        if any(len(tokens) > 1 for tokens in place):
            yield place


def _meeting(place: Sequence[Sequence[ColoredToken]]) -> Iterator[tuple[int, int]]:
    """Yield the color keys of tokens that touch in a row, or overlap in two rows."""
    for tokens in place:
        yield from ((left[2], right[2]) for left, right in pairwise(tokens))
    for upper, lower in combinations(place, 2):
        i = k = 0
        while i < len(upper) and k < len(lower):
            yield upper[i][2], lower[k][2]
            i, k = i + (upper[i][1] <= lower[k][1]), k + (lower[k][1] <= upper[i][1])


class _Keys(NamedTuple):
    """The color keys of some rows, and those from which each should differ.

    Attributes:
        keys: The keys in the order of coloring.
        touching: Those that touch each.
        near: Those that touch each, its parts, and those across an uncolored token.
        firsts: Those that a row has beside it at a first step, or among the first ones of the row
            as it is.
        longer: The key of the longer part of each.
    """

    keys: Sequence[int]
    touching: Neighbors
    near: Neighbors
    firsts: Neighbors
    longer: Mapping[int, int]


def _neighbors(rows: Iterable[Coloring]) -> _Keys:
    """Return the color keys of rows in the order of coloring, each with those near it."""
    touching: Neighbors = defaultdict(set)
    near: Neighbors = defaultdict(set)
    early: list[list[int]] = []
    firsts: list[list[int]] = []
    keys: dict[int, None] = {}
    longer: dict[int, int] = {}
    for contacts, key_of_id, parents in rows:
        key = {i: key_of_id(i) for i in dict.fromkeys(contacts.ids) if i >= 0}
        keys |= dict.fromkeys(key.values())
        row = [key.get(i, -1) for i in contacts.row]
        firsts.append([i for i in dict.fromkeys(row) if i >= 0][:COLORS])
        early += ([key[i] for i in ids if key.get(i, -1) >= 0] for ids in contacts.early)
        touch = ((key.get(left, -1), key.get(right, -1)) for left, right in contacts.pairs)
        across = ((row[i - 1], row[i + 1]) for i in range(1, len(row) - 1) if row[i] < 0)
        parts = {i: [part for part in parents(i) or () if key.get(part, -1) >= 0] for i in key}
        joined = ((key[i], key[part]) for i in key for part in parts[i])
        for neighbors, pairs in ((touching, touch), (near, chain(across, joined))):
            for left, right in pairs:
                if left != right and left >= 0 and right >= 0:
                    neighbors[left].add(right)
                    neighbors[right].add(left)
        sizes = contacts.sizes
        for i in key:
            if parts[i]:
                longer.setdefault(key[i], key[max(parts[i], key=lambda part: sizes.get(part, 0))])
    keys.pop(-1, None)
    for each in keys:
        near[each] |= touching[each]
    # In steps, so that an edit seldom changes the order.
    crowded = sorted(keys, key=lambda each: -(len(near[each]) // _STEP))
    among_first: Neighbors = defaultdict(set)
    # Several rows together have too many tokens at their first steps.
    for at_once in (*early, *firsts) if len(firsts) == 1 else firsts:
        for each in at_once:
            among_first[each].update({*at_once} - {each})
    ordered: dict[int, None] = {}
    for each in chain(among_first, crowded):
        growth: dict[int, None] = {}
        part: int | None = each
        while part is not None and part not in ordered and part not in growth:
            growth[part] = None
            part = longer.get(part)
        ordered |= dict.fromkeys([*growth][::-1])
    return _Keys([*ordered], touching, near, among_first, longer)


def _families(
    keys: Iterable[int], touching: Neighbors, longer: Mapping[int, int]
) -> defaultdict[int, set[int]]:
    """Return for the first token of each family the first ones of those that it touches.

    A family is a token with all that grow from it; a part comes before what is made of it.
    """
    first: dict[int, int] = {}
    for key in keys:
        first[key] = first.get(longer.get(key, -1), key)
    beside: Neighbors = defaultdict(set)
    for key in keys:
        beside[first[key]] |= {first[other] for other in touching[key]} - {first[key]}
    return beside
