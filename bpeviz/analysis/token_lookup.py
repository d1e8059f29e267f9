"""Token lookup: single tokens with their ancestry and neighbors, and decoding of id lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from bpeviz.analysis.hues import OWN_HUES, Hues, key_of
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import counted, joined, label, shorten

PART_NOTE = "only a part of a character"
"""The note of a token whose bytes are not text."""

_LISTED, _RANGES = 12, 4
"""The most ids in a sentence, and the most ranges of unused ids."""


def color_index_of(tokenizer: Tokenizer, token_id: int, hues: Hues = OWN_HUES) -> int:
    """Return the color index of a token, -1 for a single atom."""
    return hues.index(key_of(tokenizer, token_id))


def look_of(tokenizer: Tokenizer, hues: Hues) -> Callable[[int], tuple[str, int]]:
    """Return a function from ids to labels and color indices (-1 for none)."""

    def look(token_id: int) -> tuple[str, int]:
        return shorten(tokenizer.token_label(token_id)), color_index_of(tokenizer, token_id, hues)

    return look


@dataclass(frozen=True)
class Decoded:
    """An id with its token. `raw` is None for an id that is not in the vocabulary.

    note: "a special token", "part of a character", and the like.
    """

    id: int
    raw: bytes | None
    label: str
    note: str


def decoded(ids: Sequence[int], tokenizer: Tokenizer) -> list[Decoded]:
    """Return the token of each id, with a note for ids that are not in the vocabulary."""
    seen: dict[int, Decoded] = {}
    for token_id in ids:
        if token_id not in seen:
            seen[token_id] = _decoded(token_id, tokenizer)
    return [seen[token_id] for token_id in ids]


def _decoded(token_id: int, tokenizer: Tokenizer) -> Decoded:
    try:
        raw = tokenizer.token_bytes(token_id)
    except ValueError:
        return Decoded(token_id, None, "", f"not an id of {tokenizer.name}")
    note = ""
    if token_id == tokenizer.unknown_id:
        note = "for text that is not in the vocabulary"
    elif token_id in tokenizer.special_tokens.values():
        note = "a special token"
    else:
        try:
            raw.decode()
        except UnicodeDecodeError:
            note = PART_NOTE
    return Decoded(token_id, raw, tokenizer.token_label(token_id), note)


def text_of(ids: Sequence[int], tokenizer: Tokenizer) -> str:
    """Return the text of all known ids, with stand-ins for invisible characters and odd bytes."""
    known = (token.id for token in decoded(ids, tokenizer) if token.raw is not None)
    return label(tokenizer.decode_bytes(known))


@dataclass(frozen=True)
class Found:
    """A token of a vocabulary.

    place: its kind or its merge, in words. flags: those of an added token that are set, such as
    "lstrip".
    """

    id: int
    raw: bytes
    label: str
    place: str
    flags: tuple[str, ...] = ()


def look_up(query: str, tokenizer: Tokenizer) -> list[Found]:
    """Return the tokens that match a query: an id, a text, or a label on screen.

    A dot · also matches a space, so that labels can be typed as shown.
    """
    ids: list[int] = []
    if regex.fullmatch(r"[0-9]{1,18}", query.strip()):
        ids.append(int(query))
    if query in tokenizer.special_tokens:
        ids.append(tokenizer.special_tokens[query])
    if query:
        ids += tokenizer.find(query)
    return _known(dict.fromkeys(ids), tokenizer)


def _known(ids: Iterable[int], tokenizer: Tokenizer) -> list[Found]:
    tokens = []
    for token_id in ids:
        try:
            tokens.append(about(token_id, tokenizer))
        except ValueError:
            continue
    return tokens


def query_text(query: str) -> str:
    """Return a query as a text to encode, in which a dot · is a space."""
    return query.replace("·", " ")


def containing(query: str, tokenizer: Tokenizer) -> list[int]:
    """Return the ids of the tokens whose text contains a query, special tokens included.

    A dot · also matches a space.
    """
    raws = {query.encode(), query_text(query).encode()}
    return [
        i for i in tokenizer.known_ids() if any(raw in tokenizer.token_bytes(i) for raw in raws)
    ]


def about(token_id: int, tokenizer: Tokenizer) -> Found:
    """Return a token.

    Raises:
        ValueError: The id is unknown.
    """
    raw = tokenizer.token_bytes(token_id)
    flags = tuple(tokenizer.added_flags(token_id))
    place = _place(token_id, tokenizer) + (f" ({', '.join(flags)})" if flags else "")
    return Found(token_id, raw, tokenizer.token_label(token_id), place, flags)


def encoded_instead(token_id: int, tokenizer: Tokenizer) -> list[int]:
    """Return the ids of a token's own text, or none if they are the token or it is not text."""
    try:
        text = tokenizer.token_bytes(token_id).decode()
        begins = [text.removeprefix(" ")] * tokenizer.adds_prefix  # the tokenizer adds a space
        encodings = [[*tokenizer.encode(alone)] for alone in (*begins, text)]
    except ValueError:  # a part of a character, or an expression that takes too long
        return []
    is_whole = [token_id] in encodings or token_id == tokenizer.unknown_id
    return [] if is_whole else encodings[-1]


def instead(token_id: int, tokenizer: Tokenizer) -> str:
    """Return a sentence if the text of a token is not encoded as the token, or ""."""
    special = token_id in tokenizer.special_tokens.values()
    if _decoded(token_id, tokenizer).note == PART_NOTE:
        return "Alone, its bytes are not text: they are only a part of a character."
    ids = encoded_instead(token_id, tokenizer)
    if not ids:
        return ""
    named = [f"{i} ({shorten(tokenizer.token_label(i))})" for i in ids[:_LISTED]]
    if len(ids) > _LISTED:
        named.append(f"{len(ids) - _LISTED:,} more")
    if special:
        return f"As plain text, its name is encoded as {joined(named)}."
    return f"Alone, its text is encoded otherwise: as {joined(named)}."


def _place(token_id: int, tokenizer: Tokenizer) -> str:
    if token_id == tokenizer.unknown_id:
        return "for text that is not in the vocabulary"
    if token_id in tokenizer.special_tokens.values():
        return "a special token"
    if token_id in tokenizer.added_ids:
        return "an added token"
    step = tokenizer.merge_step(token_id)
    if step >= 0:
        return f"merge {step + 1:,} of {tokenizer.steps:,}"
    base = tokenizer.base_of(token_id)
    if base is not None:
        return f"in the base vocabulary: {_place(token_id, base)}"
    if not tokenizer.is_atom(token_id):
        return "a piece that was not pruned"
    return "a single byte" if tokenizer.atoms == "bytes" else "a single character"


def neighbors(token_id: int, tokenizer: Tokenizer, each_side: int = 4) -> list[Found]:
    """Return a token with its neighbors in the order of ids."""
    around = range(max(0, token_id - each_side), token_id + each_side + 1)
    return _known(around, tokenizer)  # vocabularies have gaps


def describe_size(tokenizer: Tokenizer) -> str:
    """Return the number of tokens, of special tokens and of unused ids, in words.

    >>> from bpeviz import train
    >>> describe_size(train("low", merges=1, special_tokens=("<end>",)).tokenizer())
    '257 tokens and 1 special token'
    """
    special = {*tokenizer.special_tokens.values()}
    known = {*tokenizer.known_ids()} | special
    size = counted(len(known - special), "token")
    if special:
        size += f" and {counted(len(special), 'special token')}"
    unused = tokenizer.vocab_size - len(known)
    if not unused:
        return size
    gaps = [
        str(before + 1) if after == before + 2 else f"{before + 1}–{after - 1}"
        for before, after in pairwise([-1, *sorted(known), tokenizer.vocab_size])
        if after > before + 1
    ]
    listed = ", ".join([*gaps[:_RANGES], "…"] if len(gaps) > _RANGES else gaps)
    return f"{size}; {counted(unused, 'id')} {'is' if unused == 1 else 'are'} unused ({listed})"


@dataclass(frozen=True)
class Ancestor:
    """A token of a merge tree: its level below the root, and its parents."""

    level: int
    token: Found
    parents: tuple[Found, Found] | None


def ancestry(token_id: int, tokenizer: Tokenizer, limit: int = 100) -> list[Ancestor]:
    """Return the distinct tokens of a merge tree, level by level, at most `limit`."""
    ancestors: list[Ancestor] = []
    seen = {token_id}
    waiting = [(0, token_id)]
    for level, at in waiting:
        if len(ancestors) == limit:
            break
        pair = tokenizer.parents(at)
        both = None if pair is None else (about(pair[0], tokenizer), about(pair[1], tokenizer))
        ancestors.append(Ancestor(level, about(at, tokenizer), both))
        for parent in pair or ():
            if parent not in seen:
                seen.add(parent)
                waiting.append((level + 1, parent))
    return ancestors
