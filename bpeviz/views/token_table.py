"""The payload of a table of tokens, which the browser draws as they look in the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from bpeviz.text import digest_of
from bpeviz.views.payloads import TokenColumn, TokenTable
from bpeviz.views.table import Table

Look = Callable[[int], tuple[str, int]]
"""A function from ids to labels and color indices."""

Ids = Mapping[str, Sequence[int | Sequence[int] | None]]
"""The ids in the columns of tokens, by their names: one, several, or None for an empty cell."""


def payload(
    table: Table, label: str, ids: Ids | None = None, look: Look | None = None, *, searches: int
) -> TokenTable:
    """Return the payload of a table.

    Args:
        table: The table.
        label: The accessible name.
        ids: The ids of tokens.
        look: Returns the look of an id.
        searches: The number of rows from which on the table has a field to search in.
    """
    known = ids or {}
    columns: list[TokenColumn] = [
        {"name": name, "values": [*known.get(name, values)], "isToken": name in known}
        for name, values in zip(table.names, table.columns, strict=True)
    ]
    cells = [cell for cell in chain.from_iterable(known.values()) if cell is not None]
    drawn = {*chain.from_iterable([cell] if isinstance(cell, int) else cell for cell in cells)}
    look = look or (lambda _: ("", -1))
    data: TokenTable = {
        "tokenStyles": {token_id: [*look(token_id)] for token_id in sorted(drawn)},
        "key": "",
        "label": label,
        "columns": columns,
        "searches": len(table) >= searches,
    }
    data["key"] = digest_of(data)
    return data
