"""The Compare page: several tokenizers side by side on the same text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st

from bpeviz.analysis import metrics
from bpeviz.analysis.metrics import Column
from bpeviz.pretrained import catalog
from bpeviz.pretrained.catalog import TITLES
from bpeviz.ui import components, export, inputs, markdown
from bpeviz.ui.downloads import ready
from bpeviz.ui.export import YOURS
from bpeviz.ui.inputs import part_caption, part_number
from bpeviz.ui.pages.base import Page
from bpeviz.ui.trained import Trained, published
from bpeviz.ui.widgets import OneOf, SomeOf, Values, Widget, numbers
from bpeviz.views import charts, player, tables

SHOWN = 6_000
"""The most bytes of a text in the columns at once; metrics are for the whole text."""

OTHERS = SomeOf(
    link="others", key="others", label="Compare with", titles=TITLES, most=len(catalog.NAMES)
)
MEASURED_ON = OneOf(
    link="measured_on",
    key="measured_on",
    label="Compare on",
    titles={"learnt": "Training text", "held out": "Different text"},
)
TEST_TEXT = inputs.TextSource("held_out", "Test text", "numbers-and-tables")
REFERENCE = numbers("reference_of_", "Reference", first=0)
PART = numbers("shown_of_", "Part shown")


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield from inputs.training_widgets(values)
    yield OTHERS
    yield MEASURED_ON
    if values.get(MEASURED_ON) == "held out":
        yield from TEST_TEXT.widgets(values)
    yield from values.members(REFERENCE)
    yield from values.members(PART)


def _opened_titles() -> list[str]:
    return [one.title for one in export.opened()]


PAGE = Page(
    "pages/Compare.py",
    "Compare",
    "How do different tokenizers split the same text?",
    _widgets,
    _opened_titles,
)


def others() -> list[str]:
    """Draw the choice of published vocabularies; return those chosen whose files are there.

    Tokenizers from files are compared as long as they are open.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", width="content", gap="small"):
        chosen = OTHERS.pills(default=["gpt2", "cl100k_base"])
        export.open_here()
    return ready([name for name in catalog.NAMES if name in chosen])


def on_test_text() -> bool:
    """Draw the choice between the training text and a test text; return whether it is the test."""
    return MEASURED_ON.segments() == "held out"


def columns_for(text: str, trained: Trained, step: int, names: list[str]) -> list[Column]:
    """Return the columns of a text, the user's tokenizer first.

    Raises:
        TrainingError: The user's tokenizer cannot tokenize the text.
    """
    history = trained.history
    title = f"{YOURS} ({int(history.sizes[step]):,})"
    columns = [Column(title, history.at_step(step), trained.boundaries_of(text), step)]
    for name in names:
        with st.spinner(f"Loading {TITLES[name]} …"):
            tokenizer, boundaries = published(name, text)
        title = f"{TITLES[name]} ({int(tokenizer.sizes[-1]):,})"
        columns.append(Column(title, tokenizer, boundaries, tokenizer.steps))
    for one in export.opened():
        found = export.boundaries(one.key, text, one.tokenizer)
        if isinstance(found, str):
            st.error(markdown.escape(f"{one.title} cannot tokenize this text: {found}"))
            continue
        title = f"{one.title} ({int(one.tokenizer.sizes[-1]):,})"
        columns.append(Column(title, one.tokenizer, found, one.tokenizer.steps))
    return columns


def reference_of(columns: list[Column]) -> int:
    """Draw the choice of the column that the others are compared with; return its index."""
    if len(columns) < 2:
        return 0
    # Without the size: the browser keeps the words of a choice.
    names = [column.title.rpartition(" (")[0] for column in columns]
    return REFERENCE.member(len(columns)).select(names, width=220)


def show(text: str, columns: list[Column], reference: int) -> None:
    """Draw the text in columns."""
    if not text:
        st.info("There is no text yet. Type one on the left, or choose a sample.")
        return
    parts = player.parts(text, metrics.common_boundaries(columns), SHOWN)
    shown = parts[part_number(PART, len(parts))]
    if len(parts) > 1:
        part_caption(shown.first, shown.last, len(text), "The table and the curves are for")
    components.columns(player.side_by_side(text, columns, shown, reference), "columns")
    if len(columns) > 1:
        wavy = " A wavy underline marks text that is not in a vocabulary."
        st.caption(
            "A thick line is a boundary that the reference does not have; a dotted line is one "
            "that only the reference has. Hover over a token to highlight it in every column."
            + wavy
            * any(column.unknown for column in columns)
        )
    export.along(
        "compare",
        lambda: export.Picture(
            text,
            columns,
            "One text, several tokenizers",
            reference,
            shown.first,
            shown.last,
        ),
    )


def caveats(text: str, training_text: str, columns: list[Column], *, on_test_text: bool) -> None:
    """Draw notes on the fairness of the comparison. The first column is the user's tokenizer."""
    mine, *others = columns
    words = []
    if others:
        largest = max(column.vocab_size for column in others)
        words.append(
            f"Vocabulary sizes differ: yours has {mine.vocab_size:,} entries, the largest one here "
            f"{largest:,}. More entries usually mean fewer tokens; the curves below compare at "
            "equal sizes."
        )
    if text != training_text:
        words.append("This is a test text (not used for training).")
    else:
        words.append(
            "Your tokenizer was trained on this very text, so it scores better than it should."
        )
        words.append(
            "Enter another text in the second box for a fair comparison."
            if on_test_text
            else "Choose “Different text” for a fair comparison."
        )
    words += [
        f"{markdown.escape(column.title)} cannot represent {column.unknown:,} tokens of this text: "
        "their content is lost, so it scores better than it should."
        for column in columns
        if column.unknown
    ]
    st.markdown(f":material/balance: {' '.join(words)}")


def measures(text: str, columns: list[Column], reference: int) -> None:
    """Draw the table of metrics and the curves over vocabulary sizes."""
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
    st.subheader("By vocabulary size", anchor=False)
    st.vega_lite_chart(
        spec=charts.sweeps(columns), key="sweeps", alt="Bytes per token by vocabulary size"
    )
    st.caption(
        "Each curve shows the vocabularies of a tokenizer during training: for BPE, its first "
        "merges only. The dot is the vocabulary shown above."
    )
