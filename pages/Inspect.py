"""Inspect: one text from its characters to its ids, and back."""

import streamlit as st

from bpeviz.ui import inputs, page, trained
from bpeviz.ui.pages import inspect

with page.frame("Inspect", "What becomes of a text on its way from characters to ids, and back?"):
    with st.sidebar:
        learnt_from = inputs.text("text", "Text", "english-prose")
        sizes = st.container()
        choice = inputs.choice()
        learnt_from = inputs.written_out(learnt_from, choice.counted)
    training = trained.training(learnt_from, choice, sizes)
    with sizes.container():
        if isinstance(training, str):
            inputs.idle_vocabulary_size()
            step = 0
        else:
            step = inputs.vocabulary_size(training, choice.largest)
    offers = inspect.offers(learnt_from, choice, training, step)
    inspect.show(learnt_from, offers)
