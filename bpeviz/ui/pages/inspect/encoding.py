"""How Inspect encodes a text: the tokenizer, its special tokens, and templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from bpeviz.analysis import trace
from bpeviz.analysis.trace import Inspection
from bpeviz.pretrained import download
from bpeviz.text import listed, shorten
from bpeviz.ui import markdown, tokenizers
from bpeviz.ui.downloads import ready
from bpeviz.ui.import_dialog import import_button
from bpeviz.ui.inputs.sentence import menu, say
from bpeviz.ui.inputs.token_count import NAME as GPT4O
from bpeviz.ui.opened_tokenizers import opened
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.tokenizers import LINKED, OWN, Offer
from bpeviz.ui.widgets import OneOf, Switch, Values, Widget

NAMED_TOKENS = 12
"""The most special tokens or ids that are named."""


class TokenizerChoice(OneOf):
    """A choice of a tokenizer. A link contains the user's own or a published one, not files."""

    def described(self) -> str:
        titles = {tokenizer.key: tokenizer.title for tokenizer in opened()}
        return f"{self.label}: {titles.get(self.get() or '', '')}"


TOKENIZER = TokenizerChoice("inspected_by", "Tokenizer", titles=LINKED)
SPECIAL = OneOf(
    "special_tokens",
    "Names of special tokens",
    titles={"text": "Plain text", "special": "Special token"},
)
DECIMAL = Switch("decimal", "Bytes and code points in decimal")
TEMPLATE = Switch("template", "Add the model’s template")


def widgets() -> Iterator[Widget[Any]]:
    """Yield the widgets whose values belong in links, beside the tokenizer."""
    yield SPECIAL
    yield DECIMAL
    yield TEMPLATE


@dataclass(frozen=True)
class EncodingSettings:
    """How to encode a text, and to show it.

    Attributes:
        offer: The tokenizer.
        special: The names that are special tokens.
        template: Whether to add the tokens of the tokenizer's template.
        decimal: Whether bytes and code points are in decimal.
    """

    offer: Offer
    special: tuple[str, ...] = ()
    template: bool = False
    decimal: bool = False

    def encode(self, text: str) -> Inspection | None:
        """Return the trace of a text through the tokenizer; draw the message if it fails."""
        try:
            return self.trace(text)
        except ValueError as error:
            st.error(markdown.escape(str(error)))
            return None

    def trace(self, text: str) -> Inspection:
        """Return the trace of a text through the tokenizer, or raise `ValueError`."""
        return _trace(self.offer, text, self.special, self.template)


@cached("Tokenizing …")
def _trace(offer: Offer, text: str, special: tuple[str, ...], template: bool) -> Inspection:
    return trace.inspect(text, offer.make(), special, template=template)


def is_ready(offer: Offer) -> bool:
    """Return whether the files of a tokenizer are present; draw their download otherwise."""
    return offer.needs is None or bool(ready([offer.needs]))


def first_tokenizer() -> str:
    """Return GPT-4o, if its vocabulary is on this machine, or the user's own tokenizer."""
    return GPT4O if download.available(GPT4O) else OWN


def settings_of(offer: Offer, values: Values | None = None) -> EncodingSettings:
    """Return the settings of a tokenizer, by default those of the session."""
    is_special = SPECIAL.value(values=values) == "special"
    return EncodingSettings(
        offer,
        offer.special_tokens if is_special else (),
        TEMPLATE.value(values=values),
        DECIMAL.value(values=values),
    )


def choose_tokenizer(names: Mapping[str, str], first: str) -> str:
    """Draw the menu of the tokenizers; return the key of the one chosen.

    Args:
        names: Their names, by key.
        first: The key of the one at first.
    """
    widget = replace(TOKENIZER, titles=names)
    TOKENIZER.put(key := widget.value(first))
    name = "your tokenizer" if key == OWN else tokenizers.short(names)[key]
    if (place := menu(markdown.escape(name), "tokenizer_menu")) is None:
        return key
    with place:
        import_button(TOKENIZER.put)
        return widget.radio(())


def choose_encoding(offer: Offer, text: str) -> EncodingSettings | None:
    """Draw the settings of a tokenizer in the sentence; return None while its files download.

    Whether names of special tokens are special is a choice only for a text with one.
    """
    if not is_ready(offer):
        return None
    special = _special_tokens(offer, text)
    label = "Special tokens, decimal" if offer.key == OWN else "More"
    if (place := menu(label, "encoding_menu")) is None:
        return settings_of(offer)
    with place:
        decimal = DECIMAL.toggle()
        return replace(_settings(offer, special), decimal=decimal)


def _settings(offer: Offer, special: tuple[str, ...]) -> EncodingSettings:
    """Draw the settings of a tokenizer that most users leave as they are; return them."""
    if names := offer.special_tokens:
        title = markdown.escape(offer.title)
        listing = listed([*map(markdown.escape, names)], NAMED_TOKENS)
        st.caption(f"Special tokens of {title}: {listing}.")
    if offer.assumption:
        st.caption(markdown.escape(offer.assumption))
    return EncodingSettings(offer, special, _template(offer))


def _special_tokens(offer: Offer, text: str) -> tuple[str, ...]:
    """Draw whether names of special tokens in a text are special; return the special ones."""
    names, treated_as = offer.special_tokens, SPECIAL.value()
    if name := next((name for name in names if name in text), ""):
        quoted = markdown.escape(shorten(name))
        say(f"· {quoted} is")
        if (place := menu(SPECIAL.titles[treated_as].lower(), "special_menu")) is not None:
            with place:
                treated_as = replace(SPECIAL, label=f"Treat {quoted} as").radio(
                    (),
                    help="Names of special tokens in pasted text are plain text. Only a program "
                    "that intends it turns them into special tokens.",
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
