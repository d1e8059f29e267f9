"""The route of the components' modules, whose addresses change with their content."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bpeviz import components

PATH = f"/{components.PATH}/{{file}}"
"""The path of the route, below that of the app or of a room."""


async def component_file(request: Request) -> Response:
    """Return a module, which browsers and proxies store for a year."""
    module = components.modules().get(request.path_params["file"])
    if module is None:
        raise HTTPException(404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    content = module.source
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["Content-Encoding"] = module.compressed, "gzip"
    return Response(content, headers=headers, media_type="text/javascript")
