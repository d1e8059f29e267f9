"""One HTML file that plays a timeline: the player, the race, the table of steps, the settings.

The file loads nothing, works from a folder, and is the same for the same input. Its script is
allowed by its hash; user text is data of that script, or escaped.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urlsplit

from bpeviz import components
from bpeviz.analysis import trace
from bpeviz.analysis.hues import Hues
from bpeviz.core.boundaries import Boundaries, Part
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.pretokenizers.patterns import pattern_title
from bpeviz.text import as_json, clean, counted, shorten
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.trainers.options import TIE_WINNERS
from bpeviz.version import __version__
from bpeviz.views import inspection, player
from bpeviz.views.race import STEPS, race

_COMPONENTS = ("player", "race", "step_table")

_LOOPBACK = ("localhost", "127.0.0.1", "::1")

_HOST = """
const packed = atob(document.getElementById("data").textContent);
const bytes = Uint8Array.from(packed, (byte) => byte.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const data = await new Response(stream).json();
const shadow = (name) => {
  const host = document.getElementById(`place-${name}`).appendChild(document.createElement("div"));
  const root = host.attachShadow({ mode: "open" });
  root.append(document.getElementById(`markup-${name}`).content.cloneNode(true));
  return root;
};
const { vocabSizes, last } = data.player;
const linked = () => {
  const number = Number(/^#step=(\\d+)$/.exec(location.hash)?.[1] ?? NaN);
  if (Number.isNaN(number)) return null;
  const step = vocabSizes ? vocabSizes.findLastIndex((size) => size <= number) : number;
  return Math.max(0, Math.min(step, last));
};
const ignore = () => {};
const root = shadow("player");
if (!document.fullscreenEnabled) root.querySelector("[data-act=projector]").remove();
player(root, { ...data.player, initialStep: linked() ?? data.player.initialStep }, ignore);
if (data.race) race(document.createElement("div"), { races: [data.race] }, ignore);
for (const view of data.player.views)
  if (view.steps.id.length) step_table(shadow("step_table"), { unit: view.unit, view }, ignore);
addEventListener("hashchange", () => {
  const detail = linked();
  if (detail !== null) document.dispatchEvent(new CustomEvent("bpeviz-jump", { detail }));
});
"""
"""The host of the components: it mounts them in the page, in terms of `mount`."""

_STYLE = """
:root { color-scheme: light dark; --text: light-dark(#31333f, #fafafa);
  --background: light-dark(#fff, #0e1117); --quiet: light-dark(#5c5e67, #b4b6bd); }
body { margin: 0 auto; max-width: 72rem; padding: 0.75rem 1rem; font-family: system-ui, sans-serif;
  line-height: 1.5; background: var(--background); color: var(--text); overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; margin: 0; }
p { color: var(--quiet); font-size: 0.9rem; margin: 0.15rem 0 0.75rem; }
h2 { position: absolute; clip-path: inset(50%); margin: 0; } /* for screen readers */
a { color: light-dark(#1a5fd0, #6cb0ff); }
"""


_FRAME_HEIGHT = 720
"""The height of the frame in a notebook, in pixels: the player, and the first line of the table."""

_UNREAD = re.compile(r"^\s*(?://.*|/\*[\s\S]*?\*/)?\s*(?:\n|$)|^[ \t]+", re.MULTILINE)
"""Lines of comments, empty lines, and indentation: a third of the script and the styles."""


@dataclass(frozen=True)
class Playable:
    """The content of the file.

    Attributes:
        title: The heading.
        settings: The settings in words, each a sentence or a few words.
        player: The payload of the player.
        race: The payload of the race, or None.
    """

    title: str
    settings: Sequence[str]
    player: dict[str, Any]
    race: dict[str, Any] | None = None


def of_training(
    training: Training,
    text: str,
    boundaries: Boundaries | None = None,
    *,
    last: int | None = None,
    part: Part | None = None,
    options: Mapping[str, object] | None = None,
) -> Playable:
    """Return the steps of a training on its text.

    Args:
        training: The training history.
        text: The training text.
        boundaries: Its boundaries under the last tokenizer, or None to compute them.
        last: The last step; by default that of the training.
        part: The part to show; by default the first one.
        options: The options of the trainer that are not the default, if they are known.

    Raises:
        ValueError: The text cannot be tokenized.
    """
    if boundaries is None:
        boundaries = training.tokenizer().boundaries(text)
    part = part or player.parts(text, boundaries)[0]
    last = training.steps if last is None else last
    hues = player.hues_of([(training, boundaries, part)])
    timeline = player.timeline(text, training, boundaries, part, last, hues)
    payload = player.payload(timeline) | {"tieRule": _tie_rule(training, options)}
    notes = [_shown(part, text)]
    candidates = None
    if last and len(boundaries) <= player.WINDOW:
        candidates = race(training, text, boundaries, hues, timeline["timelineId"])
        payload["hasRace"] = True
        if last > STEPS:
            note = f"Shown for the first {STEPS:,} {texts_of(training).unit}s."
            candidates["note"] = note
    title = f"{TRAINERS[training.algorithm].title}, step by step"
    settings = [*_settings(training, last, options or {}), counted(len(text), "character"), *notes]
    return Playable(title, [*filter(None, settings)], payload, candidates)


def of_tokenizer(tokenizer: Tokenizer, title: str, text: str) -> Playable:
    """Return the merges of a published or opened tokenizer that change a text.

    Raises:
        ValueError: It has no merges to replay, or the text cannot be tokenized.
    """
    if (why := tokenizer.without_steps) is not None:
        raise ValueError(f"{title} has no merges to replay: {why}.")
    return of_inspection(trace.inspect(text, tokenizer), title)


def of_inspection(
    found: trace.Inspection,
    title: str,
    training: Training | None = None,
    hues: Hues | None = None,
) -> Playable:
    """Return the steps of a tokenizer that change an inspected text."""
    text = found.text
    part = player.parts(text, found.boundaries)[0]
    colors = inspection.hues_of(found, training) if hues is None else hues
    timeline = inspection.timeline(found, part, title, training, colors)
    skipped = f"{timeline['unit'].capitalize()}s that do not touch this text are skipped."
    settings = [] if training is None else _settings(training, found.tokenizer.steps, {})
    settings += [counted(len(text), "character"), _shown(part, text), skipped]
    payload = player.payload(timeline)
    return Playable(f"{title}, step by step", [*filter(None, settings)], payload)


def of_lock_step(
    payload: dict[str, Any],
    trainings: Sequence[tuple[Training, Mapping[str, object]]],
    text: str,
    part: Part,
) -> Playable:
    """Return several trainings on a text, which the player aligns by vocabulary size.

    Args:
        payload: The payload of the player, as from `player.lock_step`.
        trainings: Each training history with the options of its trainer.
        text: The training text.
        part: The part to show.
    """
    settings = [counted(len(text), "character"), _shown(part, text)]
    for view, (training, options) in zip(payload["views"], trainings, strict=True):
        words = ", ".join(_settings(training, training.steps, options))
        settings.append(f"{view['title']}: {words}")
    title = f"{', '.join(view['title'] for view in payload['views'])}, step by step"
    return Playable(title, [*filter(None, settings)], payload)


def html(playable: Playable, link: str = "") -> str:
    """Return the HTML file.

    Args:
        playable: Its content.
        link: The address that opens it again, or "".

    Raises:
        ValueError: The link is not an address of the web.
    """
    check_link(link)
    script, markup = _program()
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = as_json({"player": playable.player, "race": playable.race})
    packed = base64.b64encode(zlib.compress(data, 9)).decode()
    credit = f"Made with bpeviz {__version__}."
    if link:
        where = " on the same computer" if urlsplit(link).hostname in _LOOPBACK else ""
        credit += f' <a href="{escape(link)}" rel="noreferrer">Open it again{where}</a>'
    settings = " · ".join(map(escape, playable.settings))
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; \
form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'">
<meta name="viewport" content="width=device-width">
<title>{escape(playable.title)}</title>
<style>{_STYLE}</style></head>
<body><main><h1>{escape(playable.title)}</h1>
<p>{settings}</p>
<noscript>This page plays with JavaScript only.</noscript>
<h2>Player</h2>
<div id="place-player"></div><div id="place-step_table"></div></main>
<footer><p>{credit}</p></footer>
{markup}
<script type="text/plain" id="data">{packed}</script>
<script type="module">{script}</script></body></html>
"""
    return clean(page)


def check_link(link: str) -> None:
    """Raise `ValueError` if a link is neither empty nor an address of the web."""
    if link and not link.startswith(("https://", "http://")):
        raise ValueError("The link must begin with https:// or http://.")


def to_html(training: Training, text: str, *, link: str = "") -> str:
    """Return a training as one HTML file that plays it, without a server or a network.

    Args:
        training: the training history.
        text: the training text.
        link: an address that the file names as its source, or "".

    Raises:
        ValueError: the text cannot be tokenized, or the link is not an address of the web.

    >>> import bpeviz
    >>> text = "low lower lowest"
    >>> page = bpeviz.to_html(bpeviz.train(text, merges=4), text)
    >>> page.startswith("<!doctype html>")
    True
    """
    return html(of_training(training, text), link)


def notebook(training: Training, text: str) -> str:
    """Return the HTML of a notebook cell that plays a training, isolated from the notebook.

    A notebook that does not trust the cell removes the frame, and shows the sentence within.
    """
    page = escape(to_html(training, text))
    return (
        f'<iframe title="{escape(repr(training))}" sandbox="allow-scripts" allow="fullscreen" '
        f'style="width: 100%; height: {_FRAME_HEIGHT}px; border: 0" srcdoc="{page}">'
        "Trust this notebook, or run the cell again, to play the training here.</iframe>"
    )


Training.to_notebook = notebook


@cache
def _program() -> tuple[str, str]:
    """Return the script, and the markup of the components."""
    scripts, markups = [], []
    for name in _COMPONENTS:
        files = components.read(name)
        scripts.append(f"const {name} = (() => {{\n{files.script}\nreturn mount;\n}})();\n")
        if files.html is not None:
            style = f"<style>{files.css}</style>"
            markups.append(f'<template id="markup-{name}">{style}{files.html}</template>')
    return _UNREAD.sub("", "".join(scripts) + _HOST), _UNREAD.sub("", "\n".join(markups))


def _settings(training: Training, last: int, options: Mapping[str, object]) -> list[str]:
    """Return the settings of a training in words."""
    splitter = training.pre_tokenizer
    pattern = pattern_title(splitter.pattern)
    if splitter.expression:
        pattern += f" {shorten(splitter.expression)}"
    words = [texts_of(training).vocabulary(training, last), f"Pre-tokenization: {pattern}"]
    for option in TRAINERS[training.algorithm].options:
        value = options.get(option.name, option.default)
        if value != option.default and option.kind != "text":
            words.append(f"{option.label}: {(option.choices or {}).get(str(value), value)}")
    if training.special:
        words.append(f"Special tokens: {shorten(' '.join(training.special))}")
    return words


def _tie_rule(training: Training, options: Mapping[str, object] | None) -> str | None:
    """Return which of equal pairs wins, as half a sentence, if it is known."""
    for option in TRAINERS[training.algorithm].options if options is not None else ():
        if option.name == "ties":
            return TIE_WINNERS.get(str((options or {}).get("ties", option.default)))
    return None


def _shown(part: Part, text: str) -> str:
    if part.last - part.first == len(text):
        return ""
    return f"The player shows characters {part.first + 1:,} to {part.last:,}"
