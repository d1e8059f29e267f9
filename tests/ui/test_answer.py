"""The component `answer` on a page of its own: its forms need no chapter."""

from __future__ import annotations

from helpers.payloads import payloads
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    import bpeviz
    from bpeviz.ui import components
    from bpeviz.ui.learn.base import Judgment, Question
    from bpeviz.ui.learn.engine import timeline
    from bpeviz.ui.learn.forms import (
        BoundariesForm,
        ChoiceForm,
        CurveForm,
        NumberForm,
        OrderForm,
        PairForm,
        token,
    )

    text = timeline(bpeviz.train("banana", merges=0, pattern="none"), "banana")
    forms = (
        PairForm(text, [0, 1, 2, 3, 4], [token(one) for one in "banana"]),
        BoundariesForm("banana"),
        NumberForm(1, 6, "tokens"),
        CurveForm([0, 1, 2], 6, 6, "merges", "tokens"),
        OrderForm([[token("a"), token("n")], [token("b"), token("a")]]),
        ChoiceForm({"yes": "Yes.", "no": "No."}),
    )
    for form in forms:
        asked = Question(["Which?"], form, lambda given: Judgment("right", [str(given)], {}))
        sent = (st.session_state.get(form.kind) or {}).get("answer")
        given = sent["value"] if sent else None
        tries = [given] if sent and form.accepts(given) else []
        found = components.answer(asked.payload("page", tries), form.kind)
        st.text(f"{form.kind}: {found and found['value']}")


def test_every_form_is_asked_and_answered_outside_a_chapter() -> None:
    answers = {
        "pair": 1,
        "boundaries": [2],
        "number": 4,
        "curve": [6, 5, 4],
        "order": [1, 0],
        "choice": "no",
    }
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    assert [one.value for one in app.text] == [f"{kind}: None" for kind in answers]
    for kind, value in answers.items():
        app.session_state[kind] = {"answer": {"number": 1, "of": "page", "value": value}}
    app.run()
    assert [one.value for one in app.text] == [f"{k}: {value}" for k, value in answers.items()]
    assert [one["result"]["message"] for one in payloads(app)] == [
        [str(one)] for one in answers.values()
    ]
