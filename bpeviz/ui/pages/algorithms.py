"""The Algorithms page: several trainers in lock-step on the same text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import regex
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.analysis import metrics, verdict
from bpeviz.analysis.figures import measure
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Part
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents
from bpeviz.text import counted
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.trainers.screen_texts import Randomness
from bpeviz.ui import components, markdown, page_trainings, training_progress
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.inputs.parts import choose_part, part_of
from bpeviz.ui.inputs.text import TEXT, TRAIN_ON, choose_text, text_of
from bpeviz.ui.inputs.training import (
    ALGORITHMS,
    LARGEST_SIZE,
    SIDE,
    SIDE_BY_SIDE,
    SIDE_OPTIONS,
    TrainingChoice,
    all_expanded,
    choices_of,
    choose_trainings,
    option_widgets,
    pattern_widgets,
)
from bpeviz.ui.page_trainings import Trained, TrainingError, TrainingHandle
from bpeviz.ui.pages import base, remarks
from bpeviz.ui.pages.base import Page
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import draw_table
from bpeviz.ui.trainer_tables import details
from bpeviz.ui.widgets import (
    Section,
    Share,
    TextField,
    Values,
    Widget,
    WidgetFamily,
    numbers,
)
from bpeviz.views import playable, race, tables
from bpeviz.views.parts import WINDOW, part_between, parts
from bpeviz.views.payloads import Player, Race
from bpeviz.views.playable import Interactive
from bpeviz.views.stage import Stage, colored, hues_in
from bpeviz.views.table import TokenCell

LOCK_STEP_BYTES = 3_000
"""The most bytes of a text in the player at once; figures are for the whole text."""

DRAWS = 1_000
MAX_SEGMENTATIONS = 10
"""How many random segmentations of a word are sampled, and how many different ones are shown."""

MAX_WORD = 40

_WORD = regex.compile(r" ?[\p{L}\p{M}]{4,}")

SIZES_TRIED = 100
"""How many sizes are tried to open the page where the algorithms differ."""

METRICS = Section("metrics_open", "Metrics: tokens per word, words kept whole, agreement")
PART = numbers("lock_of_", "Part shown")
METHOD = numbers("random_of_", "Method", first=0)
WORD = TextField("word", "Word (a leading space counts)", longest=MAX_WORD)


def _strength(name: str, end: str) -> Share:
    return Share(name, "Strength", most=float(end.rpartition(" ")[2]))


STRENGTH = WidgetFamily("strength of ", r".{1,60} up to [0-9]{1,3}\.[0-9]{1,3}", _strength)
RANDOM = Section("random_open", "One word, split at random", contents=(WORD, METHOD, STRENGTH))


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield from TEXT.widgets(values)
    yield from TRAIN_ON.widgets(values)
    yield SIDE_BY_SIDE
    yield from pattern_widgets(values)
    for key in values.get(SIDE_BY_SIDE) or ():
        if key in TRAINERS:  # a message that is not from a browser may contain other keys
            yield SIDE_OPTIONS[key]
            yield from option_widgets(TRAINERS[key], values, SIDE)
    yield from (METRICS, RANDOM)
    yield from values.members(PART)
    yield WORD
    yield from values.members(METHOD)
    yield from values.members(STRENGTH)


FIRST = ("bpe", "wordpiece", "unigram")
"""The algorithms at first."""

INITIAL = {"atoms": "characters"}
"""Their options at first: as WordPiece and Unigram, since over bytes no vocabulary is smaller than
256."""


def page_content(values: Values) -> Interactive:
    """Return the stage of the page."""
    text, choices = all_expanded(text_of(values, TEXT), choices_of(values, FIRST, INITIAL))
    trainings = [page_trainings.get(text, choice) for choice in choices]
    return playable.of_stage(_stage(trainings, part_of(values, PART, _parts(trainings))))


PAGE = Page(
    "pages/Algorithms.py",
    "Algorithms",
    "How do different algorithms tokenize the same text?",
    _widgets,
    has_verdict=True,
    has_long_verdict=True,
    short={"algorithm": SIDE_BY_SIDE.link, "size": LARGEST_SIZE.link},
    content=page_content,
)


def _train_all(text: str | Documents, choices: list[TrainingChoice]) -> list[Trained]:
    """Train with each choice; show an error for each that fails, once where several agree."""
    trainings = []
    failed: dict[str, list[str]] = {}
    for choice in choices:
        try:
            trainings.append(training_progress.get(text, choice))
        except TrainingError as error:
            failed.setdefault(str(error), []).append(ALGORITHMS[choice.algorithm])
    for why, names in failed.items():
        st.error(f"{', '.join(names)}: {markdown.escape(why)}")
    return trainings


def show(side: DeltaGenerator) -> None:
    """Draw the player with a row for each algorithm, and everything that follows its size."""
    with side:
        text, choices = choose_trainings(choose_text(TEXT), FIRST, INITIAL)
    shown = _train_all(text, choices)
    if not shown:
        base.answer("None of these algorithms can be trained.")  # messages say why
        remarks.atoms_only(text, "lock_step")
        return
    text = shown[0].text
    if not text:
        base.answer("There is no text yet.", "Type one below, or choose a sample.")
    place = st.container()
    part = choose_part(PART, _parts(shown), "Training and all figures use")
    payload = _aligned(tuple(shown), part).copy()
    handles = [row.handle for row in shown]
    EXPORT.put(Export("algorithms", file=partial(_animation, handles, part)))
    changing = payload["changingSteps"]
    steps = payload["last"] if changing is None else len(changing)
    remarks.add(payload, shown, steps)
    with place:
        # Functions, since Streamlit stores the arguments: an element has every attribute.
        answer = partial(base.TITLE.get().title, anchor=False)
        _play(shown, payload, answer)


def _parts(shown: Sequence[Trained]) -> list[Part]:
    """Return the parts of the text, which end at boundaries of all algorithms."""
    columns = [row.first.column for row in shown]
    common = metrics.common_boundaries(columns, always=True)
    return parts(shown[0].text, common, LOCK_STEP_BYTES)


def _columns(shown: Sequence[Trained], payload: Player, place: int) -> list[Column]:
    """Return the columns at a step of the player."""
    steps = [view["ownSteps"][place] for view in payload["views"]]
    return [row.first.at(step).column for row, step in zip(shown, steps, strict=True)]


def _opening(shown: Sequence[Trained], payload: Player) -> int:
    """Return the step of the player to open with, of those up to the largest size that all have.

    It is the largest at which they split the text in most ways, and a pruned piece cost something.
    """
    last: int = payload["initialStep"]
    if len(shown) == 1 or len(shown[0].text.encode()) > LOCK_STEP_BYTES:  # long texts differ
        return last
    best = (0, False), last
    for place in range(last, max(last - SIZES_TRIED, -1), -1):
        at = [(view["steps"], view["ownSteps"][place]) for view in payload["views"]]
        costs = all(of["kind"] == "merge" or (n and of["score"][n - 1] > 0) for of, n in at)
        ways = len(verdict.alike(_columns(shown, payload, place)))
        best = max(best, ((ways, costs), place))
        if best[0] == (len(shown), True):
            break
    return best[1]


def _stage(shown: Sequence[Trained], part: Part) -> Stage:
    """Return the stage of a part of the text in common boundaries."""
    own = [part_between(row.boundaries, part, row.text) for row in shown]
    stage = Stage([row.row(at) for row, at in zip(shown, own, strict=True)], by_size=True)
    timelines = (row.uncolored(at) for row, at in zip(shown, own, strict=True))
    colored_timelines = [colored(timeline, stage.hues) for timeline in timelines]
    stage = replace(stage, colors=stage.hues, timelines=colored_timelines)
    stage.payload["initialStep"] = _opening(shown, stage.payload)
    return stage


@cached()
def _aligned(shown: tuple[Trained, ...], part: Part) -> Player:
    """Return the payload of the player for a part; do not change it, it is cached."""
    return _stage(shown, part).payload


def _animation(handles: Sequence[TrainingHandle], part: Part) -> Callable[[], Interactive]:
    stage = _stage([handle.open() for handle in handles], part)
    return partial(playable.of_stage, stage)


def _name(row: Trained) -> str:
    return ALGORITHMS[row.choice.algorithm]


@fragment
def _play(
    shown: list[Trained],
    payload: Player,
    answer: Callable[[str], object],
) -> None:
    """Draw the player, and the elements that follow the size; run again if it changes."""
    report = components.player_report(payload, "lock_step")
    place = report["step"]
    columns = _columns(shown, payload, place)
    steps = [column.step for column in columns]
    size, text = (payload["vocabSizes"] or [0])[place], shown[0].text
    if text:
        answer(markdown.escape(verdict.at_size(text, columns, size)))
    drawn = payload.copy()
    has_races = any(row.history.steps for row in shown)
    if has_races and all(len(row.training_boundaries) <= race.COUNTED for row in shown):
        drawn["races"] = _races(shown, payload, steps, report["isLacking"])
    components.player(drawn, "lock_step", remarks.follow)
    if st.context.is_embedded:
        return
    if text:
        METRICS.show(_metrics, text, columns)
    colors = [hues_in(view, row.first) for row, view in zip(shown, payload["views"], strict=True)]
    able = [
        ((row.history, texts_of(row.history).randomness, step), hues)
        for row, step, hues in zip(shown, steps, colors, strict=True)
        if row.history.stochastic
    ]
    if able:
        RANDOM.show(_random_splits, *zip(*able, strict=True), text)
    for row, step, hues in zip(shown, steps, colors, strict=True):
        details(row, step, row.first.look(hues))


def _races(shown: list[Trained], payload: Player, steps: list[int], is_lacking: bool) -> list[Race]:
    """Return the payloads of the race, each with the candidates of its step at rest."""
    races = []
    for trained, view, step in zip(shown, payload["views"], steps, strict=True):
        row = trained.first
        hues = hues_in(view, row)
        is_watched = is_lacking or trained.is_raced_at_once
        first = trained.race_groups(race.STEPS // len(shown)) if is_watched else None
        data = race.payload(row, first, hues)
        is_short = len(trained.training_boundaries) <= WINDOW
        races.append(race.with_rest(data, row, step, hues) if is_short or is_watched else data)
    return races


def _metrics(text: str, columns: list[Column]) -> None:
    draw_table(
        tables.metrics(measure(text, columns, 0)),
        "lock_measures",
        label="Metrics",
        right=[column.title for column in columns],
        download=True,
    )


def _random_splits(
    able: Sequence[tuple[Training, Randomness, int]], colors: Sequence[Hues], text: str
) -> None:
    """Draw random segmentations of a word under trainers that support them, in their colors."""
    left, right = st.columns((2, 3), gap="medium")
    with left:
        if not WORD.present:
            words = _WORD.findall(text[:LOCK_STEP_BYTES]) or [*text[:LOCK_STEP_BYTES].split(), ""]
            WORD.put(max(words, key=len)[:MAX_WORD])
        word = WORD.line()
        which = 0
        if len(able) > 1:
            which = METHOD.member(len(able)).radio(
                [f"{random.title} ({ALGORITHMS[row.algorithm]})" for row, random, _ in able]
            )
        training, randomness, step = able[which]
        strength = STRENGTH.member(f"{randomness.title} up to {randomness.most}").slider(
            randomness.strength, randomness.initial
        )
        st.caption(randomness.about)
    with right:
        if not word.strip():
            st.caption("Type a word to split.")
            return
        try:
            # With the space before it, the word may be another pre-token than without.
            pre_token = word.rstrip()
            if len(training.pre_tokenizer.pre_tokens(pre_token)) > 1:
                pre_token = pre_token.lstrip()
            name = training.pre_tokenizer.label(training.pre_tokenizer.symbols(pre_token))
            drawn = training.segmentations(step, pre_token, strength, DRAWS, seed=0)
        except ValueError as error:
            st.error(markdown.escape(str(error)))
            return
        unknown = training.pre_tokenizer.unknown or "?"

        def look(token_id: int) -> tuple[str, int]:
            if token_id < 0:
                return unknown, -1
            return training.name(token_id), colors[which].index(training.color_key(token_id))

        rows = [
            (TokenCell([*map(look, ids)]), times)
            for ids, times in drawn.most_common(MAX_SEGMENTATIONS)
        ]
        if len(rows) > 1:
            with st.container(key="segmentations"):
                draw_table(tables.samples(rows, DRAWS), "samples", label="Sampled segmentations")
        else:
            st.html(f"Always {rows[0][0].html()}")
        some = f" The table shows the top {MAX_SEGMENTATIONS}." * (len(drawn) > MAX_SEGMENTATIONS)
        tokens = sum(len(ids) * times for ids, times in drawn.items()) / DRAWS
        st.caption(
            f"“{markdown.escape(name)}”: {counted(len(drawn), 'different segmentation')} in "
            f"{DRAWS:,} samples, "
            f"{tokens:.2f} tokens on average.{some}"
        )
