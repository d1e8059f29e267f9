"""The settings, the version and the link that a file contains when it leaves a page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from string import punctuation
from urllib.parse import quote, urlsplit

from bpeviz.core.training import Training
from bpeviz.network import is_public
from bpeviz.pretokenizers.patterns import pattern_title
from bpeviz.text import shorten
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.version import __version__

MADE_WITH = f"Made with bpeviz {__version__}."


def check_link(link: str) -> None:
    """Raise `ValueError` if a link is neither empty nor an address of the web."""
    if link and not link.startswith(("https://", "http://")):
        raise ValueError("The link must begin with https:// or http://.")


def credit(link: str = "") -> str:
    """Return the last line of a file as HTML.

    Args:
        link: The address that opens what the file shows, or "". One that only this machine or its
            network can open is left out.

    Raises:
        ValueError: The link is not an address of the web.
    """
    check_link(link)
    if not is_public(urlsplit(link).hostname or ""):
        return MADE_WITH
    address = escape(quote(link, safe=punctuation, errors="replace"))
    return f'{MADE_WITH} <a href="{address}" rel="noreferrer">Open it again</a>'


def settings_of(
    training: Training, last: int, options: Mapping[str, object] | None = None
) -> list[str]:
    """Return the settings of a training in words.

    Args:
        training: The training history.
        last: The last step.
        options: The options of the trainer that are not the default, if they are known.
    """
    options = options or {}
    splitter = training.pre_tokenizer
    pattern = pattern_title(splitter.pattern)
    if splitter.expression:
        pattern += f" {shorten(splitter.expression)}"
    words = [texts_of(training).vocabulary(training, last), f"Pre-tokenization: {pattern}"]
    for option in TRAINERS[training.algorithm].options:
        value = options.get(option.name, option.default)
        if value != option.default and option.kind != "text":
            words.append(f"{option.label}: {(option.choices or {}).get(str(value), value)}")
    if training.special:
        words.append(f"Special tokens: {shorten(' '.join(training.special))}")
        if {*training.split_at} & {*training.special}:
            words.append("Training text split at special tokens")
    return words
