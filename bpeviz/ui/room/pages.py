"""The pages of rooms: the player that follows or leads, and a form for the letters."""

from __future__ import annotations

import secrets
from functools import cache
from html import escape
from urllib.parse import quote

from starlette.responses import HTMLResponse

from bpeviz import components
from bpeviz.text import as_json
from bpeviz.ui.mark import IMAGE, MARK
from bpeviz.ui.runtime import style
from bpeviz.views import playable

_DRAW = (
    playable.SHADOW
    + """
let stage = null;
let remove = null;
let task = null; // the stage of a vote
const place = (name, payload, on = ignore) => {
  if (stage?.host.parentElement.id !== `place-${name}`) {
    remove?.();
    stage?.host.remove();
    stage = shadow("player", name);
    if (!document.fullscreenEnabled) stage.querySelector("[aria-label=Projector]").remove();
    const style = document.createElement("style");
    style.textContent = `
      :host([hides-race]) :is(.race, .race ol) { visibility: hidden; height: 0; }
      @media (min-width: 900px) and (max-height: 700px) { /* the controls stay on the screen */
        .racing:not(:fullscreen) .race { --row: 1.75rem; }
      }`;
    stage.append(style);
  }
  remove = player(stage, payload, on);
  return remove.view;
};
const draw = {
  player: (payload, on) => place("player", payload, on),
  task(payload, on) {
    task ??= payload && { root: shadow("player", "task") };
    if (payload) task.remove = player(task.root, payload, on);
    else if (task) {
      task.remove();
      task.root.host.remove();
      task = null;
    }
  },
  score: (payload) => place("score", payload),
  vote: (place) => (document.querySelector("main").dataset.vote = place),
  hidden: (isHidden) => stage?.host.toggleAttribute("hides-race", isHidden),
  sheet: (isUsed) => document.documentElement.toggleAttribute("data-sheet", isUsed),
  beside: (isBeside) => document.querySelector("main").toggleAttribute("data-beside", isBeside),
  title(content) {
    document.querySelector("h1").textContent = content.title;
    document.querySelector("h1 + p").textContent = content.settings;
  },
};
"""
)
"""Draws what the leader shows."""

_HOST = (
    _DRAW
    + """
const settings = JSON.parse(document.getElementById("room").textContent);
document.documentElement.toggleAttribute("data-leader", settings.isLeader);
// The picture takes the height that is left.
const fit = () => {
  for (const picture of document.querySelectorAll("#place-player, #place-score, #place-task")) {
    const top = picture.getBoundingClientRect().top + scrollY;
    const below = picture.id === "place-score" ? -12 : 8; // nothing is below a score here
    picture.style.setProperty("--page-around", `${Math.round(top) + below}px`);
  }
  dispatchEvent(new Event("resize"));
};
new ResizeObserver(fit).observe(document.getElementById("place-room"));
await Promise.allSettled([...document.fonts].map((font) => font.load()));
room(shadow("room"), settings, (name, ...values) => draw[name](...values));
"""
)
"""The host of the components of a room."""

_NOTES_HOST = (
    playable.SHADOW
    + """
const settings = JSON.parse(document.getElementById("room").textContent);
notes(shadow("notes"), settings, ignore);
"""
)
"""The host of the leader's notes."""

_KEPT = (
    _DRAW
    + """
const contents = JSON.parse(document.getElementById("data").textContent);
const choice = document.querySelector("select");
const show = () => {
  const content = contents[choice.selectedIndex];
  if (content.score) draw.score(content.score);
  else draw.player({ ...content.player, races: content.races }, ignore);
  draw.title(content);
};
contents.forEach(({ title }, i) => choice.append(new Option(`${i + 1}. ${title}`)));
choice.closest("p").hidden = contents.length < 2;
choice.selectedIndex = contents.length - 1;
choice.onchange = show;
show();
"""
)
"""The host of a follower's file."""

_STYLE = (
    f':root {{ --mark: url("data:image/svg+xml,{quote(MARK)}"); }}'
    + """
body { font-family: var(--st-font, system-ui), sans-serif; }
:is(#place-player, #place-task) { --page-around: 12.9rem; }
[data-leader] { --stage-most: 100dvh; }
[data-leader] body { max-width: none; }
main { position: relative; }
@media (min-width: 900px) {
  [data-leader] main[data-beside] { padding-inline-end: 19rem; } /* for how to join */
  [data-leader] :is(h1, h1 + p) { display: inline; margin-inline-end: 0.75rem; }
}
[data-vote=above] #place-player { --rule-height: 0px; }
@media print { [data-sheet] main > :not(#place-room) { display: none; } }
h1 { font-size: 1.1rem; margin: 0; }
@media (max-width: 640px), (max-height: 700px) {
  h1 + p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
}
[data-vote=alone] > :not(#place-room, #place-task, h1),
[data-vote=above] > h1 + p { display: none; }
:is([data-vote=alone], [data-vote=above]) > h1 { position: absolute; clip-path: inset(50%); }
h1 img { height: 1em; vertical-align: -0.1em; }
form { display: flex; flex-wrap: wrap; align-items: end; gap: 0.5rem; margin-top: 1rem; }
input, button { font: inherit; font-size: 1.25rem; padding: 0.4rem 0.6rem; border-radius: 0.5rem; }
input { display: block; width: 6em; text-transform: uppercase; border: 1px solid var(--line);
  color: inherit; background: var(--soft); font-family: var(--st-code-font), monospace; }
form button { color: var(--background); background: var(--accent); border: 0; }
[role=alert] { color: inherit; font-size: 1rem; }
"""
)
"""The style of all pages."""

_PLACES = '<h1></h1> <p></p><div id="place-player"></div><div id="place-score"></div>'


@cache
def kept() -> str:
    """Return the file that followers keep, into which their browser puts what it was shown.

    Its browser puts nothing later than the leader's furthest step into it.
    """
    script, markup = playable.program(("player",), _KEPT)
    choice = "<p><label>Shown in this room: <select></select></label></p>"
    data = '<script type="application/json" id="data"></script>'
    return playable.document("Shown in a room", choice + _PLACES, f"{markup}\n{data}", script)


def _policy(nonce: str) -> str:
    """Return a policy that allows one script, what it imports, and connections to this server."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
        "img-src data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'self'"
    )


def _page(
    app: str, title: str, body: str, script: str, markup: str = "", status: int = 200
) -> HTMLResponse:
    nonce = secrets.token_urlsafe(16)
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · bpeviz</title>
<link rel="icon" href="data:image/svg+xml,{quote(MARK)}">
<style>{style.fonts(app)}{playable.STYLE}{_STYLE}</style></head>
<body><main>{body}</main>
{markup}<script type="module" nonce="{nonce}">{script}</script></body></html>
"""
    headers = {"Content-Security-Policy": _policy(nonce), "Cache-Control": "no-store"}
    return HTMLResponse(page, status, headers)


def member(letters: str, room: str, app: str, *, is_leader: bool = False) -> HTMLResponse:
    """Return the page of a follower or of the leader.

    Args:
        letters: The letters of the room.
        room: The path of the room.
        app: The path of the app, without a slash at its end.
        is_leader: Whether the page is the leader's.
    """
    names = ("player", "room")
    script, markup = playable.program(names, _HOST, f"{room}/{components.PATH}")
    settings = {"letters": letters, "room": room, "app": app, "isLeader": is_leader}
    data = f'<script type="application/json" id="room">{as_json(settings).decode()}</script>'
    places = _PLACES.replace("<h1>", f"<h1>Room {letters}")  # until something is shown
    body = f'<div id="place-room"></div><noscript>This page needs JavaScript.</noscript>{places}'
    body += '<div id="place-task"></div>'
    role = "Leader" if is_leader else "Follower"
    return _page(app, f"Room {letters}: {role}", body, script, markup + data)


def notes(letters: str, room: str, app: str) -> HTMLResponse:
    """Return the page with the leader's notes; see `member`."""
    script, markup = playable.program(("notes",), _NOTES_HOST, f"{room}/{components.PATH}")
    settings = as_json({"letters": letters}).decode()
    data = f'<script type="application/json" id="room">{settings}</script>'
    body = '<noscript>This page needs JavaScript.</noscript><div id="place-notes"></div>'
    return _page(app, f"Room {letters}: Notes", body, script, markup + data)


def form(app: str, action: str, message: str = "") -> HTMLResponse:
    """Return the form that asks for the letters of a room; see `member`."""
    body = (
        f"<h1>{IMAGE} Join a room</h1>"
        f'<form action="{escape(action)}"><label>Letters of the room '
        '<input name="letters" required maxlength="4" autocomplete="off" autofocus></label>'
        f'<button>Join</button></form><p role="alert">{escape(message)}</p>'
    )
    return _page(app, "Join a room", body, "", status=404 if message else 200)
