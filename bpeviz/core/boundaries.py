"""Boundaries between the atoms of a text, and the steps at which each changes.

A text is a sequence of atoms (bytes or characters). A merging tokenizer assigns each boundary
between two atoms the merge that removes it, or none (`MergeBoundaries`). This one array determines
the tokens after any number of merges, their counts, and the merge tree of every token. The
tokenizer does not run again.

With other tokenizers a merged boundary may reappear: Unigram prunes pieces, longest match finds
another piece, a scaffold token is split back. `ChangingBoundaries` lists for each atom the tokens
that begin there over time. Both have the interface `Boundaries`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bpeviz.cached_property import cached_property

Number = TypeVar("Number", np.int32, np.int64)

NEVER = np.iinfo(np.int32).max
"""The merge of a boundary that no merge removes."""

_BLOCK = 1 << 17
"""Boundaries or rows at once, so that the intermediate arrays are small."""


UNKNOWN_ID = -1
"""The id of a token that is not in the vocabulary."""

DROPPED_ID = -2
"""The id of an atom that is dropped, such as white space in WordPiece."""

INSIDE_ID = -3
"""The entry of an atom inside a token: no token begins there."""

SPECIAL_ID = -4
"""The id of the last special token, which differs from size to size; the one before it has -5."""


Ends = NDArray[np.int32] | NDArray[np.int64]
"""Ends in a text, in rising order."""


def ended(ends: Ends, at: int, *, before: bool = False) -> int:
    """Return how many of the ends are at a place or before it, or all before it."""
    # With a number of another type, all ends would be converted.
    return int(np.searchsorted(ends, ends.dtype.type(at), "left" if before else "right"))


@dataclass(frozen=True, eq=False)
class Boundaries(ABC):
    """Where the tokens of a text end, at every step.

    Attributes:
        ends: The end of each atom in UTF-8 bytes from the start of the text. int32 [atoms]; int64
            for texts of 2 GB or more.
        atom_ids: The id of each atom by itself, `UNKNOWN_ID` or `DROPPED_ID`. int32 [atoms].
        steps: The number of steps.
    """

    ends: Ends
    atom_ids: NDArray[np.int32]
    steps: int

    def __post_init__(self) -> None:
        size = int(self.ends[-1]) if len(self.ends) else 0
        fitting = np.int32 if size <= np.iinfo(np.int32).max else np.int64
        object.__setattr__(self, "ends", self.ends.astype(fitting, copy=False))

    def __len__(self) -> int:
        return len(self.ends)

    @abstractmethod
    def boundary_mask(self, step: int) -> NDArray[np.bool_]:
        """Return for each atom whether a token ends after it at `step`. bool [atoms]."""

    @property
    @abstractmethod
    def permanent(self) -> NDArray[np.bool_]:
        """Whether a token ends after each atom at every step. bool [atoms]."""

    @property
    @abstractmethod
    def token_counts(self) -> NDArray[np.int64]:
        """The number of tokens after 0, 1, … `steps` steps. int64 [steps + 1]."""

    @abstractmethod
    def ids(self, step: int) -> NDArray[np.int32]:
        """Return one id for each of `token_ends` after `step` steps. int32 [tokens].

        Unknown tokens have `UNKNOWN_ID`, dropped atoms `DROPPED_ID`.
        """

    @abstractmethod
    def with_breaks(self, before: NDArray[np.int64]) -> Boundaries:
        """Return the same with dropped bytes: the line ends between documents (`as_text`).

        Args:
            before: The number of atoms before each. int64 [line ends].
        """

    @abstractmethod
    def as_changes(self) -> ChangingBoundaries:
        """Return the same boundaries as a list of changes at each atom."""

    @property
    def change_steps(self) -> NDArray[np.int32]:
        """The steps, from 0, that change the tokens, in rising order. int32 [changes]."""
        return self.as_changes().change_steps

    def token_spans(self) -> TokenSpans:
        """Return every token that a step makes, those that begin first in the text first."""
        return self.as_changes().token_spans()

    def slice(self, start: int, end: int) -> Boundaries:
        """Return the boundaries of atoms `start` to `end`."""
        return self.as_changes().slice(start, end)

    def with_ids(self, table: NDArray[np.int32]) -> Boundaries:
        """Return the same boundaries under other ids: `table[i]` replaces id i."""
        return self.as_changes().with_ids(table)

    def token_ends(self, step: int) -> NDArray[np.int64]:
        """Return the index after the last atom of each token at `step`. int64 [tokens]."""
        return np.flatnonzero(self.boundary_mask(step)) + 1

    def cuts(self, step: int) -> Ends:
        """Return the ends of the tokens after `step` steps in UTF-8 bytes. Like `ends` [tokens]."""
        return self.ends[self.boundary_mask(step)]


class TokenSpans(NamedTuple):
    """Tokens of a text over time. int64 [tokens] each.

    Attributes:
        starts: The first atom of each token.
        ends: The atom after its last one.
        times: The step, from 0, that makes it; -1 for one of the beginning.
        ids: Its id.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    times: NDArray[np.int64]
    ids: NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """A part of a text: atoms `start` to `end`, characters `first` to `last`."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class MergeBoundaries(Boundaries):
    """The merge that removes each boundary of a text.

    Attributes:
        merged_at: The merge, from 0, that removes the boundary after each atom, or `NEVER`, as at
            the end of the text, or -1 inside a special token. After `step` merges, boundaries with
            `merged_at >= step` remain. int32 [atoms].
        first_merge_id: The id that merge 0 makes; merge i makes the id `first_merge_id + i`.
    """

    merged_at: NDArray[np.int32]
    first_merge_id: int

    def boundary_mask(self, step: int) -> NDArray[np.bool_]:
        remaining: NDArray[np.bool_] = self.merged_at >= step
        return remaining

    @cached_property
    def permanent(self) -> NDArray[np.bool_]:
        never: NDArray[np.bool_] = self.merged_at == NEVER
        return never

    @cached_property
    def token_counts(self) -> NDArray[np.int64]:
        removed = np.zeros(self.steps, np.int64)
        for start in range(0, len(self), _BLOCK):
            times = self.merged_at[start : start + _BLOCK]
            removed += np.bincount(times[(times >= 0) & (times < self.steps)], minlength=self.steps)
        whole = len(self) - np.count_nonzero((self.atom_ids == DROPPED_ID) | (self.merged_at < 0))
        return whole - np.concatenate(([0], np.cumsum(removed)))

    def ids(self, step: int) -> NDArray[np.int32]:
        starts = np.concatenate(([0], self.token_ends(step)))[:-1]
        made_by = self.last_merges(step)
        ids = np.where(made_by < 0, self.atom_ids[starts], made_by + self.first_merge_id)
        return ids.astype(np.int32)

    def last_merges(self, step: int) -> NDArray[np.int32]:
        """Return the merge that made each token after `step` merges, or -1. int32 [tokens]."""
        ends = self.token_ends(step)
        if not len(ends):  # reduceat takes no empty list
            return np.empty(0, np.int32)
        merge_steps = np.where(self.boundary_mask(step), -1, self.merged_at)
        return np.maximum.reduceat(merge_steps, np.concatenate(([0], ends[:-1]))).astype(np.int32)

    @property
    def change_steps(self) -> NDArray[np.int32]:
        return np.flatnonzero(np.diff(self.token_counts)).astype(np.int32)

    def token_spans(self) -> TokenSpans:
        merged_at = self.merged_at.astype(np.int64)
        removed = np.flatnonzero(merged_at < self.steps)
        # The atoms whose boundaries end the token that the merge of each boundary makes.
        ends = _next_greater(merged_at)[removed]
        starts = len(merged_at) - 1 - _next_greater(merged_at[::-1])[::-1][removed]
        times = merged_at[removed]
        # In a token of three atoms or more, one merge may remove several boundaries.
        _, kept = np.unique(starts * (self.steps + 1) + times, return_index=True)
        times = times[kept]
        return TokenSpans(starts[kept] + 1, ends[kept] + 1, times, times + self.first_merge_id)

    def slice(self, start: int, end: int) -> MergeBoundaries:
        merged_at = self.merged_at[start:end].copy()
        merged_at[-1:] = NEVER
        return replace(
            self,
            ends=self.ends[start:end],
            atom_ids=self.atom_ids[start:end],
            merged_at=merged_at,
        )

    def with_breaks(self, before: NDArray[np.int64]) -> MergeBoundaries:
        if not len(before):
            return self
        merged_at = np.insert(self.merged_at, before, NEVER)
        return replace(self, **_atoms_with_breaks(self, before), merged_at=merged_at)

    def with_ids(self, table: NDArray[np.int32]) -> Boundaries:
        merged_ids = table[self.first_merge_id :][: self.steps]
        if np.any(np.diff(merged_ids) != 1):
            return super().with_ids(table)
        first = int(merged_ids[0]) if len(merged_ids) else self.first_merge_id
        return replace(self, atom_ids=_renumbered(self.atom_ids, table), first_merge_id=first)

    def as_changes(self) -> ChangingBoundaries:
        ends = self.token_ends(self.steps)
        starts = np.concatenate(([0], ends))
        keys = self.ids(self.steps)
        lowest = keys.min(initial=0)
        keys[:1], keys[-1:] = lowest - 1, lowest - 2  # a slice may begin or end inside them
        _, at, order = np.unique(keys, return_index=True, return_inverse=True)
        rows = [self._changes_inside(int(starts[i]), int(ends[i])) for i in at]
        return boundaries_from_changes(rows, order, self.ends, self.atom_ids, self.steps)

    def _changes_inside(self, start: int, end: int) -> AtomChanges:
        """Return the entries of the atoms of one token, `start` to `end`."""
        if self.merged_at[start] < 0:  # a special token
            inside: list[list[tuple[int, int]]] = [[]] * (end - start - 1)
            return atom_changes([[(-1, int(self.atom_ids[start]))], *inside])
        by_atom = [[(-1, atom)] for atom in self.atom_ids[start:end].tolist()]
        # Tokens whose right end is still open: where each begins, and the merge behind it.
        pending: list[tuple[int, int]] = []
        for place, step in enumerate(self.merged_at[start : end - 1].tolist()):
            begin = place
            # Several boundaries have one step in a token that merges of pairs do not lead to.
            while pending and pending[-1][1] <= step:
                begin, _ = pending.pop()
            pending.append((begin, step))
            by_atom[begin].append((step, self.first_merge_id + step))
            by_atom[place + 1].append((step, INSIDE_ID))
        return atom_changes([sorted({*of_atom}) for of_atom in by_atom])


def _next_greater(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of the next greater value after each, or the length. int64 [values]."""
    places = np.arange(1, len(values) + 1)
    places = np.append(places, len(values))
    ended = np.append(values, NEVER)
    # All values between a place and its candidate are not greater, nor are those up to the
    # candidate's own candidate. So each round skips as many as were skipped before.
    while len(lower := np.flatnonzero(ended[places[:-1]] <= np.minimum(values, NEVER - 1))):
        places[lower] = places[places[lower]]
    return places[:-1]


@dataclass(frozen=True, eq=False)
class ChangingBoundaries(Boundaries):
    """The tokens that begin at each atom over time.

    A ragged table: the entries of atom i are those from `rows[i]` to `rows[i + 1]`, ordered by
    time. An entry with time t and id n means: from step t on, token n begins at this atom. Time -1
    is the beginning. The id may be `UNKNOWN_ID`, `DROPPED_ID`, or `INSIDE_ID` if no
    token begins there. Before its first entry an atom is inside a token.

    Attributes:
        rows: int64 [atoms + 1].
        times: int32 [changes].
        entries: int32 [changes].
    """

    rows: NDArray[np.int64]
    times: NDArray[np.int32]
    entries: NDArray[np.int32]

    @cached_property
    def _atoms(self) -> NDArray[np.int64]:
        """The atom of each entry. int64 [changes]."""
        return np.repeat(np.arange(len(self)), np.diff(self.rows))

    def _begins(self, step: int) -> NDArray[np.int32]:
        """Return the id of the token that begins at each atom after `step` steps. int32 [atoms]."""
        past = np.bincount(self._atoms[self.times < step], minlength=len(self))
        if not len(self.entries):
            return np.full(len(self), INSIDE_ID, np.int32)
        latest = np.minimum(self.rows[:-1] + past - 1, len(self.entries) - 1)
        return np.where(past > 0, self.entries[latest], INSIDE_ID).astype(np.int32)

    def boundary_mask(self, step: int) -> NDArray[np.bool_]:
        begins = self._begins(step) != INSIDE_ID
        return np.append(begins[1:], True)[: len(self)]

    @cached_property
    def permanent(self) -> NDArray[np.bool_]:
        ever_inside = np.zeros(len(self) + 1, np.bool_)
        ever_inside[self._atoms[self.entries == INSIDE_ID]] = True
        at_first = np.zeros(len(self) + 1, np.bool_)
        at_first[self._atoms[self.times < 0]] = True
        at_first[-1] = True  # the end of the text
        return (at_first & ~ever_inside)[1:]

    @cached_property
    def token_counts(self) -> NDArray[np.int64]:
        now = (self.entries != DROPPED_ID) & (self.entries != INSIDE_ID)
        before = np.concatenate(([False], now[:-1]))[: len(now)]
        before[self.rows[:-1][np.diff(self.rows) > 0]] = False  # an atom's first entry
        change = now.astype(np.int64) - before
        counts = np.bincount(self.times + 1, weights=change, minlength=self.steps + 1)
        return np.cumsum(counts.astype(np.int64))[: self.steps + 1]

    def ids(self, step: int) -> NDArray[np.int32]:
        begins = self._begins(step)
        ids: NDArray[np.int32] = begins[begins != INSIDE_ID]
        return ids

    def as_changes(self) -> ChangingBoundaries:
        return self

    def token_spans(self) -> TokenSpans:
        begun = np.flatnonzero(self.entries != INSIDE_ID)
        starts, times = self._atoms[begun], self.times[begun].astype(np.int64)
        ends = starts + 1
        growing = np.arange(len(ends))
        while len(growing := growing[self._are_inside(ends[growing], times[growing])]):
            ends[growing] += 1
        return TokenSpans(starts, ends, times, self.entries[begun].astype(np.int64))

    def _are_inside(self, atoms: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether no token begins at each atom at its time, nor the text ends there."""
        period = self.steps + 2  # from -1 on
        known, wanted = self._atoms * period + self.times, atoms * period + times
        latest = np.searchsorted(known, wanted, "right") - 1
        has_entry = (latest >= 0) & (self._atoms[latest] == atoms)
        begins: NDArray[np.bool_] = has_entry & (self.entries[latest] != INSIDE_ID)
        return (atoms < len(self)) & ~begins

    @property
    def change_steps(self) -> NDArray[np.int32]:
        return np.flatnonzero(np.bincount(self.times + 1)[1 : self.steps + 1]).astype(np.int32)

    def slice(self, start: int, end: int) -> ChangingBoundaries:
        rows = self.rows[start : end + 1]
        entries = slice(rows[0], rows[-1])
        return replace(
            self,
            ends=self.ends[start:end],
            atom_ids=self.atom_ids[start:end],
            rows=rows - rows[0],
            times=self.times[entries],
            entries=self.entries[entries],
        )

    def with_breaks(self, before: NDArray[np.int64]) -> ChangingBoundaries:
        if not len(before):
            return self
        entries = np.insert(self.entries, self.rows[before], DROPPED_ID)
        return replace(
            self,
            **_atoms_with_breaks(self, before),
            rows=np.append(0, np.cumsum(np.insert(np.diff(self.rows), before, 1))),
            times=np.insert(self.times, self.rows[before], -1),
            entries=entries,
        )

    def with_ids(self, table: NDArray[np.int32]) -> ChangingBoundaries:
        return replace(
            self,
            atom_ids=_renumbered(self.atom_ids, table),
            entries=_renumbered(self.entries, table),
        )


def _atoms_with_breaks(boundaries: Boundaries, before: NDArray[np.int64]) -> dict[str, Any]:
    """Return the ends and the ids of atoms with dropped bytes (`Boundaries.with_breaks`)."""
    sizes = np.diff(boundaries.ends, prepend=0)
    return {
        "ends": np.cumsum(np.insert(sizes, before, 1)),
        "atom_ids": np.insert(boundaries.atom_ids, before, DROPPED_ID),
    }


def _renumbered(ids: NDArray[np.int32], table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the ids of `table` at `ids`; ids below 0 stay."""
    return np.where(ids < 0, ids, table[np.maximum(ids, 0)]).astype(np.int32)


Timeline = Sequence[tuple[int, Sequence[int], Sequence[int]]]
"""The segmentations of a row of atoms over time: (time, ids of its tokens, atoms of each token).

The first has time -1; each other one applies from step `time` (from 0) on.
"""


AtomChanges = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]
"""For one row of atoms: the number of entries of each atom, and the times and ids of all entries,
as in `ChangingBoundaries`."""


def changes_of_timeline(timeline: Timeline) -> AtomChanges:
    """Return the entries of `ChangingBoundaries` for one row of atoms."""
    atoms = sum(timeline[0][2]) if timeline else 0
    by_atom: list[list[tuple[int, int]]] = [[] for _ in range(atoms)]
    before: dict[int, int] = {}
    for time, ids, lengths in timeline:
        now: dict[int, int] = {}
        at = 0
        for token_id, length in zip(ids, lengths, strict=True):
            now[at] = token_id
            at += length
        if at != atoms:
            raise ValueError(f"At time {time} there are {at} atoms instead of {atoms}.")
        for place in before.keys() - now.keys():
            by_atom[place].append((time, INSIDE_ID))
        for place, token_id in now.items():
            if before.get(place) != token_id:
                by_atom[place].append((time, token_id))
        before = now
    return atom_changes(by_atom)


def atom_changes(by_atom: Sequence[Collection[tuple[int, int]]]) -> AtomChanges:
    """Return the (time, id) entries of each atom as arrays."""
    flat = [entry for of_atom in by_atom for entry in of_atom]
    return (
        np.fromiter(map(len, by_atom), np.int64, len(by_atom)),
        np.fromiter((time for time, _ in flat), np.int32, len(flat)),
        np.fromiter((token_id for _, token_id in flat), np.int32, len(flat)),
    )


def changes_of_merges(
    token_id: int,
    parents: Callable[[int], tuple[int, int] | None],
    step_of: Callable[[int], int],
    width: Callable[[int], int] = lambda token_id: 1,
) -> AtomChanges:
    """Return the entries of the atoms of a token that merges have made.

    Args:
        token_id: The token.
        parents: Returns the parents of a token, or None if no merge makes it.
        step_of: Returns the merge, from 0, that makes a token.
        width: Returns the number of atoms of a token without parents.
    """
    counts: list[int] = []
    entries: list[tuple[int, int]] = []
    # Depth first, from left to right. Each item is a token, with the later entries of its first
    # atom, the latest first.
    stack: list[tuple[int, list[tuple[int, int]]]] = [(token_id, [])]
    while stack:
        current_id, later = stack.pop()
        pair = parents(current_id)
        if pair is not None:
            step = step_of(current_id)
            later.append((step, current_id))
            stack += ((pair[1], [(step, INSIDE_ID)]), (pair[0], later))
            continue
        entries += [(-1, current_id), *reversed(later)]
        counts += [len(later) + 1, *[0] * (width(current_id) - 1)]
    times, ids = np.array(entries, np.int32).T
    return np.array(counts, np.int64), times, ids


def boundaries_from_changes(
    rows: Sequence[AtomChanges],
    order: NDArray[np.int64],
    ends: Ends,
    atom_ids: NDArray[np.int32],
    steps: int,
) -> ChangingBoundaries:
    """Return the boundaries of a text from the changes of its distinct pre-tokens.

    Args:
        rows: The changes of each distinct pre-token.
        order: The index in `rows` of each pre-token of the text. int64 [pre-tokens].
        ends: The end of each atom in bytes. int32 or int64 [atoms].
        atom_ids: The id of each atom. int32 [atoms].
        steps: The number of steps.
    """
    counts, times, entries = ([row[part] for row in rows] for part in range(3))
    return ChangingBoundaries(
        ends,
        atom_ids,
        steps,
        np.concatenate(([0], np.cumsum(gather_rows(counts, order, np.int64)))),
        gather_rows(times, order, np.int32),
        gather_rows(entries, order, np.int32),
    )


def without_steps(lengths: NDArray[np.int64], ids: NDArray[np.int32]) -> ChangingBoundaries:
    """Return the boundaries of tokens that no steps lead to: the atoms are the tokens.

    Args:
        lengths: The bytes of each token. int64 [tokens].
        ids: The tokens. int32 [tokens].
    """
    rows = np.arange(len(ids) + 1)
    first = np.full(len(ids), -1, np.int32)
    return ChangingBoundaries(np.cumsum(lengths), ids, 0, rows, first, ids)


def undivided(text: str, atoms: str, token_id: int) -> MergeBoundaries:
    """Return the boundaries of a text that is one token from the beginning, such as a special one.

    Args:
        text: The text, which is not empty.
        atoms: The kind of its atoms, "bytes" or "characters".
        token_id: The token.
    """
    sizes = (
        [1] * len(text.encode())
        if atoms == "bytes"
        else [len(character.encode()) for character in text]
    )
    merged_at = np.full(len(sizes), -1, np.int32)
    merged_at[-1] = NEVER
    atom_ids = np.full(len(sizes), token_id, np.int32)
    return MergeBoundaries(np.cumsum(sizes), atom_ids, 0, merged_at, 0)


def joined(parts: Sequence[Boundaries], steps: int) -> Boundaries:
    """Return the boundaries of a text from those of its parts, the first with its merges' ids."""

    def column(arrays: Iterable[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([np.empty(0, np.int32), *arrays])

    ends = np.cumsum(column(np.diff(part.ends, prepend=0) for part in parts))
    atom_ids = column(part.atom_ids for part in parts)
    merges = [part for part in parts if isinstance(part, MergeBoundaries)]
    if merges and len(merges) == len(parts):
        merged_at = column(part.merged_at for part in merges)
        return MergeBoundaries(ends, atom_ids, steps, merged_at, merges[0].first_merge_id)
    changes = [part.as_changes() for part in parts]
    rows = np.append(0, np.cumsum(column(np.diff(part.rows) for part in changes)))
    times, entries = (
        column(part.times for part in changes),
        column(part.entries for part in changes),
    )
    return ChangingBoundaries(ends, atom_ids, steps, rows, times, entries)


def boundaries_from_ids(
    ids: NDArray[np.int32],
    steps_inside: Callable[[int], Sequence[int]],
) -> NDArray[np.int32]:
    """Return the merge of each boundary (`merged_at`) from an encoder's output. int32 [atoms].

    Args:
        ids: The ids of a text. int32 [tokens].
        steps_inside: Returns the merges of the boundaries inside a token, from left to right. It
            is called once for each distinct id.
    """
    if not len(ids):
        return np.empty(0, np.int32)
    distinct, place = np.unique(ids, return_inverse=True)
    rows = [(*steps_inside(int(i)), NEVER) for i in distinct]
    return gather_rows(rows, place, np.int32)


def gather_rows(
    rows: Sequence[ArrayLike], order: NDArray[np.int64], kind: type[Number]
) -> NDArray[Number]:
    """Join rows of numbers, each wherever its index is in `order`."""
    arrays: list[NDArray[Number]] = [np.asarray(row, kind) for row in rows]
    lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
    flat = np.concatenate([np.empty(0, kind), *arrays])
    return gather(flat, np.cumsum(lengths) - lengths, lengths, order)


def gather(
    flat: NDArray[Number],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[Number]:
    """Join rows of a ragged table: row r is `flat[starts[r] : starts[r] + lengths[r]]`."""
    length = lengths[rows]
    ends = np.cumsum(length)
    offsets = starts[rows] - ends + length  # in `flat`, less that in the result
    picked = np.empty(ends[-1] if len(ends) else 0, flat.dtype)
    for at in range(0, len(rows), _BLOCK):
        some = slice(at, at + _BLOCK)
        first, last = ends[at] - length[at], ends[some][-1]
        indices = np.repeat(offsets[some], length[some]) + np.arange(first, last)
        picked[first:last] = flat[indices]
    return picked
