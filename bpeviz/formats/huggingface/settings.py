"""Differences between a tokenizer.json and the settings beside it, as `transformers` 5.24 applies.

bpeviz applies the tokenizer.json alone. Some classes of `transformers` take only its vocabulary,
and build the rest by their own rules and the settings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import regex

from bpeviz.formats.base import Source
from bpeviz.formats.huggingface.common import BYTE_LEVEL, bert_normalizer, splits
from bpeviz.formats.model_settings import (
    ADDED_FLAGS,
    BACKEND,
    BERT,
    GENERIC,
    ModelSettings,
    model_settings,
)
from bpeviz.formats.parsing import quoted

_LLAMA = regex.compile("LlamaTokenizer(?:Fast)?")


def differences(source: Source) -> str:
    """Return what the settings change in `transformers`, as a sentence, or ""."""
    if not source.settings:
        return ""
    _, content = source.single()
    try:
        sentences = [*_sentences(model_settings(source.settings), json.loads(content))]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""  # the file is not valid, and reading it says why
    if not sentences:
        return ""
    return f"In transformers 5.24, {'; '.join(sentences)}. bpeviz applies tokenizer.json alone."


def _sentences(settings: ModelSettings, document: dict[str, Any]) -> Iterator[str]:
    """Yield what the settings of a model change, each as a clause."""
    name, family = settings.name, settings.family
    names = f"{settings.named_in} names {name}"
    is_llama = _LLAMA.fullmatch(name) and '"ByteLevel"' in json.dumps(document["pre_tokenizer"])
    is_generic = GENERIC.fullmatch(name) or BACKEND.fullmatch(name) or is_llama
    if not is_generic and family is None:
        yield f"{names}, whose rules may replace those of tokenizer.json"
        return
    if not is_generic and family is not None:
        parts = [_plain(document[key]) for key in ("normalizer", "pre_tokenizer")]
        expected = _expected(settings)
        model = document["model"]
        others = [model.get(key) for key in ("byte_fallback", "ignore_merges", "dropout")]
        if family is not BERT:
            others += [model.get("end_of_word_suffix"), model.get("continuing_subword_prefix")]
        if parts != expected or any(others):
            without = [_plain(part, add_prefix_space=settings.adds_space) for part in parts]
            if without == expected and not any(others):
                more, fewer = "adds a space in front", "does not"
                if not settings.adds_space:
                    more, fewer = "adds no space in front", "does"
                yield f"{settings.named_in} {more}; tokenizer.json {fewer}"
            else:
                yield f"{names}, which splits a text in another way than tokenizer.json"
        if _template(document["post_processor"]) != _own_template(settings, document):
            yield f"{names}, which adds other special tokens around a text"
    yield from _added(settings, document, is_own=not is_generic)


def _expected(settings: ModelSettings) -> list[Any]:
    """Return the normalizer and the pre-tokenizer of a class."""
    if settings.family is BERT:
        normalizer = bert_normalizer(settings.flag("do_lower_case", True) is True) | {
            "handle_chinese_chars": settings.flag("tokenize_chinese_chars", True),
            "strip_accents": settings.flag("strip_accents", None),
        }
        return [normalizer, {"type": "BertPreTokenizer"}]
    level = BYTE_LEVEL | {"add_prefix_space": settings.adds_space, "use_regex": True}
    return [None, _plain(level)]


def _plain(part: Any, **values: Any) -> Any:
    """Return a component without what does not change ids, and with other values."""
    if not isinstance(part, dict):
        return part
    parts = next((part[key] for key in ("pretokenizers", "normalizers") if key in part), None)
    if parts is not None:
        parts = [_plain(each) for each in parts]
        if parts[:1] == splits("gpt2", "") and parts[1:] == [_plain(BYTE_LEVEL)]:
            return _plain(BYTE_LEVEL | {"use_regex": True}, **values)
        return parts[0] if len(parts) == 1 else parts
    if part.get("type") != "ByteLevel":
        return part
    return {"use_regex": True} | part | {"trim_offsets": True} | values


def _template(processor: Any) -> list[Any]:
    """Return the names of the special tokens around a text, with None for the text."""
    if not isinstance(processor, dict) or processor["type"] == "ByteLevel":
        return [None]
    if processor["type"] in ("RobertaProcessing", "BertProcessing"):
        return [processor["cls"][0], None, processor["sep"][0]]
    if processor["type"] == "TemplateProcessing":
        single = processor["single"]
        return [part["SpecialToken"]["id"] if "SpecialToken" in part else None for part in single]
    return [processor]


def _own_template(settings: ModelSettings, document: dict[str, Any]) -> list[Any]:
    family = settings.family
    if family is None or not family.after:
        return _template(document["post_processor"])
    names = {*document["model"]["vocab"], *(token["content"] for token in settings.added)}
    before, after = settings.around(names)
    return [*before, None, *after]


def _added(settings: ModelSettings, document: dict[str, Any], *, is_own: bool) -> Iterator[str]:
    """Yield the change of added tokens, if there is one."""
    theirs = {token["content"]: token for token in document.get("added_tokens") or ()}
    vocab = document["model"]["vocab"]
    entries = vocab if isinstance(vocab, dict) else {}
    new = [token["content"] for token in settings.added if token["content"] not in entries]
    for token in settings.added:
        name = token["content"]
        file_token = theirs.get(name)
        if file_token is None:
            yield f"the settings add {quoted(name)}, which tokenizer.json does not"
            return
        same = all(bool(token[flag]) == bool(file_token[flag]) for flag in ADDED_FLAGS)
        expected = len(entries) + new.index(name) if name in new else file_token["id"]
        if not same or (is_own and file_token["id"] != expected):
            yield f"the settings give {quoted(name)} other flags or another id than tokenizer.json"
            return
    lost = [name for name in theirs if name not in {token["content"] for token in settings.added}]
    if is_own and lost and "added_tokens_decoder" in settings.values:
        yield f"the settings lack {quoted(lost[0])}, which tokenizer.json adds"
