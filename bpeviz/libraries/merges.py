"""The merges of a foreign tokenizer file, to replay how its tokens are made.

Merges restricted to one token of a text do not depend on its neighbors: no merge crosses a boundary
that remains. So the merges of a text follow from the tokens that the library returns, and each
token is replayed alone: the lowest rank first, from the left. If that does not make the token, the
file has no exact replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import INSIDE_ID, AtomChanges, atom_changes
from bpeviz.core.merging import merge_by_rank
from bpeviz.libraries.pool import File, ask
from bpeviz.libraries.worker import LOAD, MERGES


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
        sizes = np.concatenate(([0], np.cumsum(first)))
        return sizes + (tokens - int(sizes[-1]))

    def replay(self, token_id: int, atoms: Sequence[int]) -> Replay | None:
        """Return the merges that make a token from its atoms, or None if they do not make it."""
        parents = None

        def merged(left: int, right: int, rank: int) -> int:
            nonlocal parents
            parents = left, right
            return int(self.new_ids[rank])

        ids, events = merge_by_rank(atoms, lambda pair: self.rank_of(*pair), merged)
        if ids != [token_id]:
            return None
        id_changes: list[dict[int, int]] = [{-1: atom} for atom in atoms]
        step = -1
        for rank, start, middle in events:
            step = max(step, rank)  # a lower rank may become possible only after a higher one
            id_changes[start][step] = int(self.new_ids[rank])
            id_changes[middle][step] = INSIDE_ID
        changes = atom_changes([at_atom.items() for at_atom in id_changes])
        return Replay(tuple(atoms), changes, parents, step)


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
