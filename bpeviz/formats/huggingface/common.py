"""The parts of a tokenizer.json that all models share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bpeviz.core.tokenizer import TrainedTokenizer
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.model_settings import ModelSettings
from bpeviz.formats.parsing import Node, quoted
from bpeviz.formats.regex_dialects import translated

ComponentJSON = dict[str, Any]
"""A normalizer, pre-tokenizer or decoder."""

BYTE_LEVEL: ComponentJSON = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}


def document_of(
    model: dict[str, Any],
    special: Mapping[str, int],
    *,
    normalizers: Sequence[ComponentJSON] = (),
    pre_tokenizers: Sequence[ComponentJSON],
    decoder: ComponentJSON | None,
) -> dict[str, Any]:
    """Return the document with these parts."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            added_token(token_id, name)
            for name, token_id in sorted(special.items(), key=lambda item: item[1])
        ],
        "normalizer": _sequence(normalizers, "normalizers"),
        "pre_tokenizer": _sequence(pre_tokenizers, "pretokenizers"),
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }


def added_token(token_id: int, name: str) -> dict[str, Any]:
    """Return a special token without flags."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": name, **flags, "special": True}


def template(
    ids: Mapping[str, int], before: Sequence[str], after: Sequence[str]
) -> ComponentJSON | None:
    """Return the post-processor that adds special tokens around a text, or None without any."""
    names = (*before, *after)
    if not names:
        return None
    first, last = (
        [{"SpecialToken": {"id": name, "type_id": 0}} for name in side] for side in (before, after)
    )
    single = [*first, {"Sequence": {"id": "A", "type_id": 0}}, *last]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in names
        },
    }


def add_tokens(
    document: ComponentJSON, settings: ModelSettings, special: Collection[str] = ()
) -> None:
    """Write the added tokens and the template of a model to its tokenizer.json.

    A token in the vocabulary keeps its id; any other gets the next one, whatever the settings
    state.

    Args:
        document: The tokenizer.json.
        settings: The settings beside the vocabulary.
        special: Entries that are special tokens as well.
    """
    entries: Mapping[str, int] = document["model"]["vocab"]
    added = {token["content"]: token for token in settings.added}
    names = [*added, *(name for name in special if name not in added)]
    new = [name for name in names if name not in entries]
    ids = {**entries, **{name: len(entries) + i for i, name in enumerate(new)}}
    document["added_tokens"] = [
        {**added_token(ids[name], name), **added.get(name, {})} for name in names
    ]
    document["post_processor"] = template(ids, *settings.around(ids))


def bpe_model(
    entries: Mapping[str, int], merges: Iterable[Sequence[str]], **settings: Any
) -> dict[str, Any]:
    """Return the model BPE, with settings that differ from those of merges over bytes."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        **settings,
        "vocab": dict(entries),
        "merges": [*map(list, merges)],
    }


def _sequence(parts: Sequence[ComponentJSON], key: str) -> ComponentJSON | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"type": "Sequence", key: [*parts]}


def split_at(expression: str) -> ComponentJSON:
    """Return the `Split` with the matches, and the text between two matches, as pre-tokens."""
    return {
        "type": "Split",
        "pattern": {"Regex": expression},
        "behavior": "Isolated",
        "invert": False,
    }


def replaced(pattern: Mapping[str, str], content: str) -> ComponentJSON:
    """Return the `Replace` of a "String" or "Regex"."""
    return {"type": "Replace", "pattern": dict(pattern), "content": content}


def space_decoder(mark: str, *more: ComponentJSON) -> ComponentJSON:
    """Return the decoder of tokens with a mark for a space, and with bytes as a fallback."""
    parts = replaced({"String": mark}, " "), {"type": "ByteFallback"}, {"type": "Fuse"}
    return {"type": "Sequence", "decoders": [*parts, *more]}


def splits(pattern: str, expression: str) -> list[ComponentJSON]:
    """Return the `Split` of a pattern, or none for "none". Raises `UnsupportedError`."""
    if pattern == "none":
        return []
    return [split_at(translated(pattern, expression, "oniguruma"))]


def bert_normalizer(lower: bool) -> ComponentJSON:
    """Return the normalizer of BERT, which strips accents where it converts to lower case."""
    return {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": lower,
    }


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


def ids_of(dense: TrainedTokenizer, tokenizer: Any) -> Sequence[int]:
    """Return the ids of atoms and trained tokens in the order of the dense tokenizer."""
    ids: Sequence[int] = tokenizer.numbers[: len(dense.numbers)]
    return ids


def require(condition: bool, reason: str) -> None:
    """Raise `UnsupportedError` with a reason unless a condition holds."""
    if not condition:
        raise UnsupportedError(reason)


def added_tokens(tokens: Node) -> dict[str, int]:
    """Return the ids of the added tokens, if merges can stand beside them.

    Raises:
        FormatError: the file is not valid.
        UnsupportedError: some are not special, or have flags.
    """
    ids: dict[str, int] = {}
    normalized: set[bool] = set()
    nodes = [*tokens.nodes()] if tokens.value else []
    for token in nodes:
        name = token["content"].text()
        require(
            token["special"].value is True,
            f"it finds its added token {quoted(name)} in every text, which only a tokenizer.json "
            "can contain",
        )
        for flag in ("single_word", "lstrip", "rstrip"):
            require(
                not token[flag].value,
                f"its special token {quoted(name)} has the flag {flag}, which only a "
                "tokenizer.json can contain",
            )
        normalized.add(bool(token["normalized"].value))
        ids[name] = token["id"].id()
    is_valid = "" not in ids and len({*ids.values()}) == len(nodes)
    require(is_valid, "two of its added tokens have one name or one id")
    # The library searches for one group after the other.
    require(len(normalized) < 2, "it searches for its special tokens in two groups")
    return ids


def check_added(entries: Mapping[str, int], special: Mapping[str, int]) -> None:
    """Raise `UnsupportedError` if the library would assign another id to an added token."""
    require(
        assigned_ids(entries, special) == special,
        "its library gives its special tokens other ids than the file",
    )
