"""Text of users in places that Streamlit renders as Markdown.

Messages, captions, labels, help texts and toasts are Markdown: an image in one is fetched by every
browser that shows it. So all text that is not ours passes through `escape` there: texts, words,
file names, tokens, values of links, and error messages, which quote them.
"""

from __future__ import annotations

import regex

_JOINER = "\u2060"
"""A word joiner, which is invisible."""

_SIGN = regex.compile(r"[!-/:-@\[-`{-~]")
_REPLACED = regex.compile(r"(?<=[:@])(?=\S)|(?<=[<>~-])(?=[>=-])|(?<=\bwww)(?=\.)", regex.I)
"""Places inside signs that Streamlit replaces in the finished text, where escaping does not help:
addresses become links, `:name:` an icon, and `->` an arrow."""


def escape(text: str) -> str:
    r"""Return text as one line of Markdown that renders as that text.

    >>> escape("a *b*")
    'a \\*b\\*'
    """
    joined = _REPLACED.sub(_JOINER, " ".join(text.split()))
    return str(_SIGN.sub(r"\\\g<0>", joined))
