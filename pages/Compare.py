"""Compare: several tokenizers side by side on the same text."""

import streamlit as st

from bpeviz.ui import inputs, trained
from bpeviz.ui.page import frame
from bpeviz.ui.pages import compare
from bpeviz.ui.runtime import stop_run

with frame(compare.PAGE):
    with st.sidebar:
        training_text = inputs.text(inputs.TEXT)
        second = st.container()
        sizes = st.container()
        choice = inputs.choice()
        training_text = inputs.expanded(training_text, choice.counted)
    training = trained.training(training_text, choice, sizes)
    with sizes.container():
        step = inputs.size_step(training, choice.largest)
    if isinstance(training, str):
        st.error(training)
        stop_run.stop()
    top = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with top:
        names = compare.others()
        on_test_text = compare.on_test_text()
    text = training_text
    if on_test_text:
        with second:
            text = inputs.text(compare.TEST_TEXT)
    columns = compare.columns_for(text, training_text, choice, step, names)
    if isinstance(columns, str):
        st.error(columns)
        stop_run.stop()
    with top:
        reference = compare.reference_of(columns)
    compare.show(text, columns, reference)
    compare.caveats(text, training_text, columns, on_test_text=on_test_text)
    compare.measures(text, columns, reference)
