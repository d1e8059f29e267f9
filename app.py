"""Train: watch a tokenizer train, merge by merge."""

import streamlit as st

from bpeviz.ui import server
from bpeviz.ui.page import frame
from bpeviz.ui.pages import train

if __name__ == "app":  # imported by `streamlit run app.py`, which serves it
    app = st.App(__file__, lifespan=server.lifespan, middleware=server.middleware())
else:
    with frame(train.PAGE) as side:
        train.show(side)
