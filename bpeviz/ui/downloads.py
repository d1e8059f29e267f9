"""How a page waits for vocabulary files: it goes on, and says what is happening."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpeviz.pretrained import download
from bpeviz.pretrained.catalog import TITLES


def ready(names: Sequence[str]) -> list[str]:
    """Return those of `names` whose files are there; bring the others, and say how that goes."""
    absent = [name for name in names if not download.available(name)]
    for name in absent:
        download.fetch_in_background(name)
    if absent:
        _notices(absent)
    return [name for name in names if name not in absent]


@st.fragment(run_every=1.0)
def _notices(names: list[str]) -> None:
    """Say of each vocabulary on its way how it stands; draw the page anew once one is there."""
    for name in names:
        now = download.progress(name)
        if now.state == "ready":
            st.rerun()
        if now.state == "failed":
            st.warning(f"{TITLES[name]} is not here. {now.message}")
            if st.button(f"Try again to bring {TITLES[name]}", key=f"retry_{name}"):
                download.fetch_in_background(name, retry=True)
        else:
            st.info(
                f"{TITLES[name]} is on its way; all else works meanwhile. {now.message}",
                icon=":material/downloading:",
            )
