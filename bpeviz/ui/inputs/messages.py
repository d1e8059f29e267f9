"""The messages of a conversation, as the JSON that the command `encode --chat` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bpeviz import limits
from bpeviz.libraries.chat_template import conversation
from bpeviz.text import clean
from bpeviz.ui import components
from bpeviz.ui.inputs.text import OWN_TEXT, TEXT, TextSource, text_of
from bpeviz.ui.widgets import SessionValues, Switch, TextField, Values, Widget

MESSAGES = TextSource("messages", "Conversation", OWN_TEXT)
"""The conversation of Inspect, beside the text of all pages."""

FIRST = json.dumps(
    [
        {"role": "system", "content": "Answer in one sentence."},
        {"role": "user", "content": "What does a chat model read?"},
        {"role": "assistant", "content": "Token ids: of all words, and of the marks around them."},
    ]
)

CHAT = Switch("chat", "Apply the chat template")
SYSTEM = TextField("system", "System prompt", longest=limits.EXPRESSION)


def widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets whose values belong in links."""
    if values.get(CHAT):
        yield SYSTEM
        yield from TEXT.widgets(values)
    yield MESSAGES.box


def choose_messages() -> str:
    """Draw the messages; return them in JSON, or another text that is one message of a user."""
    if not MESSAGES.box.present or CHAT.get():
        MESSAGES.put(OWN_TEXT, messages_of(SessionValues()))
        CHAT.clear()

    def take_change() -> None:
        MESSAGES.take((MESSAGES.component.get() or {}).get("change"))

    data = MESSAGES.payload(limits.BOX)
    # The first run of a session that replaces an earlier one has no callbacks.
    MESSAGES.take(components.messages(data, MESSAGES.component.key, take_change))
    return messages_of(SessionValues())


def messages_of(values: Values) -> str:
    """Return the messages in the session or in a link, at first those of our own.

    Links that are older than messages have a system prompt and a text, which may be in JSON.
    """
    if values.get(CHAT):
        given = conversation(str(text_of(values, TEXT)), values.get(SYSTEM) or "")
        around = dict(given.variables) | ({"tools": given.tools} if given.tools else {})
        messages = [*given.messages]
        return json.dumps(around | {"messages": messages} if around else messages)
    own = values.get(MESSAGES.box)
    return clean((values.get(MESSAGES.own) or FIRST) if own is None else own)
