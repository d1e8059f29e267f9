"""Compare: several tokenizers side by side on the same text."""

import streamlit as st

from bpeviz.ui import inputs
from bpeviz.ui.page import frame
from bpeviz.ui.pages import compare

with frame(compare.PAGE) as side:
    with side:
        training_text = inputs.text(inputs.TEXT)
        second = st.container()
        sizes = st.container()
        choice = inputs.choice()
        training_text = inputs.expanded(training_text, choice.counted)
    keys, baseline, on_test_text = compare.controls()
    text = training_text
    if on_test_text:
        with second:
            text = inputs.text(compare.TEST_TEXT)
    chosen = compare.offers(keys, training_text, choice, sizes)
    compare.show(text, training_text, chosen, baseline)
