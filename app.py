"""Train: watch a tokenizer train, merge by merge."""

import streamlit as st

from bpeviz.ui import inputs, trained
from bpeviz.ui.page import frame
from bpeviz.ui.pages import train
from bpeviz.ui.runtime import stop_run

with frame(train.PAGE):
    with st.sidebar:
        text = inputs.text(inputs.TEXT, inputs.MAX_TRAINED)
        sizes = st.container()
        choice = inputs.choice()
        text = inputs.expanded(text, choice.counted)
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
