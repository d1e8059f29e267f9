"""Algorithms: several trainers on the same text, in lock-step."""

import streamlit as st

from bpeviz.ui import inputs, page
from bpeviz.ui.pages import algorithms
from bpeviz.ui.runtime import stop_run

with page.frame(
    "Algorithms", "What do different learners make of the same text, at the same size?"
):
    with st.sidebar:
        text = inputs.text("text", "Text", "english-prose")
        # Over characters, as the others: over bytes no vocabulary is smaller than 256.
        choices = inputs.choices(["bpe", "wordpiece", "unigram"], initial={"atoms": "characters"})
        text = inputs.written_out(text, any(choice.counted for choice in choices))
    shown = algorithms.learnt(text, choices)
    if not choices:
        st.info("Choose an algorithm at the left, or several.")
    if not shown:
        stop_run.stop()
    algorithms.show(text, shown)
