"""The style of the pages, which selects elements of Streamlit by their test ids.

Streamlit has no public selectors besides `st-key-…`, and its test ids may change in any version.
So only this module and `style.css` use them, and a test searches for them in Streamlit's scripts.
"""

from __future__ import annotations

from pathlib import Path

from bpeviz import components, palette
from bpeviz.ui import private

_SHARED = f"{palette.style(':root')}{palette.hue_classes()}{components.table_style()}"
STYLE = f"<style>\n{_SHARED}{Path(__file__).with_suffix('.css').read_text('utf-8')}</style>"


def fonts(app: str) -> str:
    """Return the style with Streamlit's fonts, whose files are below an address."""
    faces = "".join(
        f'@font-face {{ font-family: "{family}"; font-weight: 200 900; src: url("{app}/{path}"); }}'
        for family, path in private.FONTS.items()
    )
    sans, code = private.FONTS
    return f'{faces}:root {{ --st-font: "{sans}"; --st-code-font: "{code}"; }}'


# In the dark theme, charts are images with a dark background.
DARK = """<style>
@media print {
  [data-testid=stVegaLiteChart] {
    filter: invert(1) hue-rotate(180deg) brightness(1.12);
  }
}
</style>"""
