"""The chat template of a model: in a GGUF file, or beside a tokenizer on Hugging Face."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bpeviz.formats.base import FormatError
from bpeviz.formats.gguf.container import MAGIC, read_metadata
from bpeviz.libraries.chat_template import SETTINGS, SOURCE, ChatTemplate

_LARGEST = 2_000_000
"""The most bytes of such a file."""


def chat_template(files: Mapping[str, bytes]) -> ChatTemplate | None:
    """Return the chat template among the files of a tokenizer, or None."""
    if len(files) == 1:
        (file,) = files
        if files[file].startswith(MAGIC):
            return _of_gguf(file, files[file])
    found = {name.replace("\\", "/").rpartition("/")[2]: name for name in files}
    contents = {
        name: files[found[name]]
        for name in (SETTINGS, SOURCE)
        if name in found and len(files[found[name]]) <= _LARGEST
    }
    settings: Any = None
    template: Any = None
    try:
        settings = json.loads(contents.get(SETTINGS, b"{}"))
        if SOURCE in contents:
            template = contents[SOURCE].decode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(settings, dict):
        return None
    tool_use = None
    if not template:
        template, tool_use = _of_settings(settings.get("chat_template"))
    if not template:
        return None
    texts = {name: _text(value) for name, value in settings.items() if name.endswith("_token")}
    variables = {name: text for name, text in texts.items() if text is not None}
    return ChatTemplate(template, variables, tool_use or "")


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


def _of_settings(template: Any) -> tuple[str | None, str | None]:
    """Return the template itself, or those named "default" and "tool_use" of a list."""
    tool_use = None
    if isinstance(template, list):
        named = {
            one.get("name"): one.get("template")
            for one in reversed(template)
            if isinstance(one, dict) and isinstance(one.get("name"), str)
        }
        template = named.get("default", next(reversed(named.values()), None))
        tool_use = named.get("tool_use")
    return (
        template if isinstance(template, str) else None,
        tool_use if isinstance(tool_use, str) else None,
    )


def _text(token: Any) -> str | None:
    """Return the text of a special token, which may be an object."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None
