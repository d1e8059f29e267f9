"""Security headers of all responses."""

from __future__ import annotations

import base64
import hashlib
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bpeviz.ui import private
from bpeviz.ui.server.first_style import SCRIPT


def content_security_policy(frame_ancestors: str) -> str:
    """Return the content security policy: nothing comes from another host.

    Args:
        frame_ancestors: The origins whose pages may show the app in a frame, separated by spaces.
            If empty, only the app's own.

    Raises:
        ValueError: `frame_ancestors` contains a comma, a semicolon or a line break.
    """
    if re.search(r"[,;\r\n]", frame_ancestors):
        raise ValueError(
            "The environment variable BPEVIZ_FRAME_ANCESTORS must be a list of origins, separated "
            f"by spaces. It is {frame_ancestors!r}."
        )
    directives = {
        "default-src": "'self'",
        # Streamlit loads the scripts of components from blobs.
        "script-src": " ".join(["'self'", "blob:", *_inline_scripts()]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "frame-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": frame_ancestors.strip() or "'self'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def _inline_scripts() -> list[str]:
    """Return the hashes of the scripts inside Streamlit's page, and of the one added to it."""
    page = private.PAGE.read_text(encoding="utf-8")
    scripts = [*re.findall("<script>(.*?)</script>", page, re.DOTALL), SCRIPT]
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


class SecurityHeaders:
    """Adds the security headers to every HTTP response."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            # Links hold the text of the user, which must not get into logs.
            "Referrer-Policy": "no-referrer",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)  # rooms have a policy of their own
            await send(message)

        await self._app(scope, receive, send_with_headers)
