"""A custom tokenizer class needs only its abstract methods to work everywhere."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from helpers.refusals import refusal
from numpy.typing import NDArray

import bpeviz
from bpeviz.analysis import metrics, round_trip, token_lookup, trace
from bpeviz.core.boundaries import ChangingBoundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.pretokenizers.pretokenizer import Atoms
from bpeviz.text import clean
from bpeviz.views import merge_diagram

TEXT = "ab abc"


class PairTokenizer(Tokenizer):
    """Ids 0 to 255 are bytes; one step joins every "ab", the id 256."""

    name = "pairs"
    atoms: Atoms = "bytes"

    def __init__(self, steps: int = 1) -> None:
        self._steps = steps

    @property
    def vocab_size(self) -> int:
        return 256 + self._steps

    @property
    def steps(self) -> int:
        return self._steps

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(256, self.vocab_size + 1)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        return {}

    def token_bytes(self, token_id: int) -> bytes:
        if not 0 <= token_id < self.vocab_size:
            raise ValueError(f"{self.name} has no id {token_id}.")
        return b"ab" if token_id == 256 else bytes([token_id])

    def is_atom(self, token_id: int) -> bool:
        return token_id < 256

    def at_step(self, step: int) -> PairTokenizer:
        return PairTokenizer(step)

    def _encode_ordinary(self, text: str) -> list[int]:
        parts = text.encode().split(b"ab" if self._steps else b"\xff")
        return [*parts[0], *(i for part in parts[1:] for i in (256, *part))]

    def boundaries(self, text: str) -> ChangingBoundaries:
        raw = np.frombuffer(clean(text).encode(), np.uint8)
        rows = [[(-1, byte)] for byte in raw.tolist()]
        for at in range(len(raw) - 1 if self._steps else 0):
            if bytes(raw[at : at + 2]) == b"ab":
                rows[at].append((0, 256))
                rows[at + 1].append((0, -3))
        flat = np.array([entry for row in rows for entry in row], np.int32).reshape(-1, 2)
        counts = np.array([0, *map(len, rows)], np.int64)
        ends = np.arange(1, len(raw) + 1)
        return ChangingBoundaries(
            ends, raw.astype(np.int32), self._steps, np.cumsum(counts), flat[:, 0], flat[:, 1]
        )


def test_analysis_accepts_a_custom_tokenizer_class() -> None:
    tokenizer = PairTokenizer()
    inspection = trace.inspect(TEXT, tokenizer)
    assert inspection.ids == tokenizer.encode(TEXT) == [256, 32, 256, 99]
    assert inspection.pre_token_ends is None
    assert inspection.boundaries.token_ends(1).tolist() == [2, 3, 5, 6]
    assert round_trip.round_trip(inspection).lossless
    (found,) = token_lookup.look_up("ab", tokenizer)
    assert (found.id, found.label) == (256, "ab")
    assert [one.parents for one in token_lookup.ancestry(256, tokenizer)] == [None]
    assert metrics.composed_tokens(tokenizer) == {b"ab": "ab"}
    side = merge_diagram.Side("pairs", tokenizer.boundaries(TEXT), 1, 1, lambda i: ("", i))
    payload = merge_diagram.payload(TEXT.encode(), [side])
    assert len(payload["sides"][0]["tokens"]) == 8


def test_save_rejects_tokenizer_without_merges() -> None:
    refusal(bpeviz.save, PairTokenizer(), "unused.json", naming="does not merge")
