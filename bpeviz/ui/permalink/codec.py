"""A user's choices in a link: packed into few letters, and read again with care.

What is packed is a flat JSON object, compressed by zlib (RFC 1950), in base64 as it may stand in an
address (RFC 4648, section 5, without padding). Whoever reads it gets plain values only, and never
more of them than were allowed: a few letters may unfold to a thousand times their number.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping
from typing import NoReturn

from bpeviz.text import clean

Value = str | int | float | bool | list[str]
"""What a link may hold under a name."""

LONGEST = 7_500
"""Letters of what is packed. Some proxies take no more than 8,000 for a whole address."""

MOST_UNFOLDED = 1_500_000
"""Bytes to which it may unfold: enough for the longest text that the pages take, in ASCII."""

MOST_VALUES = 100
"""How many values it may hold, and how many entries a list of them."""


class LinkError(ValueError):
    """A link that cannot be read; the message is a sentence for the user."""


class TooLongError(ValueError):
    """What was to be packed is too long for a link."""


def pack(values: Mapping[str, Value]) -> str:
    """Pack values for an address. Raises `TooLongError`.

    >>> unpack(pack({"text": "low lower", "largest": 300}))
    {'largest': 300, 'text': 'low lower'}
    """
    plain = json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    raw = clean(plain).encode()
    if len(raw) > MOST_UNFOLDED:
        raise TooLongError(f"{len(raw):,} bytes are too many for a link.")
    packed = base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")
    if len(packed) > LONGEST:
        raise TooLongError(f"A link with {len(packed):,} letters is too long.")
    return packed


def unpack(packed: str) -> dict[str, Value]:
    """Return what was packed, its texts cleaned. Raises `LinkError` for what `pack` cannot make."""
    if len(packed) > LONGEST:
        raise LinkError(
            f"This link is too long: its part “s” has {len(packed):,} letters, and at most "
            f"{LONGEST:,} are taken. Nothing of it is used. Ask for another one."
        )
    damaged = LinkError("This link is damaged, so nothing of it is used. Ask for another one.")
    try:
        folded = base64.b64decode(packed + "=" * (-len(packed) % 4), b"-_", validate=True)
        unfolding = zlib.decompressobj()
        raw = unfolding.decompress(folded, MOST_UNFOLDED)
        if not unfolding.eof or unfolding.unused_data:
            raise damaged
        found = json.loads(raw.decode(), parse_constant=_no_number)
    except (ValueError, zlib.error, RecursionError) as error:
        raise damaged from error
    if not isinstance(found, dict) or len(found) > MOST_VALUES:
        raise damaged
    if not all(map(_is_value, found.values())):
        raise damaged
    return {clean(name): _cleaned(value) for name, value in found.items()}


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON.")


def _is_value(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= MOST_VALUES and all(isinstance(one, str) for one in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int)


def _cleaned(value: Value) -> Value:
    if isinstance(value, list):
        return [clean(one) for one in value]
    return clean(value) if isinstance(value, str) else value
