"""The lattice of a word, drawn as HTML: every piece that covers a part of the word.

The columns are the atoms, and the lines between them the nodes of the lattice. A box is an
edge: a piece with its log probability. The best path is the first row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from bpeviz.core.lattice import Edge, Lattice, score
from bpeviz.text import counted

Name = Callable[[int], str]
"""Returns the label of an id."""


def rows(lattice: Lattice) -> list[list[Edge]]:
    """Return the edges in rows without overlaps: the best path, then the longest edges first."""
    best = [*lattice.best()]
    rows = [best]
    for edge in sorted({*lattice.edges} - {*best}, key=lambda edge: (edge.start - edge.end, edge)):
        for row in rows[1:]:
            if all(edge.end <= other.start or other.end <= edge.start for other in row):
                row.append(edge)
                break
        else:
            rows.append([edge])
    return [rows[0], *(sorted(row) for row in rows[1:])]


def description(lattice: Lattice, atoms: Sequence[str], name: Name) -> str:
    """Return the lattice in words, for screen readers. The arguments are those of the drawing."""
    best = lattice.best()
    pieces = " | ".join(name(edge.id) for edge in best)
    return (
        f"Lattice of {''.join(atoms)}: {counted(len(lattice.edges), 'piece')} in "
        f"{counted(lattice.paths, 'segmentation')}. Best: {pieces}, log probability "
        f"{score(best):.2f}. The tables below list all pieces."
    )


def lattice_html(lattice: Lattice, atoms: Sequence[str], name: Name) -> str:
    """Return the drawing of a lattice.

    Args:
        lattice: The lattice of a word.
        atoms: The labels of its atoms.
        name: Returns the label of an id.
    """
    cells = [_cell(1, i, i + 1, "node", escape(atom)) for i, atom in enumerate(atoms)]
    for number, row in enumerate(rows(lattice), 2):
        for edge in row:
            piece = escape(name(edge.id))
            kind = "edge best" if number == 2 else "edge"
            text = f"<bdi>{piece}</bdi><small>{_number(edge.score)}</small>"
            cells.append(_cell(number, edge.start, edge.end, kind, text))
    label = escape(description(lattice, atoms, name))
    return (
        f'<div class="lattice" role="img" tabindex="0" aria-label="{label}">'
        f'<div style="grid-template-columns: repeat({len(atoms)}, minmax(3.3rem, 6rem))">'
        f"{''.join(cells)}</div></div>"
    )


def _cell(row: int, start: int, end: int, kind: str, content: str) -> str:
    place = f"grid-area: {row} / {start + 1} / auto / {end + 1}"
    return f'<div class="{kind}" style="{place}">{content}</div>'


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
