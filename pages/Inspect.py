"""Inspect: one text from its characters to its ids, and back."""

import streamlit as st

from bpeviz.ui import inputs, page, trained
from bpeviz.ui.pages import inspect

with page.frame("Inspect", "What becomes of a text on its way from characters to ids, and back?"):
    with st.sidebar:
        training_text = inputs.text("text", "Text", "english-prose")
        sizes = st.container()
        choice = inputs.choice()
        training_text = inputs.written_out(training_text, choice.counted)
    training = trained.training(training_text, choice, sizes)
    with sizes.container():
        if isinstance(training, str):
            inputs.idle_vocabulary_size()
            step = 0
        else:
            step = inputs.vocabulary_size(training, choice.largest)
    offers = inspect.offers(training_text, choice, training, step)
    inspect.show(training_text, offers)
