"""The palette is that of Streamlit's theme, and readable."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bpeviz.palette import DARK, HUES, LIGHT, SERIES, Theme
from bpeviz.text import COLORS

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
    assert len({*theme.fills}) == len(HUES) == COLORS
    assert min(contrast(theme.text, fill) for fill in theme.fills) > 7
    assert contrast(theme.quiet, theme.background) > 4.5
    assert contrast(theme.accent, theme.background) > 4.5


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    red, green, blue = (
        ((c / 255 + 0.055) / 1.055) ** 2.4 if c > 10 else c / 255 / 12.92
        for c in bytes.fromhex(color[1:])
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
