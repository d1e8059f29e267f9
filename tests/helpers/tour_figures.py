"""The figures in the words of guided tours, computed from the states of their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpeviz
from bpeviz.core.training import MergeTraining
from bpeviz.pretokenizers.patterns import WORD_LIST, pretokenize
from bpeviz.text import joined
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs.training import SIDE
from bpeviz.ui.learn.tours import Step, Tour
from bpeviz.ui.pages.pretokenize import PUBLISHED

LLAMA = {"longest": 16, "control": 3}
"""The longest run of spaces that is one token of Llama 2, and how many tokens are before its bytes;
a test reads its vocabulary."""


def figures(tour: Tour, step: Step) -> dict[str, Any]:
    """Return the figures of a step by the names that templates have for them."""
    if "splits" in step.values:
        return _pieces(step)
    if tour.needs:
        text = step.values["text_box"]
        return {name: _described(bpeviz.load(name).tokens(text)) for name in tour.needs}
    return _of_training(step)


def _pieces(step: Step) -> dict[str, Any]:
    """Return the number of pieces by each rule, and the number in the list."""
    text, rules = step.values["text_box"], step.values["splits"]
    unseen = step.values.get("unseen", "")
    lists = {key: step.values.get(published.widget.link) for key, published in PUBLISHED.items()}
    by = {
        rule: pretokenize(text, WORD_LIST if rule in lists else rule, lists.get(rule) or "")
        for rule in rules
    }
    listed = [piece for piece in by[rules[-1]] if not piece.isspace()]
    unknown = [word for word in unseen.split() if word not in listed]
    counts = {rule: len(pieces) for rule, pieces in by.items()}
    return counts | {"listed": len(listed), "unknown": len(unknown), "new": len(unseen.split())}


def _described(tokens: Sequence[Any]) -> dict[str, Any]:
    """Return the number of tokens, their labels in backquotes, and their ids."""
    labels = " ".join(f"`{token.label}`" for token in tokens)
    ids = [token.id for token in tokens]
    return {"n": len(tokens), "tokens": labels, "ids": " ".join(map(str, ids)), "id": ids}


def _training(step: Step) -> Any:
    """Return the training history of a step, of the last of several algorithms.

    What the state of a step does not name has the value that it has on the page at first.
    """
    values = step.values
    corpus = values.get("trained_on_box", values["text_box"])
    keys = [f"{SIDE}_{key}" for key in values.get("algorithms", [])] or [
        values.get("algorithm", "bpe")
    ]
    own = {name: value for name, value in values.items() if name.startswith(f"{keys[-1]}_")}
    options = {name[len(keys[-1]) + 1 :]: value for name, value in own.items()}
    options.pop("open", None)
    key = keys[-1].removeprefix(f"{SIDE}_")
    size = None if TRAINERS[key].prunes else values.get("largest", 1_024)
    return bpeviz.train(
        corpus, key, vocab_size=size, pattern=values.get("pattern", "gpt2"), **options
    )


def _of_training(step: Step) -> dict[str, Any]:
    """Return the tokens of the text, and figures of its training."""
    training, text = _training(step), step.values["text_box"]
    name, last = training.name, training.steps
    values = _described(training.tokenizer().tokens(text)) | LLAMA | {"steps": last}
    values |= {"most": int(training.sizes.max()), "least": int(training.sizes.min())}
    if isinstance(training, MergeTraining):
        values["made"] = joined([f"`{name(merge.new_id)}`" for merge in training.merges])
        merge = training.merges[min(step.jump or 1, last) - 1]
        values |= {"pair": f"`{name(merge.left)}` + `{name(merge.right)}`", "count": merge.count}
    if training.algorithm == "wordpiece":
        boundaries = training.at_step(0).boundaries(text)
        counts = training.pairs(text, boundaries, 0).tokens
        for pair in training.candidates(text, boundaries, 0, 99):
            left, right = (counts[token] for token in pair.ids)
            score = f"{pair.count} / ({left} × {right}) = {pair.score:.1f}"
            values[" ".join(map(name, pair.ids))] = {"count": pair.count, "score": score}
    return values
