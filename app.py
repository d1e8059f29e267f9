"""Train: watch a tokenizer train, merge by merge."""

import streamlit as st

from bpeviz.ui import inputs, server
from bpeviz.ui.page import frame
from bpeviz.ui.pages import train
from bpeviz.ui.pages.base import training_of

if __name__ == "app":  # imported by `streamlit run app.py`, which serves it
    app = st.App(__file__, lifespan=server.lifespan, middleware=server.middleware())
else:
    with frame(train.PAGE) as side:
        with side:
            text = inputs.text(inputs.TEXT, inputs.MAX_TRAINED)
            sizes = st.container()
            choice = inputs.choice()
            text = inputs.expanded(text, choice.counted)
        train.show(*training_of(text, choice, sizes))
