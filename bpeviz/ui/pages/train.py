"""The Train page: the player of a training history, and everything that follows its step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.core.boundaries import Part
from bpeviz.corpus import samples
from bpeviz.pretokenizers.patterns import MAX_EXPRESSION
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui import components, markdown, pictures, vocabulary
from bpeviz.ui.export_dialog import EXPORT, Export, Exported, ask_for_poster
from bpeviz.ui.inputs.parts import choose_part
from bpeviz.ui.inputs.text import OWN_TEXT, TEXT, choose_text
from bpeviz.ui.inputs.training import ALGORITHM, ALGORITHMS, choose_training, training_widgets
from bpeviz.ui.inputs.vocabulary_size import idle_vocabulary_size, vocabulary_size
from bpeviz.ui.page_trainings import Trained, TrainingError
from bpeviz.ui.page_trainings import get as get_trained
from bpeviz.ui.pages import other_merges, remarks
from bpeviz.ui.pages.base import ABOUT_MERGE_DIAGRAM, WAYS, Page
from bpeviz.ui.permalink.session import OPENED
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import offer_file
from bpeviz.ui.trainer_tables import details
from bpeviz.ui.widgets import Section, SessionValue, TextField, Values, Widget, numbers
from bpeviz.views import charts, merge_diagram, playable, race, score, tables, token_table
from bpeviz.views.control_payloads import Jump
from bpeviz.views.export import ColoredText, colored
from bpeviz.views.merge_diagram import Side
from bpeviz.views.payloads import ClickedWord, Diagram, Player, Race, Score, StepReport
from bpeviz.views.playable import Interactive
from bpeviz.views.slides import Slides, of_stage
from bpeviz.views.stage import Stage
from bpeviz.views.table import Table

CANDIDATES = 1_000
"""How many of the best candidates of a step are listed. The file has all of them."""

BEGINNING = 60
"""How many characters of the text the merge diagram shows at first."""

CURVE = 410
"""The height of the curve in pixels: as high as the table beside it."""

SEARCH = TextField("search", "Find a token", longest=MAX_EXPRESSION)
DRAWN_WORDS = TextField("drawn_words", "Some words of the text", longest=merge_diagram.MAX_DRAWN)
PART = numbers("part_of_", "Part shown")
WHY = Section("why_open", "Why this pair")
BEFORE_AND_AFTER = Section("before_and_after_open", "Before and after this merge")
DIAGRAM = Section("diagram_open", "Merge diagram", contents=(DRAWN_WORDS,))


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield from training_widgets(values)
    yield from (SEARCH, WHY, BEFORE_AND_AFTER, DIAGRAM, DRAWN_WORDS)
    yield from vocabulary.widgets()
    yield from values.members(PART)


def _heading() -> str:
    rule = TRAINERS[ALGORITHM.value()].rule
    return f"{rule[0].upper()}{rule[1:]}."


PAGE = Page(
    "app.py",
    "Train",
    "See how language models split text into pieces, called tokens.",
    _widgets,
    heading=_heading,
)

_STEP: SessionValue[int] = SessionValue("step")
_SHOWN_BEFORE: SessionValue[str] = SessionValue("shown")
"""The timeline that the step belongs to."""

_REPORT: SessionValue[StepReport] = SessionValue("player_report")
"""The last report of the player that was handled."""

_JUMP: SessionValue[Jump] = SessionValue("jump")
"""The last step that the player was sent to, and the number of that request."""

_NO_POINTS: dict[str, Any] = {"selection": {}}
"""The state of a chart in which nothing is selected."""

_LINKED: SessionValue[str] = SessionValue("linked_timeline")
"""The first timeline that was shown after a link was opened."""

_CLICKED: SessionValue[ClickedWord] = SessionValue("clicked_drawn_word")
"""The last click on a word of the player that was handled."""


def _jump(step: int) -> None:
    number = (_JUMP.get() or {"number": 0})["number"] + 1
    _JUMP.put({"step": step, "number": number})
    _STEP.put(step)


def show(side: DeltaGenerator) -> None:
    """Draw the inputs, the player, and everything that follows its step below."""
    remarks.leave_for_inspect()
    with side:
        text, choice, sizes = choose_training(choose_text(TEXT, limits.TEXT))
    try:
        trained = get_trained(text, choice, sizes)
    except TrainingError as error:
        idle_vocabulary_size()
        st.error(markdown.escape(str(error)))
        remarks.atoms_only(text, "player")
        return
    with sizes:
        last = vocabulary_size(trained.history, choice.largest, choice.options)
    place = st.container()
    part = choose_part(PART, trained.parts(), "Training and all figures use", 260, is_played=True)
    # All sizes share a timeline, of which they show the steps up to `last`.
    timeline = trained.stage(part).payload["timelineId"]
    with place:
        other = other_merges.stage_of(trained)
        payload = other.payload.copy() if other else trained.stage(part).upto(last)
        _open(payload, trained, last)
        if other:
            payload["initialStep"] = payload["last"]
            remarks.add_other(payload, trained)
        else:
            changing = int((trained.boundaries.change_steps < last).sum())
            remarks.add(payload, [trained], changing, last)
        saves = None if st.context.is_embedded else ask_for_poster
        initial = components.player(payload, "player", remarks.follow, on_picture=saves)
    _follow(trained, last, timeline, part, initial)
    if st.context.is_embedded:
        return
    if last:
        _merge_diagram(trained, last, timeline, part)
    vocabulary.vocabulary(trained, last, part)


def _open(payload: Player, trained: Trained, last: int) -> None:
    """Add how the player opens: at the end, or for the first text of a link at its start."""
    if OPENED.present and not _LINKED.present:
        _LINKED.put(payload["timelineId"])
    own = {"text": "Try another text"} if TEXT.sample.get() == OWN_TEXT else {}
    payload["initialStep"] = 0 if _LINKED.get() == payload["timelineId"] else last
    payload["opensInMotion"] = (
        not OPENED.present and trained.text == trained.training_text == _first_text()
    )
    payload["ways"] = [] if st.context.is_embedded else [*(WAYS | own).items()]
    payload["hasRace"] = last > 0 and len(trained.training_boundaries) <= race.COUNTED


def _first_text() -> str:
    return samples.by_key(TEXT.first).text


@fragment
def _follow(trained: Trained, last: int, timeline: str, shown: Part, initial: int) -> None:
    """Draw the elements that follow the step; run again if it changes."""
    training = trained.history
    # The style reserves the height, also while charts and tables load or are drawn again.
    body = st.container(key="following" if last else None)
    report = components.player_events(_JUMP.get(), "follower")["step"]
    is_first = not _SHOWN_BEFORE.present
    if _SHOWN_BEFORE.get() != timeline:
        _SHOWN_BEFORE.put(timeline)
        _STEP.put(initial)
    _STEP.put(min(_STEP.get() or 0, last))
    if report and report["timelineId"] == timeline and _REPORT.get() != report:
        _REPORT.put(report)
        _STEP.put(min(report["step"], last))
    step = _STEP.get() or 0
    _export(trained, last, step, shown)
    if not last:
        return
    if is_first and st.context.headers:
        # The browser loads the scripts of charts and tables before it draws anything, also the
        # player. As soon as the player is drawn, it reports its step, and this runs again.
        return
    # The player reports its step once it has drawn a text. Until then, the next edit may follow.
    is_drawn = report is not None and report["timelineId"] == timeline
    if len(trained.training_boundaries) <= race.COUNTED:
        components.race([_race_at(trained, timeline, shown, step)] if is_drawn else None)
    if st.context.is_embedded:
        return
    with body:
        left, right = st.columns((4, 5), gap="medium")
        with left:
            _decisions(trained, last, timeline)
        with right:
            _curve(trained, last, step)
        st.caption("Click the curve or a row of the table: the player jumps to that step.")
        texts = texts_of(training)
        WHY.show(_candidates, trained, step, shown, label=texts.heading)
        label = f"Before and after this {texts.unit}"
        BEFORE_AND_AFTER.show(_before_and_after, trained, step, shown, label=label)
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

    def played() -> tuple[str, Stage, int | None]:
        trained = handle.open()
        if other := other_merges.stage_of(trained):
            return other.rows[0].words.algorithm, other, None
        return name, trained.stage(shown), last

    def animation() -> Callable[[], Interactive]:
        _, stage, end = played()
        return partial(playable.of_stage, stage, end)

    def slides() -> Slides:
        title, stage, end = played()
        words = DRAWN_WORDS.get() or "" if end is not None else ""
        row = stage.rows[0]
        at = row.text.find(words, shown.first, shown.last)
        drawn = (at, at + len(words)) if words and at >= 0 else None
        return of_stage(
            title, stage, () if end is None else row.settings(end), last=end, drawn=drawn
        )

    title = f"{name}, vocabulary size {int(trained.history.sizes[last]):,}"
    own = Exported(title, (handle, last), lambda: handle.open().history.at_step(last))
    file, at = (animation, None) if has_others else (animation if last else None, step)
    EXPORT.put(Export("train", picture, own, file, slides=slides, step=at))


@fragment
def _merge_diagram(trained: Trained, last: int, timeline: str, shown: Part) -> None:
    """Draw the merge diagram of a few words, if its section is open.

    The browser moves it with the player, so nothing here depends on the step.
    """
    word = components.player_events(None, "word_follower", steps=False, words=True)["word"]
    if word and _CLICKED.get() != word:
        _CLICKED.put(word)
        DRAWN_WORDS.put(word["word"])
        DIAGRAM.put(True)
    DIAGRAM.show(_diagram, trained, last, timeline, shown)


def _diagram(trained: Trained, last: int, timeline: str, shown: Part) -> None:
    query = DRAWN_WORDS.line(
        placeholder="Click a word above, or type some words of the text",
        label_visibility="collapsed",
        width=420,
    )
    text = trained.text
    at = text.find(query)
    if at < 0:
        st.caption("The text does not contain these words.")
        query = ""
    about = ABOUT_MERGE_DIAGRAM
    if not query:
        about = f"The diagram shows the beginning of the text. {about}"
        beginning = text[:BEGINNING]
        words = beginning.rpartition(" ")[0]
        at, query = 0, words if words.strip() and len(text) > BEGINNING else beginning
    query = query.encode()[: merge_diagram.MAX_DRAWN].decode(errors="ignore")
    data = _drawn(trained, last, query, len(text[:at].encode()), shown)
    pictures.merge_diagram({**data, "timelineId": timeline}, "train_picture")
    st.caption(f"{about} The player moves with it.")


@cached()
def _drawn(trained: Trained, last: int, part: str, start: int, shown: Part) -> Diagram:
    """Return the merge diagram of a part of the text; do not change it, it is cached."""
    row = trained.row(shown)
    look = row.look(trained.hues(shown))
    side = Side(row.title, trained.boundaries, last, last, look, row.words.unit)
    return merge_diagram.payload(part.encode(), [side], start)


def _before_and_after(trained: Trained, step: int, shown: Part) -> None:
    """Draw the text before and after the last step, around the first change."""
    unit = texts_of(trained.history).unit
    if not step:
        st.caption(f"No {unit} is applied yet. Press Play, or go to a {unit} above.")
        return
    data = _compared(trained, step, shown)
    if data is None:
        st.caption(f"This {unit} does not change the text.")
        return
    components.score(data, "before and after")


@cached()
def _compared(trained: Trained, step: int, shown: Part) -> Score | None:
    return score.before_and_after(trained.row(shown), step, trained.hues(shown))


def _race_at(trained: Trained, timeline: str, shown: Part, step: int) -> Race:
    """Return the payload of the race, with the candidates of this step at rest."""
    # The first text opens in motion, and all users share its candidates.
    is_watched = components.race_is_watched(timeline) or trained.training_text == _first_text()
    first = _race(trained, timeline, shown, is_watched)
    return race.with_rest(first, trained.row(shown), step, trained.hues(shown))


@cached()
def _race(trained: Trained, timeline: str, shown: Part, is_watched: bool) -> Race:
    """Return the payload of the race; do not change it, it is cached."""
    first = trained.race_groups(race.STEPS) if is_watched else None
    return race.payload(trained.row(shown), first, trained.hues(shown), timeline)


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
    data = token_table.payload(table, texts.heading, ids, look, searches=CANDIDATES)
    components.token_table(data, "candidates")
    handle = trained.handle  # the session must not hold the history

    def every() -> Table:
        trained = handle.open()
        history, boundaries = trained.history, trained.training_boundaries
        how = (trained.training_text, boundaries, previous, len(boundaries))
        return tables.candidates(history, history.candidates(*how), step)

    offer_file(every, "candidates", texts.heading)


def _decisions(trained: Trained, last: int, timeline: str) -> None:
    """Draw the table of all steps, which the browser takes from the player."""
    title = f"All {texts_of(trained.history).unit}s"
    st.header(title, anchor=False)
    search = SEARCH.line(placeholder="Find a token by text or id", label_visibility="collapsed")
    components.token_table({"timelineId": timeline, "search": search}, "decisions")
    handle = trained.handle
    offer_file(lambda: tables.decisions(handle.open().history, last), title.lower(), title)


@cached()
def _decided(trained: Trained, last: int) -> charts.Chart:
    return charts.decided(trained.history, last)


def _curve(trained: Trained, last: int, step: int) -> None:
    """Draw the chart of the value that decided each step."""
    # A chart's selection cannot be cleared from here, and a second click at the same place would
    # not count. So after each click the chart gets another key.
    clicks: SessionValue[int] = SessionValue("clicks on decided")
    number = clicks.get() or 0
    chart: SessionValue[dict[str, Any]] = SessionValue(f"decided {number}")

    def clicked() -> None:
        points = (chart.get() or _NO_POINTS)["selection"].get(charts.SELECTION) or []
        if points:
            _jump(int(points[0]["step"]))
            clicks.put(number + 1)

    st.vega_lite_chart(
        spec=charts.at_step(_decided(trained, last), step) | {"height": CURVE},
        key=chart.key,
        on_select=clicked,
        alt=f"The {texts_of(trained.history).curve} at each step",
    )
