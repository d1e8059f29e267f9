"""Compare: several tokenizers side by side on the same text."""

import streamlit as st

from bpeviz.ui import inputs, markdown
from bpeviz.ui.page import frame
from bpeviz.ui.pages import compare
from bpeviz.ui.pages.base import training_of
from bpeviz.ui.runtime import stop_run
from bpeviz.ui.trained import TrainingError

with frame(compare.PAGE):
    with st.sidebar:
        training_text = inputs.text(inputs.TEXT)
        second = st.container()
        sizes = st.container()
        choice = inputs.choice()
        training_text = inputs.expanded(training_text, choice.counted)
    trained, step = training_of(training_text, choice, sizes)
    top = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with top:
        names = compare.others()
        on_test_text = compare.on_test_text()
    text = training_text
    if on_test_text:
        with second:
            text = inputs.text(compare.TEST_TEXT)
    try:
        columns = compare.columns_for(text, trained, step, names)
    except TrainingError as error:
        st.error(markdown.escape(str(error)))
        stop_run.stop()
    with top:
        reference = compare.reference_of(columns)
    compare.show(text, columns, reference)
    compare.caveats(text, training_text, columns, on_test_text=on_test_text)
    compare.measures(text, columns, reference)
