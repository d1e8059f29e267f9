"""Tokenizers from files of other programs, applied by the library that defines the file.

The library runs in a child process (`bpeviz.libraries.pool`). Its ids are returned as they are.
Token boundaries are exact in bytes, also inside a character, where the bytes of the tokens joined
are the text. Where the tokenizer changes the text, they follow the library's offsets, and text
that no token covers is dropped.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import pairwise
from math import nan
from typing import Any, ClassVar
from unicodedata import normalize

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import (
    DROPPED_ID,
    UNKNOWN_ID,
    AtomChanges,
    ChangingBoundaries,
    boundaries_from_changes,
    without_steps,
)
from bpeviz.core.byte_alphabet import BYTE_OF, CHARACTER_OF
from bpeviz.core.lattice import UNKNOWN_PENALTY, Edge, Lattice
from bpeviz.core.tokenizer import Encoded, Pieces, Tokenizer, Word, as_pieces
from bpeviz.corpus.documents import Documents
from bpeviz.libraries import merges, pool, worker
from bpeviz.libraries.merges import RankedMerges, Replay
from bpeviz.libraries.pool import File, LibraryError
from bpeviz.pretokenizers.pretokenizer import Atoms
from bpeviz.text import Normalized, clean, id_list, items_of, label

_BYTE = regex.compile(r"<0x([0-9A-F]{2})>")
_SEPARATOR = b"\xff"
_SPACE = "▁"
_WHITE_SPACE = " \t\n\v\f\r"
_WORD = regex.compile(f"{_SPACE}*[^{_SPACE}]+")
LONGEST_TEMPLATE = 100
"""The most tokens of a template. A file could name any number, all drawn at one place."""

_CACHED = 50_000
"""The largest number of replayed tokens that a tokenizer caches."""


class LibraryTokenizer(Tokenizer):
    """A tokenizer file applied by its library.

    Where merges make the tokens of a text, its boundaries have steps, as those of GPT-2. Otherwise
    the atoms of its boundaries are the tokens.
    """

    kind: ClassVar[str] = "library"
    atoms: Atoms = "characters"

    def __init__(
        self, name: str, file: File, flags: Mapping[int, Sequence[str]] | None = None
    ) -> None:
        """Load a file.

        Args:
            name: The name on screen.
            file: The file.
            flags: Those of added tokens that the file cannot contain: "lstrip" and "rstrip".

        Raises:
            LibraryError: The library refuses the file.
        """
        self.name, self.file = name, file
        self.info: Mapping[str, Any] = json.loads(pool.ask(file, worker.LOAD))
        self._raw: dict[int, bytes] = {}
        self._replays: dict[int, Replay | None] = {}
        self._ids: dict[str, int | None] = {}
        self._keeps_texts = True
        """Whether the tokens of all texts so far had the bytes of the text."""
        self._flags = flags or {}
        self._allowed: frozenset[str] = frozenset()
        """The special tokens that the library finds in texts."""
        self._with_special: LibraryTokenizer | None = None
        """This tokenizer with the special tokens that were allowed last."""

    # ---- The vocabulary

    @cached_property
    def _spellings(self) -> tuple[NDArray[np.int32], bytes, NDArray[np.int64]]:
        """The ids, their spellings in UTF-8 after a byte FF each, and where each one begins."""
        answer = pool.ask(self.file, worker.VOCABULARY)
        size = int(np.frombuffer(answer, np.uint64, 1)[0])
        ids = np.frombuffer(answer, np.int32, size, 8)
        names = answer[8 + 4 * size :]
        begins = np.flatnonzero(np.frombuffer(names, np.uint8) == _SEPARATOR[0]) + 1
        return ids, names, begins

    def _spelling(self, token_id: int) -> str:
        ids, names, begins = self._spellings
        place = int(np.searchsorted(ids, token_id))
        if place == len(ids) or ids[place] != token_id:
            raise ValueError(f"{self.name} has no id {token_id}.")
        return names[begins[place] : begins[place + 1] - 1].decode()

    @property
    def vocab_size(self) -> int:
        ids = self._spellings[0]
        return int(ids[-1]) + 1 if len(ids) else 0

    @property
    def steps(self) -> int:
        return 0 if self._merges is None else len(self._merges.new_ids)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        tokens = len(self._spellings[0]) - len(self.special_tokens)
        return np.array([tokens]) if self._merges is None else self._merges.sizes(tokens)

    @cached_property
    def special_tokens(self) -> Mapping[str, int]:
        special: dict[str, int] = self.info["special"]
        return special

    @property
    def unknown_id(self) -> int | None:
        unknown: int | None = self.info["unknown"]
        return unknown

    @property
    def adds_prefix(self) -> bool:
        return self._space is not None

    @cached_property
    def template(self) -> tuple[Sequence[int], Sequence[int]]:
        before, after = json.loads(pool.ask(self.file, worker.TEMPLATE))
        known = {*self._spellings[0].tolist()}
        is_usable = len(before + after) <= LONGEST_TEMPLATE and known.issuperset(before + after)
        return (before, after) if is_usable else ((), ())

    def known_ids(self) -> Iterable[int]:
        ids: list[int] = self._spellings[0].tolist()
        return ids

    def is_atom(self, token_id: int) -> bool:
        spelling = self._spelling(token_id)
        return (
            len(spelling) == 1
            or token_id == self.unknown_id
            or token_id in self._special_ids
            or self._fallback_byte(spelling) is not None
        )

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self.special_tokens.values())

    @cached_property
    def added_ids(self) -> frozenset[int]:
        return frozenset(self.info["added"]) | self._special_ids

    def added_flags(self, token_id: int) -> Sequence[str]:
        flags: Mapping[str, Sequence[str]] = self.info.get("flags", {})
        return self._flags.get(token_id) or flags.get(str(token_id), ())

    @cached_property
    def _over_bytes(self) -> bool:
        """Whether spellings are in the byte alphabet."""
        return any(part["type"] == "ByteLevel" for part in self._settings)

    @cached_property
    def _space(self) -> str | None:
        """The character that replaces a space in spellings, or None."""
        if self.file.library == worker.SENTENCEPIECE:
            return _SPACE
        for part in self._settings:
            if part["type"] == "Metaspace":
                return str(part.get("replacement", _SPACE))
            pattern = part.get("pattern")
            if part["type"] == "Replace" and isinstance(pattern, dict):
                texts = pattern.get("String"), part.get("content")
                if set(texts) == {_SPACE, " "}:
                    return _SPACE
        return None

    @cached_property
    def _settings(self) -> Sequence[Mapping[str, Any]]:
        """All normalizers, pre-tokenizers and decoders of a tokenizer.json."""
        waiting = [self.info.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")]
        parts: list[Mapping[str, Any]] = []
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict) or "type" not in part:
                continue
            parts.append(part)
            for name in ("normalizers", "pretokenizers", "decoders"):
                waiting += part.get(name) or ()
        return parts

    @cached_property
    def _composes(self) -> bool:
        """Whether the normalization composes characters; offsets then omit all but the first."""
        return any(part["type"] in ("NFC", "NFKC") for part in self._settings)

    def _fallback_byte(self, spelling: str) -> bytes | None:
        """Return the byte of a spelling such as <0x0A>, or None for other spellings."""
        if not self.info["model"]["byte_fallback"]:
            return None
        match = _BYTE.fullmatch(spelling)
        return None if match is None else bytes.fromhex(match[1])

    def token_bytes(self, token_id: int) -> bytes:
        raw = self._raw.get(token_id)
        if raw is None:
            raw = self._raw[token_id] = self._bytes_of(token_id, self._spelling(token_id))
        return raw

    def _bytes_of(self, token_id: int, spelling: str) -> bytes:
        """Return the bytes that a token stands for in a text, from its spelling."""
        if token_id == self.unknown_id:
            return "\N{REPLACEMENT CHARACTER}".encode()
        if token_id in self.added_ids:
            return spelling.encode()
        byte = self._fallback_byte(spelling)
        if byte is not None:
            return byte
        model = self.info["model"]
        spelling = spelling.removeprefix(model.get("continuing_subword_prefix") or "")
        spelling = spelling.removesuffix(model.get("end_of_word_suffix") or "")
        if self._over_bytes and all(character in BYTE_OF for character in spelling):
            return bytes(BYTE_OF[character] for character in spelling)
        if self._space is not None:
            spelling = spelling.replace(self._space, " ")
        return spelling.encode()

    def token_label(self, token_id: int) -> str:
        if token_id in self.added_ids or token_id == self.unknown_id:
            return label(self._spelling(token_id).encode()).replace("·", " ")
        if self._over_bytes:
            return label(self.token_bytes(token_id))
        spelling = self._spelling(token_id)
        byte = self._fallback_byte(spelling)
        return label(spelling.encode() if byte is None else byte)

    def find(self, query: str) -> Iterator[int]:
        ids = set()
        query = clean(query)
        for text in {query, query.replace("·", " ")}:
            spellings = {text, text.replace(" ", self._space or " ")}
            if self._over_bytes:
                spellings.add("".join(map(CHARACTER_OF.__getitem__, text.encode())))
            model = self.info["model"]
            prefix = model.get("continuing_subword_prefix") or ""
            suffix = model.get("end_of_word_suffix") or ""
            for spelling in {
                start + middle + end
                for middle in spellings
                for start in ("", prefix)
                for end in ("", suffix)
            }:
                ids.add(self._find_id(spelling))
        yield from sorted(
            token_id
            for token_id in ids
            if token_id is not None and token_id not in self._special_ids
        )

    # ---- Merges

    @cached_property
    def without_steps(self) -> str | None:
        """Why the tokenizer has no steps, or None."""
        if self._merges is not None:
            return None
        kind = self.info["model"]["type"]
        if kind == "BPE":
            return "bpeviz cannot replay the merges of this file exactly"
        return f"its model is {kind}, which does not merge"

    @cached_property
    def _merges(self) -> RankedMerges | None:
        """The merges of the file, or None if it has none that can be replayed."""
        model = self.info["model"]
        if model["type"] != "BPE" or model.get("continuing_subword_prefix"):
            return None
        try:
            if self.file.library == worker.HUGGING_FACE:
                return merges.of_tokenizer_json(self.file.content)
            scores = self._scores
        except LibraryError as error:
            if isinstance(error.__cause__, TimeoutError):
                raise  # the machine is busy: a later request finds the merges
            return None
        ids = {self._spelling(token_id): token_id for token_id in self._spellings[0].tolist()}
        merged = {
            token_id: float(scores[token_id])
            for name, token_id in ids.items()
            if len(name) > 1 and not np.isnan(scores[token_id])
        }
        return merges.of_scores(ids, merged, self._spelling)

    def _replay(self, token_id: int) -> Replay | None:
        """Return the merges that make a token, or None if they do not."""
        replays = self._replays
        if token_id in replays:
            return replays[token_id]
        atoms = None if self._merges is None else self._atoms_of(token_id)
        replay = None
        if atoms is not None and self._merges is not None:
            replay = self._merges.replay(token_id, atoms)
        if len(replays) >= _CACHED:
            # Other threads may use the old dictionary; a new one does not empty it.
            self._replays = replays = {}
        replays[token_id] = replay
        return replay

    def _atoms_of(self, token_id: int) -> list[int] | None:
        """Return the ids of the atoms that merges start from, or None if one has no id."""
        spelling = self._spelling(token_id)
        if (
            token_id == self.unknown_id
            or token_id in self.added_ids
            or self._fallback_byte(spelling) is not None
        ):
            return [token_id]
        suffix = self.info["model"].get("end_of_word_suffix") or ""
        ending = suffix if spelling.endswith(suffix) else ""
        characters = [*spelling.removesuffix(ending)]
        if not characters:
            return [token_id]
        characters[-1] += ending
        ids = [self._id_of(character) for character in characters]
        return None if None in ids else [atom_id for atom_id in ids if atom_id is not None]

    def _id_of(self, spelling: str) -> int | None:
        """Return the id of a spelling, or None."""
        if spelling not in self._ids:
            self._ids[spelling] = self._find_id(spelling)
        return self._ids[spelling]

    def _find_id(self, spelling: str) -> int | None:
        ids, names, begins = self._spellings
        place = names.find(_SEPARATOR + spelling.encode() + _SEPARATOR)
        return None if place < 0 else int(ids[np.searchsorted(begins, place + 1)])

    # ---- Scores

    @cached_property
    def _scores(self) -> NDArray[np.float64]:
        """The score of each id; NaN for those that are not normal pieces. float64 [ids]."""
        return np.frombuffer(pool.ask(self.file, worker.SCORES), np.float64)

    def scored_words(self, text: str) -> list[Word]:
        if self.info["model"]["type"] != "Unigram":
            return []
        text = clean(text)
        if self.file.library == worker.HUGGING_FACE:
            words = self._pre_tokens(text)
            return [Word(word, *span) for word, span, is_added in words if not is_added]
        normalized = self.normalized(text)
        starts = [*normalized.starts, len(text)]
        return [
            Word(match[0], starts[match.start()], starts[match.end()])
            for match in _WORD.finditer(normalized.text)
        ]

    def word_lattice(self, word: str) -> Lattice:
        unknown = UNKNOWN_ID if self.unknown_id is None else self.unknown_id
        lowest = float(np.nanmin(self._scores, initial=0.0)) - UNKNOWN_PENALTY
        edges = []
        for end in range(1, len(word) + 1):
            for start in range(end):
                token_id = self._find_id(word[start:end])
                if token_id is not None and not np.isnan(self._score(token_id)):
                    edges.append(Edge(start, end, token_id, self._score(token_id)))
                elif start == end - 1:
                    edges.append(Edge(start, end, unknown, lowest))
        return Lattice(word, tuple(edges))

    def word_atoms(self, word: str) -> list[str]:
        if self._over_bytes and all(character in BYTE_OF for character in word):
            return [label(bytes([BYTE_OF[character]])) for character in word]
        return super().word_atoms(word)

    def _score(self, token_id: int) -> float:
        return float(self._scores[token_id]) if token_id < len(self._scores) else nan

    def parents(self, token_id: int) -> tuple[int, int] | None:
        replay = self._replay(token_id)
        return None if replay is None else replay.parents

    def merge_step(self, token_id: int) -> int:
        replay = self._replay(token_id)
        return -1 if replay is None else replay.step

    def merged_id(self, step: int) -> int:
        return UNKNOWN_ID if self._merges is None else int(self._merges.new_ids[step])

    # ---- Texts

    def at_step(self, step: int) -> Tokenizer:
        return self if step >= self.steps else _FirstMerges(self, max(0, step))

    def _encoded(self, texts: Sequence[str]) -> Encoded:
        counts, ids = self._ask(worker.IDS, texts)
        return Encoded(ids, np.cumsum(counts, dtype=np.int64))

    def _bytes_of_each(self, ids: Sequence[int]) -> list[bytes]:
        known = {token_id: self.token_bytes(token_id) for token_id in {*ids}}
        return [*map(known.__getitem__, ids)]

    def _finding(self, names: frozenset[str]) -> LibraryTokenizer | None:
        # The library applies the flags of added tokens, and sees what is before and after them.
        if self.file.library != worker.HUGGING_FACE:
            return None
        tokenizer = self._with_special
        if tokenizer is None or tokenizer._allowed != names:
            tokenizer = copy(self)
            tokenizer._allowed = names
            self._with_special = tokenizer
        return tokenizer

    def _split_at_special(
        self, text: str, allowed_special: Collection[str]
    ) -> tuple[Tokenizer, list[tuple[str, int | None]]]:
        ordinary, parts = super()._split_at_special(text, allowed_special)
        return ordinary, _stripped(parts, self._flags) if self._flags else parts

    def _ask(
        self, operation: str, texts: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the number of tokens of each text, and the other numbers of an answer."""
        if not texts:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        content = self._names() + worker.END_OF_TEXT.join(text.encode() for text in texts)
        numbers = np.frombuffer(pool.ask(self.file, operation, content), np.int32)
        return numbers[: len(texts)], numbers[len(texts) :]

    def _names(self) -> bytes:
        """Return the special tokens that the library finds in a text, as the worker needs them."""
        if not self._allowed:
            return b""
        is_every = len(self._allowed) == len(self.special_tokens)
        return json.dumps(is_every or sorted(self._allowed)).encode() + worker.END_OF_NAMES

    def decode(self, ids: Iterable[int]) -> str:
        return self.decode_batch([ids])[0]

    def decode_batch(self, batch: Iterable[Iterable[int]]) -> list[str]:
        decoder = self.info.get("decoder") or {}
        splitter = self.info.get("pre_tokenizer") or {"behavior": "Isolated"}
        # Files of bpeviz have these decoders. Their unknown token is shown as everywhere in bpeviz.
        is_joined = decoder.get("type") == "BPEDecoder" and splitter.get("behavior") == "Isolated"
        model = self.info["model"]
        has_marks = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
        is_fused = decoder == {"type": "Fuse"} and not (
            has_marks or self._space or self._over_bytes
        )
        if is_fused or is_joined:  # so does the default
            return [*map(super().decode, batch)]
        each = [*map(self._packed, items_of(batch, "a list of lists of ids"))]
        packed = b"".join(each)
        numbers = np.frombuffer(packed, np.int32)
        for token_id in numbers[~np.isin(numbers, self._spellings[0])].tolist():
            self._spelling(token_id)  # the library skips unknown ids
        sizes = array("i", [len(each), *map(len, each)]).tobytes()
        answer = pool.ask(self.file, worker.DECODE, sizes + packed)
        texts = [text.decode() for text in answer.split(worker.END_OF_TEXT)][: len(each)]
        is_own = decoder.get("decoders", ())[:1] == [{"type": "ByteFallback"}]
        if is_own and self.unknown_id is not None:
            name = self._spelling(self.unknown_id)
            for i, ids in enumerate(each):
                if self.unknown_id in ids:
                    texts[i] = texts[i].replace(name, "\N{REPLACEMENT CHARACTER}")
        return texts

    def _packed(self, ids: Iterable[int]) -> array[int]:
        ids = ids if isinstance(ids, list) else id_list(ids)
        try:
            return array("i", ids)  # it also checks them, faster than `id_list`
        except (TypeError, OverflowError):
            raise ValueError(f"{self.name} has no id {max(id_list(ids), key=abs)}.") from None

    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        whole = "".join(texts)
        raw = whole.encode()
        of_texts = np.cumsum([len(text.encode()) for text in texts], dtype=np.int64)
        if self._keeps_texts:  # offsets would take as much time again
            tokens = LibraryTokenizer._encoded(self, texts)
            lengths, is_kept = self._lengths_in_text(*tokens, raw, of_texts)
            if is_kept:
                return np.stack((tokens.ids, lengths), 1), tokens.ends
            self._keeps_texts = False
        counts, numbers = self._ask(worker.TOKENS, texts)
        token_ends = np.cumsum(counts, dtype=np.int64)
        ids, first, last = numbers.reshape(3, -1).astype(np.int64)
        lengths, is_kept = self._lengths_in_text(ids, token_ends, raw, of_texts)
        if is_kept:
            return np.stack((ids, lengths), 1), token_ends
        # The places in all texts together, in bytes.
        if self.file.library == worker.HUGGING_FACE:
            offsets, sizes = _byte_offsets(whole), np.array([*map(len, texts)], np.int64)
            begins = np.repeat(np.cumsum(sizes) - sizes, counts)
            sizes = np.repeat(sizes, counts)
            # With byte fallback, some offsets are after the end of the text.
            first, last = (offsets[begins + np.minimum(place, sizes)] for place in (first, last))
        else:
            begins = np.repeat(np.append(0, of_texts)[:-1], counts)
            first, last = first + begins, last + begins
        pieces, ends, is_plain = self._plain_pieces(raw, of_texts, ids, first, last, token_ends)
        if is_plain.all():
            return pieces, ends
        raws = self._bytes_of_each(ids.tolist())
        aligned = np.split(pieces, ends[:-1])
        start = at = 0
        for i, (end, to) in enumerate(zip(token_ends.tolist(), of_texts.tolist(), strict=True)):
            if not is_plain[i]:
                inside = slice(start, end)
                places = ((place[inside] - at).tolist() for place in (first, last))
                composes = self._composes
                of_text = _aligned(
                    raw[at:to], ids[inside].tolist(), raws[inside], *places, composes=composes
                )
                aligned[i] = np.array([*of_text], np.int64).reshape(-1, 2)
            start, at = end, to
        return np.concatenate(aligned), np.cumsum([*map(len, aligned)], dtype=np.int64)

    def _plain_pieces(
        self,
        raw: bytes,
        of_texts: NDArray[np.int64],
        ids: NDArray[np.int64],
        first: NDArray[np.int64],
        last: NDArray[np.int64],
        token_ends: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return the tokens of texts whose offsets are their places, as `_aligned` returns them.

        These follow each other, and cover bytes; but a space before a text covers none.

        Args:
            raw: The texts in UTF-8, joined.
            of_texts: The end of each in `raw`.
            ids: The ids of all texts.
            first: Where each token begins in `raw`.
            last: Where each token ends in `raw`.
            token_ends: The number of tokens up to the end of each text.

        Returns:
            The tokens and the dropped stretches of all texts; the number of these up to the end of
            each; and for which texts they are right.
        """
        begins = np.append(0, of_texts[:-1])
        text_of = np.repeat(np.arange(len(of_texts)), np.diff(token_ends, prepend=0))
        is_first = np.diff(text_of, prepend=-1) > 0
        before = np.where(is_first, begins[text_of], np.append(0, last[:-1]))
        gaps, sizes = first - before, last - first
        reached = np.append(0, last)[token_ends]
        tails = of_texts - np.where(np.diff(token_ends, prepend=0) > 0, reached, begins)

        spelled = {token_id: self.token_bytes(token_id) for token_id in np.unique(ids).tolist()}
        spaced = [token_id for token_id, of_token in spelled.items() if of_token[:1] == b" "]
        spaces = [token_id for token_id in spaced if spelled[token_id] == b" "]
        blank = np.isin(np.frombuffer(raw + b" ", np.uint8), [*b" \t\n\v\f\r"])
        is_mark = is_first & (sizes == 0) & np.isin(ids, spaces) & ~blank[first]
        is_wrong = (gaps < 0) | (sizes <= 0) & ~is_mark | (gaps > 0) & np.isin(ids, spaced)
        if self._composes:
            is_wrong |= gaps > 0
        is_plain = np.bincount(text_of[is_wrong], minlength=len(of_texts)) == 0
        is_plain &= (tails == 0) if self._composes else (tails >= 0)

        pieces = np.zeros((2 * len(ids) + len(of_texts), 2), np.int64)
        pieces[:, 0] = DROPPED_ID
        at = 2 * np.arange(len(ids)) + text_of
        pieces[at, 1] = gaps
        pieces[at + 1, 0], pieces[at + 1, 1] = ids, sizes
        is_kept = pieces[:, 1] > 0
        is_kept[at + 1] = True
        tail_at = 2 * token_ends + np.arange(len(of_texts))
        pieces[tail_at, 1], is_kept[tail_at] = tails, tails > 0
        return pieces[is_kept], np.cumsum(is_kept)[tail_at], is_plain

    def _lengths_in_text(
        self, ids: NDArray[Any], ends: NDArray[np.int64], raw: bytes, of_texts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], bool]:
        """Return the size of each token, and whether those of each text have its bytes.

        Args:
            ids: The ids of the texts.
            ends: The number of tokens up to the end of each text.
            raw: The texts in UTF-8, joined.
            of_texts: The end of each in `raw`.
        """
        raws = self._bytes_of_each(ids.tolist())
        lengths = np.fromiter(map(len, raws), np.int64, len(raws))
        reached = np.append(0, np.cumsum(lengths))[ends]
        return lengths, np.array_equal(reached, of_texts) and b"".join(raws) == raw

    def normalized(self, text: str) -> Normalized:
        answer = pool.ask(self.file, worker.NORMALIZE, self._names() + clean(text).encode())
        changed, starts = json.loads(answer)
        return Normalized(changed, starts)

    def _pre_tokens(self, text: str) -> list[tuple[str, tuple[int, int], bool]]:
        answer = pool.ask(self.file, worker.PRE_TOKENS, self._names() + text.encode())
        pre_tokens: list[tuple[str, tuple[int, int], bool]] = json.loads(answer)
        return pre_tokens

    def pre_token_ends(self, text: str) -> NDArray[np.int64] | None:
        if self.file.library != worker.HUGGING_FACE:
            return None
        text = clean(text)
        spans = [span for _, span, _ in self._pre_tokens(text)]
        starts = {*self.normalized(text).starts}
        ends = {len(text), *(start for start, _ in spans)}
        for (_, end), (after, _) in pairwise([*spans, (len(text), 0)]):
            # Characters that the normalizer has removed, such as accents, belong to the pre-token
            # before them; those that the pre-tokenizer has removed, and white space, do not.
            while end < after and end not in starts and not text[end].isspace():
                end += 1
            ends.add(end)
        return _byte_offsets(text)[np.array(sorted(ends - {0}), np.int64)]

    def boundaries(self, text: str | Documents) -> ChangingBoundaries:
        if isinstance(text, Documents):
            return self.last_boundaries(text)
        text = clean(text)
        pieces, _ = self.segment_texts([text])
        ids = pieces[:, 0].astype(np.int32)
        if (replayed := self._replayed(pieces, text)) is not None:
            return replayed
        if self.unknown_id is not None:
            ids[ids == self.unknown_id] = UNKNOWN_ID
        return without_steps(pieces[:, 1], ids)

    def _replayed(self, pieces: NDArray[np.int64], text: str) -> ChangingBoundaries | None:
        """Return boundaries with steps, or None if merges do not make a token of the text."""
        if self._merges is None:
            return None
        unmerged = {DROPPED_ID, *self.added_ids}
        if self.unknown_id is not None:
            unmerged.add(self.unknown_id)
        raw, starts = text.encode(), np.cumsum(pieces[:, 1]) - pieces[:, 1]
        ids: list[int] = pieces[:, 0].tolist()
        # Those of tokens without merges, and of tokens that cover other bytes than theirs.
        stretches: dict[bytes, int] = {b"": 0}
        stretch_of = np.zeros(len(pieces), np.int64)
        known = {i: -1 if i in unmerged else len(self.token_bytes(i)) for i in {*ids}}
        sizes = np.array([known[i] for i in ids], np.int64)
        for i in np.flatnonzero(pieces[:, 1] > sizes).tolist():
            stretch = raw[starts[i] : starts[i] + pieces[i, 1]]
            stretch_of[i] = stretches.setdefault(stretch, len(stretches))
        keys = np.column_stack((pieces, stretch_of))
        distinct, order = np.unique(keys, axis=0, return_inverse=True)
        texts = [*stretches]
        rows: list[AtomChanges] = []
        atom_ids: list[NDArray[np.int32]] = []
        widths: list[NDArray[np.int64]] = []
        for token_id, length, number in distinct.tolist():
            if token_id in unmerged:  # its atoms are characters, as elsewhere in the text
                sizes = _character_sizes(texts[number])
                counts = (np.arange(len(sizes)) == 0).astype(np.int64)
                entry = UNKNOWN_ID if token_id == self.unknown_id else token_id
                rows.append((counts, np.array([-1], np.int32), np.array([entry], np.int32)))
                inside = DROPPED_ID if token_id == DROPPED_ID else UNKNOWN_ID
                atom_ids.append(np.full(len(sizes), inside, np.int32))
                widths.append(sizes)
                continue
            replay = self._replay(token_id)
            if replay is None:
                return None
            rows.append(replay.changes)
            atom_ids.append(np.array(replay.atoms, np.int32))
            raws = [self.token_bytes(atom) for atom in replay.atoms]
            widths.append(_fitted(raws, length, texts[number]))
        order = order.reshape(-1)
        joined = [np.empty(0, np.int32), *(atom_ids[i] for i in order)]
        ends = np.cumsum(np.concatenate([np.empty(0, np.int64), *(widths[i] for i in order)]))
        return boundaries_from_changes(rows, order, ends, np.concatenate(joined), self.steps)


class _FirstMerges(LibraryTokenizer):
    """A tokenizer with only the first merges of a file."""

    def __init__(self, whole: LibraryTokenizer, step: int) -> None:
        vars(self).update(vars(whole))
        self.name, self._step = f"{whole.name}, first {step} merges", step

    @property
    def steps(self) -> int:
        return self._step

    @property
    def sizes(self) -> NDArray[np.int64]:
        assert self._merges is not None  # noqa: S101, it has steps
        tokens = len(self._spellings[0]) - len(self.special_tokens)
        return self._merges.sizes(tokens)[: self._step + 1]

    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        return as_pieces([self._at_step(text) for text in texts])

    def _encoded(self, texts: Sequence[str]) -> Encoded:
        return Tokenizer._encoded(self, texts)  # not those of the whole file

    def _at_step(self, text: str) -> list[tuple[int, int]]:
        """Return the id and the length of each token of a text."""
        pieces, _ = super().segment_texts([text])
        whole = self._replayed(pieces, text)
        if whole is None:
            raise ValueError(f"The merges of {self.name} cannot be replayed for this text.")
        ids, ends = whole.ids(self._step), whole.cuts(self._step)
        if self.unknown_id is not None:
            ids[ids == UNKNOWN_ID] = self.unknown_id
        return [*zip(ids.tolist(), np.diff(ends, prepend=0).tolist(), strict=True)]


def _stripped(
    parts: Sequence[tuple[str, int | None]], flags: Mapping[int, Sequence[str]]
) -> list[tuple[str, int | None]]:
    """Return the parts of a text, with white space in special tokens that have flags for it.

    >>> _stripped([("a ", None), ("<x>", 1), (" b", None)], {1: ["rstrip"]})
    [('a ', None), ('<x> ', 1), ('b', None)]
    """
    ids = [None, *(special for _, special in parts), None]
    texts = ["", *(part for part, _ in parts), ""]
    for k, special in enumerate(ids):
        wanted = () if special is None else flags.get(special, ())
        if "lstrip" in wanted and ids[k - 1] is None:
            rest = texts[k - 1].rstrip(_WHITE_SPACE)
            texts[k - 1], texts[k] = rest, texts[k - 1][len(rest) :] + texts[k]
        if "rstrip" in wanted and ids[k + 1] is None:
            rest = texts[k + 1].lstrip(_WHITE_SPACE)
            texts[k + 1], texts[k] = rest, texts[k] + texts[k + 1].removesuffix(rest)
    return [(text, special) for text, special in zip(texts, ids, strict=True) if text]


def _contained(text: bytes, raws: Sequence[bytes]) -> list[int]:
    """Return the bytes of a text that each token covers if the text contains theirs in this order.

    Dropped bytes belong to the token before them. An additional space before the text covers
    nothing. If the text does not contain the bytes, no lengths are returned.

    >>> _contained(b"axyb", [b"a", b"b"]), _contained(b"a", [b" ", b"a"]), _contained(b"a", [b"b"])
    ([3, 1], [0, 1], [])
    """
    at, starts = 0, []
    for raw in raws:
        begin = at
        for byte in raw if at or text[:1].isspace() else raw.lstrip():
            place = text.find(byte, at)
            if place < 0:
                return []
            begin = place if begin == at else begin
            at = place + 1
        starts.append(begin)
    return [end - start for start, end in pairwise([0, *starts[1:], len(text)])]


def _fitted(raws: Sequence[bytes], length: int, text: bytes) -> NDArray[np.int64]:
    """Return how many bytes of a text each atom of a token covers.

    Args:
        raws: The bytes of each atom.
        length: The bytes that the token covers. If there are fewer, as with a space before the
            text, the first atoms cover nothing.
        text: The covered bytes where these are more than those of the atoms, else empty. A
            character that was dropped belongs to the atom before it.

    >>> _fitted([b" ", b"a", b"bc"], 3, b"").tolist(), _fitted([b"a", b"b"], 4, b"axyb").tolist()
    ([0, 1, 2], [3, 1])
    """
    if text and (lengths := _contained(text, raws)):
        return np.array(lengths, np.int64)
    if text and len(sizes := _character_sizes(text)) == len(raws):
        return sizes
    skipped = sum(map(len, raws)) - length
    fitted = []
    for raw in raws:
        taken = min(len(raw), max(0, skipped))
        skipped -= taken
        fitted.append(len(raw) - taken)
    if skipped < 0:
        fitted[-1] -= skipped
    return np.array(fitted, np.int64)


def _character_sizes(raw: bytes) -> NDArray[np.int64]:
    """Return the bytes of each character, or 0 for no text.

    >>> _character_sizes("aé".encode()).tolist(), _character_sizes(b"").tolist()
    ([1, 2], [0])
    """
    begins = (np.frombuffer(raw, np.uint8) & 0xC0) != 0x80
    begins[:1] = True
    return np.diff(np.flatnonzero(begins), append=len(raw)) if raw else np.zeros(1, np.int64)


def _byte_offsets(text: str) -> NDArray[np.int64]:
    """Return where each character of a text begins in UTF-8, and the end. int64 [characters + 1].

    >>> _byte_offsets("aé").tolist()
    [0, 1, 3]
    """
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    sizes = 1 + (points > 0x7F) + (points > 0x7FF) + (points > 0xFFFF).astype(np.int64)
    return np.concatenate(([0], np.cumsum(sizes)))


def _is_composed(text: bytes, start: int, end: int) -> bool:
    r"""Return whether NFKC composes a stretch of a text with the character before it.

    >>> _is_composed("ae\u0301".encode(), 2, 4), _is_composed(b"a\x1b", 1, 2)
    (True, False)
    """
    before = text[max(0, start - 4) : start].decode(errors="ignore")[-1:]
    after = text[start:end].decode(errors="replace")
    apart = normalize("NFKC", before) + normalize("NFKC", after)
    return normalize("NFKC", before + after) != apart


def _aligned(
    text: bytes,
    ids: Sequence[int],
    raws: Sequence[bytes],
    starts: Sequence[int],
    ends: Sequence[int],
    *,
    composes: bool,
) -> Iterator[tuple[int, int]]:
    """Yield the tokens of a text with the number of its bytes that each covers.

    Text between two tokens is dropped. Several tokens may have the same offsets: those inside a
    character, or those of a character that the normalization expands. Where their bytes are those
    of the text, so are their lengths; an additional space before them covers nothing.

    Args:
        text: The text in UTF-8.
        ids: The ids.
        raws: The bytes of each token.
        starts: Where each token begins, in bytes.
        ends: Where each token ends, in bytes.
        composes: Whether text after a token, up to the next one, belongs to it if it was composed
            with the character before it, such as a combining accent.
    """
    at = i = reached = 0
    starts, ends = [*starts], [*ends]
    for k, (raw, start, end) in enumerate(zip(raws, starts, ends, strict=True)):
        # A pre-tokenizer may remove the space before a word, and another one write it in the token.
        is_removed = reached < start and text[start - 1 : start] == b" " == raw[:1]
        if is_removed and text[start : max(end, start)][:1] != b" ":
            starts[k] = start - 1
            if raw == b" ":  # the offsets of this token are those of the character after it
                ends[k] = start
        reached = max(reached, ends[k])
    if composes:
        for k, after in enumerate([*starts[1:], len(text)][: len(ids)]):
            if ends[k] < after and _is_composed(text, ends[k], after):
                ends[k] = after
    while i < len(ids):
        start, end = max(at, starts[i]), max(at, ends[i])
        after = i + 1
        while after < len(ids) and starts[after] < max(end, start + 1) and ends[after] >= 0:
            end = max(end, ends[after])
            after += 1
        if start > at:
            yield DROPPED_ID, start - at
        covered = text[start:end]
        group = range(i, after)
        lengths = (
            [len(covered)] * (after == i + 1)
            or _contained(covered, raws[i:after])
            # A space that was put before the text, which begins with one, too, covers nothing.
            or _contained(covered, [raws[i].lstrip(b" "), *raws[i + 1 : after]])
            # Marks that byte fallback spells cover nothing.
            or _contained(covered, [raws[k] * (starts[k] < ends[k]) for k in group])
        )
        if lengths:
            yield from zip(ids[i:after], lengths, strict=True)
        else:
            reached = start
            for k in group:
                length = max(0, ends[k] - reached)
                if raws[k].isspace() and k + 1 < after and starts[k + 1] == starts[k]:
                    # An additional space before an unknown token, whose bytes are not the text.
                    length *= text[reached : ends[k]].isspace()
                reached += length
                yield ids[k], length
        at, i = end, after
    if at < len(text):
        yield DROPPED_ID, len(text) - at
