"""What pages send to components under Streamlit's `AppTest`, which does not run them."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest


def payloads(app: AppTest) -> list[dict[str, Any]]:
    """Return the payloads of all components."""
    return [json.loads(one.proto.bytes) for one in app.get("bidi_component")]
