"""Train: watch a tokenizer learn from a text."""

import streamlit as st

from bpeviz.ui import inputs, page, trained
from bpeviz.ui.pages import train
from bpeviz.ui.runtime import stop_run

with page.frame("Train", "What does a tokenizer learn from this text, and in which order?"):
    with st.sidebar:
        text = inputs.text("text", "Text", "english-prose", inputs.MAX_TRAINED)
        sizes = st.container()
        choice = inputs.choice()
        text = inputs.written_out(text, choice.counted)
    training = trained.training(text, choice, sizes)
    boundaries = trained.boundaries(text, text, choice)
    if isinstance(training, str) or isinstance(boundaries, str):
        with sizes.container():
            inputs.idle_vocabulary_size()
        st.error(str(training if isinstance(training, str) else boundaries))
        stop_run.stop()
    with sizes.container():
        last = inputs.vocabulary_size(training, choice.largest)
    train.show(text, training, boundaries, choice, last)
