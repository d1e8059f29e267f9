"""The mark of bpeviz: two tokens, and the one that they are merged into."""

from pathlib import Path
from urllib.parse import quote

MARK = Path(__file__).with_name("mark.svg").read_text(encoding="utf-8")
"""The drawing as SVG. (A named icon would be fetched from outside.)"""

IMAGE = f'<img alt="" src="data:image/svg+xml,{quote(MARK)}">'
"""The drawing as an HTML element. (`st.html` removes SVG.)"""
