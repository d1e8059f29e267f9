"""Chat templates: the text that a chat model gets for a message, with its markers.

A template is a program in Jinja from a file. It runs in a sandbox, in a child process with limits
of time and memory (`bpeviz.core.library_pool`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bpeviz.core import library_worker
from bpeviz.core.library_pool import File, LibraryError, ask

SETTINGS, SOURCE = "tokenizer_config.json", "chat_template.jinja"
"""Files beside a tokenizer: settings with special tokens and possibly the template; its source."""

_SENTINEL = "\N{OBJECT REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
"""A message that no template contains, to find the place of messages."""


@dataclass(frozen=True)
class Chat:
    """The text that a model gets.

    message: the first character of the message in it and the one after its last, or None if the
    template changes the message.
    """

    text: str
    message: tuple[int, int] | None


class ChatTemplate:
    """A chat template with the special tokens that it uses."""

    def __init__(self, template: str, variables: Mapping[str, str]) -> None:
        """Store a template.

        Args:
            template: The source in Jinja.
            variables: The names and values of the special tokens, such as "bos_token".
        """
        content = json.dumps({"template": template, "variables": {**variables}}).encode()
        self._file = File(library_worker.CHAT_TEMPLATE, content)

    def apply(self, message: str, system: str = "") -> Chat:
        """Return the text for one message of a user, up to the answer of the model.

        Args:
            message: The message.
            system: The system prompt before it, or "" for none.

        Raises:
            ValueError: The template fails; the message is user-facing.
        """
        text = self._rendered(message, system)
        before, found, after = self._rendered(_SENTINEL, system).partition(_SENTINEL)
        end = len(text) - len(after)
        if found and text.startswith(before) and text.endswith(after) and len(before) <= end:
            inside = text[len(before) : end]
            if inside == message or inside == message.strip():
                return Chat(text, (len(before), end))
        return Chat(text, None)

    def _rendered(self, message: str, system: str) -> str:
        conversation = json.dumps([system, message]).encode()
        try:
            return ask(self._file, library_worker.RENDER, conversation).decode()
        except LibraryError as error:
            reason = str(error).rstrip(".")
            raise ValueError(f"The chat template cannot be applied: {reason}.") from error
