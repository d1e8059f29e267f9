"""A tokenizer under other ids: a file has its own, and they are kept.

What is learnt here has dense ids: atoms, then what was learnt, then special tokens. In others'
files special tokens may come first, bytes stand in any order, and ids be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import (
    UNKNOWN_ID,
    Boundaries,
    Changes,
    ChangingBoundaries,
    boundaries_from_changes,
    changes_of_merges,
)
from bpeviz.core.merges import MergeTokenizer
from bpeviz.core.tokenizer import Tokenizer, TrainedTokenizer
from bpeviz.pretokenizers.pretokenizer import Atoms
from bpeviz.text import clean


@dataclass(frozen=True)
class RemappedTokenizer(Tokenizer):
    """Does as another tokenizer does, under other ids.

    inner: the other one. numbers: the ids of its atoms and of what it learnt, in its own order,
    no id twice. special: the ids of its special tokens by name.
    """

    inner: TrainedTokenizer
    numbers: tuple[int, ...]
    special: Mapping[str, int]

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.inner.name

    @property
    def atoms(self) -> Atoms:  # type: ignore[override]
        return self.inner.atoms

    @property
    def steps(self) -> int:
        return self.inner.steps

    @property
    def sizes(self) -> NDArray[np.int64]:
        return self.inner.sizes

    @property
    def special_tokens(self) -> Mapping[str, int]:
        return self.special

    @cached_property
    def table(self) -> NDArray[np.int32]:
        """The id of each of the inner tokenizer's ids; behind the last stands -1 for -1."""
        learnt = self.numbers[: len(self.inner.alphabet) + self.inner.learnt]
        special = (self.special[name] for name in self.inner.special_tokens)
        return np.array([*learnt, *special, UNKNOWN_ID], np.int32)

    @cached_property
    def _inner_id(self) -> dict[int, int]:
        return {token_id: i for i, token_id in enumerate(self.table[:-1].tolist())}

    def inner_id(self, token_id: int) -> int:
        """Return the inner tokenizer's id. Raises `ValueError` for an unknown one."""
        found = self._inner_id.get(token_id)
        if found is None:
            raise ValueError(f"{self.name} has no id {token_id}.")
        return found

    @cached_property
    def vocab_size(self) -> int:
        return max(self._inner_id, default=-1) + 1

    def known_ids(self) -> Iterable[int]:
        return sorted(self._inner_id)

    def token_bytes(self, token_id: int) -> bytes:
        return self.inner.token_bytes(self.inner_id(token_id))

    def token_label(self, token_id: int) -> str:
        return self.inner.token_label(self.inner_id(token_id))

    def is_atom(self, token_id: int) -> bool:
        return self.inner.is_atom(self.inner_id(token_id))

    def parents(self, token_id: int) -> tuple[int, int] | None:
        """Return the two ids that were merged into this one, or None for one never merged."""
        inner_id = self.inner_id(token_id)
        if not isinstance(self.inner, MergeTokenizer):
            return None
        found = self.inner.parents(inner_id)
        return None if found is None else (int(self.table[found[0]]), int(self.table[found[1]]))

    def merge_step(self, token_id: int) -> int:
        """Return the merge, from 0, that makes this id, or -1 for one that no merge makes."""
        inner_id = self.inner_id(token_id)
        return self.inner.merge_step(inner_id) if isinstance(self.inner, MergeTokenizer) else -1

    def at_step(self, step: int) -> RemappedTokenizer:
        inner = self.inner.at_step(step)
        if not isinstance(inner, TrainedTokenizer):
            raise TypeError("What was learnt here is so at every step.")
        return replace(self, inner=inner)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        return self.inner.decode_bytes([self.inner_id(token_id) for token_id in ids])

    def _encode_ordinary(self, text: str) -> list[int]:
        ids = np.array(self.inner._encode_ordinary(text), np.int64)
        found: list[int] = self.table[ids].tolist()
        return found

    def _pieces(self, part: str) -> list[tuple[int, int]]:
        return [
            (token_id if token_id < 0 else int(self.table[token_id]), length)
            for token_id, length in self.inner._pieces(part)
        ]

    def _renamed(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return ids in place of the inner tokenizer's; what stands for none stays (below 0)."""
        return np.where(ids < 0, ids, self.table[np.maximum(ids, 0)]).astype(np.int32)

    def boundaries(self, text: str) -> Boundaries:
        if isinstance(self.inner, MergeTokenizer):
            return self._of_merges(self.inner, clean(text))
        found = self.inner.boundaries(text)
        if not isinstance(found, ChangingBoundaries):
            raise TypeError("What does not merge has boundaries that change.")
        return replace(
            found, atom_ids=self._renamed(found.atom_ids), entries=self._renamed(found.entries)
        )

    def _of_merges(self, inner: MergeTokenizer, text: str) -> Boundaries:
        first = inner.first_merge_id
        made = np.array(self.numbers[first:], np.int64)
        if (np.diff(made) == 1).all():
            # The ids of the merges follow each other, as boundaries that vanish want it.
            found = inner.boundaries(text)
            after = int(made[0]) if len(made) else first
            return replace(found, atom_ids=self._renamed(found.atom_ids), first_merge_id=after)
        pre_tokens = inner.pre_tokenizer.pre_tokens(text)
        cut = inner.cut(pre_tokens)
        ids = np.array(
            [token_id for pre_token in pre_tokens for token_id in cut[pre_token][0]], np.int64
        )
        distinct, order = np.unique(ids, return_inverse=True)
        atom_ids, ends = inner.atoms_in(pre_tokens)
        return boundaries_from_changes(
            [self._changes(inner, int(token_id)) for token_id in distinct],
            order,
            ends,
            self._renamed(atom_ids),
            self.steps,
        )

    def _changes(self, inner: MergeTokenizer, token_id: int) -> Changes:
        """Return which tokens begin inside one of the inner tokenizer's, and when."""
        counts, times, entries = changes_of_merges(
            token_id, lambda at: None if at < 0 else inner.parents(at), inner.merge_step
        )
        return counts, times, self._renamed(entries)


def with_ids(
    inner: TrainedTokenizer, numbers: tuple[int, ...], special: Mapping[str, int]
) -> Tokenizer:
    """Return a tokenizer under these ids: itself, where they are its own."""
    own = range(len(numbers))
    if all(map(int.__eq__, numbers, own)) and dict(special) == dict(inner.special_tokens):
        return inner
    return RemappedTokenizer(inner, numbers, dict(special))
