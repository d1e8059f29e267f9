"""Compare: several tokenizers side by side on the same text."""

import streamlit as st

from bpeviz.ui.inputs.text import TEXT, choose_text, expand_counts
from bpeviz.ui.inputs.training import choose_training
from bpeviz.ui.page import frame
from bpeviz.ui.pages import compare

with frame(compare.PAGE) as side:
    answer = compare.answer()
    with side:
        training_text = choose_text(TEXT)
        text = compare.text_to_compare_on(training_text)
        sizes = st.container()
        choice = choose_training()
        expanded = expand_counts(training_text, choice.counted)
    keys, baseline = compare.controls()
    chosen = compare.offers(keys, expanded, choice, sizes)
    compare.show(expanded if text is None else text, expanded, chosen, baseline, answer)
