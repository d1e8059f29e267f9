"""Stages, timelines and files of trainings, in one call each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bpeviz.analysis.hues import Hues
from bpeviz.core.boundaries import Boundaries, Part
from bpeviz.core.training import Training
from bpeviz.views import playable
from bpeviz.views.payloads import Timeline
from bpeviz.views.playable import Interactive
from bpeviz.views.stage import Stage, TrainedOn, of_training


def timeline(
    text: str,
    training: Training,
    boundaries: Boundaries | None = None,
    part: Part | None = None,
    last: int | None = None,
    hues: Hues | None = None,
) -> Timeline:
    """Return the timeline of a part of a text under a training."""
    stage = Stage([of_training(training, text, boundaries, part)], hues)
    return stage.upto(training.steps if last is None else last)["views"][0]


def aligned(rows: Sequence[tuple[str, Training, Boundaries, Part]], text: str) -> Stage:
    """Return the stage of a text under trainings with titles, aligned by vocabulary size."""
    return Stage(
        [
            of_training(each, text, boundaries, part, title=title, options={})
            for title, each, boundaries, part in rows
        ],
        by_size=True,
    )


def played(
    training: Training,
    text: str,
    *,
    last: int | None = None,
    options: Mapping[str, object] | None = None,
    trained_on: TrainedOn | None = None,
) -> Interactive:
    """Return the file that plays a training on a text."""
    options = training.training_options if options is None else options
    row = of_training(training, text, options=options, trained_on=trained_on)
    return playable.of_stage(Stage([row]), last)
