"""Split: how a text is cut into pre-tokens before anything is learnt."""

import streamlit as st

from bpeviz.ui import inputs, page
from bpeviz.ui.pages import pretokenize

with page.frame(
    "Split", "How is a text cut before anything is learnt, and what can no merge join then?"
):
    with st.sidebar:
        text = inputs.text("text", "Text", "english-prose")
    chosen = pretokenize.choose()
    pretokenize.show(text, chosen)
