"""What all models have in common in a tokenizer.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bpeviz.core.tokenizer import Tokenizer, TrainedTokenizer
from bpeviz.formats.merges import CannotError
from bpeviz.formats.parsing import FormatError, Keys, checked_id, kind, shown, shown_name, wrong
from bpeviz.formats.regex_dialects import ForeignExpressionError, matching_all, splitting_of
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


def whole(
    model: dict[str, Any],
    special: Mapping[str, int],
    *,
    normalizers: Sequence[Part] = (),
    pre_tokenizers: Sequence[Part],
    decoder: Part | None,
) -> dict[str, Any]:
    """Return the whole document."""
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
        "normalizer": _one_or_many(normalizers, "normalizers"),
        "pre_tokenizer": _one_or_many(pre_tokenizers, "pretokenizers"),
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }


def _one_or_many(parts: Sequence[Part], key: str) -> Part | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"type": "Sequence", key: [*parts]}


def split_at(expression: str) -> Part:
    """Return what makes a pre-token of each match, and of what stands between two."""
    return {
        "type": "Split",
        "pattern": {"Regex": expression},
        "behavior": "Isolated",
        "invert": False,
    }


def splits(pattern: str, expression: str) -> list[Part]:
    """Return what cuts a text as our split does: a part, or none. Raises `CannotError`."""
    if pattern == "none":
        return []
    try:
        return [split_at(matching_all(pattern, expression, "oniguruma"))]
    except ForeignExpressionError as error:
        raise CannotError(f"its split cannot be written for Oniguruma: {error}") from error


def ids_given(entries: Mapping[str, int], special: Mapping[str, int]) -> dict[str, int]:
    """Return the ids that the library gives to added tokens, whatever a file says.

    One that the model knows has its id there; any other gets the next (`added_vocabulary.rs`).
    """
    given: dict[str, int] = {}
    following = len(entries)
    for name in sorted(special, key=special.__getitem__):
        given[name] = entries.get(name, following)
        following = max(following, given[name] + 1)
    return given


def with_special(entries: dict[str, int], special: Mapping[str, int]) -> dict[str, int]:
    """Return a vocabulary in the order of ids, with the special tokens where they need it."""
    if ids_given(entries, special) != dict(special):
        entries = entries | dict(special)
    return dict(sorted(entries.items(), key=lambda entry: entry[1]))


def ids_of(inner: TrainedTokenizer, tokenizer: Tokenizer) -> list[int]:
    """Return the ids of atoms and of what is learnt, in the inner tokenizer's order."""
    known = len(inner.alphabet) + inner.learnt
    if isinstance(tokenizer, RemappedTokenizer):
        found: list[int] = tokenizer.table[:known].tolist()
        return found
    return [*range(known)]


def added_tokens(keys: Keys) -> dict[str, int]:
    """Read the ids of the added tokens, each of which must be a special one."""
    found: dict[str, int] = {}
    ids: set[int] = set()
    ways: set[bool] = set()
    for place, entry in enumerate(keys.listed("added_tokens") if keys.get("added_tokens") else ()):
        token = Keys.of(keys.name, f"added_tokens[{place}]", entry)
        content = token.text("content")
        token_id = checked_id(keys.name, token.at("id"), token.get("id"))
        for key in ("single_word", "lstrip", "rstrip"):
            token.expect(key, False, None, why="special tokens take nothing around them along here")
        ways.add(bool(token.expect("normalized", True, False, None)))
        token.expect(
            "special",
            True,
            why=f"{shown(content)} is cut out of every text, and here only special tokens are",
        )
        token.done()
        if not content:
            raise token.wrong("content", "a special token has one character or more")
        if content in found or token_id in ids:
            raise token.wrong("id", f"the id {token_id} or the name {shown(content)} comes twice")
        found[content] = token_id
        ids.add(token_id)
    if len(ways) > 1:
        raise keys.wrong(
            "added_tokens",
            "some are normalized and some are not, so they are sought one after the other, and "
            "here all at once",
        )
    return found


def check_added(keys: Keys, entries: Mapping[str, int], special: Mapping[str, int]) -> None:
    """Raise `FormatError` where the library would give an added token another id."""
    given = ids_given(entries, special)
    for name, token_id in special.items():
        if given[name] != token_id:
            raise keys.wrong(
                "added_tokens",
                f"{shown(name)} has the id {token_id}, but the library would give it {given[name]}",
            )


def split_of(file: str, path: str, value: object, *, otherwise: str) -> tuple[str, str]:
    """Read a `Split` as one of ours: its pattern and its expression.

    otherwise: what is expected, where this is no `Split`.
    """
    part = Keys.of(file, path, value if isinstance(value, dict) else {})
    if part.get("type") != "Split":
        raise wrong(file, path, f"expected {otherwise}, not {kind(value)}")
    written = part.keys("pattern")
    if "Regex" not in written.values:
        raise wrong(file, written.path, f"expected a Regex, not {kind(dict(written.values))}")
    expression = written.text("Regex")
    written.done()
    behavior = part.expect("behavior", "Isolated", "Removed")
    invert = bool(part.expect("invert", False, True, None))
    part.done()
    if (behavior == "Removed") != invert:
        raise wrong(
            file,
            path,
            "expected the matches Isolated, or all but the matches Removed (with invert), so that "
            "the matches are the chunks",
        )
    try:
        return splitting_of(expression, "oniguruma", drops=behavior == "Removed")
    except ForeignExpressionError as error:
        raise wrong(
            file, f"{path}.pattern.Regex", f"this split is not read here as there: {error}"
        ) from None


_DEFAULTS = {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False}


def check_same(keys: Keys, model: Keys, ours: Mapping[str, Any]) -> None:
    """Raise `FormatError` where a file says anything else than what would be written here.

    ours: the document for the tokenizer that was read.
    """
    for key in ("normalizer", "pre_tokenizer"):
        expected, found = ours[key], keys.get(key)
        if found != expected:
            raise keys.wrong(
                key,
                f"for this model expected {_short(expected)}, not {_short(found)}, which is not "
                "done here exactly",
            )
    for key, expected in ours["model"].items():
        found = model.get(key)
        if key in ("vocab", "merges", "dropout", "ignore_merges", "type"):
            continue
        if found in (None, ""):
            found = _DEFAULTS.get(key)
        if found != expected:
            raise model.wrong(key, f"expected {json.dumps(expected)}, not {kind(found)}")


def read_alike(keys: Keys, error: CannotError) -> FormatError:
    """Return the error for a file that would not be encoded here as there."""
    return FormatError(
        f"{shown_name(keys.name)} is not taken, for here it would be encoded otherwise: {error}."
    )


def _short(value: object) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), 160)
