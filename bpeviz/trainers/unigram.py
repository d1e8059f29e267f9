"""Unigram: start with many pieces, and prune the ones with the smallest loss.

Source: Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple
Subword Candidates", 2018, arXiv:1804.10959, section 3.2. Each piece has a probability that does not
depend on its neighbors. A text is segmented into the pieces with the highest product of
probabilities (see `bpeviz.core.lattice`). A round of training (`prune`):

1. EM estimates the probabilities: the expected count of each piece over all segmentations of the
   text, divided by the sum of all expected counts.
2. The loss of a piece is the rise of the negative log likelihood of the best segmentations, in
   nats, if the piece is removed and nothing else changes (Hugging Face course, chapter 6.7).
3. The cheapest `pruned_share` percent of the pieces are pruned, except single atoms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bpeviz import progress
from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import UNKNOWN_ID, Boundaries, Timeline
from bpeviz.core.fields import InvalidFieldError
from bpeviz.core.lattice import (
    Floats,
    Lattice,
    Lattices,
    UnigramModel,
    index_of,
    rounded,
)
from bpeviz.core.tokenizer import AtomRow, NonMonotonicTokenizer, Segmentation, Word
from bpeviz.core.training import Candidate, Pruning, Stopped, Training
from bpeviz.corpus.documents import Documents
from bpeviz.pretokenizers.pretokenizer import Atoms, PreTokenizer
from bpeviz.text import clean, color_key, counted, shorten
from bpeviz.trainers.base import Corpus, Option, Options, Trainer
from bpeviz.trainers.options import ATOMS
from bpeviz.trainers.preparation import PER_ATOM, alphabet_of, count_pre_tokens, merge_limit
from bpeviz.trainers.screen_texts import Detail, Randomness, ScreenTexts, Survival

SEED_SIZE = 10_000
MAX_EM_STEPS = 20

LEAST_EXPECTED = 1e-6
"""The lower limit of the expected count of a piece, so that its logarithm is finite."""


def prune(
    texts: Sequence[str],
    weights: Sequence[int],
    pieces: Sequence[str],
    counts: Sequence[int],
    n_atoms: int,
    *,
    em_steps: int = 2,
    pruned_share: int = 25,
) -> tuple[tuple[str, ...], tuple[PruningRound, ...]]:
    """Prune pieces round by round until only the atoms are left.

    SentencePiece differs: its EM uses the digamma function of the counts, and drops pieces with an
    expected count below 0.5. It estimates a loss by replacing each use of the piece by its best
    segmentation into other pieces.

    Args:
        texts: Distinct texts, whose atoms are one character each.
        weights: Count of each text.
        pieces: The initial pieces; the first `n_atoms` are the atoms.
        counts: Count of each piece, which determines the initial probabilities.
        n_atoms: Number of atoms.
        em_steps: EM steps per round.
        pruned_share: Percentage of the pieces, without atoms, that a round prunes.

    Returns:
        The pieces by id (the atoms, then the piece pruned last, …), and the rounds.
    """
    weight = np.asarray(weights, np.float64)
    lattices = Lattices.of(texts, index_of(pieces))
    alive = np.ones(len(pieces), np.bool_)
    scores = log_probabilities(np.asarray(counts, np.float64), alive)
    values = []
    given_up: list[int] = []
    while True:
        progress.report("Pruning pieces", len(given_up), len(pieces) - n_atoms)
        for _ in range(em_steps):
            expected = lattices.expected(scores[lattices.ids], weight, len(pieces))
            scores = log_probabilities(expected, alive)
        loss, uses, losses = lattices.losses(scores, weight, n_atoms)
        cheapest = sorted(
            (np.flatnonzero(alive[n_atoms:]) + n_atoms).tolist(),
            key=lambda i: (losses[i], scores[i], -len(pieces[i]), pieces[i]),
        )
        values.append((loss, scores, losses, uses, cheapest, len(given_up)))
        if not cheapest:
            return _numbered(pieces, n_atoms, given_up, values)
        pruned = cheapest[: -(-len(cheapest) * pruned_share // 100)]
        alive[pruned] = False
        given_up += pruned
        lattices = lattices.keep(alive[lattices.ids])


@dataclass(frozen=True, kw_only=True)
class UnigramOptions(Options):
    """Options of Unigram.

    `vocab_size` is the number of atoms and pieces at the end; None: only the atoms. The pruned
    pieces and their ids do not depend on it.
    """

    atoms: Atoms = ATOMS.field(
        help="The single pieces that are never pruned. Characters: those of the training text; "
        "any other is unknown later. Bytes: the text in UTF-8, so nothing is unknown.",
        default="characters",
        choices={"characters": "Characters", "bytes": "Bytes"},
    )
    seed_size: int | None = Option(
        "Initial pieces",
        "The number of single characters or bytes and frequent substrings before pruning.",
        SEED_SIZE,
    ).field(unset=None)
    """None: 10,000, or four times `vocab_size` if that is more."""
    max_piece: int = Option(
        "Longest piece",
        "The largest number of characters or bytes in a piece; 16 as in SentencePiece.",
        16,
    ).field()
    em_steps: int = Option(
        "EM steps per round",
        "How often a round estimates the probabilities of the pieces before it prunes, by "
        f"expectation-maximization: 1 to {MAX_EM_STEPS}.",
        2,
        maximum=MAX_EM_STEPS,
    ).field()
    pruned_share: int = Option(
        "Pruned per round, in percent",
        "The share of the pieces that a round prunes: 1 to 100. Less is more exact, and slower.",
        25,
        maximum=100,
    ).field()


def train(corpus: Corpus, options: UnigramOptions) -> UnigramTraining:
    """Train Unigram."""
    atoms, vocab_size = options.atoms, options.vocab_size
    pre_tokenizer = ShortPreTokens(atoms, options.pattern, options.expression)
    pre_tokens = count_pre_tokens(corpus, pre_tokenizer)
    texts = ["".join(pre_tokenizer.symbols(pre_token)) for pre_token in pre_tokens]
    weights = [*pre_tokens.values()]
    alphabet = alphabet_of(texts, pre_tokenizer)
    merge_limit(options, len(alphabet), PER_ATOM[atoms])
    seed_size = options.seed_size
    if seed_size is None:
        seed_size = max(SEED_SIZE, 4 * (vocab_size or 0), len(alphabet))
    if seed_size < (vocab_size or 0):
        raise ValueError(f"The option seed_size must be at least {vocab_size}, not {seed_size}.")
    n_seeds = merge_limit(replace(options, vocab_size=seed_size), len(alphabet), PER_ATOM[atoms])
    atom_counts: Counter[str] = Counter()
    for text, count in zip(texts, weights, strict=True):
        for symbol in text:
            atom_counts[symbol] += count
    seed_counts = seeds(texts, weights, options.max_piece, n_seeds)
    pieces, rounds = prune(
        texts,
        weights,
        [*alphabet, *seed_counts],
        [*(atom_counts[symbol] for symbol in alphabet), *seed_counts.values()],
        len(alphabet),
        em_steps=options.em_steps,
        pruned_share=options.pruned_share,
    )
    stopped: Stopped = "atoms"
    if vocab_size is not None:
        stopped = "full"
        steps = max(0, len(pieces) - vocab_size)
        rounds = tuple(
            replace(of_round, after=max(of_round.after, len(pieces) - steps))
            for of_round in rounds
            if of_round.start <= steps
        )
    return UnigramTraining(
        "unigram", pre_tokenizer, alphabet, stopped, options.special_tokens, pieces, rounds
    )


def log_probabilities(counts: NDArray[np.float64], alive: NDArray[np.bool_]) -> Floats:
    """Return the log of each count divided by the sum of the counts alive. float64 [pieces]."""
    counts = np.maximum(counts, LEAST_EXPECTED)
    return rounded(np.log(counts / counts[alive].sum()))


def _numbered(
    pieces: Sequence[str], n_atoms: int, given_up: Sequence[int], values: Sequence[Any]
) -> tuple[tuple[str, ...], tuple[PruningRound, ...]]:
    """Assign ids to the pieces in reverse order of pruning, and return them with the rounds.

    Args:
        pieces: The initial pieces.
        n_atoms: Number of atoms.
        given_up: Index of each pruned piece, in the order of pruning.
        values: The values of each round by index, and the number of pieces pruned before it.
    """
    by_id = np.array([*range(n_atoms), *reversed(given_up)], np.int64)
    id_of = np.empty(len(pieces), np.int64)
    id_of[by_id] = np.arange(len(pieces))
    rounds = []
    for number, (loss, scores, losses, uses, cheapest, start) in enumerate(values):
        before = len(pieces) - start
        after = len(pieces) - values[number + 1][-1] if number + 1 < len(values) else before
        ids = by_id[:before]
        rounds.append(
            PruningRound(
                number + 1,
                start,
                before,
                after,
                loss,
                scores[ids],
                losses[ids],
                uses[ids].astype(np.int64),
                id_of[cheapest],
            )
        )
    return tuple(pieces[i] for i in by_id.tolist()), tuple(rounds)


# --- Seed pieces ---------------------------------------------------------------------------------


def substrings(
    texts: Sequence[str], weights: Sequence[int], longest: int
) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.bool_]]:
    """Find the substrings of 2 to `longest` atoms that occur at least twice in weighted texts.

    Substrings are counted length by length. The class of a substring follows from its last atom and
    the class of the atoms before. A rare substring is not part of a frequent one, so the number of
    positions falls with the length.

    Returns:
        For each substring: its first (start, end) in the joined texts, its count with overlaps, and
        whether all its occurrences are inside one longer substring that is also found.
    """
    joined = "".join(texts)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    position = np.arange(len(joined))
    room = np.repeat(np.cumsum(sizes), sizes) - position  # atoms up to the end of the text
    weight = np.repeat(np.asarray(weights, np.float64), sizes)
    codes = np.frombuffer(joined.encode("utf-32-le"), np.uint32)
    kinds, atom = np.unique(codes, return_inverse=True)

    classes = atom  # of the substring that begins at each position, -1 if it is too rare
    count = np.bincount(atom, weight).astype(np.float64)
    first = np.empty(0, np.int64)
    spans: list[tuple[int, int]] = []
    counts, inside = [np.empty(0)], [np.empty(0, np.bool_)]
    for length in range(2, longest + 2):
        progress.report("Searching pieces of each length", length - 2, longest)
        position = position[(room[position] >= length) & (classes[position] >= 0)]
        if length > longest:
            position = position[:0]
        keys = classes[position] * len(kinds) + atom[position + length - 1]
        _, seen, new = np.unique(keys, return_index=True, return_inverse=True)
        new_count = np.bincount(new, weight[position], len(seen)).astype(np.float64)
        frequent = new_count >= 2
        seen, new_count = position[seen][frequent], new_count[frequent]
        if length > 2:
            # If a substring and a longer one have equal counts, it only occurs inside that one.
            only_inside = np.zeros(len(count), np.bool_)
            for part in (classes[seen], classes[np.minimum(seen + 1, len(joined) - 1)]):
                only_inside[part[count[part] == new_count]] = True
            spans += zip(first.tolist(), (first + length - 1).tolist(), strict=True)
            counts.append(count)
            inside.append(only_inside)
        number = np.where(frequent, np.cumsum(frequent) - 1, -1)
        classes = np.full(len(joined), -1, np.int64)
        classes[position] = number[new]
        first, count = seen, new_count
        if not len(first):
            break
    return spans, np.concatenate(counts).astype(np.int64), np.concatenate(inside)


def seeds(texts: Sequence[str], weights: Sequence[int], longest: int, most: int) -> dict[str, int]:
    """Return the initial pieces, without the atoms, and their counts.

    They are the frequent substrings of the pre-tokens. If there are more than `most`, substrings
    that only occur inside a longer one are dropped first. Then those with the smallest count times
    length are dropped (SentencePiece's criterion); among ties, the last in code point order.
    """
    joined = "".join(texts)
    spans, counts, inside = substrings(texts, weights, longest)
    gains = counts * np.fromiter((end - start for start, end in spans), np.int64, len(spans))
    order = np.lexsort((-gains, inside))
    if len(order) > most:
        # Only the substrings tied with the last one are compared by code points.
        last = order[most] if most else order[0]
        tied = (gains == gains[last]) & (inside == inside[last])
        better = [i for i in order[:most].tolist() if not tied[i]]
        level = sorted(np.flatnonzero(tied).tolist(), key=lambda i: joined[slice(*spans[i])])
        order = np.array(better + level[: most - len(better)], np.int64)
    return {joined[slice(*spans[i])]: int(counts[i]) for i in order.tolist()}


# --- Tokenizer and training history --------------------------------------------------------------

LONGEST_PRE_TOKEN = 128

_NO_ATOM = "\ud800"  # a lone surrogate, which no cleaned text contains


@dataclass(frozen=True)
class ShortPreTokens(PreTokenizer):
    """Divides pre-tokens every `LONGEST_PRE_TOKEN` characters.

    The time per character grows with the length of a pre-token, so this limit makes texts without
    pre-tokenization possible. No piece crosses a division.
    """

    kind: ClassVar[str] = "short"

    def pre_tokens(self, text: str) -> list[str]:
        return [
            pre_token[start : start + LONGEST_PRE_TOKEN]
            for pre_token in super().pre_tokens(text)
            for start in range(0, len(pre_token), LONGEST_PRE_TOKEN)
        ]


@dataclass(frozen=True, eq=False)
class PruningRound:
    """A round of training: the values of all pieces at its beginning, and its prunings.

    Attributes:
        number: From 1.
        start: The step at which it begins.
        before: The size of the vocabulary before the round.
        after: The size after it. The last round may prune nothing; it has the values at the end.
        loss: Negative log likelihood of the text's best segmentations before the round, in nats.
        log_probabilities: float64 [before], by id.
        losses: float64 [before], rise of `loss` without the piece; infinity for atoms.
        uses: int64 [before], number of tokens of the text that are this piece.
        order: int64 [before - atoms], ids of the pieces, without atoms, the cheapest first.
    """

    kind: ClassVar[str] = "round"

    number: int
    start: int
    before: int
    after: int
    loss: float
    log_probabilities: NDArray[np.float64]
    losses: NDArray[np.float64]
    uses: NDArray[np.int64]
    order: NDArray[np.int64]

    @property
    def pruned(self) -> tuple[Pruning, ...]:
        """The pruned pieces, in this order."""
        ids = self.order[: self.before - self.after].tolist()
        return tuple(Pruning(i, int(self.uses[i]), float(self.losses[i]), self.number) for i in ids)


@dataclass(frozen=True, repr=False)
class UnigramTokenizer(NonMonotonicTokenizer):
    """Segments each pre-token into its most likely pieces (Viterbi; for ties see the lattice).

    Attributes:
        pieces: The joined symbols of each piece by id, pruned ones included.
        rounds: The rounds that begin at or before `step`, and perhaps later ones.
        step: Number of pruned pieces.
    """

    pieces: tuple[str, ...]
    rounds: tuple[PruningRound, ...]
    step: int

    kind: ClassVar[str] = "unigram"

    def check_fields(self) -> None:
        pieces, atoms = self.pieces, {*self.alphabet}
        if len({*pieces}) < len(pieces) or pieces[: len(self.alphabet)] != self.alphabet:
            raise InvalidFieldError("pieces", "expected the atoms, then other pieces, each once")
        if not all(piece and {*piece} <= atoms for piece in pieces):
            raise InvalidFieldError("pieces", "a piece has a symbol that is not an atom")
        if self.step > len(pieces) - len(self.alphabet):
            raise InvalidFieldError("step", "there are not as many pieces to prune")
        starts = [round_.start for round_ in self.rounds]
        if starts != sorted({*starts}) or starts[:1] != [0]:
            raise InvalidFieldError("rounds", "expected ascending steps from 0 on")
        for place, round_ in enumerate(self.rounds):
            scores = round_.log_probabilities
            sizes = (len(scores), len(round_.losses), len(round_.uses), round_.before)
            if {*sizes} != {len(pieces) - round_.start} or not (scores <= 0).all():
                reason = "expected a log probability of each piece that is left"
                raise InvalidFieldError(f"rounds[{place}]", reason)

    @property
    def steps(self) -> int:
        return self.step

    @property
    def sizes(self) -> NDArray[np.int64]:
        return len(self.pieces) - np.arange(self.step + 1)

    @property
    def trained_size(self) -> int:
        return len(self.pieces) - self.step - len(self.alphabet)

    def at_step(self, step: int) -> UnigramTokenizer:
        return replace(self, step=min(max(0, step), self.step), _segmented={})

    def atoms_of(self, token_id: int) -> list[int]:
        return [self._atom_id[symbol] for symbol in self.pieces[token_id]]

    @cached_property
    def model(self) -> UnigramModel:
        """The pieces that are not pruned, with their log probabilities."""
        alive = len(self.pieces) - self.step
        scores = _round_at(self.rounds, self.step).log_probabilities[:alive]
        return UnigramModel(self.pieces[:alive], scores)

    def _text(self, row: AtomRow) -> str:
        return "".join(_NO_ATOM if i == UNKNOWN_ID else self.alphabet[i] for i in row)

    def _segment_rows(self, rows: Sequence[AtomRow]) -> list[Segmentation]:
        lattices = Lattices.of([self._text(row) for row in rows], self.model.index)
        scores = np.append(self.model.scores, self.model.unknown)  # the last one is for id -1
        return _cuts(lattices, scores[lattices.ids])

    def timelines(self, rows: Sequence[AtomRow]) -> list[Timeline]:
        timelines: list[list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = [[] for _ in rows]
        lattices = Lattices.of([self._text(row) for row in rows], index_of(self.pieces))
        # By id; the last entry is for id -1 and not used.
        given_up = np.append(len(self.pieces) - 1 - np.arange(len(self.pieces)), 0)
        for at, of_round in enumerate(self.rounds):
            if of_round.start > self.step:
                break
            # The last step of a round is also the first step of the next.
            following = self.rounds[at + 1].start if at + 1 < len(self.rounds) else inf
            until = min(following - 1, self.step)
            lattices = lattices.keep(lattices.ids < of_round.before)
            scores = of_round.log_probabilities
            scores = np.append(scores, UnigramModel(self.pieces, scores).unknown)
            # Each row is segmented with the new probabilities. Within the round, a segmentation
            # changes only when one of its pieces is pruned, since it was the best one before. So
            # the loop moves each row directly to its next change.
            changing = np.arange(len(rows))
            times = np.full(len(rows), of_round.start - 1)
            while len(changing):
                some = lattices.take(changing)
                alive = (some.ids < 0) | (given_up[some.ids] > times[some.texts])
                cuts = _cuts(some, np.where(alive, scores[some.ids], -inf))
                for row, time, cut in zip(changing.tolist(), times.tolist(), cuts, strict=True):
                    if not timelines[row] or timelines[row][-1][1] != cut[0]:
                        timelines[row].append((time, *cut))
                # The highest id of a segmentation is pruned first.
                first = np.array([len(self.pieces) - 1 - max(ids, default=-1) for ids, _ in cuts])
                changing, times = changing[first < until], first[first < until]
        return [*timelines]

    def lattice(self, text: str) -> Lattice:
        """Return the lattice of a text, made of the lattices of its pre-tokens.

        Its atoms are symbols (over bytes, characters of U+0000–U+00FF), and its edges have the ids
        of the pieces, -1 for an unknown character.
        """
        pre_tokens = self.pre_tokenizer.pre_tokens(clean(text))
        return self.model.lattice(
            *("".join(self.pre_tokenizer.symbols(pre_token)) for pre_token in pre_tokens)
        )

    def scored_words(self, text: str) -> list[Word]:
        words, start = [], 0
        for pre_token in self.pre_tokenizer.pre_tokens(clean(text)):
            end = start + len(pre_token)
            words.append(Word("".join(self.pre_tokenizer.symbols(pre_token)), start, end))
            start = end
        return words

    def word_lattice(self, word: str) -> Lattice:
        return self.model.lattice(word)

    def word_atoms(self, word: str) -> list[str]:
        return [self.pre_tokenizer.label([symbol]) for symbol in word]


def _cuts(lattices: Lattices, values: NDArray[np.float64]) -> list[Segmentation]:
    """Return for each text the ids and the numbers of atoms of its best segmentation's tokens."""
    edges = lattices.walk(lattices.best(values)[1])
    ids = lattices.ids[edges].tolist()
    lengths = (lattices.ends[edges] - lattices.starts[edges]).tolist()
    sizes = np.bincount(lattices.texts[edges], minlength=len(lattices.first))
    stops = np.cumsum(sizes).tolist()
    starts = [0, *stops[:-1]]
    return [
        (tuple(ids[start:stop]), tuple(lengths[start:stop]))
        for start, stop in zip(starts[: len(stops)], stops, strict=True)
    ]


def _round_at(rounds: Sequence[PruningRound], step: int) -> PruningRound:
    """Return the round whose probabilities are valid after `step` steps."""
    return next(of_round for of_round in reversed(rounds) if of_round.start <= step)


@dataclass(frozen=True, repr=False)
class UnigramTraining(Training):
    """Training history of Unigram. One pruned piece is a step.

    Ids are in reverse order of pruning, so the vocabulary of size n contains the ids below n.
    Within a round, the probabilities are those of its beginning. The last step of a round is also
    the beginning of the next one, and uses the probabilities of that next round.

    Attributes:
        pieces: The joined symbols of each piece by id: the atoms, then the piece pruned last, ….
        rounds: The rounds that begin at or before the last step.
    """

    pieces: tuple[str, ...]
    rounds: tuple[PruningRound, ...]

    stochastic = True

    def segmentations(
        self, step: int, pre_token: str, strength: float, draws: int, seed: int
    ) -> Counter[tuple[int, ...]]:
        # An unknown character is -1, since its id differs from step to step.
        drawn: Counter[tuple[int, ...]] = Counter()
        for path, times in (
            self.at_step(step).lattice(pre_token).sample(strength, draws, seed).items()
        ):
            drawn[tuple(edge.id for edge in path)] += times
        return drawn

    @cached_property
    def decisions(self) -> Sequence[Pruning]:
        prunings: list[Pruning] = []
        for of_round in self.rounds:
            prunings += of_round.pruned
            if prunings and of_round is not self.rounds[-1]:
                note = f"last of round {of_round.number}; then EM estimates all probabilities again"
                prunings[-1] = replace(prunings[-1], note=note)
        return tuple(prunings)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return len(self.pieces) - np.arange(len(self.decisions) + 1)

    @property
    def opening(self) -> int:
        """Halfway through the prunings that cost something, or the end if the user chose it."""
        if self.stopped == "full":
            return self.steps
        first = next((i for i, pruning in enumerate(self.decisions) if pruning.loss > 0), 0)
        return max((first + self.steps) // 2, min(self.steps, 1))  # one pruning is shown, too

    def at_step(self, step: int) -> UnigramTokenizer:
        return UnigramTokenizer(
            self.algorithm,
            self.pre_tokenizer,
            self.alphabet,
            self.pieces,
            self.rounds,
            min(max(0, step), self.steps),
            special=self.special,
        )

    def name(self, token_id: int) -> str:
        return shorten(self.pre_tokenizer.label(self.pieces[token_id]))

    def color_key(self, token_id: int) -> int:
        if token_id < len(self.alphabet):
            return -1
        return color_key(b"".join(map(self.pre_tokenizer.symbol_bytes, self.pieces[token_id])))

    def parents(self, token_id: int) -> None:
        return None

    @property
    def curve(self) -> NDArray[np.float64]:
        return np.array([pruning.loss for pruning in self.decisions], np.float64)

    def candidates(
        self, text: str | Documents, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        """Return the pieces with the smallest loss at the beginning of the round.

        The history contains them, so `text` and `boundaries` are unused.
        """
        of_round = _round_at(self.rounds, step)
        ids = of_round.order[step - of_round.start :][:limit].tolist()
        return [Candidate((i,), int(of_round.uses[i]), float(of_round.losses[i])) for i in ids]


# --- On screen -----------------------------------------------------------------------------------

_SHOWN = 12
"""About how many pieces the picture of the rounds shows."""


def _beginning(training: UnigramTraining) -> str:
    pieces = len(training.pieces)
    return "The only piece is used." if pieces == 1 else f"All {pieces:,} pieces can be used."


def _vocabulary(training: UnigramTraining, step: int) -> str:
    atoms, pieces = len(training.alphabet), int(training.sizes[step])
    return f"{atoms} {training.pre_tokenizer.atoms} + {counted(pieces - atoms, 'piece')}"


def _details(
    training: UnigramTraining, text: str | Documents, boundaries: Boundaries, step: int
) -> list[Detail]:
    """Return a picture of the pieces that live through each round."""
    return [
        Detail(
            "which pieces survive",
            "A round estimates the probabilities of all pieces (EM) and the cost of each: how much "
            "less likely the text's best segmentation is without it, in nats (natural logarithms). "
            "Then it prunes the cheapest. A bar ends with the round that prunes its piece, here "
            "one of the dearest of that round. The dashed line is this vocabulary.",
            partial(_survival, training, step),
        )
    ]


def _survival(training: UnigramTraining, step: int) -> Survival:
    """Return the dearest pieces of some rounds, the longest of equal ones."""
    rounds = [of_round for of_round in training.rounds if of_round.before > of_round.after]
    pieces, per_round = [], max(1, _SHOWN // max(1, len(rounds)))
    for at in np.linspace(0, len(rounds) - 1, min(_SHOWN, len(rounds)), dtype=int):
        pruned = [
            (of.loss, of.count, len(training.pieces[of.id]), of.id) for of in rounds[at].pruned
        ]
        pieces += [
            (training.name(i), rounds[at].number, cost, uses)
            for cost, uses, _, i in sorted(pruned)[-per_round:]
        ]
    sizes = [len(training.pieces), *(of_round.after for of_round in rounds)]
    now = float(np.interp(len(training.pieces) - step, sizes[::-1], range(len(rounds), -1, -1)))
    return Survival(pieces, sizes, now, [pruning.loss for pruning in training.decisions])


TRAINER = Trainer(
    key="unigram",
    title="Unigram",
    short="Unigram",
    rule="start with many pieces, drop the one that the text misses least",
    gist="drops spare pieces",
    about="Starts with many pieces and prunes those that the text needs least. Segments a text "
    "into its most likely pieces.",
    source="Kudo 2018, arXiv:1804.10959",
    train=train,
    saved=(UnigramTokenizer, ShortPreTokens, PruningRound),
    declares=UnigramOptions,
    largest="seed_size",
    prunes=True,
    texts=ScreenTexts(
        unit="pruning",
        verb="drop",
        rule="The cheapest pieces before pruning {step}. Cost: the rise of the negative log "
        "likelihood of the text's best segmentation without the piece, in nats (natural "
        "logarithms). Uses: the number of tokens of the text that were this piece. Both as of the "
        "start of the round.",
        curve="cost of the piece",
        score="cost",
        race="Cheapest pieces",
        beginning=_beginning,
        vocabulary=_vocabulary,
        details=_details,
        randomness=Randomness(
            "Subword regularization",
            "Each segmentation is drawn in proportion to P^alpha, where P is its probability under "
            "the unigram model. At 0 all are equally likely, at 1 as likely as in the model, and "
            "far above 1 almost always the best one. Use it only to encode the text on which a "
            "language model is trained (Kudo 2018, arXiv:1804.10959).",
            "Inverse temperature (alpha)",
            5.0,
            1.0,
        ),
    ),
)
