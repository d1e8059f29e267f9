"""Longest match first: from the left, always the longest piece of the vocabulary that stands there.

So WordPiece encodes, and so some tutorials encode with a vocabulary that was learnt by BPE. The
order of the merges then counts for nothing: what they made is a list of pieces.

A longer piece may end where a token had begun before, so boundaries come back: the vocabulary
`ab`, `cd`, `abc` cuts `abcd` into `ab cd` until `abc` is learnt, and then into `abc d`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bpeviz.core.boundaries import INSIDE_ID, UNKNOWN_ID, AtomChanges
from bpeviz.core.merges import MergedVocabulary, MergeTokenizer
from bpeviz.core.tokenizer import NonMonotonicTokenizer, NotMergesError, Row, Segmentation
from bpeviz.core.training import MergeTraining

LONGEST_PIECE = 128
"""How many atoms a piece has at most that is looked for; longer ones are in the vocabulary only.

At every place pieces of each length are tried, so without a limit a long text in one pre-token would
take time without end. The longest tokens of GPT-2 and cl100k have just as many bytes."""

LONGEST_WORD = 100
"""How many atoms a word has at most where words may be unknown: BERT's limit, and its number."""

_NO_PIECE = "\0"


@dataclass(frozen=True)
class LongestMatchTokenizer(MergedVocabulary, NonMonotonicTokenizer):
    """A tokenizer that takes the longest piece, from the left, within each pre-token.

    Its pieces are the atoms and what each merge makes; after step s, of the first s merges.

    unknown_words: what becomes of an atom that is not in the vocabulary. False: it is one unknown
        token, and the rest of its pre-token goes on. True: its whole pre-token is, as in BERT, and so is
        a pre-token of more than `LONGEST_WORD` atoms. (Since every known atom is a piece by itself,
        there is no other way for a word to have no cut.)
    """

    unknown_words: bool = False

    def as_merges(self) -> MergeTokenizer:
        raise NotMergesError("it encodes by longest match, not by its merges")

    # Pieces are looked up as strings with one character for each atom: its id + 1. What is not
    # known, and the gap between two rows, is character 0, which no piece holds.

    @cached_property
    def _ids_of_pieces(self) -> dict[str, int]:
        """The ids of the pieces of two atoms and more. Of two equal ones the earlier counts."""
        spelt: list[str] = [chr(atom + 1) for atom in range(len(self.alphabet))]
        found: dict[str, int] = {}
        for token_id, merge in enumerate(self.merges, len(self.alphabet)):
            if self._lengths[token_id] <= LONGEST_PIECE:
                spelt.append(spelt[merge.left] + spelt[merge.right])
                found.setdefault(spelt[-1], token_id)
            else:
                spelt.append("")
        return found

    @cached_property
    def _piece_lengths(self) -> dict[str, list[int]]:
        """How long the pieces are that begin with two atoms, the longest first."""
        found: dict[str, set[int]] = {}
        for piece in self._ids_of_pieces:
            found.setdefault(piece[:2], set()).add(len(piece))
        return {start: sorted(sizes, reverse=True) for start, sizes in found.items()}

    def _matches(self, row: str, place: int) -> Iterator[int]:
        """Yield the pieces of two atoms and more that stand at a place, the longest first."""
        for length in self._piece_lengths.get(row[place : place + 2], ()):
            token_id = self._ids_of_pieces.get(row[place : place + length])
            if token_id is not None:
                yield token_id

    def _is_unknown(self, row: Row) -> bool:
        """Tell whether a whole row is one unknown token."""
        return self.unknown_words and (len(row) > LONGEST_WORD or UNKNOWN_ID in row)

    def _segment_rows(self, rows: Sequence[Row]) -> list[Segmentation]:
        return [self._segment_row(row) for row in rows]

    def _segment_row(self, row: Row) -> Segmentation:
        if self._is_unknown(row):
            return (UNKNOWN_ID,), (len(row),)
        spelt = _spelt(row)
        ids: list[int] = []
        sizes: list[int] = []
        place = 0
        while place < len(row):
            token_id = next(self._matches(spelt, place), row[place])
            ids.append(token_id)
            sizes.append(1 if token_id == UNKNOWN_ID else self._lengths[token_id])
            place += sizes[-1]
        return tuple(ids), tuple(sizes)

    def changes(self, rows: Sequence[Row]) -> list[AtomChanges]:
        """Return for rows of atom ids which tokens begin at each atom, and when they change.

        A step adds one piece. Where it is the longest now and a token begins, the row is cut anew,
        from there until a cut is met that was there before: behind it, nothing has changed.
        """
        known = [row for row in rows if not self._is_unknown(row)]
        found = iter(self._changes_of_known(known))
        return [_whole(row) if self._is_unknown(row) else next(found) for row in rows]

    def _changes_of_known(self, rows: Sequence[Row]) -> list[AtomChanges]:
        # All rows lie in one, with a gap behind each. At a gap a token begins, always.
        together = _NO_PIECE.join([*map(_spelt, rows), ""])
        at_first = np.fromiter(map(ord, together), np.int32, len(together)) - 1
        token: list[int] = at_first.tolist()  # the longest piece at each place; first the atom
        size = [1] * len(together)  # of the token that begins there; 0: none does
        places, times, entries = array("q"), array("i"), array("i")  # what changes

        def note(place: int, time: int, entry: int) -> None:
            places.append(place)
            times.append(time)
            entries.append(entry)

        def cut_from(place: int, time: int) -> None:
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

        for token_id, starts in sorted(self._longest_once(together).items()):
            for place in starts:
                token[place] = token_id
            for place in starts:
                if size[place]:
                    cut_from(place, token_id - len(self.alphabet))

        # In the order of the places, and of the times at each, as they were noted.
        of_place = np.concatenate((np.arange(len(together)), np.array(places, np.int64)))
        order = np.argsort(of_place, kind="stable")
        before = np.full(len(together), -1, np.int32)
        all_times = np.concatenate((before, np.array(times, np.int32)))[order]
        all_entries = np.concatenate((at_first, np.array(entries, np.int32)))[order]
        counts = np.bincount(of_place, minlength=len(together))
        ends = np.concatenate(([0], np.cumsum(counts)))
        found: list[AtomChanges] = []
        start = 0
        for row in rows:
            end = start + len(row)
            shown = slice(ends[start], ends[end])
            found.append((counts[start:end], all_times[shown], all_entries[shown]))
            start = end + 1  # behind the gap
        return found

    def _longest_once(self, together: str) -> dict[int, list[int]]:
        """Return for each piece the places where it is the longest at the time of its step."""
        found: dict[int, list[int]] = {}
        for place in range(len(together)):
            soonest = len(self.alphabet) + len(self.merges)
            for token_id in self._matches(together, place):
                # A shorter one counts only until a longer one is there.
                if token_id < soonest:
                    soonest = token_id
                    found.setdefault(token_id, []).append(place)
        return found


def _spelt(row: Row) -> str:
    return "".join([chr(atom + 1) for atom in row])


def _whole(row: Row) -> AtomChanges:
    """Return the changes of a row that is one unknown token at every step."""
    counts = np.zeros(len(row), np.int64)
    counts[:1] = 1
    return counts, np.array([-1], np.int32), np.array([UNKNOWN_ID], np.int32)


@dataclass(frozen=True)
class LongestMatchTraining(MergeTraining):
    """What a trainer decided that merges pairs, for an encoding by longest match."""

    stochastic = False

    def at_step(self, step: int) -> LongestMatchTokenizer:
        return LongestMatchTokenizer(
            self.algorithm,
            self.pre_tokenizer,
            self.alphabet,
            self.merges[:step],
            special=self.special,
        )
