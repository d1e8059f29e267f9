"""Links of earlier versions: pages had two texts of other names, and Learn other chapters.

Compare and Inspect had a second text to look at, beside the text that a tokenizer is trained on.
Now the text of every page is the one to look at, and another one to train on is named `TRAIN_ON`.
"""

from __future__ import annotations

from collections.abc import Mapping

from bpeviz.ui.inputs.text import OWN_TEXT, TEXT, TRAIN_ON
from bpeviz.ui.permalink.codec import Value

_FIRST_TEST_TEXT = "numbers-and-tables"
_FIRST_INSPECTED = "The naïve 世界 isn’t 3.14159 👍🏽"
"""The second texts of links that contain none."""


TOUR = "tour."
"""Begins the name of a guided tour in `MOVED`."""

MOVED = {
    "text-is-numbers": "units",
    "splitting-rules": "tour.splitting",
    "why-subwords": "units",
    "first-merge": "merge",
    "training-loop": "merge",
    "how-large": "stop",
    "pre-tokenization": "fences",
    "encoding": "encode",
    "two-ways": "encode",
    "word-ends": "tour.word-ends",
    "published": "real",
    "sentencepiece": "tour.sentencepiece",
    "other-trainers": "tour.algorithms",
    # the questions with successors, by their indices
    "text-is-numbers/2": "units/0",
    "why-subwords/1": "units/0",
    "why-subwords/2": "units/0",
    "first-merge/0": "merge/0",
    "first-merge/2": "merge/6",
    "training-loop/2": "merge/6",
    "how-large/0": "stop/0",
    "how-large/1": "stop/1",
    "how-large/2": "stop/1",
    "pre-tokenization/2": "fences/1",
    "encoding/1": "encode/0",
    "encoding/2": "encode/4",
    "two-ways/2": "encode/4",
    "published/1": "real/1",
    "published/2": "real/2",
    "published/3": "real/2",
}
"""The chapter, question or tour that has the subject now, by the key that it had."""


def translate(linked: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of a link under their current names."""
    values = dict(linked)
    chapter = values.get("chapter")
    if isinstance(chapter, str) and chapter in MOVED:
        text = values.get(f"learn_{chapter}_text")
        values = {name: value for name, value in values.items() if not name.startswith("learn_")}
        moved = MOVED[chapter]
        values |= {"chapter": "end" if moved.startswith(TOUR) else moved}  # which lists the tours
        values |= {} if text is None else {"learn_text": text}
    sample, box = TEXT.sample.link, TEXT.box.link
    shown: dict[str, Value] | None = None
    if values.pop("measured_on", None) == "held out":
        shown = {sample: values.get("held_out_sample", _FIRST_TEST_TEXT)}
        shown |= {box: values["held_out_box"]} if "held_out_box" in values else {}
    elif values.pop("inspected", None) == "own":
        shown = {sample: OWN_TEXT, box: values.get("inspect_box", _FIRST_INSPECTED)}
    elif values.get("how_many_texts") == "many" and TRAIN_ON.sample.link not in values:
        shown = {}  # beside many texts, this one was trained on
    for name in ("held_out_sample", "held_out_box", "inspect_box"):
        values.pop(name, None)
    if shown is not None:
        names = {sample: TRAIN_ON.sample.link, box: TRAIN_ON.box.link}
        values = {names.get(name, name): value for name, value in values.items()} | shown
    return values
