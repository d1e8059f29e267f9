"""A stage: the rows of one text, each with the decisions that change it.

A `Row` is a text under a tokenizer. It comes from a training (`of_training`), from a text that a
tokenizer encodes (`bpeviz.views.encoded`), or has no steps (`of_pieces`). Player, race, pictures,
files and rooms are functions of a stage. Payloads have decisions, never frames: for each
atom the step at which the boundary after it is merged, or the tokens that begin there at each step.
The browser derives everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bpeviz.analysis import hues as coloring
from bpeviz.analysis import verdict
from bpeviz.analysis.hues import ColoredToken, Coloring, Hues
from bpeviz.analysis.metrics import Column
from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import (
    DROPPED_ID,
    INSIDE_ID,
    NEVER,
    SPECIAL_ID,
    UNKNOWN_ID,
    Boundaries,
    ChangingBoundaries,
    MergeBoundaries,
    Part,
    ended,
)
from bpeviz.core.merges import Merge
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Pruning, Training
from bpeviz.corpus.documents import Documents, breaks_of, whole_text
from bpeviz.text import counted, digest_of, hexadecimal, shorten
from bpeviz.trainers import TRAINERS, bpe_training, texts_of
from bpeviz.trainers.options import TIE_WINNERS
from bpeviz.views.credit import settings_of
from bpeviz.views.parts import part_between, part_of, parts
from bpeviz.views.payloads import (
    BoundarySteps,
    Player,
    Score,
    ScoreRow,
    ScoreToken,
    Steps,
    Style,
    Timeline,
    TokenStyles,
)

_NO_TOKENS = {UNKNOWN_ID: "not in the vocabulary", DROPPED_ID: "dropped: no token"}
"""What a score shows in place of a token."""

Decisions = Sequence[Merge] | Sequence[Pruning] | Sequence[Merge | Pruning]


class RowWords(NamedTuple):
    """The words of a row.

    Attributes:
        unit: The name of a step.
        beginning: The sentence at step 0.
        unchanged: The sentence about a text that no step changes.
        algorithm: The full name of the algorithm, or "".
        rule: What it does, as half a sentence, or "".
    """

    unit: str
    beginning: str
    unchanged: str
    algorithm: str = ""
    rule: str = ""


NO_WORDS = RowWords("step", "", "")


class TokenNames(NamedTuple):
    """The names of tokens, and how they are told apart.

    Attributes:
        label: Returns the label of an id.
        key: Returns the color key of an id, -1 for a token without color.
        parents: Returns the two ids that were merged into an id, or None.
        unknown: The label of atoms outside the vocabulary, if it has one.
        note: Returns a note about an id in place of its bytes, for tokens without a vocabulary.
    """

    label: Callable[[int], str]
    key: coloring.Keys
    parents: coloring.Parents
    unknown: str | None
    note: Callable[[int], tuple[str, str]] | None = None


class TrainedOn(NamedTuple):
    """A training text: its name, or None for the text of the row, and its boundaries."""

    name: str | None
    text: str | Documents
    boundaries: Boundaries


@dataclass(frozen=True, eq=False)
class Row:
    """A text under a tokenizer, with the decisions that change it.

    Attributes:
        column: The text after the last decision. Step k of its boundaries is the state after k
            decisions, of the whole text or, where `events` are given, of the part.
        text: The whole text, of documents with a line end between two.
        part: The part to show, in atoms of the boundaries and in characters.
        names: The names of its tokens.
        words: Its words.
        decisions: The decision of each step. Without any, the row is the text at one step.
        training: The training history of the tokenizer, if it was trained here.
        trained_on: The training text, whose candidates are counted, if it is known.
        options: The options of the trainer that are not the default, if they are known.
        events: The step of the tokenizer that each step of this row is, where others that do not
            change the text are left out.
    """

    column: Column
    text: str
    part: Part
    names: TokenNames
    words: RowWords
    decisions: Decisions = ()
    training: Training | None = None
    trained_on: TrainedOn | None = None
    options: Mapping[str, object] | None = None
    events: Sequence[int] | None = None

    @property
    def title(self) -> str:
        """The name of the tokenizer."""
        return self.column.title

    @property
    def boundaries(self) -> Boundaries:
        """The boundaries of the text at all steps."""
        return self.column.boundaries

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer after the last decision."""
        return self.column.tokenizer

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.decisions)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The size of the vocabulary after each step of the tokenizer. int64 [steps + 1]."""
        return self.tokenizer.sizes if self.training is None else self.training.sizes

    @cached_property
    def shown(self) -> Boundaries:
        """The boundaries of the part."""
        return self.boundaries.slice(self.part.start, self.part.end)

    @property
    def part_in_bytes(self) -> Part:
        """The part in bytes of the text."""
        return part_of(self.text, self.part.first, self.part.last)

    @property
    def is_whole(self) -> bool:
        """Whether the whole text is shown."""
        return self.part.last - self.part.first == len(self.text)

    @property
    def _before(self) -> int:
        """The bytes of the text before the first of `boundaries`."""
        return 0 if self.part.start else len(self.text[: self.part.first].encode())

    @cached_property
    def coloring(self) -> Coloring:
        """Which tokens of the part touch at any step, with their color keys."""
        is_trained = self.training is not None and self.events is None
        opening = self.training.opening if self.training is not None and is_trained else None
        contacts = coloring.contacts(self.shown, opening)
        return Coloring(contacts, self.names.key, self.names.parents)

    def look(self, hues: Hues) -> Callable[[int], tuple[str, int]]:
        """Return a function from ids to labels and color indices."""
        label, key, *_ = self.names
        return lambda token_id: (label(token_id), hues.index(key(token_id)))

    def own_settings(self, last: int | None = None) -> list[str]:
        """Return the settings of its training in words, up to a last step."""
        steps = self.tokenizer.steps if last is None else last
        return settings_of(self.training, steps, self.options) if self.training is not None else []

    def settings(self, last: int | None = None) -> list[str]:
        """Return the same with the name of the training text, if it is another one."""
        words = self.own_settings(last)
        if self.trained_on is not None and self.trained_on.name is not None:
            words.append(f"Trained on {self.trained_on.name}")
        return words

    def at(self, step: int, title: str = "") -> Row:
        """Return the row of the text at a step alone, by default with the same title."""
        tokenizer = self.tokenizer if self.training is None else self.training.at_step(step)
        column = replace(self.column, title=title or self.title, tokenizer=tokenizer, step=step)
        return Row(column, self.text, self.part, names_of(tokenizer), NO_WORDS)

    @cached_property
    def uncolored(self) -> Timeline:
        """The timeline with color keys in place of color indices; callers must not change it."""
        atoms, kind = self.shown.atom_ids, self.tokenizer.atoms
        steps, removed = decision_columns(self.decisions), boundary_steps(self.shown)
        ids = {*atoms.tolist(), *steps["id"], *steps["left"], *steps["right"]}
        ids.update((removed["changes"] or {"ids": ()})["ids"])
        first, last = self.part.first, self.part.last
        label, key, *_ = self.names
        data: Timeline = {
            "key": "",
            "text": self.text[first:last],
            "atomKind": kind,
            "atomBytes": self._atom_sizes(),
            "endMarks": end_marks(self.tokenizer, atoms),
            # The id of a byte is the byte in tokenizers that were trained here.
            "atomIds": None if self._begins_at_bytes else atoms.tolist(),
            "mergedAt": removed["mergedAt"],
            "firstMergeId": removed["firstMergeId"],
            "changes": removed["changes"],
            "tokenStyles": token_styles(ids, lambda i: (label(i), key(i)))["tokenStyles"],
            "unknownLabel": self.names.unknown,
            "steps": steps,
            "unit": self.words.unit,
            "last": self.steps,
            "initialMessage": self.words.beginning,
            "emptyMessage": self.words.unchanged,
            "tokenCounts": self.boundaries.token_counts.tolist(),
            "changingSteps": unless_all(self.boundaries.change_steps + 1, self.boundaries.steps),
            "part": None if self.is_whole else [first, last, len(self.text)],
        }
        if len(self.column.breaks):
            data["rowEnds"] = self._row_ends()
        if self.words.algorithm:
            data["algorithm"] = self.words.algorithm
        if self.words.rule:
            data["rule"] = self.words.rule
        training = self.training
        if training is not None and self.events is None:
            data["weighted"] = training.weighted
            data["leftOut"] = self._left_out()
            data["trainedOn"] = self.trained_on.name if self.trained_on is not None else None
            data["tieRule"] = tie_rule(training, self.options)
        splitter = None if training is None else training.pre_tokenizer
        # It does not depend on the last step, so that a new size does not redraw the player.
        data["key"] = digest_of(splitter, data)
        return data

    @property
    def _begins_at_bytes(self) -> bool:
        is_trained = self.training is not None and self.events is None
        return is_trained and self.tokenizer.atoms == "bytes"

    def _atom_sizes(self) -> list[int] | None:
        """Return the bytes of each atom, or None for the usual sizes of this kind of atoms."""
        if self.tokenizer.atoms == "bytes":
            return None
        start = self.part.start
        before = self.boundaries.ends[start - 1] if start else self._before
        sizes: list[int] = np.diff(self.shown.ends, prepend=before).tolist()
        part = self.text[self.part.first : self.part.last]
        return None if sizes == [len(character.encode()) for character in part] else sizes

    def _row_ends(self) -> list[int]:
        """Return the atoms of the part that are line ends between documents."""
        start = int(self.boundaries.ends[self.part.start - 1]) if self.part.start else 0
        last = int(self.shown.ends[-1]) if len(self.shown) else 0
        inside = self.column.breaks[(self.column.breaks >= start) & (self.column.breaks < last)]
        ends: list[int] = np.searchsorted(self.shown.ends, inside + 1).tolist()
        return ends

    def _left_out(self) -> str:
        """Return which part of the text gets no tokens, in words, or ""."""
        is_dropped = self.boundaries.atom_ids == DROPPED_ID
        if np.count_nonzero(is_dropped) <= len(self.column.breaks):
            return ""
        raw = np.frombuffer(self.text.encode(), np.uint8)
        sizes = np.diff(self.boundaries.ends, prepend=0)
        parts: bytes = raw[np.repeat(is_dropped, sizes)].tobytes()
        if len(parts) <= len(self.column.breaks):  # end marks have no bytes
            return ""
        has_text = parts.decode(errors="replace").strip()
        return "some text left out" if has_text else "spaces left out"

    def timeline(self, hues: Hues) -> Timeline:
        """Return the timeline in these colors."""
        return colored(self.uncolored, hues)


def colored(uncolored: Timeline, hues: Hues) -> Timeline:
    """Return a timeline in colors, from one with color keys (`Row.uncolored`)."""
    styles: dict[int, Style] = {
        token_id: [label, hues.index(int(key))]
        for token_id, (label, key) in uncolored["tokenStyles"].items()
    }
    timeline = uncolored.copy()
    timeline["tokenStyles"], timeline["key"] = styles, digest_of([uncolored["key"], styles])
    return timeline


def hues_in(timeline: Timeline, row: Row) -> Hues:
    """Return the color indices of a timeline of a row."""
    styles = timeline["tokenStyles"].items()
    return Hues({row.names.key(i): int(color) for i, (_, color) in styles if i >= 0})


@dataclass(frozen=True, eq=False)
class Stage:
    """The rows of one text.

    Attributes:
        rows: The rows.
        colors: The color indices, if they are known, such as those of a text of which the rows show
            a part; by default those that tell the tokens of the rows apart.
        by_size: Whether the vocabulary size aligns the rows, as it does several.
        timelines: Those of the rows in these colors, if they are cached.
    """

    rows: Sequence[Row]
    colors: Hues | None = None
    by_size: bool = False
    timelines: Sequence[Timeline] | None = None

    @cached_property
    def hues(self) -> Hues:
        """The color indices of all rows at all steps."""
        return self.colors or coloring.hues([row.coloring for row in self.rows])

    @property
    def hues_at_end(self) -> Hues:
        """The color indices of the tokens after the last decision, unless others are known."""
        return self.colors or coloring.hues(
            Coloring(
                coloring.contacts_at(row.column.ids[slice(*_tokens_within(row))].tolist()),
                row.names.key,
            )
            for row in self.rows
        )

    @cached_property
    def payload(self) -> Player:
        """The payload of the player; callers must not change it."""
        views = [*(self.timelines or (row.timeline(self.hues) for row in self.rows))]
        if self.by_size:
            return self._aligned(views)
        view = views[0]
        return {
            "key": view["key"],
            "last": view["last"],
            "unit": view["unit"],
            "changingSteps": view["changingSteps"],
            "vocabSizes": None,
            "initialStep": 0,
            "views": views,
        }

    def _aligned(self, views: Sequence[Timeline]) -> Player:
        """Return the payload of rows that vocabulary sizes align (`steps_at`)."""
        row_sizes = [row.sizes for row in self.rows]
        # Only sizes that one of them has: there are none between a small vocabulary and GPT-2's.
        ranges = [np.arange(each.min(), each.max() + 1) for each in row_sizes]
        sizes = np.unique(np.concatenate(ranges))
        changing = np.zeros(len(sizes) - 1, np.bool_)
        aligned: list[Timeline] = []
        for row, view, own_sizes in zip(self.rows, views, row_sizes, strict=True):
            at = steps_at(own_sizes, int(sizes[0]), int(sizes[-1]))[sizes - sizes[0]]
            own = view["changingSteps"]
            changing |= np.diff(at if own is None else np.searchsorted(own, at, "right")) != 0
            aligned.append(view.copy())
            aligned[-1]["title"], aligned[-1]["ownSteps"] = row.title, at.tolist()
            aligned[-1]["vocabSizes"] = own_sizes.tolist()
        largest = [int(each.max()) for each in row_sizes]
        return {
            "key": digest_of([view["key"] for view in views]),
            "last": len(sizes) - 1,
            # The largest size that all of them have, except those without entries.
            "initialStep": int(np.searchsorted(sizes, min(filter(None, largest), default=0))),
            "vocabSizes": sizes.tolist(),
            "unit": "vocabulary",
            "changingSteps": unless_all(np.flatnonzero(changing) + 1, len(changing)),
            "views": aligned,
        }

    def upto(self, last: int) -> Player:
        """Return the payload of one row up to a last step; its key stays the same."""
        payload = self.payload.copy()
        view = payload["views"][0].copy()
        payload["last"] = view["last"] = last
        payload["views"] = [view]
        return payload

    @property
    def token_count(self) -> int:
        """The number of tokens of the only row after its last step."""
        return self.payload["views"][0]["tokenCounts"][-1]

    def diagram(self, mirrored: Stage | None = None) -> Player:
        """Return the payload of one row whose merges stand on the letters, at its last step.

        Args:
            mirrored: The same text under another tokenizer, whose merges hang below the letters.
        """
        payload = self.payload.copy()
        payload["isDiagram"], payload["initialStep"] = True, payload["last"]
        keys = ["diagram", payload["key"]]
        if mirrored is not None:
            payload["mirrored"] = mirrored.payload["views"][0]
            keys.append(payload["mirrored"]["key"])
        payload["key"] = digest_of(keys)
        return payload

    def own_steps(self, step: int) -> list[int]:
        """Return the step of each row at a step of the player."""
        return [view.get("ownSteps", range(step + 1))[step] for view in self.payload["views"]]

    def at(self, step: int) -> Stage:
        """Return the stage of the text at a step of the player alone."""
        own = zip(self.rows, self.own_steps(step), strict=True)
        return Stage([row.at(step) for row, step in own], self.hues)

    @property
    def columns(self) -> list[Column]:
        """The text under each tokenizer after the last decision."""
        return [row.column for row in self.rows]

    def score(self, *, ids: bool = False, ranks: bool = True, own: int | None = None) -> Score:
        """Return the payload of the rows at one step, that of the column of each.

        Args:
            ids: Whether to show the id of each token.
            ranks: Whether the rows are tokenizers, of which some need the fewest tokens.
            own: The row of the user's own tokenizer.
        """
        columns, first = self.columns, self.rows[0]
        compared = [_colored_tokens(row) for row in self.rows if not row.column.in_sample]
        hues = coloring.of_differences(compared, self.colors or Hues()) or self.hues_at_end
        standings = [verdict.standing(first.text, column) for column in columns] if ranks else []
        best = verdict.best(standings)
        # A mark for the best makes sense only if there are others.
        best = best if len(best) < len(verdict.compared(standings)) else []
        drawn: list[ScoreRow] = []
        for number, row in enumerate(self.rows):
            ends, tokens, distinct = _tokens(row, hues)
            drawn.append(
                {
                    "title": row.title,
                    "tokenCount": row.column.tokens,
                    "notes": _notes(row.column) if ranks else [],
                    "isBest": number in best,
                    "isOwn": number == own,
                    "isInSample": row.column.in_sample and len(columns) > 1,
                    "tokenEnds": ends,
                    "tokens": tokens,
                    "distinct": distinct,
                }
            )
        text = first.text[first.part.first : first.part.last]
        data: Score = {"key": "", "text": text, "rows": drawn, "showIds": ids}
        if len(places := first.column.breaks):
            part = first.part_in_bytes
            inside = (places >= part.start) & (places < part.end)
            data["rowEnds"] = (places[inside] - part.start).tolist()
        data["key"] = digest_of(data)
        return data

    def showing(self, part: Part) -> Stage:
        """Return the stage with another part of the text, which is given in bytes."""
        rows = (
            replace(row, part=part_between(row.boundaries, part, row.text)) for row in self.rows
        )
        return replace(self, rows=[*rows], timelines=None)


def _colored_tokens(row: Row) -> list[ColoredToken]:
    """Return the tokens in the part of a row."""
    first, last = _tokens_within(row)
    ends, key = row.column.cuts[first:last].tolist(), cache(row.names.key)
    starts = [int(row.column.cuts[first - 1]) if first else 0, *ends]
    return [*zip(starts, ends, map(key, row.column.ids[first:last].tolist()), strict=False)]


def _notes(column: Column) -> list[str]:
    """Return why the count of a column differs from what one expects."""
    special = int((column.boundaries.ids(column.step) <= SPECIAL_ID).sum())
    notes = {
        "trained on this text": column.in_sample,
        f"{counted(special, 'special token')}, split off as in training": bool(special),
    }
    return [note for note, holds in notes.items() if holds]


def _tokens_within(row: Row) -> tuple[int, int]:
    """Return the range of the tokens in the part of a row, those at its edges included."""
    ends, part = row.column.cuts, row.part_in_bytes
    last = max(ended(ends, part.end), ended(ends, part.end, before=True) + 1)
    return ended(ends, part.start), last


def _tokens(row: Row, hues: Hues) -> tuple[list[int], list[int], list[ScoreToken]]:
    """Return the tokens of a part: their ends in bytes, the index of each, and the distinct ones.

    Each of these is an id, a label, the bytes in hex, a color index, and the labels of the two
    tokens that it was merged from, if any; without a vocabulary, None, a label, a note, a color
    index, and another note. Tokens at the edges are cropped.
    """
    column, (label, key, parents, _, note) = row.column, row.names
    first, last = _tokens_within(row)
    ids, indices = np.unique(column.ids[first:last], return_inverse=True)
    distinct: list[ScoreToken] = []
    label = cache(label)
    for token_id in ids.tolist():
        color = hues.index(key(token_id))
        if note is not None:
            about, rule = note(token_id)
            distinct.append([None, label(token_id), about, color, rule])
        elif token_id in _NO_TOKENS:
            distinct.append([token_id, _NO_TOKENS[token_id], "", -1, []])
        else:
            raw = shorten(hexadecimal(column.tokenizer.token_bytes(token_id)))
            labels = [label(parent) for parent in parents(token_id) or ()]
            distinct.append([token_id, label(token_id), raw, color, labels])
    part = row.part_in_bytes
    token_ends = np.minimum(column.cuts[first:last], part.end) - part.start
    return token_ends.tolist(), indices.tolist(), distinct


def of_columns(columns: Sequence[Column], text: str, colors: Hues | None = None) -> Stage:
    """Return the stage of a text under tokenizers at one step of each, such as in a comparison.

    Args:
        columns: The text under each tokenizer.
        text: The whole text.
        colors: The color indices, if they are known.
    """
    whole = (Part(0, len(column.boundaries), 0, len(text)) for column in columns)
    rows = (
        Row(column, text, part, names_of(column.tokenizer), NO_WORDS)
        for column, part in zip(columns, whole, strict=True)
    )
    return Stage([*rows], colors)


def of_training(
    training: Training,
    text: str | Documents,
    boundaries: Boundaries | None = None,
    part: Part | None = None,
    *,
    title: str = "",
    trained_on: TrainedOn | None = None,
    options: Mapping[str, object] | None = None,
) -> Row:
    """Return the row of a text under a training history.

    Args:
        training: The training history.
        text: The text to show, or documents, of which each is encoded alone.
        boundaries: Its boundaries under the last tokenizer, or None to compute them.
        part: The part to show; by default the first one.
        title: The name of the row; by default that of the algorithm.
        trained_on: The training text; by default the text.
        options: The options of the trainer that are not the default, if they are known.

    Raises:
        ValueError: The text cannot be tokenized.
    """
    trainer, texts = TRAINERS[training.algorithm], texts_of(training)
    if boundaries is None:
        boundaries = training.boundaries(text)
    beginning = texts.beginning(training)
    has_special = bool((boundaries.atom_ids <= SPECIAL_ID).any())
    words = RowWords(
        texts.unit,
        f"{beginning} {'Special tokens stay whole.' * has_special}".rstrip(),
        beginning,
        trainer.title,
        trainer.rule,
    )
    whole = whole_text(text)
    tokenizer, breaks = training.at_step(training.steps), breaks_of(text)
    title = title or trainer.title
    return Row(
        Column(title, tokenizer, boundaries, training.steps, breaks=breaks),
        whole,
        part or parts(whole, boundaries)[0],
        names_of(tokenizer, training),
        words,
        training.decisions,
        training,
        trained_on or TrainedOn(None, text, boundaries),
        options,
    )


def names_of(
    tokenizer: Tokenizer, training: Training | None = None, special_ids: Collection[int] = ()
) -> TokenNames:
    """Return the names of the tokens of a tokenizer.

    Args:
        tokenizer: The tokenizer.
        training: Its training history, which also has pruned pieces and special tokens of steps.
        special_ids: Ids that are special tokens now, although a pruned piece may have had them.
    """
    unknown = tokenizer.unknown_id

    def label(token_id: int) -> str:
        if training is None or token_id in special_ids:
            return shorten(tokenizer.token_label(token_id))
        if token_id <= SPECIAL_ID:
            return training.special_names[token_id - SPECIAL_ID - 1]
        return training.name(token_id)

    @cache  # for the colors and the payload
    def key(token_id: int) -> int:
        if training is None or token_id in special_ids:
            return coloring.key_of(tokenizer, token_id)
        return -1 if token_id <= SPECIAL_ID else training.color_key(token_id)

    def parents(token_id: int) -> tuple[int, int] | None:
        is_trained = training is not None and token_id not in special_ids
        return (training if training and is_trained else tokenizer).parents(token_id)

    if training is not None:
        return TokenNames(label, key, parents, training.pre_tokenizer.unknown)
    return TokenNames(
        label, key, parents, None if unknown is None else tokenizer.token_label(unknown)
    )


def of_pieces(
    text: str,
    title: str,
    pieces: Sequence[tuple[int, int]],
    names: TokenNames,
    tokenizer: Tokenizer | None = None,
) -> Row:
    """Return the row of a text in pieces, without steps.

    Args:
        text: The text.
        title: The name of the row, "" if it is alone.
        pieces: The id and the bytes of each piece; together they are the text.
        names: The names of the pieces.
        tokenizer: Their tokenizer, over bytes, if there is one.
    """
    raw = np.frombuffer(text.encode(), np.uint8).astype(np.int32)
    entries = np.full(len(raw), INSIDE_ID, np.int32)
    sizes = np.array([size for _, size in pieces], np.int64)
    entries[np.cumsum(sizes) - sizes] = [token_id for token_id, _ in pieces]
    boundaries = ChangingBoundaries(
        np.arange(1, len(raw) + 1, dtype=np.int32),
        raw,
        0,
        np.arange(len(raw) + 1),
        np.full(len(raw), -1, np.int32),
        entries,
    )
    name = title or "The text"
    words = RowWords("step", name, name, rule=name)
    column = Column(title, tokenizer or _without_merges(), boundaries, 0)
    return Row(column, text, Part(0, len(raw), 0, len(text)), names, words)


@cache
def _without_merges() -> Tokenizer:
    return bpe_training.train("", bpe_training.BpeOptions(merges=0)).tokenizer()


def names_in(styles: Mapping[int, tuple[str, int]]) -> TokenNames:
    """Return the names of pieces by the label and the color index of each id."""
    none = ("", -1)  # of atoms, which are not drawn
    return TokenNames(
        lambda token_id: styles.get(token_id, none)[0],
        lambda token_id: styles.get(token_id, none)[1],
        lambda _: None,
        None,
    )


_COLUMNS = {
    "merge": {"id": "new_id"}
    | {name: name for name in ("left", "right", "applied", "ties", "score")},
    "pruning": {"id": "id", "score": "loss", "round": "round"},
}
"""The columns of decisions, each with its attribute."""


def decision_columns(decisions: Decisions) -> Steps:
    """Return the columns of decisions for the player: lists of equal length, or empty."""
    kind = "pruning" if decisions and isinstance(decisions[0], Pruning) else "merge"
    columns: dict[str, list[Any]] = {name: [] for names in _COLUMNS.values() for name in names}
    for name, attribute in _COLUMNS[kind].items():
        values = [getattr(decision, attribute) for decision in decisions]
        columns[name] = [] if None in values else values
    counts = [decision.count for decision in decisions]
    notes = {number: decision.note for number, decision in enumerate(decisions) if decision.note}
    return cast(Steps, {"kind": kind, "notes": notes, "count": counts, **columns})


def token_styles(ids: Iterable[int], look: Callable[[int], tuple[str, int]]) -> TokenStyles:
    """Return the label and color index of each id, without those of no token."""
    named = (token_id for token_id in sorted({*ids}) if token_id >= 0 or token_id <= SPECIAL_ID)
    return {"tokenStyles": {token_id: [*look(token_id)] for token_id in named}}


def boundary_steps(boundaries: Boundaries) -> BoundarySteps:
    """Return the steps at which boundaries change."""
    if isinstance(boundaries, MergeBoundaries) and not (boundaries.merged_at < 0).any():
        merged_at = np.where(boundaries.merged_at == NEVER, -1, boundaries.merged_at)
        return {
            "mergedAt": merged_at.tolist(),
            "firstMergeId": boundaries.first_merge_id,
            "changes": None,
        }
    table = boundaries.as_changes()
    return {
        "mergedAt": None,
        "firstMergeId": None,
        "changes": {
            "counts": np.diff(table.rows).tolist(),
            "steps": table.times.tolist(),
            "ids": table.entries.tolist(),
        },
    }


def end_marks(tokenizer: Tokenizer, atom_ids: NDArray[np.int32]) -> list[int]:
    """Return the indices of atoms with an end-of-word mark."""
    marks: list[int] = np.flatnonzero(np.isin(atom_ids, [*tokenizer.end_of_word_ids])).tolist()
    return marks


def tie_rule(training: Training, options: Mapping[str, object] | None) -> str | None:
    """Return which of equal pairs wins, as half a sentence, if the trainer's options are known."""
    for option in TRAINERS[training.algorithm].options if options is not None else ():
        if option.name == "ties":
            return TIE_WINNERS.get(str((options or {}).get("ties", option.default)))
    return None


def steps_at(own_sizes: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
    """Return the last step of a training for each vocabulary size from `low` to `high`.

    Outside its size range, a training stays at its smallest or largest size. If it skips a size (as
    Scaffold-BPE can), the step is the last one with a smaller size.

    Args:
        own_sizes: The size of the vocabulary after each step of the training. int64 [steps + 1].
        low: The smallest size.
        high: The largest size.
    """
    sizes = np.clip(np.arange(low, high + 1), own_sizes.min(), own_sizes.max())
    distinct, from_the_end = np.unique(own_sizes[::-1], return_index=True)
    steps = len(own_sizes) - 1 - from_the_end
    below = np.searchsorted(distinct, sizes, "right") - 1
    last_steps: NDArray[np.int64] = np.where(
        distinct[below] == sizes, steps[below], np.maximum.accumulate(steps)[below]
    )
    return last_steps


def unless_all(changing: NDArray[np.integer[Any]], steps: int) -> list[int] | None:
    """Return the numbers of the steps that change a token of the text, or None if all do."""
    numbers: list[int] = changing.tolist()
    return None if len(numbers) == steps else numbers
