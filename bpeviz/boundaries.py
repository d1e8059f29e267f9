"""The idea that carries everything: every boundary knows the step at which it vanishes.

A text is a row of atoms (bytes or characters). A merge-based tokenizer gives every boundary
between two atoms the number of the merge that removes it, or says that it stays. From that one
array follow the tokens after any number of merges, how many there are after each, and the merge
tree of every token, with no further pass of a tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

NEVER = np.iinfo(np.int32).max
"""The time of a boundary that no merge removes."""


@dataclass(frozen=True)
class Node:
    """A node of a merge tree: atoms `start` to `end`, joined by merge `step`.

    A single atom has `step` -1 and no parents; else `parents` are the two that were joined.
    """

    start: int
    end: int
    step: int
    parents: tuple[Node, Node] | None = None


@dataclass(frozen=True, eq=False)
class Boundaries:
    """When each boundary of a text vanishes.

    vanishes: int32 [atoms]. `vanishes[i]` is the number of the merge, from 0, that removes the
        boundary behind atom i, or `NEVER`. After `step` merges those with `vanishes >= step`
        stand. The boundary at the end of the text never vanishes.
    ends: int64 [atoms]. Where each atom ends, in UTF-8 bytes from the start of the text.
    atom_ids: int32 [atoms]. The id of each atom by itself, -1 for one not in the vocabulary.
    steps: how many merges there are.
    """

    vanishes: NDArray[np.int32]
    ends: NDArray[np.int64]
    atom_ids: NDArray[np.int32]
    steps: int

    def __len__(self) -> int:
        return len(self.vanishes)

    def kept(self, step: int) -> NDArray[np.bool_]:
        """Tell for each atom whether a token ends behind it after `step` merges. bool [atoms]."""
        return self.vanishes >= step

    def token_ends(self, step: int) -> NDArray[np.int64]:
        """Return for each token after `step` merges the index behind its last atom."""
        return np.flatnonzero(self.kept(step)) + 1

    def cuts(self, step: int) -> NDArray[np.int64]:
        """Return where tokens end after `step` merges, in UTF-8 bytes, the text's end included."""
        return self.ends[self.kept(step)]

    @cached_property
    def token_counts(self) -> NDArray[np.int64]:
        """How many tokens there are after 0, 1, … `steps` merges. int64 [steps + 1]."""
        times = self.vanishes[self.vanishes < self.steps]
        removed = np.bincount(times, minlength=self.steps)
        return len(self) - np.concatenate(([0], np.cumsum(removed)))

    def last_merges(self, step: int) -> NDArray[np.int32]:
        """Return for each token after `step` merges the merge that made it, or -1 for an atom."""
        ends = self.token_ends(step)
        if not len(ends):  # reduceat takes no empty list
            return np.empty(0, np.int32)
        inner = np.where(self.kept(step), -1, self.vanishes)
        return np.maximum.reduceat(inner, np.concatenate(([0], ends[:-1]))).astype(np.int32)

    def until(self, steps: int) -> Boundaries:
        """Return the boundaries of the tokenizer that knows the first `steps` merges only."""
        return Boundaries(
            np.where(self.vanishes >= steps, NEVER, self.vanishes).astype(np.int32),
            self.ends,
            self.atom_ids,
            min(steps, self.steps),
        )

    def tree(self, start: int, end: int) -> Node:
        """Return the merge tree of the token that spans atoms `start` to `end`.

        It is the Cartesian tree of the boundaries within the token: the last to vanish parts it
        into its two parents. Built without recursion, since a tree may be as deep as its token
        is long. Raises `ValueError` where the span is empty or no merge ever joined it.
        """
        if not 0 <= start < end <= len(self):
            raise ValueError(f"There are no atoms {start} to {end} here.")
        times = self.vanishes[start : end - 1].tolist()
        if any(time == NEVER for time in times):
            raise ValueError(f"Atoms {start} to {end} are never one token.")
        # A stack of finished subtrees with the boundary at the right of each: whenever a later
        # boundary vanishes no earlier than the last, what lies between them is complete.
        stack: list[tuple[Node, int]] = []
        for position, time in enumerate([*times, NEVER], start):
            node = Node(position, position + 1, -1)
            while stack and stack[-1][1] < time:
                left, joined_at = stack.pop()
                node = Node(left.start, node.end, joined_at, (left, node))
            stack.append((node, time))
        return stack[0][0]


def boundaries_from_ids(
    ids: NDArray[np.int32],
    times_inside: Callable[[int], Sequence[int]],
) -> NDArray[np.int32]:
    """Return when each boundary vanishes, read off an encoder's output. int32 [atoms].

    Inside a token they are those of its left parent, the token's own step, those of its right
    parent: `times_inside(id)`; between tokens, never. Each distinct id is asked for once.
    """
    if not len(ids):
        return np.empty(0, np.int32)
    distinct, place = np.unique(ids, return_inverse=True)
    rows = [np.array((*times_inside(int(i)), NEVER), np.int32) for i in distinct]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return gather(np.concatenate(rows), np.cumsum(lengths) - lengths, lengths, place)


def gather(
    flat: NDArray[np.int32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Join rows of a ragged table: row r is `flat[starts[r] : starts[r] + lengths[r]]`."""
    length = lengths[rows]
    ends = np.cumsum(length)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - length, length)
    picked: NDArray[np.int32] = flat[np.repeat(starts[rows], length) + within]
    return picked


def spans(ends: Sequence[int] | NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the tokens that end at `ends`."""
    yield from pairwise((0, *map(int, ends)))
