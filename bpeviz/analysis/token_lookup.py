"""What a vocabulary says of a single token, and of ids that somebody brings along.

What a token is merged from (`parents`, `ancestry`), where it stands (`look_up`, `neighbors`), and
what a list of ids decodes to (`read_ids`, `decoded`): alike for all tokenizers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.text import color_index, label, shorten

MOST_IDS = 2_000
"""How many ids are decoded at once."""

LONGEST_LIST = 40_000
"""Characters of a list of ids that are read."""


# What is known of a token


def color_index_of(tokenizer: Tokenizer, token_id: int) -> int:
    return -1 if tokenizer.is_atom(token_id) else color_index(tokenizer.token_bytes(token_id))


def look_of(
    tokenizer: Tokenizer,
    training: Training | None = None,
    special: Collection[int] = (),
) -> Callable[[int], tuple[str, int]]:
    """Return what tells the name of a token and the number of its color (-1: none).

    training: what the tokenizer was learnt by; it also knows pieces that are pruned by now, whose
        ids may since have become those of special tokens. special: ids that do stand for such.
    """

    def look(token_id: int) -> tuple[str, int]:
        if training is not None and token_id not in special:
            return training.name(token_id), training.color_index(token_id)
        return shorten(tokenizer.token_label(token_id)), color_index_of(tokenizer, token_id)

    return look


# From ids to text


class IdsError(ValueError):
    """The sentence that says why a list of ids cannot be read."""


_LISTS = ("ids", "input_ids", "tokens", "token_ids")
_NUMBER = regex.compile(r"[+-]?\d+")
_BETWEEN = regex.compile(r"[\s,;|\[\](){}]+")


def read_ids(text: str) -> list[int]:
    """Read ids from a list in any usual manner: spaces, commas, brackets, lines, JSON.

    A JSON object may hold them under "ids", "input_ids", "tokens" or "token_ids". Raises
    `IdsError` with a sentence that names what is no id.

    >>> read_ids("[15339, 1917]"), read_ids("9468 239,235"), read_ids('{"ids": [1]}')
    ([15339, 1917], [9468, 239, 235], [1])
    """
    if len(text) > LONGEST_LIST:
        raise IdsError(
            f"These are {len(text):,} characters, and up to {LONGEST_LIST:,} are read. Paste fewer "
            "ids."
        )
    if ":" in text:
        text = _from_object(text)
    found = []
    at = 0
    for word in _BETWEEN.split(text):
        at = text.find(word, at)
        if not word:
            continue
        if not _NUMBER.fullmatch(word) or not word.isascii():
            raise IdsError(
                f"“{shorten(word, 20)}” at character {at + 1:,} is no id: ids are whole numbers."
            )
        # A number of thousands of digits is no id of anything; it is not worth computing.
        found.append(int(word) if len(word) <= 18 else 10**18)
        at += len(word)
    if len(found) > MOST_IDS:
        raise IdsError(
            f"These are {len(found):,} ids, and up to {MOST_IDS:,} are decoded. Paste fewer."
        )
    return found


def _from_object(text: str) -> str:
    """Return the list that a JSON object holds, as text."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise IdsError(f"There is a colon here, but this is no JSON object{where}.") from error
    if isinstance(given, dict):
        for name in _LISTS:
            value = given.get(name)
            if isinstance(value, list):
                flat = value[0] if len(value) == 1 and isinstance(value[0], list) else value
                if all(isinstance(one, int) and not isinstance(one, bool) for one in flat):
                    return " ".join(f"{one:d}" if abs(one) < 10**18 else "9" * 18 for one in flat)
                raise IdsError(f"“{name}” holds something that is no whole number.")
    raise IdsError(f"This JSON object has no list under any of: {', '.join(_LISTS)}.")


@dataclass(frozen=True)
class Decoded:
    """An id with what it stands for; `raw` is None for an id that is not in the vocabulary.

    note: what else is to be said: an unknown id, part of a character, a special token.
    """

    id: int
    raw: bytes | None
    label: str
    color_index: int
    note: str


def decoded(ids: Sequence[int], tokenizer: Tokenizer) -> list[Decoded]:
    """Return of each id what it stands for by itself, with those that are unknown named as such."""
    seen: dict[int, Decoded] = {}
    for token_id in ids:
        if token_id not in seen:
            seen[token_id] = _decoded(token_id, tokenizer)
    return [seen[token_id] for token_id in ids]


def _decoded(token_id: int, tokenizer: Tokenizer) -> Decoded:
    try:
        raw = tokenizer.token_bytes(token_id)
    except ValueError:
        return Decoded(token_id, None, "", -1, f"{tokenizer.name} has no such id")
    note = ""
    if token_id == tokenizer.unknown_id:
        note = "stands for what is not in the vocabulary"
    elif token_id in tokenizer.special_tokens.values():
        note = "a special token"
    else:
        try:
            raw.decode()
        except UnicodeDecodeError:
            note = "holds only a part of a character"
    return Decoded(
        token_id, raw, tokenizer.token_label(token_id), color_index_of(tokenizer, token_id), note
    )


def text_of(ids: Iterable[int], tokenizer: Tokenizer) -> str:
    """Return the text of the ids that the tokenizer knows, with stand-ins for what is not seen.

    Bytes that together are no character are shown as such, not as U+FFFD.
    """
    known = []
    for token_id in ids:
        try:
            tokenizer.token_bytes(token_id)
        except ValueError:
            continue
        known.append(token_id)
    return label(tokenizer.decode_bytes(known))


# A single token


@dataclass(frozen=True)
class Found:
    """A token that was looked up. part: what it is in the vocabulary, in words."""

    id: int
    raw: bytes
    label: str
    color_index: int
    place: str


def look_up(query: str, tokenizer: Tokenizer) -> list[Found]:
    """Return the tokens that a query names: by id, by text, or by the name that is shown.

    A dot · is a space where no token has one, so that a name can be typed as it is seen.
    """
    ids: list[int] = []
    if regex.fullmatch(r"[0-9]{1,18}", query.strip()):
        ids.append(int(query))
    ids += _ids_by_text(query, tokenizer)
    found = []
    for token_id in dict.fromkeys(ids):
        try:
            tokenizer.token_bytes(token_id)
        except ValueError:
            continue
        found.append(about(token_id, tokenizer))
    return found


def _ids_by_text(query: str, tokenizer: Tokenizer) -> Iterator[int]:
    if not query:
        return
    if query in tokenizer.special_tokens:
        yield tokenizer.special_tokens[query]
    yield from tokenizer.find(query)


def about(token_id: int, tokenizer: Tokenizer) -> Found:
    """Return what is known of a token. Raises `ValueError` for an unknown id."""
    raw = tokenizer.token_bytes(token_id)
    return Found(
        token_id,
        raw,
        tokenizer.token_label(token_id),
        color_index_of(tokenizer, token_id),
        _place(token_id, tokenizer),
    )


def _place(token_id: int, tokenizer: Tokenizer) -> str:
    if token_id == tokenizer.unknown_id:
        return "stands for what is not in the vocabulary"
    if token_id in tokenizer.special_tokens.values():
        return "a special token"
    step = tokenizer.merge_step(token_id)
    if step >= 0:
        return f"merge {step + 1:,} of {tokenizer.steps:,}"
    base = tokenizer.base_of(token_id)
    if base is not None:
        return f"of the vocabulary it began with: {_place(token_id, base)}"
    if not tokenizer.is_atom(token_id):
        return "a piece that was not pruned"
    return "a single byte" if tokenizer.atoms == "bytes" else "a single character"


def neighbors(token_id: int, tokenizer: Tokenizer, each_side: int = 4) -> list[Found]:
    """Return the tokens before and after one in the order of the ids, with itself among them."""
    found = []
    for other in range(max(0, token_id - each_side), token_id + each_side + 1):
        try:
            found.append(about(other, tokenizer))
        except ValueError:  # vocabularies have gaps
            continue
    return found


@dataclass(frozen=True)
class Ancestor:
    """A token on the way down to bytes: its level below the token asked for, and its parents."""

    level: int
    token: Found
    parents: tuple[Found, Found] | None


def ancestry(token_id: int, tokenizer: Tokenizer, limit: int = 100) -> list[Ancestor]:
    """Return a token, its parents, theirs, and so on down to what no merge makes, level by level.

    Each of them once; at most `limit`.
    """
    found: list[Ancestor] = []
    seen = {token_id}
    waiting = [(0, token_id)]
    for level, at in waiting:
        if len(found) == limit:
            break
        pair = tokenizer.parents(at)
        both = None if pair is None else (about(pair[0], tokenizer), about(pair[1], tokenizer))
        found.append(Ancestor(level, about(at, tokenizer), both))
        for parent in pair or ():
            if parent not in seen:
                seen.add(parent)
                waiting.append((level + 1, parent))
    return found
