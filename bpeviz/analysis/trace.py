"""Traces of one text from characters to ids, under one tokenizer.

Positions are UTF-8 bytes unless stated otherwise, so that all tokenizers agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.analysis.hues import Contacts, contacts
from bpeviz.analysis.normalization import Unit, units
from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import (
    DROPPED_ID,
    NEVER,
    UNKNOWN_ID,
    ChangingBoundaries,
    MergeBoundaries,
    changes_of_merges,
    joined,
    undivided,
)
from bpeviz.core.tokenizer import Tokenizer, Word
from bpeviz.text import Normalized, clean


@dataclass(frozen=True)
class Piece:
    """A token of a text, or a part of the text without a token (with the id `DROPPED_ID`).

    start, end: bytes; equal for a mark without text. first, last: the characters that it spans,
    including partial ones.
    """

    id: int
    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True)
class Event:
    """A step of the tokenizer that changes a text.

    step: its number, from 0. id: the token that it creates, or None if unknown.
    """

    step: int
    id: int | None


@dataclass(frozen=True, eq=False)
class Inspection:
    """A text encoded by a tokenizer.

    special_tokens: names that are encoded as special tokens. pre_token_ends: bytes, or None if
    unknown. boundaries: step k is the state after the first k of `events`. normalized: the text as
    the tokenizer changes it before it splits it. template: the ids added before and after the text.
    """

    text: str
    tokenizer: Tokenizer
    special_tokens: tuple[str, ...]
    pieces: tuple[Piece, ...]
    pre_token_ends: tuple[int, ...] | None
    boundaries: ChangingBoundaries
    events: tuple[Event, ...]
    normalized: Normalized
    template: tuple[Sequence[int], Sequence[int]] = (), ()

    @property
    def cache_key(self) -> tuple[object, ...]:
        """A key that identifies the inspection among those of one tokenizer."""
        template = tuple(map(tuple, self.template))
        return self.text, self.special_tokens, template

    @property
    def cache_size(self) -> int:
        """The size in bytes with all properties below, but without the tokenizer."""
        return 300 * len(self.boundaries)

    @cached_property
    def raw(self) -> bytes:
        """The text in UTF-8."""
        return self.text.encode()

    @cached_property
    def units(self) -> list[Unit]:
        """The units of the normalization; none if it does not change the text."""
        return units(self.text, self.normalized)

    @cached_property
    def contacts(self) -> Contacts:
        """The tokens of the text that touch at any step."""
        return contacts(self.boundaries)

    @property
    def ids(self) -> list[int]:
        """The ids of the text, with those of the template."""
        before, after = self.template
        return [*before, *self.text_ids, *after]

    @property
    def text_ids(self) -> list[int]:
        """The ids of the text, without those of the template."""
        return [piece.id for piece in self.pieces if piece.id != DROPPED_ID]

    @property
    def pieces_with_template(self) -> tuple[Piece, ...]:
        """The pieces, between marks for the tokens of the template."""
        before, after = self.template
        size, length = len(self.raw), len(self.text)
        return (
            *(Piece(token_id, 0, 0, 0, 0) for token_id in before),
            *self.pieces,
            *(Piece(token_id, size, size, length, length) for token_id in after),
        )

    @property
    def added_count(self) -> int:
        """The number of tokens that the template added."""
        return len(self.ids) - len(self.text_ids)

    @property
    def special_ids(self) -> Collection[int]:
        """The ids of the special tokens that this text may contain."""
        return [self.tokenizer.special_tokens[name] for name in self.special_tokens]

    @cached_property
    def point_ends(self) -> list[int]:
        """The end of each code point."""
        return [*accumulate(len(point.encode()) for point in self.text)]

    @cached_property
    def grapheme_ends(self) -> list[int]:
        """The end of each grapheme cluster, a user-perceived character (UAX #29)."""
        graphemes = regex.findall(r"\X", self.text)
        return [*accumulate(len(grapheme.encode()) for grapheme in graphemes)]

    @cached_property
    def cuts(self) -> MergeBoundaries:
        """Boundaries over bytes where a token and a grapheme end, for dividing long texts."""
        merged_at = np.zeros(len(self.raw), np.int32)
        ends = {piece.end for piece in self.pieces} & {*self.grapheme_ends}
        merged_at[[end - 1 for end in ends]] = NEVER
        size = len(self.raw)
        return MergeBoundaries(np.arange(1, size + 1), np.zeros(size, np.int32), 1, merged_at, 0)

    def cuts_inside(self) -> list[tuple[int, Literal["character", "grapheme"]]]:
        """Return token boundaries inside a code point, or between code points of a grapheme."""
        ends = sorted({piece.end for piece in self.pieces} - {0, len(self.raw)})
        points, graphemes = {*self.point_ends}, {*self.grapheme_ends}
        return [
            (end, "grapheme" if end in points else "character")
            for end in ends
            if end not in graphemes
        ]


def inspect(
    text: str,
    tokenizer: Tokenizer,
    special_tokens: Collection[str] = (),
    *,
    template: bool = False,
) -> Inspection:
    """Encode a text and record every step that changes it.

    Args:
        text: The text.
        tokenizer: The tokenizer.
        special_tokens: Names to encode as special tokens.
        template: Whether to add the tokens of the tokenizer's template.

    Raises:
        ValueError: The tokenizer cannot encode the text.
    """
    text = clean(text)
    sizes = np.fromiter((len(point.encode()) for point in text), np.int64, len(text))
    character = np.repeat(np.arange(len(text)), sizes)
    pieces: list[Piece] = []
    pre_token_ends: list[int] | None = []
    boundaries: list[ChangingBoundaries] = []
    normalized, starts = "", list[int]()
    at = before = 0
    ordinary, parts = tokenizer._split_at_special(text, special_tokens)
    for part, special in parts:
        size = len(part.encode())
        id_lengths = (
            ordinary.segment_texts([part])[0].tolist() if special is None else [(special, size)]
        )
        if sum(length for _, length in id_lengths) != size:
            raise ValueError(
                f"The pre-tokenization pattern of {tokenizer.name} skips a part of this text."
            )
        start = at
        pieces += _pieces(id_lengths, start, character, len(text))
        at += size
        if special is None:
            ends, seen = ordinary.pre_token_ends(part), ordinary.normalized(part)
            of_part = ordinary.boundaries(part).as_changes()
        else:
            ends, seen = np.array([size]), Normalized.of(part)
            of_part = undivided(part, tokenizer.atoms, special).as_changes()
        if ends is None:
            pre_token_ends = None
        elif pre_token_ends is not None:
            pre_token_ends += (start + ends).tolist()
        boundaries.append(of_part)
        normalized += seen.text
        starts += [before + start for start in seen.starts]
        before += len(part)
    whole = joined(boundaries, 0).as_changes()
    # Only the steps that change the text remain, and are numbered from 0.
    steps = np.unique(whole.times[whole.times >= 0])
    times = np.where(whole.times < 0, -1, np.searchsorted(steps, whole.times)).astype(np.int32)
    return Inspection(
        text,
        tokenizer,
        tuple(special_tokens),
        tuple(pieces),
        None if pre_token_ends is None else tuple(pre_token_ends),
        replace(whole, steps=len(steps), times=times),
        tuple(_event(step, tokenizer.merged_id(step)) for step in steps.tolist()),
        Normalized(normalized, starts),
        tokenizer.template if template else ((), ()),
    )


def _pieces(
    id_lengths: Iterable[tuple[int, int]], at: int, character: NDArray[np.int64], n_characters: int
) -> Iterator[Piece]:
    """Yield the tokens of a part that begins at a byte of the text, given their bytes."""
    for token_id, length in id_lengths:
        first = int(character[at]) if at < len(character) else n_characters
        last = int(character[at + length - 1]) + 1 if length else first
        yield Piece(token_id, at, at + length, first, last)
        at += length


def begins_twice(tokenizer: Tokenizer, before: Sequence[int], ids: Sequence[int]) -> str:
    """Return a warning if a template adds the token with which a text begins, or "".

    Args:
        tokenizer: The tokenizer.
        before: The ids that the template adds before the text.
        ids: The ids of the text.
    """
    if not (before and ids and before[0] == ids[0]):
        return ""
    name = tokenizer.token_label(ids[0])
    return (
        f"The text begins with {name}, and the template adds {name} too: the model gets it twice."
    )


def scored_words(inspection: Inspection) -> list[Word]:
    """Return the words of the text without its special tokens, as `Tokenizer.scored_words`."""
    tokenizer = inspection.tokenizer
    scored: list[Word] = []
    start = 0
    ordinary, parts = tokenizer._split_at_special(inspection.text, inspection.special_tokens)
    for part, special in parts:
        words = ordinary.scored_words(part) if special is None else []
        scored += [Word(text, start + first, start + last) for text, first, last in words]
        start += len(part)
    return scored


def ids_between(inspection: Inspection, first: int, last: int) -> list[int]:
    """Return the ids of the tokens of the text from a character to before another one."""
    return [
        piece.id
        for piece in inspection.pieces
        if piece.id != DROPPED_ID and first <= piece.first < last and piece.last <= last
    ]


def _event(step: int, token_id: int) -> Event:
    return Event(step, token_id if token_id >= 0 else None)


def merge_steps(
    token_id: int, tokenizer: Tokenizer, limit: int = 120
) -> tuple[bytes, ChangingBoundaries, tuple[Event, ...]] | None:
    """Return the bytes, boundaries and events of a single token, following its merge tree.

    Pre-tokenization is not applied. The result is None for a token without parents, or with more
    than `limit` atoms.
    """
    in_bytes = tokenizer.atoms == "bytes"
    keys = _merge_order(token_id, tokenizer)
    number = {at: i for i, (_, _, at) in enumerate(keys)}

    def parents(at: int) -> tuple[int, int] | None:
        return tokenizer.parents(at) if at in number else None

    def width(at: int) -> int:
        # A token without parents can have many bytes: a whole pre-token of a rank table.
        return len(tokenizer.token_bytes(at)) if in_bytes and at >= 0 else 1

    counts, times, entries = changes_of_merges(token_id, parents, number.__getitem__, width)
    if not keys or len(counts) > limit:
        return None
    starts = np.cumsum(counts) - counts
    atom_ids = np.where(counts > 0, entries[np.minimum(starts, len(entries) - 1)], UNKNOWN_ID)
    sizes = [1 if in_bytes else len(tokenizer.token_bytes(atom)) for atom in atom_ids.tolist()]
    rows = np.concatenate(([0], np.cumsum(counts)))
    boundaries = ChangingBoundaries(
        np.cumsum(sizes), atom_ids.astype(np.int32), len(keys), rows, times, entries
    )
    events = tuple(_event(step, at) for step, _, at in keys)
    return tokenizer.token_bytes(token_id), boundaries, events


def _merge_order(token_id: int, tokenizer: Tokenizer) -> list[tuple[int, int, int]]:
    """Return the tokens of a merge tree that have parents, each after its own parents.

    Returns:
        For each token the step of the tokenizer, the depth of its tree, and its id, sorted.
    """
    keys: dict[int, tuple[int, int, int]] = {}
    waiting = [token_id]
    while waiting:  # no recursion: a tree may be as deep as its token is long
        at = waiting[-1]
        pair = tokenizer.parents(at) if at >= 0 and at not in keys else None
        todo = [parent for parent in pair or () if parent not in keys]
        if todo:
            waiting += todo
            continue
        waiting.pop()
        if pair is None:
            keys.setdefault(at, (-1, 0, at))
            continue
        steps, depths, _ = zip(*(keys[parent] for parent in pair), strict=True)
        keys[at] = max(tokenizer.merge_step(at), *steps), 1 + max(depths), at
    return sorted(key for key in keys.values() if key[1])
