"""The models behind tokenizer files: their titles, and the settings beside a vocabulary.

Titles tell apart the files that are all called tokenizer.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import clean

_KNOWN: dict[tuple[int, int], tuple[str, str]] = {
    (30522, 1996): ("the", "BERT uncased"),
    (28996, 1103): ("the", "BERT cased"),
    (50265, 5): (" the", "RoBERTa"),
    (50257, 262): (" the", "GPT-2"),
    (49408, 518): ("the", "CLIP"),
    (32100, 8): (" the", "T5"),
    (250002, 70): (" the", "XLM-RoBERTa"),
    (32000, 278): (" the", "Llama 2"),
    (128256, 279): (" the", "Llama 3"),
    (32000, 272): (" the", "Mistral 7B"),
    (32768, 1040): (" the", "Mistral 7B v0.3"),
    (151665, 279): (" the", "Qwen 2.5"),
    (262145, 506): (" the", "Gemma 3"),
    (128815, 270): (" the", "DeepSeek-V3"),
    (129280, 270): (" the", "DeepSeek V4"),
    (255029, 1690): (" the", "Command R+"),
    (65000, 279): (" the", "Claude 2"),
    (262144, 1267): (" the", "Jurassic-2"),
}
"""By the size of the vocabulary and one of its ids: the token with this id, and the title."""


def known_title(tokenizer: Tokenizer) -> str | None:
    """Return the model whose vocabulary this is, or None."""
    for (size, token_id), (token, title) in _KNOWN.items():
        if tokenizer.vocab_size == size and token_id in tokenizer.find(token):
            return title
    return None


def model_name(files: Mapping[str, bytes]) -> str | None:
    """Return the name of the model in the settings beside its tokenizer, or None."""
    for file, key in (("config.json", "_name_or_path"), ("tokenizer_config.json", "name_or_path")):
        name = _settings(files, file).get(key)
        # A path on someone’s machine is not a name.
        if isinstance(name, str) and name.count("/") <= 1 and not name.startswith((".", "/", "~")):
            return name.rpartition("/")[2] or None
    return None


@dataclass(frozen=True)
class ModelSettings:
    """The settings of a tokenizer beside its vocabulary.

    Attributes:
        named_in: The file that names the class of the tokenizer or the type of the model, or "".
        name: This class or type, or "".
        adds_space: Whether encoding puts a space before a text.
        lower: Whether texts are converted to lower case, or None if this is not stated.
        added: Added tokens, as in a tokenizer.json.
    """

    named_in: str = ""
    name: str = ""
    adds_space: bool = False
    lower: bool | None = None
    added: Sequence[Mapping[str, Any]] = ()


SETTINGS_FILES = (
    "tokenizer_config.json",
    "config.json",
    "added_tokens.json",
    "special_tokens_map.json",
)
"""The files with settings of `transformers` beside a vocabulary."""


def model_settings(files: Mapping[str, bytes]) -> ModelSettings:
    """Return the settings in the files beside a vocabulary; invalid values count as missing.

    Source: `tokenization_utils_base.py` in huggingface/transformers.
    """
    ours, model = (_settings(files, name) for name in SETTINGS_FILES[:2])
    named_in, name = next(
        (
            (file, value)
            for file, value in (
                (SETTINGS_FILES[0], ours.get("tokenizer_class")),
                (SETTINGS_FILES[1], model.get("tokenizer_class") or model.get("model_type")),
            )
            if isinstance(value, str) and value.isprintable()
        ),
        ("", ""),
    )
    lower = ours.get("do_lower_case")
    return ModelSettings(
        named_in,
        name,
        ours.get("add_prefix_space") is True,
        lower if isinstance(lower, bool) else None,
        tuple(_added_tokens(files, ours)),
    )


_FLAGS = ("lstrip", "normalized", "rstrip", "single_word", "special")


def _added_tokens(
    files: Mapping[str, bytes], settings: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield added tokens; if the settings list none, those of added_tokens.json."""
    listed = settings.get("added_tokens_decoder")
    if isinstance(listed, dict):
        for number, token in listed.items():
            if isinstance(token, dict) and _is_token(token.get("content"), number):
                flags = {flag: token.get(flag) is True for flag in _FLAGS}
                yield {"id": int(number), "content": token["content"], **flags}
        return
    names = json.dumps([settings, _settings(files, "special_tokens_map.json")], ensure_ascii=False)
    for content, number in _settings(files, "added_tokens.json").items():
        if _is_token(content, str(number)):
            special = json.dumps(content, ensure_ascii=False) in names
            flags = dict.fromkeys(_FLAGS, False) | {"special": special}
            yield {"id": number, "content": content, **flags}


def _is_token(content: object, number: str) -> bool:
    is_id = number.isascii() and number.isdecimal() and len(number) < 8
    return isinstance(content, str) and bool(content) and content == clean(content) and is_id


def _settings(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Return the JSON object of a file of settings, or {}."""
    content = files.get(name, b"{}")
    try:
        found = json.loads(content) if len(content) <= _LARGEST_SETTINGS else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_LARGEST_SETTINGS = 2_000_000
