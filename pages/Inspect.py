"""Inspect: one text from characters to ids, and back."""

from bpeviz.ui.page import frame
from bpeviz.ui.pages import inspect

with frame(inspect.PAGE) as side:
    inspect.show(side)
