"""Pictures for slides in the export dialog: the slide of a step, and a GIF of a range of steps."""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import streamlit as st

from bpeviz.palette import DARK, LIGHT
from bpeviz.text import digest_of
from bpeviz.ui import components
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.views import gif
from bpeviz.views.slide_drawing import Look, frames, svg
from bpeviz.views.slides import TEXT, Slides

SECONDS = (0.25, 0.5, 1.0, 2.0)
_ANSWER, _ANSWER_TIME = 1_000_000, 0.4
"""The characters of drawings, and the seconds, after which an answer to the browser ends."""


@fragment
def slides_section(key: str, prepare: Callable[[], Slides], step: int | None, link: str) -> None:
    """Draw the choices of a slide, the slide, and the buttons that save it.

    Args:
        key: The page, for the keys of widgets.
        prepare: Returns the contents to draw.
        step: The present step, or None for the last one.
        link: The address that opens the page again, or "".
    """
    slides = prepare()
    step = slides.last if step is None else min(step, slides.last)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        content = st.segmented_control(
            "Content", slides.contents, default=TEXT, required=True, key=f"slide of {key}"
        )
        dark = st.toggle("Dark", st.context.theme.type == "dark", key=f"dark slide of {key}")
        filled = st.toggle(
            "Background",
            True,
            key=f"background of slide of {key}",
            help="Without it, the slide is transparent. A GIF always has a background.",
        )
    look = Look(content, dark, filled, link)
    steps: Sequence[int] = ()
    seconds = 1.0
    if slides.last:
        step, steps, seconds = _steps(key, slides, step)
    if len(steps) > gif.MOST_FRAMES:
        st.caption(f"The GIF shows {gif.MOST_FRAMES} of these {len(steps):,} steps.")
    animation = _Animation(slides, replace(look, is_filled=True, link=""), steps, seconds)
    data = {
        "svg": svg(slides, step, look),
        "name": f"bpeviz-{key}-{content.lower().replace(' ', '-')}-{slides.step_numbers[step]}",
        "alternative": f"{slides.heading(step)}. {slides.numbers(step)}",
        "background": (DARK if dark else LIGHT).background,
        "animation": animation.payload if steps else None,
    }
    name = f"slide_{key}"
    components.slide(data | animation.answers(st.session_state.get(name) or {}), name)


def _steps(key: str, slides: Slides, step: int) -> tuple[int, Sequence[int], float]:
    """Draw the choices of steps; return that of the slide, those of the GIF, and their time."""
    numbers = slides.step_numbers
    low, high = numbers[0], numbers[-1]
    name = slides.step_name.capitalize()
    # Each present step has its own slider, which begins there.
    number = st.slider(name, low, high, numbers[step], key=f"step of slide of {key} at {step}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first, last = st.slider(
            f"GIF: first and last {slides.step_name}",
            low,
            high,
            (low, high),
            key=f"animation of {key}",
        )
        seconds = st.selectbox(
            "Seconds per frame",
            SECONDS,
            SECONDS.index(1.0),
            width=150,
            key=f"animation time of {key}",
        )
    at, first, last = (bisect_right(numbers, value) - 1 for value in (number, first, last))
    return at, range(first, last + 1), seconds


@dataclass(frozen=True)
class _Animation:
    """A GIF of a range of steps."""

    slides: Slides
    look: Look
    range: Sequence[int]
    seconds: float

    @property
    def steps(self) -> Sequence[int]:
        """The steps that it shows: all of them, or as many as it has frames."""
        return gif.evenly(self.range, min(len(self.range), gif.MOST_FRAMES))

    @property
    def payload(self) -> dict[str, Any]:
        """The size of the GIF for the browser."""
        return {
            "key": digest_of(self.look.content, [self.look.is_dark, self.seconds, *self.steps]),
            "count": len(self.steps),
            "width": gif.WIDTH,
            "height": gif.HEIGHT,
        }

    def answers(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answers to the browser: the next drawings, or the GIF of all."""
        request, drawn = asked.get("request"), asked.get("drawn")
        answers: dict[str, Any] = {"frames": None, "gif": None}
        key = self.payload["key"]
        if drawn and drawn["key"] == key:
            answers["gif"] = {"request": drawn["number"], **self._encoded(drawn["frames"])}
        elif request and request["key"] == key:
            first = request["first"]
            answers["frames"] = {
                "request": request["number"],
                "first": first,
                "svgs": self._drawings(first),
            }
        return answers

    def _drawings(self, first: int) -> list[str]:
        end = monotonic() + _ANSWER_TIME
        drawings: list[str] = []
        for drawing in frames(self.slides, self.steps[first:], self.look, self.steps):
            drawings.append(drawing)
            if monotonic() > end or sum(map(len, drawings)) > _ANSWER:
                break
        return drawings

    def _encoded(self, drawn: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        with run_lock.released():
            file, count = gif.encoded(drawn, self.seconds)
        words = f"Saved, {len(file) / 1e6:.1f} MB."
        if count < len(self.range):
            words += (
                f" It shows {count} of {len(self.range):,} steps: a GIF has at most "
                f"{gif.MOST_FRAMES} frames and {gif.MOST_BYTES / 1e6:.0f} MB."
            )
        return {"data": base64.b64encode(file).decode(), "words": words}
