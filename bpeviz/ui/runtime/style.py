"""The style of the pages, which selects elements of Streamlit by their test ids.

Streamlit has no public selectors besides `st-key-…`, and its test ids may change in any version.
So only this module uses them, and a test searches for them in Streamlit's scripts.
"""

from __future__ import annotations


def _element(*names: str) -> str:
    """Return the selector of Streamlit elements by the ends of their test ids."""
    return ", ".join(f"[data-testid=st{name}]" for name in names)


_MAIN = _element("MainBlockContainer")
_CONTROLS = _element(
    "Sidebar",
    "Header",
    "ElementToolbar",
    "PageLink",
    "Button",
    "ButtonGroup",
    "Slider",
    "TextArea",
    "TextInput",
    "NumberInput",
    "Popover",
)

# Streamlit's padding above a page is six rem; with less, the player is visible without scrolling.
# On a narrow screen the button that opens the sidebar needs some padding.
STYLE = f"""<style>
{_MAIN} {{ padding-top: 2.6rem; padding-bottom: 4rem; }}
{_element("SidebarHeader")} {{ height: 2.6rem; min-height: 0; margin-bottom: 0; }}
@media (max-width: 767px) {{ {_MAIN} {{ padding-top: 4rem; }} }}
{_element("PageLink")} a:focus-visible {{ outline: 2px solid currentColor; outline-offset: -2px; }}
{_element("CaptionContainer")} code {{ color: inherit; font-size: 0.95em; }}
.st-key-verdict p {{ font-size: 1.3rem; font-weight: 600; line-height: 1.35; }}
@media print {{
  @page {{ margin: 12mm; }}
  {_CONTROLS}, .st-key-copy_link {{ display: none !important; }}
  {_MAIN} {{ padding: 0 !important; }}
  /* The dark theme prints in light colors. */
  .stApp {{ background: #fff !important; }}
  .stApp :is(p, h1, h2, h3, li, label) {{ color: #31333f !important; }}
  h3 {{ break-after: avoid; }}
}}
</style>"""

# In the dark theme, tables and charts are images with a dark background.
DARK = f"""<style>
@media print {{
  :is({_element("DataFrame", "VegaLiteChart")}) {{
    filter: invert(1) hue-rotate(180deg) brightness(1.12);
  }}
}}
</style>"""
