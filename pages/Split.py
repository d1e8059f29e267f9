"""Split: how a text is cut into chunks before anything is learnt."""

import streamlit as st

from bpeviz.ui import inputs, page, split

page.frame(
    "Split", "How is a text cut before merges are learnt, and what can none of them join then?"
)
with st.sidebar:
    text = inputs.text("text", "Text", "english-prose")
chosen = split.choose()
split.show(text, chosen)
