"""The model BPE: merges over bytes, over characters, or as SentencePiece makes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bpeviz.core.merges import MergeTokenizer, apply_merges
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.byte_alphabet import BYTE_OF, CHARACTER_OF, check_bytes
from bpeviz.formats.gpt2 import PairReader
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    Part,
    check_added,
    check_same,
    read_alike,
    split_at,
    split_of,
    splits,
    whole,
    with_special,
)
from bpeviz.formats.merges import CannotError, Merges, built
from bpeviz.formats.parsing import Keys, kind, listed, shown, vocabulary, wrong
from bpeviz.formats.remapped_ids import RemappedTokenizer
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, UNKNOWN, PreTokenizer
from bpeviz.trainers.sentencepiece_bpe import BYTES, SPACE, SentencePiecePreTokenizer


def document(merges: Merges) -> dict[str, Any]:
    """Return the document of merges. Raises `CannotError`."""
    pre_tokenizer = merges.pre_tokenizer
    model: dict[str, Any] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": pre_tokenizer.unknown,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
    }
    normalizers: list[Part] = []
    symbols = dict(merges.symbols)
    if isinstance(pre_tokenizer, SentencePiecePreTokenizer):
        symbols = {i: symbol.replace(SPACE, " ") for i, symbol in symbols.items()}
        fallback = pre_tokenizer.fallback == "bytes"
        model |= {"byte_fallback": fallback, "fuse_unk": not fallback}
        normalizers, pre_tokenizers, decoder = _as_sentencepiece(pre_tokenizer)
    elif pre_tokenizer.atoms == "bytes":
        if len(symbols) < 256:
            raise CannotError("it does not know all 256 bytes")
        symbols = {i: CHARACTER_OF[ord(symbol)] for i, symbol in symbols.items()}
        pre_tokenizers = [*splits(pre_tokenizer.pattern, pre_tokenizer.expression), BYTE_LEVEL]
        decoder = BYTE_LEVEL
    else:
        if pre_tokenizer.end_mark == "symbol":
            raise CannotError(
                "its end-of-word mark is a symbol of its own, and there it is part of the last "
                "character"
            )
        decoder = {"type": "Fuse"}
        if pre_tokenizer.end_mark == "attached":
            _check_no_white_space(symbols.values())
            model["end_of_word_suffix"] = END_OF_WORD
            decoder = {"type": "BPEDecoder", "suffix": END_OF_WORD}
        pre_tokenizers = splits(pre_tokenizer.pattern, pre_tokenizer.expression)
    spelt = merges.spelt(symbols)
    entries = {name: token_id for token_id, name in spelt.items()}
    if pre_tokenizer.unknown is not None:
        entries[pre_tokenizer.unknown] = merges.special[pre_tokenizer.unknown]
    model["vocab"] = entries = with_special(entries, merges.special)
    if pre_tokenizer.atoms == "characters":
        for name in merges.special:
            if name in entries and len(name.removesuffix(END_OF_WORD)) == 1:
                raise CannotError(
                    f"there the character {shown(name)} would be taken for the special token of "
                    "that name even in a text"
                )
    model["merges"] = [[spelt[left], spelt[right]] for left, right, _ in merges.merges]
    return whole(
        model,
        merges.special,
        normalizers=normalizers,
        pre_tokenizers=pre_tokenizers,
        decoder=decoder,
    )


def _check_no_white_space(symbols: Collection[str]) -> None:
    if any(symbol.removesuffix(END_OF_WORD).isspace() for symbol in symbols):
        raise CannotError(
            "it knows white space, which has no end-of-word mark here, and there each chunk has "
            "one, of white space or not (learnt from words with counts, it would know none)"
        )


def _as_sentencepiece(
    pre_tokenizer: SentencePiecePreTokenizer,
) -> tuple[list[Part], list[Part], Part]:
    """Return normalizers, pre-tokenizers and the decoder.

    A space stays a space there, for a ▁ in the text is another character. The dummy prefix is a
    space before each line that is not empty.
    """
    if pre_tokenizer.pattern != "none":
        raise CannotError(
            f"its split {pre_tokenizer.pattern} is made before a ▁ is put to the start of each line, "
            "and there it would be made afterwards (learnt with the split none, it can be held)"
        )
    normalizers: list[Part] = []
    decoders: list[Part] = [{"type": "ByteFallback"}, {"type": "Fuse"}]
    if pre_tokenizer.prefix == "yes":
        normalizers = [
            *(
                {"type": "Replace", "pattern": {"Regex": written}, "content": f"{end} "}
                for written, end in ((r"\n(?=[^\r\n])", "\n"), (r"\r(?=[^\r\n])", "\r"))
            ),
            {"type": "Prepend", "prepend": " "},
            {"type": "Replace", "pattern": {"Regex": r"\A (?=[\r\n])"}, "content": ""},
        ]
        at_start = {"Regex": r"(?<![^\r\n]) "}
        decoders.append({"type": "Replace", "pattern": at_start, "content": ""})
    return normalizers, [_WORDS], {"type": "Sequence", "decoders": decoders}


_WORDS = split_at(r"[\r\n]| [^ \r\n]*|[^ \r\n]+")
"""Cuts lines into words, each with the space before it, as `SentencePiecePreTokenizer` does."""


def read(name: str, keys: Keys, model: Keys, special: Mapping[str, int]) -> Tokenizer:
    """Return the tokenizer of a document. Raises `FormatError` and `CannotError`."""
    model.expect("dropout", None, 0.0, why="a text is always cut alike here")
    model.expect("continuing_subword_prefix", None, "", why="BPE marks no middle of a word here")
    suffix = model.expect("end_of_word_suffix", None, "", END_OF_WORD) or None
    model.get("unk_token")
    model.expect("fuse_unk", None, False, True)
    model.expect("byte_fallback", None, False, True)
    whole_pre_tokens = bool(model.expect("ignore_merges", None, False, True))
    entries = vocabulary(keys.name, "model.vocab", model.get("vocab"))
    pairs = model.listed("merges")
    model.done()

    found = _split_over_bytes(keys)
    symbols: Mapping[int, str]
    if found is not None:
        keys.expect("normalizer", None, why="a text is never changed before it is split here")
        if keys.get("decoder") is not None and keys.keys("decoder").get("type") != "ByteLevel":
            raise keys.wrong(
                "decoder", f"expected null or ByteLevel, not {kind(keys.get('decoder'))}"
            )
        if suffix is not None:
            raise model.wrong("end_of_word_suffix", "over bytes there is no end-of-word mark here")
        check_bytes(keys.name, "model.vocab", entries)
        pre_tokenizer = PreTokenizer("bytes", *found)
        symbols = {entries[character]: chr(byte) for character, byte in BYTE_OF.items()}
    else:
        pre_tokenizer = _splitting(keys, model, suffix)
        if pre_tokenizer.unknown is not None and UNKNOWN not in special:
            raise keys.wrong("added_tokens", f"{UNKNOWN} must be among them: what is unknown")
        symbols = _characters(keys.name, entries, pairs, special, pre_tokenizer)
    reader = PairReader(keys.name, entries, {*symbols})
    for place, entry in enumerate(pairs):
        where = f"model.merges[{place}]"
        reader.add(where, *_pair(keys.name, where, entry))
    for entry, token_id in entries.items():
        if token_id not in reader.known and special.get(entry) != token_id:
            raise wrong(
                keys.name,
                f"model.vocab[{shown(entry)}]",
                f"no merge makes the id {token_id}, it is no atom, and it is not among "
                "added_tokens, so nothing can be encoded as it",
            )
    check_added(keys, entries, special)
    merges = Merges(pre_tokenizer, symbols, reader.merges, special)
    tokenizer = built(name, merges)
    if whole_pre_tokens:
        _check_whole_pre_tokens(keys.name, tokenizer, entries, special)
    if found is None:
        try:
            check_same(keys, model, document(merges))
        except CannotError as error:
            raise read_alike(keys, error) from None
    return tokenizer


def _pair(file: str, where: str, entry: object) -> tuple[str, str]:
    """Read a merge: a list of two, or, as it was written once, two with a space between."""
    pair = entry.split(" ") if isinstance(entry, str) else listed(file, where, entry)
    if len(pair) != 2 or not all(isinstance(half, str) and half for half in pair):
        raise wrong(file, where, "expected two tokens")
    return pair[0], pair[1]


def _split_over_bytes(keys: Keys) -> tuple[str, str] | None:
    """Read the split of a pre-tokenizer that ends in bytes; return None where it does not."""
    value = keys.get("pre_tokenizer")
    if not isinstance(value, dict):
        return None
    before: Sequence[object] = ()
    if value.get("type") == "Sequence":
        sequence = Keys.of(keys.name, "pre_tokenizer", value)
        sequence.get("type")
        parts = sequence.listed("pretokenizers")
        sequence.done()
        value = parts[-1] if parts else None
        before = parts[:-1]
    if not isinstance(value, dict) or value.get("type") != "ByteLevel":
        return None
    last = Keys.of(keys.name, "pre_tokenizer", value)
    last.get("type")
    last.expect("add_prefix_space", False, why="no space is put before a text here")
    last.expect("trim_offsets", True, False, None)
    own_split = last.expect("use_regex", True, False, None) is not False
    last.done()
    if own_split + len(before) > 1:
        raise keys.wrong("pre_tokenizer", "a text is split more than once, and here only once")
    if before:
        return split_of(keys.name, "pre_tokenizer.pretokenizers[0]", before[0], otherwise="a Split")
    return ("gpt2", "") if own_split else ("none", "")


def _splitting(keys: Keys, model: Keys, suffix: str | None) -> PreTokenizer:
    """Read how characters are split; `check_same` compares all of it afterwards."""
    value = keys.get("pre_tokenizer")
    if value == _WORDS:
        return SentencePiecePreTokenizer(
            pattern="none",
            prefix="no" if keys.get("normalizer") is None else "yes",
            fallback="bytes" if model.get("byte_fallback") else "unk",
        )
    pattern = ("none", "")
    if value is not None:
        pattern = split_of(
            keys.name,
            "pre_tokenizer",
            value,
            otherwise="null, a Split, or a ByteLevel, alone or behind one Split",
        )
    return PreTokenizer("characters", *pattern, end_mark="none" if suffix is None else "attached")


def _characters(
    file: str,
    entries: Mapping[str, int],
    pairs: Sequence[object],
    special: Mapping[str, int],
    pre_tokenizer: PreTokenizer,
) -> dict[int, str]:
    """Return the atoms: what no merge makes."""
    made = {"".join(_pair(file, f"model.merges[{i}]", pair)) for i, pair in enumerate(pairs)}
    known_bytes: Collection[str] = ()
    of_sentencepiece = isinstance(pre_tokenizer, SentencePiecePreTokenizer)
    if of_sentencepiece and pre_tokenizer.unknown is None:
        known_bytes = BYTES
        for byte in BYTES:
            if byte not in entries:
                raise wrong(file, "model.vocab", f"there is no entry {byte}")
    symbols: dict[int, str] = {}
    for entry, token_id in entries.items():
        if entry in made or special.get(entry) == token_id:
            continue
        bare = entry.removesuffix(END_OF_WORD) if pre_tokenizer.end_mark == "attached" else entry
        if (len(bare) != 1 and entry not in known_bytes) or (of_sentencepiece and bare == SPACE):
            raise wrong(
                file,
                f"model.vocab[{shown(entry)}]",
                f"no merge makes the id {token_id}, and it is no single character",
            )
        symbols[token_id] = SPACE if of_sentencepiece and entry == " " else entry
    return symbols


def _check_whole_pre_tokens(
    file: str, tokenizer: Tokenizer, entries: Mapping[str, int], special: Mapping[str, int]
) -> None:
    """Raise `FormatError` where taking known pre-tokens whole differs from merging them."""
    inner = tokenizer.inner if isinstance(tokenizer, RemappedTokenizer) else tokenizer
    if isinstance(inner, MergeTokenizer):
        for merge in inner.merges:
            if apply_merges(inner.atoms_of(merge.new_id), inner._rank) != (merge.new_id,):
                raise wrong(
                    file,
                    "model.ignore_merges",
                    f"it is true, and the merges do not lead to {shown(_name(inner, merge.new_id))}"
                    ", which is only ever a whole chunk there, and never one here",
                )
    for name in special:
        if name in entries and all(character in BYTE_OF for character in name):
            raise wrong(
                file,
                "model.ignore_merges",
                f"it is true, so a chunk that spells out {shown(name)} is that token",
            )


def _name(inner: MergeTokenizer, token_id: int) -> str:
    return inner.token_label(token_id)
