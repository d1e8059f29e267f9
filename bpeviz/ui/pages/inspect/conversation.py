"""Inspect with a conversation: the messages, and the tokens that a chat model reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.analysis.conversation import EncodedConversation, encode_conversation, turn_changes
from bpeviz.libraries.chat_template import ChatTemplate, Conversation, check_size, conversation
from bpeviz.ui import components, markdown, tokenizers
from bpeviz.ui.inputs import messages
from bpeviz.ui.inputs.messages import choose_messages
from bpeviz.ui.inputs.sentence import menu, say, sentence
from bpeviz.ui.pages.inspect.encoding import TOKENIZER, choose_tokenizer, is_ready
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.tokenizers import Offer
from bpeviz.ui.widgets import OneOf, SessionValues, Switch, Values, Widget
from bpeviz.views import conversation as views
from bpeviz.views.payloads import ConversationStrips

QUESTION = "What does a chat model read?"
FIRST_TOKENIZER = "qwen"
"""The tokenizer at first, and where the one chosen has no chat template."""

HAVE = OneOf("have", "What to inspect", titles={"text": "a text", "conversation": "a conversation"})
BEGIN = Switch("begin_answer", "Begin the answer")
BEGIN_ANOTHER = Switch("begin_another_answer", "Begin the answer")
"""The same where the last message is the assistant's: off at first.

With one switch, a request that the browser sent before the last message changed would turn it back.
"""


def widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets whose values belong in links, beside the tokenizer."""
    yield from messages.widgets(values)
    yield from (BEGIN, BEGIN_ANOTHER)


def is_chosen(values: Values) -> bool:
    """Return whether the page inspects a conversation, as earlier links with a template do."""
    return values.get(HAVE) == "conversation" or values.get(messages.CHAT) is True


def question(of_text: str) -> str:
    """Return the question of the page. of_text: that about a text."""
    return QUESTION if is_chosen(SessionValues()) else of_text


def choose_kind() -> None:
    """Draw the menu of what the page inspects."""
    if (place := menu(HAVE.titles[HAVE.value()], "have_menu")) is not None:
        with place:
            HAVE.radio(())


def show(side: DeltaGenerator) -> str:
    """Draw the messages, the settings, and the tokens; return the title."""
    with side:
        given = choose_messages()
        HAVE.put("conversation")
        with sentence():
            say("Inspect")
            choose_kind()
            say("with")
            offer = _choose_tokenizer()
            switch = _begin(conversation(given))
            begin = switch.toggle(value=switch is BEGIN)
    if not is_ready(offer) or offer.chat is None:
        return QUESTION
    try:
        reading = _read(offer, given, begin, offer.chat)
    except ValueError as error:
        st.error(markdown.escape(str(error)))
        return QUESTION
    encoded = reading.encoded
    for note in encoded.forged_notes:
        st.warning(markdown.escape(note), icon=":material/warning:")
    for note in encoded.notes:
        st.markdown(f":material/info: {markdown.escape(note)}")
    components.strip(reading.payload, "strip")
    st.markdown(markdown.escape(" ".join(reading.remarks)))
    return f"**{encoded.sentence}**"


def text_of(values: Values) -> tuple[Offer, str]:
    """Return the tokenizer of a link, and the text that it reads. Raises `ValueError`."""
    key = TOKENIZER.value(FIRST_TOKENIZER, values)
    _, offers = tokenizers.linked_offers(values, [key, FIRST_TOKENIZER])
    by_key = {offer.key: offer for offer in offers if offer.chat is not None}
    if (offer := by_key.get(key) or by_key.get(FIRST_TOKENIZER)) is None or offer.chat is None:
        raise ValueError("This link has no tokenizer with a chat template.")
    given = conversation(messages.messages_of(values))
    begin = values.get(_begin(given))
    return offer, encode_conversation(offer.make(), offer.chat, given, begin_answer=begin).text


@dataclass(frozen=True)
class _Reading:
    """What a chat model reads.

    Attributes:
        encoded: The conversation.
        payload: The payload of the component; do not change it, it is cached.
        remarks: Sentences below it.
    """

    encoded: EncodedConversation
    payload: ConversationStrips
    remarks: Sequence[str]


@cached("Tokenizing …")
def _read(offer: Offer, text: str, begin: bool | None, _template: ChatTemplate) -> _Reading:
    given, tokenizer = conversation(text), offer.make()
    check_size(given)
    encoded = encode_conversation(tokenizer, _template, given, begin_answer=begin)
    changes = turn_changes(tokenizer, _template, given)
    changed = [change for change in changes if change.first is not None]
    remarks = []
    if any(token.is_learned for token in encoded.tokens):
        remarks.append(f"Underlined: what the model learns from, the {encoded.learned_from}.")
    if changes and not changed:
        remarks.append("No earlier id changed when a message was added.")
    remarks += filter(None, [_template.about, offer.assumption])
    return _Reading(encoded, views.payload(encoded, changed), remarks)


def _choose_tokenizer() -> Offer:
    """Draw the menu of the tokenizers with a chat template; return the one chosen."""
    offers = {offer.key: offer for offer in tokenizers.offers("", 0) if offer.chat is not None}
    names = {key: name for key, name in tokenizers.names().items() if key in offers}
    return offers[choose_tokenizer(names, FIRST_TOKENIZER)]


def _begin(given: Conversation) -> Switch:
    """Return the switch of whether the template begins an answer."""
    return BEGIN_ANOTHER if given.messages[-1]["role"] == "assistant" else BEGIN
