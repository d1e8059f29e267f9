"""Train: watch a tokenizer learn from a text."""

import streamlit as st

from bpeviz.ui import cache, ending, inputs, page, train

with page.frame("Train", "What does a tokenizer learn from this text, and in which order?"):
    with st.sidebar:
        text = inputs.text("text", "Text", "english-prose", inputs.MAX_TRAINED)
        sizes = st.container()
        choice = inputs.choice()
        text = inputs.written_out(text, choice.counted)
    training = cache.training(text, choice, sizes)
    boundaries = cache.boundaries(text, text, choice)
    if isinstance(training, str) or isinstance(boundaries, str):
        with sizes.container():
            inputs.idle_vocabulary_size()
        st.error(str(training if isinstance(training, str) else boundaries))
        ending.stop()
    with sizes.container():
        last = inputs.vocabulary_size(training, choice.largest)
    train.show(text, training, boundaries, choice, last)
