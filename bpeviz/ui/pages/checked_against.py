"""The section “Checked against” of the Learn page: the engine beside other programs and papers."""

from __future__ import annotations

import streamlit as st

from bpeviz.analysis import known_answers
from bpeviz.ui.learn.tables import table
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import Switch

SHOWN = Switch(link="checked_against", key="learn_checked_against", label="Checked against")


@cached("Comparing …")
def _found(number: int) -> known_answers.Compared:
    return known_answers.compare(known_answers.COMPARISONS[number])


def show() -> None:
    """Draw the switch of the section, and run the comparisons where it is on."""
    if not SHOWN.toggle(
        help="Compares this engine with printed figures and with tiktoken, now, on this machine."
    ):
        return
    rows, agreeing, missing = [], 0, []
    for number, comparison in enumerate(known_answers.COMPARISONS):
        # A vocabulary may be downloaded later, so its absence is not cached.
        compared = known_answers.compare(comparison) if comparison.needs else _found(number)
        if compared.found is None:
            missing.append(comparison.needs)
            verdict = "not compared: the vocabulary is not on this machine"
        else:
            agreeing += compared.agrees
            verdict = "agrees" if compared.agrees else "differs"
        row = [comparison.what, comparison.expected, compared.found or "–", verdict]
        rows.append([*row, comparison.source])
    compared_rows = len(rows) - len(missing)
    note = f" Not compared, for lack of vocabularies: {len(missing)}." if missing else ""
    st.markdown(f"**{agreeing} of {compared_rows} comparisons agree.**{note}")
    header = ["Comparison", "Printed or computed elsewhere", "bpeviz, now", "Verdict", "Source"]
    st.html(table(header, rows))
    st.caption(
        "Among pairs of the same count, the one seen first is merged, as in minbpe and in the "
        "Hugging Face course. Hugging Face's own trainer, subword-nmt and SentencePiece break ties "
        "in other ways; the project's tests run those libraries and compare them under their rules."
    )
