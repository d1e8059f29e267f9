"""The Train page: the player of a training history, and everything that follows its step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.core.boundaries import Part
from bpeviz.corpus import samples
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui import components, markdown, page_trainings, training_progress, vocabulary
from bpeviz.ui.export_dialog import EXPORT, Export, Exported
from bpeviz.ui.inputs.parts import choose_part, part_of
from bpeviz.ui.inputs.sentence import say
from bpeviz.ui.inputs.text import OWN_TEXT, TEXT, choose_text, text_of
from bpeviz.ui.inputs.training import (
    ALGORITHM,
    ALGORITHMS,
    choice_of,
    choose_training,
    expanded,
    training_widgets,
)
from bpeviz.ui.inputs.vocabulary_size import (
    idle_vocabulary_size,
    step_of,
    vocabulary_size,
    why_stopped,
)
from bpeviz.ui.page_trainings import Trained, TrainingError
from bpeviz.ui.pages import other_merges, remarks
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink.session import OPENED
from bpeviz.ui.runtime import page_change
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import offer_file
from bpeviz.ui.tokenizers import OWN
from bpeviz.ui.trainer_tables import details
from bpeviz.ui.widgets import Section, SessionValue, Values, Widget, numbers
from bpeviz.views import charts, playable, race, tables, token_table
from bpeviz.views.export import ColoredText, colored
from bpeviz.views.parts import WINDOW
from bpeviz.views.payloads import Player, Race, Timeline
from bpeviz.views.playable import Interactive
from bpeviz.views.stage import Stage
from bpeviz.views.table import Table

CANDIDATES = 1_000
"""How many of the best candidates of a step are listed. The file has all of them."""

CHARTED = 30
"""How many steps have a chart of the values that decided them; the track tells fewer by itself."""

CURVE = 410
"""The height of the curve in pixels: as high as the table beside it."""

PART = numbers("part_of_", "Part shown")
WHY = Section("why_open", "All candidates")
LOG = Section("log_open", "All merges")


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield from training_widgets(values)
    yield from (WHY, LOG)
    yield vocabulary.SECTION
    yield from values.members(PART)


def heading(algorithm: str = "bpe") -> str:
    """Return the rule of an algorithm as the title."""
    rule = TRAINERS[algorithm].rule
    return f"{rule[0].upper()}{rule[1:]}."


def page_content(values: Values) -> Interactive:
    """Return the stage of the page."""
    text, choice = expanded(text_of(values, TEXT, limits.TEXT), choice_of(values))
    trained = page_trainings.get(text, choice)
    if other := other_merges.stage_of(trained):
        return playable.of_stage(other)
    stage = trained.stage(part_of(values, PART, trained.parts()))
    return playable.of_stage(stage, step_of(values, trained.history))


PAGE = Page(
    "app.py",
    "Train",
    "See how language models split text into pieces, called tokens.",
    _widgets,
    heading=lambda: heading(ALGORITHM.value()),
    content=page_content,
)

OWN_IDS = {"inspected_by": OWN, "closer": "grid"}
"""The values of Inspect, by their names in links, that show the ids of the user's tokenizer."""

_SEES_IDS: SessionValue[bool] = SessionValue("sees_ids")
"""Whether the next run goes to Inspect."""

_PLAYED: SessionValue[int] = SessionValue("played_text")
"""A hash of the text that the player shows."""

_LINKED: SessionValue[str] = SessionValue("linked_text")
"""The key of the first text that was shown after a link was opened."""


def show(side: DeltaGenerator) -> None:
    """Draw the inputs, the player, and everything that follows its step below."""
    if _SEES_IDS.present:
        _SEES_IDS.clear()
        st.switch_page("pages/Inspect.py")
    if page_change.has_arrived():
        _PLAYED.clear()
    with side:
        text, choice, sizes = choose_training(choose_text(TEXT, limits.TEXT))

    @cache  # a training that one has waited for may fail
    def untrained() -> None:
        idle_vocabulary_size()
        with st.container(), st.container():  # as below, so that the player stays
            if _PLAYED.get() != hash(text):  # else it shows the text until the next run
                remarks.atoms_only(text, "player")

    try:
        trained = training_progress.get(text, choice, untrained)
    except TrainingError as error:
        st.error(markdown.escape(str(error)))
        _PLAYED.clear()
        untrained()
        return
    with sizes:
        last = vocabulary_size(trained.history, choice.largest, choice.options)
        if last:
            st.button("See its ids", type="tertiary", on_click=_see_ids)
    place = st.container()
    part = choose_part(PART, trained.parts(), "Training and all figures use")
    other = other_merges.stage_of(trained, training_progress.get)
    other_merges.draw_download()
    payload = _payload(trained, last, part)
    _open(payload, trained, last)
    payload["ways"] = [] if st.context.is_embedded else [*_ways(plays_gpt4o=bool(other))]
    if other:
        payload["initialStep"] = payload["last"]
        with sizes:
            remarks.say_other(payload, trained)
    else:
        if not trained.history.steps:
            with sizes:
                say(f"until {why_stopped(trained.history, choice.options) or 'it is full'}.")
        changing = int((trained.boundaries.change_steps < last).sum())
        remarks.add(payload, [trained], changing, last)
    payload["views"] = []
    with place:
        _play(trained, last, part, payload)
    _PLAYED.put(hash(text))
    if st.context.is_embedded:
        return
    if last:
        _log(trained, last, part)
    vocabulary.vocabulary(trained, last, part)


def _see_ids() -> None:
    """Show the ids of the tokenizer on Inspect (a callback)."""
    st.session_state.update(OWN_IDS)
    page_change.remember(OWN_IDS)
    _SEES_IDS.put(True)


def _payload(trained: Trained, last: int, shown: Part) -> Player:
    """Return the payload of the player up to a last step: a copy."""
    other = other_merges.stage_of(trained)
    return other.payload.copy() if other else trained.stage(shown).upto(last)


def _open(payload: Player, trained: Trained, last: int) -> None:
    """Add how the player opens: at the end, or for the first text of a link at its start."""
    if OPENED.present and not _LINKED.present:
        _LINKED.put(payload["key"])
    payload["initialStep"] = 0 if _LINKED.get() == payload["key"] else last
    payload["opensInMotion"] = (
        not OPENED.present and trained.text == trained.training_text == _first_text()
    )


def _ways(*, plays_gpt4o: bool) -> Iterator[tuple[str, str]]:
    """Yield the next steps at the end of the player: to the text, or to a page by its title."""
    is_own = TEXT.sample.get() == OWN_TEXT
    yield "text", "Try another text" if is_own else "Try your own text"
    if not plays_gpt4o:
        yield "Compare", "What does GPT-4o do with it?"


def _first_text() -> str:
    return samples.by_key(TEXT.first).text


@fragment
def _play(trained: Trained, last: int, shown: Part, opening: Player) -> None:
    """Draw the player, and the elements that follow its step; run again if it changes.

    Args:
        trained: The training.
        last: The last step.
        shown: The part of the text.
        opening: The payload without its text, which is not stored.
    """
    payload = opening.copy()
    payload["views"] = _payload(trained, last, shown)["views"]
    report = components.player_report(payload, "player")
    step = min(report["step"], last)
    if last and len(trained.training_boundaries) <= race.COUNTED:
        payload["races"] = [_race_at(trained, shown, step, report["isLacking"])]
    components.player(payload, "player", remarks.follow)
    _export(trained, last, step, shown)
    if not last or st.context.is_embedded:
        return
    WHY.show(_candidates, trained, step, shown)
    details(trained, step, trained.row(shown).look(trained.hues(shown)))


def _export(trained: Trained, last: int, step: int, shown: Part) -> None:
    """Offer the export of the tokenizer at the chosen size, and of the text at this step."""
    # The session stores the functions below, which must not hold the history.
    handle, name = trained.handle, ALGORITHMS[trained.choice.algorithm]

    def picture() -> ColoredText:
        trained = handle.open()
        if other := other_merges.stage_of(trained):
            words = other.rows[0].words
            return colored(f"{words.algorithm}: {words.rule}", other)
        stage, history = trained.stage(shown), trained.history
        row = stage.rows[0]
        title = texts_of(history).vocabulary(history, step)
        return colored(
            f"{name}: {row.words.unit} {step:,} of {last:,}",
            Stage([row.at(step, title)], stage.hues),
            settings=row.settings(last),
        )

    has_others = other_merges.stage_of(trained) is not None

    def animation() -> Callable[[], Interactive]:
        trained = handle.open()
        if other := other_merges.stage_of(trained):
            return partial(playable.of_stage, other, None)
        return partial(playable.of_stage, trained.stage(shown), last)

    title = f"{name}, vocabulary size {int(trained.history.sizes[last]):,}"
    own = Exported(title, (handle, last), lambda: handle.open().history.at_step(last))
    EXPORT.put(Export("train", picture, own, animation if last or has_others else None))


def _race_at(trained: Trained, shown: Part, step: int, is_lacking: bool) -> Race:
    """Return the payload of the race, with the candidates of this step at rest."""
    # The first text opens in motion, and all users share its candidates.
    is_first = trained.training_text == _first_text()
    is_watched = is_lacking or is_first or trained.is_raced_at_once
    first = _race(trained, shown, is_watched)
    if not is_watched and len(trained.training_boundaries) > WINDOW:
        return first
    return race.with_rest(first, trained.row(shown), step, trained.hues(shown))


@cached()
def _race(trained: Trained, shown: Part, is_watched: bool) -> Race:
    """Return the payload of the race; do not change it, it is cached."""
    first = trained.race_groups(race.STEPS) if is_watched else None
    return race.payload(trained.row(shown), first, trained.hues(shown))


def _candidates(trained: Trained, step: int, shown: Part) -> None:
    """Draw the table of candidates, unless the text is too long to count them."""
    training, boundaries = trained.history, trained.training_boundaries
    previous, texts = max(step, 1) - 1, texts_of(training)
    if len(boundaries) > race.COUNTED:
        st.caption(
            f"Candidates are shown for texts up to {race.COUNTED / 1e6:.1f} MB. "
            f"The table of {texts.unit}s is complete."
        )
        return
    ranked = training.candidates(trained.training_text, boundaries, previous, CANDIDATES)
    rule = texts.rule.format(step=f"{previous + 1:,}")
    if len(ranked) == CANDIDATES:
        rule += f" The table lists the best {CANDIDATES:,}, the file all."
    st.caption(rule)
    table = tables.candidates(training, ranked, step)
    names = [name for name in ("left", "right", "token") if name in table.names]
    columns = zip(*(each.ids for each in ranked if len(each.ids) == len(names)), strict=True)
    ids = dict(zip(names, columns, strict=False))  # none if there are no candidates
    look = trained.row(shown).look(trained.hues(shown))
    data = token_table.payload(table, WHY.label, ids, look, searches=CANDIDATES)
    components.token_table(data, "candidates")
    handle = trained.handle  # the session must not hold the history

    def every() -> Table:
        trained = handle.open()
        history, boundaries = trained.history, trained.training_boundaries
        how = (trained.training_text, boundaries, previous, len(boundaries))
        return tables.candidates(history, history.candidates(*how), step)

    offer_file(every, "candidates", WHY.label)


@fragment
def _log(trained: Trained, last: int, shown: Part) -> None:
    """Draw the table of all steps, in the colors of a part, and their curve, if it is open."""
    title = f"All {texts_of(trained.history).unit}s"
    LOG.show(_log_contents, trained, last, shown, title, label=title)


def _log_contents(trained: Trained, last: int, shown: Part, title: str) -> None:
    place = st.container()
    if last >= CHARTED:
        place, chart = st.columns((4, 5), gap="medium")
        with chart:
            _curve(trained, last)
    with place:
        view = trained.stage(shown).upto(last)["views"][0]
        components.token_table({"view": _steps(view), "isOpen": True}, "decisions")
        handle = trained.handle
        offer_file(lambda: tables.decisions(handle.open().history, last), title.lower(), title)


def _steps(view: Timeline) -> dict[str, object]:
    """Return what the table of all steps needs of a timeline."""
    return {name: view[name] for name in ("key", "unit", "last", "steps", "tokenStyles")}


@cached()
def _decided(trained: Trained, last: int) -> charts.Chart:
    return charts.decided(trained.history, last)


def _curve(trained: Trained, last: int) -> None:
    """Draw the chart of the value that decided each step."""
    st.vega_lite_chart(
        spec=_decided(trained, last) | {"height": CURVE},
        key="decided",
        alt=f"The {texts_of(trained.history).curve} at each step",
    )
