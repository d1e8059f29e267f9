"""Charts: the only place that imports Altair.

Each says its finding in the title, computed from what it shows, and marks the present step with
the same rule. A curve of many points is thinned before it is drawn.

To make a chart takes some 20 ms, most of them in Altair's checks. So each kind of curve over steps
is made once, as Vega-Lite, and its points (`_curve`) and its rule (`at_step`) are put in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bpeviz.compare import Column, sweep
from bpeviz.training import Detail, Training

Chart = alt.LayerChart | alt.FacetChart

Scale = Literal["linear", "log", "symlog"]

Curve = dict[str, Any]
"""A curve over steps, as Vega-Lite, still without the rule's place."""

_CURVE, _PRESENT = "curve", "present step"
"""Names of data in it."""

POINTS = 400
"""How many points of a curve are drawn at most."""

COLOURS = ("#3b82f6", "#d9661f", "#1f9d66", "#9a66ea")
"""Of the curves of tokenizers: readable on light and on dark ground."""

HEIGHT = 280
SELECTION = "picked"
"""The name under which a click on a curve is reported, with the field "step"."""


@dataclass(frozen=True)
class Axes:
    """What a curve over steps is drawn by, beside its points.

    unit: what a step is called; steps, values: the kinds of their scales; value: the field that is
    drawn, and title its axis'; tooltip: a field, its format and its title, for each line.
    """

    unit: str
    steps: Scale
    value: str
    title: str
    values: Scale
    tooltip: tuple[tuple[str, str, str], ...]


def _thin(length: int) -> NDArray[np.int64]:
    """Return up to `POINTS` places in 0 … length - 1, closer together at the start."""
    if length <= POINTS:
        return np.arange(length)
    return np.unique(np.geomspace(1, length, POINTS).astype(np.int64)) - 1


def _axis(title: str) -> alt.Axis:
    """Return an axis of a fixed width, so that nothing moves when a curve is drawn anew."""
    return alt.Axis(title=title, minExtent=40, maxExtent=40, tickCount=5)


def _titled(chart: Chart, finding: str) -> Chart:
    return chart.properties(
        height=HEIGHT, title=alt.TitleParams(finding, anchor="start", fontSize=15)
    )


@lru_cache(maxsize=64)
def _drawing(axes: Axes) -> Curve:
    """Return a curve over steps that can be clicked, still without its points, scales' ends, title.

    Nobody may change it: it is kept.
    """
    picked = alt.selection_point(
        name=SELECTION, fields=["step"], on="click", nearest=True, empty=False
    )
    x = alt.X("step:Q", title=axes.unit).scale(type=axes.steps)
    y = alt.Y(f"{axes.value}:Q", axis=_axis(axes.title)).scale(type=axes.values, nice=False)
    tooltip = [
        alt.Tooltip(f"{field}:Q", format=form, title=title) for field, form, title in axes.tooltip
    ]
    base = alt.Chart(alt.NamedData(_CURVE)).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2)
    points = base.mark_point(opacity=0, size=80).encode(tooltip=tooltip).add_params(picked)
    rule = (
        alt.Chart(alt.NamedData(_PRESENT))
        .mark_rule(strokeWidth=2, strokeDash=[5, 3], color="gray")
        .encode(x=x, tooltip=[alt.Tooltip("step:Q", title="present step")])
    )
    drawing: Curve = _titled(alt.layer(line, rule, points), "").to_dict()
    drawing.pop("config", None)  # the size that Altair's own theme would give it
    return drawing


def _curve(
    axes: Axes,
    columns: Mapping[str, NDArray[Any]],
    steps: tuple[int, int],
    values: tuple[float, float],
    finding: str,
) -> Curve:
    """Draw a curve of these points. steps, values: the first and the last of each scale."""
    curve = deepcopy(_drawing(axes))
    curve["title"]["text"] = finding
    for layer in curve["layer"]:
        for name, ends in (("x", steps), ("y", values)):
            if name in layer["encoding"]:
                layer["encoding"][name]["scale"]["domain"] = [*ends]
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    curve["datasets"] = {_CURVE: [dict(zip(columns, row, strict=True)) for row in rows]}
    return curve


def at_step(curve: Curve, step: int) -> Curve:
    """Return a curve with its rule at a step, or at its first one; the curve stays as it is."""
    lowest = curve["layer"][0]["encoding"]["x"]["scale"]["domain"][0]
    shown = deepcopy({name: part for name, part in curve.items() if name != "datasets"})
    present = {_PRESENT: [{"step": max(lowest, step)}]}
    return shown | {"datasets": curve["datasets"] | present}


def decided(training: Training, last: int) -> Curve:
    """Draw what decided at each of the first `last` steps, from 1 on."""
    name, all_values = training.curve
    values = all_values[:last]
    places = _thin(last)
    low, high = float(values.min()), float(values.max())
    ends = (min(1.0, low), max(high, 2 * min(1.0, low))) if low > 0 else (low, max(high, low + 1))
    scale: Scale = "log" if low > 0 else "symlog"  # what costs nothing has no logarithm
    form = "," if (values == values.round()).all() else ".4~g"
    tooltip = (("step", ",", training.unit), ("value", form, name))
    axes = Axes(training.unit, "log", "value", name, scale, tooltip)
    first, final, least, most = (
        format(value, ",.0f" if form == "," else ".3g")
        for value in (values[0], values[-1], low, high)
    )
    change = np.diff(values)
    if not change.any():
        finding = f"The {name} is always {first}"
    elif (change <= 0).all() or (change >= 0).all():
        moves = "falls" if values[-1] < values[0] else "rises"
        finding = f"The {name} {moves} from {first} to {final}"
    else:
        finding = f"The {name} lies between {least} and {most}"
    columns = {"step": places + 1, "value": values[places]}
    return _curve(axes, columns, (1, max(2, last)), ends, finding)


def compression(token_counts: NDArray[np.int64], size: int, unit: str) -> Curve:
    """Draw bytes per token after each step.

    token_counts: int64 [steps + 1]; size: of the text in bytes; unit: what a step is called.
    """
    places = _thin(len(token_counts))
    counts = token_counts[places]
    ratios = np.divide(size, counts, where=counts > 0, out=np.zeros(len(counts)))
    name = "bytes per token"
    tooltip = (("step", ",", unit), ("tokens", ",", "tokens"), (name, ".2f", name))
    axes = Axes(unit, "linear", name, name, "linear", tooltip)
    columns = {"step": places, name: ratios, "tokens": counts}
    steps = (0, max(1, len(token_counts) - 1))
    values = (0.0, max(float(ratios.max()) * 1.05, 1.0))
    return _curve(axes, columns, steps, values, _half_way(token_counts, unit))


def _half_way(token_counts: NDArray[np.int64], unit: str) -> str:
    saved = token_counts[0] - token_counts
    if saved[-1] < 0:
        return f"{-saved[-1]:,} more tokens after {len(saved) - 1:,} {unit}s"
    if not saved[-1]:
        return "Nothing is saved"
    half = int(np.argmax(saved * 2 >= saved[-1]))
    return f"Half the saving comes from {half:,} of {len(saved) - 1:,} {unit}s"


def sweeps(columns: Sequence[Column]) -> Chart:
    """Draw bytes per token against vocabulary size for each column, up to its own size."""
    frames = []
    for column in columns:
        sizes, ratios = sweep(column)
        frames.append(
            pd.DataFrame(
                {"vocabulary": sizes, "bytes per token": ratios, "tokenizer": column.title}
            )
        )
    frame = pd.concat(frames)
    titles = [column.title for column in columns]
    x = alt.X("vocabulary:Q", title="vocabulary size").scale(type="log", nice=False)
    y = alt.Y("bytes per token:Q", title="bytes per token").scale(zero=True)
    color = alt.Color("tokenizer:N", sort=titles, legend=None).scale(range=list(COLOURS))
    tooltip = [
        "tokenizer:N",
        alt.Tooltip("vocabulary:Q", format=","),
        alt.Tooltip("bytes per token:Q", format=".2f"),
    ]
    lines = alt.Chart(frame).mark_line(strokeWidth=2).encode(x=x, y=y, color=color, tooltip=tooltip)
    ends = frame.groupby("tokenizer", sort=False).tail(1).reset_index(drop=True)
    dots = alt.Chart(ends).mark_point(filled=True, size=90, opacity=1)
    layers: list[alt.Chart] = [lines, dots.encode(x=x, y=y, color=color, tooltip=tooltip)]
    # Names stand at the ends of the curves, by turns above and below, so that they keep apart.
    for turn, place in enumerate((-14, 20)[: len(columns)]):
        names = alt.Chart(ends.iloc[turn::2]).mark_text(align="right", dy=place, fontSize=13)
        layers.append(names.encode(x=x, y=y, color=color, text="tokenizer:N"))
    best = min(columns, key=lambda column: int(column.boundaries.token_counts[column.step]))
    finding = f"{best.title} needs the fewest tokens"
    return _titled(alt.layer(*layers), finding).properties(height=360)


def detail(shown: Detail) -> Chart | None:
    """Draw the curve of a detail, if it has one."""
    if shown.curve is None or not shown.columns[shown.curve[0]]:
        return None
    x, y = shown.curve
    frame = pd.DataFrame({name: list(shown.columns[name]) for name in (x, y)})
    base = alt.Chart(frame).encode(
        x=alt.X(f"{x}:Q", title=x, scale=alt.Scale(zero=False, nice=False)),
        y=alt.Y(f"{y}:Q", axis=_axis(y), scale=alt.Scale(zero=False)),
        tooltip=[alt.Tooltip(f"{x}:Q", format=","), alt.Tooltip(f"{y}:Q", format=",.4~g")],
    )
    chart = alt.layer(base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=50))
    return chart.properties(height=HEIGHT)


def segmentations(rows: Sequence[tuple[str, int]], draws: int) -> Chart:
    """Draw how often each cut came: (the pieces, parted by lines, how often), most often first."""
    frame = pd.DataFrame(
        [(name, times, times / draws) for name, times in rows], columns=["cut", "times", "share"]
    )
    base = alt.Chart(frame).encode(
        y=alt.Y("cut:N", sort=None, title=None, axis=alt.Axis(labelLimit=420, labelFontSize=14)),
        x=alt.X("share:Q", title="share of the draws", axis=alt.Axis(format="%")).scale(
            domain=[0, max(1.2 * rows[0][1] / draws, 0.05)]
        ),
        tooltip=["cut:N", alt.Tooltip("times:Q", format=","), alt.Tooltip("share:Q", format=".1%")],
    )
    numbers = base.mark_text(align="left", dx=4, fontSize=13, color=COLOURS[0]).encode(
        text=alt.Text("share:Q", format=".1%")
    )
    kinds = f"{len(rows)} cut{'' if len(rows) == 1 else 's'}"
    finding = f"{kinds} shown; the most frequent came {rows[0][1]:,} times of {draws:,}"
    chart = alt.layer(base.mark_bar(color=COLOURS[0], height={"band": 0.7}), numbers)
    return _titled(chart, finding).properties(height=alt.Step(30))
