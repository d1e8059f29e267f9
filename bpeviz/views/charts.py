"""Charts as Vega-Lite specifications, built with Altair.

The title of each chart states its finding, computed from the data. Long curves are thinned.

Altair needs some 20 ms to validate a chart. So each kind of chart is built once, and data are
inserted later (`_with_data`).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from typing import Any, Literal

import altair as alt
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bpeviz.core.training import Training
from bpeviz.palette import DARK, LIGHT
from bpeviz.trainers import texts_of
from bpeviz.trainers.screen_texts import Survival

Scale = Literal["linear", "log", "symlog"]

Chart = dict[str, Any]
"""A Vega-Lite specification."""

POINTS = 400
"""The largest number of points in a curve."""

LINEAR = 100
"""The most steps of a curve with linear axes."""

LOGARITHMIC = "(logarithmic axis)"

HEIGHT = 280
ROW = 30
"""The height of a bar with a label."""


def _thin(length: int) -> NDArray[np.int64]:
    """Return up to `POINTS` indices below `length`, closer together at the start."""
    if length <= POINTS:
        return np.arange(length)
    return np.unique(np.geomspace(1, length, POINTS).astype(np.int64)) - 1


def _axis(title: str) -> alt.Axis:
    """Return an axis of fixed width, so that nothing moves when a curve changes."""
    return alt.Axis(title=title, minExtent=40, maxExtent=40, tickCount=5)


def _drawn(chart: alt.LayerChart | alt.FacetChart) -> Chart:
    """Return a chart as Vega-Lite without title and data. It is cached: do not modify it."""
    titled = chart.properties(height=HEIGHT, title=alt.TitleParams("", anchor="start", fontSize=15))
    drawing: Chart = titled.to_dict()
    drawing.pop("config", None)  # the size from Altair's default theme
    return drawing


def _with_data(drawing: Chart, finding: str, **data: pa.Table) -> Chart:
    """Return a chart with a finding as its title, and data."""
    title = drawing["title"] | {"text": finding}
    return deepcopy(drawing) | {"title": title, "datasets": data}


def in_theme(chart: Chart, *, is_dark: bool) -> Chart:
    """Return a chart whose words have the color of text. Streamlit sets only that of axes."""
    return chart | {"config": {"text": {"color": (DARK if is_dark else LIGHT).text}}}


def _scales(chart: Chart, channel: str) -> Iterator[dict[str, Any]]:
    """Yield the scale of a channel in each layer that has it."""
    encodings = (layer["encoding"] for layer in chart["layer"])
    return (encoding[channel]["scale"] for encoding in encodings if channel in encoding)


@lru_cache(maxsize=64)
def _curve(unit: str, steps: Scale, name: str, values: Scale, form: str) -> Chart:
    """Return a curve over steps."""
    named = f" {LOGARITHMIC}" * (steps == "log")
    whole = alt.Axis(tickMinStep=1)
    x = alt.X("step:Q", title=unit + named, axis=whole).scale(type=steps)
    y = alt.Y("value:Q", axis=_axis(name + named)).scale(type=values, nice=False)
    tooltip = [alt.Tooltip("step:Q", format=",", title=unit)]
    tooltip.append(alt.Tooltip("value:Q", format=form, title=name))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2)
    points = base.mark_point(opacity=0, size=80).encode(tooltip=tooltip)
    return _drawn(alt.layer(line, points))


def decided(training: Training, last: int) -> Chart:
    """Return the curve of the score or count that decided each of the first `last` steps."""
    texts, values = texts_of(training), training.curve[:last]
    name, places = texts.curve, _thin(last)
    low, high = float(values.min()), float(values.max())
    form = "," if (values == values.round()).all() else ".4~g"
    steps: Scale = "log" if last > LINEAR else "linear"
    values_as: Scale = steps if low > 0 or steps == "linear" else "symlog"  # zero has no logarithm
    bottom = min(1.0 if steps == "log" else 0.0, low)
    ends = {"x": (1, max(2, last)), "y": (bottom, max(high, 2 * bottom if low > 0 else low + 1))}
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
    curve = _curve(texts.unit, steps, name, values_as, form)
    chart = _with_data(curve, finding, points=points)
    for channel in ends:
        for scale in _scales(chart, channel):
            scale["domain"] = [*ends[channel]]
    return chart


@lru_cache(maxsize=1)
def _bars_that_end() -> Chart:
    """Return bars from the start to a round. A dashed line is at the current one."""
    axis = alt.Axis(title="round, and the size after it", labelOverlap=True, grid=False)
    x = alt.X("round:Q", axis=axis).scale(nice=False)
    y = alt.Y(
        "piece:N", sort=None, title=None, axis=alt.Axis(labelFont="monospace", labelFontSize=14)
    )
    base = alt.Chart(alt.NamedData("points")).encode(y=y)
    shade = alt.Opacity("opacity:Q", scale=None)
    bars = base.mark_bar(height=10, cornerRadius=5).encode(x=x, opacity=shade)
    words = base.mark_text(align="left", dx=6, fontSize=13).encode(x=x, text="words:N")
    rule = alt.Chart(alt.NamedData("current")).mark_rule(strokeWidth=2, strokeDash=[5, 3])
    return _drawn(alt.layer(rule.encode(x=x, color=alt.value("gray")), bars, words))


def survival(of: Survival) -> Chart:
    """Return which pieces live through which round of pruning, and what dropping them costs."""
    rounds, free = len(of.sizes) - 1, sum(not cost for cost in of.costs)
    finding = f"{free:,} of {len(of.costs):,} pieces cost nothing to drop"
    rows = []
    for name, number, cost, uses in of.pieces:
        lives = number > of.now
        why = "kept: " if lives else "" if uses else "never used: "
        rows.append((name, number, f"{why}costs {cost:.3g}", 1.0 if lives else 0.4))
    points = pa.table([*zip(*rows, strict=True)], ("piece", "round", "words", "opacity"))
    current = pa.table({"round": [of.now]})
    chart = _with_data(_bars_that_end(), finding, points=points, current=current)
    # Each row has its height, so that only the width is fitted.
    chart |= {"height": ROW * len(rows), "autosize": {"type": "fit-x", "contains": "padding"}}
    name = f"[datum.value ? 'round ' + datum.value : 'start', format({of.sizes}[datum.value], ',')]"
    for layer in chart["layer"]:
        x = layer["encoding"]["x"]
        x["axis"] |= {"values": [*range(rounds + 1)], "labelExpr": name}
        x["scale"]["domain"] = [0, 1.4 * rounds]  # with room for the words
    return chart
