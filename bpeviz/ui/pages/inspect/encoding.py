"""How Inspect encodes a text: the tokenizer, its special tokens, and templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from bpeviz.analysis import trace
from bpeviz.analysis.trace import Inspection
from bpeviz.libraries.chat_template import Chat, ChatTemplate
from bpeviz.pretokenizers.patterns import MAX_EXPRESSION
from bpeviz.text import listed, shorten
from bpeviz.ui import markdown
from bpeviz.ui.downloads import ready
from bpeviz.ui.import_dialog import import_button
from bpeviz.ui.inputs.sentence import menu
from bpeviz.ui.opened_tokenizers import opened
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.tokenizers import LINKED, Offer
from bpeviz.ui.widgets import OneOf, Switch, TextField, Values, Widget

NAMED_TOKENS = 12
"""The most special tokens or ids that are named."""


class TokenizerChoice(OneOf):
    """A choice of a tokenizer. A link contains the user's own or a published one, not files."""

    def described(self) -> str:
        titles = {tokenizer.key: tokenizer.title for tokenizer in opened()}
        return f"{self.label}: {titles.get(self.get() or '', '')}"


TOKENIZER = TokenizerChoice("inspected_by", "Tokenizer", titles=LINKED)
SPECIAL_NAME = "<|endoftext|>"
SPECIAL = OneOf(
    "special_tokens",
    f"Treat `{SPECIAL_NAME}` as",
    titles={"text": "Plain text", "special": "Special token"},
)
TEMPLATE = Switch("template", "Add the model’s template")
CHAT = Switch("chat", "Apply the chat template")
SYSTEM = TextField("system", "System prompt", longest=MAX_EXPRESSION)


def widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets whose values belong in links."""
    yield TOKENIZER
    yield SPECIAL
    yield TEMPLATE
    yield CHAT
    if values.get(CHAT):
        yield SYSTEM


@dataclass(frozen=True)
class EncodingSettings:
    """How to encode a text.

    Attributes:
        offer: The tokenizer.
        special: The names that are special tokens.
        template: Whether to add the tokens of the tokenizer's template.
        system: The system prompt, or "", if the text is a message in the model's chat template.
    """

    offer: Offer
    special: tuple[str, ...] = ()
    template: bool = False
    system: str | None = None

    def encode(self, text: str) -> Inspection | None:
        """Return the trace of a text through the tokenizer; draw the message if it fails."""
        offer, message = self.offer, None
        try:
            if self.system is not None and offer.chat is not None:
                applied = _chat(offer, text, self.system, offer.chat)
                text, message = applied.text, applied.message
            return _trace(offer, text, self.special, self.template, message)
        except ValueError as error:
            st.error(markdown.escape(str(error)))
            return None


@cached("Tokenizing …")
def _trace(
    offer: Offer,
    text: str,
    special: tuple[str, ...],
    template: bool,
    message: tuple[int, int] | None,
) -> Inspection:
    return trace.inspect(text, offer.make(), special, template=template, message=message)


@cached()
def _chat(offer: Offer, text: str, system: str, _template: ChatTemplate) -> Chat:
    return _template.apply(text, system)


def is_ready(offer: Offer) -> bool:
    """Return whether the files of a tokenizer are present; draw their download otherwise."""
    return offer.needs is None or bool(ready([offer.needs]))


def choose_tokenizer(offers: Sequence[Offer]) -> Offer:
    """Draw the choice of the tokenizer; return it."""
    by_key = {offer.key: offer for offer in offers}
    if TOKENIZER.get() not in by_key:
        TOKENIZER.clear()
    names = {key: offer.name for key, offer in by_key.items()}
    return by_key[TOKENIZER.select(names, label_visibility="collapsed")]


def choose_encoding(offer: Offer) -> EncodingSettings | None:
    """Draw the menu of a tokenizer's settings; return None while its files download."""
    label = "Special tokens, files"
    with menu(label, "encoding_menu") or nullcontext() as place:
        if place is not None:
            import_button(TOKENIZER.put)
            if offer.assumption:
                st.caption(markdown.escape(offer.assumption))
    if not is_ready(offer):
        return None
    if place is None:
        if offer.chat is not None and CHAT.value():
            return EncodingSettings(offer, offer.special_tokens, TEMPLATE.value(), SYSTEM.value())
        names = offer.special_tokens if SPECIAL.value() == "special" else ()
        return EncodingSettings(offer, names, TEMPLATE.value())
    with place:
        return _settings(offer)


def _settings(offer: Offer) -> EncodingSettings:
    """Draw the settings of a tokenizer; return them."""
    if offer.chat is None or not CHAT.toggle(
        help="A chat model gets more than your text: markers show who speaks and where a message "
        "ends. This makes the text a user's message with these markers, or a conversation, if it "
        "is JSON with roles. Names of special tokens become special tokens, also in the message."
    ):
        return EncodingSettings(offer, _special_tokens(offer), _template(offer))
    system = SYSTEM.line(
        placeholder="None",
        help="An instruction to the model before the message. Some templates have a prompt of "
        "their own, or accept none.",
    )
    # The names of all special tokens are special, as in `transformers`.
    return EncodingSettings(offer, offer.special_tokens, _template(offer), system)


def _special_tokens(offer: Offer) -> tuple[str, ...]:
    """Draw the choice whether names of special tokens in the text are special; return these."""
    title = markdown.escape(offer.title)
    names = offer.special_tokens
    if not names:
        st.caption(f"{title} has no special tokens.")
        return ()
    known = SPECIAL_NAME in names
    quoted = f"`{SPECIAL_NAME}`" if known else markdown.escape(shorten(names[0]))
    treated_as = replace(SPECIAL, label=f"Treat {quoted} as").segments(
        help="Names of special tokens in pasted text are plain text. Only a program that intends "
        "it turns them into special tokens."
    )
    st.caption(
        f"Special tokens of {title}: {listed([*map(markdown.escape, names)], NAMED_TOKENS)}."
    )
    return names if treated_as == "special" else ()


def _template(offer: Offer) -> bool:
    """Draw the switch for the tokens of the template, if there is one; return its value."""
    try:
        tokenizer = offer.make()
        before, after = tokenizer.template
    except ValueError:
        return False
    if not (before or after):
        return False
    labels = [*map(tokenizer.token_label, before), "…", *map(tokenizer.token_label, after)]
    tokens = markdown.escape(shorten(" ".join(labels), 60))
    return TEMPLATE.toggle(
        help="Special tokens that a model expects around a text, such as one for its beginning "
        f"(BOS) or its end (EOS): {tokens}. They are not part of the text. A chat "
        "template usually writes them itself."
    )
