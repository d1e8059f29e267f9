"""Byte-pair encoding as the SentencePiece library trains it.

Source: Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer
and detokenizer for Neural Text Processing", 2018, arXiv:1808.06226, and the library itself, version
0.2.3, against which the tests compare this trainer.

It is BPE with these rules: a space is the character ▁ (U+2581) and begins a word; each line gets a
▁ before it (the dummy prefix); a piece has one script and at most `longest` characters
(`is_piece`); ties go to the shorter, then to the lexicographically smaller piece.

Differences from the library's defaults:

- The library normalizes (nmt_nfkc) and collapses spaces. Here nothing is normalized, as with its
  `normalization_rule_name=identity` and `remove_extra_whitespaces=false`.
- The library reads a ▁ in the text as a space. Here it is a character excluded from training.
- The library skips lines of more than 4192 bytes, and its `Encode` of several lines is one
  sentence. Here each line is a sentence, as in `spm_train` and `spm_encode`. As there, a line ends
  at a line feed, and a carriage return is a character of its line.
- When no pair is left, the library continues with pairs that no longer occur. Here training ends.
- The library has the scripts of Unicode 9, and treats later characters as Common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import ClassVar, Literal

import numpy as np
import regex

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import UNKNOWN_ID, Boundaries
from bpeviz.core.fields import InvalidFieldError
from bpeviz.core.merges import MergeTokenizer, joined
from bpeviz.core.tokenizer import AtomRow
from bpeviz.core.training import CountedPairs, MergeTraining
from bpeviz.corpus.documents import Documents
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretokenizers.pretokenizer import UNKNOWN, PreTokenizer
from bpeviz.text import Normalized, counted, id_list
from bpeviz.trainers.base import Corpus, Option, Options, Trainer
from bpeviz.trainers.bpe_loop import MergeLoop
from bpeviz.trainers.preparation import PER_ATOM, count_pre_tokens, merge_limit
from bpeviz.trainers.screen_texts import ScreenTexts, every_atom_is_a_token

SPACE = "▁"
"""The character of a space: U+2581, LOWER ONE EIGHTH BLOCK."""

YesNo = Literal["yes", "no"]
Fallback = Literal["bytes", "unk"]
"""The tokens of an unknown character: its UTF-8 bytes, or `<unk>`."""

DEFAULT_LONGEST = 16
"""Largest number of characters in a piece: the library's `max_sentencepiece_length`."""


COVERAGES = {
    "1.0": "All characters",
    "0.9995": "99.95% of the text",
    "0.99": "99% of the text",
    "0.98": "98% of the text",
}


@dataclass(frozen=True, kw_only=True)
class SentencePieceOptions(Options):
    """Options of SentencePiece's BPE; `vocab_size` counts bytes, characters and merges."""

    prefix: YesNo = Option(
        "Dummy prefix",
        "Adds a ▁ before each line, so a word looks the same there as after a space. Decoding "
        "removes it.",
        "yes",
        {"yes": "▁ before each line", "no": "None"},
    ).field()
    unknown: Fallback = Option(
        "An unknown character becomes",
        "Its UTF-8 bytes, `<0xC3>` and so on, for which the vocabulary has 256 ids; or `<unk>`, "
        "which decoding cannot undo. Line feeds are always unknown.",
        "bytes",
        {"bytes": "Bytes (byte fallback)", "unk": "<unk>"},
    ).field()
    digits: YesNo = Option(
        "Digits",
        "Split: each of 0 to 9 is a token, also after a space.",
        "no",
        {"no": "Like other characters", "yes": "Split"},
    ).field()
    coverage: str = Option(
        "Character coverage",
        "The vocabulary contains the most frequent characters that make up this share of the text; "
        "the others are unknown. The library's default is 99.95%.",
        "1.0",
        COVERAGES,
    ).field()
    longest: int = Option(
        "Longest piece",
        "The largest number of characters in a piece, ▁ included; 16 in the library.",
        DEFAULT_LONGEST,
    ).field()


def train(corpus: Corpus, options: SentencePieceOptions) -> SentencePieceTraining:
    """Train BPE as SentencePiece does. The library itself splits as the pattern "none"."""
    prefix, unknown = options.prefix, options.unknown
    pre_tokenizer = SentencePiecePreTokenizer(
        "characters", options.pattern, options.expression, "none", prefix, unknown
    )
    words: Counter[tuple[str, ...]] = Counter()
    characters: Counter[str] = Counter()
    for pre_token, count in count_pre_tokens(corpus, pre_tokenizer).items():
        # A character excluded from training has a longer symbol, and splits the word.
        symbols = groupby(pre_tokenizer.symbols(pre_token), lambda symbol: len(symbol) == 1)
        for word in (tuple(run) for is_known, run in symbols if is_known):
            words[word] += count
            for character in word:
                characters[character] += count
    alphabet = alphabet_of(covered(characters, float(options.coverage)), prefix, unknown)
    atoms = PER_ATOM["characters"]
    if unknown == "bytes":
        atoms = f"byte value and {atoms}"
    limit = merge_limit(options, len(alphabet), atoms)
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}
    rows = [
        ([atom_id[symbol] for symbol in run], count)
        for word, count in words.items()
        for is_known, run in groupby(word, atom_id.__contains__)
        if is_known
    ]
    trained, stopped = MergeLoop(
        rows,
        alphabet,
        limit,
        ties="shortest",
        allowed=lambda piece: is_piece(piece, options.longest, options.digits),
    ).train()
    return SentencePieceTraining(
        *("sentencepiece", pre_tokenizer, alphabet, stopped, options.special_tokens),
        *(tuple(trained), options.longest, options.digits),
    )


def is_piece(piece: str, longest: int = DEFAULT_LONGEST, digits: YesNo = "no") -> bool:
    """Return whether characters may become one piece.

    A piece has ▁ only at its start, one script, at most `longest` characters and, where digits are
    split, a digit only by itself. A combining mark has the script of the character before it.

    >>> is_piece("▁word"), is_piece("word▁"), is_piece("don't"), is_piece("▁12", digits="yes")
    (True, False, False, False)
    """
    if len(piece) > longest:
        return False
    previous = ""
    for position, character in enumerate(piece):
        if character == SPACE:
            if position:
                return False
            continue
        if digits == "yes" and len(piece) > 1 and character in DIGITS:
            return False
        current = script(character)
        if current == _INHERITED:
            continue
        if previous not in ("", current):
            return False
        previous = current
    return True


def covered(characters: Counter[str], coverage: float) -> list[str]:
    """Return the most frequent characters, until their total count is this share of the text.

    Ties go to the smaller code point. The library computes the share in single precision.
    """
    total = characters.total()
    so_far = 0
    most_frequent: list[str] = []
    for character, count in sorted(characters.items(), key=lambda item: (-item[1], item[0])):
        if np.float32(so_far / total) >= np.float32(coverage):
            break
        so_far += count
        most_frequent.append(character)
    return most_frequent


def alphabet_of(
    characters: Iterable[str], prefix: YesNo = "yes", fallback: Fallback = "bytes"
) -> tuple[str, ...]:
    """Return the symbols of the atoms: the bytes, if they are the fallback, and the characters."""
    known = {*characters} | ({SPACE} if prefix == "yes" else set())
    return (*(BYTES if fallback == "bytes" else ()), *sorted(known))


# --- Scripts -------------------------------------------------------------------------------------

DIGITS = frozenset("0123456789０１２３４５６７８９")
"""The characters that `split_digits` treats as digits."""

# The scripts in the library's table, the most frequent first, since they are tried in order.
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


@lru_cache(maxsize=30_000)  # more characters than most texts have
def script(character: str) -> str:
    """Return the script of a character in the library's table; digits and punctuation are Common.

    >>> script("é"), script("7"), script("か"), script("\N{COMBINING ACUTE ACCENT}")
    ('Latin', 'Common', 'Han', 'Inherited')
    """
    match = _scripts().match(character)
    if match is None or match.lastindex is None:
        return "Common"
    name = _SCRIPTS[match.lastindex - 1]
    # The long vowel sign ー is Common in Unicode, since both kana use it.
    return "Han" if name in ("Hiragana", "Katakana") or character == "ー" else name


# --- Tokenizer and training history --------------------------------------------------------------

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The names of the bytes, as the library writes them."""

# Excluded from training: line feeds, the library's reserved characters (NUL, U+001F, U+2585), and a
# ▁ in the text, which is not a space.
_NEVER = frozenset("\n\0\x1f▅▁")
# The dummy prefix within a pre-token: a lone surrogate, which no cleaned text contains.
_PREFIX = "\ud800"
_WORDS = regex.compile(r"\n| [^ \n]*+|[^ \n]++")
_DUMMY = regex.compile(rb"(?<![^\n]) ")  # a space at the start of a line


@dataclass(frozen=True)
class SentencePiecePreTokenizer(PreTokenizer):
    """Splits lines into words and words into characters, with ▁ for a space.

    The pattern splits the text first; with "none", only the library's rules apply.

    Attributes:
        prefix: Whether each line begins with a ▁ that is not in the text (the dummy prefix).
        fallback: The tokens of an unknown character.
    """

    atoms: Literal["characters"] = "characters"
    kind: ClassVar[str] = "sentencepiece"
    marks_spaces: ClassVar[bool] = True

    prefix: YesNo = "yes"
    fallback: Fallback = "bytes"

    @property
    def unknown(self) -> str | None:
        return UNKNOWN if self.fallback == "unk" else None

    @property
    def adds_prefix(self) -> bool:
        return self.prefix == "yes"

    def pre_tokens(self, text: str) -> list[str]:
        """Split a text into words, each with the space before it, and line ends.

        The dummy prefix is a lone surrogate at the start of a line's first pre-token.
        """
        pre_tokens: list[str] = []
        start = self.prefix == "yes"
        for piece in pretokenize(text, self.pattern, self.expression):
            for word in _WORDS.findall(piece):
                if word == "\n":
                    start = self.prefix == "yes"
                elif start:
                    start = False
                    if word[0] == " ":
                        pre_tokens.append(_PREFIX)
                    else:
                        word = _PREFIX + word
                pre_tokens.append(word)
        return pre_tokens

    def normalized(self, text: str) -> Normalized:
        atoms: list[str] = []
        prefix = ""
        for character in "".join(self.pre_tokens(text)):
            if character == _PREFIX:
                prefix = SPACE
                continue
            atoms.append(prefix + (SPACE if character == " " else character))
            prefix = ""
        return Normalized.of(atoms)

    def _atoms(self, pre_token: str) -> Iterator[tuple[str, int]]:
        """Yield the symbol of each atom with its size in bytes of the text."""
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
        """Yield the atoms of a character that is not in the vocabulary."""
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


@dataclass(frozen=True, repr=False)
class SentencePieceTokenizer(MergeTokenizer, encodes_by_merges=True):
    """Applies merges to characters, with ▁ for a space, and bytes or `<unk>` for unknown ones.

    Ids are dense, in this order: the 256 bytes (with byte fallback), the characters in code point
    order, the merges, `<unk>` (without it), the special tokens. With byte fallback, decoding
    returns every Unicode text unchanged. It removes the dummy prefix, one space at the start of
    each line.

    The library looks up the merged piece of two neighbors, and this tokenizer the pair. Both find
    the same tokens, since a piece between two boundaries always consists of the same two parts.
    """

    pre_tokenizer: SentencePiecePreTokenizer

    kind: ClassVar[str] = "sentencepiece"

    def check_fields(self) -> None:
        characters = self.alphabet
        if self.pre_tokenizer.fallback == "bytes":
            characters = self.alphabet[len(BYTES) :]
            if self.alphabet[: len(BYTES)] != BYTES:
                raise InvalidFieldError(
                    "alphabet",
                    "expected the 256 bytes first, since unknown characters become bytes",
                )
        if any(len(symbol) > 1 for symbol in characters):
            reason = "a symbol other than a byte must be one character"
            raise InvalidFieldError("alphabet", reason)

    def row(self, pre_token: str) -> tuple[AtomRow, list[int]]:
        ids: list[int] = []
        sizes: list[int] = []
        get = self._atom_id.get
        for symbol, size in self.pre_tokenizer._atoms(pre_token):
            atom = get(symbol, UNKNOWN_ID)
            if atom != UNKNOWN_ID:
                ids.append(atom)
                sizes.append(size)
            elif self.pre_tokenizer.fallback == "bytes":
                # A space is unknown if no line has a prefix and the training text has no space.
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
        # Each text between special tokens was encoded alone, with its own prefix.
        decoded = []
        for special, part in groupby(id_list(ids), self._is_special):
            raw = super().decode_bytes(part)
            decoded.append(raw if special else _DUMMY.sub(b"", raw))
        return b"".join(decoded)


@dataclass(frozen=True, repr=False)
class SentencePieceTraining(MergeTraining):
    """Training history of SentencePiece's BPE.

    Attributes:
        longest: Largest number of characters in a piece.
        digits: Whether each digit is a token.
    """

    pre_tokenizer: SentencePiecePreTokenizer
    longest: int = DEFAULT_LONGEST
    digits: YesNo = "no"

    def merger(self, step: int) -> SentencePieceTokenizer:
        return self.first_merges(SentencePieceTokenizer, step)

    @property
    def n_bytes(self) -> int:
        """Number of atoms that are bytes; their ids come first."""
        return len(BYTES) if self.pre_tokenizer.fallback == "bytes" else 0

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The piece of each id, as the library writes it."""
        return tuple(joined(self.alphabet, self.merges))

    def _may_join(self, left: int, right: int) -> bool:
        if min(left, right) < self.n_bytes:  # bytes are only a fallback, and never merged
            return False
        return is_piece(self.pieces[left] + self.pieces[right], self.longest, self.digits)

    def pairs(self, text: str | Documents, boundaries: Boundaries, step: int) -> CountedPairs:
        counted = super().pairs(text, boundaries, step)
        pairs = ((key >> 32, key & 0xFFFFFFFF) for key in counted.keys.tolist())
        allowed = np.array([self._may_join(*pair) for pair in pairs], np.bool_)
        return CountedPairs(counted.keys[allowed], counted.counts[allowed], counted.tokens)


# --- On screen -----------------------------------------------------------------------------------


def _beginning(training: SentencePieceTraining) -> str:
    if not training.n_bytes:
        return every_atom_is_a_token("characters")
    return "At first, every letter is a token (of an unknown one, every byte)."


def _vocabulary(training: SentencePieceTraining, step: int) -> str:
    characters = len(training.alphabet) - training.n_bytes
    kinds = [f"{training.n_bytes} bytes"] if training.n_bytes else []
    return " + ".join([*kinds, counted(characters, "character"), counted(step, "merge")])


TRAINER = Trainer(
    key="sentencepiece",
    title="SentencePiece-style BPE",
    short="SentencePiece BPE",
    rule="join the most frequent pair, with ▁ in place of spaces",
    gist="▁ for spaces",
    about="BPE as in the SentencePiece library, exactly so with the pre-tokenization “None”. It "
    "writes ▁ for a space, and each piece has one script. Ties go to the shorter piece, then to "
    "the lexicographically smaller. Nothing is normalized; by default, the library applies "
    "nmt_nfkc and collapses spaces.",
    source="Kudo and Richardson 2018, arXiv:1808.06226; the library, version 0.2.3",
    train=train,
    saved=(SentencePieceTokenizer, SentencePiecePreTokenizer),
    declares=SentencePieceOptions,
    texts=ScreenTexts(
        beginning=_beginning,
        vocabulary=_vocabulary,
    ),
)
