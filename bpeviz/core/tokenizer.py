"""The interface of all tokenizers, and the base of those trained here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from reprlib import repr as short_repr
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import (
    DROPPED_ID,
    UNKNOWN_ID,
    AtomChanges,
    Boundaries,
    ChangingBoundaries,
    Timeline,
    boundaries_from_changes,
    changes_of_timeline,
    gather_rows,
    without_steps,
)
from bpeviz.core.special_names import split_at_names, with_unknown
from bpeviz.corpus.documents import Documents, documents_of
from bpeviz.notebook_cell import NotebookValue
from bpeviz.pretokenizers.counts import indexed
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, Atoms, PreTokenizer
from bpeviz.text import Normalized, character_stand_in, clean, clean_each, id_list, items_of, label

if TYPE_CHECKING:
    from bpeviz.core.lattice import Lattice

_BYTES = tuple(map(chr, range(256)))
"""The symbols of single bytes."""

_PRINTED = 8
"""The most tokens in the `repr` of a text's tokens."""

AtomRow = tuple[int, ...]
"""The ids of the atoms of a pre-token."""

Segmentation = tuple[tuple[int, ...], tuple[int, ...]]
"""The tokens of a row of atoms: their ids, and the number of atoms of each."""


Pieces = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The id and the length in bytes of each token of several texts, with dropped stretches
[tokens, 2]; and the number of these up to the end of each text [texts]."""


def as_pieces(each: Sequence[Sequence[tuple[int, int]]]) -> Pieces:
    """Return the ids and lengths of the tokens of each text in arrays."""
    numbers = np.fromiter(chain.from_iterable(chain.from_iterable(each)), np.int64)
    return numbers.reshape(-1, 2), np.cumsum([*map(len, each)], dtype=np.int64)


@dataclass(frozen=True)
class Token:
    """A token in a text.

    `start` and `end` count characters. A token with only some bytes of a character spans that
    character, so the spans of neighboring tokens may overlap.
    """

    id: int
    raw: bytes
    label: str
    start: int
    end: int


class Tokens(list[Token], NotebookValue):
    """The tokens of a text, which a notebook shows in color.

    Attributes:
        text: The text.
        tokenizer: The tokenizer.
        allowed_special: The special tokens that the text may contain.
    """

    def __init__(
        self, text: str, tokenizer: Tokenizer, allowed_special: Collection[str] = ()
    ) -> None:
        super().__init__()
        self.text = text
        self.tokenizer = tokenizer
        self.allowed_special = allowed_special

    def __repr__(self) -> str:
        """Return the first tokens, and the number of the others."""
        printed = [*map(repr, self[:_PRINTED])]
        if len(self) > _PRINTED:
            printed.append(f"… {len(self) - _PRINTED:,} more")
        return f"[{', '.join(printed)}]"


class Word(NamedTuple):
    """A word, one character for each atom, and the characters `start` to `end` of its text."""

    text: str
    start: int
    end: int


class Encoded(NamedTuple):
    """The tokens of several texts, each encoded alone.

    Attributes:
        ids: The ids of all texts. int32 [tokens].
        ends: The number of tokens up to the end of each text. int64 [texts].
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, each: Sequence[Sequence[int]]) -> Encoded:
        """Return the tokens of texts. each: the ids of each text."""
        ids = np.fromiter(chain.from_iterable(each), np.int32)
        return cls(ids, np.cumsum([*map(len, each)], dtype=np.int64))

    def lists(self) -> list[list[int]]:
        """Return the ids of each text."""
        ids: list[int] = self.ids.tolist()
        return [ids[start:end] for start, end in pairwise([0, *self.ends.tolist()])]


class Tokenizer(ABC):
    """Text to ids and back.

    A subclass implements the abstract methods, of which `segment_texts` alone encodes. The defaults
    of the other methods are those of a tokenizer without merges and without pre-tokens.
    """

    name: str
    atoms: Atoms

    kind: ClassVar[str] = ""
    """The name of the class in bpeviz's own files, which contain the fields of its dataclass."""

    @property
    def exact_kind(self) -> str:
        """Its kind, or "" for a subclass without one, which may encode in another way."""
        return str(vars(type(self)).get("kind", ""))

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a dataclass the short `repr`, which it would replace by that of all its fields."""
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Tokenizer.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Return a short line, without the vocabulary."""
        return f"<{type(self).__name__} {self.name!r}>"

    def check_fields(self) -> None:  # noqa: B027  # most have none that depends on another one
        """Raise `InvalidFieldError` for a field, read from a file, with which it cannot encode."""

    @property
    @abstractmethod
    def vocab_size(self) -> int:
        """The size of the vocabulary, special tokens included; all ids are below it."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """The number of steps that lead to this vocabulary."""

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """The size of the vocabulary after each step, special tokens not counted. [steps + 1]."""

    @property
    @abstractmethod
    def special_tokens(self) -> Mapping[str, int]:
        """The special tokens and their ids."""

    @abstractmethod
    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of an id.

        Raises:
            ValueError: The id is not in the vocabulary.
        """

    @abstractmethod
    def is_atom(self, token_id: int) -> bool:
        """Return whether an id is a single atom or a special token."""

    def boundaries(self, text: str | Documents) -> Boundaries:
        """Return the token boundaries of a text, cleaned first, at every step.

        Documents are encoded one by one. Their boundaries are those of `Documents.as_text`, whose
        line ends between documents are dropped.
        """
        return self.last_boundaries(text)

    def last_boundaries(self, text: str | Documents) -> ChangingBoundaries:
        """Return the same, without the steps that lead to the tokens."""
        pieces, ends = self.segment_texts(documents_of(text))
        pieces = np.insert(pieces, ends[:-1], (DROPPED_ID, 1), axis=0)
        ids = pieces[:, 0].astype(np.int32)
        if self.unknown_id is not None:
            ids[ids == self.unknown_id] = UNKNOWN_ID
        return without_steps(pieces[:, 1], ids)

    def encoded(self, texts: Sequence[str]) -> Encoded:
        """Return the tokens of texts, each encoded alone; names of special tokens are text."""
        return self._encoded(clean_each(texts))

    def count_batch(self, texts: Iterable[str]) -> list[int]:
        """Return the number of tokens of each text, as `encode` finds them without special ones."""
        texts = items_of(texts, "a list of texts")
        counts: list[int] = np.diff(self.encoded(texts).ends, prepend=0).tolist()
        return counts

    @abstractmethod
    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        """Return the tokens of cleaned texts, each encoded alone; names of special tokens are text.

        Ids, tokens, counts and last boundaries derive from it.
        """

    def _encoded(self, texts: Sequence[str]) -> Encoded:
        """Return the ids of cleaned texts; a subclass may have them without the lengths."""
        pieces, ends = self.segment_texts(texts)
        is_token = pieces[:, 0] != DROPPED_ID
        before = np.append(0, np.cumsum(is_token, dtype=np.int64))
        return Encoded(pieces[is_token, 0].astype(np.int32), before[ends])

    def _encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a cleaned text without looking for special tokens."""
        ids: list[int] = self._encoded((text,)).ids.tolist()
        return ids

    @abstractmethod
    def at_step(self, step: int) -> Tokenizer:
        """Return the tokenizer of the vocabulary after `step` steps."""

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token, or None."""
        return None

    @property
    def added_ids(self) -> Collection[int]:
        """The ids of tokens that are found in a text before the model tokenizes the rest."""
        return ()

    def added_flags(self, token_id: int) -> Sequence[str]:
        """Return the flags of an added token that are set, named as in a `tokenizer.json`."""
        return ()

    @property
    def without_steps(self) -> str | None:
        """Why no steps lead to the tokens, as a clause, or None if some do."""
        return None

    @property
    def end_of_word_ids(self) -> Collection[int]:
        """The ids of the atoms that carry the end-of-word mark."""
        return ()

    @property
    def adds_prefix(self) -> bool:
        """Whether encoding puts a space, the dummy prefix, before a line."""
        return False

    @property
    def template(self) -> tuple[Sequence[int], Sequence[int]]:
        """The ids that a model expects before and after a text, such as BOS and EOS.

        `encode` does not add them.
        """
        return (), ()

    @property
    def with_dense_ids(self) -> Tokenizer:
        """The tokenizer with its own ids, if this one maps them to others."""
        return self

    def scored_words(self, text: str) -> list[Word]:
        """Return the words of a text, if the model scores their segmentations one by one."""
        return []

    def word_lattice(self, word: str) -> Lattice:
        """Return the lattice of a word of `scored_words`.

        Raises:
            ValueError: The tokenizer has no scores.
        """
        raise ValueError(f"{self.name} does not score segmentations.")

    def word_atoms(self, word: str) -> list[str]:
        """Return readable labels of the atoms of a word of `scored_words`."""
        return [*map(character_stand_in, word)]

    def parents(self, token_id: int) -> tuple[int, int] | None:
        """Return the two ids that are merged into this one, or None if no merge creates it."""
        return None

    def merge_step(self, token_id: int) -> int:
        """Return the step, from 0, of the merge that creates this id, or -1."""
        return -1

    def merged_id(self, step: int) -> int:
        """Return the id that the merge of a step, from 0, creates, or -1 if it is not a merge."""
        return UNKNOWN_ID

    def base_of(self, token_id: int) -> Tokenizer | None:
        """Return the base tokenizer that this id comes from, or None for a trained id."""
        return None

    def pre_token_ends(self, text: str) -> NDArray[np.int64] | None:
        """Return the ends of the pre-tokens of a text in UTF-8 bytes, or None if unknown."""
        return None

    def normalized(self, text: str) -> Normalized:
        """Return a text as the tokenizer changes it before it splits it.

        Raises:
            ValueError: The tokenizer cannot normalize the text.
        """
        return Normalized.of(clean(text))

    def find(self, query: str) -> Iterator[int]:
        """Yield the ids of the tokens with this text or label, special tokens excluded.

        A dot · also matches a space.
        """
        raws = {query.encode(), query.replace("·", " ").encode()}
        special = {*self.special_tokens.values()}
        for token_id in self.known_ids():
            if token_id not in special and (
                self.token_bytes(token_id) in raws or self.token_label(token_id) == query
            ):
                yield token_id

    def known_ids(self) -> Iterable[int]:
        """Return the ids of the vocabulary in rising order, special tokens included."""
        return range(self.vocab_size)

    def token_label(self, token_id: int) -> str:
        """Return a readable label for an id, with stand-ins for invisible characters."""
        return label(self.token_bytes(token_id))

    def _split_at_special(
        self, text: str, allowed_special: Collection[str]
    ) -> tuple[Tokenizer, list[tuple[str, int | None]]]:
        """Split a text at the allowed special tokens.

        Returns:
            The tokenizer of the parts that are not special, and the parts: (part, the id of the
            special token or None).
        """
        if allowed_special == "all":
            allowed_special = self.special_tokens.keys()
        if isinstance(allowed_special, str) or not isinstance(allowed_special, Iterable):
            raise ValueError(
                'Give the allowed special tokens as a list of names, or as "all", not '
                f"{short_repr(allowed_special)}."
            )
        allowed = frozenset(allowed_special)
        unknown = allowed - self.special_tokens.keys()
        if unknown:
            raise ValueError(f"Not a special token of {self.name}: {', '.join(sorted(unknown))}.")
        if allowed and (whole := self._finding(allowed)) is not None:
            return whole, [(text, None)]
        get, parts = self.special_tokens.get, split_at_names(text, allowed)
        return self, [(part, get(part) if special else None) for part, special in parts]

    def _finding(self, names: frozenset[str]) -> Tokenizer | None:
        """Return the tokenizer that finds these special tokens itself, or None to split texts."""
        return None

    def encode(self, text: str, *, allowed_special: Collection[str] = ()) -> list[int]:
        """Return the ids of `text`.

        Special tokens in the text are ordinary text unless `allowed_special` contains them. As in
        tiktoken, "all" allows every one.

        Raises:
            ValueError: A name in `allowed_special` is not a special token.
        """
        ordinary, parts = self._split_at_special(clean(text), allowed_special)
        if len(parts) == 1 and parts[0][1] is None:
            return ordinary._encode_ordinary(parts[0][0])  # a long list is not copied
        ids: list[int] = []
        for part, special in parts:
            ids += ordinary._encode_ordinary(part) if special is None else [special]
        return ids

    def encode_batch(
        self, texts: Iterable[str], *, allowed_special: Collection[str] = ()
    ) -> list[list[int]]:
        """Return the ids of each text, as `encode` does, in one call of the library.

        Raises:
            ValueError: A name in `allowed_special` is not a special token.
        """
        texts = items_of(texts, "a list of texts")
        ordinary, _ = self._split_at_special("", allowed_special)
        if not allowed_special:
            return self.encoded(texts).lists()
        split = [self._split_at_special(clean(text), allowed_special)[1] for text in texts]
        plain = [part for parts in split for part, special in parts if special is None]
        ids_of_parts = iter(ordinary.encoded(plain).lists())
        return [
            [*chain.from_iterable(next(ids_of_parts) if i is None else [i] for _, i in parts)]
            for parts in split
        ]

    def decode_batch(self, batch: Iterable[Iterable[int]]) -> list[str]:
        """Return the text of each list of ids, as `decode` does."""
        return [*map(self.decode, items_of(batch, "a list of lists of ids"))]

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of `ids`.

        Raises:
            ValueError: An id is not in the vocabulary.
        """
        return b"".join(map(self.token_bytes, id_list(ids)))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def tokens(self, text: str, *, allowed_special: Collection[str] = ()) -> Tokens:
        """Return the tokens of `text` with their spans in characters, which a notebook shows.

        >>> from bpeviz import train
        >>> [(t.label, t.start, t.end) for t in train("aé", merges=0).tokenizer().tokens("aé")]
        [('a', 0, 1), ('⟨C3⟩', 1, 2), ('⟨A9⟩', 1, 2)]
        """
        text = clean(text)
        # The index of the character of each byte.
        sizes = [len(character.encode()) for character in text]
        character = [i for i, size in enumerate(sizes) for _ in range(size)]
        tokens = Tokens(text, self, allowed_special)
        seen: dict[int, tuple[bytes, str]] = {}
        at = 0
        ordinary, parts = self._split_at_special(text, allowed_special)
        plain = [part for part, special in parts if special is None]
        numbers, ends = ordinary.segment_texts(plain) if plain else as_pieces([])
        segments = map(numbers.__getitem__, map(slice, (0, *ends), ends))
        for part, special in parts:
            pieces = next(segments).tolist() if special is None else [(special, len(part.encode()))]
            for token_id, length in pieces:
                if token_id == DROPPED_ID:
                    at += length
                    continue
                start = character[at] if at < len(character) else len(text)
                end = character[at + length - 1] + 1 if length else start
                if token_id not in seen:
                    seen[token_id] = self.token_bytes(token_id), self.token_label(token_id)
                tokens.append(Token(token_id, *seen[token_id], start, end))
                at += length
        return tokens


@dataclass(frozen=True, repr=False)
class TrainedTokenizer(Tokenizer):
    """A tokenizer trained here: it segments a text pre-token by pre-token.

    Ids are dense, in this order: the atoms, the trained tokens, the unknown token, if any, the
    special tokens. The atoms are the bytes 0 to 255, or the characters of the training text in code
    point order.

    Attributes:
        alphabet: The symbols of the atoms, by id.
    """

    name: str
    pre_tokenizer: PreTokenizer
    alphabet: tuple[str, ...]
    special: tuple[str, ...] = field(default=(), kw_only=True)
    _segmented: dict[str, Segmentation] = field(
        default_factory=dict, repr=False, compare=False, kw_only=True
    )

    CACHED_PRE_TOKENS, CACHED_LENGTH = 50_000, 50
    """The number of pre-tokens whose segmentation is cached, and their largest length."""

    @abstractmethod
    def _segment_rows(self, rows: Sequence[AtomRow]) -> list[Segmentation]:
        """Segment rows of atom ids into tokens; unknown atoms and tokens are `UNKNOWN_ID`."""

    @property
    @abstractmethod
    def trained_size(self) -> int:
        """The number of trained tokens: all ids but atoms and special tokens."""

    @property
    def numbers(self) -> Sequence[int]:
        """The ids of its tokens that are not special, in their order."""
        return range(len(self.alphabet) + self.trained_size)

    @property
    def atoms(self) -> Atoms:  # type: ignore[override]
        return self.pre_tokenizer.atoms

    @property
    def vocab_size(self) -> int:
        return len(self.alphabet) + self.trained_size + len(self.special_tokens)

    @cached_property
    def special_tokens(self) -> Mapping[str, int]:
        names = with_unknown(self.special, self.pre_tokenizer.unknown)
        return {name: i for i, name in enumerate(names, len(self.alphabet) + self.trained_size)}

    @cached_property
    def _special_names(self) -> list[str]:
        return [*self.special_tokens]

    def _special_name(self, token_id: int) -> str | None:
        place = self._checked(token_id) - len(self.alphabet) - self.trained_size
        return None if place < 0 else self._special_names[place]

    def _checked(self, token_id: int) -> int:
        if not 0 <= token_id < self.vocab_size:
            raise ValueError(
                f"{self.name} has no id {token_id}: ids range from 0 to {self.vocab_size - 1}."
            )
        return token_id

    @abstractmethod
    def at_step(self, step: int) -> TrainedTokenizer: ...

    @property
    def unknown_id(self) -> int | None:
        name = self.pre_tokenizer.unknown
        return None if name is None else self.special_tokens[name]

    @property
    def end_of_word_ids(self) -> Collection[int]:
        if self.pre_tokenizer.end_mark != "attached":
            return ()
        return [i for i, symbol in enumerate(self.alphabet) if symbol.endswith(END_OF_WORD)]

    @property
    def adds_prefix(self) -> bool:
        return self.pre_tokenizer.adds_prefix

    def is_atom(self, token_id: int) -> bool:
        return not 0 <= self._checked(token_id) - len(self.alphabet) < self.trained_size

    @abstractmethod
    def atoms_of(self, token_id: int) -> Sequence[int]:
        """Return the ids of the atoms of a token, from left to right."""

    def token_bytes(self, token_id: int) -> bytes:
        special = self._special_name(token_id)
        if special is not None:
            unknown = special == self.pre_tokenizer.unknown
            return ("\N{REPLACEMENT CHARACTER}" if unknown else special).encode()
        return b"".join(map(self._atom_bytes.__getitem__, self.atoms_of(token_id)))

    def token_label(self, token_id: int) -> str:
        special = self._special_name(token_id)
        if special is not None:
            return special
        return self.pre_tokenizer.label([self.alphabet[atom] for atom in self.atoms_of(token_id)])

    @cached_property
    def _atom_bytes(self) -> list[bytes]:
        return [self.pre_tokenizer.symbol_bytes(symbol) for symbol in self.alphabet]

    @cached_property
    def over_bytes(self) -> bool:
        """Whether the atoms are bytes and their ids are the values of the bytes."""
        plain = (
            self.pre_tokenizer.atoms == "bytes"
            and type(self.pre_tokenizer).symbols is PreTokenizer.symbols
        )
        return plain and self.alphabet == _BYTES

    @cached_property
    def _atom_id(self) -> dict[str, int]:
        return {symbol: i for i, symbol in enumerate(self.alphabet)}

    def row(self, pre_token: str) -> tuple[AtomRow, list[int]]:
        """Return the ids of a pre-token's atoms, and the bytes of the text that each covers.

        Atoms outside the alphabet have `UNKNOWN_ID`.
        """
        if self.over_bytes:
            raw = pre_token.encode()
            return tuple(raw), [1] * len(raw)
        get = self._atom_id.get
        row = tuple(get(symbol, UNKNOWN_ID) for symbol in self.pre_tokenizer.symbols(pre_token))
        return row, self.pre_tokenizer.sizes(pre_token)

    def segment(self, pre_tokens: Sequence[str]) -> dict[str, Segmentation]:
        """Return the segmentation of each distinct pre-token."""
        segmented: dict[str, Segmentation] = {}
        rows: dict[str, AtomRow] = {}
        for pre_token in dict.fromkeys(pre_tokens):
            if (known := self._segmented.get(pre_token)) is not None:
                segmented[pre_token] = known
                continue
            row, _ = self.row(pre_token)
            if self.pre_tokenizer.drops(pre_token):
                segmented[pre_token] = (DROPPED_ID,) * len(row), (1,) * len(row)
            else:
                rows[pre_token] = row
        for pre_token, tokens in zip(rows, self._segment_rows(list(rows.values())), strict=True):
            segmented[pre_token] = tokens
            if (
                len(self._segmented) < self.CACHED_PRE_TOKENS
                and len(pre_token) <= self.CACHED_LENGTH
            ):
                self._segmented[pre_token] = tokens
        return segmented

    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        pre_tokens, order, numbers = self._indexed(texts)
        rows = [*map(self.segment(pre_tokens).__getitem__, pre_tokens)]
        lengths: list[Sequence[int]] = [sizes for _, sizes in rows]
        if not self.over_bytes:
            for i, pre_token in enumerate(pre_tokens):
                before = (0, *accumulate(self.row(pre_token)[1]))
                ends = [before[end] for end in accumulate(lengths[i], initial=0)]
                lengths[i] = [end - start for start, end in pairwise(ends)]
        ids = gather_rows([ids for ids, _ in rows], order, np.int64)
        if self.unknown_id is not None:
            ids[ids == UNKNOWN_ID] = self.unknown_id
        pieces = np.stack((ids, gather_rows(lengths, order, np.int64)), 1)
        counts = np.fromiter(map(len, lengths), np.int64, len(lengths))[order]
        return pieces, np.append(0, np.cumsum(counts))[np.cumsum(numbers, dtype=np.int64)]

    def _indexed(self, texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64], list[int]]:
        """Return the distinct pre-tokens of texts, the index of each, and their number by text."""
        if len(texts) == 1:
            pre_tokens, order = self.pre_tokenizer.indexed(texts[0])
            return pre_tokens, order, [len(order)]
        each = [*map(self.pre_tokenizer.pre_tokens, texts)]
        return *indexed(chain.from_iterable(each)), [*map(len, each)]

    def atoms_in(
        self, pre_tokens: Sequence[str], order: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the id and the end in bytes of each atom of a text.

        Args:
            pre_tokens: The distinct pre-tokens.
            order: The index of each pre-token of the text. int64 [pre-tokens].
        """
        if self.over_bytes:
            raw = gather_rows([[*pre_token.encode()] for pre_token in pre_tokens], order, np.int32)
            return raw, np.arange(1, len(raw) + 1)
        rows, sizes = [], []
        for pre_token in pre_tokens:
            row, row_sizes = self.row(pre_token)
            rows.append((DROPPED_ID,) * len(row) if self.pre_tokenizer.drops(pre_token) else row)
            sizes.append(row_sizes)
        return gather_rows(rows, order, np.int32), np.cumsum(gather_rows(sizes, order, np.int64))

    def _split(
        self, text: str | Documents
    ) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
        """Split a text, cleaned first, or each document alone.

        Returns:
            The distinct pre-tokens, the index of each pre-token among them, and the number of atoms
            before each line end between documents.
        """
        pre_tokens, order, numbers = self._indexed(documents_of(text))
        if len(numbers) == 1:
            return pre_tokens, order, np.empty(0, np.int64)
        sizes = np.array([len(self.row(pre_token)[0]) for pre_token in pre_tokens], np.int64)
        before = np.append(0, np.cumsum(sizes[order]))
        return pre_tokens, order, before[np.cumsum(numbers[:-1], dtype=np.int64)]

    def normalized(self, text: str) -> Normalized:
        return self.pre_tokenizer.normalized(clean(text))

    def pre_token_ends(self, text: str) -> NDArray[np.int64]:
        _, ends = self.atoms_in(*self.pre_tokenizer.indexed(clean(text)))
        ends_in_text = np.unique(ends[self.pre_token_atom_ends(text) - 1])
        return ends_in_text[ends_in_text > 0]  # a mark at the start is a pre-token of no bytes

    def pre_token_atom_ends(self, text: str) -> NDArray[np.int64]:
        """Return the index after the last atom of each pre-token of a text. int64 [pre-tokens]."""
        pre_tokens, order = self.pre_tokenizer.indexed(clean(text))
        sizes = np.array([len(self.row(pre_token)[0]) for pre_token in pre_tokens], np.int64)
        return np.cumsum(sizes[order])


class NonMonotonicTokenizer(TrainedTokenizer):
    """A tokenizer whose merged boundaries may reappear at a later step.

    A subclass implements `timelines`, or `changes_of_rows` if a step changes little.
    """

    def timelines(self, rows: Sequence[AtomRow]) -> list[Timeline]:
        """Return the segmentations of rows of atom ids at every step.

        The last one of each row is the segmentation of this tokenizer.
        """
        raise NotImplementedError

    def changes_of_rows(self, rows: Sequence[AtomRow]) -> list[AtomChanges]:
        """Return the tokens that begin at each atom at every step, for each row of atom ids."""
        return [changes_of_timeline(timeline) for timeline in self.timelines(rows)]

    def boundaries(self, text: str | Documents) -> ChangingBoundaries:
        pre_tokens, order, breaks = self._split(text)
        drops = self.pre_tokenizer.drops
        row_of = {pre_token: self.row(pre_token)[0] for pre_token in pre_tokens}
        rows = {pre_token: row for pre_token, row in row_of.items() if not drops(pre_token)}
        changes_of = dict(zip(rows, self.changes_of_rows(list(rows.values())), strict=True))
        for pre_token, row in row_of.items():
            if pre_token not in rows:
                dropped = (-1, (DROPPED_ID,) * len(row), (1,) * len(row))
                changes_of[pre_token] = changes_of_timeline([dropped])
        atom_ids, ends = self.atoms_in(pre_tokens, order)
        rows_of_changes = [*map(changes_of.__getitem__, pre_tokens)]
        return boundaries_from_changes(
            rows_of_changes, order, ends, atom_ids, self.steps
        ).with_breaks(breaks)
