"""Inspect: one text from characters to ids, and back."""

import streamlit as st

from bpeviz.ui import inputs, trained
from bpeviz.ui.page import frame
from bpeviz.ui.pages import inspect

with frame(inspect.PAGE):
    with st.sidebar:
        training_text = inputs.text(inputs.TEXT)
        sizes = st.container()
        choice = inputs.choice()
        training_text = inputs.expanded(training_text, choice.counted)
    training = trained.training(training_text, choice, sizes)
    with sizes.container():
        step = inputs.size_step(training, choice.largest)
    inspect.show(training_text, inspect.offers(training_text, choice, training, step))
