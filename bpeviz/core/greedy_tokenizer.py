"""A vocabulary of byte strings of which encoding takes the longest one at each place.

No merges lead to it, so it has no steps. (`longest_match` encodes in this way with trained merges.)

Source: `rwkv_tokenizer.py` of the package `rwkv`, which walks through a trie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.tokenizer import Pieces, Tokenizer, as_pieces
from bpeviz.pretokenizers.pretokenizer import Atoms


class GreedyTokenizer(Tokenizer):
    """Takes the longest token, from the left."""

    atoms: Atoms = "bytes"

    def __init__(self, name: str, ids: Mapping[bytes, int], special: Mapping[str, int]) -> None:
        """Set the vocabulary.

        Args:
            name: The name of the tokenizer.
            ids: The id of each token; every byte is a token.
            special: The ids of special tokens.
        """
        self.name, self._ids, self._special = name, ids, special
        self._tokens = {token_id: raw for raw, token_id in ids.items()}
        self._tokens |= {token_id: text.encode() for text, token_id in special.items()}
        lengths: dict[bytes, set[int]] = {}
        for raw in ids:
            if len(raw) > 1:
                lengths.setdefault(raw[:2], set()).add(len(raw))
        self._lengths = {start: sorted(sizes, reverse=True) for start, sizes in lengths.items()}

    @cached_property
    def vocab_size(self) -> int:
        return max(self._tokens) + 1

    @property
    def steps(self) -> int:
        return 0

    @property
    def without_steps(self) -> str:
        return "it takes the longest token at each place, and does not merge"

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.array([len(self._ids)])

    @property
    def special_tokens(self) -> Mapping[str, int]:
        return self._special

    def known_ids(self) -> Iterable[int]:
        return sorted(self._tokens)

    def token_bytes(self, token_id: int) -> bytes:
        if token_id not in self._tokens:
            raise ValueError(f"{self.name} has no id {token_id}.")
        return self._tokens[token_id]

    def is_atom(self, token_id: int) -> bool:
        return len(self.token_bytes(token_id)) == 1 or token_id in self._special.values()

    def at_step(self, step: int) -> GreedyTokenizer:
        return self

    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        return as_pieces([self._longest(text.encode()) for text in texts])

    def _longest(self, raw: bytes) -> list[tuple[int, int]]:
        """Return the id and the length of each token."""
        ids, lengths = self._ids, self._lengths
        tokens: list[tuple[int, int]] = []
        at = 0
        while at < len(raw):
            for length in lengths.get(raw[at : at + 2], ()):
                piece = raw[at : at + length]  # shorter at the end of the text
                if piece in ids:
                    break
            else:
                piece = raw[at : at + 1]
            tokens.append((ids[piece], len(piece)))
            at += len(piece)
        return tokens
