"""The parts of a tokenizer.json that all models share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bpeviz.core.tokenizer import Tokenizer, TrainedTokenizer
from bpeviz.formats.base import FormatError, UnsupportedError
from bpeviz.formats.parsing import Node, describe, quoted
from bpeviz.formats.regex_dialects import DialectError, expression_of, pattern_of
from bpeviz.formats.remapped_ids import RemappedTokenizer
from bpeviz.text import shorten

Part = dict[str, Any]
"""A normalizer, pre-tokenizer or decoder."""

BYTE_LEVEL: Part = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}


def document_of(
    model: dict[str, Any],
    special: Mapping[str, int],
    *,
    normalizers: Sequence[Part] = (),
    pre_tokenizers: Sequence[Part],
    decoder: Part | None,
) -> dict[str, Any]:
    """Return the document with these parts."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": token_id,
                "content": name,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for name, token_id in sorted(special.items(), key=lambda item: item[1])
        ],
        "normalizer": _sequence(normalizers, "normalizers"),
        "pre_tokenizer": _sequence(pre_tokenizers, "pretokenizers"),
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }


def _sequence(parts: Sequence[Part], key: str) -> Part | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"type": "Sequence", key: [*parts]}


def split_at(expression: str) -> Part:
    """Return the `Split` with the matches, and the text between two matches, as pre-tokens."""
    return {
        "type": "Split",
        "pattern": {"Regex": expression},
        "behavior": "Isolated",
        "invert": False,
    }


def splits(pattern: str, expression: str) -> list[Part]:
    """Return the `Split` of a pattern, or none for "none". Raises `UnsupportedError`."""
    if pattern == "none":
        return []
    try:
        return [split_at(expression_of(pattern, expression, "oniguruma"))]
    except DialectError as error:
        raise UnsupportedError(f"its pre-tokenization cannot be translated: {error}") from error


def assigned_ids(entries: Mapping[str, int], special: Mapping[str, int]) -> dict[str, int]:
    """Return the ids that the library assigns to added tokens, whatever a file states.

    A token in the vocabulary keeps its id; any other gets the next one (`added_vocabulary.rs`).
    """
    assigned: dict[str, int] = {}
    next_id = len(entries)
    for name in sorted(special, key=special.__getitem__):
        assigned[name] = entries.get(name, next_id)
        next_id = max(next_id, assigned[name] + 1)
    return assigned


def with_special(entries: dict[str, int], special: Mapping[str, int]) -> dict[str, int]:
    """Return a vocabulary in the order of ids, with the special tokens if they need entries."""
    if assigned_ids(entries, special) != dict(special):
        entries = entries | dict(special)
    return dict(sorted(entries.items(), key=lambda entry: entry[1]))


def ids_of(inner: TrainedTokenizer, tokenizer: Tokenizer) -> list[int]:
    """Return the ids of atoms and trained tokens in the order of the inner tokenizer."""
    known = len(inner.alphabet) + inner.trained_size
    if isinstance(tokenizer, RemappedTokenizer):
        found: list[int] = tokenizer.table[:known].tolist()
        return found
    return [*range(known)]


def added_tokens(tokens: Node) -> dict[str, int]:
    """Return the ids of the added tokens, which must be special. Raises `FormatError`."""
    found: dict[str, int] = {}
    ids: set[int] = set()
    normalized: set[bool] = set()
    for token in tokens.nodes() if tokens.value else ():
        content, token_id = token["content"].text(), token["id"].id()
        for key in ("single_word", "lstrip", "rstrip"):
            token[key].expect(False, None, why="special tokens include no text around them")
        normalized.add(bool(token["normalized"].expect(True, False, None)))
        token["special"].expect(
            True, why=f"{quoted(content)} is found in every text, and bpeviz finds special ones"
        )
        token.reject_unknown_keys()
        if not content:
            raise token["content"].error("a special token is empty")
        if content in found or token_id in ids:
            raise token.error(f"the id {token_id} or the name {quoted(content)} occurs twice")
        found[content] = token_id
        ids.add(token_id)
    if len(normalized) > 1:
        raise tokens.error(
            "some are normalized and others are not. The library searches for them one group after "
            "the other, and bpeviz for all at once"
        )
    return found


def check_added(document: Node, entries: Mapping[str, int], special: Mapping[str, int]) -> None:
    """Raise `FormatError` if the library would assign another id to an added token."""
    assigned = assigned_ids(entries, special)
    for name, token_id in special.items():
        if assigned[name] != token_id:
            raise document["added_tokens"].error(
                f"{quoted(name)} has the id {token_id}, but the library assigns {assigned[name]}"
            )


def parse_split(part: Node, *, otherwise: str = "a Split") -> tuple[str, str]:
    """Return the pattern and the expression of a `Split`.

    Args:
        part: the pre-tokenizer.
        otherwise: the expected parts for the error message, if this is not a `Split`.

    Raises:
        FormatError: it is not a `Split`, or bpeviz would split in another way.
    """
    if not isinstance(part.value, dict) or part["type"].value != "Split":
        raise part.expected(otherwise)
    pattern = part["pattern"]
    if "Regex" not in pattern:
        raise pattern.expected("a Regex")
    regex = pattern["Regex"]
    expression = regex.text()
    pattern.reject_unknown_keys()
    behavior = part["behavior"].expect("Isolated", "Removed")
    invert = bool(part["invert"].expect(False, True, None))
    part.reject_unknown_keys()
    if (behavior == "Removed") != invert:
        raise part.error(
            "expected the matches Isolated, or all but the matches Removed (with invert), so that "
            "the matches are the pre-tokens"
        )
    try:
        return pattern_of(expression, "oniguruma", drops=behavior == "Removed")
    except DialectError as error:
        raise regex.error(f"this pattern cannot be translated exactly: {error}") from None


_DEFAULTS = {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False}


def check_same(document: Node, model: Node, ours: Mapping[str, Any]) -> None:
    """Raise `FormatError` if a file differs from the document that bpeviz would write.

    Args:
        document: the file.
        model: its model.
        ours: the document of the tokenizer that was read.
    """
    for key in ("normalizer", "pre_tokenizer"):
        expected, found = ours[key], document[key]
        if found.value != expected:
            raise found.error(
                f"for this model bpeviz supports {_short(expected)} only, not {_short(found.value)}"
            )
    for key, expected in ours["model"].items():
        if key in ("vocab", "merges", "dropout", "ignore_merges", "type"):
            continue
        found = model[key]
        value = _DEFAULTS.get(key) if found.value in (None, "") else found.value
        if value != expected:
            raise found.error(f"expected {json.dumps(expected)}, not {describe(value)}")


def encoded_differently(document: Node, error: UnsupportedError) -> FormatError:
    """Return the error for a file that bpeviz would encode in another way."""
    return document.error(f"bpeviz would encode differently: {error}")


def _short(value: object) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), 160)
