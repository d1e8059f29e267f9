"""Inspect: one text from characters to ids, and back."""

import streamlit as st

from bpeviz.ui import inputs, tokenizers, trained
from bpeviz.ui.page import frame
from bpeviz.ui.pages import inspect
from bpeviz.ui.trained import Trained, TrainingError

with frame(inspect.PAGE) as side:
    with side:
        training_text = inspect.training_text()
        chosen = st.container()
        settings = inspect.settings()
    with settings:
        sizes = st.container()
        choice = inputs.choice()
        training_text = inputs.expanded(training_text, choice.counted)
    found: Trained | str
    try:
        found = trained.get(training_text, choice, sizes)
    except TrainingError as error:
        found = str(error)
    with sizes.container():
        history = found if isinstance(found, str) else found.history
        step = inputs.size_step(history, choice.largest)
    inspect.show(training_text, tokenizers.offers(found, step), chosen)
