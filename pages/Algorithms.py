"""Algorithms: several trainers on the same text, in lock-step."""

import streamlit as st

from bpeviz.ui.inputs.text import TEXT, choose_text, expand_counts
from bpeviz.ui.inputs.training import choose_trainings
from bpeviz.ui.page import frame
from bpeviz.ui.pages import algorithms
from bpeviz.ui.runtime import stop_run

with frame(algorithms.PAGE) as side:
    with side:
        text = choose_text(TEXT)
        # Over characters, as WordPiece and Unigram: over bytes no vocabulary is smaller than 256.
        choices = choose_trainings(["bpe", "wordpiece", "unigram"], initial={"atoms": "characters"})
        text = expand_counts(text, any(choice.counted for choice in choices))
    if not choices:
        st.info("Choose one or more algorithms on the left.")
    shown = algorithms.train_all(text, choices)
    if not shown:
        stop_run.stop()
    algorithms.show(shown)
