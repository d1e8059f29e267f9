"""Unigram: begin with many pieces, and give up those that the text misses least.

Source: Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple
Subword Candidates", 2018, arXiv:1804.10959, section 3.2. A piece has a probability, whatever
stands around it, and a text is cut into the pieces whose product is the most likely (see
`bpeviz.core.lattice`). Learning goes in rounds, from many pieces down to the single atoms:

1. The probabilities are estimated by EM: how often is each piece expected over all segmentations
   of the text, and then, what are the shares of these counts? `em_steps` times. (SentencePiece
   takes digamma of the counts instead, and drops pieces expected less than 0.5 times.)
2. The loss of each piece: by how much would the text become less likely without it? Exactly: by
   how much the negative log likelihood of the best segmentations rises (in nats) if the piece is
   removed and nothing else changes, as in the Hugging Face course, chapter 6.7. A piece that is
   in no best segmentation costs nothing. (SentencePiece estimates it: each use of the piece is
   replaced by the best segmentation of the piece by itself, whose parts then gain its count.)
3. The cheapest `pruned_share` percent of the pieces that are no single atoms are given up, in the
   order of rising loss; of equal losses first the less likely piece, then the longer one, then
   the first in code point order. Single atoms are never given up, so nothing becomes unknown.

One piece is a step, so every size on the way can be had. Within a round the probabilities stay
those of its beginning; the last step of a round is also the beginning of the next one, so that
from then on its new probabilities count. Pieces are numbered by how long they survive: the atoms,
then the piece that is given up last. So the vocabulary of size n is the ids below n.

It begins with (seed pieces) the frequent substrings of the pre-tokens: those that stand there at least
twice, and are at most `max_piece` characters or bytes long. If there are too many, first those go
that stand only within one longer such substring; then those of the smallest count times length,
by which SentencePiece chooses, too; the last in code point order among equals. Their first
probabilities are the shares of their counts, overlaps included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bpeviz import progress
from bpeviz.core.boundaries import UNKNOWN_ID, Boundaries, Timeline
from bpeviz.core.lattice import (
    Floats,
    Lattice,
    Lattices,
    Path,
    UnigramModel,
    index_of,
    rounded,
    score,
)
from bpeviz.core.tokenizer import NonMonotonicTokenizer, Row, Segmentation
from bpeviz.core.training import Candidate, Pruning, Stopped, Training
from bpeviz.pretokenizers.pretokenizer import UNKNOWN, Atoms, PreTokenizer
from bpeviz.text import clean, color_index, shorten
from bpeviz.trainers.base import Corpus, Option, Trainer, collector_off
from bpeviz.trainers.bpe import alphabet_of, merge_limit, weighted_pre_tokens
from bpeviz.trainers.screen import Detail, Randomness, Texts, counted

SEED_SIZE = 10_000
LONGEST_PRE_TOKEN = 128
MAX_EM_STEPS = 20

LEAST_EXPECTED = 1e-6
"""A piece that is expected less often counts as this: its logarithm must be a number."""

_NO_ATOM = "\ud800"  # a lone surrogate: no text has one, once it is cleaned


@dataclass(frozen=True)
class ShortPreTokens(PreTokenizer):
    """Cuts pre-tokens longer than `LONGEST_PRE_TOKEN` characters after each so many.

    The work for a pre-token grows with its length. So a text that is not split at all can be learnt
    from, too; but no piece crosses these places.
    """

    def pre_tokens(self, text: str) -> list[str]:
        return [
            pre_token[start : start + LONGEST_PRE_TOKEN]
            for pre_token in super().pre_tokens(text)
            for start in range(0, len(pre_token), LONGEST_PRE_TOKEN)
        ]


@dataclass(frozen=True, eq=False)
class Round:
    """A round of learning: what was found at its beginning, and what was given up for it.

    number: from 1; start: the step at which it begins; before, after: the size of the vocabulary.
    loss: the negative log likelihood of the text's best segmentations at the beginning, in nats.
    log_probabilities, losses: float64 [before], uses: int64 [before], by id: of each piece its log
    probability, what it would cost, and how many tokens of the text it is. Atoms cost infinity,
    since they are never given up.
    order: int64 [before - atoms], the ids of the pieces that are no atoms, the cheapest first.

    The last round may give up nothing: then it holds what is true at the end.
    """

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
        """What was given up, in this order."""
        ids = self.order[: self.before - self.after].tolist()
        return tuple(Pruning(i, int(self.uses[i]), float(self.losses[i]), self.number) for i in ids)


@dataclass(frozen=True)
class UnigramTokenizer(NonMonotonicTokenizer):
    """A tokenizer that cuts each pre-token into the most likely pieces (Viterbi; ties: see lattice).

    pieces: the symbols of every piece joined, by id, also of those given up by now.
    rounds: those that begin at or before `step`, and perhaps later ones.
    step: how many pieces are given up.
    """

    pieces: tuple[str, ...]
    rounds: tuple[Round, ...]
    step: int

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
        """The pieces alive, and their log probabilities."""
        alive = len(self.pieces) - self.step
        scores = _round_at(self.rounds, self.step).log_probabilities[:alive]
        return UnigramModel(self.pieces[:alive], scores)

    def _text(self, row: Row) -> str:
        return "".join(_NO_ATOM if i == UNKNOWN_ID else self.alphabet[i] for i in row)

    def _segment_rows(self, rows: Sequence[Row]) -> list[Segmentation]:
        lattices = Lattices.of([self._text(row) for row in rows], self.model.index)
        scores = np.append(self.model.scores, self.model.unknown)  # the last one is that of id -1
        return _cuts(lattices, scores[lattices.ids])

    def timelines(self, rows: Sequence[Row]) -> list[Timeline]:
        timelines: list[list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = [[] for _ in rows]
        lattices = Lattices.of([self._text(row) for row in rows], index_of(self.pieces))
        # The step, by id; the last one is that of id -1, and never looked at.
        given_up = np.append(len(self.pieces) - 1 - np.arange(len(self.pieces)), 0)
        for at, of_round in enumerate(self.rounds):
            if of_round.start > self.step:
                break
            # Up to here this round's probabilities count; its last step is the next one's.
            following = self.rounds[at + 1].start if at + 1 < len(self.rounds) else inf
            until = min(following - 1, self.step)
            lattices = lattices.keep(lattices.ids < of_round.before)
            scores = of_round.log_probabilities
            scores = np.append(scores, UnigramModel(self.pieces, scores).unknown)
            # All rows are cut with the new probabilities. Then a row changes only when a piece of
            # its cut is given up: the others are none that it would rather have. So all rows go
            # on at once, each to its own next such step, until none has one in this round.
            changing = np.arange(len(rows))
            times = np.full(len(rows), of_round.start - 1)
            while len(changing):
                some = lattices.take(changing)
                alive = (some.ids < 0) | (given_up[some.ids] > times[some.texts])
                cuts = _cuts(some, np.where(alive, scores[some.ids], -inf))
                for row, time, cut in zip(changing.tolist(), times.tolist(), cuts, strict=True):
                    if not timelines[row] or timelines[row][-1][1] != cut[0]:
                        timelines[row].append((time, *cut))
                # The highest id of a cut is the first to go.
                first = np.array([len(self.pieces) - 1 - max(ids, default=-1) for ids, _ in cuts])
                changing, times = changing[first < until], first[first < until]
        return [*timelines]

    def lattice(self, text: str) -> Lattice:
        """Return the lattice of a text: of its pre-tokens, one behind the other.

        The atoms are the symbols: over bytes, one character of U+0000–U+00FF each. The ids of the
        edges are those of the pieces, -1 for an unknown character.
        """
        pre_tokens = self.pre_tokenizer.pre_tokens(clean(text))
        return self.model.lattice(
            *("".join(self.pre_tokenizer.symbols(pre_token)) for pre_token in pre_tokens)
        )

    def _ids(self, path: Path) -> tuple[int, ...]:
        return tuple(self._encoded_id(edge.id) for edge in path)

    def nbest(self, text: str, n: int) -> list[tuple[tuple[int, ...], float]]:
        """Return the n most likely segmentations: their ids and their log probabilities.

        Fewer, if there are no more. Raises `ValueError` where n is below 1.
        """
        return [(self._ids(path), score(path)) for path in self.lattice(text).nbest(n)]

    def segmentations(
        self, text: str, strength: float, draws: int, seed: int = 0
    ) -> Counter[tuple[int, ...]]:
        """Draw segmentations of a text; return the ids of each that came, and how often it did.

        Subword regularization (Kudo 2018): each is drawn with a probability in proportion to
        P**strength. `strength` is the inverse temperature, alpha there: at 0 all segmentations are
        equally likely, and far above 1 nearly always the best one comes. They are drawn exactly,
        from all that there are. Raises `ValueError`, with a sentence.
        """
        drawn: Counter[tuple[int, ...]] = Counter()
        for path, times in self.lattice(text).sample(strength, draws, seed).items():
            drawn[self._ids(path)] += times
        return drawn


def _cuts(lattices: Lattices, values: NDArray[np.float64]) -> list[Segmentation]:
    """Return the best segmentation of each text: the ids, and how many atoms each has."""
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


def _round_at(rounds: Sequence[Round], step: int) -> Round:
    """Return the round whose probabilities count after `step` steps."""
    return next(one for one in reversed(rounds) if one.start <= step)


@dataclass(frozen=True)
class UnigramTraining(Training):
    """What the Unigram trainer decided.

    pieces: the symbols of every piece joined, by id: first the atoms, then the others, the one
    that was given up last first. rounds: those that begin at or before the last step.
    """

    pieces: tuple[str, ...]
    rounds: tuple[Round, ...]

    stochastic = True

    def segmentations(
        self, step: int, pre_token: str, strength: float, draws: int, seed: int
    ) -> Counter[tuple[int, ...]]:
        # An unknown character is -1 here, as everywhere in a training: its id is another at each
        # step, and that of a piece at the steps before.
        drawn: Counter[tuple[int, ...]] = Counter()
        for path, times in (
            self.at_step(step).lattice(pre_token).sample(strength, draws, seed).items()
        ):
            drawn[tuple(edge.id for edge in path)] += times
        return drawn

    @cached_property
    def decisions(self) -> Sequence[Pruning]:
        found: list[Pruning] = []
        for one in self.rounds:
            found += one.pruned
            if found and one is not self.rounds[-1]:
                note = f"last of round {one.number}; then all probabilities are estimated anew"
                found[-1] = replace(found[-1], note=note)
        return tuple(found)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return len(self.pieces) - np.arange(len(self.decisions) + 1)

    @property
    def opening(self) -> int:
        """Half of the way on which prunings cost something; the end, if it was chosen."""
        if self.stopped == "full":
            return self.steps
        first = next((i for i, one in enumerate(self.decisions) if one.loss > 0), 0)
        return (first + self.steps) // 2

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

    def color_index(self, token_id: int) -> int:
        if token_id < len(self.alphabet):
            return -1
        return color_index(b"".join(map(self.pre_tokenizer.symbol_bytes, self.pieces[token_id])))

    def parents(self, token_id: int) -> None:
        return None

    @property
    def curve(self) -> NDArray[np.float64]:
        return np.array([one.loss for one in self.decisions], np.float64)

    def candidates(
        self, text: str, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        """Return the pieces alive that would cost the least, as found at the round's beginning.

        That is known from learning, so `text` and `boundaries` are not looked at.
        """
        of_round = _round_at(self.rounds, step)
        ids = of_round.order[step - of_round.start :][:limit].tolist()
        return [Candidate((i,), int(of_round.uses[i]), float(of_round.losses[i])) for i in ids]


def substrings(
    texts: Sequence[str], weights: Sequence[int], longest: int
) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.bool_]]:
    """Find the substrings of 2 to `longest` atoms that come at least twice in weighted texts.

    Return for each: where it first stands in the texts joined, (start, end); how often it comes,
    overlaps included; and whether it only ever stands within one longer one that is found, too.

    Length by length: a substring is known by the class of all but its last atom, and that atom;
    and what comes but once is no part of what comes twice, so ever fewer places are left.
    """
    joined = "".join(texts)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    place = np.arange(len(joined))
    room = np.repeat(np.cumsum(sizes), sizes) - place  # atoms from here to the end of the text
    weight = np.repeat(np.asarray(weights, np.float64), sizes)
    codes = np.frombuffer(joined.encode("utf-32-le"), np.uint32)
    kinds, atom = np.unique(codes, return_inverse=True)

    classes = atom  # of the substring that begins at each place, -1 where it is too rare
    count = np.bincount(atom, weight).astype(np.float64)
    first = np.empty(0, np.int64)
    spans: list[tuple[int, int]] = []
    counts, inside = [np.empty(0)], [np.empty(0, np.bool_)]
    for length in range(2, longest + 2):
        progress.report("Looking for pieces of every length", length - 2, longest)
        place = place[(room[place] >= length) & (classes[place] >= 0)]
        if length > longest:
            place = place[:0]
        keys = classes[place] * len(kinds) + atom[place + length - 1]
        _, seen, new = np.unique(keys, return_index=True, return_inverse=True)
        new_count = np.bincount(new, weight[place], len(seen)).astype(np.float64)
        frequent = new_count >= 2
        seen, new_count = place[seen][frequent], new_count[frequent]
        if length > 2:
            # As frequent as one of those that are longer by an atom: it is always within that.
            within = np.zeros(len(count), np.bool_)
            for part in (classes[seen], classes[np.minimum(seen + 1, len(joined) - 1)]):
                within[part[count[part] == new_count]] = True
            spans += zip(first.tolist(), (first + length - 1).tolist(), strict=True)
            counts.append(count)
            inside.append(within)
        number = np.where(frequent, np.cumsum(frequent) - 1, -1)
        classes = np.full(len(joined), -1, np.int64)
        classes[place] = number[new]
        first, count = seen, new_count
        if not len(first):
            break
    return spans, np.concatenate(counts).astype(np.int64), np.concatenate(inside)


def seeds(texts: Sequence[str], weights: Sequence[int], longest: int, most: int) -> dict[str, int]:
    """Return the pieces to begin with, beside the atoms, and how often each comes."""
    joined = "".join(texts)
    spans, counts, inside = substrings(texts, weights, longest)
    gains = counts * np.fromiter((end - start for start, end in spans), np.int64, len(spans))
    order = np.lexsort((-gains, inside))
    if len(order) > most:
        # Code points decide among those that are as good as the last one; only they are spelt out.
        last = order[most] if most else order[0]
        tied = (gains == gains[last]) & (inside == inside[last])
        better = [i for i in order[:most].tolist() if not tied[i]]
        level = sorted(np.flatnonzero(tied).tolist(), key=lambda i: joined[slice(*spans[i])])
        order = np.array(better + level[: most - len(better)], np.int64)
    return {joined[slice(*spans[i])]: int(counts[i]) for i in order.tolist()}


def log_probabilities(counts: NDArray[np.float64], alive: NDArray[np.bool_]) -> Floats:
    """Return the logarithms of the shares of counts among those alive. float64 [pieces]."""
    counts = np.maximum(counts, LEAST_EXPECTED)
    return rounded(np.log(counts / counts[alive].sum()))


def learn_pieces(
    texts: Sequence[str],
    weights: Sequence[int],
    pieces: Sequence[str],
    counts: Sequence[int],
    atoms: int,
    *,
    em_steps: int = 2,
    pruned_share: int = 25,
) -> tuple[tuple[str, ...], tuple[Round, ...]]:
    """Prune pieces down to the atoms; return them in the order of their ids, and the rounds.

    texts: distinct, their atoms one character each; weights: how often each comes.
    pieces: the first `atoms` are the atoms; counts: from which the first probabilities are taken.
    """
    weight = np.asarray(weights, np.float64)
    lattices = Lattices.of(texts, index_of(pieces))
    alive = np.ones(len(pieces), np.bool_)
    scores = log_probabilities(np.asarray(counts, np.float64), alive)
    found = []
    given_up: list[int] = []
    while True:
        progress.report("Pruning pieces", len(given_up), len(pieces) - atoms)
        for _ in range(em_steps):
            expected = lattices.expected(scores[lattices.ids], weight, len(pieces))
            scores = log_probabilities(expected, alive)
        loss, uses, losses = lattices.losses(scores, weight, atoms)
        order = sorted(
            (np.flatnonzero(alive[atoms:]) + atoms).tolist(),
            key=lambda i: (losses[i], scores[i], -len(pieces[i]), pieces[i]),
        )
        found.append((loss, scores, losses, uses, order, len(given_up)))
        if not order:
            break
        pruned = order[: -(-len(order) * pruned_share // 100)]
        alive[pruned] = False
        given_up += pruned
        lattices = lattices.keep(alive[lattices.ids])

    by_id = np.array([*range(atoms), *reversed(given_up)], np.int64)
    id_of = np.empty(len(pieces), np.int64)
    id_of[by_id] = np.arange(len(pieces))
    rounds = []
    for number, (loss, scores, losses, uses, order, start) in enumerate(found):
        before = len(pieces) - start
        after = len(pieces) - found[number + 1][-1] if number + 1 < len(found) else before
        ids = by_id[:before]
        rounds.append(
            Round(
                number + 1,
                start,
                before,
                after,
                loss,
                scores[ids],
                losses[ids],
                uses[ids].astype(np.int64),
                id_of[order],
            )
        )
    return tuple(pieces[i] for i in by_id.tolist()), tuple(rounds)


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    atoms: Atoms = "characters",
    seed_size: int | None = None,
    max_piece: int = 16,
    em_steps: int = 2,
    pruned_share: int = 25,
) -> UnigramTraining:
    """Learn the pieces of a text, or of pre-tokens with counts, and which of them to give up.

    vocab_size: where pruning ends; it counts atoms and pieces. None: the single atoms alone are
        left. What is given up on the way to it does not depend on it, nor do the ids.
    seed_size: how many atoms and pieces it begins with, if the text has so many; None: 10,000, or
        four times `vocab_size` where that is more.
    max_piece: the most atoms that a piece may have; em_steps: how often the probabilities are
        estimated in a round; pruned_share: the share of pieces given up in a round, in percent.

    Raises `ValueError`, whose message is a sentence, for values that make no sense, `merges` among
    them, and `SplitError` (one of them) for a bad split.
    """
    if merges is not None:
        raise ValueError("Unigram merges nothing: say the vocabulary size instead of merges.")
    if atoms not in ("bytes", "characters"):
        raise ValueError(f"There are no atoms {atoms!r}: take bytes or characters.")
    if max_piece < 1:
        raise ValueError(f"The longest piece must have 1 atom or more, not {max_piece}.")
    if not 1 <= em_steps <= MAX_EM_STEPS:
        raise ValueError(f"The EM steps of a round must be 1 to {MAX_EM_STEPS}, not {em_steps}.")
    if not 1 <= pruned_share <= 100:
        raise ValueError(f"The share to prune must be 1 to 100 percent, not {pruned_share}.")
    if len({*special_tokens}) < len(special_tokens) or {"", UNKNOWN} & {*special_tokens}:
        raise ValueError(f"Special tokens must differ, and be neither empty nor {UNKNOWN}.")
    if vocab_size is not None and seed_size is not None and seed_size < vocab_size:
        raise ValueError(
            f"Pruning begins with {seed_size} pieces at most, so no {vocab_size} can be left."
        )
    pre_tokenizer = ShortPreTokens(atoms, pattern, expression)
    weighted = weighted_pre_tokens(corpus, pre_tokenizer)
    texts = ["".join(pre_tokenizer.symbols(pre_token)) for pre_token in weighted]
    alphabet = alphabet_of(texts, pre_tokenizer)
    if vocab_size is not None:
        merge_limit(vocab_size, None, len(alphabet), atoms)
    if seed_size is None:
        seed_size = max(SEED_SIZE, 4 * (vocab_size or 0), len(alphabet))
    most = merge_limit(seed_size, None, len(alphabet), atoms)
    weights = list(weighted.values())
    single: Counter[str] = Counter()
    for text, times in zip(texts, weights, strict=True):
        for symbol in text:
            single[symbol] += times
    with collector_off():
        first = seeds(texts, weights, max_piece, most)
        pieces, rounds = learn_pieces(
            texts,
            weights,
            [*alphabet, *first],
            [*(single[symbol] for symbol in alphabet), *first.values()],
            len(alphabet),
            em_steps=em_steps,
            pruned_share=pruned_share,
        )
    stopped: Stopped = "atoms"
    if vocab_size is not None:
        stopped = "full"
        steps = max(0, len(pieces) - vocab_size)
        rounds = tuple(
            replace(one, after=max(one.after, len(pieces) - steps))
            for one in rounds
            if one.start <= steps
        )
    return UnigramTraining(
        "unigram", pre_tokenizer, alphabet, stopped, special_tokens, pieces, rounds
    )


def _beginning(training: UnigramTraining) -> str:
    return f"No piece is pruned yet: all {len(training.pieces):,} pieces can be used."


def _vocabulary(training: UnigramTraining, step: int) -> str:
    atoms, pieces = len(training.alphabet), int(training.sizes[step])
    return f"{atoms} {training.pre_tokenizer.atoms} + {counted(pieces - atoms, 'piece')}"


def _details(
    training: UnigramTraining, text: str, boundaries: Boundaries, step: int
) -> list[Detail]:
    """Return the rounds up to this step."""
    rounds = [one for one in training.rounds if one.start <= step and one.before > one.after]
    dearest = [max(one.pruned, key=lambda pruning: pruning.loss) for one in rounds]
    return [
        Detail(
            "the rounds",
            "In each round the probabilities of all pieces are estimated anew (EM), then what "
            "each piece would cost, and the cheapest are pruned. The loss is the negative log "
            "likelihood of the text's best segmentation when the round begins, in nats "
            "(natural logarithms). It falls where pieces that the text did not need leave "
            "their probability to the others, and rises where pieces are missed.",
            {
                "round": [one.number for one in rounds],
                "vocabulary": [one.before for one in rounds],
                "loss": [round(one.loss, 1) for one in rounds],
                "pruned": [len(one.pruned) for one in rounds],
                "costliest of these": [training.name(pruning.id) for pruning in dearest],
                "its cost": [round(pruning.loss, 2) for pruning in dearest],
            },
            ("vocabulary", "loss"),
        )
    ]


TRAINER = Trainer(
    key="unigram",
    title="Unigram",
    short="Unigram",
    about="Begins with many pieces and prunes those that the text misses least; cuts a text into "
    "its most likely pieces.",
    source="Kudo 2018, arXiv:1804.10959",
    train=cast(Any, train),
    options=(
        Option(
            "atoms",
            "Start from",
            "The single pieces that are never pruned. Characters: those of the text; any other is "
            "unknown later. Bytes: the text in UTF-8, so that nothing is ever unknown.",
            "characters",
            {"characters": "Characters", "bytes": "Bytes"},
        ),
        Option(
            "seed_size",
            "Pieces to begin with",
            "The single characters or bytes, and the frequent substrings. From these, pieces are "
            "pruned.",
            SEED_SIZE,
            minimum=256,
        ),
        Option(
            "max_piece",
            "Longest piece",
            "How many characters or bytes a piece may have; 16 as in SentencePiece.",
            16,
        ),
        Option(
            "em_steps",
            "EM steps in a round",
            f"How often the probabilities are estimated anew in a round, before pieces are pruned: "
            f"1 to {MAX_EM_STEPS}.",
            2,
            maximum=MAX_EM_STEPS,
        ),
        Option(
            "pruned_share",
            "Pruned in a round, in percent",
            "The share of the pieces that is pruned before the probabilities are estimated anew: "
            "1 to 100. Less is more exact, and slower.",
            25,
            maximum=100,
        ),
    ),
    largest="seed_size",
    texts=Texts(
        unit="pruning",
        heading="Why this piece",
        rule="The cheapest pieces before pruning {step}. Cost: the rise of the negative log "
        "likelihood of the text's best segmentation without the piece, in nats (natural "
        "logarithms). Uses: the number of tokens of the text that were this piece. Both as of the "
        "start of the round.",
        curve="cost of the piece",
        score="cost",
        beginning=_beginning,
        vocabulary=_vocabulary,
        details=_details,
        randomness=Randomness(
            "Subword regularization",
            "Each segmentation is drawn in proportion to P^alpha, where P is its probability under "
            "the unigram model. At 0 all are equally likely, at 1 as likely as the model says, and "
            "far above 1 almost always the best one. It serves to encode the text on which a "
            "language model is trained (Kudo 2018, arXiv:1804.10959).",
            "Inverse temperature (alpha)",
            5.0,
            1.0,
        ),
    ),
)
