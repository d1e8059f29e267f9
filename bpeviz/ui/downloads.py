"""Downloads of vocabulary files, during which the page goes on."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpeviz.pretrained import catalog, download
from bpeviz.pretrained.catalog import title
from bpeviz.ui import markdown
from bpeviz.ui.runtime.dialogs import rerun_unless_open


def ready(names: Sequence[str]) -> list[str]:
    """Return those of `names` whose files are there; download the others and show the progress."""
    absent = [name for name in names if not download.available(name)]
    for name in absent:
        download.fetch_in_background(name)
    if absent:
        _notices(absent)
    return [name for name in names if name not in absent]


@st.fragment(run_every=1.0)
def _notices(names: list[str]) -> None:
    """Show the progress of each download; run the page again once one is finished."""
    for name in names:
        now = download.progress(name)
        message = markdown.escape(now.message)
        if now.state == "ready":
            rerun_unless_open()
        if now.state == "failed":
            st.warning(f"{title(name)} could not be downloaded. {message}")
            if st.button(f"Try again to download {title(name)}", key=f"retry_{name}"):
                download.fetch_in_background(name, retry=True)
        else:
            st.info(
                f"Downloading {title(name)}; everything else works meanwhile. {message} "
                + markdown.escape(f"License: {catalog.ENTRIES[name].license}."),
                icon=":material/downloading:",
            )
