"""The registry of pages, in the order of the menu."""

from __future__ import annotations

from bpeviz.ui.learn import page as learn
from bpeviz.ui.pages import algorithms, compare, inspect, pretokenize, train

PAGES = (
    train.PAGE,
    compare.PAGE,
    inspect.PAGE,
    algorithms.PAGE,
    pretokenize.PAGE,
    learn.PAGE,
)
