"""What stands on the Compare page: the columns, the measures, the sweep, and fair warnings."""

from __future__ import annotations

import streamlit as st

from bpeviz.analysis import metrics
from bpeviz.analysis.metrics import Column
from bpeviz.pretrained import catalog
from bpeviz.pretrained.catalog import TITLES
from bpeviz.ui import components, export, trained
from bpeviz.ui.downloads import ready
from bpeviz.ui.inputs import Choice, one_of
from bpeviz.views import charts, player, tables

SHOWN = 6_000
"""Bytes of a text that stand in the columns at once; measures are about the whole."""

YOURS = "Yours"

WAVY = " A wavy line stands under what is not in a vocabulary."


def others() -> list[str]:
    """Let the user choose what to compare with; return the vocabularies that are there.

    Tokenizers of files that are opened are compared as long as they are open.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", width="content", gap="small"):
        chosen = st.pills(
            "Compare with",
            catalog.NAMES,
            selection_mode="multi",
            default=["gpt2", "cl100k_base"],
            format_func=TITLES.__getitem__,
            key="others",
            persist_state="session",
        )
        export.open_here()
    return ready([name for name in catalog.NAMES if name in chosen])


def held_out() -> bool:
    """Let the user choose between the text that was learnt from and another."""
    titles = {"learnt": "The text learnt from", "held out": "Another text"}
    chosen = one_of("Text", titles, "measured_on")
    return chosen == "held out"


def columns_for(
    text: str, training_text: str, choice: Choice, step: int, names: list[str]
) -> list[Column] | str:
    """Return the columns, or the sentence that says why the text cannot be cut."""
    learnt = trained.training(training_text, choice)
    mine = trained.boundaries(text, training_text, choice)
    if isinstance(learnt, str):
        return learnt
    if isinstance(mine, str):
        return mine
    size = int(learnt.sizes[step])
    columns = [Column(f"{YOURS} ({size:,})", learnt.at_step(step), mine, step)]
    for name in names:
        with st.spinner(f"Loading {TITLES[name]} …"):
            tokenizer, boundaries = trained.published(name, text)
        title = f"{TITLES[name]} ({int(tokenizer.sizes[-1]):,})"
        columns.append(Column(title, tokenizer, boundaries, tokenizer.steps))
    for one in export.opened():
        found = export.boundaries(one.key, text, one.tokenizer)
        if isinstance(found, str):
            st.error(export.as_text(f"{one.title} cannot cut this text: {found}"))
            continue
        title = f"{one.title} ({int(one.tokenizer.sizes[-1]):,})"
        columns.append(Column(title, one.tokenizer, found, one.tokenizer.steps))
    return columns


def reference_of(columns: list[Column]) -> int:
    """Let the user choose the column that the others are held against."""
    if len(columns) < 2:
        return 0
    return st.selectbox(
        "Reference",
        range(len(columns)),
        # Without the size: what is chosen keeps the words that it was chosen by.
        format_func=[column.title.rpartition(" (")[0] for column in columns].__getitem__,
        key=f"reference_of_{len(columns)}",
        persist_state="session",
        width=220,
    )


def show(text: str, columns: list[Column], reference: int) -> None:
    """Draw the text in columns."""
    if not text:
        st.info("There is no text to cut yet. Type one at the left, or choose a sample.")
        return
    parts = player.parts(text, metrics.common_boundaries(columns), SHOWN)
    part = 0
    if len(parts) > 1:
        label = f"Part shown, 1 to {len(parts)}"
        part = st.number_input(label, 1, len(parts), key=f"shown_of_{len(parts)}", width=200) - 1
        st.caption(
            f"Characters {parts[part].first + 1:,} to {parts[part].last:,} of {len(text):,} are "
            "shown; the table and the curves are about the whole text."
        )
    components.columns(player.side_by_side(text, columns, parts[part], reference), "columns")
    if len(columns) > 1:
        st.caption(
            "A thick line is a cut that the reference does not make; a dotted one is a cut of the "
            "reference that is missing here. Point at a token to see the same span everywhere."
            + WAVY
            * any(column.unknown for column in columns)
        )
    shown = parts[part]
    export.along(
        "compare",
        lambda: export.Picture(
            text, columns, "One text, cut by several", reference, shown.first, shown.last
        ),
    )


def fair_words(text: str, training_text: str, columns: list[Column], *, held_out: bool) -> None:
    """Say what the comparison can and cannot tell. The first column is the user's."""
    mine, *others = columns
    words = []
    if others:
        largest = max(column.vocab_size for column in others)
        words.append(
            f"Sizes differ: your vocabulary has {mine.vocab_size:,} entries, the largest beside it "
            f"{largest:,}. More entries usually mean fewer tokens; the curves below compare at "
            "equal size."
        )
    if text != training_text:
        words.append("This text was held out: your tokenizer did not learn from it.")
    else:
        words.append("Your tokenizer learnt from this very text, which flatters it.")
        words.append(
            "Put another one into the second box for a fair view."
            if held_out
            else "Choose “Another text” for a fair view."
        )
    if unknown := mine.unknown:
        words.append(
            f"{unknown:,} of its tokens are unknown to your vocabulary: what they were is lost, "
            "and counts flatter it."
        )
    words += [
        f"Of {column.title}, {column.unknown:,} tokens are unknown: what they were is lost, and "
        "counts flatter it."
        for column in others
        if column.unknown
    ]
    st.markdown(f":material/balance: {' '.join(words).replace('<', '&lt;')}")


def measures(text: str, columns: list[Column], reference: int) -> None:
    """Draw the table of measures, and the sweep over vocabulary sizes."""
    if not text:
        return
    st.subheader("Metrics", anchor=False)
    right = st.column_config.TextColumn(alignment="right")
    st.dataframe(
        tables.metrics(metrics.measure(text, columns, reference)),
        hide_index=True,
        height="content",
        key="measures",
        column_config=dict.fromkeys([column.title for column in columns], right),
    )
    st.subheader("Over vocabulary sizes", anchor=False)
    st.vega_lite_chart(spec=charts.sweeps(columns), key="sweeps", alt="Bytes per token by size")
    st.caption(
        "Each curve shows the vocabularies that a tokenizer passes through while it is learnt: for "
        "BPE, only its first merges. The dot is where it stands above."
    )
