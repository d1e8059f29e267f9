"""The colors of all that is drawn, on light and on dark backgrounds.

Styles, HTML files, drawings, charts and terminals derive theirs from these. Streamlit reads its own
from `.streamlit/config.toml`, which a test compares with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

LOOKS = [
    (lightness, chroma, hue, share)
    for lightness, chroma, share in ((0.635, 0.18, 0.304), (0.642, 0.112, 0.49))
    for hue in (7, 92, 139, 187, 256, 319)
]
"""The backgrounds of tokens by color index: six hues in two strengths, a color in OKLCH and its
share. They are as far apart as possible for people with a color vision deficiency."""

COLORS = len(LOOKS)
"""The number of color indices."""

HUES = len({hue for _, _, hue, _ in LOOKS})
"""The number of hues. A color index modulo this one is its hue."""

_QUIET = 0.68
"""The share of the ink in quiet words."""

_LINE = 0.57
"""The same in boundaries: a contrast of 3, and at most 0.45 of the ink of the letters."""


@dataclass(frozen=True)
class Theme:
    """The colors of a background and of all on it.

    Attributes:
        background: The background.
        text: Text.
        soft: The background of fields.
        border: The lines around fields.
        accent: Links, marks, and the chosen of several things.
    """

    background: str
    text: str
    soft: str
    border: str
    accent: str

    @property
    def quiet(self) -> str:
        """The color of notes."""
        return _mixed(_oklab(self.text), self.background, _QUIET)

    @property
    def fills(self) -> Sequence[str]:
        """The backgrounds of tokens by color index."""
        lightness, chroma, hue, shares = np.array(LOOKS).T
        turn = np.exp(1j * np.radians(hue))
        colors = np.stack([lightness, chroma * turn.real, chroma * turn.imag], axis=1)
        mixtures = zip(colors, shares, strict=True)
        return [_mixed(color, self.background, share) for color, share in mixtures]


LIGHT = Theme("#ffffff", "#2f2d2b", "#f8f8f7", "#dcd8d4", "#1a5fd0")
DARK = Theme("#171614", "#edebe8", "#2d2b27", "#4a4742", "#6cb0ff")

SERIES = ("#d9661f", "#1f9d66", "#9a66ea", "#c9a21a", "#d6478f", "#1ba3b8", "#8a7a6d")
"""The colors of further tokenizers in charts, beside the accent, on both backgrounds."""

_MARKS = {"correct": "#2f9e6e", "close": "#c98a1b", "wrong": "#c94f4f"}
"""The colors of answers, on both backgrounds."""


def style(selector: str, *, in_host: bool = False) -> str:
    """Return the colors as custom properties, by the color scheme of the element. Paper is light.

    Args:
        selector: The element that gets the properties.
        in_host: Whether the element takes the colors of Streamlit's theme where it has them.
    """
    dark, printed = asdict(DARK), "".join(f"--{k}:{v}!important;" for k, v in asdict(LIGHT).items())
    names = {"accent": "primary", "soft": "secondary-background"}
    properties = _MARKS.copy()
    for name, light in asdict(LIGHT).items():
        color = f"light-dark({light},{dark[name]})"
        given = f"--st-{names.get(name, name)}-color"
        properties[name] = f"var({given},{color})" if in_host else color
    mixed = "".join(
        f"--{name}:color-mix(in oklab,var(--text) {share:.0%},var(--background));"
        for name, share in (("line", _LINE), ("quiet", _QUIET), ("faint", 0.14))
    )
    own = "".join(f"--{name}:{value};" for name, value in properties.items())
    return f"{selector}{{{own}{mixed}}}@media print{{{selector}{{{printed}}}}}\n"


def hue_classes() -> str:
    """Return the classes of color indices, which mix a hue into the background.

    In OKLab: between two colors of OKLCH the hue, too, would be mixed with that of the background.
    """
    return "".join(
        f".color{i}{{--fill:color-mix(in oklab,oklch({lightness} {chroma} {hue}) {share:.1%},"
        "var(--background))}\n"
        for i, (lightness, chroma, hue, share) in enumerate(LOOKS)
    )


def row_classes() -> str:
    """Return the classes of rows that have a color each: the second one has the accent."""
    colors = SERIES[0], "var(--accent)", *SERIES[1:]
    return "".join(f".row{i}{{--row:{color}}}\n" for i, color in enumerate(colors))


# OKLab as in https://bottosson.github.io/posts/oklab/
_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _oklab(color: str) -> NDArray[np.float64]:
    rgb = np.array([*bytes.fromhex(color[1:])]) / 255
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    return np.asarray(_LAB @ np.cbrt(_LMS @ linear))


def _mixed(color: NDArray[np.float64], background: str, share: float) -> str:
    """Return a mixture with the background as `color-mix(in oklab, …)` does."""
    mixed = share * color + (1 - share) * _oklab(background)
    linear = np.clip(np.linalg.solve(_LMS, np.linalg.solve(_LAB, mixed) ** 3), 0, 1)
    rgb = np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)
    return "#" + bytes((255 * rgb).round().astype(int).tolist()).hex()
