"""The pages of rooms: the player that follows or leads, and a form for the letters."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape

from starlette.responses import HTMLResponse

from bpeviz.text import as_json
from bpeviz.ui.mark import IMAGE
from bpeviz.views import playable

_HOST = (
    playable.SHADOW
    + """
const settings = JSON.parse(document.getElementById("room").textContent);
const races = document.createElement("div");
let stage = null;
const draw = {
  player(payload) {
    if (!stage) {
      stage = shadow("player");
      if (!document.fullscreenEnabled) stage.querySelector("[data-act=projector]").remove();
      const style = document.createElement("style");
      style.textContent = ":host([hides-race]) .race { visibility: hidden; }";
      stage.append(style);
    }
    player(stage, payload, ignore);
  },
  races: (payloads) => race(races, { races: payloads }, ignore),
  hidden: (isHidden) => stage?.host.toggleAttribute("hides-race", isHidden),
  title(content) {
    document.querySelector("h1").textContent = content.title;
    document.querySelector("h1 + p").textContent = content.settings;
  },
};
room(shadow("room"), settings, (name, value) => draw[name](value));
"""
)
"""The host of the components of a room."""

_STYLE = """
body { --page-around: 12.9rem; }
h1 { font-size: 1.1rem; margin: 0; }
form { display: flex; gap: 0.5rem; margin-top: 1rem; }
input, button { font: inherit; font-size: 1.25rem; padding: 0.4rem 0.6rem; }
input { width: 6em; text-transform: uppercase; }
"""


@cache
def _program() -> tuple[str, str]:
    return playable.program(("player", "race", "room"), _HOST)


def _policy(script: str) -> str:
    """Return a policy that allows one script, and connections to this server."""
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'; "
        "img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'self'"
    )


def _page(title: str, body: str, script: str, markup: str = "", status: int = 200) -> HTMLResponse:
    # Without </head>, which HTML allows, Streamlit's style is not added.
    page = f"""<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · bpeviz</title>
<style>{playable.STYLE}{_STYLE}</style>
<body><main>{body}</main>
{markup}<script type="module">{script}</script></body></html>
"""
    headers = {"Content-Security-Policy": _policy(script), "Cache-Control": "no-store"}
    return HTMLResponse(page, status, headers)


def member(letters: str, socket: str, *, is_leader: bool) -> HTMLResponse:
    """Return the page of a follower or of the leader."""
    script, markup = _program()
    settings = as_json({"letters": letters, "socket": socket, "isLeader": is_leader}).decode()
    data = f'<script type="application/json" id="room">{settings}</script>'
    body = (
        '<div id="place-room"></div><h1></h1><p></p>'
        "<noscript>This page needs JavaScript.</noscript>"
        '<div id="place-player"></div>'
    )
    role = "Leader" if is_leader else "Follower"
    return _page(f"Room {letters}: {role}", body, script, markup + data)


def form(action: str, message: str = "") -> HTMLResponse:
    """Return the form that asks for the letters of a room."""
    body = (
        f"<h1>{IMAGE} Join a room</h1>"
        f'<form action="{escape(action)}"><label>Letters of the room '
        '<input name="letters" required maxlength="4" autocomplete="off" autofocus></label>'
        f'<button>Join</button></form><p role="alert">{escape(message)}</p>'
    )
    return _page("Join a room", body, "", status=404 if message else 200)
