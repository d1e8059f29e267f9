"""tiktoken's encoder with a trained vocabulary: the same ids, many times faster.

tiktoken does not store pairs: it joins neighbors if their joined bytes are a token, the lowest id
first. That equals merging in order if each merge was trained on a text with all earlier merges
applied, since then no other pair has the same bytes. It may differ for other merges, and it cannot
represent two tokens with the same bytes. The tests compare both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import tiktoken

WHOLE = "(?s:.+)"
"""The pattern that does not divide a text."""

LONG_PRE_TOKEN = 10_000
"""The smallest size in bytes of a pre-token during which other threads run."""


def encoder(tokens: Sequence[bytes]) -> Callable[[bytes], list[int]] | None:
    """Return an encoder of the bytes of a pre-token, or None if two tokens have the same bytes.

    Args:
        tokens: The bytes of each id, the 256 single bytes first and in order.
    """
    ranks = {raw: token_id for token_id, raw in enumerate(tokens)}
    if len(ranks) < len(tokens):
        return None
    return rank_encoder(ranks)


def rank_encoder(ranks: Mapping[bytes, int]) -> Callable[[bytes], list[int]]:
    """Return the encoder of a pre-token's bytes. ranks: the id of each token's bytes."""
    return pre_token_encoder(
        tiktoken.Encoding("own", pat_str=WHOLE, mergeable_ranks=dict(ranks), special_tokens={})
    )


def pre_token_encoder(encoding: tiktoken.Encoding) -> Callable[[bytes], list[int]]:
    """Return the encoder of a pre-token's bytes. encoding: one with the pattern `WHOLE`."""
    return partial(_encode, encoding)  # workers return tokenizers that have one


def _encode(encoding: tiktoken.Encoding, raw: bytes) -> list[int]:
    if len(raw) >= LONG_PRE_TOKEN:
        # Of tiktoken's methods, only those for texts let other threads run. A million bytes
        # take half a second.
        with suppress(UnicodeDecodeError):
            return encoding.encode_ordinary(raw.decode())
    ids: list[int] = encoding._encode_single_piece(raw)
    return ids
