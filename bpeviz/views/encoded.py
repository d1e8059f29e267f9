"""Rows of texts that a tokenizer encodes, with all steps that change a text or the first ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from bpeviz.analysis import hues, trace
from bpeviz.analysis.hues import OWN_HUES, Coloring, Hues
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.trace import Event, Inspection
from bpeviz.core.boundaries import UNKNOWN_ID, ChangingBoundaries, Part
from bpeviz.core.merges import Merge
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Pruning, Training
from bpeviz.text import counted
from bpeviz.trainers import texts_of
from bpeviz.trainers.screen_texts import every_atom_is_a_token
from bpeviz.views.stage import Row, RowWords, TokenNames, TrainedOn, names_of


def hues_of(
    inspection: Inspection, training: Training | None = None, given: Hues = OWN_HUES
) -> Hues:
    """Return the color indices of a text at all steps.

    Args:
        inspection: The encoded text.
        training: The training history of the tokenizer, if known.
        given: Color indices that stay, those of another tokenizer.
    """
    names = names_of(inspection.tokenizer, training, inspection.special_ids)
    return hues.hues([Coloring(inspection.contacts, names.key, names.parents)], given)


def unit_of(training: Training | None) -> str:
    """Return the name of a step of a tokenizer."""
    return "merge" if training is None else texts_of(training).unit


def of_inspection(
    inspection: Inspection,
    part: Part,
    title: str,
    training: Training | None = None,
    *,
    trained_on: TrainedOn | None = None,
    options: Mapping[str, object] | None = None,
) -> Row:
    """Return the row of a part of a text that a tokenizer encodes.

    Only steps that change the part have one. A note gives the number of each in the vocabulary.
    Counts are those of the part.

    Args:
        inspection: The encoded text.
        part: The part to show.
        title: The name of the tokenizer.
        training: The training history of the tokenizer, if known.
        trained_on: The training text, if its candidates are known.
        options: The options of the trainer that are not the default, if they are known.
    """
    tokenizer = inspection.tokenizer
    boundaries, events = part_of(inspection, part)
    states = [boundaries.ids(step).tolist() for step in range(len(events) + 1)]
    unit, is_whole = unit_of(training), part.last - part.first == len(inspection.text)
    where = "this text" if is_whole else "this part of the text"
    words = RowWords(
        # A note has the number of the merge, which differs where merges are left out.
        unit if len(events) == tokenizer.steps else "step",
        _beginning(tokenizer, training, len(events), title, where),
        f"No {unit} of {title} changes {where}.",
    )
    return Row(
        Column(title, tokenizer, boundaries, len(events)),
        inspection.text,
        Part(0, len(boundaries), part.first, part.last),
        _names(inspection, training),
        words,
        [*_decisions(inspection, boundaries, events, states, training)],
        training,
        trained_on,
        options,
        [event.step for event in events],
    )


def _names(inspection: Inspection, training: Training | None) -> TokenNames:
    """Return the names of the tokens of an encoded text."""
    tokenizer = inspection.tokenizer
    names, unknown = names_of(tokenizer, training, inspection.special_ids), tokenizer.unknown_id
    label = None if unknown is None else tokenizer.token_label(unknown)
    return names._replace(unknown=label)


def of_encoding(
    text: str, tokenizer: Tokenizer, upto: int | None = None, special: Sequence[str] = ()
) -> Row:
    """Return the row of a text that a tokenizer encodes, merge by merge.

    Args:
        text: The text.
        tokenizer: A tokenizer that applies its merges in their order.
        upto: The number of merges of the row, of those that change the text; by default all.
        special: The special tokens that the text may contain.
    """
    whole = trace.inspect(text, tokenizer, special)
    events = whole.events[:upto]
    table = whole.boundaries
    early = table.times < len(events)
    boundaries = replace(
        table,
        steps=len(events),
        rows=np.append(0, np.cumsum(early))[table.rows],
        times=table.times[early],
        entries=table.entries[early],
    )
    inspected = replace(whole, boundaries=boundaries, events=events)
    row = of_inspection(inspected, Part(0, len(boundaries), 0, len(whole.text)), tokenizer.name)
    # Its usual sentences count all merges.
    start = f"{every_atom_is_a_token(tokenizer.atoms)} The merges follow in their order."
    unchanged = row.words.unchanged if upto is None else start
    rule = "merges in the order of the vocabulary"
    return replace(row, words=RowWords("step", start, unchanged, "Encoding", rule))


def of_token(token_id: int, tokenizer: Tokenizer) -> Row | None:
    """Return the row of a token alone, merge by merge.

    Returns:
        None for a token without merges, with very many, or whose bytes are not a text.
    """
    steps = trace.merge_steps(token_id, tokenizer)
    if steps is None:
        return None
    raw, boundaries, events = steps
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    inspected = replace(trace.inspect(text, tokenizer), boundaries=boundaries, events=events)
    return of_inspection(inspected, Part(0, len(boundaries), 0, len(text)), tokenizer.name)


def part_of(inspection: Inspection, section: Part) -> tuple[ChangingBoundaries, list[Event]]:
    """Return the boundaries of a part, with only the events that change it."""
    part = inspection.boundaries.slice(section.start, section.end)
    happen = part.change_steps
    times = np.where(part.times < 0, -1, np.searchsorted(happen, part.times)).astype(np.int32)
    cut = replace(part, steps=len(happen), times=times)
    return cut, [inspection.events[i] for i in happen.tolist()]


def _decisions(
    inspection: Inspection,
    cut: ChangingBoundaries,
    events: Sequence[Event],
    states: Sequence[Sequence[int]],
    training: Training | None,
) -> Iterator[Merge | Pruning]:
    """Yield the decision of each event, with its counts in this text and its number in a note."""
    tokenizer = inspection.tokenizer
    occurrences = Counter(zip(cut.times.tolist(), cut.entries.tolist(), strict=True))
    pre_token_ends = {*(inspection.pre_token_ends or ())}
    decisions = () if training is None else training.decisions
    for number, event in enumerate(events):
        decision = decisions[event.step] if decisions else None
        note = "" if decision is None else decision.note
        if isinstance(decision, Pruning):
            where = f"pruning {event.step + 1:,} of {len(decisions):,}"
            yield replace(decision, note="; ".join(filter(None, (where, note))))
            continue
        if decision is None:
            # Without a training history, an event is a merge of the tokenizer.
            token_id = event.id if event.id is not None else UNKNOWN_ID
            parents = None if token_id < 0 else tokenizer.parents(token_id)
            pair = parents or (UNKNOWN_ID, UNKNOWN_ID)
        else:
            token_id, pair = decision.new_id, (decision.left, decision.right)
        applied = count = occurrences[number, token_id]
        if pair[0] == pair[1]:
            ends = cut.cuts(number).tolist()
            count = max(applied, _side_by_side(states[number], ends, pair[0], pre_token_ends))
        where = f"merge {event.step + 1:,} of {tokenizer.steps:,}"
        unused = "" if applied else "not used here, but other tokens change"
        note = "; ".join(filter(None, (where, note, unused)))
        yield Merge(*pair, token_id, count, applied, 0, note=note)


def _side_by_side(
    ids: Sequence[int], ends: Sequence[int], token_id: int, pre_token_ends: Collection[int]
) -> int:
    """Count neighboring pairs of one token within pre-tokens, overlaps included."""
    return sum(
        left == right == token_id and end not in pre_token_ends
        for (left, right), end in zip(pairwise(ids), ends, strict=False)
    )


def _beginning(
    tokenizer: Tokenizer, training: Training | None, steps: int, title: str, changed: str
) -> str:
    start = (
        every_atom_is_a_token(tokenizer.atoms)
        if training is None
        else texts_of(training).beginning(training)
    )
    total, unit = tokenizer.steps, unit_of(training)
    verb = "changes" if steps == 1 else "change"
    which = f"All {total:,} {unit}s of {title}"
    if steps != total or total == 1:
        which = f"{steps:,} of {title}’s {counted(total, unit)}"
    return f"{start} {which} {verb} {changed}."
