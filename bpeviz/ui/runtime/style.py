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

# The first response contains the style (`bpeviz.ui.server.first_style`), before Streamlit's own
# style, so some declarations must be important.
STYLE = f"""<style>
{_MAIN} {{
  width: 100% !important;
  max-width: none !important;
  padding: 0.4rem 2rem 4rem !important;
}}
/* Streamlit's header covers the menu, but has only the sign of a running script at its end. */
{_element("Header")} {{ background: none !important; pointer-events: none; }}
{_element("Header")} * {{ pointer-events: auto; }}

.stApp :has(> .st-key-top) {{ flex: none; height: 2.5rem; }}
.stApp .st-key-top {{
  height: 100%;
  padding-right: 2.5rem;
  align-items: center;
  flex-wrap: nowrap;
}}
.st-key-top b {{ padding-right: 0.75rem; }}
.stApp :has(> .st-key-menu) {{ height: 2rem; min-width: 0; }}
.stApp .st-key-menu {{ align-items: center; }}
.st-key-menu a {{ height: 2rem; }}
.st-key-menu a[aria-current] {{
  box-shadow: inset 0 -2px light-dark(#1a5fd0, #6cb0ff);
  border-radius: 0;
}}
.st-key-menu a:focus-visible {{ outline: 2px solid; outline-offset: -2px; }}

.stApp .st-key-frame {{ display: none; }}
.stApp .st-key-body {{
  display: grid;
  grid-template-columns: 18.75rem minmax(0, 1fr);
  gap: 0 1.75rem;
  margin-top: -0.75rem;
}}
.stApp .st-key-body > :has(> .st-key-inputs) {{
  grid-area: 1 / 1;
  position: sticky;
  top: 0;
  align-self: start;
  max-height: 100vh;
  overflow: hidden auto;
  scrollbar-width: thin;
  padding: 0.25rem 0.25rem 1rem;
}}
.stApp .st-key-body > :has(> .st-key-content) {{ grid-area: 1 / 2; min-width: 0; }}
/* The widgets stay, and so do their values. */
.stApp :has(> :is(.st-key-settings_unused, .st-key-training_text_unused)) {{ display: none; }}
.stApp .st-key-content {{ gap: 0.75rem; }}
.stApp .st-key-whole {{ max-width: 64rem; margin: -0.75rem auto 0; }}
.stApp:has(.st-key-whole) .st-key-frame {{ display: none !important; }}
.stApp .st-key-chapter h2 {{ padding: 0.2rem 0 0.4rem; font-size: 1.6rem; }}
.stApp .st-key-chapter h3 {{ padding: 0.25rem 0; font-size: 1.3rem; }}
.st-key-content:focus {{ outline: none; }}
.stApp .st-key-question {{ min-height: 1.75rem; }}
.stApp .st-key-question :is({_element("MarkdownContainer")}) {{ margin-bottom: 0; }}
.stApp .st-key-question h1 {{
  padding: 0;
  font-size: 1.15rem;
  font-weight: 600;
  line-height: 1.75rem;
}}

/* Sizes of components and widgets, which they have only once their scripts run. */
.stApp .st-key-text_component {{ min-height: 13.7rem; }}
.stApp .st-key-inputs :is({_element("Skeleton")}) {{ height: 4.25rem; }}
.stApp .st-key-inspect_box {{ min-height: 8.1rem; }}
.stApp :is(.st-key-inspected, .st-key-special_tokens) :is({_element("Skeleton")}) {{
  height: 3.75rem;
}}
.stApp .st-key-inspected_by {{ min-width: min(100%, 18rem); }}
.stApp .st-key-open_tokenizer {{ min-width: 11rem; }}
.stApp .st-key-open_tokenizer :is({_element("Skeleton")}) {{ height: 2.5rem; }}
.stApp .st-key-decimal {{ height: 1.5rem; min-width: 8.7rem; }}
.stApp .st-key-closer {{ min-height: 2rem; }}
.stApp .st-key-closer :is({_element("Skeleton")}) {{ height: 2rem; }}
.stApp .st-key-verdict {{ min-height: 1.75rem; }}
.stApp .st-key-compared {{
  min-height: 2.5rem;
  width: auto !important;
  flex: 1 1 26rem !important;
}}
.stApp .st-key-baseline {{
  min-height: 2.5rem;
  width: auto !important;
  flex: 0 0 12rem !important;
}}
.stApp .st-key-baseline :is({_element("Selectbox")}) {{
  display: flex;
  align-items: center;
  gap: 0.5rem;
}}
.stApp .st-key-baseline :is({_element("Selectbox")}) > * {{ flex: 1; min-width: 0; width: auto; }}
.stApp .st-key-baseline :is({_element("Selectbox")}) > label {{
  flex: none;
  min-height: 0;
  margin: 0;
}}
.stApp .st-key-measured_on {{ min-height: 3.75rem; min-width: 13.9rem; }}
.stApp .st-key-token_ids {{ min-width: 6rem; }}
.stApp .st-key-algorithms {{ min-height: 6.3rem; }}
.stApp .st-key-grid {{ min-height: 23.7rem; }}
.stApp .st-key-columns {{ min-height: calc(clamp(10rem, 100dvh - 20.6rem, 24rem) + 8.9rem); }}
.stApp .st-key-lock_step {{ min-height: 32.1rem; }}
.stApp .st-key-side-by-side {{ min-height: 33.2rem; }}
.stApp .st-key-levels {{ min-height: 30.2rem; }}
.stApp .st-key-chapter_bar {{ min-height: 2.6rem; }}
/* The bar arrives last, between these two. */
.stApp :has(> .st-key-question) + :has(> .st-key-chapter) {{ margin-top: 3.35rem; }}
.stApp .st-key-splits {{ min-height: 6rem; }}
.stApp .st-key-following {{ min-height: 58.4rem; }}
.stApp :is(.st-key-player, .st-key-inspect_player) {{
  min-height: calc(clamp(8rem, 100dvh - 21rem, 22rem) + 12.2rem);
}}

@media (max-width: 899px) {{
  {_MAIN} {{ padding: 0.4rem 1rem 4rem !important; }}
  .stApp .st-key-top {{ align-items: start; }}
  .st-key-top > :has(> {_element("Html")}) {{ display: none; }}
  .stApp .st-key-frame {{ display: flex; height: 2.6rem; margin: -0.75rem 0; }}
  .stApp .st-key-body {{ display: flex; margin: 0; }}
  .stApp .st-key-body > :has(> .st-key-inputs) {{
    position: static;
    max-height: none;
    padding: 0 0 0.75rem;
  }}
  html:not([data-inputs-open]) .st-key-body > :has(> .st-key-inputs) {{ display: none; }}
  .stApp .st-key-grid {{ min-height: 34.4rem; }}
}}
.stApp .st-key-ask_number_0 {{ min-height: 10.5rem; }}
.stApp :is(.st-key-ask_boundaries_0, .st-key-ask_order_0) {{ min-height: 17rem; }}
.stApp :is(.st-key-ask_pair_0, .st-key-ask_curve_0) {{ min-height: 20rem; }}
@media (max-width: 640px) {{
  .stApp .st-key-chapter_bar {{ min-height: 5.2rem; }}
  .stApp :has(> .st-key-question) + :has(> .st-key-chapter) {{ margin-top: 5.95rem; }}
  .stApp .st-key-compared {{ min-height: 4.6rem; }}
  .stApp .st-key-ask_number_0 {{ min-height: 13rem; }}
  .stApp :is(.st-key-ask_boundaries_0, .st-key-ask_curve_0) {{ min-height: 24rem; }}
  .stApp :is(.st-key-ask_pair_0, .st-key-ask_order_0) {{ min-height: 30rem; }}
  /* The menu has two rows; the buttons of the link are at the end of the second one. */
  .stApp :has(> .st-key-top) {{ height: 4.5rem; }}
  .stApp .st-key-top {{
    padding-right: 1rem;
    flex-wrap: wrap;
    align-content: start;
    row-gap: 0.5rem;
  }}
  .stApp .st-key-top > :has(> .st-key-menu), .stApp .st-key-menu {{ display: contents; }}
  .stApp .st-key-top > :last-child {{ margin-left: auto; }}
  .stApp :is(.st-key-player, .st-key-inspect_player) {{ min-height: 33rem; }}
  .stApp .st-key-following {{ min-height: 105rem; }}
}}
/* An answered question, which a button to try again follows, is drawn already. */
.stApp :has(+ [class*=st-key-again_]) > [class*=st-key-ask_] {{ min-height: 0; }}
/* Tables (`bpeviz.ui.html_table`). */
.facts-frame {{ overflow: auto; }}
.facts-frame.scrolls {{ max-height: 20rem; }}
.facts {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.95rem; }}
.facts :is(th, td) {{
  padding: 0.25rem 0.8rem;
  border-bottom: 1px solid #8884;
  text-align: start;
  vertical-align: top;
  white-space: pre-wrap;
  overflow-wrap: break-word;
  min-width: 4rem;
  max-width: 26rem;
}}
.facts th {{
  position: sticky;
  top: 0;
  font-weight: 600;
  background: light-dark(#fff, #171614);
}}
.facts .right {{ text-align: end; }}
.unbroken {{ white-space: nowrap; }}
@media (max-width: 640px) {{
  .facts {{ font-size: 0.875rem; }}
  .facts :is(th, td) {{ padding-inline: 0.4rem; min-width: 3rem; }}
  .facts :is(th, td):last-child {{ min-width: 6rem; }}
  /* Narrower long texts would make rows high; the table scrolls sideways. */
  .facts td.long {{ min-width: 11rem; }}
}}
/* Streamlit's colors of captions, and of text on the primary color, have too little contrast. */
.stApp :is({_element("CaptionContainer")}) {{
  color: light-dark(#5c5e67, #b4b6bd);
  opacity: 1;
}}
{_element("CaptionContainer")} code {{ color: inherit; font-size: 0.95em; }}
.stApp :is({_element("MultiSelect")}) span[title],
.stApp .stButton [kind=primary] p {{ color: light-dark(#fff, #0e1117); }}
.stApp .st-key-content .st-key-verdict p {{
  font-size: 1.3rem; font-weight: 600; line-height: 1.35;
}}
@media (min-width: 1200px) {{
  .stApp .st-key-content .st-key-verdict p {{ font-size: 1.5rem; }}
}}
/* A new run replaces most elements within a second or two; until then they keep their color. The
   sign in Streamlit's header tells that the page computes. */
.stApp :is({_element("ElementContainer")})[data-stale=true] {{
  opacity: 0.6 !important;
  transition: opacity 1s ease-in 3s !important;
}}
.lattice {{ overflow-x: auto; padding-bottom: 0.25rem; }}
.lattice > div {{ display: grid; gap: 3px 0; width: max-content; text-align: center; }}
.lattice > div > div {{
  min-width: 0;
  padding: 0 0.2rem;
  border-inline: 1px solid light-dark(#8a8d96, #8a8d96);
  white-space: pre;
  overflow: hidden;
  text-overflow: ellipsis;
}}
.lattice .node {{ font-size: 1.1rem; }}
.lattice .edge {{ background: light-dark(#f0f1f4, #262931); }}
.lattice .best {{
  font-weight: 700;
  background: none;
  box-shadow: inset 0 0 0 2px light-dark(#1a5fd0, #6cb0ff);
}}
.lattice small {{ display: block; font-weight: inherit; font-variant-numeric: tabular-nums; }}
/* Streamlit shows only in a tooltip why it refuses a file. */
{_element("FileChip")}[aria-invalid] {{ flex-wrap: wrap; height: auto !important; }}
{_element("FileChip")} [role=alert] {{
  position: static !important;
  flex-basis: 100%;
  width: auto !important;
  height: auto !important;
  margin: 0 !important;
  overflow: visible !important;
  clip: auto !important;
  clip-path: none !important;
  white-space: normal !important;
  font-size: 0.875rem;
}}
/* Without a keyboard, there is no Ctrl+Enter; leaving a field applies it. */
@media (pointer: coarse) {{
  [data-testid=InputInstructions] {{ display: none; }}
}}
@media print {{
  @page {{ margin: 12mm; }}
  {_CONTROLS}, .st-key-top, .st-key-frame, .st-key-inputs {{ display: none !important; }}
  .st-key-body {{ display: block !important; }}
  {_MAIN} {{ padding: 0 !important; }}
  /* The dark theme prints in light colors. */
  .stApp {{ background: #fff !important; }}
  .stApp :is(p, h1, h2, h3, li, label) {{ color: #31333f !important; }}
  :is(h2, h3) {{ break-after: avoid; }}
  .facts-frame {{ max-height: none !important; overflow: visible; }}
  .facts {{ color: #31333f; }}
  .facts th {{ background: none; }}
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
