"""Train: watch a tokenizer train, merge by merge."""

import streamlit as st

from bpeviz import limits
from bpeviz.ui import server
from bpeviz.ui.inputs.text import TEXT, choose_text, expand_counts
from bpeviz.ui.inputs.training import choose_training
from bpeviz.ui.page import frame
from bpeviz.ui.pages import train
from bpeviz.ui.pages.base import training_of

if __name__ == "app":  # imported by `streamlit run app.py`, which serves it
    app = st.App(__file__, lifespan=server.lifespan, middleware=server.middleware())
else:
    with frame(train.PAGE) as side:
        with side:
            text = choose_text(TEXT, limits.TEXT)
            sizes = st.container()
            choice = choose_training()
            text = expand_counts(text, choice.counted)
        train.show(*training_of(text, choice, sizes))
