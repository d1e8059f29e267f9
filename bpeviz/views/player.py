"""Payloads of the player and of scores: decisions as plain JSON values, without frames.

The browser receives the decisions, and for each atom the step at which the boundary after it is
merged, or the tokens that begin there at each step. It derives everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz.analysis import hues as coloring
from bpeviz.analysis import verdict
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.metrics import Column, differences
from bpeviz.core.boundaries import DROPPED_ID, SPECIAL_ID, UNKNOWN_ID, Boundaries, Ends, Part, ended
from bpeviz.core.merges import Merge
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Pruning, Training
from bpeviz.text import color_key, counted, digest_of, hexadecimal, shorten
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.trainers.options import TIE_WINNERS

_NO_TOKENS = {UNKNOWN_ID: "not in the vocabulary", DROPPED_ID: "dropped: no token"}
"""What a score shows in place of a token."""

_AROUND = 60
"""Characters before the first change in `before_and_after`."""

WINDOW = 20_000
"""The largest number of atoms in the player; longer texts are divided into parts."""


def parts(text: str, boundaries: Boundaries, size: int = WINDOW) -> list[Part]:
    """Divide a text into parts of at most `size` atoms.

    A part ends at a boundary of every step if its second half has one, else between two characters.
    """
    atoms = len(boundaries)
    if atoms <= size:
        return [Part(0, atoms, 0, len(text))]
    # A character ends before the first byte of the next one, or at the end of the text.
    raw = np.frombuffer(f"{text}\n".encode(), np.uint8)
    parts: list[Part] = []
    half = size // 2
    start = first = past = 0
    while start < atoms:
        # One part at a time is several times faster for a long text.
        ends = boundaries.ends[start : start + size + 1]
        begins = (raw[past : ends[-1] + 1] & 0xC0) != 0x80
        end = min(start + size, atoms)
        if end < atoms:
            # Of several atoms that end at one byte (a character and a mark), only the last counts.
            later = ends[half:-1]
            between_characters = begins[later - past] & (later != ends[half + 1 :])
            between_tokens = between_characters & boundaries.permanent[start + half : end]
            last_of_all = _last(between_tokens) or _last(between_characters)
            end = start + (half + last_of_all if last_of_all else size)
        upto = int(boundaries.ends[end - 1])
        last = first + int(np.count_nonzero(begins[1 : upto - past + 1]))
        parts.append(Part(start, end, first, last))
        start, first, past = end, last, upto
    return parts


def part_between(boundaries: Boundaries, part: Part, text: str) -> Part:
    """Return the part of other boundaries with the same characters.

    Args:
        boundaries: Boundaries of the whole text.
        part: A part of boundaries over bytes, as from `metrics.common_boundaries`.
        text: The whole text.
    """
    ends = boundaries.ends
    # A mark without bytes belongs to the preceding atom, or to the first one.
    start = ended(ends, part.start) if part.start else 0
    end = len(ends) if part.last == len(text) else ended(ends, part.end)
    return Part(start, end, part.first, part.last)


def _last(places: NDArray[np.bool_]) -> int:
    """Return the index after the last true value, or 0."""
    true_places = np.flatnonzero(places)
    return int(true_places[-1]) + 1 if len(true_places) else 0


def hues_of(
    trainings: Sequence[tuple[Training, Boundaries, Part]], given: Hues = coloring.OWN_HUES
) -> Hues:
    """Return the color indices of a part of a text at all steps of some trainings.

    Args:
        trainings: Each with the boundaries of the whole text, and the part of these to show.
        given: Color indices that stay.
    """
    rows = []
    for training, boundaries, part in trainings:
        contacts = coloring.contacts(boundaries.slice(part.start, part.end), training.opening)
        rows.append(coloring.Row(contacts, training.color_key, training.parents))
    return coloring.hues(rows, given)


def hues_of_view(view: dict[str, Any], training: Training) -> Hues:
    """Return the color indices of a timeline, as from `timeline`."""
    styles = view["tokenStyles"]
    return Hues({training.color_key(i): color for i, (_, color) in styles.items() if i >= 0})


def hues_of_columns(columns: Sequence[Column], part: Part) -> Hues:
    """Return the color indices of a part of a text in columns; `part` is in bytes."""
    return coloring.hues(
        coloring.Row(
            coloring.contacts_at(column.ids[slice(*_tokens_within(column, part))].tolist()),
            coloring.keys_of(column.tokenizer),
        )
        for column in columns
    )


def look_of(training: Training, hues: Hues) -> Callable[[int], tuple[str, int]]:
    """Return a function from ids of a training to their labels and color indices."""

    def look(token_id: int) -> tuple[str, int]:
        if token_id <= SPECIAL_ID:
            return training.special_names[token_id - SPECIAL_ID - 1], -1
        return training.name(token_id), hues.index(training.color_key(token_id))

    return look


def timeline(
    text: str,
    training: Training,
    boundaries: Boundaries,
    part: Part,
    last: int,
    hues: Hues | None = None,
) -> dict[str, Any]:
    """Return the timeline of a part of a text, as plain JSON values.

    Args:
        text: The whole text.
        training: The training history.
        boundaries: Boundaries of the whole text under the last tokenizer of `training`.
        part: The part to show.
        last: The last step of the timeline.
        hues: The color indices; by default those of this timeline alone.
    """
    hues = hues or hues_of([(training, boundaries, part)])
    look = look_of(training, hues)
    atom_ids = boundaries.atom_ids[part.start : part.end]
    whole = part.end - part.start == len(boundaries)
    kind, trainer = training.pre_tokenizer.atoms, TRAINERS[training.algorithm]
    texts = trainer.texts
    steps = decision_columns(training.decisions)
    special = "Special tokens stay whole." if (boundaries.atom_ids <= SPECIAL_ID).any() else ""
    when = boundaries.slice(part.start, part.end).payload()
    ids = {*atom_ids.tolist(), *steps["id"], *steps["left"], *steps["right"]}
    ids.update((when["changes"] or {"ids": ()})["ids"])
    data: dict[str, Any] = {
        "text": text[part.first : part.last],
        "atomKind": kind,
        "atomBytes": part.atom_sizes(text, boundaries, kind),
        "endMarks": end_marks(training.at_step(0), atom_ids),
        "atomIds": None if kind == "bytes" else atom_ids.tolist(),
        **when,
        "tokenStyles": {i: [*look(i)] for i in sorted(ids) if i >= 0 or i <= SPECIAL_ID},
        "unknownLabel": training.pre_tokenizer.unknown,
        "steps": steps,
        "unit": texts.unit,
        "algorithm": trainer.title,
        "rule": trainer.rule,
        "weighted": training.weighted,
        "initialMessage": f"{texts.beginning(training)} {special}".rstrip(),
        "emptyMessage": texts.beginning(training),
        "tokenCounts": boundaries.token_counts.tolist(),
        "changingSteps": _unless_all(boundaries.change_steps + 1, boundaries.steps),
        "leftOut": _left_out(text, training, boundaries),
        "byteCount": int(boundaries.ends[-1]) if len(boundaries) else 0,
        "part": None if whole else [part.first, part.last, len(text)],
    }
    # The keys do not depend on `last`, so that a new size does not redraw the player.
    identity = digest_of(training.pre_tokenizer, data["tokenCounts"], data["steps"], text)
    return data | {"key": digest_of(data), "timelineId": identity, "last": last}


def _left_out(text: str, training: Training, boundaries: Boundaries) -> str:
    """Return which part of a text gets no tokens, in words, or an empty string."""
    if not (boundaries.atom_ids == DROPPED_ID).any():
        return ""
    dropped = Column("", training.at_step(0), boundaries, 0).dropped_from(text)
    return "some text left out" if dropped.strip() else "spaces left out"


def recolored(timeline: dict[str, Any], training: Training, hues: Hues) -> dict[str, Any]:
    """Return a timeline with other color indices."""
    look = look_of(training, hues)
    styles = {i: [*look(i)] for i in timeline["tokenStyles"]}
    return timeline | {"tokenStyles": styles, "key": digest_of([timeline["key"], styles])}


def tie_rule(training: Training, options: Mapping[str, object] | None) -> str | None:
    """Return which of equal pairs wins, as half a sentence, if the trainer's options are known."""
    for option in TRAINERS[training.algorithm].options if options is not None else ():
        if option.name == "ties":
            return TIE_WINNERS.get(str((options or {}).get("ties", option.default)))
    return None


_COLUMNS = {
    "merge": {"id": "new_id"}
    | {name: name for name in ("left", "right", "applied", "ties", "score")},
    "pruning": {"id": "id", "score": "loss", "round": "round"},
}
"""The columns of decisions, each with its attribute."""


def decision_columns(decisions: Sequence[Merge | Pruning]) -> dict[str, Any]:
    """Return the columns of decisions for the player: lists of equal length, or empty."""
    kind = "pruning" if decisions and isinstance(decisions[0], Pruning) else "merge"
    columns: dict[str, list[Any]] = {name: [] for names in _COLUMNS.values() for name in names}
    for name, attribute in _COLUMNS[kind].items():
        values = [getattr(decision, attribute) for decision in decisions]
        columns[name] = [] if None in values else values
    counts = [decision.count for decision in decisions]
    notes = {number: decision.note for number, decision in enumerate(decisions) if decision.note}
    return {"kind": kind, "notes": notes, "count": counts, **columns}


def end_marks(tokenizer: Tokenizer, atom_ids: NDArray[np.int32]) -> list[int]:
    """Return the indices of atoms with an end-of-word mark."""
    marks: list[int] = np.flatnonzero(np.isin(atom_ids, [*tokenizer.end_of_word_ids])).tolist()
    return marks


def payload(timeline: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of the player for one timeline."""
    names = ("key", "timelineId", "last", "unit", "changingSteps")
    return {name: timeline[name] for name in names} | {
        "vocabSizes": None,
        "initialStep": 0,
        "views": [timeline],
    }


def lock_step(timelines: Sequence[tuple[str, dict[str, Any], Training]]) -> dict[str, Any]:
    """Return the payload of the player for several timelines, aligned by vocabulary size.

    Args:
        timelines: Title, timeline and training history of each. `steps_at` aligns them.
    """
    # Only sizes that one of them has: there are none between a small vocabulary and GPT-2's.
    sizes = np.unique(
        np.concatenate(
            [
                np.arange(training.sizes.min(), training.sizes.max() + 1)
                for *_, training in timelines
            ]
        )
    )
    views = []
    largest = [int(training.sizes.max()) for *_, training in timelines]
    changing = np.zeros(len(sizes) - 1, np.bool_)
    for title, timeline, training in timelines:
        at = steps_at(training, int(sizes[0]), int(sizes[-1]))[sizes - sizes[0]]
        own = timeline["changingSteps"]
        changing |= np.diff(at if own is None else np.searchsorted(own, at, "right")) != 0
        views.append(
            timeline
            | {"title": title, "ownSteps": at.tolist(), "vocabSizes": training.sizes.tolist()}
        )
    return {
        "key": digest_of([view["key"] for view in views]),
        "timelineId": digest_of([view["timelineId"] for view in views]),
        "last": len(sizes) - 1,
        # The largest size that all of them have, except those without entries.
        "initialStep": int(np.searchsorted(sizes, min(filter(None, largest), default=0))),
        "vocabSizes": sizes.tolist(),
        "unit": "size",
        "changingSteps": _unless_all(np.flatnonzero(changing) + 1, len(changing)),
        "views": views,
    }


def _unless_all(changing: NDArray[np.integer[Any]], steps: int) -> list[int] | None:
    """Return the numbers of the steps that change a token of the text, or None if all do."""
    numbers: list[int] = changing.tolist()
    return None if len(numbers) == steps else numbers


def steps_at(training: Training, low: int, high: int) -> NDArray[np.int64]:
    """Return the last step of a training for each vocabulary size from `low` to `high`.

    Outside its size range, a training stays at its smallest or largest size. If it skips a size (as
    Scaffold-BPE can), the step is the last one with a smaller size.
    """
    sizes = np.clip(np.arange(low, high + 1), training.sizes.min(), training.sizes.max())
    distinct, from_the_end = np.unique(training.sizes[::-1], return_index=True)
    steps = training.steps - from_the_end
    below = np.searchsorted(distinct, sizes, "right") - 1
    last_steps: NDArray[np.int64] = np.where(
        distinct[below] == sizes, steps[below], np.maximum.accumulate(steps)[below]
    )
    return last_steps


def why_few(training: Training, text: str, least: int) -> str:
    """Return in a sentence why a training on a short text has few steps.

    Args:
        training: The training history.
        text: The training text.
        least: The minimum count of a pair.
    """
    texts, steps = texts_of(training), training.steps
    if training.stopped == "full":
        size = "smaller" if texts.unit == "pruning" else "larger"
        return "" if steps else f"No {texts.unit}s at this size. Choose a {size} one to see some."
    if len(text) == 1 and not steps and training.stopped != "rare":  # a character of several bytes
        return f"One character: nothing to {texts.verb}."
    times = "twice" if least == 2 else f"{least:,} times"
    why = {
        "rare": f"no two neighbors occur {times}",
        "no pair": f"no neighbors are left to {texts.verb}",
        "atoms": "only single characters are left",
    }[training.stopped]
    if not steps:
        return f"{why[0].upper()}{why[1:]}, so there is nothing to learn from it alone."
    joined_once = training.stopped == "no pair" and least == 1
    memorizes = " Pairs seen once were joined, too: that is memorizing." * joined_once
    return f"After {counted(steps, texts.unit)}, {why}.{memorizes}"


def score_payload(
    text: str,
    columns: Sequence[Column],
    part: Part,
    baseline: int,
    *,
    ids: bool = False,
    hues: Hues | None = None,
) -> dict[str, Any]:
    """Return the payload of a text under several tokenizers, as plain JSON values.

    Args:
        text: The whole text.
        columns: Tokenizers with their boundaries.
        part: The part to show; `start` and `end` are bytes.
        baseline: The column that the others are compared with.
        ids: Whether to show the id of each token.
        hues: The color indices; by default those of these columns alone.
    """
    hues = hues or hues_of_columns(columns, part)
    drawn = []
    standings = [verdict.standing(column) for column in columns]
    # A mark for the best makes sense only if there are others.
    best = verdict.best(standings)
    best = best if len(best) < len(columns) else []
    for number, column in enumerate(columns):
        extra, missing = differences(column, columns[baseline])
        name = standings[baseline].name
        ends, tokens, distinct = _tokens(column, part, hues)
        drawn.append(
            {
                "title": column.title,
                "tokenCount": column.tokens,
                "notes": _notes(columns, standings, number, baseline),
                "isBest": number in best,
                "tokenEnds": ends,
                "tokens": tokens,
                "distinct": distinct,
                "extra": _within(extra, part),
                "missing": _within(missing, part),
                "differences": ""
                if number == baseline
                else verdict.boundary_words(len(extra), len(missing), name),
            }
        )
    data: dict[str, Any] = {
        "text": text[part.first : part.last],
        "rows": drawn,
        "baseline": baseline,
        "showIds": ids,
    }
    return data | {"key": digest_of(data)}


def before_and_after(
    text: str, training: Training, boundaries: Boundaries, step: int, hues: Hues | None = None
) -> dict[str, Any] | None:
    """Return the payload of two rows: a text before and after a step, around its first change.

    Args:
        text: The training text.
        training: The training history.
        boundaries: The boundaries of the text.
        step: The step, from 1.
        hues: The color indices; by default those of these columns alone.

    Returns:
        The payload, or None if the step does not change the boundaries of the text.
    """
    before, after = (boundaries.boundary_mask(at) for at in (step - 1, step))
    change = _first_change(boundaries.ends, before, after)
    if change is None:
        return None
    at = len(text.encode()[:change].decode(errors="ignore"))
    first = text.rfind(" ", max(0, at - _AROUND), at - _AROUND // 2) + 1 if at > _AROUND else 0
    last = min(len(text), first + 3 * _AROUND)
    part = Part(len(text[:first].encode()), len(text[:last].encode()), first, last)
    # A text may have millions of tokens. Only the tokens of the part are computed.
    around = boundaries.slice(*_whole_tokens(boundaries.ends, before & after, part))
    unit = texts_of(training).unit
    columns = [
        Column(f"{name} {unit} {step:,}", training.at_step(at), around, at)
        for name, at in (("Before", step - 1), ("After", step))
    ]
    data = score_payload(text, columns, part, 0, hues=hues)
    counts = boundaries.token_counts[step - 1 : step + 1].tolist()
    for row, count in zip(data["rows"], counts, strict=True):
        row |= {"tokenCount": count, "notes": [], "isBest": False, "differences": ""}
    key = f"{data['key']} {counts}"
    return data | {"key": key, "baseline": -1, "ariaLabel": "The text before and after"}


def _first_change(ends: Ends, before: NDArray[np.bool_], after: NDArray[np.bool_]) -> int | None:
    """Return the first byte boundary inside the text that only one of two masks has, if any.

    Several atoms may end at a byte: marks have no bytes.
    """
    for end in map(int, ends[before != after]):
        same = slice(ended(ends, end, before=True), ended(ends, end))
        if 0 < end < ends[-1] and before[same].any() != after[same].any():
            return end
    return None


def _whole_tokens(ends: Ends, boundary: NDArray[np.bool_], part: Part) -> tuple[int, int]:
    """Return the range of atoms from the last boundary before a part to the first one after it."""
    begin = ended(ends, part.start)
    stop = ended(ends, part.end)
    before = boundary[:begin][::-1]
    after = boundary[stop:]
    return (
        begin - int(before.argmax()) if before.any() else 0,
        stop + int(after.argmax()) + 1 if after.any() else len(ends),
    )


def _notes(
    columns: Sequence[Column], standings: Sequence[verdict.Standing], number: int, baseline: int
) -> list[str]:
    """Return how a column differs from the baseline, in the whole text."""
    column = columns[number]
    special = int((column.boundaries.ids(column.step) <= SPECIAL_ID).sum())
    notes = [f"{counted(special, 'special token')}, split off as in training"] * bool(special)
    if len(columns) == 1:
        return notes
    if number == baseline:
        return ["Baseline", *notes]
    return [verdict.compared_with(standings[number].tokens, standings[baseline]), *notes]


def _within(boundaries: Ends, part: Part) -> list[int]:
    """Return the boundaries strictly inside a part, relative to its start."""
    inside = (boundaries > part.start) & (boundaries < part.end)
    relative: list[int] = (boundaries[inside] - part.start).tolist()
    return relative


def _tokens_within(column: Column, part: Part) -> tuple[int, int]:
    """Return the range of the tokens in a part, those at its edges included."""
    ends = column.cuts
    last = max(ended(ends, part.end), ended(ends, part.end, before=True) + 1)
    return ended(ends, part.start), last


def _tokens(column: Column, part: Part, hues: Hues) -> tuple[list[int], list[int], list[list[Any]]]:
    """Return the tokens of a part: their ends in bytes, the index of each, and the distinct ones.

    Each of these is an id, a label, the bytes in hex, a color index, and the labels of the two
    tokens that it was merged from, if any. Tokens at the edges are cropped.
    """
    tokenizer = column.tokenizer
    ends = column.cuts
    first, last = _tokens_within(column, part)
    ids, indices = np.unique(column.ids[first:last], return_inverse=True)
    distinct: list[list[Any]] = []
    label = cache(lambda token_id: shorten(tokenizer.token_label(token_id)))
    for token_id in ids.tolist():
        if token_id in _NO_TOKENS:
            distinct.append([token_id, _NO_TOKENS[token_id], "", -1, []])
            continue
        raw = tokenizer.token_bytes(token_id)
        color = -1 if tokenizer.is_atom(token_id) else hues.index(color_key(raw))
        labels = [label(parent) for parent in tokenizer.parents(token_id) or ()]
        distinct.append([token_id, label(token_id), shorten(hexadecimal(raw)), color, labels])
    token_ends = np.minimum(ends[first:last], part.end) - part.start
    return token_ends.tolist(), indices.tolist(), distinct
