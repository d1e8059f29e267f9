"""Values that a notebook shows as HTML, and the functions that make it, by type."""

from __future__ import annotations

from functools import singledispatch


@singledispatch
def html_of(value: object) -> str | None:
    """Return the HTML of a notebook cell; `bpeviz.views.notebook` registers types."""
    return None


class NotebookValue:
    """A value that a notebook shows as HTML."""

    def _repr_html_(self) -> str | None:
        return html_of(self)
