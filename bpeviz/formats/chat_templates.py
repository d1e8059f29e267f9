"""The chat template of a model: in a GGUF file, or beside a tokenizer on Hugging Face."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bpeviz.formats.base import FormatError
from bpeviz.formats.gguf.container import MAGIC, read_metadata
from bpeviz.formats.model_settings import model_settings
from bpeviz.libraries.chat_template import SOURCE, ChatTemplate

_LARGEST = 2_000_000
"""The most bytes of such a file."""


def chat_template(files: Mapping[str, bytes]) -> ChatTemplate | None:
    """Return the chat template among the files of a tokenizer, or None.

    As in `transformers`, files in Jinja replace the templates of the settings. They have the names
    of the files, which are in a folder additional_chat_templates, except for chat_template.jinja.
    """
    if len(files) == 1:
        (file,) = files
        if files[file].startswith(MAGIC):
            return _of_gguf(file, files[file])
    files = {name.replace("\\", "/").rpartition("/")[2]: content for name, content in files.items()}
    named: dict[str, Any] = {}
    for name in sorted(files, key=lambda file: (file != SOURCE, file)):
        if name.endswith(".jinja") and len(files[name]) <= _LARGEST:
            with suppress(ValueError):
                key = "default" if name == SOURCE else name.removesuffix(".jinja")
                named[key] = files[name].decode()
    settings = model_settings(files)
    named = named or _of_settings(settings.values.get("chat_template"))
    named = {
        name: template for name, template in named.items() if isinstance(template, str) and template
    }
    if not named:
        return None
    default = named.get("default", next(iter(named.values())))
    return ChatTemplate(default, settings.tokens, named.get("tool_use", ""))


def _of_gguf(file: str, content: bytes) -> ChatTemplate | None:
    """Return the template in the metadata of a GGUF file, or None."""
    try:
        metadata = read_metadata(file, content)
        template = metadata.text("tokenizer.chat_template")
        tool_use = metadata.text("tokenizer.chat_template.tool_use")
        tokens = metadata.texts("tokenizer.ggml.tokens") or []
        ids = {
            name: metadata.index(f"tokenizer.ggml.{name}_token_id", len(tokens))
            for name in ("bos", "eos")
        }
    except FormatError:
        return None
    texts = {f"{name}_token": tokens[i] for name, i in ids.items() if i is not None}
    return ChatTemplate(template, texts, tool_use or "") if template else None


def _of_settings(template: Any) -> dict[str, Any]:
    """Return templates by name. Of two with one name, the last one counts."""
    if isinstance(template, list):
        return {
            entry["name"]: entry.get("template")
            for entry in template
            if isinstance(entry, dict) and isinstance(entry.get("name"), str)
        }
    return template if isinstance(template, dict) else {"default": template}
