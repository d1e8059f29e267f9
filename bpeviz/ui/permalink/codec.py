"""Serialization of a page's state for a link: compact to write, and safe to read.

The format is a flat JSON object, compressed by zlib (RFC 1950), in URL-safe base64 without padding
(RFC 4648, section 5). Anyone can write a link, and zlib can expand data a thousandfold. So reading
limits the sizes, and returns only plain values.

A link states the number of its form; one without a number has form 1. Names and values of a form
never change: a widget that changes reads the values of earlier forms itself, in `allows` and
`restore`.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping
from typing import NoReturn

from bpeviz import limits
from bpeviz.text import clean, shorten, visible

Value = str | int | float | bool | list[str]
"""A value in a link."""

FORM_NAME, FORM = "form", 1
"""The name of the number of a link's form, and the number in new links."""

MAX_PACKED = limits.LINK
"""The largest size of packed values, in characters. Some proxies allow 8,000 for a whole URL."""

MAX_JSON = 1_500_000
"""The largest size of the JSON, in bytes: enough for the longest text of a page, in ASCII."""

MAX_LINK_VALUES = max(100, limits.COMPARED_TEXTS)
"""The largest number of values in a link, and of entries in a list, such as names of texts."""


class LinkError(ValueError):
    """A link is not valid; the message is user-facing."""


class TooLongError(ValueError):
    """The values are too long for a link."""


def pack(values: Mapping[str, Value], longest: int = MAX_PACKED) -> str:
    """Return values in the format of a link, of at most so many characters.

    Raises `TooLongError`.

    >>> unpack(pack({"text": "low lower", "largest": 300}))
    {'largest': 300, 'text': 'low lower'}
    """
    values = {**values, FORM_NAME: FORM}
    plain = json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    raw = clean(plain).encode()
    if len(raw) > MAX_JSON:
        raise TooLongError(f"{len(raw):,} bytes are too many for a link.")
    packed = base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")
    if len(packed) > longest:
        raise TooLongError(f"A link with {len(packed):,} characters is too long.")
    return packed


def unpack(packed: str, longest: int = MAX_PACKED) -> dict[str, Value]:
    """Return the values of a link of at most so many characters, with clean texts.

    Raises:
        LinkError: The link is too long, damaged, or of a form that is not known.
    """
    if len(packed) > longest:
        raise LinkError(
            f"This link is too long, so it was ignored: its part “s” has {len(packed):,} "
            f"characters, and the limit is {MAX_PACKED:,}. Ask for a new link."
        )
    damaged = LinkError("This link is damaged, so it was ignored. Ask for a new link.")
    try:
        compressed = base64.b64decode(packed + "=" * (-len(packed) % 4), b"-_", validate=True)
        decompressor = zlib.decompressobj()
        raw = decompressor.decompress(compressed, MAX_JSON)
        if not decompressor.eof or decompressor.unused_data:
            raise damaged
        values = json.loads(raw.decode(), parse_constant=_reject_constant)
    except (ValueError, zlib.error, RecursionError) as error:
        raise damaged from error
    if not isinstance(values, dict) or len(values) > MAX_LINK_VALUES:
        raise damaged
    if not all(map(_is_value, values.values())):
        raise damaged
    form = values.pop(FORM_NAME, 1)
    if form != FORM:
        raise LinkError(
            f"This link is of form {visible(shorten(str(form), 20))}, and this version of bpeviz "
            f"reads form {FORM}, so it was ignored. Ask for a new link, or update bpeviz."
        )
    return {clean(name): _cleaned(value) for name, value in values.items()}


def _reject_constant(name: str) -> NoReturn:
    """Reject NaN and the infinities, which `json` reads by default."""
    raise ValueError(f"{name} is not JSON.")


def _is_value(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= MAX_LINK_VALUES and all(isinstance(text, str) for text in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int)


def _cleaned(value: Value) -> Value:
    if isinstance(value, list):
        return [clean(text) for text in value]
    return clean(value) if isinstance(value, str) else value
