"""The titles of the models behind tokenizer files, which are all called tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.model_settings import settings_in

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
        name = settings_in(files, file).get(key)
        # A path on someone’s machine is not a name.
        if isinstance(name, str) and name.count("/") <= 1 and not name.startswith((".", "/", "~")):
            return name.rpartition("/")[2] or None
    return None
