"""Links as bpeviz wrote them earlier: all values in one packed JSON object."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any


def pack(values: Mapping[str, Any]) -> str:
    """Return values in the format of an earlier link."""
    raw = json.dumps({**values, "form": 1}, ensure_ascii=False, sort_keys=True).encode()
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")
