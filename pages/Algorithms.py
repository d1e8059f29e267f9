"""Algorithms: several trainers on the same text, in lock-step."""

from bpeviz.ui.page import frame
from bpeviz.ui.pages import algorithms

with frame(algorithms.PAGE) as side:
    algorithms.show(side)
