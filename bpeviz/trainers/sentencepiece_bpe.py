"""Byte-pair encoding as the SentencePiece library learns it.

Source: Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer
and detokenizer for Neural Text Processing", 2018, arXiv:1808.06226, and the library itself, whose
version 0.2.3 the tests hold this trainer against.

SentencePiece is a library, not an algorithm: it has BPE, unigram, character and word models. What
is its own in BPE stands here:

- A space is a character, written ▁ (U+2581), and begins a word. No piece reaches over the start
  of a word, so ▁ comes first in a piece or not at all.
- A text is learnt from and encoded line by line, as `spm_train` and `spm_encode` read it: a line
  is a sentence, and one ▁ that is no text (the dummy prefix) is put before it, so that a word
  looks the same at its start as elsewhere. (`SentencePieceProcessor.Encode` of a text of several
  lines takes it as one sentence.) What ends a line is never learnt from.
- A piece is of one script (Han, Hiragana and Katakana count as one; a combining mark goes with
  what is before it), has at most `longest` characters, and, where digits are split, holds a digit
  only by itself. Digits and punctuation marks are one script: Common.
- Among equally frequent pairs, the one that makes the shorter piece is taken, then the
  lexicographically smaller one, by code points.
- A character that was never learnt from, or is so rare that it was left out (`coverage`), becomes
  its UTF-8 bytes, `<0xC3>` and so on, or `<unk>`: a run of such characters is one `<unk>`.

The library encodes by looking up what two neighbors would be *together*, best rank first, and
this tokenizer by the pair. Both find the same. What becomes of a stretch of text while both its
edges stand depends on that stretch alone. When a piece was learnt it was made of two certain
parts, so while it stretches from edge to edge no others can ever stand there side by side.

What the library does beyond that, and this trainer does not: by default it normalizes (nmt_nfkc)
and collapses spaces, so that `hello   world` comes back as `hello world`. Here nothing is
normalized, as with its `normalization_rule_name=identity` and `remove_extra_whitespaces=false`.
It takes a ▁ in the text for a space; here that is a character never learnt from. It passes over
lines of more than 4192 bytes. Where no pair is left, it goes on with pairs that no longer stand
anywhere; here learning ends. It knows the scripts of Unicode 9, and takes for Common what came
later; here a later character of one of those scripts has its script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from typing import Any, Literal, cast

import numpy as np
import regex

from bpeviz.core.boundaries import UNKNOWN_ID, Boundaries
from bpeviz.core.merges import Merge, MergeTokenizer, apply_merges
from bpeviz.core.tokenizer import Row
from bpeviz.core.training import MergeTraining, Pairs
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretokenizers.pretokenizer import UNKNOWN, Atoms, PreTokenizer
from bpeviz.trainers.base import Corpus, Option, Trainer, collector_off
from bpeviz.trainers.bpe import merge_limit, train_merges, weighted_pre_tokens
from bpeviz.trainers.screen import Texts, counted, every_atom_is_a_token

SPACE = "▁"
"""How a space is written: U+2581, LOWER ONE EIGHTH BLOCK."""

Choice = Literal["yes", "no"]
Fallback = Literal["bytes", "unk"]
"""What becomes of an unknown character: its UTF-8 bytes, or `<unk>`."""

LONGEST = 16
"""How many characters a piece may have: the library's `max_sentencepiece_length`."""

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The names of the bytes, as the library writes them."""

DIGITS = frozenset("0123456789０１２３４５６７８９")
"""What `split_digits` takes for a digit."""

# What is never learnt from: the ends of lines; what the library keeps for itself (NUL, U+001F and
# U+2585); and a ▁ that stands in the text, since it is not a space.
_NEVER = frozenset("\n\r\0\x1f▅▁")
# The dummy prefix within a pre-token: a lone surrogate, which no cleaned text holds.
_PREFIX = "\ud800"
_WORDS = regex.compile(r"[\r\n]| [^ \r\n]*+|[^ \r\n]++")
_DUMMY = regex.compile(rb"(?<![^\r\n]) ")  # a space at the start of a line

# The scripts that the library's table knows; the most frequent first, since they are tried in turn.
_SCRIPTS = regex.findall(
    r"\w+",
    """
Latin Common Han Inherited Cyrillic Greek Arabic Hebrew Devanagari Hangul Hiragana Katakana Thai
Bengali Tamil Telugu Kannada Malayalam Gujarati Gurmukhi Oriya Sinhala Armenian Georgian Ethiopic
Khmer Lao Myanmar Tibetan Mongolian Syriac Thaana Cherokee Bopomofo Yi Nko Tifinagh Coptic Braille
Adlam Ahom Anatolian_Hieroglyphs Avestan Balinese Bamum Bassa_Vah Batak Bhaiksuki Brahmi Buginese
Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cuneiform Cypriot Deseret Duployan
Egyptian_Hieroglyphs Elbasan Glagolitic Gothic Grantha Hanunoo Hatran Imperial_Aramaic
Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kayah_Li Kharoshthi Khojki Khudawadi
Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Mandaic Manichaean Marchen Meetei_Mayek
Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mro Multani Nabataean Newa
New_Tai_Lue Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian
Old_South_Arabian Old_Turkic Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician
Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sora_Sompeng
Sundanese Syloti_Nagri Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tangut Tirhuta Ugaritic Vai
Warang_Citi
""",
)
_INHERITED = "Inherited"


@cache
def _scripts() -> regex.Pattern[str]:
    return regex.compile("|".join(rf"(\p{{Script={script}}})" for script in _SCRIPTS))


@cache
def script(character: str) -> str:
    """Return the script of a character, as the library reads it.

    >>> script("é"), script("7"), script("か"), script("\N{COMBINING ACUTE ACCENT}")
    ('Latin', 'Common', 'Han', 'Inherited')
    """
    match = _scripts().match(character)
    if match is None or match.lastindex is None:
        return "Common"
    name = _SCRIPTS[match.lastindex - 1]
    # The long vowel sign ー is Common in Unicode, since both kana use it.
    return "Han" if name in ("Hiragana", "Katakana") or character == "ー" else name


def is_piece(piece: str, longest: int = LONGEST, digits: Choice = "no") -> bool:
    """Tell whether characters may become one piece.

    >>> is_piece("▁word"), is_piece("word▁"), is_piece("don't"), is_piece("▁12", digits="yes")
    (True, False, False, False)
    """
    if len(piece) > longest:
        return False
    before = ""
    for place, character in enumerate(piece):
        if character == SPACE:
            if place:
                return False
            continue
        if digits == "yes" and len(piece) > 1 and character in DIGITS:
            return False
        now = script(character)
        if now == _INHERITED:
            continue
        if before not in ("", now):
            return False
        before = now
    return True


@dataclass(frozen=True)
class SentencePiecePreTokenizer(PreTokenizer):
    """Lines into words and words into characters, with ▁ for a space.

    The named split, or the user's own, comes first: what it parts stays apart. "none" leaves
    it to the library's rules alone. prefix: whether a ▁ that is no text begins each line.
    """

    atoms: Atoms = "characters"
    prefix: Choice = "yes"
    fallback: Fallback = "bytes"

    @property
    def unknown(self) -> str | None:
        return UNKNOWN if self.fallback == "unk" else None

    @property
    def adds_prefix(self) -> bool:
        return self.prefix == "yes"

    def pre_tokens(self, text: str) -> list[str]:
        """Segment a text into words, each with the space before it; the ends of lines stand alone.

        The dummy prefix is a lone surrogate at the start of a line's first pre-token.
        """
        pre_tokens: list[str] = []
        start = self.prefix == "yes"
        for piece in pretokenize(text, self.pattern, self.expression):
            for word in _WORDS.findall(piece):
                if word in "\r\n":
                    start = self.prefix == "yes"
                elif start:
                    start = False
                    if word[0] == " ":
                        pre_tokens.append(_PREFIX)
                    else:
                        word = _PREFIX + word
                pre_tokens.append(word)
        return pre_tokens

    def _atoms(self, pre_token: str) -> Iterator[tuple[str, int]]:
        """Yield the symbol of each atom, and how many bytes of the text it stands for."""
        for character in pre_token:
            if character == _PREFIX:
                yield SPACE, 0
            elif character == " ":
                yield SPACE, 1
            elif character in _NEVER:
                yield from self.unknown_atoms(character)
            else:
                yield character, len(character.encode())

    def unknown_atoms(self, character: str) -> Iterator[tuple[str, int]]:
        """Yield the same for a character that is not in the vocabulary."""
        raw = character.encode()
        if self.fallback == "unk":
            yield UNKNOWN, len(raw)
        else:
            yield from ((BYTES[byte], 1) for byte in raw)

    def symbols(self, pre_token: str) -> list[str]:
        return [symbol for symbol, _ in self._atoms(pre_token)]

    def sizes(self, pre_token: str) -> list[int]:
        return [size for _, size in self._atoms(pre_token)]

    def symbol_bytes(self, symbol: str) -> bytes:
        if symbol == SPACE:
            return b" "
        return bytes([int(symbol[1:-1], 16)]) if len(symbol) > 1 else symbol.encode()


@dataclass(frozen=True)
class SentencePieceTokenizer(MergeTokenizer, encodes_by_merges=True):
    """A tokenizer with ▁ for a space, and bytes or `<unk>` for what it does not know.

    Ids are dense: first the 256 bytes, where there is byte fallback, then the characters in the
    order of their code points, then one for each merge, then `<unk>`, where there is none, then
    the special tokens.

    With byte fallback, decoding returns every Unicode text unchanged: the dummy prefix is taken
    off, as one space at the start of each line.
    """

    pre_tokenizer: SentencePiecePreTokenizer

    def row(self, pre_token: str) -> tuple[Row, list[int]]:
        ids: list[int] = []
        sizes: list[int] = []
        get = self._atom_id.get
        for symbol, size in self.pre_tokenizer._atoms(pre_token):
            atom = get(symbol, UNKNOWN_ID)
            if atom != UNKNOWN_ID:
                ids.append(atom)
                sizes.append(size)
            elif self.pre_tokenizer.fallback == "bytes":
                # A space is unknown where no line has a prefix and no space was learnt from.
                for byte, length in self.pre_tokenizer.unknown_atoms(symbol.replace(SPACE, " ")):
                    ids.append(self._atom_id[byte])
                    sizes.append(length)
            elif ids and ids[-1] == UNKNOWN_ID:  # a run of unknown characters is one token
                sizes[-1] += size
            else:
                ids.append(UNKNOWN_ID)
                sizes.append(size)
        return tuple(ids), sizes

    def _is_special(self, token_id: int) -> bool:
        return self._special_name(token_id) not in (None, self.pre_tokenizer.unknown)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        if self.pre_tokenizer.prefix == "no":
            return super().decode_bytes(ids)
        # What stands between special tokens was encoded by itself, each with its prefix.
        decoded = []
        for special, part in groupby(ids, self._is_special):
            raw = super().decode_bytes(part)
            decoded.append(raw if special else _DUMMY.sub(b"", raw))
        return b"".join(decoded)


@dataclass(frozen=True)
class SentencePieceTraining(MergeTraining):
    """What was learnt, with what a piece may be: its greatest length, and whether of digits."""

    pre_tokenizer: SentencePiecePreTokenizer
    longest: int = LONGEST
    digits: Choice = "no"

    def merger(self, step: int) -> SentencePieceTokenizer:
        return SentencePieceTokenizer(
            self.algorithm,
            self.pre_tokenizer,
            self.alphabet,
            self.merges[:step],
            special=self.special,
        )

    @property
    def n_bytes(self) -> int:
        """Number of atoms that are bytes; their ids come first."""
        return len(BYTES) if self.pre_tokenizer.fallback == "bytes" else 0

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """What each id stands for, as the library writes it."""
        pieces = [*self.alphabet]
        for merge in self.merges:
            pieces.append(pieces[merge.left] + pieces[merge.right])
        return tuple(pieces)

    def _may_join(self, left: int, right: int) -> bool:
        if min(left, right) < self.n_bytes:  # bytes are what is left over: they are never merged
            return False
        return is_piece(self.pieces[left] + self.pieces[right], self.longest, self.digits)

    def pairs(self, text: str, boundaries: Boundaries, step: int) -> Pairs:
        found = super().pairs(text, boundaries, step)
        may = [self._may_join(key >> 32, key & 0xFFFFFFFF) for key in found.keys.tolist()]
        kept = np.array(may, np.bool_)
        return Pairs(found.keys[kept], found.counts[kept], found.tokens)


def covered(characters: Counter[str], coverage: float) -> list[str]:
    """Return the most frequent characters that together make up this share of the text.

    Among equally frequent ones those of the smaller code points come first. The library computes
    the share in single precision.
    """
    total = characters.total()
    so_far = 0
    kept: list[str] = []
    for character, times in sorted(characters.items(), key=lambda item: (-item[1], item[0])):
        if np.float32(so_far / total) >= np.float32(coverage):
            break
        so_far += times
        kept.append(character)
    return kept


def alphabet_of(
    characters: Iterable[str], prefix: Choice = "yes", fallback: Fallback = "bytes"
) -> tuple[str, ...]:
    """Return the symbols of the atoms: the bytes, where there is fallback, and the characters.

    A ▁ that begins every line must not be unknown.
    """
    known = {*characters} | ({SPACE} if prefix == "yes" else set())
    return (*(BYTES if fallback == "bytes" else ()), *sorted(known))


def from_pieces(
    pieces: Sequence[str],
    *,
    prefix: Choice = "yes",
    fallback: Fallback = "bytes",
    pattern: str = "none",
    expression: str = "",
) -> SentencePieceTokenizer:
    """Return the tokenizer of a vocabulary of the library's: its pieces, the best rank first.

    Those of one character are the atoms. Raises `ValueError` where a piece cannot be made of two
    earlier ones, as none can be that the library learnt.
    """
    pre_tokenizer = SentencePiecePreTokenizer(
        "characters", pattern, expression, "none", prefix, fallback
    )
    alphabet = alphabet_of((piece for piece in pieces if len(piece) == 1), prefix, fallback)
    ids = {symbol: i for i, symbol in enumerate(alphabet)}
    rank: dict[tuple[int, int], int] = {}
    merges: list[Merge] = []
    for piece in pieces:
        if len(piece) == 1:
            continue
        new = len(alphabet) + len(merges)
        parts = apply_merges([ids.get(character, UNKNOWN_ID) for character in piece], rank)
        if len(parts) != 2 or UNKNOWN_ID in parts:
            raise ValueError(f"The piece {piece!r} cannot be made of two earlier pieces.")
        rank[parts[0], parts[1]] = new
        merges.append(Merge(parts[0], parts[1], new, 0, 0, 0))
    return SentencePieceTokenizer("sentencepiece", pre_tokenizer, alphabet, tuple(merges))


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    prefix: Choice = "yes",
    unknown: Fallback = "bytes",
    digits: Choice = "no",
    coverage: str = "1.0",
    longest: int = LONGEST,
) -> SentencePieceTraining:
    """Learn pieces from a text, or from sentences with counts, as SentencePiece does in BPE.

    vocab_size counts bytes, characters and merges; give it or `merges`, not both. The library
    splits as the pattern "none" does; any other comes on top. Raises `ValueError`, whose message
    is a sentence, for values that make no sense, and `SplitError` (one of them) for a bad split.
    """
    if prefix not in ("yes", "no"):
        raise ValueError(f"A dummy prefix is there or not: take yes or no, not {prefix!r}.")
    if unknown not in ("bytes", "unk"):
        raise ValueError(f"What is unknown becomes bytes or unk, not {unknown!r}.")
    if digits not in ("yes", "no"):
        raise ValueError(f"Digits are split or not: take yes or no, not {digits!r}.")
    if coverage not in COVERAGES:
        raise ValueError(f"The coverage must be one of {', '.join(COVERAGES)}, not {coverage!r}.")
    if longest < 1:
        raise ValueError(f"The longest piece must have 1 character or more, not {longest}.")
    if len({*special_tokens}) < len(special_tokens) or {"", UNKNOWN} & {*special_tokens}:
        raise ValueError(f"Special tokens must differ, and be neither empty nor {UNKNOWN}.")
    pre_tokenizer = SentencePiecePreTokenizer(
        "characters", pattern, expression, "none", prefix, unknown
    )
    pre_tokens = weighted_pre_tokens(corpus, pre_tokenizer)
    words: Counter[tuple[str, ...]] = Counter()
    characters: Counter[str] = Counter()
    for pre_token, times in pre_tokens.items():
        symbols = pre_tokenizer.symbols(pre_token)
        # What is never learnt from parts a word; a character's name has one character.
        for known, run in groupby(symbols, lambda symbol: len(symbol) == 1):
            if known:
                word = tuple(run)
                words[word] += times
                for character in word:
                    characters[character] += times
    alphabet = alphabet_of(covered(characters, float(coverage)), prefix, unknown)
    kind = "bytes and characters" if unknown == "bytes" else "characters"
    limit = merge_limit(vocab_size, merges, len(alphabet), kind)
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}
    rows = [
        ([atom_id[symbol] for symbol in run], times)
        for word, times in words.items()
        for known, run in groupby(word, atom_id.__contains__)
        if known
    ]
    with collector_off():
        learnt, stopped = train_merges(
            rows,
            alphabet,
            limit,
            ties="shortest",
            allowed=lambda piece: is_piece(piece, longest, digits),
        )
    return SentencePieceTraining(
        "sentencepiece",
        pre_tokenizer,
        alphabet,
        stopped,
        special_tokens,
        tuple(learnt),
        longest,
        digits,
    )


COVERAGES = {
    "1.0": "All characters",
    "0.9995": "99.95 % of the text",
    "0.99": "99 % of the text",
    "0.98": "98 % of the text",
}


def _beginning(training: SentencePieceTraining) -> str:
    if not training.n_bytes:
        return every_atom_is_a_token(training)
    return (
        "Nothing is merged yet: every character is a token, and so is every byte of an unknown one."
    )


def _vocabulary(training: SentencePieceTraining, step: int) -> str:
    characters = len(training.alphabet) - training.n_bytes
    kinds = [f"{training.n_bytes} bytes"] if training.n_bytes else []
    return " + ".join([*kinds, counted(characters, "character"), counted(step, "merge")])


TRAINER = Trainer(
    key="sentencepiece",
    title="SentencePiece-style BPE",
    short="SentencePiece BPE",
    about="BPE as in the SentencePiece library (for just that, split by “None”): ▁ for a space, "
    "pieces of one script, ties go to the shorter piece, then to the lexicographically smaller. "
    "Nothing is normalized; the library, by default, applies nmt_nfkc and collapses spaces.",
    source="Kudo and Richardson 2018, arXiv:1808.06226; the library, version 0.2.3",
    train=cast(Any, train),
    options=(
        Option(
            "prefix",
            "Dummy prefix",
            "Puts one ▁ that is no text before each line, so that a word looks the same there as "
            "behind a space. Decoding takes it off.",
            "yes",
            {"yes": "▁ before each line", "no": "None"},
        ),
        Option(
            "unknown",
            "An unknown character becomes",
            "Its UTF-8 bytes, written `<0xC3>` and so on, for which the vocabulary keeps 256 ids; "
            "or `<unk>`, from which there is no way back. The ends of lines are always unknown.",
            "bytes",
            {"bytes": "Bytes (byte fallback)", "unk": "<unk>"},
        ),
        Option(
            "digits",
            "Digits",
            "Split: each of 0 to 9 is a token of its own, also behind a space.",
            "no",
            {"no": "As other characters", "yes": "Split"},
        ),
        Option(
            "coverage",
            "Characters learnt from",
            "The most frequent characters that make up this share of the text; the others are left "
            "out of the vocabulary and are unknown. The library's own default is 99.95 %.",
            "1.0",
            COVERAGES,
        ),
        Option(
            "longest",
            "Longest piece",
            "How many characters a piece may have, ▁ included; 16 in the library.",
            LONGEST,
        ),
    ),
    texts=Texts(beginning=_beginning, vocabulary=_vocabulary),
)
