"""Compare a written file with its tokenizer: it is read back, and encodes difficult texts.

A file is offered only where all ids are the same, and so are the bytes of its tokens and the
decoded texts. Where the library of its format applies it, as with a user's own regular expression,
these ids are its own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby

import numpy as np
import regex

from bpeviz.core.tokenizer import Encoded, Tokenizer, TrainedTokenizer
from bpeviz.corpus.samples import SAMPLES
from bpeviz.formats.base import TransientError, UnsupportedError, of_latest
from bpeviz.formats.parsing import quoted
from bpeviz.libraries import worker
from bpeviz.libraries.pool import File, ask
from bpeviz.pretokenizers.patterns import CUSTOM

EncodeBatch = Callable[[Sequence[str]], list[list[int]]]
"""A function that returns the ids of each text."""

_BATCH = 64
"""Texts in a request to a library: each costs more than its texts, and none may take too long."""

_SHORT = (
    *("", " ", "  ", "a", " a", "a ", "\n", "\n\n", " \n", "\n a", "é", "👍", "\0"),
    "  two  three   four    spaces     ",
    "\t\ttabs\tand \t spaces\t",
    "one\ntwo\n\nfour\n\n\n x\r\nWindows\r\n\r\nold\rMacintosh\r\r",
    " \n \r\n  \n\t\n x\x0b\x0c\x1c\x1f\x85\u2028\u2029",
    "no-break\u00a0space\u202fnarrow\u2009thin\u3000wide zero\u200bwidth\u2060joined\ufeffmark",
    "don't can't we've I'll you're she'd it's DON'T CAN'T WE'VE I'LL YOU'RE SHE'D IT'S I'M",
    "’s ‘quoted’ “quoted” ''s '' ' 'x 's't're've'm'll'd 'ſ 'K",
    "state-of-the-art snake_case CamelCase HTTPServer2Go iPhone15s U.S.A. e.g. 3.50 … Mr. Smith?!",
    "0 12 345 6789 01234567890123456789 1,234,567.89 $12.40 ½ ² ³ ₄ Ⅷ ٠١٢ ०१२ 〇一二 １２３",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ### @@ </w> low</w> ▁ ▁the Ġ Ġt Ċ ##a",
    "<|endoftext|> <unk> [UNK] [CLS] <s> </s> <pad> <0x41> <|im_start|>user\nhi<|im_end|>",
    "cafe\u0301 nai\u0308ve Z\u0351\u036b\u0343a\u0323\u0301l\u0334 \u0301 \u20e3 1\ufe0f\u20e3",
    "İstanbul ılık Straße STRASSE ẞ ﬁ ﬂ ﬀ ﬆ ǆ ǅ Ὀδυσσεύς σς ΟΔΥΣΣΕΥΣ",
    "👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🇩🇪🇫🇷 \u200d ☃️ 😀😃😄 𝕳𝖊 𝟘 𠀀 \U0010ffff \ue000 \ufffd",
    "a" * 300,
    "ab" * 200,
    " " * 200 + "x" + "\n" * 70,
    "x" * 128 + "y" + "x" * 129,
    "漢字" * 60 + "." * 150 + "!?" * 30,
)


@cache
def texts() -> tuple[str, ...]:
    """Return texts that are difficult to split and to encode.

    Of each kind of character, only those are included that Unicode has had since version 3.2: each
    library has its own tables.
    """
    old = unicodedata.ucd_3_2_0
    characters = [
        character
        for character in map(chr, range(0x10000))
        if old.category(character) not in ("Cn", "Co", "Cs")
        and old.category(character) == unicodedata.category(character)
        and not "\u3400" <= character <= "\ud7ff"
    ]
    rows = [characters[i : i + 400] for i in range(0, len(characters), 400)]
    every = [separator.join(row) for row in rows for separator in ("", " ", "a")]
    return (*_SHORT, *(sample.text for sample in SAMPLES), *every)


def _of_vocabulary(tokenizer: Tokenizer, *, by_line: bool) -> list[str]:
    """Return texts of the tokens themselves, so that merges cross all that an expression splits."""
    special = {*tokenizer.special_tokens.values()}
    ids = [token_id for token_id in tokenizer.known_ids() if token_id not in special]
    chosen = ids[:: max(1, len(ids) // 4_000)]
    tokens = [tokenizer.token_bytes(token_id).decode(errors="ignore") for token_id in chosen]
    rows = [tokens[i : i + 500] for i in range(0, len(tokens), 500)]
    return [separator.join(row) for row in rows for separator in ("", " ", "\n")[: 3 - by_line]]


def encoder(library: str, content: bytes) -> EncodeBatch:
    """Return the function that encodes texts with a library in a child process.

    Args:
        library: a constant of `worker`.
        content: the file of the library. It is loaded with the first texts.
    """
    file = File(library, content)

    def encode_batch(texts: Sequence[str]) -> list[list[int]]:
        answer = ask(file, worker.IDS, worker.END_OF_TEXT.join(text.encode() for text in texts))
        counts, ids = np.split(np.frombuffer(answer, np.int32), [len(texts)])
        return Encoded(ids, np.cumsum(counts, dtype=np.int64)).lists()

    return encode_batch


def check(tokenizer: Tokenizer, encode_batch: EncodeBatch, *, by_line: bool = False) -> None:
    """Compare the ids of a tokenizer with those of a written file.

    Args:
        tokenizer: the tokenizer.
        encode_batch: returns the ids of texts by the written file.
        by_line: whether only lines without ▁ are compared, in which the library of the format may
            have one token for several unknown characters, as SentencePiece.

    Raises:
        UnsupportedError: they differ, or a library refuses the file or a text.
        TransientError: a library, or an expression, takes too long.
    """
    unknown = tokenizer.unknown_id if by_line else None
    try:
        for batch, ids in _compared(tokenizer, by_line):
            for text, there, here in zip(batch, encode_batch(batch), ids, strict=True):
                if _joined(there, unknown) != _joined(here, unknown):
                    raise UnsupportedError(
                        f"the written file would encode some texts with other ids, such as "
                        f"{quoted(text)}"
                    )
    except ValueError as error:  # of a library, or of an expression
        raise refused(error) from None


_Batches = list[tuple[list[str], list[list[int]]]]
"""Batches of texts, with the ids of each text."""


@of_latest
def _compared(tokenizer: Tokenizer, by_line: bool) -> _Batches:
    """Return the texts for a tokenizer with their ids. by_line: see `check`."""
    dense = tokenizer.with_dense_ids
    is_known = isinstance(dense, TrainedTokenizer) and dense.pre_tokenizer.pattern != CUSTOM
    compared = [
        *(_SHORT if is_known or by_line else texts()),
        *_of_vocabulary(tokenizer, by_line=by_line),
    ]
    if by_line:
        compared = [part for text in compared for part in _PART.findall(text)]
    compared = [*dict.fromkeys(compared)]
    batches = [compared[i : i + _BATCH] for i in range(0, len(compared), _BATCH)]
    return [(batch, tokenizer.encode_batch(batch)) for batch in batches]


_PART = regex.compile(r"[^\n▁]{1,128}+")
"""A part of a text that SentencePiece encodes as bpeviz does: of one line, and not too long."""


def _joined(ids: list[int], unknown: int | None) -> list[int]:
    """Return ids with one unknown token instead of several neighbors, unless `unknown` is None."""
    if unknown is None:
        return ids
    return [i for i, run in groupby(ids) for _ in (range(1) if i == unknown else run)]


def refused(error: ValueError) -> UnsupportedError:
    """Return why a file cannot be compared: because of it, or because the machine is busy."""
    reason = str(error).partition(". ")[0].rstrip(".")
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (TimeoutError, TransientError)):  # the machine may be busy
            return TransientError(f"{reason.removesuffix('. Try again')}. Try again")
        cause = cause.__cause__
    return UnsupportedError(reason)


def check_written(tokenizer: Tokenizer, back: Tokenizer, *, by_line: bool = False) -> None:
    """Compare a tokenizer with the one that is read from its written files.

    Args:
        tokenizer: the tokenizer.
        back: the tokenizer of the files.
        by_line: see `check`.

    Raises:
        UnsupportedError: they differ.
        TransientError: a library, or an expression, takes too long.
    """
    special, names = tokenizer.special_tokens, back.special_tokens
    for name, token_id in special.items():
        if token_id == tokenizer.unknown_id:
            continue
        if names.get(name) != token_id:
            raise UnsupportedError(
                f"the written file would not have its special token {quoted(name)}"
            )
        flags = {*tokenizer.added_flags(token_id)} ^ {*back.added_flags(token_id)}
        if flags:
            raise UnsupportedError(
                f"its special token {quoted(name)} has the flag {min(flags)}, which the format "
                "does not contain"
            )
    files = [getattr(each, "file", None) for each in (tokenizer, back)]
    if files[0] is not None and files[0] == files[1]:
        return  # the library has the same file
    check(tokenizer, back.encode_batch, by_line=by_line)
    _check_decoding(tokenizer, back)
    known = {*back.known_ids()}
    for token_id in tokenizer.known_ids():
        raw = back.token_bytes(token_id) if token_id in known else None
        if raw != tokenizer.token_bytes(token_id):
            raise UnsupportedError(f"the written file would have other bytes for id {token_id}")


def special_differences(tokenizer: Tokenizer, back: Tokenizer) -> str:
    """Return how a SentencePiece model differs at special tokens, as sentences, or "".

    Args:
        tokenizer: the tokenizer.
        back: the tokenizer of its written files, which `check_written` has compared.
    """
    if not is_sentencepiece(tokenizer, back):
        return ""
    notes: dict[str, str] = {}
    for name in [*tokenizer.special_tokens][:_DECODED_NAMES]:
        ids = tokenizer.encode(name, allowed_special={name})
        if back.encode(name, allowed_special={name} & back.special_tokens.keys()) != ids:
            notes.setdefault("ids", f"The file reads {quoted(name)} in a text as plain text.")
            continue
        text, between = name, tokenizer.encode(f"the{name}the", allowed_special={name})
        if tokenizer.unknown_id not in between:
            text, ids = f"the{name}the", between
        here, there = tokenizer.decode(ids), back.decode(ids)
        if here != there and tokenizer.unknown_id not in ids:
            notes.setdefault(
                "decoded",
                f"The file decodes the ids of {quoted(text)} to {quoted(there)}, and this "
                f"tokenizer to {quoted(here)}.",
            )
    return " ".join(notes.values())


def is_sentencepiece(*tokenizers: Tokenizer) -> bool:
    """Return whether SentencePiece applies a tokenizer."""
    files = [getattr(tokenizer, "file", None) for tokenizer in tokenizers]
    return any(file and file.library == worker.SENTENCEPIECE for file in files)


def _check_decoding(tokenizer: Tokenizer, back: Tokenizer) -> None:
    """Compare decoded texts, without unknown tokens. Raises `UnsupportedError`.

    SentencePiece decodes control symbols to nothing, so there these texts have none.
    """
    names = [*tokenizer.special_tokens][:_DECODED_NAMES]
    if is_sentencepiece(tokenizer, back):
        names = []
    texts = [part.strip() for text in _SHORT[13:] for part in text.splitlines()]
    texts += [text.format(name) for name in names for text in ("the{0}the", "{0} the {0}  a\nb")]
    encoded = tokenizer.encode_batch(texts, allowed_special={*names})
    known = {
        text: ids
        for text, ids in zip(texts, encoded, strict=True)
        if tokenizer.unknown_id not in ids
    }
    both = (each.decode_batch(known.values()) for each in (tokenizer, back))
    for text, expected, decoded in zip(known, *both, strict=True):
        if decoded != expected:
            raise UnsupportedError(
                f"the written file would decode the ids of {quoted(text)} to {quoted(decoded)}"
            )


_DECODED_NAMES = 20
"""The most special tokens that texts to decode contain."""
