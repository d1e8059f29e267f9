"""Redirect other spellings of a page's address."""

from __future__ import annotations

from pathlib import PurePath

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bpeviz.ui.registry import PAGES
from bpeviz.ui.server.user_cookie import opens_page


class PageAddresses:
    """Redirects `/learn` to `/Learn`, and `/Train` to `/`."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app = app
        self._base = base.rstrip("/") + "/"
        names = {page.title.lower(): PurePath(page.path).stem for page in PAGES}
        self._names = {name: "" if stem == "app" else stem for name, stem in names.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._app
        if opens_page(scope) and scope["path"].startswith(self._base):
            asked = scope["path"].removeprefix(self._base)
            name = self._names.get(asked.rstrip("/").lower(), asked)
            if name != asked:
                query = scope["query_string"].decode("latin-1")
                answer = RedirectResponse(f"{self._base}{name}?{query}".rstrip("?"))
        await answer(scope, receive, send)
