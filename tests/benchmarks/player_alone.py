"""A page with only the player, for `frames.py`. `/?atoms=100000` sets the length of the text.

The app's pages show at most 20,000 atoms at once, and longer texts in parts.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from benchmarks.corpora import standard_library

import bpeviz
from bpeviz.ui import components
from bpeviz.ui.inputs.vocabulary_size import LARGEST
from bpeviz.views import player


@st.cache_resource(max_entries=4)
def payload(atoms: int) -> dict[str, Any]:
    """Return the player's payload for a text of `atoms` bytes, in one part."""
    text = standard_library(atoms)
    training = bpeviz.train(text, vocab_size=LARGEST, min_count=2)  # as on the Train page
    boundaries = training.tokenizer().boundaries(text)
    (part,) = player.parts(text, boundaries, atoms)
    return player.payload(player.timeline(text, training, boundaries, part, training.steps))


if __name__ == "__main__":
    # As wide as on the Train page: more text on the screen takes more time to draw.
    st.set_page_config(layout="wide")
    st.html("<style>.stMainBlockContainer { padding: 1rem 2rem 1rem 22.5rem !important; }</style>")
    components.player(payload(int(st.query_params["atoms"])), "player")
