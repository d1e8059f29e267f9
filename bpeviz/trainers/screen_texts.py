"""On-screen texts about a training history, declared once per trainer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.hidden_tokens import HiddenTokenTraining
from bpeviz.corpus.documents import Documents
from bpeviz.text import counted

_MOST = 3
"""The most tokens that a table cell names."""


@dataclass(frozen=True)
class Survival:
    """Which pieces of a vocabulary live through which round of pruning.

    Attributes:
        pieces: Some pieces, in the order of their rounds: the name, the number of the round that
            prunes it, the rise of the loss without it, and how many tokens of the text it is.
        sizes: The size of the vocabulary at first and after each round.
        now: The number of rounds that are over, with the part of one that has begun.
        costs: The costs of all pruned pieces.
    """

    pieces: Sequence[tuple[str, int, float, int]]
    sizes: Sequence[int]
    now: float
    costs: Sequence[float]


@dataclass(frozen=True)
class Detail:
    """A table or picture that only one trainer displays at a step.

    Attributes:
        title: Heading, in lower case.
        about: Explanation below the heading.
        content: Computes the columns of the table by name, of equal length, or the picture.
        tokens: The names of the columns that contain ids of tokens, one or several in a cell.
    """

    title: str
    about: str
    content: Callable[[], Mapping[str, Sequence[Any]] | Survival]
    tokens: Collection[str] = ()


@dataclass(frozen=True)
class Randomness:
    """The method by which a trainer's tokenizers draw random segmentations.

    Attributes:
        title: Name of the method.
        about: Explanation of the method.
        strength: Name of its parameter, a number from 0 to `most`.
        most: Largest value of the parameter.
        initial: Initial value of the parameter.
    """

    title: str
    about: str
    strength: str
    most: float
    initial: float


DROPOUT = Randomness(
    "BPE-dropout",
    "Encoding drops each possible merge with this probability, so one word gets many "
    "segmentations. Use it only to encode the text on which a language model is trained. The "
    "vocabulary stays the same (Provilkov et al. 2020, arXiv:1910.13267).",
    "Probability of dropping a merge",
    1.0,
    0.1,
)


def every_atom_is_a_token(atoms: str) -> str:
    """Return the sentence about a text before the first merge, from the name of its atoms."""
    return f"At first, every letter is a token{' (beyond ASCII: every byte)' * (atoms == 'bytes')}."


def _beginning(training: Any) -> str:
    """Return the sentence about step 0 of a training that merges."""
    return every_atom_is_a_token(training.pre_tokenizer.atoms)


def atoms_and_merges(training: Any, step: int) -> str:
    """Return the vocabulary after `step` merges, such as "256 bytes + 1 merge"."""
    atoms = training.pre_tokenizer.atoms
    return f"{len(training.alphabet)} {atoms} + {counted(step, 'merge')}"


@dataclass(frozen=True)
class ScreenTexts:
    """On-screen texts about a training history. The defaults fit trainers that merge pairs.

    Attributes:
        unit: Name of a step.
        verb: What a step does.
        rule: Sentence about these candidates; {step} is the number of the step.
        race: Heading of the best candidates of a step, beside the player.
        curve: Name of the values that decide (`Training.curve`).
        score: Name of the column with the score of a decision, if it has one.
        beginning: Returns the sentence about step 0 of a training.
        vocabulary: Returns the contents of the vocabulary after a step, in a few words.
        details: Returns the tables that only this trainer shows after a step. Its arguments are
            the training, its text, the text's boundaries under the last tokenizer, and the step.
        randomness: The method to draw random segmentations, if `Training.stochastic`.
    """

    unit: str = "merge"
    verb: str = "merge"
    rule: str = "The most frequent pairs before merge {step}."
    race: str = "Most frequent pairs"
    curve: str = "count of the pair"
    score: str | None = None
    beginning: Callable[[Any], str] = _beginning
    vocabulary: Callable[[Any, int], str] = atoms_and_merges
    details: Callable[[Any, str | Documents, Boundaries, int], list[Detail]] = lambda *_: []
    randomness: Randomness = DROPOUT


def texts_of_hidden(kind: str, title: str, about: str) -> ScreenTexts:
    """Return the texts of a trainer that may hide tokens.

    Args:
        kind: What the hidden tokens are, after their number.
        title: Heading of their table.
        about: Explanation of this table, with fields of the training.
    """

    def vocabulary(training: Any, step: int) -> str:
        atoms = atoms_and_merges(training, step)
        if not isinstance(training, HiddenTokenTraining):
            return atoms
        return f"{atoms}, {int(training.n_hidden[step]):,} of them {kind}"

    def details(
        training: Any, text: str | Documents, boundaries: Boundaries, step: int
    ) -> list[Detail]:
        if not isinstance(training, HiddenTokenTraining):
            return []
        table = partial(_hidden_table, training, step)
        return [Detail(title, about.format(training), table, ("token", "merged into"))]

    return ScreenTexts(vocabulary=vocabulary, details=details)


def _hidden_table(training: HiddenTokenTraining, step: int) -> dict[str, Sequence[object]]:
    """Return the columns of a table of the tokens hidden after `step` merges, the latest first."""
    first = len(training.alphabet)
    occurrences = [0] * (first + step)
    merged_into: dict[int, list[int]] = {}
    for merge in training.merges[:step]:
        occurrences[merge.new_id] = merge.applied
        occurrences[merge.left] -= merge.applied
        occurrences[merge.right] -= merge.applied
        for part in {merge.left, merge.right}:
            merged_into.setdefault(part, []).append(merge.new_id)
    hidden = []
    for token_id, hidden_times in enumerate(training.hidden_times[:step], first):
        past = bisect_left(hidden_times, step)
        if past % 2:
            hidden.append((hidden_times[past - 1] + 1, token_id))
    hidden.sort(reverse=True)
    ids = [token_id for _, token_id in hidden]

    return {
        "token": ids,
        "id": ids,
        "since merge": [since for since, _ in hidden],
        "times": [occurrences[token_id] for token_id in ids],
        "merged into": [merged_into.get(token_id, [])[:_MOST] for token_id in ids],
        "times merged": [len(merged_into.get(token_id, [])) for token_id in ids],
    }
