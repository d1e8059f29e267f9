"""Compare: the same text under the user's tokenizer, GPT-2, cl100k and o200k."""

import streamlit as st

from bpeviz.ui import inputs, page, trained
from bpeviz.ui.pages import compare
from bpeviz.ui.runtime import stop_run

with page.frame("Compare", "How do tokenizers cut the same text, and where do they differ?"):
    with st.sidebar:
        training_text = inputs.text("text", "Text", "english-prose")
        second = st.container()
        sizes = st.container()
        choice = inputs.choice()
        training_text = inputs.written_out(training_text, choice.counted)
    training = trained.training(training_text, choice, sizes)
    with sizes.container():
        if isinstance(training, str):
            inputs.idle_vocabulary_size()
        else:
            step = inputs.vocabulary_size(training, choice.largest)
    if isinstance(training, str):
        st.error(training)
        stop_run.stop()
    top = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with top:
        names = compare.others()
        held_out = compare.held_out()
    text = training_text
    if held_out:
        with second:
            text = inputs.text("held_out", "Held-out text", "numbers-and-tables")
    columns = compare.columns_for(text, training_text, choice, step, names)
    if isinstance(columns, str):
        st.error(columns)
        stop_run.stop()
    with top:
        reference = compare.reference_of(columns)
    compare.show(text, columns, reference)
    compare.fair_words(text, training_text, columns, held_out=held_out)
    compare.measures(text, columns, reference)
