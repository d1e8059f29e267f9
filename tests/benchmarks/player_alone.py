"""A page with nothing but the player, for `frames.py`: `/?atoms=100000` says how long the text is.

The app's own pages show 20,000 atoms at most, and a longer text in parts.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from benchmarks.corpora import standard_library

import bpeviz
from bpeviz.ui import components
from bpeviz.views import player


@st.cache_resource(max_entries=4)
def payload(atoms: int) -> dict[str, Any]:
    """Return the film of a text of so many bytes, in one part."""
    text = standard_library(atoms)
    training = bpeviz.train(text, vocab_size=2_000)
    boundaries = training.tokenizer().boundaries(text)
    (part,) = player.parts(text, boundaries, atoms)
    return player.payload(player.timeline(text, training, boundaries, part, training.steps))


if __name__ == "__main__":
    components.player(payload(int(st.query_params["atoms"])), "player")
