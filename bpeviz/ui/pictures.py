"""Pictures to save: the colored text, the slide or the poster of a step, a GIF of many steps."""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Callable, Sequence

import streamlit as st

from bpeviz.text import digest_of
from bpeviz.ui import components
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.dialogs import dialog
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.views import gif
from bpeviz.views.control_payloads import DrawnFrames, EncodedGif, Frames, PictureToSave
from bpeviz.views.payloads import Diagram, Picture
from bpeviz.views.slides import POSTER, TEXT, Slides, of_diagram

SAVE, ICON = "Save this picture", ":material/image:"
"""The name of the poster's dialog and of the buttons that open it, and its icon."""

SECONDS = (0.25, 0.5, 1.0, 2.0)


def small(
    key: str, file: str, data: PictureToSave | None = None, *, text: Picture | None = None
) -> None:
    """Draw a file in small.

    Args:
        key: The page, for the key of the component.
        file: "plays" or "page", which show the slide that is drawn beside them, "slide" or "table".
        data: The payload of a slide.
        text: A colored text, which buttons below save.
    """
    data = data or {"name": "tokens", "text": text, "slide": None}
    components.picture({**data, "file": file}, f"small_{file}_{key}")


def slide(
    key: str, slides: Slides, step: int, link: str, content: str = TEXT, *, dark: bool | None = None
) -> PictureToSave:
    """Return the payload of a slide, in the theme of the page unless `dark` is given."""
    return {
        "name": f"bpeviz-{key}-{content.lower().replace(' ', '-')}-{slides.step_numbers[step]}",
        "text": None,
        "slide": slides.payload(content, link),
        "step": step,
        "isDark": st.context.theme.type == "dark" if dark is None else dark,
        "isFilled": True,
        "animation": None,
    }


@dialog(SAVE, icon=ICON)
def poster(key: str, slides: Slides, step: int | None, link: str = "") -> None:
    """Draw the poster of a step (the last one for None), and the buttons that save it."""
    dark = st.toggle("Dark", st.context.theme.type == "dark", key=f"dark poster of {key}")
    data = slide(key, slides, slides.place(step), link, POSTER, dark=dark)
    components.picture({**data, "name": "bpeviz-picture"}, f"poster_of_{key}")


def merge_diagram(payload: Diagram, key: str) -> None:
    """Draw a merge diagram, whose button opens its poster."""
    step = components.merge_diagram(payload, key).picture
    if step is not None:
        poster(key, of_diagram(payload), step)


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
    step = slides.place(step)
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
    steps: Sequence[int] = ()
    seconds = 1.0
    if slides.last:
        step = _step(key, slides, step)
    if slides.last and content != POSTER:
        steps, seconds = _animation(key, slides)
    if len(steps) > gif.MOST_FRAMES:
        st.caption(f"The GIF shows {gif.MOST_FRAMES} of these {len(steps):,} steps.")
    data = slide(key, slides, step, link, content, dark=dark)
    data["isFilled"] = filled
    name = f"slide_{key}"
    if steps and data["slide"]:
        frames = gif.evenly(steps, min(len(steps), gif.MOST_FRAMES))
        digest = digest_of(data["slide"]["key"], [dark, seconds, *frames])
        data["animation"] = Frames(key=digest, steps=frames, width=gif.WIDTH, height=gif.HEIGHT)
        drawn: DrawnFrames | None = (st.session_state.get(name) or {}).get("drawn")
        if drawn and drawn["key"] == digest:
            data["gif"] = _encoded(drawn, len(steps), seconds)
    components.picture(data, name)


def _step(key: str, slides: Slides, step: int) -> int:
    """Draw the choice of the step of a slide, at first the present one; return it."""
    numbers = slides.step_numbers
    name = slides.step_name.capitalize()
    # Each present step has its own slider, which begins there.
    at = f"step of slide of {key} at {step}"
    number = st.slider(name, numbers[0], numbers[-1], numbers[step], key=at)
    return bisect_right(numbers, number) - 1


def _animation(key: str, slides: Slides) -> tuple[Sequence[int], float]:
    """Draw the choices of a GIF; return its steps, and the time of each."""
    numbers = slides.step_numbers
    low, high = numbers[0], numbers[-1]
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
    first, last = (bisect_right(numbers, given) - 1 for given in (first, last))
    return range(first, last + 1), seconds


def _encoded(drawn: DrawnFrames, steps: int, seconds: float) -> EncodedGif:
    """Return the GIF of the frames that the browser has drawn of so many steps."""
    with run_lock.released():
        file, count = gif.encoded(drawn["frames"], seconds)
    words = f"Saved, {len(file) / 1e6:.1f} MB."
    if count < steps:
        words += (
            f" It shows {count} of {steps:,} steps: a GIF has at most {gif.MOST_FRAMES} frames and "
            f"{gif.MOST_BYTES / 1e6:.0f} MB."
        )
    data = base64.b64encode(file).decode()
    return {"request": drawn["number"], "data": data, "words": words}
