"""Split: how a text is cut into chunks before anything is learnt."""

import streamlit as st

from bpeviz.ui import inputs, page, split

with page.frame(
    "Split", "How is a text cut before anything is learnt, and what can no merge join then?"
):
    with st.sidebar:
        text = inputs.text("text", "Text", "english-prose")
    chosen = split.choose()
    split.show(text, chosen)
