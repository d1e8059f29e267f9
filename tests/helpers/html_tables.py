"""Read the HTML tables of a page in `AppTest`."""

from __future__ import annotations

from html.parser import HTMLParser

import pandas as pd
from streamlit.testing.v1 import AppTest


class _Reader(HTMLParser):
    """Collects the texts of the rows of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.is_table = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.is_table = self.is_table and tag != "details"

    def handle_data(self, data: str) -> None:
        if self.is_table:
            self.rows[-1][-1] += data


def shown_tables(app: AppTest) -> list[pd.DataFrame]:
    """Return the HTML tables of a page, as texts, and then its other tables."""
    found = []
    for element in app.get("html"):
        body = element.proto.body
        if body.startswith('<div class="facts-frame'):
            reader = _Reader()
            reader.feed(body)
            header, *rows = reader.rows
            found.append(pd.DataFrame(rows, columns=header))
    return [*found, *(one.value for one in app.dataframe)]
