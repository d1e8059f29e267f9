"""The section “Checked against” of the Learn page: the engine beside other programs and papers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from bpeviz.analysis import known_answers, library_comparisons
from bpeviz.analysis.known_answers import COMPARISONS, Comparison
from bpeviz.ui.html_table import table
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import SessionValue, Switch

SHOWN = Switch("learn_checked_against", "Checked against other programs", link="checked_against")
_LIBRARIES: SessionValue[bool] = SessionValue("learn_libraries")
"""Whether the comparisons with libraries were asked for."""


@cached("Comparing …")
def _found(what: str) -> str:
    every = (*COMPARISONS, *library_comparisons.comparisons())
    return next(one for one in every if one.what == what).compute()


def show() -> None:
    """Draw the switch of the section, and run the comparisons where it is on."""
    if not SHOWN.toggle(
        help="Compares this engine with printed figures and other libraries, now, on this machine."
    ):
        return
    _table(COMPARISONS, "Printed or computed elsewhere", "bpeviz, now")
    st.caption(
        "Among pairs of the same count, the one seen first is merged, as in minbpe and in the "
        "Hugging Face course. The expected results come from the sources in the last column, not "
        "from this engine; tiktoken runs here."
    )
    if _LIBRARIES.get():
        _table(library_comparisons.comparisons(), "All", "Equal now")
        st.caption(
            "These libraries trained and encoded on this machine, in processes of their own. Each "
            "breaks ties in its own way, and here bpeviz follows its rule. subword-nmt is compared "
            "in the project's tests only."
        )
        return
    st.button(
        "Run Hugging Face tokenizers and SentencePiece, too",
        key="learn_run_libraries",
        on_click=partial(_LIBRARIES.put, True),
        help="They train on the sample texts and load files that bpeviz writes. It takes some "
        "seconds.",
    )


def _table(comparisons: Sequence[Comparison], expected: str, found: str) -> None:
    """Draw comparisons; expected, found: the names of the columns of both results."""
    rows, agreeing, missing = [], 0, 0
    for comparison in comparisons:
        compared = known_answers.compare(comparison, partial(_found, comparison.what))
        if compared.found is None:
            missing += 1
            verdict = f"not compared: {compared.missing}"
        else:
            agreeing += compared.agrees
            verdict = "agrees" if compared.agrees else "differs"
        row = [comparison.what, comparison.expected, compared.found or "–", verdict]
        rows.append([*row, comparison.source])
    note = f" Not compared: {missing}." if missing else ""
    st.markdown(f"**{agreeing} of {len(rows) - missing} comparisons agree.**{note}")
    header = ["Comparison", expected, found, "Verdict", "Source"]
    st.html(table(header, rows, label="Comparisons", scrolls=False))
