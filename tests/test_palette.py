"""The palette is that of Streamlit's theme, and readable."""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bpeviz.palette import _LAB, _LINE, _LMS, COLORS, DARK, LIGHT, SERIES, Theme, _mixed, _oklab

THEMES = {"light": LIGHT, "dark": DARK}


@pytest.mark.parametrize("name", THEMES)
def test_streamlits_theme_has_the_colors_of_the_palette(name: str) -> None:
    theme = THEMES[name]
    config = Path(__file__).parents[1] / ".streamlit" / "config.toml"
    assert tomllib.loads(config.read_text("utf-8"))["theme"][name] == {
        "primaryColor": theme.accent,
        "backgroundColor": theme.background,
        "secondaryBackgroundColor": theme.soft,
        "textColor": theme.text,
        "borderColor": theme.border,
        "chartCategoricalColors": [theme.accent, *SERIES],
    }


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_text_contrasts_with_all_backgrounds_of_tokens(theme: Theme) -> None:
    assert len({*theme.fills}) == COLORS == 12
    assert min(contrast(theme.text, fill) for fill in theme.fills) > 4.5
    assert min(contrast(theme.quiet, fill) for fill in theme.fills) > 3
    assert contrast(theme.quiet, theme.background) > 4.5
    assert contrast(theme.accent, theme.background) > 4.5
    assert contrast(_mixed(_oklab(theme.text), theme.background, _LINE), theme.background) > 3


# Linear sRGB as people without red or without green cones see it: Machado, Oliveira and Fernandes,
# “A Physiologically-based Model for Simulation of Color Vision Deficiency”, 2009, severity 1.0.
VISIONS = {
    "usual": "1 0 0 0 1 0 0 0 1",
    "protanopia": "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 "
    "1.051998",
    "deuteranopia": "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 "
    "0.968881",
}


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_backgrounds_of_tokens_differ(theme: Theme, vision: str) -> None:
    matrix = np.array(VISIONS[vision].split(), float).reshape(3, 3)
    seen = [oklab(matrix @ linear(color)) for color in (*theme.fills, theme.background)]
    least = min(np.linalg.norm(left - right) for left, right in combinations(seen, 2))
    assert least > (0.04 if vision == "usual" else 0.02)


def linear(color: str) -> NDArray[np.float64]:
    """Return a color in linear sRGB."""
    rgb = np.array([*bytes.fromhex(color[1:])]) / 255
    return np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)


def oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a color of linear sRGB in OKLab (https://bottosson.github.io/posts/oklab)."""
    return np.asarray(_LAB @ np.cbrt(_LMS @ rgb.clip(0, 1)))


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    return float(linear(color) @ (0.2126, 0.7152, 0.0722))
