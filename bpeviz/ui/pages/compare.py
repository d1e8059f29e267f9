"""The Compare page: several tokenizers on the same text, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.analysis import figures, metrics, verdict
from bpeviz.analysis.comparison import Comparison
from bpeviz.analysis.figures import Measured, measure
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.verdict import Standing
from bpeviz.core.boundaries import Part
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents, beginning, characters_in, whole_text
from bpeviz.corpus.named_texts import Texts
from bpeviz.pretrained import catalog
from bpeviz.text import clean, joined, visible
from bpeviz.ui import components, markdown, tokenizers
from bpeviz.ui.downloads import ready
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.import_dialog import import_button
from bpeviz.ui.inputs.named_texts import FILES as TEXT_FILES
from bpeviz.ui.inputs.named_texts import add_table, choose_texts
from bpeviz.ui.inputs.parts import choose_part, part_of
from bpeviz.ui.inputs.sentence import menu, say, sentence
from bpeviz.ui.inputs.text import TEXT, choose_text
from bpeviz.ui.inputs.token_count import character_count
from bpeviz.ui.inputs.training import Corpus, choose_training_in_menu, training_widgets
from bpeviz.ui.inputs.vocabulary_size import idle_vocabulary_size
from bpeviz.ui.opened_tokenizers import opened
from bpeviz.ui.pages import many_texts, worst_lines
from bpeviz.ui.pages.base import Page, answer
from bpeviz.ui.pages.many_texts import HOW_MANY, OPENED_TEXT, PRESSED, PRICES, UNDER
from bpeviz.ui.runtime import page_change
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import draw_table, offer_file
from bpeviz.ui.tokenizers import LINKED, OWN, Offer
from bpeviz.ui.widgets import Section, SessionValue, SomeOf, Switch, Values, Widget, numbers
from bpeviz.views import playable, tables
from bpeviz.views.export import ColoredText
from bpeviz.views.parts import parts
from bpeviz.views.payloads import Score
from bpeviz.views.playable import Interactive
from bpeviz.views.stage import of_columns

T = TypeVar("T")

_LOADING = "Loading the tokenizers …"

PART_SIZE = 20_000
"""The most bytes of a text in the score at once; metrics are for the whole text."""

MAX_COLUMNS = limits.COLUMNS
"""The most tokenizers."""

FIRST = (*catalog.NAMES, OWN)
"""The tokenizers at first."""


class _Columns(SomeOf):
    """The chosen tokenizers. A link contains all but those from files."""

    def for_link(self) -> tuple[list[str] | None, str | None]:
        chosen = self.get()
        return (None if chosen is None else [key for key in chosen if key in LINKED]), None


COLUMNS = _Columns("compared", "Tokenizers", titles=LINKED, most=MAX_COLUMNS)
FILES: SessionValue[list[str]] = SessionValue("files_compared")
"""The keys of the files that were open when the page was last drawn."""
LEFT_OUT: SessionValue[bool] = SessionValue("own_left_out")
"""Whether the user's own tokenizer was left out when many texts were chosen."""
IDS = Switch("token_ids", "Token ids")
PART = numbers("shown_of_", "Part shown")
METRICS = Section("more_metrics_open", "More metrics")
COSTS = Section("costs_open", "What the text costs", contents=(PRICES,))

# ---- the page


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield from training_widgets(values)
    yield from (COLUMNS, HOW_MANY)
    if values.get(HOW_MANY) == "many":
        yield from many_texts.widgets(values)
        yield worst_lines.WORST
    else:
        yield from values.members(PRICES)
        yield from (METRICS, COSTS)
    yield from (UNDER, IDS)
    yield from values.members(PART)


_TABLE: SessionValue[str] = SessionValue("table_compared")
"""The table in place of the page's text that has last opened Many texts."""


def _chosen_files() -> list[str]:
    chosen = COLUMNS.get() or ()
    files = [file.title for file in opened() if file.key in chosen]
    if HOW_MANY.get() == "many":
        rows = TEXT.rows  # a link has these
        names = [name for name, _ in TEXT_FILES.get() or ()]
        files += [visible(name) for name in names if rows is None or rows.name != name]
    return files


def page_content(values: Values) -> Interactive:
    """Return the score of the page, of one text."""
    if values.get(HOW_MANY) == "many":
        raise ValueError("This link shows many texts. Choose one.")
    keys = values.get(COLUMNS)
    text, offers = tokenizers.linked_offers(values, FIRST if keys is None else keys)
    known: list[tuple[Offer, Column]] = []
    for offer in offers:
        with suppress(ValueError):  # it cannot tokenize this text
            known.append((offer, offer.column(text)))
    if not text or not known:
        raise ValueError("This link has no text or no tokenizer to compare.")
    measured = measure(text, [column for _, column in known])
    part = part_of(values, PART, _parts(measured))
    ids = IDS.value(values=values)
    words = verdict.title([verdict.standing(part.text, part.column) for part in measured])
    picture = _picture(text, measured, tuple(offer for offer, _ in known), words, part, ids)
    return playable.of_score(picture, tables.metrics(measured))


PAGE = Page(
    "pages/Compare.py",
    "Compare",
    "Which tokenizer needs the fewest tokens?",
    _widgets,
    left_out=_chosen_files,
    has_verdict=True,
    content=page_content,
)


def _leave_out_own() -> None:
    """Leave out the user's own tokenizer for many texts until it is chosen, and restore it."""
    chosen = COLUMNS.get()
    keys = [*(FIRST if chosen is None else chosen)]
    if HOW_MANY.get() == "many":
        LEFT_OUT.put(OWN in keys)
        COLUMNS.put([key for key in keys if key != OWN])
    elif LEFT_OUT.get() and OWN not in keys:
        COLUMNS.put([OWN, *keys][:MAX_COLUMNS])


def _open_table() -> None:
    """Open Many texts with a table that has taken the place of the page's text, once."""
    packed = TEXT.table_rows.get()
    if packed is None or _TABLE.get() == packed:
        return
    _TABLE.put(packed)
    add_table(TEXT)
    if HOW_MANY.get() != "many":
        HOW_MANY.put("many")
        _leave_out_own()


def _chosen() -> list[str]:
    """Draw the choice of the tokenizers to compare; return their keys."""
    names = tokenizers.names()
    before = COLUMNS.get()
    first = FIRST if HOW_MANY.get() != "many" else catalog.NAMES
    chosen = [key for key in (first if before is None else before) if key in names]
    files = [file.key for file in opened()]
    new = [key for key in files if key not in {*(FILES.get() or ()), *chosen}]
    chosen += new[: MAX_COLUMNS - len(chosen)]
    chosen.sort(key=OWN.__eq__)  # the user's own last
    FILES.put(files)
    if new or (before and chosen != before):  # a file was opened, on any page, or closed
        COLUMNS.put(chosen)
    return COLUMNS.multiselect(
        tokenizers.short(names),
        default=list(first),
        placeholder="",
        select_all=False,
        wrap=True,
        label_visibility="collapsed",
    )


def _how_many(*, is_many: bool) -> None:
    """Draw the menu of the text of the page and of many texts."""
    if place := menu("many texts" if is_many else "this text", "many_menu"):
        with place:
            HOW_MANY.segments(on_change=_leave_out_own, label_visibility="collapsed")


def _more(*, is_many: bool) -> DeltaGenerator | None:
    """Draw the menu of the token ids and the files; return its place, or None while closed."""
    if place := menu("More", "compare_menu"):
        with place:
            if not is_many:
                IDS.toggle()
            import_button(lambda key: st.session_state.update(compare_menu=False))
    return place


def show(side: DeltaGenerator) -> None:
    """Draw the inputs, the verdict, the text line by line, and the metrics."""
    _open_table()
    texts = None
    translations: list[str] = []
    corpus: Corpus | None = None
    is_many = HOW_MANY.value() == "many"
    with side:
        text: str | Documents = ""
        if not is_many:
            text = choose_text(TEXT, count=character_count)
        line = sentence()
        with line:
            say("Compare")
            keys = sorted(_chosen(), key=OWN.__eq__)
            say("on")
            _how_many(is_many=is_many)
            more = _more(is_many=is_many)
        if OWN in keys:
            own_text = None if is_many else text
            text, choice, sizes = choose_training_in_menu(own_text, line)
            corpus = choice.corpus
            offered = tokenizers.offers_with_own(text, choice, sizes)
        else:
            idle_vocabulary_size()
            offered = tokenizers.offers("", 0)
    by_key = {offer.key: offer for offer in offered}
    chosen = [by_key[key] for key in keys]
    place = st.container(key="compared_texts" if is_many else "compared_text")
    if is_many:
        texts, translations = choose_texts()  # below their comparison
    if not chosen:
        answer("No tokenizer is chosen.", "Add one below.")
        return
    if texts is not None:
        with place:
            _many(texts, translations, chosen, more)
        return
    notices = st.container()
    waiting = st.spinner(_LOADING) if page_change.has_arrived() else nullcontext()
    with place.empty(), waiting, notices:
        column_of = _columns_for(text, chosen)
    if not text:
        answer("There is no text yet.", "Type one below, or choose a sample.")
        return
    if not column_of:
        answer("No tokenizer can be compared.")  # messages say why
        return
    columns = [*column_of.values()]
    measured = measure(text, columns, prices=many_texts.prices_of(chosen))
    standings = [verdict.standing(part.text, part.column) for part in measured]
    words = verdict.title(standings)
    answer(words, _careful(measured, standings))
    offers = tuple(by_key[key] for key in column_of)
    with place:
        _draw_score(text, measured, offers, words)
    _caveats(measured[0].text, corpus, column_of)
    for offer in chosen:
        if offer.assumption:
            st.caption(markdown.escape(f"{offer.name}: {offer.assumption}"))
    if not st.context.is_embedded:
        _measures(measured, chosen)


def _many(
    texts: Texts,
    translations: Sequence[str],
    offers: Sequence[Offer],
    more: DeltaGenerator | None,
) -> None:
    """Draw the table of many texts, and the text of a cell line by line."""
    with st.spinner(_LOADING):
        tokenizers = _available(offers, lambda offer: offer.make())
    known = [(offer, tokenizers[offer.key]) for offer in offers if offer.key in tokenizers]
    if not texts or not known:
        answer("There is nothing to compare yet.")  # messages say why
        return
    compared = many_texts.show(texts, translations, known, more)
    if compared is None:
        return
    if OPENED_TEXT.get() in texts:
        with st.container(key="shown_text"):
            _one_of_many(texts, known, compared)
    if not st.context.is_embedded:
        worst_lines.show(compared, texts, known)


def _one_of_many(
    texts: Texts, chosen: Sequence[tuple[Offer, Tokenizer]], compared: Comparison
) -> None:
    """Draw a text of many under each tokenizer."""
    title = st.empty()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name = OPENED_TEXT.choose({title: title for title in texts}, label_visibility="collapsed")
        IDS.toggle()
        st.button("Back to all texts", on_click=OPENED_TEXT.clear, icon=":material/arrow_upward:")
    names = joined([offer.name for offer, _ in chosen])
    title.header(markdown.escape(f"{name} under {names}"), anchor=False)
    text = texts[name]
    size = characters_in(text)
    if not size:
        st.caption("This text is empty.")
        return
    if size > limits.PAGE_TEXT:
        st.caption(f"The first {limits.PAGE_TEXT:,} of {size:,} characters are shown here.")
    text = beginning(text if isinstance(text, Documents) else clean(text), limits.PAGE_TEXT)
    column_of = _columns_for(text, [offer for offer, _ in chosen])
    if column_of:
        measured = measure(text, [*column_of.values()])
        standings = [verdict.standing(part.text, part.column) for part in measured]
        sentence = verdict.title(standings)
        offers = tuple(offer for offer, _ in chosen if offer.key in column_of)
        _draw_score(text, measured, offers, sentence, compared)


def _careful(measured: Sequence[Measured], standings: Sequence[Standing]) -> str:
    """Return the known costs, and why fewer tokens are not better, in Markdown."""
    costs = {
        measured[i].column.name: figures.cost.of(measured[i])
        for i in verdict.compared(standings)
        if not standings[i].lossy
    }
    known = {name: cost for name, cost in costs.items() if cost is not None}
    words = verdict.costs(known) if known else ""
    why = many_texts.caution(standings, is_priced=bool(known))
    return f"{markdown.escape(words)} {why}"


def _columns_for(text: str | Documents, chosen: Sequence[Offer]) -> dict[str, Column]:
    """Return the columns of a text by their keys, without those that are not available."""
    return _available(chosen, lambda offer: offer.column(text))


def _available(chosen: Sequence[Offer], make: Callable[[Offer], T]) -> dict[str, T]:
    """Return what is made of tokenizers, by their keys; show why others are not available."""
    available = {*ready([offer.needs for offer in chosen if offer.needs is not None])}
    made_by_key: dict[str, T] = {}
    for offer in chosen:
        if offer.needs is not None and offer.needs not in available:
            continue
        name = markdown.escape(offer.name)
        try:
            made_by_key[offer.key] = make(offer)
        except ValueError as error:
            st.error(f"{name} cannot tokenize this text: {markdown.escape(str(error))}")
    return made_by_key


@cached()
def _payload(
    _columns: Sequence[Column],
    offers: tuple[Offer, ...],
    text: str | Documents,
    part: Part,
    ids: bool,
) -> Score:
    stage = of_columns(_columns, whole_text(text)).showing(part)
    own = next((i for i, offer in enumerate(offers) if offer.own is not None), None)
    return stage.score(ids=ids, own=own if len(offers) > 1 else None)


def _parts(measured: Sequence[Measured]) -> list[Part]:
    """Return the parts of a text, which end at boundaries of all tokenizers."""
    common = metrics.common_boundaries([part.column for part in measured])
    return parts(measured[0].text, common, PART_SIZE)


def _picture(
    text: str | Documents,
    measured: Sequence[Measured],
    offers: tuple[Offer, ...],
    sentence: str,
    part: Part,
    ids: bool,
) -> ColoredText:
    """Return a part of the text under each tokenizer."""
    columns = [part.column for part in measured]
    score: Score = {**_payload(columns, offers, text, part, ids), "verdict": sentence}
    settings = [words for offer in offers for words in offer.settings]
    title, breaks = "One text, several tokenizers", columns[0].breaks
    return ColoredText(title, measured[0].text, part, score, settings, breaks)


def _draw_score(
    text: str | Documents,
    measured: Sequence[Measured],
    offers: tuple[Offer, ...],
    sentence: str,
    texts: Comparison | None = None,
) -> None:
    """Draw the text under each tokenizer, and offer the export of it."""
    part = choose_part(PART, _parts(measured), "All figures are for")
    picture = _picture(text, measured, offers, sentence, part, bool(IDS.get()))
    reveal = None if texts is None else PRESSED.get()
    components.score({**picture.score, "reveal": reveal}, "score")

    def comparison() -> Interactive:
        score = playable.of_score(picture, tables.metrics(measured))
        return score if texts is None else playable.of_texts(texts, picture.settings, score)

    EXPORT.put(Export("compare", file=lambda: comparison, plays=False))


def _caveats(text: str, corpus: Corpus | None, columns: dict[str, Column]) -> None:
    """Draw notes on the fairness of the comparison."""
    mine = columns.get(OWN)
    others = [column for key, column in columns.items() if key != OWN]
    words = []
    if mine is not None:
        sizes = [f"Yours has {mine.vocab_size:,} entries"]
        if others:
            largest = max(others, key=lambda column: column.vocab_size)
            sizes.append(f"{largest.name} has {largest.vocab_size:,}")
        if mine.in_sample:
            sizes[0] += " and saw this text"
        elif corpus is not None:
            sizes[0] += f" and saw {corpus.name}"
        words.append(f"{'; '.join(sizes)}.")
    words += verdict.losses(text, [*columns.values()])
    if words:
        st.caption(markdown.escape(" ".join(words)))


@fragment
def _measures(measured: Sequence[Measured], offers: Sequence[Offer]) -> None:
    """Draw the first metrics, and folded the others and costs.

    Args:
        measured: The tokenizers.
        offers: The tokenizers that were chosen.
    """
    titles = [part.column.title for part in measured]
    st.header("Metrics", anchor=False)
    first = tables.metrics(measured, chosen=figures.MAIN)
    draw_table(first, "measures", label="Metrics", right=titles)
    if place := METRICS.opened():
        others = tables.metrics(
            measured, chosen=[figure for figure in figures.OF_TEXT if figure not in figures.MAIN]
        )
        with place:
            draw_table(others, "other measures", label=METRICS.label, right=titles)
            offer_file(lambda: tables.metrics(measured), "measures", "Metrics")
    if place := COSTS.opened():
        with place:
            known = {part.column.name: part.price for part in measured if part.price is not None}
            if many_texts.type_prices(offers) != known:
                st.rerun()  # the verdict has the costs, too
