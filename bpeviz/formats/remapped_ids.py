"""A tokenizer with the ids of a file instead of its own.

A trained tokenizer has dense ids: atoms, then trained tokens, then special tokens. In files of
other libraries, special tokens may come first, bytes may be in any order, and ids may be unused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import UNKNOWN_ID, Boundaries, ChangingBoundaries
from bpeviz.core.tokenizer import Encoded, Pieces, Tokenizer, TrainedTokenizer
from bpeviz.corpus.documents import Documents
from bpeviz.pretokenizers.pretokenizer import Atoms
from bpeviz.text import Normalized, id_list


@dataclass(frozen=True, repr=False)
class RemappedTokenizer(Tokenizer):
    """A tokenizer that maps the ids of another one.

    Args:
        dense: the other tokenizer, whose ids have no gaps.
        numbers: the distinct ids of its tokens that are not special, in its own order.
        special: the ids of its special tokens by name.
        around: the ids that a model expects before and after a text.
    """

    kind: ClassVar[str] = "remapped ids"

    dense: Tokenizer
    numbers: Sequence[int]
    special: Mapping[str, int]
    around: tuple[Sequence[int], Sequence[int]] = field(default=((), ()), kw_only=True)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.dense.name

    @property
    def atoms(self) -> Atoms:  # type: ignore[override]
        return self.dense.atoms

    @property
    def steps(self) -> int:
        return self.dense.steps

    @property
    def sizes(self) -> NDArray[np.int64]:
        return self.dense.sizes

    @property
    def special_tokens(self) -> Mapping[str, int]:
        return self.special

    def normalized(self, text: str) -> Normalized:
        return self.dense.normalized(text)

    def pre_token_ends(self, text: str) -> NDArray[np.int64] | None:
        return self.dense.pre_token_ends(text)

    def at_step(self, step: int) -> RemappedTokenizer:
        dense = self.dense.at_step(step)
        special = {name: self.special[name] for name in dense.special_tokens}
        return replace(self, dense=dense, special=special)

    @property
    def template(self) -> tuple[Sequence[int], Sequence[int]]:
        return self.around

    @property
    def with_dense_ids(self) -> Tokenizer:
        return self.dense

    @cached_property
    def table(self) -> NDArray[np.int32]:
        """The id for each dense id. An additional last entry maps `UNKNOWN_ID` to itself."""
        table = np.full(self.dense.vocab_size + 1, UNKNOWN_ID, np.int32)
        numbers = self.numbers[: self.dense.vocab_size]
        table[: len(numbers)] = numbers
        for name, token_id in self.dense.special_tokens.items():
            table[token_id] = self.special[name]
        return table

    @cached_property
    def _dense_id(self) -> dict[int, int]:
        return {token_id: i for i, token_id in enumerate(self.table[:-1].tolist())}

    def dense_id(self, token_id: int) -> int:
        """Return the dense tokenizer's id. Raises `ValueError` for an unknown one."""
        dense_id = self._dense_id.get(token_id)
        if dense_id is None:
            raise ValueError(f"{self.name} has no id {token_id}.")
        return dense_id

    @cached_property
    def vocab_size(self) -> int:
        return max(self._dense_id, default=-1) + 1

    def known_ids(self) -> Iterable[int]:
        return sorted(int(self.table[token_id]) for token_id in self.dense.known_ids())

    def find(self, query: str) -> Iterator[int]:
        yield from sorted(int(self.table[token_id]) for token_id in self.dense.find(query))

    def token_bytes(self, token_id: int) -> bytes:
        return self.dense.token_bytes(self.dense_id(token_id))

    def token_label(self, token_id: int) -> str:
        return self.dense.token_label(self.dense_id(token_id))

    def is_atom(self, token_id: int) -> bool:
        return self.dense.is_atom(self.dense_id(token_id))

    @property
    def unknown_id(self) -> int | None:
        dense_id = self.dense.unknown_id
        return None if dense_id is None else int(self.table[dense_id])

    @property
    def end_of_word_ids(self) -> Collection[int]:
        return [int(self.table[atom]) for atom in self.dense.end_of_word_ids]

    @property
    def adds_prefix(self) -> bool:
        return self.dense.adds_prefix

    def parents(self, token_id: int) -> tuple[int, int] | None:
        parents = self.dense.parents(self.dense_id(token_id))
        return (
            None if parents is None else (int(self.table[parents[0]]), int(self.table[parents[1]]))
        )

    def merge_step(self, token_id: int) -> int:
        return self.dense.merge_step(self.dense_id(token_id))

    def merged_id(self, step: int) -> int:
        return int(self.table[self.dense.merged_id(step)])

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        return self.dense.decode_bytes([self.dense_id(token_id) for token_id in id_list(ids)])

    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        pieces, ends = self.dense.segment_texts(texts)
        ids = pieces[:, 0]
        pieces[:, 0] = np.where(ids < 0, ids, self.table[ids])
        return pieces, ends

    def _encoded(self, texts: Sequence[str]) -> Encoded:
        ids, ends = self.dense._encoded(texts)
        return Encoded(self.table[ids], ends)

    def boundaries(self, text: str | Documents) -> Boundaries:
        return self.dense.boundaries(text).with_ids(self.table)

    def last_boundaries(self, text: str | Documents) -> ChangingBoundaries:
        return self.dense.last_boundaries(text).with_ids(self.table)


def with_template(
    tokenizer: TrainedTokenizer | RemappedTokenizer, before: Sequence[int], after: Sequence[int]
) -> RemappedTokenizer | None:
    """Return a tokenizer with a template, or None if an id of the template is not known."""
    dense, special = tokenizer.with_dense_ids, dict(tokenizer.special_tokens)
    remapped = RemappedTokenizer(dense, tokenizer.numbers, special, around=(before, after))
    return remapped if {*tokenizer.known_ids()}.issuperset([*before, *after]) else None


def with_ids(
    dense: TrainedTokenizer, numbers: tuple[int, ...], special: Mapping[str, int]
) -> TrainedTokenizer | RemappedTokenizer:
    """Return a tokenizer with these ids: `dense` itself if they are its own."""
    own = range(len(numbers))
    if all(map(int.__eq__, numbers, own)) and dict(special) == dict(dense.special_tokens):
        return dense
    return RemappedTokenizer(dense, numbers, dict(special))
