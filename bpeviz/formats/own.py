"""bpeviz's own format, for tokenizers that no other library can apply.

One JSON object: the kind of the tokenizer, its pre-tokenization, the symbols of its atoms, and its
merges. Ids follow from their order: atoms, merges, unknown token, special tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bpeviz.core.hidden_tokens import HiddenTokenTokenizer
from bpeviz.core.longest_match import LongestMatchTokenizer
from bpeviz.core.merges import Merge, MergedVocabulary, MergeTokenizer
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, Source, UnsupportedError, has_suffix
from bpeviz.formats.merges import BYTE_SYMBOLS, Merges
from bpeviz.formats.parsing import Node, dump_json, parse_json
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.trainers.multilingual_bpe import MultilingualPreTokenizer
from bpeviz.trainers.scaffold_bpe import ScaffoldTokenizer
from bpeviz.trainers.sentencepiece_bpe import (
    BYTES,
    SentencePiecePreTokenizer,
    SentencePieceTokenizer,
)
from bpeviz.trainers.superbpe import SuperPreTokenizer, SuperTokenizer
from bpeviz.trainers.wordpiece import WordPiecePreTokenizer, WordPieceTokenizer

_KEY = "bpeviz tokenizer"
_VERSION = 1

_TOKENIZERS: dict[str, type[MergedVocabulary]] = {
    "merges": MergeTokenizer,
    "longest match": LongestMatchTokenizer,
    "wordpiece": WordPieceTokenizer,
    "hidden tokens": HiddenTokenTokenizer,
    "scaffold": ScaffoldTokenizer,
    "superbpe": SuperTokenizer,
    "sentencepiece": SentencePieceTokenizer,
}

_PRE_TOKENIZERS: dict[str, tuple[type[PreTokenizer], dict[str, tuple[str, ...]]]] = {
    "pattern": (PreTokenizer, {"end_mark": ("none", "attached", "symbol")}),
    "wordpiece": (
        WordPiecePreTokenizer,
        {"case": ("keep", "lower"), "unmatched": ("keep", "drop")},
    ),
    "multilingual": (MultilingualPreTokenizer, {}),
    "superbpe": (SuperPreTokenizer, {"second": ("none", "lines", "sentences")}),
    "sentencepiece": (
        SentencePiecePreTokenizer,
        {"prefix": ("yes", "no"), "fallback": ("bytes", "unk")},
    ),
}
"""The pre-tokenizers with the values of their own options."""

_LONGEST_SYMBOL = 16


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    kind = next((key for key, cls in _TOKENIZERS.items() if type(tokenizer) is cls), None)
    if kind is None or not isinstance(tokenizer, MergedVocabulary):
        raise UnsupportedError("it does not merge, or it was read from a file of another library")
    splitter = tokenizer.pre_tokenizer
    its_kind = next(
        (key for key, entry in _PRE_TOKENIZERS.items() if type(splitter) is entry[0]), None
    )
    if its_kind is None:
        raise UnsupportedError("its pre-tokenization is not one of bpeviz's own")
    _merges_by_id(splitter, tokenizer.alphabet, tokenizer.merges).check_sizes()
    _, options = _PRE_TOKENIZERS[its_kind]
    document: dict[str, Any] = {
        _KEY: _VERSION,
        "name": tokenizer.name,
        "kind": kind,
        "pre_tokenizer": {
            "kind": its_kind,
            "atoms": splitter.atoms,
            "pattern": splitter.pattern,
            "expression": splitter.expression,
            **{name: getattr(splitter, name) for name in options},
        },
        "alphabet": None if tokenizer.over_bytes else tokenizer.alphabet,
        "special_tokens": tokenizer.special,
        "merges": [[merge.left, merge.right, merge.count] for merge in tokenizer.merges],
    }
    if isinstance(tokenizer, HiddenTokenTokenizer):
        document["hidden_times"] = tokenizer.hidden_times
    if isinstance(tokenizer, LongestMatchTokenizer):
        document["unknown_words"] = tokenizer.unknown_words
    if isinstance(tokenizer, SuperTokenizer):
        document["transition"] = tokenizer.transition
    return {"tokenizer.bpeviz": dump_json(document)}


def _read(source: Source) -> Tokenizer:
    document = parse_json(*source.single())
    document[_KEY].expect(_VERSION, why="another version of bpeviz wrote it")
    _ = document["name"]
    kind = document["kind"].expect(*_TOKENIZERS)
    pre_tokenizer = _pre_tokenizer(document["pre_tokenizer"])
    alphabet = _alphabet(document["alphabet"], pre_tokenizer)
    merges = _merges(document["merges"], len(alphabet))
    special = tuple(node.text() for node in document["special_tokens"].nodes())
    if len({*special}) < len(special) or "" in special:
        raise document["special_tokens"].error("a special token is empty or occurs twice")
    _merges_by_id(pre_tokenizer, alphabet, merges).check_sizes()
    more: dict[str, Any] = {}
    cls = _TOKENIZERS[kind]
    if issubclass(cls, HiddenTokenTokenizer):
        more["hidden_times"] = _hidden_times(document["hidden_times"], len(merges))
    if issubclass(cls, LongestMatchTokenizer):
        more["unknown_words"] = document["unknown_words"].expect(True, False)
    needs = {SuperTokenizer: SuperPreTokenizer, SentencePieceTokenizer: SentencePiecePreTokenizer}
    needed = needs.get(cls, WordPiecePreTokenizer if cls is WordPieceTokenizer else PreTokenizer)
    is_sentencepiece = isinstance(pre_tokenizer, SentencePiecePreTokenizer)
    if not isinstance(pre_tokenizer, needed) or (
        is_sentencepiece and cls is not SentencePieceTokenizer
    ):
        raise document["pre_tokenizer"].error(f"it does not fit the kind {kind!r}")
    if cls is SuperTokenizer:
        more["transition"] = document["transition"].id()
    document.reject_unknown_keys()
    return cls(source.name, pre_tokenizer, alphabet, merges, special=special, **more)


def _merges_by_id(
    pre_tokenizer: PreTokenizer, alphabet: Sequence[str], merges: Iterable[Merge]
) -> Merges:
    return Merges(pre_tokenizer, dict(enumerate(alphabet)), [merge[:3] for merge in merges])


def _pre_tokenizer(node: Node) -> PreTokenizer:
    cls, options = _PRE_TOKENIZERS[node["kind"].expect(*_PRE_TOKENIZERS)]
    atoms = node["atoms"].expect("bytes", "characters")
    if atoms == "bytes" and cls in (WordPiecePreTokenizer, SentencePiecePreTokenizer):
        raise node["atoms"].error("this pre-tokenization has characters")
    pattern = node["pattern"].expect(*PATTERNS, CUSTOM, WORD_LIST)
    expression = node["expression"].text()
    chosen = {name: node[name].expect(*values) for name, values in options.items()}
    if atoms == "bytes" and chosen.get("end_mark", "none") != "none":
        raise node["end_mark"].error("an end-of-word mark needs characters")
    node.reject_unknown_keys()
    return cls(atoms=atoms, pattern=pattern, expression=expression, **chosen)


def _alphabet(node: Node, pre_tokenizer: PreTokenizer) -> tuple[str, ...]:
    over_bytes, every_byte = pre_tokenizer.atoms == "bytes", tuple(BYTE_SYMBOLS.values())
    if over_bytes and node.value is None:
        return every_byte
    symbols = tuple(symbol.text() for symbol in node.nodes())
    if over_bytes and tuple(sorted(symbols)) != every_byte:
        raise node.error("the atoms are the 256 bytes")
    if not all(0 < len(symbol) <= _LONGEST_SYMBOL for symbol in symbols):
        raise node.error(f"a symbol has 1 to {_LONGEST_SYMBOL} characters")
    if len({*symbols}) < len(symbols):
        raise node.error("a symbol occurs twice")
    bytes_first = isinstance(pre_tokenizer, SentencePiecePreTokenizer) and (
        pre_tokenizer.fallback == "bytes"
    )
    if bytes_first and symbols[: len(BYTES)] != BYTES:
        raise node.error("expected the 256 bytes first, since unknown characters become bytes")
    characters = symbols[len(BYTES) :] if bytes_first else symbols
    is_sentencepiece = isinstance(pre_tokenizer, SentencePiecePreTokenizer)
    if is_sentencepiece and any(len(symbol) > 1 for symbol in characters):
        raise node.error("a symbol other than a byte must be one character")
    return symbols


def _merges(node: Node, first: int) -> tuple[Merge, ...]:
    merges = []
    for new, (place, row) in enumerate(enumerate(node.list()), first):
        valid = isinstance(row, list) and [*map(type, row)] == [int, int, int]
        if not valid or not (0 <= row[0] < new and 0 <= row[1] < new and row[2] >= 0):
            raise node.entry_error(place, f"expected two ids below {new:,} and a count")
        merges.append(Merge(row[0], row[1], new, row[2], 0, 0))
    return tuple(merges)


def _hidden_times(node: Node, merges: int) -> tuple[tuple[int, ...], ...]:
    hidden_times = []
    for place, times in enumerate(node.list()):
        valid = isinstance(times, list) and all(type(time) is int for time in times)
        if not valid or times != sorted({*times}) or (times and times[0] < 0):
            raise node.entry_error(place, "expected ascending steps")
        hidden_times.append(tuple(times))
    if len(hidden_times) != merges:
        raise node.error(f"expected one entry for each of the {merges:,} merges")
    return tuple(hidden_times)


def _detect(files: Mapping[str, bytes]) -> bool:
    content = next(iter(files.values()))
    return content.startswith(f'{{"{_KEY}"'.encode()) or has_suffix(files, ".bpeviz")


FORMAT = Format(
    key="bpeviz",
    title="bpeviz’s own format",
    about="One file for bpeviz alone, also for Scaffold-BPE, SuperBPE, BPE over several texts and "
    "longest match, which other libraries cannot apply.",
    files=("tokenizer.bpeviz",),
    suffixes=(".bpeviz",),
    write=_write,
    read=_read,
    detect=_detect,
)
