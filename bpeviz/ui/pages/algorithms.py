"""What stands on the Algorithms page: trainers in lock-step, and what follows their size."""

from __future__ import annotations

import streamlit as st

from bpeviz.analysis import metrics
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui import components, trained
from bpeviz.ui.details import details
from bpeviz.ui.inputs import Choice
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.views import charts, player, tables

SHOWN = 3_000
"""Bytes of a text that stand in the views at once; figures are about the whole."""

DRAWS = 1_000
MOST_CUTS = 12
"""How many cuts of a word are drawn, and how many draws they come from."""

LONGEST_WORD = 40

Learnt = tuple[Choice, Training, Boundaries]


def learnt(text: str, choices: list[Choice]) -> list[Learnt]:
    """Learn with each choice; where that cannot be done, say why, once for all it is true of."""
    found = []
    refused: dict[str, list[str]] = {}
    for choice in choices:
        training = trained.training(text, choice)
        boundaries = trained.boundaries(text, text, choice)
        if isinstance(training, str) or isinstance(boundaries, str):
            why = str(training if isinstance(training, str) else boundaries)
            refused.setdefault(why, []).append(TRAINERS[choice.algorithm].title)
        else:
            found.append((choice, training, boundaries))
    for why, titles in refused.items():
        st.error(f"{', '.join(titles)}: {why}")
    return found


def show(text: str, shown: list[Learnt]) -> None:
    """Draw the player with a view for each trainer, and what follows its size."""
    place = st.container()
    columns = [_column(one, one[1].steps) for one in shown]
    parts = player.parts(text, metrics.common_boundaries(columns, always=True), SHOWN)
    part = parts[0]
    if len(parts) > 1:
        label = f"Part shown, 1 to {len(parts)}"
        number = st.number_input(label, 1, len(parts), key=f"lock_of_{len(parts)}", width=200)
        part = parts[number - 1]
        st.caption(
            f"Characters {part.first + 1:,} to {part.last:,} of {len(text):,} are shown; learning, "
            "counts and figures are about the whole text."
        )
    timelines = []
    for choice, training, boundaries in shown:
        own = player.part_between(boundaries, part, text)
        timelines.append(
            (TRAINERS[choice.algorithm].short, trained.timeline(text, choice, own), training)
        )
    payload = player.lock_step(timelines)
    with place:
        components.player(payload, "lock_step")
        if len(shown) > 1:
            st.caption(
                f"At every vocabulary size each stands at its own step. {timelines[0][0]} is the "
                "reference: a thick line is a cut that it does not make there, a dotted one is a "
                "cut of its own that is missing. Below its smallest or above its largest "
                "vocabulary, an algorithm stands still."
            )
    _follow(text, [choice for choice, *_ in shown], payload)


def _column(one: Learnt, step: int) -> Column:
    choice, training, boundaries = one
    title = TRAINERS[choice.algorithm].short
    return Column(title, training.at_step(step), boundaries, step)


@fragment
def _follow(text: str, choices: list[Choice], payload: dict[str, object]) -> None:
    """Draw what follows the size. Runs again by itself when that changes, or a word is clicked."""
    state = st.session_state
    shown = [(choice, *trained.there(text, choice)) for choice in choices]
    body = st.container()
    told = components.player_events(None, "lock_step_follower", words=True)
    last = int(str(payload["last"]))
    place = int(str(payload["initialStep"]))  # there the player begins
    if told["step"] and told["step"]["timelineId"] == payload["timelineId"]:
        place = min(int(told["step"]["step"]), last)
    if told["word"] and state.get("picked_word") != told["word"]:
        state["picked_word"] = told["word"]
        state["word"] = told["word"]["word"][:LONGEST_WORD]
    views: list[dict[str, list[int]]] = payload["views"]  # type: ignore[assignment]
    steps = [view["ownSteps"][place] for view in views]
    with body:
        sizes: list[int] = payload["vocabSizes"]  # type: ignore[assignment]
        size = sizes[place]
        _measures(text, shown, steps, size)
        _vocabularies(text, shown, steps)
        _at_random(shown, steps)
        for (_, training, boundaries), step in zip(shown, steps, strict=True):
            details(text, training, boundaries, step)


def _measures(text: str, shown: list[Learnt], steps: list[int], size: int) -> None:
    if not text:
        return
    st.subheader(f"At a vocabulary of {size:,}", anchor=False)
    columns = [_column(one, step) for one, step in zip(shown, steps, strict=True)]
    right = st.column_config.TextColumn(alignment="right")
    st.dataframe(
        tables.metrics(metrics.measure(text, columns, 0)),
        hide_index=True,
        height="content",
        key="lock_measures",
        column_config=dict.fromkeys([column.title for column in columns], right),
    )


def _vocabularies(text: str, shown: list[Learnt], steps: list[int]) -> None:
    if len(shown) < 2:
        return
    st.subheader("What the vocabularies share", anchor=False)
    learnt = [
        (TRAINERS[choice.algorithm].short, trained.composed_tokens(text, choice, step))
        for (choice, *_), step in zip(shown, steps, strict=True)
    ]
    table = tables.vocabularies(metrics.vocabularies(learnt))
    numbers = table.select_dtypes("number").columns
    grouped = st.column_config.NumberColumn(format="localized")
    st.dataframe(
        table,
        hide_index=True,
        height="content",
        key="lock_vocabularies",
        column_config=dict.fromkeys(numbers, grouped),
    )
    st.caption(
        "Tokens of more than one byte or character, compared by the text that they stand for, so "
        "that `##ing`, `ing` and `ing</w>` are the same."
    )


def _at_random(shown: list[Learnt], steps: list[int]) -> None:
    """Let the user cut a word at random, where a trainer can do so."""
    able = [
        (training, texts_of(training).randomness, step)
        for (_, training, _), step in zip(shown, steps, strict=True)
        if training.stochastic
    ]
    if not able:
        return
    st.subheader("One word, cut at random", anchor=False)
    left, right = st.columns((2, 3), gap="medium")
    with left:
        st.session_state.setdefault("word", "lowest")
        word = st.text_input(
            "Word: type one, or click it above (a space before it counts)",
            key="word",
            max_chars=LONGEST_WORD,
            persist_state="session",
        )
        which = 0
        if len(able) > 1:
            which = st.radio(
                "By",
                range(len(able)),
                format_func=lambda i: (
                    f"{able[i][1].title} ({TRAINERS[able[i][0].algorithm].short})"
                ),
                key=f"random_of_{len(able)}",
            )
        training, randomness, step = able[which]
        strength = st.slider(
            randomness.strength,
            0.0,
            randomness.most,
            randomness.initial,
            0.05,
            key=f"strength of {randomness.title} up to {randomness.most}",
        )
        seed = int(st.number_input("Seed", value=0, step=1, key="seed", width=140))
        st.caption(randomness.about)
    with right:
        if not word.strip():
            st.caption("There is no word to cut yet.")
            return
        try:
            # With the space before it a word is another pre-token than without, if a split lets it.
            pre_token = word.rstrip()
            if len(training.pre_tokenizer.pre_tokens(pre_token)) > 1:
                pre_token = pre_token.lstrip()
            name = training.pre_tokenizer.label(training.pre_tokenizer.symbols(pre_token))
            found = training.segmentations(step, pre_token, strength, DRAWS, seed)
        except ValueError as error:
            st.error(str(error))
            return
        unknown = training.pre_tokenizer.unknown or "?"
        rows = [
            (" | ".join(training.name(i) if i >= 0 else unknown for i in ids), times)
            for ids, times in found.most_common(MOST_CUTS)
        ]
        st.vega_lite_chart(
            spec=charts.segmentations(rows, DRAWS),
            key="segmentations",
            alt="How often each cut came",
        )
        some = f" The {MOST_CUTS} most frequent are drawn." * (len(found) > MOST_CUTS)
        pieces = sum(len(ids) * times for ids, times in found.items()) / DRAWS
        st.caption(
            f"“{name}”: {len(found):,} different "
            f"cut{'' if len(found) == 1 else 's'} in {DRAWS:,} draws, "
            f"{pieces:.2f} tokens on average. The same seed gives the same draws.{some}"
        )
