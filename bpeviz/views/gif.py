"""GIF files of frames that a browser drew, encoded by Pillow."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from typing import TypeVar, cast

from PIL import Image

from bpeviz.views.control_payloads import DrawnPart

WIDTH, HEIGHT = 1280, 720
MOST_BYTES = 5_000_000
"""The largest file."""

MOST_FRAMES = 80
"""The most frames. Pillow holds all of them, with a byte per pixel."""

_COLORS = 255  # and one for pixels that stay
_REST = 2.0
"""The shortest time for which the last frame stays, in seconds."""


T = TypeVar("T")


def evenly(items: Sequence[T], count: int) -> list[T]:
    """Return `count` items at nearly equal distances, with the first and the last one.

    >>> evenly(range(10), 4), evenly(range(10), 1)
    ([0, 3, 6, 9], [9])
    """
    if count < 2:
        return [*items[len(items) - count :]]
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def encoded(drawn: Sequence[DrawnPart], seconds: float) -> tuple[bytes, int]:
    """Return an animation of at most `MOST_BYTES`, and how many of the frames it has.

    Args:
        drawn: The frames, each as the part that differs from the one before: "x", "y", and "png"
            in Base64. The first one is whole.
        seconds: How long each frame is shown.

    Raises:
        ValueError: The frames are not what the browser sends.
    """
    frames = _frames(drawn)
    count = len(frames)
    while True:
        kept = evenly(frames, count)
        times = [round(1_000 * seconds * len(frames) / count)] * (count - 1)
        file = BytesIO()
        kept[0].save(
            file,
            "GIF",
            save_all=True,
            append_images=kept[1:],
            duration=[*times, round(1_000 * max(_REST, 2 * seconds))],
            loop=0,
            optimize=True,
        )
        if file.tell() <= MOST_BYTES or count == 1:
            return file.getvalue(), count
        count = (count + 1) // 2


def _frames(drawn: Sequence[DrawnPart]) -> list[Image.Image]:
    """Return whole frames that share the most frequent colors of all."""
    if not 1 <= len(drawn) <= MOST_FRAMES:
        raise ValueError(f"A GIF has 1 to {MOST_FRAMES} frames, not {len(drawn)}.")
    parts = [_part(drawing) for drawing in drawn]
    counts: Counter[tuple[int, ...]] = Counter()
    for part, _ in parts:
        for count, color in part.getcolors(WIDTH * HEIGHT) or ():
            counts[cast(tuple[int, ...], color)] += count
    # Most pixels have one of a few colors, which remain exact: of similar ones, the most frequent.
    colors: dict[tuple[int, ...], tuple[int, ...]] = {}
    for color, _ in counts.most_common():
        colors.setdefault(tuple(channel >> 3 for channel in color), color)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for color in [*colors.values()][:_COLORS] for part in color])
    frame = Image.new("P", (WIDTH, HEIGHT))
    frame.putpalette(palette.getpalette() or [])
    frames = []
    for part, place in parts:
        paletted = part.quantize(palette=palette, dither=Image.Dither.NONE)
        frame = frame.copy()
        frame.paste(paletted, place)
        frames.append(frame)
    return frames


def _part(drawing: DrawnPart) -> tuple[Image.Image, tuple[int, int]]:
    with Image.open(BytesIO(base64.b64decode(drawing["png"])), formats=["PNG"]) as image:
        if image.width > WIDTH or image.height > HEIGHT:
            raise ValueError("A frame is too large.")
        return image.convert("RGB"), (int(drawing["x"]), int(drawing["y"]))
