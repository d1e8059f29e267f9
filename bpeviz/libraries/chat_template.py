"""Chat templates: the text that a chat model gets for a message, with its markers.

A template is a program in Jinja from a file. It runs in a sandbox, in a child process with limits
of time and memory (`bpeviz.libraries.pool`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bpeviz.libraries import worker
from bpeviz.libraries.pool import File, LibraryError, ask
from bpeviz.text import clean

SETTINGS, SOURCE = "tokenizer_config.json", "chat_template.jinja"
"""Files beside a tokenizer: settings with special tokens and possibly the template; its source."""

FURTHER = "additional_chat_templates"
"""The folder beside them with further templates by name, such as tool_use.jinja."""

MOST_MESSAGES, MOST_CHARACTERS = 50, 30_000
"""The most messages of a conversation on a page, and the most characters of all of them."""

_MARKS = range(0xF0000, 0x10FFFE)
"""Private-use characters, of which some that occur nowhere mark the contents of messages."""

_PROBE = 4
"""The most messages of a variant that replaces those of the conversation."""


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
        given = read_conversation(text)
    except ValueError:
        given = Conversation([{"role": "user", "content": text}])
    before = [{"role": "system", "content": system}] if system else []
    return replace(given, messages=[*before, *given.messages])


def read_conversation(text: str) -> Conversation:
    """Return a conversation in JSON: a list of messages, or an object with "messages".

    Raises:
        ValueError: It is not a conversation; the message is user-facing.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"This is not a conversation in JSON: {error}.") from error
    variables = dict(given) if isinstance(given, dict) else {"messages": given}
    messages, tools = variables.pop("messages", None), variables.pop("tools", None)
    if not messages or not isinstance(messages, list) or not all(map(_is_message, messages)):
        raise ValueError(
            "A conversation is a list of messages, or an object with “messages”, such as "
            '[{"role": "user", "content": "Hi"}]. Each has a “role” that is a text.'
        )
    if isinstance(variables.get("chat_template_kwargs"), dict):
        variables |= variables.pop("chat_template_kwargs")
    return Conversation(messages, tools or None, variables)


def check_size(conversation: Conversation) -> None:
    """Raise `ValueError`, with a user-facing message, if a page cannot encode a conversation."""
    messages = conversation.messages
    if len(messages) > MOST_MESSAGES:
        raise ValueError(
            f"This conversation has {len(messages):,} messages; a page takes {MOST_MESSAGES}. "
            "Remove some, or use the command `encode --chat`."
        )
    characters = sum(len(str(message.get("content") or "")) for message in messages)
    if characters > MOST_CHARACTERS:
        raise ValueError(
            f"This conversation has {characters:,} characters; a page takes {MOST_CHARACTERS:,}. "
            "Shorten it, or use the command `encode --chat`."
        )


def _is_message(message: object) -> bool:
    return isinstance(message, dict) and isinstance(message.get("role"), str)


class ChatTemplate:
    """A chat template with the special tokens that it uses."""

    def __init__(
        self, template: str, variables: Mapping[str, str], tool_use: str = "", *, about: str = ""
    ) -> None:
        """Store a template.

        Args:
            template: The source in Jinja.
            variables: The names and values of the special tokens, such as "bos_token".
            tool_use: The source for a conversation with tools, if it is another one.
            about: Where it comes from, in sentences, if not from the model's files.
        """
        self.about = about
        self.bos = variables.get("bos_token", "")
        self.has_blocks = re.search(r"\{%[-+]?\s*generation\b", template) is not None
        self._file, self._tool_use = (
            File(
                worker.CHAT_TEMPLATE,
                clean(
                    json.dumps({"template": source, "variables": {**variables}}, ensure_ascii=False)
                ).encode(),
            )
            for source in (template, tool_use or template)
        )

    def render(self, conversation: Conversation) -> str:
        """Return the text of a conversation, up to the answer of the model.

        Raises:
            ValueError: The template fails, ignores the tools, or lacks a given variable; the
                message is user-facing.
        """
        return str(self.render_variants(conversation, [{}])[0]["text"])

    def render_variants(
        self, conversation: Conversation, variants: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the texts of variants of a conversation, in one request.

        Args:
            conversation: The conversation.
            variants: Those of `JinjaTemplate.render` in `bpeviz.libraries.worker`; the first one
                is the conversation itself.

        Raises:
            ValueError: The template fails for the first one, ignores the tools, or lacks a given
                variable; the message is user-facing.
        """
        file = self._tool_use if conversation.tools else self._file
        without = [{"tools": None}] if conversation.tools and file == self._file else []
        request = {
            "messages": conversation.messages,
            "tools": conversation.tools,
            "variables": conversation.variables,
            "variants": [*variants, *without],
        }
        # Escapes in JSON can be lone surrogates, which have no UTF-8.
        text = clean(json.dumps(request, ensure_ascii=False))
        taken = {*map(ord, text), *map(ord, self._file.content.decode())}
        size = 2 * max(len(conversation.messages), _PROBE) + 2
        marks = range(_MARKS.start, _MARKS.stop, size)
        mark = next(mark for mark in marks if taken.isdisjoint(range(mark, mark + size)))
        content = f'{{"mark": {mark}, "marks": {size}, {text[1:]}'.encode()
        try:
            answers: list[dict[str, Any]] = json.loads(ask(file, worker.RENDER, content))
        except LibraryError as error:
            words = str(error).removeprefix(f"{worker.CHAT_TEMPLATE} refuses it: ")
            raise _failed(words) from error
        if reason := answers[0].get("error"):
            raise _failed(reason)
        if without and answers.pop().get("text") == answers[0]["text"]:
            raise ValueError("The chat template does not take tools.")
        return answers


def _failed(reason: str) -> ValueError:
    return ValueError(f"The chat template cannot be applied: {reason.rstrip('.')}.")
