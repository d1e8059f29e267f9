"""Pre-tokenize: how a text is split into pre-tokens before training."""

import streamlit as st

from bpeviz.ui import inputs
from bpeviz.ui.page import frame
from bpeviz.ui.pages import pretokenize

with frame(pretokenize.PAGE):
    with st.sidebar:
        text = inputs.text(inputs.TEXT)
    pretokenize.show(text, pretokenize.choose())
