"""The merges of a foreign tokenizer file, to replay how its tokens are made.

Merges restricted to one token of a text do not depend on its neighbors: no merge crosses a boundary
that remains. So the merges of a text follow from the tokens that the library returns, and each
token is replayed alone: the lowest rank first, from the left. If that does not make the token, the
file has no exact replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import INSIDE_ID, AtomChanges, atom_changes
from bpeviz.libraries.pool import File, ask
from bpeviz.libraries.worker import LOAD, MERGES

_NEVER = 1 << 62
"""The rank of a pair that is not merged: after all others."""


@dataclass(frozen=True)
class Replay:
    """The merges that make a token.

    Attributes:
        atoms: The ids of its atoms.
        changes: The entries of `ChangingBoundaries`.
        parents: The two tokens of its last merge, or None for an atom.
        step: The step of its last merge, or -1.
    """

    atoms: tuple[int, ...]
    changes: AtomChanges
    parents: tuple[int, int] | None
    step: int


@dataclass(frozen=True, eq=False)
class RankedMerges:
    """Merges by rank.

    Attributes:
        new_ids: The token that each merge makes. int32 [merges].
        rank_of: Returns the rank of a pair, or None if it is not merged.
    """

    new_ids: NDArray[np.int32]
    rank_of: Callable[[int, int], int | None]

    def sizes(self, tokens: int) -> NDArray[np.int64]:
        """Return the vocabulary size after each merge; `tokens` is the last. [merges + 1]."""
        first = np.zeros(len(self.new_ids), np.int64)
        first[np.unique(self.new_ids, return_index=True)[1]] = 1
        made = np.concatenate(([0], np.cumsum(first)))
        return made + (tokens - int(made[-1]))

    def _rank(self, left: int, right: int) -> int:
        rank = self.rank_of(left, right)
        return _NEVER if rank is None else rank

    def replay(self, token_id: int, atoms: Sequence[int]) -> Replay | None:
        """Return the merges that make a token from its atoms, or None if they do not make it."""
        id_changes: list[dict[int, int]] = [{-1: atom} for atom in atoms]
        ids, starts = [*atoms], [*range(len(atoms))]
        ranks = [self._rank(*pair) for pair in pairwise(ids)]
        parents, time = None, -1
        while len(ids) > 1:
            at = ranks.index(rank := min(ranks))
            if rank == _NEVER:
                return None
            # A lower rank may become possible only after a higher one.
            time = max(time, rank)
            parents = ids[at], ids[at + 1]
            ids[at : at + 2] = [int(self.new_ids[rank])]
            del ranks[at]
            for place in (at - 1, at):  # only the ranks beside the new token change
                if 0 <= place < len(ranks):
                    ranks[place] = self._rank(ids[place], ids[place + 1])
            id_changes[starts[at]][time] = ids[at]
            id_changes[starts.pop(at + 1)][time] = INSIDE_ID
        if ids != [token_id]:
            return None
        changes = atom_changes([at_atom.items() for at_atom in id_changes])
        return Replay(tuple(atoms), changes, parents, time)


def of_tokenizer_json(content: bytes) -> RankedMerges:
    """Return the merges of a tokenizer.json, whose ranks belong to pairs.

    Raises:
        LibraryError: The file cannot be parsed within the limits.
    """
    triples = np.frombuffer(ask(File(MERGES, content), LOAD, reuse=False), np.int32)
    left, right, new = triples.reshape(3, -1)
    pairs = left.astype(np.int64) << 32 | right
    # The last of two equal merges counts. Arrays take a tenth of the memory of a dictionary.
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]

    def rank_of(left: int, right: int) -> int | None:
        place = int(pairs.searchsorted(left << 32 | right, "right")) - 1
        return int(order[place]) if place >= 0 and pairs[place] == left << 32 | right else None

    return RankedMerges(new, rank_of)


def of_scores(
    ids: Mapping[str, int], scores: Mapping[int, float], spelling: Callable[[int], str]
) -> RankedMerges:
    """Return the merges of a SentencePiece BPE model, whose scores belong to merged pieces.

    Args:
        ids: The ids of pieces by spelling.
        scores: The scores of pieces of several characters.
        spelling: Returns the spelling of an id.
    """
    new_ids = np.array(sorted(scores, key=lambda i: (-scores[i], i)), np.int32)
    ranks = {token_id: rank for rank, token_id in enumerate(new_ids.tolist())}

    def rank_of(left: int, right: int) -> int | None:
        return ranks.get(ids.get(spelling(left) + spelling(right), -1))

    return RankedMerges(new_ids, rank_of)
