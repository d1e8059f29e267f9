"""Inspect: one text from characters to ids, and back."""

import streamlit as st

from bpeviz.ui.inputs.text import expand_counts
from bpeviz.ui.inputs.training import choose_training
from bpeviz.ui.page import frame
from bpeviz.ui.pages import inspect

with frame(inspect.PAGE) as side:
    with side:
        training_text = inspect.training_text()
        chosen = st.container()
        settings = inspect.settings()
    with settings:
        sizes = st.container()
        choice = choose_training()
        training_text = expand_counts(training_text, choice.counted)
    inspect.show(training_text, inspect.offers(training_text, choice, sizes), chosen)
