"""Chapter 8: golf, with merges of one's own and with real vocabularies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from math import inf
from typing import NamedTuple

import regex

import bpeviz
from bpeviz.core.boundaries import MergeBoundaries
from bpeviz.core.training import MergeTraining
from bpeviz.pretrained.catalog import title
from bpeviz.text import counted, label
from bpeviz.trainers import bpe
from bpeviz.ui.learn import engine, figures
from bpeviz.ui.learn.base import DON_QUIJOTE, SENTENCES, Chapter, NoQuestionError, Question, Task
from bpeviz.ui.runtime.cache import cached
from bpeviz.views.acts import Judgment, MergesAct, TypeAct, Verdict, token
from bpeviz.views.payloads import MessagePart, MessageRow, Player, StageTask
from bpeviz.views.stage import Row, Stage

GOAL = min(figures.GOLF)
"""The tokens to reach with the opening of Don Quijote."""

PAR_MERGES = 10
"""The most merges of byte-pair encoding that are par for a text of the user's own."""

LONGEST, LETTERS = 20, 3
"""The most characters of a typed text, and the fewest letters of a word."""

TWO = ("gpt2", "o200k_base")
THOUSAND, RARE = "1000", "ᏣᎳᎩ"
"""A text with more tokens in GPT-4o than in GPT-2, and the name of the Cherokee language."""


class Hole(NamedTuple):
    """A number of tokens to reach.

    Attributes:
        tokens: The number.
        par: The merges of byte-pair encoding.
        best: The fewest merges known, or None.
    """

    tokens: int
    par: int
    best: int | None = None

    @property
    def words(self) -> str:
        """Par and the best known number of merges."""
        return f"par {self.par}" + (f", best known {self.best}" if self.best else "")


def holes(text: str) -> list[Hole]:
    """Return the numbers of tokens to reach with a text, the last one the goal.

    Raises:
        NoQuestionError: No pair of the text repeats.
    """
    if text == DON_QUIJOTE:
        return [Hole(tokens, *merges) for tokens, merges in figures.GOLF.items()]
    training = engine.merges_of(text, merges=PAR_MERGES, min_count=2)
    if not training.steps:
        raise NoQuestionError("No two neighbors repeat in this text. Type a longer one.")
    return [Hole(int(training.boundaries(text).token_counts[-1]), training.steps)]


def pairs_at(text: str, places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pair of ids at each of some places, each merged before the next one.

    Raises:
        ValueError: There is no pair at a place.
    """
    ids, sizes = [*text.encode()], [1] * 256
    pairs = []
    for place in places:
        left = [*accumulate(sizes[i] for i in ids[:-1])].index(place + 1)
        pair = ids[left], ids[left + 1]
        ids = bpe.merge(ids, pair, len(sizes))
        sizes.append(sizes[pair[0]] + sizes[pair[1]])
        pairs.append(pair)
    return pairs


@cached()
def _own(text: str, pairs: tuple[tuple[int, int], ...]) -> MergeTraining:
    return figures.own_merges(text, pairs)


def token_counts(text: str, places: Sequence[int]) -> list[int]:
    """Return the tokens of a text after each of some merges, from 0 merges on.

    Raises:
        ValueError: There is no pair at a place.
    """
    training = _own(text, tuple(pairs_at(text, places)))
    counts: list[int] = training.boundaries(text).token_counts.tolist()
    return counts


def _merges(text: str) -> Task[list[int]]:
    course = holes(text)
    goal, par, best = course[-1]
    known = _own(text, figures.BEST_KNOWN) if best else engine.merges_of(text, merges=par)
    boundaries = known.boundaries(text)
    assert isinstance(boundaries, MergeBoundaries)  # noqa: S101 (for the type)
    when = boundaries.merged_at.tolist()
    example = [when.index(step) for step in range(known.steps)]

    def is_possible(given: Sequence[int]) -> bool:
        try:
            return all(tokens > goal for tokens in token_counts(text, given)[:-1])
        except ValueError:
            return False

    def judge(given: list[int] | None) -> Judgment[list[int]]:
        if given is None:
            fewest = "the fewest known" if best else "those of byte-pair encoding"
            return Judgment("right", [f"{counted(len(example), 'merge')}, {fewest}."], example)
        counts = token_counts(text, given)
        so_far = f"{counted(counts[-1], 'token')} after {counted(len(given), 'merge')}"
        if counts[-1] > goal:
            return Judgment("wrong", [f"{so_far}: {counts[-1] - goal:,} to go."])
        return Judgment("right", [f"{so_far}, {_against(len(given), par)}."])

    def score(given: list[int]) -> tuple[float, str]:
        if token_counts(text, given)[-1] > goal:
            return -inf, ""
        return -len(given), counted(len(given), "merge")

    def payload(done: int, given: list[int] | None) -> Player:
        is_shown = bool(done) and given is None
        chosen = pairs_at(text, example if is_shown else given or [])
        training, last = _own(text, tuple(chosen)), len(chosen)
        colors = engine.hues_after(lambda step: _own(text, tuple(chosen[:step])), text, last)
        row = engine.stage_of(training, text).rows[0]
        words = row.words._replace(algorithm="Your merges", rule="the pairs that you choose")
        data = engine.on_stage(Stage([replace(row, words=words)], colors), "golf", is_shown)
        counts = data["views"][0]["tokenCounts"]
        task: StageTask = {"rows": [_scores(course, counts)], "canShow": not is_shown}
        data["task"] = task
        if is_shown:
            data["plays"], task["actions"] = True, {"Start over": []}
            return data
        ends = training.boundaries(text).token_ends(last)[:-1] - 1
        task["places"] = ends.tolist() if counts[-1] > goal else []
        task["actions"] = {"Undo": given[:-1], "Start over": []} if given else {}
        return data

    question = Question(MergesAct(is_possible), judge, score=score)
    return Task([lambda: question], payload, {"goal": goal, "par": par})


def _against(merges: int, par: int) -> str:
    """Return a number of merges compared with that of byte-pair encoding."""
    if merges == par:
        return "as many as byte-pair encoding needs"
    return f"{abs(merges - par):,} {'fewer' if merges < par else 'more'} than byte-pair encoding"


def _scores(course: Sequence[Hole], counts: Sequence[int]) -> MessageRow:
    """Return the list of the numbers of tokens to reach, with the merges that reached them."""
    items: list[list[MessagePart]] = []
    for hole in course:
        reached = next((i for i, tokens in enumerate(counts) if tokens <= hole.tokens), None)
        score = hole.words if reached is None else f"{counted(reached, 'merge')} ({hole.words})"
        items.append([f"{counted(hole.tokens, 'token')}: {score}"])
    return {"title": "Goals", "items": items, "numbered": False}


def _rows(text: str, names: Sequence[str]) -> list[Row]:
    """Return a text in the tokens of published vocabularies, a row each."""
    titles = [title(name) for name in names] if len(names) > 1 else [""]
    return engine.encoded_rows(text, dict(zip(titles, map(bpeviz.load, names), strict=True)))


def difference(text: str) -> tuple[int, str]:
    """Return how many more tokens a text has in GPT-4o than in GPT-2, and both in words."""
    old, new = (len(bpeviz.load(name).encode(text)) for name in TWO)
    return new - old, f"{counted(new, 'token')} in GPT-4o, {old:,} in GPT-2"


def _judge_more(given: str | None) -> Judgment[str]:
    more, words = difference(text := THOUSAND if given is None else given)
    message: list[MessagePart] = [token(label(text.encode())), f" has {words}: {more:+,}."]
    verdict: Verdict = "right" if more > 0 else "wrong"
    return Judgment(verdict, message if text else ["Type a text."], THOUSAND)


def _score_more(given: str) -> tuple[float, str]:
    more, _ = difference(given)
    return more, f"{more:+,}" if more > 0 else ""


def per_letter(word: str) -> float:
    """Return the tokens per letter of a word in GPT-4o, or 0 if it has other signs or is short.

    Signs that belong to a letter, such as accents, count as letters.
    """
    if len(word) < LETTERS or not regex.fullmatch(r"[\p{L}\p{M}]+", word):
        return 0
    return len(bpeviz.load(TWO[1]).encode(word)) / len(word)


def _judge_dense(given: str | None) -> Judgment[str]:
    ratio = per_letter(word := RARE if given is None else given)
    if not ratio:
        return Judgment("wrong", [f"Type at least {LETTERS} letters, and no other signs."])
    letters, tokens = counted(len(word), "letter"), counted(round(ratio * len(word)), "token")
    words = f" has {letters} and {tokens}: {ratio:.2f} for each letter."
    message: list[MessagePart] = [token(label(word.encode())), words]
    return Judgment("right" if ratio > 1 else "wrong", message, RARE)


def _score_dense(given: str) -> tuple[float, str]:
    ratio = per_letter(given)
    return ratio, f"{ratio:.2f} for each letter" if ratio else ""


CHAPTER = Chapter(
    key="golf",
    texts={"merges": SENTENCES[:3]},
    tasks={"merges": _merges},
    own="merges",
    longest=200,
    figures=lambda: {"goal": GOAL},
)

EXTRAS = Chapter(
    key="end",
    texts={"more": [""], "dense": [""]},
    tasks={
        "more": lambda text: engine.typed(
            Question(TypeAct(LONGEST), _judge_more, score=_score_more), partial(_rows, names=TWO)
        ),
        "dense": lambda text: engine.typed(
            Question(TypeAct(LONGEST), _judge_dense, score=_score_dense),
            partial(_rows, names=TWO[1:]),
        ),
    },
    own_needs=TWO,
    figures=lambda: {"length": LONGEST, "letters": LETTERS},
)
"""The tasks of the last page."""
