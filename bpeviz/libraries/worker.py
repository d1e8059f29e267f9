"""The worker of `bpeviz.libraries.pool`: it applies one tokenizer file with its library.

It imports only the library that the file needs. A worker loads one tokenizer, since nothing else
frees the memory of a library.
"""

from __future__ import annotations

import json
import os
import re
import struct
import sys
from array import array
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from itertools import accumulate, chain, compress, pairwise
from math import nan
from operator import itemgetter
from typing import Any, NamedTuple

from bpeviz.workers import serving

HUGGING_FACE, SENTENCEPIECE, TIKTOKEN = "tokenizers", "sentencepiece", "tiktoken"
MERGES, CHAT_TEMPLATE = "json", "jinja2"
"""Libraries: `tokenizers` for a tokenizer.json, `sentencepiece` for a .model, and `json` for the
merges of a tokenizer.json, which `tokenizers` does not return. `jinja2` applies a chat template,
and `tiktoken` ranks with an expression."""

LOAD, VOCABULARY, TEMPLATE, SCORES = "load", "vocabulary", "template", "scores"
IDS, TOKENS, NORMALIZE = "ids", "tokens", "normalize"
PRE_TOKENS, DECODE, RENDER = "pre_tokens", "decode", "render"
"""Operations: the methods of a `Library`. LOAD is the first one. IDS, TOKENS and DECODE
take many texts, between which is `END_OF_TEXT`."""

END_OF_NAMES = b"\xff"
"""It ends the names of special tokens before a text, in JSON: a list, or true for all of them.

Without names, all special tokens are ordinary text.
"""

END_OF_TEXT = b"\xfe"
"""It separates texts. UTF-8 has no such byte."""

IDLE = 600.0
"""Seconds after which an unused worker ends."""

_LONGEST_MESSAGE = 300

_LONGEST_FRAME = 50_000
"""The most characters that a chat template adds to a message."""

_LARGE_FILE = 1_000_000
"""Bytes of a file from which reading it leaves memory that is worth returning to the system: half
of what the process of Gemma 3 takes."""

_BLOCK = "_generation_begins", "_generation_ends"
"""The variables of a chat template with the marks of its block {% generation %}."""

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
"""The flags of an added token in a tokenizer.json, besides "special"."""

_PREFIX = "Cannot instantiate Tokenizer from buffer: "


class _Span(NamedTuple):
    """An added token in a text, and its characters."""

    id: int
    start: int
    end: int


_Split = tuple[str, tuple[int, int], Any]
"""A part of a prepared text, its characters, and its tokens or None."""


class Library:
    """A file that a library applies. The operations are methods that take a payload.

    They return bytes, or a value that is sent in JSON.
    """

    def __init__(self, content: bytes) -> None:
        """Read the file. Any exception is the reason why the library refuses it."""

    def load(self, content: bytes) -> Any:
        """Return the result of the first operation, which sends the file."""
        return b""

    def ids(self, texts: bytes) -> bytes:
        """Return the number of tokens of each text, and then the ids of all of them. int32."""
        ids_by_text = self.ids_of([text.decode() for text in texts.split(END_OF_TEXT)])
        return _numbers([*map(len, ids_by_text)], *ids_by_text)

    def ids_of(self, texts: list[str]) -> list[list[int]]:
        """Return the ids of each text."""
        raise NotImplementedError

    def answer(self, operation: str, payload: bytes) -> bytes:
        """Return the result of an operation."""
        result = getattr(self, operation)(payload)
        return result if isinstance(result, bytes) else json.dumps(result).encode()


class TokenizerLibrary(Library):
    """A tokenizer file.

    A subclass also defines the operations TEMPLATE, SCORES, NORMALIZE and PRE_TOKENS.
    """

    def info(self) -> dict[str, Any]:
        """Return the settings of all parts, without the vocabulary."""
        raise NotImplementedError

    def spellings(self) -> dict[int, str]:
        """Return the spelling of each id."""
        raise NotImplementedError

    def encode(self, text: bytes) -> tuple[list[int], list[int], list[int]]:
        """Return the ids of a text, and where each begins and ends."""
        raise NotImplementedError

    def load(self, content: bytes) -> dict[str, Any]:
        if len(content) > _LARGE_FILE:
            _return_memory()
        return self.info()

    def vocabulary(self, _: bytes) -> bytes:
        """Return the number of ids, the ids, and the spellings, each after a byte FF."""
        spellings = self.spellings()
        ids = sorted(spellings)
        parts = [b"", *(spellings[i].encode("utf-8", "replace") for i in ids), b""]
        return struct.pack("<Q", len(ids)) + _numbers(ids) + b"\xff".join(parts)

    def tokens(self, texts: bytes) -> bytes:
        """Return the number of tokens of each text, the ids, and where each begins and ends. int32.

        Of several texts, these are places in each by itself.
        """
        encodings = [*map(self.encode, texts.split(END_OF_TEXT))]
        ids, starts, ends = ([*chain.from_iterable(part)] for part in zip(*encodings, strict=True))
        return _numbers([len(of_text) for of_text, _, _ in encodings], ids, starts, ends)

    def decode(self, batch: bytes) -> bytes:
        """Return the texts of lists of ids: their number, their lengths and all ids. int32."""
        numbers = array("i", batch)
        ends = [*accumulate(numbers[1 : numbers[0] + 1], initial=numbers[0] + 1)]
        texts = self.decode_each([numbers[start:end] for start, end in pairwise(ends)])
        return END_OF_TEXT.join(text.encode() for text in texts)

    def decode_each(self, batch: list[array[int]]) -> list[str]:
        """Return the text of each list of ids."""
        raise NotImplementedError


class HuggingFace(TokenizerLibrary):
    """A tokenizer.json."""

    def __init__(self, content: bytes) -> None:
        import tokenizers

        try:
            self.tokenizer = tokenizers.Tokenizer.from_buffer(content)
        except ValueError as error:
            raise ValueError(str(error).removeprefix(_PREFIX)) from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        if getattr(self.tokenizer.model, "dropout", None):
            self.tokenizer.model.dropout = None  # ids must not be random
        # Some post-processors trim the white space of tokens from their offsets.
        self.post_processor = self.tokenizer.post_processor
        self.tokenizer.post_processor = None
        self.added = self.tokenizer.get_added_tokens_decoder()
        self.allowed: list[str] | bool | None = None
        self.allow(False)
        splitter = self.tokenizer.pre_tokenizer
        settings = None if splitter is None else json.loads(splitter.__getstate__())
        self.marks_spaces = "Metaspace" in json.dumps(settings)
        self.is_over_bytes = "ByteLevel" in json.dumps(settings)
        self.adds_space = isinstance(settings, dict) and bool(
            settings["type"] == "ByteLevel" and settings["add_prefix_space"]
        )

    @cached_property
    def _miscounts(self) -> bool:
        """Whether the library may return wrong offsets (see `_tokenized`)."""
        import tokenizers

        model = self.tokenizer.model
        if type(model).__name__ != "BPE":
            return False
        marks = model.continuing_subword_prefix or model.end_of_word_suffix
        if model.unk_token is not None:
            return bool(marks and model.byte_fallback)
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        return bool(marks or not self.is_over_bytes) or None in map(model.token_to_id, alphabet)

    def _tokenized(self, word: str) -> list[Any]:
        """Return the tokens of a pre-token, with offsets in its bytes.

        `tokenizers` adds up the lengths of the characters that BPE merges. A character that is
        not in the vocabulary may count nothing, and one of byte fallback also counts its mark.
        """
        import tokenizers

        places = self._counted(word)
        tokens = []
        for token in self.tokenizer.model.tokenize(word):
            first, last = token.offsets
            start, end = places[first][0], places[last - 1][1]
            # The library cannot convert empty offsets. A mark has no name and those before it.
            is_mark = start == end
            name = "" if is_mark else token.value
            tokens.append(tokenizers.Token(token.id, name, (start - is_mark, end)))
        return tokens

    def _counted(self, word: str) -> list[tuple[int, int]]:
        """Return where each byte that the library counts is in a pre-token: empty for marks."""
        model = self.tokenizer.model
        if model.ignore_merges and model.token_to_id(word) is not None:
            return [*pairwise(range(len(word.encode()) + 1))]
        places: list[tuple[int, int]] = []
        end = 0
        for i, character in enumerate(word):
            prefix = (model.continuing_subword_prefix or "") if i else ""
            suffix = (model.end_of_word_suffix or "") if i == len(word) - 1 else ""
            start, end = end, end + len(character.encode())
            first, last = start, end
            spelling = prefix + character + suffix
            if model.token_to_id(spelling) is None:
                bytes_of = [f"<0x{byte:02X}>" for byte in spelling.encode()]
                if model.byte_fallback and None not in map(model.token_to_id, bytes_of):
                    first -= len(prefix.encode())
                    last = first + len(bytes_of)
                elif model.unk_token is None:
                    continue  # dropped
            places += pairwise(min(max(start, place), end) for place in range(first, last + 1))
        return places

    def info(self) -> dict[str, Any]:
        tokenizer, model = self.tokenizer, self.tokenizer.model
        parts = {
            name: None if part is None else _without_tables(json.loads(part.__getstate__()))
            for name, part in (
                ("normalizer", tokenizer.normalizer),
                ("pre_tokenizer", tokenizer.pre_tokenizer),
                ("decoder", tokenizer.decoder),
                ("post_processor", self.post_processor),
            )
        }
        names = (
            "unk_token",
            "continuing_subword_prefix",
            "end_of_word_suffix",
            "byte_fallback",
            "fuse_unk",
            "ignore_merges",
        )
        settings = {name: getattr(model, name, None) for name in names}
        unknown = settings["unk_token"]
        unknown_id = None if not unknown else tokenizer.token_to_id(unknown)
        if type(model).__name__ == "Unigram":  # it has no attributes for these
            state = json.loads(model.__getstate__())
            unknown_id, settings["byte_fallback"] = state["unk_id"], state["byte_fallback"]
        return {
            **parts,
            "model": {"type": type(model).__name__, **settings},
            "unknown": unknown_id,
            "size": tokenizer.get_vocab_size(),
            "special": {token.content: i for i, token in self.added.items() if token.special},
            "added": sorted(self.added),
            "flags": {i: _flags(token) for i, token in self.added.items()},
        }

    def spellings(self) -> dict[int, str]:
        spellings = {
            i: name for name, i in self.tokenizer.get_vocab(with_added_tokens=True).items()
        }
        for token_id in range(self.tokenizer.get_vocab_size()):
            # Several ids of a Unigram model may have the same spelling.
            if (
                token_id not in spellings
                and (name := self.tokenizer.id_to_token(token_id)) is not None
            ):
                spellings[token_id] = name
        return spellings | {i: token.content for i, token in self.added.items()}

    def answer(self, operation: str, payload: bytes) -> bytes:
        if operation in (IDS, TOKENS, NORMALIZE, PRE_TOKENS):
            names, _, payload = payload.rpartition(END_OF_NAMES)
            self.allow(json.loads(names or "false"))
        return super().answer(operation, payload)

    def allow(self, names: list[str] | bool) -> None:
        """Find only these special tokens in the next text, or all of them if True."""
        if names == self.allowed:
            return
        self.allowed = names
        allowed = frozenset([] if isinstance(names, bool) else names)
        self.findable = {
            i: token
            for i, token in self.added.items()
            if names is True or not token.special or token.content in allowed
        }
        self.encoder = self._encoder(allowed) if allowed else self.tokenizer
        self.encoder.encode_special_tokens = names is not True

    def _encoder(self, names: frozenset[str]) -> Any:
        """Return the tokenizer in which these tokens are not special, and so always found."""
        import tokenizers

        encoder = tokenizers.Tokenizer(self.tokenizer.model)
        if self.tokenizer.normalizer is not None:
            encoder.normalizer = self.tokenizer.normalizer
        if self.tokenizer.pre_tokenizer is not None:
            encoder.pre_tokenizer = self.tokenizer.pre_tokenizer
        added = []
        for _, token in sorted(self.added.items()):  # in this order, each gets its id again
            flags = {flag: getattr(token, flag) for flag in _FLAGS}
            special = token.special and token.content not in names
            added.append(tokenizers.AddedToken(token.content, special=special, **flags))
        encoder.add_tokens(added)
        return encoder

    def ids_of(self, texts: list[str]) -> list[list[int]]:
        # Only a batch can be encoded without offsets.
        encodings = self.encoder.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def encode(self, text: bytes) -> tuple[list[int], list[int], list[int]]:
        """Return the ids of a text, and where each begins and ends, in characters."""
        whole = text.decode()
        encoding = self.encoder.encode(whole, add_special_tokens=False)
        offsets = encoding.offsets
        if self._miscounts:
            spans = self._spans(whole)
            prepared = self._prepared(whole, spans, split=True)
            is_outside = iter(_outside(prepared, spans))
            prepared.tokenize(lambda word: self._tokenized(word) if next(is_outside) else [])
            again = prepared.to_encoding()
            named = zip(_to_spans(again), again.tokens, strict=True)
            counted = [span if name else span._replace(start=span.end) for span, name in named]
            reached = accumulate((span.start for span in counted), max)
            places = [*zip(reached, counted, strict=True), *((span.start, span) for span in spans)]
            counted = [span for _, span in sorted(places, key=itemgetter(0))]
            if [span.id for span in counted] == encoding.ids:
                offsets = [span[1:] for span in counted]
        return encoding.ids, [start for start, _ in offsets], [end for _, end in offsets]

    def template(self, _: bytes) -> tuple[list[int], list[int]]:
        """Return the ids that the post-processor adds before and after a text."""
        import tokenizers

        if self.post_processor is None:
            return [], []
        # A token of another tokenizer replaces the text: this vocabulary may have none for it.
        probe = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}))
        encoding = self.post_processor.process(probe.encode("a"), add_special_tokens=True)
        if encoding.special_tokens_mask.count(0) != 1:  # a template can repeat the text
            return [], []
        at = encoding.special_tokens_mask.index(0)
        return encoding.ids[:at], encoding.ids[at + 1 :]

    def scores(self, _: bytes) -> bytes:
        """Return the score of each id of a Unigram model. float64."""
        pieces = json.loads(self.tokenizer.model.__getstate__())["vocab"]
        return array("d", (score for _, score in pieces)).tobytes()

    def _prepared(self, text: str, spans: Sequence[_Span], *, split: bool) -> Any:
        """Return a text after the normalizer and, if asked for, the pre-tokenizer.

        Args:
            text: The text.
            spans: The added tokens in it, which only separate the other parts.
            split: Whether to pre-tokenize.
        """
        import tokenizers

        prepared = tokenizers.PreTokenizedString(text)
        raw = [span for span in spans if not self.added[span.id].normalized]
        if raw:
            ends = sorted({0, *(end for span in raw for end in span[1:]), len(text)})
            prepared.split(lambda _, part: [part[a:b] for a, b in pairwise(ends)])
        if self.tokenizer.normalizer is not None:
            prepared.normalize(self.tokenizer.normalizer.normalize)
        others = {span.id for span in spans if self.added[span.id].normalized}
        if others:
            names = sorted((self._expression(self.added[i]) for i in others), key=len, reverse=True)
            expression = tokenizers.Regex("|".join(names))
            prepared.split(lambda _, part: part.split(expression, "isolated"))
        if split and self.tokenizer.pre_tokenizer is not None:
            self.tokenizer.pre_tokenizer.pre_tokenize(prepared)
        return prepared

    def _expression(self, token: Any) -> str:
        """Return the expression of an added token in a normalized text."""
        name = re.escape(self._normalized(token.content))
        if token.single_word:
            name = rf"(?<!\w){name}(?!\w)"
        before, after = (r"\s*" if flag else "" for flag in (token.lstrip, token.rstrip))
        return before + name + after

    def _normalized(self, text: str) -> str:
        normalizer = self.tokenizer.normalizer
        return text if normalizer is None else str(normalizer.normalize_str(text))

    def _spans(self, text: str) -> list[_Span]:
        """Return the added tokens in a text."""
        if not any(token.normalized or token.content in text for token in self.findable.values()):
            return []
        spans = _to_spans(self.encoder.encode(text, add_special_tokens=False))
        return [span for span in spans if self._is_added(span, text)]

    def _is_added(self, span: _Span, text: str) -> bool:
        """Return whether a token is the name of an added token, and not an unknown word."""
        token = self.findable.get(span.id)
        written = text[span.start : span.end]
        if token is None or not written:
            return False
        if not token.normalized:
            return written.strip() == token.content.strip()
        return self._normalized(written).strip() == self._normalized(token.content).strip()

    def _splits(
        self, prepared: Any, text: str, spans: Sequence[_Span], *, by_character: bool = False
    ) -> list[_Split]:
        """Return the parts of a prepared text; added tokens are whole, or characters."""
        parts = [*compress(_original(prepared), _outside(prepared, spans))]
        for _, start, end in spans:
            inside = [(i, i + 1) for i in range(start, end)] if by_character else [(start, end)]
            parts += [(text[a:b], (a, b), None) for a, b in inside]
        return sorted(parts, key=lambda part: part[1][0])

    def normalize(self, text: bytes) -> tuple[str, list[int]]:
        """Return the normalized text, and the character that each of its characters comes from.

        It contains what a pre-tokenizer adds, the ▁ of `Metaspace` or a space before the text, but
        not the byte alphabet.
        """
        import tokenizers

        whole = text.decode()
        spans = self._spans(whole)
        prepared = self._prepared(whole, spans, split=self.marks_spaces)
        any_character = tokenizers.Regex(r"[\s\S]")
        prepared.split(lambda _, part: part.split(any_character, "isolated"))
        parts = _with_spaces(whole, self._splits(prepared, whole, spans, by_character=True))
        if self.adds_space:
            parts = [*_with_prefixes(parts, spans)]
        return "".join(character for character, _ in parts), [start for _, (start, _) in parts]

    def pre_tokens(self, text: bytes) -> list[tuple[str, tuple[int, int], bool]]:
        """Return the pre-tokens of a text, their characters, and whether it is an added token."""
        whole = text.decode()
        spans = self._spans(whole)
        splits = self._splits(self._prepared(whole, spans, split=True), whole, spans)
        added = {span[1:] for span in spans}
        return [(*part, part[1] in added) for part in _with_spaces(whole, splits) if part[0]]

    def decode_each(self, batch: list[array[int]]) -> list[str]:
        texts: list[str] = self.tokenizer.decode_batch(batch, skip_special_tokens=False)
        return texts


def _to_spans(encoding: Any) -> list[_Span]:
    """Return the tokens of an encoding."""
    return [_Span(i, *place) for i, place in zip(encoding.ids, encoding.offsets, strict=True)]


def _original(prepared: Any) -> list[_Split]:
    """Return the parts of a prepared text."""
    splits: list[_Split] = prepared.get_splits(offset_referential="original", offset_type="char")
    return splits


def _outside(prepared: Any, spans: Sequence[_Span]) -> list[bool]:
    """Return for each part of a prepared text whether it is outside of added tokens."""
    begins = [span.start for span in spans]
    places = ((bisect_right(begins, start) - 1, start) for _, (start, _), _ in _original(prepared))
    return [place < 0 or spans[place].end <= start for place, start in places]


def _flags(added: Any) -> list[str]:
    """Return the names of the flags of an added token that are set."""
    return [name for name in _FLAGS if getattr(added, name)]


def _with_prefixes(
    characters: Iterable[tuple[str, tuple[int, int]]], spans: Sequence[_Span]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield characters with a space before each part that does not begin with one.

    Added tokens, whose places are the spans, divide the text into parts.
    """
    part_starts = {0, *(span.end for span in spans)}
    added_starts = {span.start for span in spans}
    for character, (start, end) in characters:
        if start in part_starts and start not in added_starts and character != " ":
            yield " ", (start, start)
        part_starts.discard(start)
        yield character, (start, end)


def _with_spaces(text: str, parts: Iterable[_Split]) -> list[tuple[str, tuple[int, int]]]:
    """Return parts with their offsets, where a ▁ covers a space that was removed before it.

    `WhitespaceSplit` removes spaces, and `Metaspace` then adds ▁ before each word, as in T5.
    """
    spaced: list[tuple[str, tuple[int, int]]] = []
    reached = 0
    for part, (start, end), _ in parts:
        is_removed = reached < start and text[start - 1] == " " and part[:1] == "▁"
        if is_removed and text[start:end][:1] not in (" ", "▁"):
            start -= 1
        spaced.append((part, (start, end)))
        reached = max(reached, end)
    return spaced


class _Buffers:
    """The part of NumPy that `sentencepiece` uses to return ids without a list of numbers.

    Importing NumPy takes longer than most texts, and the list as long as the segmentation.
    """

    int32 = "i"

    @staticmethod
    def frombuffer(buffer: Any, dtype: str) -> Any:
        """Return the buffer itself."""
        return buffer


class SentencePiece(TokenizerLibrary):
    """A .model of SentencePiece."""

    def __init__(self, content: bytes) -> None:
        import sentencepiece
        from sentencepiece import sentencepiece_model_pb2

        messages: Any = sentencepiece_model_pb2  # its classes are made at run time
        sys.modules.setdefault("numpy", _Buffers)  # type: ignore[arg-type]
        self.processor = sentencepiece.SentencePieceProcessor()
        try:
            self.processor.load_from_serialized_proto(content)
        except RuntimeError as error:  # its message is a line of its source code
            raise ValueError("the file is damaged, or not a model of SentencePiece") from error
        kind = messages.ModelProto.FromString(content).trainer_spec.model_type
        self.kind = {2: "BPE", 3: "words", 4: "characters"}.get(kind, "Unigram")

    def info(self) -> dict[str, Any]:
        processor = self.processor
        every = [*range(processor.get_piece_size())]
        controls = compress(every, processor.is_control(every))
        special = {processor.id_to_piece(i): i for i in controls}
        return {
            "model": {"type": self.kind, "byte_fallback": any(processor.is_byte(every))},
            "unknown": processor.unk_id(),
            "size": len(every),
            "special": special,
            "added": [],
            "normalizes": True,
        }

    def spellings(self) -> dict[int, str]:
        every = [*range(self.processor.get_piece_size())]
        return dict(zip(every, self.processor.id_to_piece(every), strict=True))

    def scores(self, _: bytes) -> bytes:
        """Return the score of each id; NaN for those that are not normal pieces. float64."""
        processor = self.processor
        every = [*range(processor.get_piece_size())]
        others = processor.is_control, processor.is_unknown, processor.is_unused, processor.is_byte
        kinds = zip(*(other(every) for other in others), strict=True)
        scores = zip(kinds, processor.get_score(every), strict=True)
        return array("d", (nan if any(kind) else score for kind, score in scores)).tobytes()

    def ids(self, texts: bytes) -> bytes:
        batch = self.processor.encode(texts.split(END_OF_TEXT), return_type="numpy", num_threads=1)
        raws: list[bytes] = [memoryview(ids).tobytes() for ids in batch]
        return _numbers([len(raw) // 4 for raw in raws]) + b"".join(raws)

    def encode(self, text: bytes) -> tuple[list[int], list[int], list[int]]:
        """Return the ids of a text, and where each begins and ends, in bytes."""
        encoding = self.processor.encode(text, return_type="offset_mapping")
        offsets = encoding["offsets"]
        return encoding["ids"], [start for start, _ in offsets], [end for _, end in offsets]

    def template(self, _: bytes) -> tuple[list[int], list[int]]:
        """Return the ids of BOS and EOS. A .model does not define whether to add them."""
        begin, end = self.processor.bos_id(), self.processor.eos_id()
        return [begin] * (begin >= 0), [end] * (end >= 0)

    def normalize(self, text: bytes) -> tuple[str, list[int]]:
        """Return the normalized text, and the character that each of its characters comes from."""
        normalized, offsets = self.processor.normalize(text.decode(), with_offsets=True)
        return normalized, offsets[: len(normalized)]

    def pre_tokens(self, text: bytes) -> list[tuple[str, tuple[int, int], bool]]:
        """Return no pre-tokens: the library does not show them."""
        return []

    def decode_each(self, batch: list[array[int]]) -> list[str]:
        texts: list[str] = self.processor.decode(batch, num_threads=1) if batch else []
        return texts


class Ranks(Library):
    """Ranks of tiktoken: JSON with the lines of the file and the expression."""

    def __init__(self, content: bytes) -> None:
        import tiktoken

        given = json.loads(content)
        lines = map(str.split, given["lines"].splitlines())
        self.encoding = tiktoken.Encoding(
            "ranks",
            pat_str=given["pat_str"],
            mergeable_ranks={b64decode(raw): int(rank) for raw, rank in lines},
            special_tokens={},
        )

    def ids_of(self, texts: list[str]) -> list[list[int]]:
        return [*map(self.encoding.encode_ordinary, texts)]


class JinjaTemplate(Library):
    """A chat template in Jinja: JSON with "template" and its "variables".

    It is rendered as in `transformers` (`chat_template_utils.py`).
    """

    def __init__(self, content: bytes) -> None:
        from jinja2 import ext, meta, nodes, parser, sandbox

        class Generation(ext.Extension):
            """The block {% generation %}, which marks texts of the model for training."""

            tags = {"generation"}  # noqa: RUF012, as in the base class

            def parse(self, parser: parser.Parser) -> list[nodes.Node]:
                """Return the content of the block, between the variables with its marks."""
                line = next(parser.stream).lineno
                body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
                begin, end = (nodes.Output([nodes.Name(name, "load")]) for name in _BLOCK)
                return [begin, nodes.Scope(body, lineno=line), end]

        given = json.loads(content)
        environment = sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        self.template = environment.from_string(given["template"])
        self.takes = meta.find_undeclared_variables(environment.parse(given["template"]))
        self.variables: dict[str, Any] = given["variables"]

    def render(self, request: bytes) -> list[dict[str, Any]]:
        """Return the text of each variant of a conversation, or why it has none.

        Args:
            request: JSON with "messages", "tools" or null, further "variables", "variants", and
                the first code point "mark" of the number "marks" that mark the content of message
                i: 2 i before, 2 i + 1 after it. The last two mark the block {% generation %}. A
                variant may replace "messages" and "variables", and has these keys: "count" of the
                first messages, the numbers of those that are "marked", the character "from" which
                they are, whether they are "stripped", and whether the "block" is marked.

        Returns:
            For each variant its "text" or an "error". One with marks has their "places", the number
            and the character of each, and no text. If the text without marks is not that of the
            first variant, the places are null; with other messages, it has this text.
        """
        given = json.loads(request)
        if unknown := sorted({*given["variables"]} - self.takes):
            raise ValueError(f"it has no variable named {', '.join(unknown)}")
        variants: list[dict[str, Any]] = []
        for variant in given["variants"]:
            try:
                text = self._render(given | variant, len(request))
            except MemoryError:
                raise
            except Exception as error:
                variants.append({"error": " ".join(str(error).split())[:_LONGEST_MESSAGE]})
                continue
            if "marked" not in variant:
                variants.append({"text": text})
                continue
            marks = f"[{given['mark']:c}-{given['mark'] + given['marks'] - 1:c}]"
            parts = re.split(marks, text)
            plain = "".join(parts)
            numbers = [ord(mark) - given["mark"] for mark in re.findall(marks, text)]
            places = [*zip(numbers, accumulate(map(len, parts)), strict=False)]
            if "messages" in variant:
                variants.append({"text": plain, "places": places})
            else:
                same = plain == variants[0].get("text")
                variants.append({"places": places if same else None})
        return variants

    def _render(self, variant: dict[str, Any], size: int) -> str:
        """Return the text of a variant, up to the answer of the model. size: of the request."""
        first = variant["mark"]
        messages = [*map(dict, variant["messages"][: variant.get("count")])]
        for i in variant.get("marked", ()):
            content = messages[i]["content"]
            content = content.strip() if variant.get("stripped") else content
            begin = variant.get("from", 0)
            marked = f"{first + 2 * i:c}{content[begin:]}{first + 2 * i + 1:c}"
            messages[i]["content"] = content[:begin] + marked
        standard = {
            "documents": None,
            "add_generation_prompt": messages[-1]["role"] != "assistant",
        }
        if variant.get("block"):
            end = first + variant["marks"]
            standard |= dict(zip(_BLOCK, (chr(end - 2), chr(end - 1)), strict=True))
        given = self.variables | standard | variant["variables"]
        rendered = self.template.render(given, messages=messages, tools=variant["tools"])
        if len(rendered) > size + _LONGEST_FRAME * len(messages):
            raise ValueError(f"it adds more than {_LONGEST_FRAME:,} characters to a message")
        return rendered


def _to_json(value: Any, ensure_ascii: bool = False, indent: Any = None, **how: Any) -> str:
    """Return JSON without the escapes for HTML of Jinja's own filter, as `transformers` does."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **how)


def _raise(message: str) -> None:
    raise ValueError(message)


def _without_tables(part: Any) -> Any:
    """Return a part of a tokenizer.json without the table of a `Precompiled`, which is large."""
    if isinstance(part, dict):
        return {
            key: _without_tables(value)
            for key, value in part.items()
            if key != "precompiled_charsmap"
        }
    return [_without_tables(item) for item in part] if isinstance(part, list) else part


class MergeIds(Library):
    """The merges of a tokenizer.json."""

    def load(self, content: bytes) -> bytes:
        """Return the left, the right and the merged id of each merge. int32."""
        model = json.loads(content)["model"]
        ids: dict[str, int] = model["vocab"]
        prefix = len(model.get("continuing_subword_prefix") or "")
        pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
        left, right = ([ids[pair[side]] for pair in pairs] for side in (0, 1))
        return _numbers(left, right, [ids[pair[0] + pair[1][prefix:]] for pair in pairs])


_LIBRARIES: dict[str, type[Library]] = {
    HUGGING_FACE: HuggingFace,
    SENTENCEPIECE: SentencePiece,
    TIKTOKEN: Ranks,
    MERGES: MergeIds,
    CHAT_TEMPLATE: JinjaTemplate,
}


def _numbers(*columns: list[int]) -> bytes:
    return b"".join(array("i", column).tobytes() for column in columns)


def _return_memory() -> None:
    """Return the memory that reading a file left to the system, if the C library is glibc."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes  # not for small files, since importing it takes longer than reading them

        ctypes.CDLL(None).malloc_trim(0)


def main() -> None:
    """Answer requests: the names of the library and of the operation, and the payload."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads take more memory, not less time
    library = Library(b"")

    def answer(_: int, parts: Sequence[serving.Buffer]) -> tuple[bytes]:
        nonlocal library
        name, operation = (str(part, "utf-8") for part in parts[:2])
        payload = bytes(parts[2])
        try:
            if operation == LOAD:
                library = _LIBRARIES[name](payload)
            return (library.answer(operation, payload),)
        except (MemoryError, ImportError):
            raise
        except BaseException as error:  # a panic of `tokenizers` is a BaseException
            message = " ".join(str(error).split())[:_LONGEST_MESSAGE]
            if isinstance(error, OverflowError) and name != CHAT_TEMPLATE:
                message = "an id is too large"
            raise serving.Refused(message.encode("utf-8", "replace")) from error

    serving.serve(answer, niceness=10, idle=IDLE)
