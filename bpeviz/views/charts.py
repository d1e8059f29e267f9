"""Charts as Vega-Lite specifications, built with Altair.

The title of each chart states its finding, computed from the data. A dashed line marks the current
step. Long curves are thinned.

Altair needs some 20 ms to validate a chart. So each kind of chart is built once, and data are
inserted later (`_with_data`, `at_step`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import altair as alt
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bpeviz.analysis.metrics import Column, sweep
from bpeviz.core.training import Training
from bpeviz.text import counted, joined
from bpeviz.trainers import texts_of
from bpeviz.trainers.screen_texts import Detail

Scale = Literal["linear", "log", "symlog"]

Chart = dict[str, Any]
"""A Vega-Lite specification."""

POINTS = 400
"""The largest number of points in a curve."""

HEIGHT = 280
ROW = 30
"""The height of a bar with a label."""

SELECTION = "picked"
"""The Vega-Lite parameter of a click on a curve, with the field "step"."""


@dataclass(frozen=True)
class Axes:
    """The axes of a curve over steps.

    unit: name of a step. steps, values: types of the scales. value, title: field and title of the y
    axis.
    tooltip: field, format and title of each line.
    """

    unit: str
    steps: Scale
    value: str
    title: str
    values: Scale
    tooltip: tuple[tuple[str, str, str], ...]


def _thin(length: int) -> NDArray[np.int64]:
    """Return up to `POINTS` indices below `length`, closer together at the start."""
    if length <= POINTS:
        return np.arange(length)
    return np.unique(np.geomspace(1, length, POINTS).astype(np.int64)) - 1


def _axis(title: str) -> alt.Axis:
    """Return an axis of fixed width, so that nothing moves when a curve changes."""
    return alt.Axis(title=title, minExtent=40, maxExtent=40, tickCount=5)


def _drawn(chart: alt.LayerChart | alt.FacetChart, height: int = HEIGHT) -> Chart:
    """Return a chart as Vega-Lite without title and data. It is cached: do not modify it."""
    titled = chart.properties(height=height, title=alt.TitleParams("", anchor="start", fontSize=15))
    drawing: Chart = titled.to_dict()
    drawing.pop("config", None)  # the size from Altair's default theme
    return drawing


def _with_data(drawing: Chart, finding: str, **data: pa.Table) -> Chart:
    """Return a chart with a finding as its title, and data."""
    title = drawing["title"] | {"text": finding}
    return deepcopy(drawing) | {"title": title, "datasets": data}


def _scales(chart: Chart, channel: str) -> Iterator[dict[str, Any]]:
    """Yield the scale of a channel in each layer that has it."""
    encodings = (layer["encoding"] for layer in chart["layer"])
    return (encoding[channel]["scale"] for encoding in encodings if channel in encoding)


@lru_cache(maxsize=64)
def _curve(axes: Axes) -> Chart:
    """Return a clickable curve over steps, with a line at the current step."""
    picked = alt.selection_point(
        name=SELECTION, fields=["step"], on="click", nearest=True, empty=False
    )
    steps = alt.Axis(tickMinStep=1)  # steps are whole numbers
    x = alt.X("step:Q", title=axes.unit, axis=steps).scale(type=axes.steps)
    y = alt.Y(f"{axes.value}:Q", axis=_axis(axes.title)).scale(type=axes.values, nice=False)
    tooltip = [
        alt.Tooltip(f"{field}:Q", format=form, title=title) for field, form, title in axes.tooltip
    ]
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2)
    points = base.mark_point(opacity=0, size=80).encode(tooltip=tooltip).add_params(picked)
    rule = (
        alt.Chart(alt.NamedData("current"))
        .mark_rule(strokeWidth=2, strokeDash=[5, 3], color="gray")
        .encode(x=x, tooltip=[alt.Tooltip("step:Q", title="current step")])
    )
    return _drawn(alt.layer(line, rule, points))


def _over_steps(
    axes: Axes,
    points: pa.Table,
    steps: tuple[int, int],
    values: tuple[float, float],
    finding: str,
) -> Chart:
    """Return a curve. steps, values: the domain of each scale."""
    chart = _with_data(_curve(axes), finding, points=points)
    for channel, ends in (("x", steps), ("y", values)):
        for scale in _scales(chart, channel):
            scale["domain"] = [*ends]
    return chart


def at_step(chart: Chart, step: int) -> Chart:
    """Return a curve over steps with its rule at one, or at its first; the curve stays as it is."""
    lowest = next(_scales(chart, "x"))["domain"][0]
    current = {"current": pa.table({"step": [max(lowest, step)]})}
    data = chart["datasets"] | current
    return deepcopy({**chart, "datasets": {}}) | {"datasets": data}


def decided(training: Training, last: int) -> Chart:
    """Return the curve of the score or count that decided each of the first `last` steps."""
    texts, values = texts_of(training), training.curve[:last]
    name = texts.curve
    places = _thin(last)
    low, high = float(values.min()), float(values.max())
    ends = (min(1.0, low), max(high, 2 * min(1.0, low))) if low > 0 else (low, max(high, low + 1))
    scale: Scale = "log" if low > 0 else "symlog"  # zero has no logarithm
    form = "," if (values == values.round()).all() else ".4~g"
    tooltip = (("step", ",", texts.unit), ("value", form, name))
    axes = Axes(texts.unit, "log", "value", name, scale, tooltip)
    first, final, least, most = (
        format(value, ",.0f" if form == "," else ".3g")
        for value in (values[0], values[-1], low, high)
    )
    change = np.diff(values)
    if not change.any():
        finding = f"The {name} is always {first}"
    elif least == most:
        finding = f"The {name} is always about {least}"
    elif (change <= 0).all() or (change >= 0).all():
        moves = "falls" if values[-1] < values[0] else "rises"
        finding = f"The {name} {moves} from {first} to {final}"
    else:
        finding = f"The {name} is between {least} and {most}"
    points = pa.table({"step": places + 1, "value": values[places]})
    return _over_steps(axes, points, (1, max(2, last)), ends, finding)


def compression(token_counts: NDArray[np.int64], size: int, unit: str) -> Chart:
    """Return the curve of bytes per token after each step.

    Args:
        token_counts: int64 [steps + 1].
        size: Size of the text in bytes.
        unit: Name of a step.
    """
    places = _thin(len(token_counts))
    every = np.divide(size, token_counts, where=token_counts > 0, out=np.zeros(len(token_counts)))
    counts, ratios = token_counts[places], every[places]
    name = "bytes per token"
    tooltip = (("step", ",", unit), ("tokens", ",", "tokens"), (name, ".2f", name))
    axes = Axes(unit, "linear", name, name, "linear", tooltip)
    points = pa.table({"step": places, name: ratios, "tokens": counts})
    steps = (0, max(1, len(token_counts) - 1))
    values = (0.0, max(float(ratios.max()) * 1.05, 1.0))
    return _over_steps(axes, points, steps, values, _half_way(every, unit))


def _half_way(ratios: NDArray[np.float64], unit: str) -> str:
    """Return the finding of `compression`: the step that reaches half of the change."""
    steps = len(ratios) - 1
    change = ratios - ratios[0]
    if not change[-1]:
        return "Bytes per token are the same " + (
            "at both ends" if change.any() else "at each step"
        )
    half = int(np.argmax(change * 2 >= change[-1] if change[-1] > 0 else change * 2 <= change[-1]))
    moves = "rise" if change[-1] > 0 else "fall"
    if half == steps:
        return f"Bytes per token {moves} over {counted(steps, unit)}"
    return f"Half of the {moves} takes {half:,} of {counted(steps, unit)}"


SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
"""The signs at the ends of curves."""


@lru_cache(maxsize=1)
def _curves() -> Chart:
    """Return curves of tokenizers over vocabulary sizes, each with a sign at its end."""
    x = alt.X("vocabulary:Q", title="vocabulary size").scale(type="log", nice=False)
    y = alt.Y("bytes per token:Q", title="bytes per token").scale(zero=True)
    # A legend above the chart: names at the ends would cross other curves. Shapes, too, tell curves
    # apart.
    legend = alt.Legend(title=None, orient="top", labelFontSize=13, labelLimit=300, symbolSize=110)
    color = alt.Color("tokenizer:N", legend=legend).scale()
    shape = alt.Shape("tokenizer:N", legend=legend).scale(range=SHAPES)
    tooltip = [
        "tokenizer:N",
        alt.Tooltip("vocabulary:Q", format=","),
        alt.Tooltip("bytes per token:Q", format=".2f"),
    ]
    lines = alt.Chart(alt.NamedData("points")).mark_line(strokeWidth=2)
    dots = alt.Chart(alt.NamedData("ends")).mark_point(filled=True, size=90, opacity=1)
    layers = [layer.encode(x=x, y=y, color=color, tooltip=tooltip) for layer in (lines, dots)]
    layers[1] = layers[1].encode(shape=shape)
    return _drawn(alt.layer(*layers), 360)


def sweeps(columns: Sequence[Column]) -> Chart:
    """Return bytes per token over vocabulary sizes for each column."""
    names = ("vocabulary", "bytes per token", "tokenizer")
    curves = []
    for column in columns:
        sizes, ratios = sweep(column)
        curves.append(pa.table([sizes, ratios, [column.title] * len(sizes)], names))
    ends = pa.concat_tables([curve.slice(len(curve) - 1) for curve in curves])
    data = {"points": pa.concat_tables(curves), "ends": ends}
    chart = _with_data(_curves(), _most_bytes(ends.to_pylist()), **data)
    for channel in ("color", "shape"):
        for scale in _scales(chart, channel):
            scale["domain"] = [column.title for column in columns]
    return chart


def _most_bytes(ends: Sequence[dict[str, Any]]) -> str:
    """Return a title: the tokenizers with the most bytes per token at the ends of their curves."""
    if len(ends) < 2:
        return "Bytes per token over vocabulary sizes"
    most = max(end["bytes per token"] for end in ends)
    best = [end["tokenizer"] for end in ends if end["bytes per token"] == most]
    if len(best) == len(ends):
        return "All end at the same number of bytes per token"
    return f"{joined(best)} {'has' if len(best) == 1 else 'have'} the most bytes per token"


@lru_cache(maxsize=64)
def _line(x: str, y: str) -> Chart:
    base = alt.Chart(alt.NamedData("points")).encode(
        x=alt.X(f"{x}:Q", title=x, scale=alt.Scale(zero=False, nice=False)),
        y=alt.Y(f"{y}:Q", axis=_axis(y), scale=alt.Scale(zero=False)),
        tooltip=[alt.Tooltip(f"{x}:Q", format=","), alt.Tooltip(f"{y}:Q", format=",.4~g")],
    )
    return _drawn(alt.layer(base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=50)))


def detail(table: Detail) -> Chart | None:
    """Return the curve of a detail, or None."""
    if table.curve is None or len(table.columns[table.curve[0]]) < 2:
        return None
    points = pa.table({name: list(table.columns[name]) for name in table.curve})
    chart = _with_data(_line(*table.curve), "", points=points)
    del chart["title"]  # the page has a heading for it
    return chart


@lru_cache(maxsize=1)
def _shares() -> Chart:
    base = alt.Chart(alt.NamedData("points")).encode(
        y=alt.Y(
            "segmentation:N", sort=None, title=None, axis=alt.Axis(labelLimit=420, labelFontSize=14)
        ),
        x=alt.X("share:Q", title="share of the samples", axis=alt.Axis(format="%")).scale(),
        tooltip=[
            "segmentation:N",
            alt.Tooltip("times:Q", format=","),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    numbers = base.mark_text(align="left", dx=4, fontSize=13).encode(
        text=alt.Text("share:Q", format=".1%")
    )
    bars = base.mark_bar(height={"band": 0.7})
    return _drawn(alt.layer(bars, numbers))


def segmentations(rows: Sequence[tuple[str, int]], draws: int) -> Chart:
    """Return a bar chart of segmentations and how often each was drawn, most frequent first."""
    segmentations, times = zip(*rows, strict=True)
    shares = [count / draws for count in times]
    finding = f"Most frequent: {times[0]:,} of {draws:,} samples"
    points = pa.table([segmentations, times, shares], ("segmentation", "times", "share"))
    chart = _with_data(_shares(), finding, points=points)
    # Each row has its height, so that only the width is fitted.
    chart |= {"height": ROW * len(rows), "autosize": {"type": "fit-x", "contains": "padding"}}
    for scale in _scales(chart, "x"):
        scale["domain"] = [0, min(max(1.2 * shares[0], 0.05), 1.0)]
    return chart
