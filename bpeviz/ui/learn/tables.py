"""Tables of texts as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_STYLE = """<style>
.facts { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.facts :is(th, td) { padding: 0.25rem 0.8rem; border-bottom: 1px solid #8884; text-align: start; }
.facts td { overflow-wrap: anywhere; min-width: 4rem; }
.facts-frame { max-height: 24rem; overflow: auto; }
</style>"""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML, with escaped texts."""

    def row(cells: Sequence[str], tag: str) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        return "".join(f"<{tag}{scope}><bdi>{escape(cell)}</bdi></{tag}>" for cell in cells)

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return (
        f'{_STYLE}<div class="facts-frame" tabindex="0" role="group" aria-label="Table">'
        f'<table class="facts"><thead><tr>{row(header, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
