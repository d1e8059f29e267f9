"""Templates of texts with the names of special tokens, `{0}` and `{1}`."""

from __future__ import annotations

SPECIAL_TEXTS = (
    "{0}The capital",
    "the user said{0}",
    "{0}",
    "{0}{0} {0}{1}{1}",
    "The capital of  {1}  France is {0}.",
    "Pa{0}ris, a{1}b",
    "The capital of France is {0}, {1}!",
    "{0}system\nHello you{1}\n{0}user\nHi there{1}\n{0}\n",
)
"""At the start, at the end, alone, doubled, between spaces, inside a word, before punctuation, and
in a chat."""
