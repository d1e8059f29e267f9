"""What pages send to components under Streamlit's `AppTest`, which does not run them."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

from streamlit.testing.v1 import AppTest

from bpeviz.palette import COLORS
from bpeviz.text import color_key


def payloads(app: AppTest) -> list[dict[str, Any]]:
    """Return the payloads of all components but those that wait for their first one."""
    sent = [payload_of(component.proto.bytes) for component in app.get("bidi_component")]
    return [payload for payload in sent if payload is not None]


def drawn(app: AppTest, field: str) -> dict[str, Any]:
    """Return the only payload with a field: "views" of a player, "bytes" of a grid."""
    (payload,) = [payload for payload in payloads(app) if field in payload]
    return payload


def payload_of(sent: bytes) -> Any:
    """Return the payload of a component's message."""
    return json.loads(zlib.decompress(sent))


def data_of(page: str) -> dict[str, Any]:
    """Return the payloads in an exported HTML file."""
    (packed,) = re.findall('<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', page)
    data: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return data


def color_index(raw: bytes) -> int:
    """Return the color index of a token that no token of the same color touches."""
    return color_key(raw) % COLORS
