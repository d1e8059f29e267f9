"""The parts of the engine that chapters share: trainings, stages, and links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

import bpeviz
from bpeviz.analysis.hues import OWN_HUES, Hues
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.token_lookup import look_of
from bpeviz.core.boundaries import DROPPED_ID, INSIDE_ID, Part
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import MergeTraining, Training
from bpeviz.text import counted, digest_of, times
from bpeviz.text import label as label_of
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs.text import OWN_TEXT, TEXT, THIS_TEXT, TRAIN_ON
from bpeviz.ui.inputs.training import ALGORITHM, LARGEST_SIZE, PATTERN, option_widget
from bpeviz.ui.learn import stored
from bpeviz.ui.learn.acts import MOST_PLACES, BoundariesAct, MessagePart, PairAct, bits_of, token
from bpeviz.ui.learn.base import (
    Judgment,
    Mistake,
    NoQuestionError,
    PageLink,
    Question,
    Stage,
    Verdict,
)
from bpeviz.ui.permalink.codec import Value
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import Widget
from bpeviz.views import inspection, player

MAX_TIED = 5
"""The most tied pairs that a result lists."""

UNKNOWN_WORD = "[UNK]"
"""The label of a piece outside of a list."""

FIRST_SEEN = "Among pairs with the same count, the one seen first in the text is merged."


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


# ---- the stage


def on_stage(view: dict[str, Any], *identity: object) -> dict[str, Any]:
    """Return the payload of the player for a view to which steps may be appended.

    Args:
        view: The timeline, without steps that the user may not see yet.
        *identity: What stays the same when steps are appended: the text and the settings.
    """
    key = digest_of(*identity, view["text"])
    data = player.payload(view) | {"isLive": True, "key": key, "timelineId": key}
    return data | {"initialStep": data["last"]}


def still(rows: Sequence[dict[str, Any]], *identity: object) -> dict[str, Any]:
    """Return the payload of the player for rows without steps; see `row` and `on_stage`."""
    titles = [each["title"] for each in rows]
    return on_stage(rows[0], *identity, titles) | {"views": rows, "isStill": True}


def typed(question: Question, rows: Callable[[str], Sequence[dict[str, Any]]]) -> Stage:
    """Return the stage with a text that the user types, in the rows that it has at each change."""
    return Stage([lambda: question], lambda done, given: still(rows(given or "")))


def row(
    text: str,
    title: str,
    pieces: Sequence[tuple[int, int]],
    styles: Mapping[int, tuple[str, int]],
) -> dict[str, Any]:
    """Return the timeline of a text in pieces, without steps.

    Args:
        text: The text.
        title: The name of the row, "" if it is alone.
        pieces: The id and the bytes of each piece; together they are the text.
        styles: The label and the color index of each id.
    """
    atoms = [token_id if not i else INSIDE_ID for token_id, size in pieces for i in range(size)]
    changes = {"offsets": [*range(len(atoms) + 1)], "steps": [-1] * len(atoms), "ids": atoms}
    counted_pieces = sum(token_id != DROPPED_ID for token_id, _ in pieces)
    return {
        "text": text,
        "title": title,
        "atomKind": "bytes",
        "atomBytes": None,
        "endMarks": [],
        "atomIds": [*text.encode()],
        "mergedAt": None,
        "firstMergeId": None,
        "changes": changes,
        "tokenStyles": styles,
        "unknownLabel": UNKNOWN_WORD,
        "steps": player.decision_columns(()),
        "unit": "step",
        "tokenCounts": [counted_pieces],
        "changingSteps": None,
        "byteCount": len(atoms),
        "part": None,
        "vocabSizes": [0],
        "last": 0,
        "key": "",
        "timelineId": "",
        **dict.fromkeys(("rule", "initialMessage", "emptyMessage"), title or "The text"),
        "noText": "Type below.",
    }


def encoded_rows(text: str, tokenizers: Mapping[str, Tokenizer]) -> list[dict[str, Any]]:
    """Return a text in the tokens of tokenizers, a row each, by the names of the rows."""
    columns = [Column(key, way, way.boundaries(text), way.steps) for key, way in tokenizers.items()]
    colors = player.hues_of_columns(columns, Part(0, len(text.encode()), 0, len(text)))
    rows = []
    for column in columns:
        look = look_of(column.tokenizer, hues=colors)
        ids, sizes = column.ids.tolist(), np.diff(column.cuts, prepend=0).tolist()
        pieces = [*zip(ids, sizes, strict=True)]
        rows.append(row(text, column.title, pieces, {i: look(i) for i in ids}))
    return rows


def played(text: str, tokenizer: Tokenizer, name: str) -> dict[str, Any]:
    """Return the payload of the player for a text that is encoded as soon as it is seen."""
    view = inspection.encoding(text, tokenizer)
    return on_stage(view, name) | {"plays": True, "name": name}


def hues_after(trainings: Callable[[int], Training], text: str, step: int) -> Hues:
    """Return color indices after a step, which are those of earlier steps for their tokens.

    Args:
        trainings: Returns the training with a number of steps.
        text: The text.
        step: The number of steps.
    """
    given = hues_after(trainings, text, step - 1) if step else OWN_HUES
    training = trainings(step)
    boundaries = training.at_step(step).boundaries(text)
    (part,) = player.parts(text, boundaries)
    return player.hues_of([(training, boundaries, part)], given)


def timeline(
    training: Training, text: str, step: int, colors: Hues | None = None
) -> dict[str, Any]:
    """Return the payload of a text under a training that ends at a step."""
    boundaries = training.at_step(step).boundaries(text)
    (part,) = player.parts(text, boundaries)
    return player.timeline(text, training, boundaries, part, step, colors)


def rounds_of(text: str, rounds: int, **options: Any) -> Stage:
    """Return the stage on which the user chooses the pair of each of the first merges."""

    def training(step: int) -> MergeTraining:
        return merges_of(text, merges=step, **options)

    def payload(done: int, given: Any) -> dict[str, Any]:
        colors = hues_after(training, text, done)
        return on_stage(timeline(training(done), text, done, colors), "rounds", options)

    pairs = len(training(rounds).merges)  # a short text has no more
    if not pairs:
        raise NoQuestionError("This text has no two neighbors to merge. Type a longer one.")
    questions = [partial(next_pair, training, text, step) for step in range(min(rounds, pairs))]
    return Stage(questions, payload)


def next_pair(trainings: Callable[[int], MergeTraining], text: str, step: int) -> Question:
    """Return the question for the pair that is merged after `step` merges.

    Args:
        trainings: Returns the training with a number of merges.
        text: The text.
        step: The number of merges so far.
    """
    before = trainings(step)
    boundaries = before.at_step(step).boundaries(text)
    barriers = before.barriers(text, step)
    ends = boundaries.token_ends(step)
    ids = boundaries.ids(step).tolist()
    inside = np.flatnonzero(~np.isin(ends[:-1], barriers)).tolist()
    places = {int(ends[i]) - 1: (ids[i], ids[i + 1]) for i in inside}
    colors = hues_after(trainings, text, step)

    def part(token_id: int) -> dict[str, Any]:
        return token(before.name(token_id), colors.index(before.color_key(token_id)))

    def words(pair: Sequence[int]) -> list[MessagePart]:
        return [part(pair[0]), " + ", part(pair[1])]

    def counts() -> dict[tuple[int, ...], int]:
        table = before.pairs(text, boundaries, step)
        return {pair.ids: pair.count for pair in table.best(table.counts, (), len(table.keys))}

    def judge(given: int | None) -> Judgment:
        count = counts()
        taken = trainings(step + 1).merges[step]
        pair = (taken.left, taken.right)
        message = _decided(pair, count, words)
        right = next(place for place, other in places.items() if other == pair)
        if given is None:
            return Judgment("right", message, right)
        verdict: Verdict = "right" if count[places[given]] == count[pair] else "wrong"
        return Judgment(verdict, message, right)

    def mistakes() -> list[Mistake]:
        count = counts()
        most = max(count.values())
        first = {pair: place for place, pair in reversed(places.items())}
        return [
            Mistake(
                first[pair],
                [*words(pair), f" occurs {times(count[pair])}; another pair occurs more often."],
            )
            for pair in sorted(first, key=lambda pair: -count[pair])
            if count[pair] < most
        ]

    named = {place: (part(left), part(right)) for place, (left, right) in places.items()}
    return Question(PairAct(named), judge, mistakes, name=f"Merge {step + 1}")


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


def cut_stage(text: str, tokenizer: Tokenizer, name: str) -> Stage:
    """Return the stage on which the user places the boundaries of a tokenizer.

    Args:
        text: The text.
        tokenizer: The tokenizer. It may have only the tokens of this text.
        name: The name of the question.

    Raises:
        NoQuestionError: The text has too many places, or one token for each.
    """

    def payload(done: int, given: Any) -> dict[str, Any]:
        view = inspection.encoding(text, tokenizer, upto=None if done else 0)
        return on_stage(view, "cuts", name)

    return Stage([partial(cuts, text, tokenizer, name)], payload)


def gpt4o_cuts(text: str) -> Stage:
    """Return the stage on which the user places GPT-4o's boundaries.

    Raises:
        NoQuestionError: As above, or the file of GPT-4o's vocabulary is missing.
    """
    tokenizer = stored.gpt4o(text)
    if tokenizer is None:
        raise NoQuestionError("GPT-4o's list of tokens is not on this machine yet.")
    return cut_stage(text, tokenizer, "GPT-4o's tokens")


def cuts(text: str, tokenizer: Tokenizer, name: str) -> Question:
    """Return the question where a tokenizer cuts a text: between letters, or inside of one.

    Raises:
        NoQuestionError: There are too many places.
    """
    tokens = tokenizer.tokens(text)
    raw = text.encode()
    ends = [*accumulate(len(part.raw) for part in tokens)]
    letters = [len(text[:i].encode()) for i in range(1, len(text))]
    # Where a token has a part of a character, all bytes of that character are places.
    split = {end for end in ends if end not in letters and end < len(raw)}
    inside = {at for at in range(1, len(raw)) for end in split if _same_letter(raw, at, end)}
    places = sorted({*letters, *inside})
    if not text:
        raise NoQuestionError("There is no text yet. Type a word.")
    if len(places) > MOST_PLACES:
        raise NoQuestionError(
            f"This word has {len(places):,} places where a token may end. Type a shorter one: "
            f"up to {MOST_PLACES} fit."
            if not inside
            else "Each letter of this word is several tokens. Type another word."
        )
    pieces = [raw[i:j] for i, j in zip([0, *places], [*places, len(raw)], strict=True)]
    after = [place - 1 for place in places]
    right = bits_of(after, [end - 1 for end in ends])
    act = BoundariesAct([label_of(piece) for piece in pieces], after)

    def judge(given: int | None) -> Judgment:
        message: list[MessagePart] = [f"{counted(len(tokens), 'token')}: "]
        for part in tokens:
            message += [token(part.label), " "]
        return Judgment("right" if given in (None, right) else "wrong", message, right)

    def mistakes() -> list[Mistake]:
        every = (1 << len(after)) - 1
        return [
            Mistake(every, ["You placed every boundary, but a longer token is in the list."]),
            Mistake(0, ["You placed no boundary, but it is more than one token."]),
        ]

    return Question(act, judge, mistakes, name=name)


def _same_letter(raw: bytes, place: int, other: int) -> bool:
    """Return whether two places are in the same character, both after its first byte."""
    low, high = sorted((place, other))
    return all(raw[at] & 0xC0 == 0x80 for at in range(low, high + 1))


# ---- links


def text_values(text: str) -> dict[str, Value]:
    """Return the values of a link with this text."""
    return {TEXT.sample.link: OWN_TEXT, TEXT.box.link: text}


def train_page(
    text: str, label: str, largest: int, pattern: str = "none", **options: Value
) -> PageLink:
    """Return the Train page with a training of a text."""
    trainer = TRAINERS["bpe"]
    values: dict[str, Value] = text_values(text)
    values |= {TRAIN_ON.sample.link: THIS_TEXT, ALGORITHM.link: "bpe", PATTERN.link: pattern}
    for option in trainer.options:
        widget = option_widget(trainer, option)
        if option.name in options and isinstance(widget, Widget):
            values[widget.link] = options[option.name]
    return PageLink("app.py", label, values | {LARGEST_SIZE.link: largest})
