"""bpeviz's own format, for the tokenizers of every trainer.

One JSON object: the kind of the tokenizer's class, and its fields, in which parts have kinds of
their own. A class declares its kind; its fields are those of its dataclass, and their types say how
they are read. A kind is looked up only in the core and in the registry of trainers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, fields
from functools import cache
from math import inf, isinf
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from bpeviz.core.fields import UNSAVED, InvalidFieldError
from bpeviz.core.hidden_tokens import HiddenTokenTokenizer
from bpeviz.core.longest_match import LongestMatchTokenizer
from bpeviz.core.merges import Merge, MergeTokenizer
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, FormatError, Source, UnsupportedError, has_suffix
from bpeviz.formats.merges import BYTE_SYMBOLS, too_long
from bpeviz.formats.parsing import Node, dump_json, error_at, parse_json
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.pretrained import catalog, rank_tokenizer
from bpeviz.trainers.continued_bpe import published
from bpeviz.trainers.registry import TRAINERS

_KEY = "bpeviz tokenizer"
_VERSION = 1

_CORE = MergeTokenizer, LongestMatchTokenizer, HiddenTokenTokenizer, PreTokenizer

_LONGEST_SYMBOL = 16

_DEEPEST = 4
"""The most tokenizers of which each is the base of another one."""

_EVERY_BYTE = tuple(BYTE_SYMBOLS.values())


def _classes(of: type[Any]) -> dict[str, Any]:
    """Return the subclasses of a class in the core and in the registry, by their kinds."""
    saved = [cls for trainer in TRAINERS.values() for cls in trainer.saved]
    known: list[Any] = [cls for cls in (*_CORE, *saved) if issubclass(cls, of)]
    return {cls.kind: cls for cls in known}


def _fields(cls: type[Any]) -> Iterator[Field[Any]]:
    """Yield the fields of a class that a file contains."""
    for field in fields(cls):
        if field.init and not field.name.startswith("_") and field.metadata != UNSAVED:
            yield field


@cache
def _types(cls: Any) -> dict[str, Any]:
    """Return the types of the fields of a class."""
    return get_type_hints(cls)


# ---- writing


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    document = {_KEY: _VERSION, **_members(tokenizer)}
    try:
        _check_sizes(tokenizer)
    except InvalidFieldError as error:
        raise UnsupportedError(error.reason) from error
    return {"tokenizer.bpeviz": dump_json(document)}


def _members(part: Any) -> dict[str, Any]:
    """Return the kind and the fields of a tokenizer, or of a part of it."""
    cls = type(part)
    base = next((base for base in (Tokenizer, PreTokenizer) if isinstance(part, base)), cls)
    if _classes(base).get(getattr(cls, "kind", "")) is not cls:
        raise UnsupportedError(f"no trainer declares the class {cls.__name__}")
    members = {field.name: _plain(getattr(part, field.name)) for field in _fields(cls)}
    if members.get("alphabet") == [*_EVERY_BYTE]:
        members["alphabet"] = None
    return {"kind": cls.kind, **members}


def _plain(value: Any) -> Any:
    """Return the value of a field for JSON."""
    if isinstance(value, Merge):
        return [value.left, value.right, value.count]
    if isinstance(value, tuple):
        return [*map(_plain, value)]
    if isinstance(value, np.ndarray):
        return [None if isinf(number) else number for number in value.tolist()]
    if isinstance(value, str | int | float):
        return value
    name = getattr(value, "name", "")
    if name in catalog.NAMES and value is rank_tokenizer.loaded(name):
        return name
    return _members(value)


# ---- reading


def _read(source: Source) -> Tokenizer:
    document = parse_json(*source.single())
    document[_KEY].expect(_VERSION, why="another version of bpeviz wrote it")
    _ = document["name"]
    tokenizer: Tokenizer = _part(document, Tokenizer, _DEEPEST, name=source.name)
    return tokenizer


def _part(node: Node, expected: type[Any], depth: int, **known: Any) -> Any:
    """Return a tokenizer, or a part of it.

    Args:
        node: Its members.
        expected: The class that it must have, or one of its subclasses.
        depth: How many tokenizers may be inside each other.
        **known: The values of fields that are not read.
    """
    base = PreTokenizer if issubclass(expected, PreTokenizer) else expected
    kinds = _classes(base)
    cls = kinds[node["kind"].expect(*kinds)]
    values = known
    for field in _fields(cls):
        if field.name not in values:
            read = node[field.name]
            values[field.name] = _value(read, field.name, _types(cls)[field.name], values, depth)
        if field.name == "pre_tokenizer" and not _fits(values[field.name], cls):
            raise node[field.name].error(f"it does not fit the kind {cls.kind!r}")
    node.reject_unknown_keys()
    try:
        part = cls(**values)
        if isinstance(part, Tokenizer):
            part.check_fields()
            _check_sizes(part)
    except InvalidFieldError as error:
        path = f"{node.path}." if node.path else ""
        raise error_at(node.file, f"{path}{error.field}", error.reason) from error
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise node.error(str(error).removesuffix(".")) from error
    return part


def _value(node: Node, name: str, of: Any, values: Mapping[str, Any], depth: int) -> Any:
    """Return the value of a field.

    Args:
        node: The field.
        name: Its name.
        of: Its type.
        values: The values of the fields before it.
        depth: How many tokenizers may be inside each other.
    """
    if get_origin(of) is Literal:
        return node.expect(*get_args(of))
    if name == "pattern":
        return node.expect(*PATTERNS, CUSTOM, WORD_LIST)
    if name == "alphabet":
        return _alphabet(node, values["pre_tokenizer"])
    if of == tuple[Merge, ...]:
        first = len(values["alphabet"]) if "alphabet" in values else values["base"].vocab_size
        return _merges(node, first)
    if get_origin(of) is np.ndarray:
        return _numbers(node, get_args(get_args(of)[1])[0])
    if get_origin(of) is tuple:
        return tuple(_value(entry, "", get_args(of)[0], values, depth) for entry in node.nodes())
    if of is str:
        return node.text()
    if of is int:
        return node.id()
    if of is bool:
        return node.expect(True, False)
    if of is float:
        return _numbers(Node(node.file, [node.value], node.path), np.float64)[0]
    if issubclass(of, Tokenizer):
        if isinstance(node.value, str):
            return published(node.expect(*catalog.NAMES))
        if not depth:
            raise node.error("too many tokenizers are inside each other")
        depth -= 1
    return _part(node, of, depth)


def _numbers(node: Node, of: Any) -> Any:
    """Return an array of numbers; null is infinity."""
    kinds = (int,) if of is np.int64 else (int, float, type(None))
    if not all(type(number) in kinds for number in node.list()):
        raise node.expected("a list of numbers")
    try:
        return np.array([inf if number is None else number for number in node.value], of)
    except OverflowError:
        raise node.error("a number is too large") from None


def _merges(node: Node, first: int) -> tuple[Merge, ...]:
    merges = []
    for new, (place, row) in enumerate(enumerate(node.list()), first):
        valid = isinstance(row, list) and [*map(type, row)] == [int, int, int]
        if not valid or not (0 <= row[0] < new and 0 <= row[1] < new and row[2] >= 0):
            raise node.entry_error(place, f"expected two ids below {new:,} and a count")
        merges.append(Merge(row[0], row[1], new, row[2], 0, 0))
    return tuple(merges)


def _alphabet(node: Node, pre_tokenizer: PreTokenizer) -> tuple[str, ...]:
    """Return the symbols of the atoms in the order of their ids. Raises `FormatError`."""
    over_bytes = pre_tokenizer.atoms == "bytes"
    if over_bytes and node.value is None:
        return _EVERY_BYTE
    symbols = tuple(symbol.text() for symbol in node.nodes())
    if over_bytes and tuple(sorted(symbols)) != tuple(sorted(_EVERY_BYTE)):
        raise node.error("the atoms are the 256 bytes")
    if not all(0 < len(symbol) <= _LONGEST_SYMBOL for symbol in symbols):
        raise node.error(f"a symbol has 1 to {_LONGEST_SYMBOL} characters")
    if len({*symbols}) < len(symbols):
        raise node.error("a symbol occurs twice")
    return symbols


# ---- checks


def _fits(pre_tokenizer: PreTokenizer, cls: Any) -> bool:
    """Return whether a class of tokenizers can have a pre-tokenizer.

    Some pre-tokenizers are for one class of tokenizers only, which declares them.
    """
    needed = _types(cls)["pre_tokenizer"]
    own = {_types(other).get("pre_tokenizer") for other in _classes(Tokenizer).values()}
    kind = type(pre_tokenizer)
    return issubclass(kind, needed) and (kind is needed or kind not in own - {PreTokenizer})


def _check_sizes(tokenizer: Tokenizer) -> None:
    """Check special tokens, and that no token is too long, alone or with all others."""
    special = getattr(tokenizer, "special", ())
    if len({*special}) < len(special) or "" in special:
        raise InvalidFieldError("special", "a special token is empty or occurs twice")
    merges: tuple[Merge, ...] = getattr(tokenizer, "merges", ())
    if not merges:
        return
    base = range(merges[0].new_id)
    known = {*tokenizer.known_ids()}.intersection(base)
    used = {token_id for merge in merges for token_id in merge[:2] if token_id in base}
    if absent := used - known:
        raise InvalidFieldError("merges", f"the base has no id {min(absent):,}")
    sizes = {token_id: len(tokenizer.token_bytes(token_id)) for token_id in known}
    if reason := too_long(sizes, (merge[:3] for merge in merges), 0):
        raise InvalidFieldError("merges", reason)


def _detect(files: Mapping[str, bytes]) -> bool:
    content = next(iter(files.values()))
    return content.startswith(f'{{"{_KEY}"'.encode()) or has_suffix(files, ".bpeviz")


FORMAT = Format(
    key="bpeviz",
    title="bpeviz’s own format",
    about="One file for bpeviz alone, for the tokenizers of every trainer, also those that other "
    "libraries cannot apply.",
    files=("tokenizer.bpeviz",),
    suffixes=(".bpeviz",),
    write=_write,
    read=_read,
    detect=_detect,
)
