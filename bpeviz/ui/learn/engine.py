"""The parts of the engine that chapters share: trainings, pairs, payloads, and links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

import bpeviz
from bpeviz.analysis import hues as coloring
from bpeviz.analysis import trace
from bpeviz.analysis.hues import OWN, Hues
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Part
from bpeviz.core.tokenizer import Token, Tokenizer
from bpeviz.core.training import MergeTraining, Training
from bpeviz.text import color_key, counted, shorten, times
from bpeviz.text import label as label_of
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs.text import OWN_TEXT, TEXT, THIS_TEXT, TRAIN_ON
from bpeviz.ui.inputs.training import ALGORITHM, LARGEST_SIZE, PATTERN, option_widget
from bpeviz.ui.learn.base import (
    Input,
    Judgment,
    Mistake,
    NoQuestionError,
    PageLink,
    Picture,
    PictureRow,
    Question,
    Setup,
    Verdict,
)
from bpeviz.ui.learn.forms import CurveForm, MessagePart, PairForm, token
from bpeviz.ui.pages import inspect
from bpeviz.ui.permalink.codec import Value
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import NumberField, OneOf, TextField, Widget
from bpeviz.views import inspection, player

LONGEST_TEXT = 1_000
"""The most characters of a chapter's text: training runs while the page is drawn."""

MAX_TIED = 5
"""The most tied pairs that a result lists."""

MAX_MERGES = 20
"""The most merges above a question."""

MAX_SHOWN = 60
"""The most characters of a text that a message quotes."""

MAX_SEEN = 140
"""The most characters of a text above a question."""

FIRST_SEEN = "Among pairs with the same count, the one seen first in the text is merged."

PAIR_HINT = "A space is a byte, too: a pair may be a letter and the space after it."


def text_field(chapter: str, name: str, label: str, longest: int = LONGEST_TEXT) -> TextField:
    """Return the widget of a text."""
    key = f"learn_{chapter}_{name}"
    return TextField(key, label, longest=longest)


def text_input(
    chapter: str, initial: str, label: str = "Text", longest: int = LONGEST_TEXT
) -> Input:
    """Return the input of a chapter's text."""
    widget = text_field(chapter, "text", label, longest)
    return Input("text", widget, initial, lines=longest > 60)


def number_input(
    chapter: str,
    name: str,
    label: str,
    low: int,
    high: int,
    initial: int,
    *,
    asked: bool = True,
    slider: bool = False,
) -> Input:
    """Return an input of a whole number."""
    key = f"learn_{chapter}_{name}"
    widget = NumberField(key, label, low=low, high=high)
    return Input(name, widget, initial, asked=asked, slider=slider)


def choice_input(
    chapter: str, name: str, label: str, titles: Mapping[str, str], *, asked: bool = True
) -> Input:
    """Return an input of one of a few values, the first one at first."""
    key = f"learn_{chapter}_{name}"
    widget = OneOf(key, label, titles=titles)
    return Input(name, widget, next(iter(titles)), asked=asked)


@cached()
def _trained(text: str, algorithm: str, options: tuple[tuple[str, Any], ...]) -> Training:
    return bpeviz.train(text, algorithm, **dict(options))


def train(text: str, algorithm: str = "bpe", **options: Any) -> Training:
    """Return the training history of a text, without pre-tokenization unless `options` say so."""
    options = {"pattern": "none"} | options
    return _trained(text, algorithm, tuple(sorted(options.items())))


def merges_of(text: str, algorithm: str = "bpe", **options: Any) -> MergeTraining:
    """Return the training history of a trainer that merges."""
    training = train(text, algorithm, **options)
    assert isinstance(training, MergeTraining)  # noqa: S101 (for the type)
    return training


def hues(*texts: tuple[Training, str], given: Hues = OWN) -> Hues:
    """Return the color indices of the tokens of texts, at all steps of the training of each.

    Args:
        texts: The texts with their trainings.
        given: Color indices that stay.
    """
    parts = []
    for training, text in texts:
        boundaries = training.at_step(training.steps).boundaries(text)
        parts += [(training, boundaries, part) for part in player.parts(text, boundaries)]
    return player.hues_of(parts, given)


def named(training: Training, token_id: int, colors: Hues) -> dict[str, Any]:
    """Return a token of a training for a message, in its color in the pictures beside it."""
    return token(training.name(token_id), colors.index(training.color_key(token_id)))


def quoted(text: str) -> dict[str, Any]:
    """Return a text for a message, with stand-ins; a long text without its middle."""
    return token(shorten(label_of(text.encode()), MAX_SHOWN))


def timeline(training: Training, text: str, colors: Hues | None = None) -> dict[str, Any]:
    """Return the payload of a text under a training, with all of its steps."""
    boundaries = training.at_step(training.steps).boundaries(text)
    (part,) = player.parts(text, boundaries)
    return player.timeline(text, training, boundaries, part, training.steps, colors)


def played(training: Training, text: str, caption: str = "", colors: Hues | None = None) -> Picture:
    """Return the player with all steps of a training; it begins before the first of several."""
    data = player.payload(timeline(training, text, colors))
    return Picture("player", data | {"initialStep": int(data["last"] == 1)}, caption)


def grid(
    text: str,
    tokenizer: Tokenizer,
    caption: str = "",
    *,
    decimal: bool = False,
    colors: Hues = OWN,
) -> Picture:
    """Return the grid of a text: characters, code points, bytes, tokens and ids."""
    inspected = trace.inspect(text, tokenizer)
    part = player.parts(inspected.text, inspected.cuts, 240)[0]
    data = inspection.grid(inspected, part, decimal=decimal, colors=colors)
    return Picture("grid", data, caption)


def tokenized(
    text: str,
    tokenizers: Sequence[tuple[str, Tokenizer]],
    caption: str = "",
    colors: Hues | None = None,
) -> Picture:
    """Return a score of a text under several tokenizers; the first one is the baseline."""
    columns = []
    for title, tokenizer in tokenizers:
        boundaries = tokenizer.boundaries(text)
        columns.append(Column(title, tokenizer, boundaries, boundaries.steps))
    part = Part(0, len(text.encode()), 0, len(text))
    return Picture("score", player.score_payload(text, columns, part, 0, hues=colors), caption)


# ---- the next pair


def next_pair(
    prompt: Sequence[MessagePart],
    text: str,
    step: int = 0,
    hint: str = PAIR_HINT,
    see: Sequence[PictureRow] = (),
    about_form: Sequence[MessagePart] = (),
    **options: Any,
) -> Question:
    """Return the question for the pair that is merged after `step` merges.

    Args:
        prompt: The question.
        text: The text.
        step: The number of merges so far.
        hint: The hint after a wrong answer.
        see: The picture above the question.
        about_form: Sentences after the question, about how it is answered.
        **options: Arguments of the training.

    Raises:
        NoQuestionError: No pair can be merged.
    """
    before = merges_of(text, merges=step, **options)
    boundaries = before.at_step(step).boundaries(text)
    barriers = before.barriers(text, step)
    ends = boundaries.token_ends(step)
    ids = boundaries.ids(step)
    inside = ~np.isin(ends[:-1], barriers) & (ids[:-1] >= 0) & (ids[1:] >= 0)
    pairs: list[int] = np.flatnonzero(inside).tolist()
    if not pairs or before.steps < step:
        raise NoQuestionError("This text has no two neighbors to merge. Type a longer one.")

    payload = timeline(before, text)

    def words(pair: tuple[int, ...]) -> list[MessagePart]:
        left, right = (token(*payload["tokenStyles"][token_id]) for token_id in pair)
        return [left, " + ", right]

    def all_counts() -> dict[tuple[int, ...], int]:
        table = before.pairs(text, boundaries, step)
        return {pair.ids: pair.count for pair in table.best(table.counts, (), len(table.keys))}

    def judge(given: int | None) -> Judgment:
        count = all_counts()
        most = max(count.values())
        taken = merges_of(text, merges=step + 1, **options).merges[step]
        starts = [0, *ends.tolist()]

        def places(pair: tuple[int, int]) -> list[list[int]]:
            return [
                [starts[i], starts[i + 2]] for i in pairs if (int(ids[i]), int(ids[i + 1])) == pair
            ]

        pair = (taken.left, taken.right)
        message = _decided(pair, count, words)
        if given is None:
            return Judgment("shown", message, {"given": [], "right": places(pair)})
        mine = (int(ids[given]), int(ids[given + 1]))
        if mine != pair:
            message += [" Yours, ", *words(mine), f", occurs {times(count[mine])}."]
        marks = {"given": places(mine) if mine != pair else [], "right": places(pair)}
        return Judgment("right" if count[mine] == most else "wrong", message, marks)

    def mistakes() -> list[Mistake]:
        counts = all_counts()
        first = {(int(ids[i]), int(ids[i + 1])): i for i in reversed(pairs)}
        most = max(counts.values())
        ranked = sorted(first, key=lambda pair: -counts[pair])
        return [
            Mistake(
                first[pair],
                [*words(pair), f" occurs {times(counts[pair])}; another pair occurs more often."],
            )
            for pair in ranked
            if counts[pair] < most
        ]

    unknown = ("?", -1)
    tokens = [token(*payload["tokenStyles"].get(int(token_id), unknown)) for token_id in ids]
    form = PairForm(payload, pairs, tokens)
    return Question(prompt, form, judge, mistakes, hint, see, about_form)


def _decided(
    pair: tuple[int, ...],
    counts: Mapping[tuple[int, ...], int],
    words: Callable[[tuple[int, ...]], list[MessagePart]],
) -> list[MessagePart]:
    """Return why a pair is merged.

    Args:
        pair: The pair.
        counts: The counts of all pairs, the highest first.
        words: Returns the name of a pair.
    """
    count = counts[pair]
    others = [other for other in counts if counts[other] == count and other != pair]
    if not others:
        alone = len(counts) == 1
        more = ". There is no other pair." if alone else ", more often than any other pair."
        return [*words(pair), f" occurs {times(count)}{more}"]
    message: list[MessagePart] = [
        f"{len(others) + 1:,} pairs occur {times(count)}, and each is right. "
    ]
    message += [f"{FIRST_SEEN} Here that is ", *words(pair), "."]
    if len(others) < MAX_TIED:
        for number, other in enumerate(others):
            first = " The others: " if len(others) > 1 else " The other one: "
            message += [", " if number else first, *words(other)]
        message.append(".")
    return message


# ---- boundaries, curves and orders


def encoded_result(
    given: list[int] | None, tokenizer: Tokenizer, text: str, colors: Hues
) -> Judgment:
    """Return the result of the boundaries that a user set in a text to encode."""
    tokens = tokenizer.tokens(text)
    result = boundaries_result(given, tokens, text, colors)
    if all(token.id != tokenizer.unknown_id for token in tokens):
        return result
    note = "A character that is not in the training text is unknown: <unk>."
    return replace(result, message=[*result.message, note])


def boundaries_result(
    given: list[int] | None, tokens: Sequence[Token], text: str, colors: Hues | None = None
) -> Judgment:
    """Return the result of the boundaries that a user set.

    Args:
        given: The boundaries.
        tokens: The tokens of the text.
        text: The text.
        colors: The color indices; by default those of this text alone.
    """
    right = sorted({part.end for part in tokens} - {len(text)})
    verdict: Verdict = "right" if given == right else "wrong"
    message: list[MessagePart] = [f"{counted(len(tokens), 'token')}: "]
    keys = [
        color_key(part.raw) if len(part.raw.decode(errors="replace")) > 1 else -1 for part in tokens
    ]
    colors = colors or coloring.hues([coloring.Row(coloring.contacts_at(keys), lambda key: key)])
    indices = [colors.index(key) for key in keys]
    for part, index in zip(tokens, indices, strict=True):
        message += [token(part.label, index), " "]
    marks = {"right": right, "colors": indices}
    return Judgment("shown" if given is None else verdict, message, marks)


def cut_mistakes(
    right: Sequence[int], text: str, training: MergeTraining | None = None
) -> list[Mistake]:
    """Return likely wrong boundaries in a text that is split into tokens or into pieces.

    Args:
        right: The right boundaries.
        text: The text.
        training: The training history whose merges apply, or None for a list of pieces.
    """
    join = "piece fits" if training is None else "merge applies"
    wrong = [
        Mistake([*range(1, len(text))], [f"You left every letter alone, but a {join} here."]),
        Mistake([], ["You left it whole, but it is not a single token."]),
        Mistake([*right[:-1]], ["Your last token joins too much."]),
        Mistake(sorted({*right, 1}), ["Your first token is too short: look how it goes on."]),
    ]
    for step in range(training.steps - 1, 0, -1) if training else ():
        tokens = training.at_step(step).tokens(text) if training else []
        cuts = boundaries_result(None, tokens, text).marks["right"]
        wrong.append(Mistake(cuts, [f"That is after merge {step:,}. A later merge applies, too."]))
    return wrong


RIGHT_CURVE, NEAR_CURVE = 0.04, 0.08
"""The largest mean distance of a curve that is right or near, as a share of its first value."""


def curve_result(given: list[int] | None, form: CurveForm, values: Mapping[int, int]) -> Judgment:
    """Return the result of a curve that a user drew.

    Args:
        given: Its values at the handles.
        form: The form.
        values: The true value at each position.
    """
    drawn = [values[at] for at in form.handles]
    end = form.handles[-1]
    title = form.yTitle.removesuffix("s") if drawn[-1] == 1 else form.yTitle
    falls = [before - after for before, after in pairwise(drawn)]
    first, last = form.handles[1] - form.handles[0], end - form.handles[-2]
    less = "" if falls[0] > falls[-1] else "no less: "
    message = (
        f"The first {first:,} {form.xTitle} save {counted(falls[0], 'token')}, "
        f"the last {last:,} save {less}{falls[-1]:,}."
    )
    marks = {"points": [[at, value] for at, value in sorted(values.items())]}
    if given is None:
        message = f"{drawn[-1]:,} {title} at {end:,} {form.xTitle}. {message}"
        return Judgment("shown", [message], marks)
    distance = form.distance(given, drawn)
    verdict: Verdict = (
        "right" if distance <= RIGHT_CURVE else "near" if distance <= NEAR_CURVE else "wrong"
    )
    expected = f"You expected {given[-1]:,} {form.yTitle}, it was {drawn[-1]:,}"
    message = (
        f"{expected}{': late merges save less than you think' * (given[-1] < drawn[-1])}. {message}"
    )
    return Judgment(verdict, [message], marks)


def curve_mistakes(form: CurveForm, values: Mapping[int, int]) -> list[Mistake]:
    """Return curves that people draw, each computed from a few of the true values."""
    true = [values[at] for at in form.handles]
    first, last, n = true[0], true[-1], len(true) - 1
    save = first - true[1]
    straight = [max(0, first - save * i) for i in range(n + 1)]
    return [
        Mistake(straight, ["You let each merge save as much as the first: but pairs run out."]),
        Mistake(
            [round(first / 2**i) for i in range(n + 1)],
            ["You halve it at each dot: few texts repeat that much."],
        ),
        Mistake([first] * (n + 1), ["A flat line means that no merge saves a token."]),
        Mistake(
            [round(first * (1 - i / n)) for i in range(n + 1)],
            ["At 0 tokens no text would be left: it never gets that short."],
        ),
        Mistake(
            [round(first + (last - first) * i * i / n / n) for i in range(n + 1)],
            ["You let late merges save the most: the best pairs come first."],
        ),
    ]


# ---- pictures above questions


def text_row(text: str, title: str = "Text") -> PictureRow:
    """Return a text, with stand-ins, as a row above a question."""
    return PictureRow(title, [[token(shorten(label_of(text.encode()), MAX_SEEN))]])


def merges_row(training: MergeTraining, colors: Hues, title: str = "Merges in order") -> PictureRow:
    """Return the first merges of a training as a numbered row above a question."""
    items: list[list[MessagePart]] = [
        [named(training, merge.left, colors), " + ", named(training, merge.right, colors)]
        for merge in training.merges[:MAX_MERGES]
    ]
    return PictureRow(title, items, numbered=True)


def tokens_row(title: str, labels: Sequence[str]) -> PictureRow:
    """Return tokens, which may have no id, as a row above a question. They have no color."""
    return PictureRow(title, [[token(label)] for label in labels])


# ---- links


def text_values(text: str) -> dict[str, Value]:
    """Return the values of a link with this text."""
    return {TEXT.sample.link: OWN_TEXT, TEXT.box.link: text}


def train_page(
    setup: Setup,
    label: str,
    largest: int,
    algorithm: str = "bpe",
    pattern: str = "none",
    text: str | None = None,
    **options: Value,
) -> PageLink:
    """Return the Train page with a training of the chapter's text."""
    trainer = TRAINERS[algorithm]
    values: dict[str, Value] = text_values(setup["text"] if text is None else text)
    values |= {TRAIN_ON.sample.link: THIS_TEXT, ALGORITHM.link: algorithm, PATTERN.link: pattern}
    for option in trainer.options:
        widget = option_widget(trainer, option)
        if option.name in options and isinstance(widget, Widget):
            values[widget.link] = options[option.name]
    return PageLink("app.py", label, values | {LARGEST_SIZE.link: largest})


def inspect_page(text: str, label: str = "Open this text in Inspect") -> PageLink:
    """Return the Inspect page with a text."""
    return PageLink(inspect.PAGE.path, label, text_values(text))
