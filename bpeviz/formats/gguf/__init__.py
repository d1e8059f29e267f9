"""GGUF: the vocabulary that is embedded in a model for llama.cpp.

The metadata of a model contain its tokens, with their types, scores and merges. They are converted
to a file of the library that applies them: BPE to a tokenizer.json with the expressions of
llama.cpp, SentencePiece's models to a .model, and WordPiece to a tokenizer.json.

Source: `src/llama-vocab.cpp` in ggml-org/llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import regex

from bpeviz.cached_property import cached_property
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, FormatError, Source, printable_name
from bpeviz.formats.gguf.container import MAGIC, Metadata, read_metadata
from bpeviz.formats.gguf.pre_tokenizers import LINES, PRE_TOKENIZERS, GgufPreTokenizer
from bpeviz.formats.huggingface import tokenizer_of_document
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    bpe_model,
    document_of,
    replaced,
    space_decoder,
    split_at,
    template,
)
from bpeviz.formats.library import read_sentencepiece
from bpeviz.formats.parsing import quoted
from bpeviz.formats.rwkv import greedy_tokenizer, unescaped
from bpeviz.formats.sentencepiece import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN_PIECE,
    UNUSED,
    USER_DEFINED,
    new_model,
)
from bpeviz.formats.wordpiece_vocabulary import bert_document, is_lower
from bpeviz.text import shorten

_KEY = "tokenizer.ggml."
_SPACE = "▁"
_LEFT_MASK = ("jina-v2-de", "jina-v2-es", "jina-v2-code", "nomic-bert-moe", "jina-bert-v3")
"""Pre-tokenizers and architectures whose "<mask>" contains the white space before it."""
_SPACE_MARKS = ("gemma4", "granite-embed-multi-311m", "sarvam-moe")
"""Pre-tokenizers without a byte alphabet: a mark replaces each space."""


@dataclass(frozen=True)
class _Model:
    """The vocabulary of a file."""

    name: str
    metadata: Metadata

    @cached_property
    def tokens(self) -> list[str]:
        """The spelling of each id. Raises `FormatError`."""
        key = f"{_KEY}tokens"
        spellings = self.metadata.texts(key)
        if not spellings:
            raise self.metadata.error(key, "this model contains no vocabulary")
        spellings = [token or f"[EMPTY_{i}]" for i, token in enumerate(spellings)]
        if len({*spellings}) < len(spellings):
            last = {token: i for i, token in enumerate(spellings)}
            twice = next(token for i, token in enumerate(spellings) if last[token] != i)
            raise self.metadata.error(key, f"the token {quoted(twice)} occurs twice")
        return spellings

    @cached_property
    def types(self) -> list[int]:
        """The type of each token."""
        return self._column("token_type", "i", NORMAL)

    @cached_property
    def scores(self) -> list[float]:
        """The score of each token."""
        return self._column("scores", "if", 0.0)

    def _column(self, name: str, kinds: str, otherwise: Any) -> list[Any]:
        """Return a number for each token. Raises `FormatError`."""
        values = self.metadata.numbers(_KEY + name, kinds)
        if values is None:
            return [otherwise] * len(self.tokens)
        if len(values) < len(self.tokens):
            reason = f"{len(values):,} entries are too few for {len(self.tokens):,} tokens"
            raise self.metadata.error(_KEY + name, reason)
        column: list[Any] = values[: len(self.tokens)].tolist()
        return column

    def flag(self, key: str, otherwise: bool) -> bool:
        """Return a truth value of the tokenizer."""
        flag = self.metadata.flag(_KEY + key)
        return otherwise if flag is None else flag

    def id(self, key: str, otherwise: int) -> int | None:
        """Return the id of a special token, or None if the vocabulary does not have it."""
        token_id = self.metadata.index(f"{_KEY}{key}_token_id", len(self.tokens))
        if token_id is None and otherwise in range(len(self.tokens)):
            token_id = otherwise
        return token_id

    def added(self) -> dict[str, int]:
        """Return the tokens that are found in a text before all others, or that are special."""
        types = zip(self.tokens, self.types, strict=True)
        kinds = (UNKNOWN_PIECE, CONTROL, USER_DEFINED)
        return {token: i for i, (token, kind) in enumerate(types) if kind in kinds}

    def flags(self) -> dict[int, list[str]]:
        """Return the flags of added tokens, which llama.cpp derives from names."""
        name, architecture, pre_tokenizer = (
            self.metadata.text(key) or ""
            for key in ("general.name", "general.architecture", f"{_KEY}pre")
        )
        if pre_tokenizer in _LEFT_MASK or architecture in _LEFT_MASK:
            flags = {"<mask>": "lstrip"}
        elif regex.search("phi-?3", name.lower()):
            kept = ("<unk>", "<s>", "<|endoftext|>")
            flags = {token: "rstrip" for token in self.added() if token not in kept}
        elif "modern-bert" in name.lower():
            flags = {"[MASK]": "lstrip"}
        else:
            return {}
        return {i: [flags[token]] for token, i in self.added().items() if token in flags}


# ---- BPE


def _bpe(model: _Model) -> Tokenizer:
    return tokenizer_of_document(model.name, model.metadata.file, bpe_document(model.metadata))


def bpe_document(metadata: Metadata) -> dict[str, Any]:
    """Return the tokenizer.json of a BPE model. Raises `FormatError`."""
    model = _Model("", metadata)
    pre_tokenizer, mark = _pre_tokenizer(metadata)
    entries = {token: i for i, token in enumerate(model.tokens)}
    settings = bpe_model(
        entries,
        _merges(model, entries),
        byte_fallback=mark is not None,
        ignore_merges=pre_tokenizer.ignore_merges,
    )
    parts = [split_at(expression) for expression in pre_tokenizer.expressions]
    document = document_of(
        settings,
        model.added(),
        normalizers=[] if mark is None else [replaced({"String": " "}, mark)],
        pre_tokenizers=[*parts, BYTE_LEVEL] if mark is None else parts,
        decoder=BYTE_LEVEL if mark is None else space_decoder(mark),
    )
    flags = model.flags()
    for token in document["added_tokens"]:
        token["special"] = model.types[token["id"]] != USER_DEFINED
        token |= dict.fromkeys(flags.get(token["id"], ()), True)
    before = [model.id("bos", 11)] * model.flag("add_bos_token", pre_tokenizer.adds_bos)
    after = [model.id("eos", 11)] * model.flag("add_eos_token", False)
    after += [model.id("seperator", -1)] * model.flag("add_sep_token", pre_tokenizer.adds_sep)
    ids = {model.tokens[i]: i for i in (*before, *after) if i is not None}
    first, last = ([model.tokens[i] for i in side if i is not None] for side in (before, after))
    document["post_processor"] = template(ids, first, last)
    return document


def _pre_tokenizer(metadata: Metadata) -> tuple[GgufPreTokenizer, str | None]:
    """Return the pre-tokenizer, and the mark that replaces spaces (None: a byte alphabet)."""
    key = f"{_KEY}pre"
    name = metadata.text(key) or "default"
    if metadata.text(f"{_KEY}model") == "gemma4" or name in _SPACE_MARKS:
        return GgufPreTokenizer((LINES,), adds_bos=name != "sarvam-moe"), _SPACE
    if name not in PRE_TOKENIZERS:
        reason = f"the expression of the pre-tokenizer {quoted(name)} is not known here"
        raise metadata.error(key, reason)
    return PRE_TOKENIZERS[name], None


def _merges(model: _Model, entries: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the merges in their order. Raises `FormatError`."""
    key = f"{_KEY}merges"
    lines = model.metadata.texts(key)
    if lines is None:
        raise model.metadata.error(key, "the merges are missing")
    merges: dict[tuple[str, str], None] = {}
    for line in lines:
        at = line.find(" ", 1)
        left, right = line[:at], line[at + 1 :]
        if at < 0 or left not in entries or right not in entries or left + right not in entries:
            raise model.metadata.error(
                key, f"the merge {quoted(line)} does not join two tokens into a third one"
            )
        merges[left, right] = None
    return [*merges]


# ---- SentencePiece


def _sentencepiece(model: _Model, *, kind: str, unknown: int, bos: int, eos: int) -> Tokenizer:
    """Return the tokenizer of a SentencePiece model.

    Args:
        model: the vocabulary.
        kind: its type in SentencePiece.
        unknown: the default id of the unknown token.
        bos: the default id of the token before a text, or -1.
        eos: the default id of the token after it, or -1.
    """
    others = (CONTROL, USER_DEFINED, UNUSED, BYTE)
    types = [of_token if of_token in others else NORMAL for of_token in model.types]
    unknown_id = model.id("unknown", unknown)
    if unknown_id is None:
        raise model.metadata.error("", "it has no unknown token, which SentencePiece requires")
    types[unknown_id] = UNKNOWN_PIECE
    pieces = [token.replace(" ", _SPACE) for token in model.tokens]
    rows = zip(pieces, model.scores, types, strict=True)
    prefix = model.flag("add_space_prefix", kind == "BPE")
    proto = new_model(kind, rows, unknown_id, prefix=prefix)
    trainer, rules = proto.trainer_spec, proto.normalizer_spec
    ids = {"unk": unknown_id, "bos": model.id("bos", bos), "eos": model.id("eos", eos)}
    for name, token_id in ids.items():
        if token_id is not None and types[token_id] in (CONTROL, UNKNOWN_PIECE):
            setattr(trainer, f"{name}_id", token_id)
            setattr(trainer, f"{name}_piece", pieces[token_id])
    charsmap = model.metadata.numbers(f"{_KEY}precompiled_charsmap", "iu")
    if kind == "UNIGRAM" and charsmap is not None:
        rules.precompiled_charsmap = charsmap.tobytes()
    rules.remove_extra_whitespaces = model.flag("remove_extra_whitespaces", False)
    content: bytes = proto.SerializeToString(deterministic=True)
    return read_sentencepiece(model.name, model.metadata.file, content, model.flags())


# ---- WordPiece


def _bert(model: _Model) -> Tokenizer:
    """Return the tokenizer of BERT. GGUF marks the pieces that begin a word; BERT, all others."""
    entries: dict[str, int] = {}
    for i, token in enumerate(model.tokens):
        if token.startswith(_SPACE):
            token = token.removeprefix(_SPACE)
        elif model.types[i] == NORMAL and not (token[:1] == "[" and token[-1:] == "]"):
            token = f"##{token}"
        entries.setdefault(token, i)
    unknown = model.tokens[model.id("unknown", 100) or 0]
    lower = model.flag("normalizer.lowercase", is_lower(entries))
    document = bert_document(entries, lower, unknown)
    document["normalizer"]["strip_accents"] = model.flag("normalizer.strip_accents", lower)
    return tokenizer_of_document(model.name, model.metadata.file, document)


# ---- RWKV


def _rwkv(model: _Model) -> Tokenizer:
    ids: dict[bytes, int] = {}
    for i, (token, kind) in enumerate(zip(model.tokens, model.types, strict=True)):
        if kind not in (CONTROL, UNUSED):
            ids.setdefault(unescaped(token), i)
    special = {model.tokens[i]: i for i, kind in enumerate(model.types) if kind == CONTROL}
    return greedy_tokenizer(model.name, model.metadata.file, ids, special)


_KINDS: dict[str, Callable[[_Model], Tokenizer]] = {
    "gpt2": _bpe,
    "gemma4": _bpe,
    "llama": partial(_sentencepiece, kind="BPE", unknown=0, bos=1, eos=2),
    "t5": partial(_sentencepiece, kind="UNIGRAM", unknown=2, bos=-1, eos=1),
    "bert": _bert,
    "rwkv": _rwkv,
}


def _read(source: Source) -> Tokenizer:
    metadata = read_metadata(*source.single())
    kind = metadata.text(f"{_KEY}model")
    title = shorten(printable_name(metadata.text("general.name") or source.name), 40)
    if kind is None or kind in ("none", "no_vocab"):
        raise metadata.error("", "this GGUF file contains no vocabulary")
    if kind not in _KINDS:
        raise FormatError(
            f"{metadata.file}: bpeviz does not support its kind of vocabulary, {quoted(kind)}. "
            f"Known kinds: {', '.join(_KINDS)}."
        )
    return _KINDS[kind](_Model(title, metadata))


def _assumption(source: Source) -> str:
    """Return in which points llama.cpp differs, as sentences, or ""."""
    model = _Model("", read_metadata(*source.single()))
    kind = model.metadata.text(f"{_KEY}model") or ""
    points = list(_DIFFERENCES.get(kind, ()))
    if kind == "llama" and model.flag("add_space_prefix", True):
        points.append(_PREFIX)
    for token, token_type in zip(model.tokens, model.types, strict=True):
        if token_type in (NORMAL, USER_DEFINED) and _SPECIAL.fullmatch(token):
            points.append(f"may take {quoted(token)} for special, which the file does not")
            break
    return f"llama.cpp differs: it {'; it '.join(points)}." if points else ""


_SPECIAL = regex.compile(r"</s>|<[|｜][^|｜<>]+[|｜]>|<(?:end_of_\w+|fim_\w+|EOT)>")
"""Names such as those that llama.cpp takes for an end or for fill-in-the-middle."""

_PREFIX = (
    "writes no ▁ before a text that begins with an added token, nor after a control token such as "
    "<s>, but after a user-defined token"
)
_DIFFERENCES = {
    "t5": ("adds up log probabilities in double precision, so nearly equal splits may change",),
    "bert": (
        "has no limit on the length of a word",
        "normalizes accents in a simpler way",
        "takes U+0085 for white space, which BERT removes",
    ),
}
"""What llama.cpp does otherwise, by the kind of vocabulary."""


def _detect(files: Mapping[str, bytes]) -> bool:
    return len(files) == 1 and next(iter(files.values())).startswith(MAGIC)


FORMAT = Format(
    key="gguf",
    title="The vocabulary in a GGUF file",
    about="Metadata of a model for llama.cpp. The first megabytes of a large file are enough.",
    files=("model.gguf",),
    suffixes=(".gguf",),
    read=_read,
    detect=_detect,
    assumption=_assumption,
)
