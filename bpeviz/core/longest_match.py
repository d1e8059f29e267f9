"""Longest match: from the left, take the longest piece of the vocabulary at each position.

WordPiece encodes by longest match, and some tutorials do so with a BPE vocabulary. The order of the
merges then does not matter: they only define the pieces.

A longer piece may end inside an earlier token, so merged boundaries can return. With the pieces
`ab` and `cd`, `abcd` is `ab cd`. When `abc` is added, it becomes `abc d`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import INSIDE_ID, UNKNOWN_ID, AtomChanges, changes_of_timeline
from bpeviz.core.merges import MergedVocabulary, MergeTokenizer, NotMergesError
from bpeviz.core.tokenizer import AtomRow, NonMonotonicTokenizer, Segmentation
from bpeviz.core.training import MergeTraining

LONGEST_PIECE = 128
"""The largest number of atoms in a piece that encoding uses.

Pieces of every length are tried at each position, so long pre-tokens are too slow without a limit.
The longest tokens of GPT-2 and cl100k have 128 bytes, too."""

LONGEST_WORD = 100
"""The largest number of atoms of a word if words may be unknown, as in BERT."""

_NO_PIECE = "\0"


@dataclass(frozen=True, repr=False)
class LongestMatchTokenizer(MergedVocabulary, NonMonotonicTokenizer):
    """A tokenizer that takes the longest piece, from the left, within each pre-token.

    Its pieces after step s are the atoms and the tokens of the first s merges.

    Attributes:
        unknown_words: Whether a pre-token with an unknown atom, or with more than `LONGEST_WORD`
            atoms, is unknown as a whole, as in BERT. Otherwise only the atom is an unknown token.
            Every known atom is a piece, so no other word is unknown.
    """

    unknown_words: bool = False

    kind: ClassVar[str] = "longest match"

    def as_merges(self) -> MergeTokenizer:
        raise NotMergesError("it encodes by longest match, not by its merges")

    # Pieces are looked up as strings with one character per atom: its id + 1. Unknown atoms and the
    # gap between two rows are character 0, which no piece contains.

    @cached_property
    def _ids_of_pieces(self) -> dict[str, int]:
        """The ids of the pieces of two or more atoms; for equal pieces, the id of the first."""
        strings: list[str] = [chr(atom + 1) for atom in range(len(self.alphabet))]
        ids: dict[str, int] = {}
        for token_id, merge in enumerate(self.merges, len(self.alphabet)):
            if self._lengths[token_id] <= LONGEST_PIECE:
                strings.append(strings[merge.left] + strings[merge.right])
                ids.setdefault(strings[-1], token_id)
            else:
                strings.append("")
        return ids

    @cached_property
    def _piece_lengths(self) -> dict[str, list[int]]:
        """The lengths of the pieces by their first two atoms, the longest first."""
        lengths: dict[str, set[int]] = {}
        for piece in self._ids_of_pieces:
            lengths.setdefault(piece[:2], set()).add(len(piece))
        return {start: sorted(sizes, reverse=True) for start, sizes in lengths.items()}

    def _matches(self, row: str, place: int) -> Iterator[int]:
        """Yield the ids of the pieces of two or more atoms at a position, the longest first."""
        for length in self._piece_lengths.get(row[place : place + 2], ()):
            token_id = self._ids_of_pieces.get(row[place : place + length])
            if token_id is not None:
                yield token_id

    def _is_unknown(self, row: AtomRow) -> bool:
        """Return whether a whole row is one unknown token."""
        return self.unknown_words and (len(row) > LONGEST_WORD or UNKNOWN_ID in row)

    def _segment_rows(self, rows: Sequence[AtomRow]) -> list[Segmentation]:
        return [self._segment_row(row) for row in rows]

    def _segment_row(self, row: AtomRow) -> Segmentation:
        """Return the longest pieces of a row, from the left."""
        if self._is_unknown(row):
            return (UNKNOWN_ID,), (len(row),)
        string = _as_string(row)
        ids: list[int] = []
        sizes: list[int] = []
        place = 0
        while place < len(row):
            token_id = next(self._matches(string, place), row[place])
            ids.append(token_id)
            sizes.append(1 if token_id == UNKNOWN_ID else self._lengths[token_id])
            place += sizes[-1]
        return tuple(ids), tuple(sizes)

    def changes_of_rows(self, rows: Sequence[AtomRow]) -> list[AtomChanges]:
        """Return for rows of atom ids the tokens that begin at each atom over time.

        A step adds one piece. If it is now the longest one at the start of a token, the row is
        segmented again from there to the first boundary that existed before.
        """
        known = [row for row in rows if not self._is_unknown(row)]
        of_known = iter(self._changes_of_known(known))
        return [
            changes_of_timeline([(-1, (UNKNOWN_ID,), (len(row),))])
            if self._is_unknown(row)
            else next(of_known)
            for row in rows
        ]

    def _changes_of_known(self, rows: Sequence[AtomRow]) -> list[AtomChanges]:
        """Return what `changes_of_rows` does for rows that are not unknown as a whole."""
        # Join all rows, with a gap after each; a token always begins at a gap.
        together = _NO_PIECE.join([*map(_as_string, rows), ""])
        at_first = np.fromiter(map(ord, together), np.int32, len(together)) - 1
        token: list[int] = at_first.tolist()  # longest piece at each position; at first the atom
        size = [1] * len(together)  # of the token that begins there; 0 for none
        places, times, entries = array("q"), array("i"), array("i")  # the changes

        def note(place: int, time: int, entry: int) -> None:
            places.append(place)
            times.append(time)
            entries.append(entry)

        def segment_from(place: int, time: int) -> None:
            """Take the longest pieces from a place on, up to a token that stays."""
            while True:
                length = self._lengths[token[place]] if token[place] >= 0 else 1
                if size[place] == length:
                    return
                size[place] = length
                note(place, time, token[place])
                for inside in range(place + 1, place + length):
                    if size[inside]:
                        size[inside] = 0
                        note(inside, time, INSIDE_ID)
                place += length
                if size[place]:
                    return

        for token_id, starts in sorted(self._longest_when_added(together).items()):
            for place in starts:
                token[place] = token_id
            for place in starts:
                if size[place]:
                    segment_from(place, token_id - len(self.alphabet))

        # Sort by position; the stable sort preserves the order of times at each position.
        of_place = np.concatenate((np.arange(len(together)), np.array(places, np.int64)))
        order = np.argsort(of_place, kind="stable")
        before = np.full(len(together), -1, np.int32)
        all_times = np.concatenate((before, np.array(times, np.int32)))[order]
        all_entries = np.concatenate((at_first, np.array(entries, np.int32)))[order]
        counts = np.bincount(of_place, minlength=len(together))
        ends = np.concatenate(([0], np.cumsum(counts)))
        of_rows: list[AtomChanges] = []
        start = 0
        for row in rows:
            end = start + len(row)
            of_row = slice(ends[start], ends[end])
            of_rows.append((counts[start:end], all_times[of_row], all_entries[of_row]))
            start = end + 1  # after the gap
        return of_rows

    def _longest_when_added(self, together: str) -> dict[int, list[int]]:
        """Return for each piece the positions where it is the longest when its step adds it."""
        places: dict[int, list[int]] = {}
        for place in range(len(together)):
            earliest = len(self.alphabet) + len(self.merges)
            for token_id in self._matches(together, place):
                # A shorter piece matters only before a longer one is added.
                if token_id < earliest:
                    earliest = token_id
                    places.setdefault(token_id, []).append(place)
        return places


def _as_string(row: AtomRow) -> str:
    return "".join([chr(atom + 1) for atom in row])


@dataclass(frozen=True, repr=False)
class LongestMatchTraining(MergeTraining):
    """The training history of a trainer that merges pairs, for encoding by longest match."""

    stochastic = False

    def at_step(self, step: int) -> LongestMatchTokenizer:
        return self.first_merges(LongestMatchTokenizer, step)
