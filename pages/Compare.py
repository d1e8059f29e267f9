"""Compare: the same text under the visitor's tokenizer, GPT-2, cl100k and o200k."""

import streamlit as st

from bpeviz.ui import cache, compare, inputs, page

page.frame("Compare", "How do tokenizers cut the same text, and where do they differ?")
with st.sidebar:
    learnt_from = inputs.text("text", "Text", "english-prose")
    sizes = st.container()
    choice = inputs.choice()
training = cache.training(learnt_from, choice)
if isinstance(training, str):
    st.error(training)
    st.stop()
with sizes:
    merges = inputs.vocabulary_size(training, choice.largest)
top = st.container(horizontal=True, vertical_alignment="top", gap="medium")
with top:
    names = compare.others()
    held_out = compare.held_out()
text = inputs.text("held_out", "Held-out text", "numbers-and-tables") if held_out else learnt_from
columns = compare.columns_for(text, learnt_from, choice, merges, names)
if isinstance(columns, str):
    st.error(columns)
    st.stop()
with top:
    reference = compare.reference_of(columns)
fair = compare.fair_words(training, merges, names, held_out=text != learnt_from)
compare.show(text, columns, reference, fair)
