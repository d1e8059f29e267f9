"""Chat templates: the text that a chat model gets for a message, with its markers.

A template is a program in Jinja from a file. It runs in a sandbox, in a child process with limits
of time and memory (`bpeviz.libraries.pool`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bpeviz.libraries import worker
from bpeviz.libraries.pool import File, LibraryError, ask
from bpeviz.text import clean

SETTINGS, SOURCE = "tokenizer_config.json", "chat_template.jinja"
"""Files beside a tokenizer: settings with special tokens and possibly the template; its source."""

FURTHER = "additional_chat_templates"
"""The folder beside them with further templates by name, such as tool_use.jinja."""

_SENTINEL = "\N{OBJECT REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
"""A message that no template contains, to find the place of messages."""


@dataclass(frozen=True)
class Conversation:
    """A conversation with a model.

    Attributes:
        messages: Messages, each with a "role" and usually "content".
        tools: The tools that the model may use.
        variables: Further variables of the template by name, such as "enable_thinking".
    """

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Any] | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)


def conversation(text: str, system: str = "") -> Conversation:
    """Return a conversation in JSON, or any other text as one message of a user.

    Args:
        text: A list of messages; an object with "messages", possibly "tools", and variables of the
            template beside them or in "chat_template_kwargs"; or a message.
        system: The system prompt before the messages, or "" for none.

    >>> conversation('[{"role": "assistant", "content": "Hi"}]').messages
    [{'role': 'assistant', 'content': 'Hi'}]
    >>> conversation("[1]", "Add.").messages
    [{'role': 'system', 'content': 'Add.'}, {'role': 'user', 'content': '[1]'}]
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    variables = dict(given) if isinstance(given, dict) else {"messages": given}
    messages, tools = variables.pop("messages", None), variables.pop("tools", None)
    if not messages or not isinstance(messages, list) or not all(map(_is_message, messages)):
        messages, tools, variables = [{"role": "user", "content": text}], None, {}
    if isinstance(variables.get("chat_template_kwargs"), dict):
        variables |= variables.pop("chat_template_kwargs")
    before = [{"role": "system", "content": system}] if system else []
    return Conversation([*before, *messages], tools or None, variables)


def _is_message(message: object) -> bool:
    return isinstance(message, dict) and isinstance(message.get("role"), str)


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

    def __init__(self, template: str, variables: Mapping[str, str], tool_use: str = "") -> None:
        """Store a template.

        Args:
            template: The source in Jinja.
            variables: The names and values of the special tokens, such as "bos_token".
            tool_use: The source for a conversation with tools, if it is another one.
        """
        self._file, self._tool_use = (
            File(
                worker.CHAT_TEMPLATE,
                json.dumps({"template": source, "variables": {**variables}}).encode(),
            )
            for source in (template, tool_use or template)
        )

    def apply(self, message: str, system: str = "") -> Chat:
        """Return the text for a message, up to the answer of the model.

        Args:
            message: The message of a user, or a conversation in JSON.
            system: The system prompt before it, or "" for none.

        Raises:
            ValueError: The template fails; the message is user-facing.
        """
        given = conversation(message, system)
        text = self.render(given)
        if given.messages[-1].get("content") != message:
            return Chat(text, None)
        around = self.render(conversation(_SENTINEL, system))
        before, marker, after = around.partition(_SENTINEL)
        end = len(text) - len(after)
        if marker and text.startswith(before) and text.endswith(after) and len(before) <= end:
            inside = text[len(before) : end]
            if inside == message or inside == message.strip():
                return Chat(text, (len(before), end))
        return Chat(text, None)

    def render(self, conversation: Conversation) -> str:
        """Return the text of a conversation, up to the answer of the model.

        Raises:
            ValueError: The template fails, ignores the tools, or lacks a given variable; the
                message is user-facing.
        """
        text = self._rendered(conversation, conversation.tools)
        if conversation.tools and text == self._rendered(conversation, None):
            raise ValueError("The chat template does not take tools.")
        return text

    def _rendered(self, conversation: Conversation, tools: Sequence[Any] | None) -> str:
        file = self._tool_use if tools else self._file
        # Escapes in JSON can be lone surrogates, which have no UTF-8.
        parts = [conversation.messages, tools, conversation.variables]
        content = clean(json.dumps(parts, ensure_ascii=False)).encode()
        try:
            return ask(file, worker.RENDER, content).decode()
        except LibraryError as error:
            reason = str(error).rstrip(".")
            raise ValueError(f"The chat template cannot be applied: {reason}.") from error
