"""HTML files that show what a page draws: a timeline that plays, a score, or tables of texts.

A file loads nothing, works from a folder, and is the same for the same input. Its scripts are
allowed by their hashes; user text is data of them, or escaped.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz import components, palette
from bpeviz.analysis import figures, trace
from bpeviz.analysis.compared_text import FIGURES
from bpeviz.analysis.comparison import Comparison
from bpeviz.components.modules import bundle
from bpeviz.core.boundaries import Part
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.text import as_json, clean, counted
from bpeviz.views import credit as credits
from bpeviz.views import encoded, parts, race, text_table
from bpeviz.views.export import ColoredText
from bpeviz.views.payloads import FileData, Player, Race, TextsTable
from bpeviz.views.stage import Stage, of_training
from bpeviz.views.table import Table

_UNPACK = """
const packed = atob(document.getElementById("data").textContent);
const bytes = Uint8Array.from(packed, (byte) => byte.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const { markup, program, ...data } = await new Response(stream).json();
document.body.insertAdjacentHTML("beforeend", markup);
const script = document.createElement("script");
Object.assign(script, { type: "module", textContent: program });
globalThis.data = data;
document.body.append(script);
"""
"""Reads the data of the page and the markup of its components, and runs its script."""

SHADOW = """
const shadow = (name, place = name) => {
  const host = document.getElementById(`place-${place}`).appendChild(document.createElement("div"));
  const root = host.attachShadow({ mode: "open" });
  for (const part of ["style-shared", `markup-${name}`])
    root.append(document.getElementById(part).content.cloneNode(true));
  return root;
};
const ignore = () => {};
"""
"""The host of the components: it mounts them in the page, in terms of `mount`."""

_PLAYER = """
const { vocabSizes, last } = data.player;
const linked = () => {
  const number = Number(/^#step=(\\d+)$/.exec(location.hash)?.[1] ?? NaN);
  if (Number.isNaN(number)) return null;
  const step = vocabSizes ? vocabSizes.findLastIndex((size) => size <= number) : number;
  return Math.max(0, Math.min(step, last));
};
const root = shadow("player");
if (!document.fullscreenEnabled) root.querySelector("[data-act=projector]").remove();
// As a page, it plays once on a first visit. Else, and in a frame, it opens at the last step.
const at = linked();
const opening = at === null ? { opensInMotion: parent === window } : { initialStep: at };
const { view } = player(root, { ...data.player, races: data.races, ...opening }, ignore);
for (const timeline of data.player.views)
  if (timeline.last) token_table(shadow("token_table"), { view: timeline }, ignore);
addEventListener("hashchange", () => linked() === null || view.jump(linked()));
"""

_SCORE = """
const root = shadow("player", "score");
player(root, data.score, ignore);
if (!document.fullscreenEnabled) root.querySelector("[data-act=projector]").remove();
"""

_TEXTS = f"""
const placeOf = (i) => document.getElementById(`place-table-${{i}}`);
data.tables.forEach((table, i) => texts_table(placeOf(i), table, ignore));
if (data.score) {{{_SCORE}}}
"""

_IN_FRAME = (
    bundle(components.FOLDER / "shared" / "frame_height.js")
    + """
if (parent !== window) announceHeight(document.documentElement);
"""
)
"""Tells the page around a frame its height."""

STYLE = (
    f"\n:root {{ color-scheme: light dark; }}\n{palette.style(':root')}"
    + """\
body { margin: 0 auto; max-width: 72rem; padding: 0.75rem 1rem; font-family: system-ui, sans-serif;
  line-height: 1.5; background: var(--background); color: var(--text); overflow-wrap: anywhere; }
/* The controls and the title of the table stay on the screen. On narrow ones, the race is below the
   text. */
#place-player { --page-around: 7.4rem; }
@media (max-width: 899px) {
  :root { --page-around: 16rem; }
  #place-player { --page-around: 18rem; }
  main { display: flex; flex-direction: column; }
  h1 + p { order: 1; } /* settings */
}
h1 { font-size: 1.25rem; margin: 0; }
p { color: var(--quiet); font-size: 0.9rem; margin: 0.15rem 0 0.75rem; }
h2 { position: absolute; clip-path: inset(50%); margin: 0; } /* for screen readers */
a { color: var(--accent); }
h2.shown { position: static; clip-path: none; font-size: 1.1rem; margin-top: 1rem; }
.verdict { color: inherit; font-size: 1.4rem; line-height: 1.25; font-weight: 600; }
"""
)

_UNSEEN_TITLE = "h1 { position: absolute; clip-path: inset(50%); }"
"""The style of files whose content has a title; screen readers read both."""

_TABLES = components.compact(f"{components.table_style()}.facts-frame {{ margin-top: 1rem; }}\n")
"""The style of files with tables."""


FRAME_HEIGHT = 720
"""The height of a frame in pixels: the player, and the first line of the table."""


@dataclass(frozen=True)
class Interactive:
    """The content of a file.

    Attributes:
        title: The heading.
        settings: The settings in words, each a sentence or a few words.
        data: The payloads of the components: "player" and "races", or "score", or "tables" of many
            texts and the "score" of one of them or None.
        names: The components.
        host: The script that mounts them.
        body: The HTML with a place for each, whose id is `place-` and its name.
        style: The style of the body, beyond that of all files.
    """

    title: str
    settings: Sequence[str]
    data: FileData
    names: Sequence[str]
    host: str
    body: str
    style: str = ""


def of_stage(stage: Stage, last: int | None = None) -> Interactive:
    """Return the steps of a stage.

    Args:
        stage: The stage.
        last: The last step; by default that of the player.
    """
    rows, player = stage.rows, stage.payload if last is None else stage.upto(last)
    races = [race.in_file(row, stage.hues, last, len(rows)) for row in rows]
    if not stage.by_size:
        player = player.copy()
        player["initialStep"] = player["last"]
    titles = [row.title if stage.by_size else row.words.algorithm or row.title for row in rows]
    title = f"{', '.join(titles)}, step by step"
    # The player has the title of one row.
    style = "" if stage.by_size or not rows[0].words.rule else _UNSEEN_TITLE
    raced = None if None in races else [*filter(None, races)]
    return of_player(player, title, _settings(stage, last), raced, style)


def of_player(
    player: Player,
    title: str,
    settings: Sequence[str] = (),
    races: list[Race] | None = None,
    style: str = "",
) -> Interactive:
    """Return the rows of a player. The other arguments are those of `Interactive`."""
    data: FileData = {"player": player, "races": races}
    body = '<h2>Player</h2>\n<div id="place-player"></div><div id="place-token_table"></div>'
    return Interactive(title, settings, data, ("player", "token_table"), _PLAYER, body, style)


def _settings(stage: Stage, last: int | None) -> list[str]:
    """Return the settings of a stage in words, and what is shown of the text."""
    row = stage.rows[0]
    about = [*_size(row.text, row.part, row.column.breaks)]
    if not stage.by_size:
        words = [*row.settings(last), *about]
        if row.events is not None:
            unit = encoded.unit_of(row.training).capitalize()
            words.append(f"{unit}s that do not touch this text are skipped.")
        return [*filter(None, words)]
    if row.trained_on is not None and row.trained_on.name:
        about.append(f"Trained on {row.trained_on.name}")
    about += [f"{row.title}: {', '.join(row.own_settings())}" for row in stage.rows]
    return [*filter(None, about)]


def of_tokenizer(tokenizer: Tokenizer, title: str, text: str) -> Interactive:
    """Return the merges of a published or opened tokenizer that change a text.

    Raises:
        ValueError: It has no merges to replay, or the text cannot be tokenized.
    """
    if (why := tokenizer.without_steps) is not None:
        raise ValueError(f"{title} has no merges to replay: {why}.")
    inspected = trace.inspect(text, tokenizer)
    part = parts.parts(inspected.text, inspected.boundaries)[0]
    row = encoded.of_inspection(inspected, part, title)
    return of_stage(Stage([row], encoded.hues_of(inspected)))


def of_score(picture: ColoredText, metrics: Table | None = None) -> Interactive:
    """Return a text under several tokenizers.

    Args:
        picture: The text.
        metrics: The metrics, as from `tables.metrics`, if they are shown.
    """
    text, verdict = picture.text, picture.score.get("verdict", "")
    words = [*_size(text, picture.part, picture.breaks), *picture.settings]
    body = '<h2>The text under each tokenizer</h2>\n<div id="place-score"></div>'
    if metrics is not None:
        table = metrics.html("Metrics", right=metrics.names[1:-1])
        body = f'<p class="verdict">{escape(verdict)}</p>\n{body}\n<h2>Metrics</h2>\n{table}'
    data: FileData = {"score": {**picture.score, "verdict": verdict}}
    return Interactive(picture.title, words, data, ("player",), _SCORE, body, _TABLES)


def of_texts(
    comparison: Comparison, settings: Sequence[str] = (), score: Interactive | None = None
) -> Interactive:
    """Return the tables of many texts under several tokenizers.

    Args:
        comparison: The comparison.
        settings: The settings of tokenizers, in words.
        score: One of the texts under each tokenizer, if it is open.
    """
    rows, relative_to = comparison.rows, comparison.relative_to
    tables: list[TextsTable] = [
        {
            **text_table.payload(comparison, figure, text_table.title(figure, relative_to)),
            "startsAsTable": figure is not figures.premium,
        }
        for key, figure in FIGURES.items()
        if any(getattr(row, key) is not None for row in rows)
    ]
    number, tokenizers = len({row.text for row in rows}), text_table.of_tokenizers(comparison)
    words = [counted(number, "text"), counted(len(tokenizers), "tokenizer"), *settings]
    notes = [
        f"Charts: {text_table.chart_legend(comparison, figures.premium)}",
        f"Tables: {text_table.legend(comparison, figures.tokens)} Press a title to sort.",
        *comparison.notes,
    ]
    if comparison.special_tokens is None:
        notes.append(text_table.WITHOUT_SPECIAL)
    title = "Fairness and vocabulary"
    body = [
        f'<p class="verdict">{escape(comparison.verdict)}</p>',
        *(
            f'<h2 class="shown">{escape(table["label"])}</h2>\n<div id="place-table-{i}"></div>'
            for i, table in enumerate(tables)
        ),
        *(f"<p>{escape(note)}</p>" for note in notes),
        f'<h2 class="shown">{title}</h2>\n{tokenizers.html(title, right=tokenizers.names[1:])}',
        *(
            f"<p>{escape(f'{figure.title}: {figure.meaning} ({figure.source})')}</p>"
            for figure in text_table.totals(comparison)
        ),
    ]
    if score is not None:
        body.append(f'<h2 class="shown">{escape(score.title)}</h2>\n{score.body}')
    data: FileData = {"tables": tables, "score": score.data["score"] if score else None}
    title, names = "Several texts, several tokenizers", ("player", "texts_table")
    return Interactive(title, words, data, names, _TEXTS, "\n".join(body), _TABLES)


def html(content: Interactive, link: str = "") -> str:
    """Return the HTML file.

    Args:
        content: Its content.
        link: The address that opens it again, or "".

    Raises:
        ValueError: The link is not an address of the web.
    """
    script, markup = program(content.names, SHADOW + content.host + _IN_FRAME)
    data = as_json({**_brief(content.data), "markup": markup, "program": script})
    packed = base64.b64encode(zlib.compress(data, 9)).decode()
    settings = " · ".join(map(escape, content.settings))
    body = f"<style>{content.style}</style><h1>{escape(content.title)}</h1>\n<p>{settings}</p>"
    held = f'<script type="text/plain" id="data">{packed}</script>'
    return document(content.title, f"{body}\n{content.body}", held, _UNPACK, link, script)


def _brief(data: FileData) -> FileData:
    """Return the data of a file, whose races have only those looks that its player has not."""
    races: list[Race] = []
    for i, drawn in enumerate(data.get("races") or ()):
        known = data["player"]["views"][i]["tokenStyles"].items()
        styles = dict(pair for pair in drawn["styles"].items() if pair not in known)
        races.append({**drawn, "styles": styles})
    return {**data, "races": races} if races else data


def document(
    title: str, body: str, data: str, script: str, link: str = "", packed: str = ""
) -> str:
    """Return an HTML file that loads nothing, and runs one script.

    Args:
        title: Its title.
        body: Its content as HTML.
        data: The markup and data of the script as HTML.
        script: The script.
        link: The address that opens it again, or "".
        packed: A script in the data that the script may run, or "".

    Raises:
        ValueError: The link is not an address of the web.
    """
    digests = [hashlib.sha256(code.encode()).digest() for code in (script, packed) if code]
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; \
form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<style>{STYLE}</style></head>
<body><main>{body}
<noscript>This page needs JavaScript.</noscript></main>
<footer><p>{credits.credit(link)}</p></footer>
{data}
<script type="module">{script}</script></body></html>
"""
    return clean(page)


def to_html(training: Training | Tokenizer, text: str, *, link: str = "") -> str:
    """Return one HTML file that plays a training, or the merges of a tokenizer that change a text.

    The file needs neither a server nor a network.

    Args:
        training: the training history, or a tokenizer.
        text: the training text, or any text for a tokenizer.
        link: an address that the file names as its source, or "".

    Raises:
        ValueError: the text cannot be tokenized, the tokenizer has no merges to replay, or the link
            is not an address of the web.

    >>> import bpeviz
    >>> text = "low lower lowest"
    >>> page = bpeviz.to_html(bpeviz.train(text, merges=4), text)
    >>> page.startswith("<!doctype html>")
    True
    """
    if isinstance(training, Training):
        row = of_training(training, text, options=training.training_options)
        return html(of_stage(Stage([row])), link)
    return html(of_tokenizer(training, training.name, text), link)


FIT_FRAMES = (
    '<script>addEventListener("message", (e) => { for (const f of document.querySelectorAll('
    '"iframe")) if (f.contentWindow === e.source && e.data?.bpevizHeight) '
    "f.height = e.data.bpevizHeight; });</script>"
)
"""Makes the frames of a page as high as their content, once for all."""


def embed_code(file: str, title: str) -> str:
    """Return the HTML that shows a file in another page, where it may only run scripts."""
    return (
        f'<iframe src="{escape(file)}" title="{escape(title)}" width="100%" '
        f'height="{FRAME_HEIGHT}" style="border: 0" sandbox="allow-scripts" allow="fullscreen">'
        f"</iframe>\n{FIT_FRAMES}"
    )


@cache
def program(names: Sequence[str], host: str, place: str | None = None) -> tuple[str, str]:
    """Return the script of a page with components, and their markup.

    Args:
        names: The components.
        host: The script that mounts them, which can use `SHADOW`.
        place: The path below which the page loads the modules of the components. If None, script
            and markup contain them.
    """
    if place is not None:
        return _loading({name: f"{place}/{components.module(name).file}" for name in names}, host)
    shared, own = components.scripts(names)
    scripts, shared_style = [f"{shared}\n"], components.shared_style()
    style = components.compact_style(shared_style)
    markups = [f'<template id="style-shared"><style>{style}</style></template>']
    for name, script in zip(names, own, strict=True):
        files = components.read(name)
        scripts.append(f"const {name} = (() => {{\n{script}\nreturn mount;\n}})();\n")
        if files.html is not None and files.css is not None:
            style = components.compact_style(files.css.removeprefix(shared_style))
            content = f"<style>{style}</style>{components.compact(files.html)}"
            markups.append(f'<template id="markup-{name}">{content}</template>')
    # In a block, the names of the host are its own.
    script = components.compact(f"{''.join(scripts)}{{\n{host}\n}}")
    return script, "\n".join(markups)


def _loading(addresses: dict[str, str], host: str) -> tuple[str, str]:
    """Return the script and the markup of a page that loads components by their addresses."""
    script = f"""{components.UNAVAILABLE}
const load = async ([name, address]) => {{
  const {{ mount, default: markup }} = await import(address);
  const template = `<template id="markup-${{name}}">${{markup}}</template>`;
  document.body.insertAdjacentHTML("beforeend", template);
  return mount;
}};
const addresses = {as_json(addresses).decode()};
const [{", ".join(addresses)}] = await Promise.all(Object.entries(addresses).map(load))
  .catch((error) => (sayUnavailable(document.querySelector("main")), Promise.reject(error)));
{{
{host}
}}"""
    return components.compact(script), '<template id="style-shared"></template>'


def _size(text: str, part: Part, breaks: Sequence[int] | NDArray[np.integer]) -> Iterator[str]:
    """Yield the number of characters of a text, as on pages, or which code points are shown."""
    first, last, total = parts.characters_of(text, part, breaks)
    is_whole = last - first >= total
    characters = len(regex.findall(r"\X", text)) - len(breaks) if is_whole else total
    yield counted(characters, "character")
    if not is_whole:
        yield f"Characters {first + 1:,} to {last:,} are shown"
