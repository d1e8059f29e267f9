"""What every tokenizer can do, and the tokenizer that applies learnt merges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate, chain, pairwise
from typing import Literal

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.boundaries import Boundaries, boundaries_from_ids
from bpeviz.pretokenize import split
from bpeviz.text import HUES, clean, joined_remainder, label, remainder, shorten

Atoms = Literal["bytes", "characters"]
"""What a text is made of before the first merge."""

EndMark = Literal["none", "attached", "symbol"]
"""The end-of-word mark: none, part of a word's last character, or a symbol of its own."""

_NAME_ENDS = 60  # atoms at either end of a token from which its short name is made
_CUT_AT_END = regex.compile(r"(⟨[0-9A-F]{2}⟩)+$")
_CUT_AT_START = regex.compile(r"^(⟨[0-9A-F]{2}⟩)+")

END_OF_WORD = "</w>"
UNKNOWN = "<unk>"


@dataclass(frozen=True)
class Token:
    """A token in a text.

    `start` and `end` count characters. A token that holds only some bytes of a character spans
    that character, so the spans of neighbouring tokens overlap where they share one.
    """

    id: int
    raw: bytes
    label: str
    start: int
    end: int


@dataclass(frozen=True)
class Merge:
    """One decision of a learner: `left` and `right` become `new_id`.

    count: how often the pair stood side by side, overlaps included ("aaa" holds (a, a) twice).
    applied: how many replacements were made, which for (a, a) may be fewer.
    ties: how many other pairs had the same count.
    """

    left: int
    right: int
    new_id: int
    count: int
    applied: int
    ties: int


class Tokenizer(ABC):
    """Text to ids and back. Subclasses say how; what follows from it stands here."""

    name: str
    atoms: Atoms

    @property
    @abstractmethod
    def vocab_size(self) -> int:
        """How many ids there are, special tokens included: ids are below it."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many merges there are."""

    @property
    @abstractmethod
    def first_merge_id(self) -> int:
        """The id that merge 0 makes; merge i makes the i-th after it."""

    @property
    @abstractmethod
    def special_tokens(self) -> Mapping[str, int]:
        """The special tokens and their ids."""

    @abstractmethod
    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that an id stands for. Raises `ValueError` for an unknown id."""

    @abstractmethod
    def parents(self, token_id: int) -> tuple[int, int] | None:
        """Return the two ids that were merged into this one, or None for one never merged."""

    @abstractmethod
    def merge_step(self, token_id: int) -> int:
        """Return the merge, from 0, that makes this id, or -1 for one that no merge makes."""

    @abstractmethod
    def boundaries(self, text: str) -> Boundaries:
        """Return when each boundary of `text` vanishes. The text is cleaned first."""

    @abstractmethod
    def _encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a cleaned text in which nothing is a special token."""

    @abstractmethod
    def at_step(self, step: int) -> Tokenizer:
        """Return the tokenizer that knows the first `step` merges only."""

    def ids_at(self, boundaries: Boundaries, step: int) -> NDArray[np.int32]:
        """Return the id of each token after `step` merges, -1 for an unknown atom."""
        ends = boundaries.token_ends(step)
        starts = np.concatenate(([0], ends))[:-1]
        made_by = boundaries.last_merges(step)
        ids = np.where(made_by < 0, boundaries.atom_ids[starts], made_by + self.first_merge_id)
        return ids.astype(np.int32)

    def token_label(self, token_id: int) -> str:
        """Return a readable name for an id: what cannot be seen gets a stand-in."""
        return label(self.token_bytes(token_id))

    def _parts(self, text: str, allowed_special: Collection[str]) -> list[tuple[str, bool]]:
        """Cut a text at the allowed special tokens; tell for each part whether it is one."""
        unknown = set(allowed_special) - set(self.special_tokens)
        if unknown:
            raise ValueError(f"Not a special token of {self.name}: {', '.join(sorted(unknown))}.")
        if not allowed_special:
            return [(text, False)]
        longest_first = sorted(allowed_special, key=len, reverse=True)
        parts = regex.split(f"({'|'.join(map(regex.escape, longest_first))})", text)
        return [(part, bool(i % 2)) for i, part in enumerate(parts) if part]

    def encode(self, text: str, *, allowed_special: Collection[str] = ()) -> list[int]:
        """Return the ids of `text`.

        Text is text: what looks like a special token is encoded as its characters, unless it is
        named in `allowed_special`. Raises `ValueError` where a name there is not a special token.
        """
        ids: list[int] = []
        for part, special in self._parts(clean(text), allowed_special):
            ids += [self.special_tokens[part]] if special else self._encode_ordinary(part)
        return ids

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of `ids`. Raises `ValueError` for an unknown id."""
        return b"".join(map(self.token_bytes, ids))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`; bytes that are not UTF-8 become U+FFFD, here and only here."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def tokens(self, text: str, *, allowed_special: Collection[str] = ()) -> list[Token]:
        """Return the tokens of `text` with the characters that they span.

        >>> from bpeviz import train
        >>> [(t.label, t.start, t.end) for t in train("aé", merges=0).tokenizer().tokens("aé")]
        [('a', 0, 1), ('⟨C3⟩', 1, 2), ('⟨A9⟩', 1, 2)]
        """
        text = clean(text)
        # The character to which each byte belongs, and the end of the text behind the last.
        sizes = [len(character.encode()) for character in text]
        character = [i for i, size in enumerate(sizes) for _ in range(size)]
        found: list[Token] = []
        seen: dict[int, tuple[bytes, str]] = {}
        at = 0
        for part, special in self._parts(text, allowed_special):
            if special:
                ids = [self.special_tokens[part]]
                lengths = [len(part.encode())]
            else:
                ids = self._encode_ordinary(part)
                lengths = self._byte_lengths(part, ids)
            for token_id, length in zip(ids, lengths, strict=True):
                start = character[at] if at < len(character) else len(text)
                end = character[at + length - 1] + 1 if length else start
                if token_id not in seen:
                    seen[token_id] = self.token_bytes(token_id), self.token_label(token_id)
                found.append(Token(token_id, *seen[token_id], start, end))
                at += length
        return found

    def _byte_lengths(self, part: str, ids: Sequence[int]) -> list[int]:
        """Return how many bytes of `part`, which holds no special token, each id stands for."""
        return [len(self.token_bytes(token_id)) for token_id in ids]


@dataclass(frozen=True)
class Splitting:
    """How a learner sees a text: its atoms, the chunks that no merge crosses, the end mark."""

    atoms: Atoms = "bytes"
    pattern: str = "gpt2"
    expression: str = ""
    end_mark: EndMark = "none"

    def __post_init__(self) -> None:
        if self.end_mark != "none" and self.atoms != "characters":
            raise ValueError("An end-of-word mark needs characters as atoms, not bytes.")

    def chunks(self, text: str) -> list[str]:
        """Cut a text into chunks. Raises `SplitError`."""
        return split(text, self.pattern, self.expression)

    def symbols(self, chunk: str) -> list[str]:
        """Return the atoms of a chunk, each as a name: for bytes one character of U+0000–U+00FF.

        The mark goes to words only: a chunk of white space has none.
        """
        if self.atoms == "bytes":
            return list(chunk.encode().decode("latin-1"))
        symbols = list(chunk)
        if self.end_mark != "none" and not chunk.isspace():
            if self.end_mark == "symbol":
                symbols.append(END_OF_WORD)
            else:
                symbols[-1] += END_OF_WORD
        return symbols


@dataclass(frozen=True)
class MergeTokenizer(Tokenizer):
    """A tokenizer that applies learnt merges, the earliest first, within each chunk.

    Ids are dense: first the atoms (bytes 0 to 255, or the characters that were learnt from, in
    code point order), then one for each merge, then `<unk>` where atoms are characters, then the
    special tokens.

    A character that was never learnt from is `<unk>`: its boundaries never vanish, and it decodes
    to U+FFFD. Over bytes nothing is unknown, and decoding returns every Unicode text unchanged.
    """

    name: str
    splitting: Splitting
    alphabet: tuple[str, ...]
    merges: tuple[Merge, ...]
    special: tuple[str, ...] = ()
    _chunk_ids: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False, compare=False)

    MEMO, MEMO_LENGTH = 50_000, 50
    """How many chunks' ids are remembered, and how many characters such a chunk has at most."""

    @property
    def atoms(self) -> Atoms:  # type: ignore[override]
        return self.splitting.atoms

    @property
    def steps(self) -> int:
        return len(self.merges)

    @property
    def first_merge_id(self) -> int:
        return len(self.alphabet)

    @property
    def vocab_size(self) -> int:
        return len(self.alphabet) + len(self.merges) + len(self.special_tokens)

    @cached_property
    def special_tokens(self) -> Mapping[str, int]:
        names = (UNKNOWN, *self.special) if self.atoms == "characters" else self.special
        return {name: i for i, name in enumerate(names, len(self.alphabet) + len(self.merges))}

    @cached_property
    def _atom_id(self) -> dict[str, int]:
        return {symbol: i for i, symbol in enumerate(self.alphabet)}

    @cached_property
    def _rank(self) -> dict[tuple[int, int], int]:
        return {(merge.left, merge.right): merge.new_id for merge in self.merges}

    @cached_property
    def _atom_bytes(self) -> list[bytes]:
        if self.atoms == "bytes":
            return [symbol.encode("latin-1") for symbol in self.alphabet]
        # The end-of-word mark is no text. Text that spells it out is four symbols, not one.
        return [symbol.removesuffix(END_OF_WORD).encode() for symbol in self.alphabet]

    def _special_name(self, token_id: int) -> str | None:
        place = token_id - len(self.alphabet) - len(self.merges)
        return None if place < 0 else [*self.special_tokens][place]

    def _walk(self, token_id: int) -> Iterator[int]:
        """Walk a token's merge tree from left to right: yield its atoms' ids, and between them
        ~step of the merge that joins what stands on both sides.

        Tokens are spelt out when somebody asks, and not by recursion: one may be as long as the
        text that it was learnt from, and its tree as deep.
        """
        atoms = len(self.alphabet)
        waiting = [token_id]
        while waiting:
            at = waiting.pop()
            if at < atoms:  # an atom, or ~step
                yield at
            else:
                merge = self.merges[at - atoms]
                waiting += (merge.right, ~(at - atoms), merge.left)

    def _known(self, token_id: int) -> int:
        if not 0 <= token_id < self.vocab_size:
            raise ValueError(f"There is no id {token_id}: ids go from 0 to {self.vocab_size - 1}.")
        return token_id

    def token_bytes(self, token_id: int) -> bytes:
        special = self._special_name(self._known(token_id))
        if special is not None:
            return ("\N{REPLACEMENT CHARACTER}" if special == UNKNOWN else special).encode()
        return b"".join(self._atom_bytes[atom] for atom in self._walk(token_id) if atom >= 0)

    def token_label(self, token_id: int) -> str:
        special = self._special_name(self._known(token_id))
        if special is not None:
            return special
        if self.atoms == "bytes":
            return label(self.token_bytes(token_id))
        return label("".join(self.alphabet[a] for a in self._walk(token_id) if a >= 0).encode())

    def parents(self, token_id: int) -> tuple[int, int] | None:
        step = self.merge_step(token_id)
        return None if step < 0 else (self.merges[step].left, self.merges[step].right)

    def merge_step(self, token_id: int) -> int:
        step = self._known(token_id) - len(self.alphabet)
        return step if 0 <= step < len(self.merges) else -1

    def at_step(self, step: int) -> MergeTokenizer:
        merges = self.merges[: max(0, step)]
        return MergeTokenizer(self.name, self.splitting, self.alphabet, merges, self.special)

    def _ids(self, chunk: str) -> tuple[int, ...]:
        """Return the ids of a chunk, -1 for an atom that is not in the alphabet."""
        ids = self._chunk_ids.get(chunk)
        if ids is None:
            get = self._atom_id.get
            ids = apply_merges([get(s, -1) for s in self.splitting.symbols(chunk)], self._rank)
            if len(self._chunk_ids) < self.MEMO and len(chunk) <= self.MEMO_LENGTH:
                self._chunk_ids[chunk] = ids
        return ids

    def _encode_ordinary(self, text: str) -> list[int]:
        ids = chain.from_iterable(map(self._ids, self.splitting.chunks(text)))
        if self.atoms == "bytes":
            return list(ids)
        unknown = self.special_tokens[UNKNOWN]
        return [unknown if token_id < 0 else token_id for token_id in ids]

    def _byte_lengths(self, part: str, ids: Sequence[int]) -> list[int]:
        unknown = -1 if self.atoms == "bytes" else self.special_tokens[UNKNOWN]
        if unknown not in ids:
            return super()._byte_lengths(part, ids)
        # An unknown token is one character; which one, and so how long, only the text tells.
        raw, at, lengths = part.encode(), 0, []
        for token_id in ids:
            length = len(self.token_bytes(token_id))
            if token_id == unknown:
                # The first byte of a character in UTF-8 tells how many there are.
                length = (
                    1 if raw[at] < 0x80 else 2 if raw[at] < 0xE0 else 3 if raw[at] < 0xF0 else 4
                )
            lengths.append(length)
            at += length
        return lengths

    def _times_inside(self, token_id: int) -> list[int]:
        """Return when the boundaries inside a token, or an unknown atom (-1), vanish."""
        if token_id < 0:
            return []
        return [~step for step in self._walk(token_id) if step < 0]

    def boundaries(self, text: str) -> Boundaries:
        text = clean(text)
        chunks = self.splitting.chunks(text)
        ids = np.fromiter(chain.from_iterable(map(self._ids, chunks)), np.int32)
        vanishes = boundaries_from_ids(ids, self._times_inside)
        atom_ids, ends = self._atoms_of(text, chunks)
        return Boundaries(vanishes, ends, atom_ids, self.steps)

    def _atoms_of(
        self, text: str, chunks: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the id of each atom and the byte behind it."""
        if self.atoms == "bytes":
            raw = np.frombuffer(text.encode(), np.uint8)
            return raw.astype(np.int32), np.arange(1, len(raw) + 1)
        symbols = list(chain.from_iterable(map(self.splitting.symbols, chunks)))
        get = self._atom_id.get
        atom_ids = np.fromiter((get(s, -1) for s in symbols), np.int32, len(symbols))
        sizes = (
            0 if s == END_OF_WORD else len(s[0].encode())  # the mark is no text
            for s in symbols
        )
        return atom_ids, np.fromiter(accumulate(sizes), np.int64, len(symbols))

    def chunk_ends(self, text: str) -> NDArray[np.int64]:
        """Return the index behind the last atom of each chunk of a text. int64 [chunks]."""
        sizes = (len(self.splitting.symbols(c)) for c in self.splitting.chunks(clean(text)))
        return np.fromiter(accumulate(sizes), np.int64)


def apply_merges(ids: list[int], rank: Mapping[tuple[int, int], int]) -> tuple[int, ...]:
    """Merge pairs of `ids`, lowest rank first and from the left, until none has a rank.

    `rank` maps a pair to the id that it becomes. A merge's halves are older than itself, so no
    merge makes an earlier one possible: each is applied once, at all its places. A linked row
    keeps this in proportion to the length, for chunks of any length. `ids` is used up.
    """
    get = rank.get
    places: dict[int, list[int]] = {}  # by the id that the pair there becomes; from left to right
    for place, pair in enumerate(pairwise(ids)):
        if (new := get(pair)) is not None:
            places.setdefault(new, []).append(place)
    if not places:
        return tuple(ids)
    gone = -2
    following = list(range(1, len(ids) + 2))
    preceding = list(range(-1, len(ids)))
    ids.append(gone)  # so that there is something behind the last
    waiting = list(places)
    heapify(waiting)

    def note(new: int, place: int) -> None:
        if new not in places:
            places[new] = []
            heappush(waiting, new)
        places[new].append(place)

    while waiting:
        new = heappop(waiting)
        for i in places.pop(new):
            j = following[i]
            if get((ids[i], ids[j])) != new:  # an earlier merge took one of the two
                continue
            ids[i], ids[j] = new, gone
            following[i] = k = following[j]
            preceding[k] = i
            if (newer := get((new, ids[k]))) is not None:
                note(newer, i)
            h = preceding[i]
            if h >= 0 and (newer := get((ids[h], new))) is not None:
                note(newer, h)
    return tuple(token_id for token_id in ids if token_id != gone)


@dataclass(frozen=True)
class Training:
    """What a learner decided: the atoms it began with and its merges, in order.

    stopped: why it ended: "full" (the size asked for is reached), "no pair" (nothing is left to
    merge), or "rare" (what is left is rarer than the smallest count allowed).
    """

    algorithm: str
    splitting: Splitting
    alphabet: tuple[str, ...]
    merges: tuple[Merge, ...]
    stopped: Literal["full", "no pair", "rare"]
    special: tuple[str, ...] = ()

    @property
    def vocab_size(self) -> int:
        """The largest vocabulary: atoms and merges, without special tokens."""
        return len(self.alphabet) + len(self.merges)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Short readable names of all ids: the middle of a long token is left out.

        Built from the parents' first and last atoms, since the tokens spelt out may together be
        far longer than the text.
        """
        in_bytes = self.splitting.atoms == "bytes"
        # Of each id its first and its last symbols; the same string twice if that is all of it.
        ends: list[tuple[str, str, bool]] = [(symbol, symbol, True) for symbol in self.alphabet]
        for merge in self.merges:
            left_first, left_last, left_whole = ends[merge.left]
            right_first, right_last, right_whole = ends[merge.right]
            first = left_first + right_first if left_whole else left_first
            last = left_last + right_last if right_whole else right_last
            if left_whole and right_whole and len(first) <= 2 * _NAME_ENDS:
                ends.append((first, first, True))
            else:
                ends.append((first[:_NAME_ENDS], last[-_NAME_ENDS:], False))

        def named(part: str) -> str:
            return label(part.encode("latin-1" if in_bytes else "utf-8"))

        names = []
        for first, last, whole in ends:
            if whole:
                names.append(shorten(named(first)))
            else:
                # Where a character was cut in the middle, what is left of it is left out.
                head = _CUT_AT_END.sub("", named(first)) if in_bytes else named(first)
                tail = _CUT_AT_START.sub("", named(last)) if in_bytes else named(last)
                names.append(shorten(f"{head}…{tail}"))
        return tuple(names)

    @cached_property
    def hues(self) -> tuple[int, ...]:
        """The colours of the tokens that the merges make, one a merge (see `bpeviz.text.hue`)."""
        tokenizer = self.tokenizer(len(self.alphabet))
        atoms = [tokenizer.token_bytes(atom) for atom in range(len(self.alphabet))]
        found = [(remainder(raw), len(raw)) for raw in atoms]
        for merge in self.merges:
            (left, left_length), (right, length) = found[merge.left], found[merge.right]
            found.append((joined_remainder(left, right, length), left_length + length))
        return tuple(value % HUES for value, _ in found[len(self.alphabet) :])

    def tokenizer(self, vocab_size: int | None = None) -> MergeTokenizer:
        """Return the tokenizer of a vocabulary size, the largest by default.

        `vocab_size` counts atoms and merges; special tokens, which come after them, are not
        counted. Raises `ValueError` where it is smaller than the atoms or larger than what was
        learnt.
        """
        size = self.vocab_size if vocab_size is None else vocab_size
        if not len(self.alphabet) <= size <= self.vocab_size:
            raise ValueError(
                f"The vocabulary size must be between {len(self.alphabet)} (the atoms alone) and "
                f"{self.vocab_size} (all that was learnt), not {size}."
            )
        merges = self.merges[: size - len(self.alphabet)]
        return MergeTokenizer(self.algorithm, self.splitting, self.alphabet, merges, self.special)
