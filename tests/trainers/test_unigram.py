"""Unigram and its lattice, against their definition (`reference_unigram.py`) and two libraries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
import reference_unigram as reference
import tokenizers
from helpers.properties import examples
from helpers.refusals import refusal
from helpers.steps import check_steps
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz.core.boundaries import UNKNOWN_ID, ChangingBoundaries
from bpeviz.core.lattice import Lattice, Lattices, Path, UnigramModel, index_of, score
from bpeviz.trainers.unigram import UnigramTraining

HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}

WORDS = st.dictionaries(
    st.text("ab", min_size=1, max_size=7) | st.text("abé👍", min_size=1, max_size=6),
    st.integers(1, 9),
    min_size=1,
    max_size=6,
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "max_piece": st.integers(1, 5),
        "em_steps": st.integers(1, 3),
        "pruned_share": st.sampled_from([1, 20, 50, 100]),
        "seed_size": st.integers(4, 12),
    },
)
MODELS = st.dictionaries(
    st.text("abc", min_size=1, max_size=4),
    st.sampled_from([-1.0, -2.0, -3.0, -0.5]) | st.floats(-20, 0),  # often tied
    max_size=12,
)
TEXTS = st.text("abc?", max_size=8)


def scores_of(model: UnigramModel) -> dict[str, float]:
    return dict(zip(model.pieces, model.scores.tolist(), strict=True))


def pieces_of(lattice: Lattice, path: Path) -> tuple[str, ...]:
    assert [edge.end for edge in path[:-1]] == [edge.start for edge in path[1:]]
    return tuple(lattice.text[edge.start : edge.end] for edge in path)


train: Any = partial(bpeviz.train, algorithm="unigram")


def train_on_words(words: Mapping[str, int], **how: Any) -> UnigramTraining:
    """Train on counted words; raise a seed size below the number of atoms."""
    if "seed_size" in how:
        how["seed_size"] = max(how["seed_size"], len(set("".join(words))))
    return train(words, pattern="none", **how)


def rounds_of(training: UnigramTraining) -> list[dict[str, float]]:
    """Return the log probability of each remaining piece at the start of each round."""
    return [
        dict(zip(training.pieces, one.log_probabilities.tolist(), strict=False))
        for one in training.rounds
    ]


def alive_at(training: UnigramTraining, step: int) -> dict[str, float]:
    """Return the remaining pieces and their log probabilities after `step` steps."""
    number = max(i for i, one in enumerate(training.rounds) if one.start <= step)
    alive = training.pieces[: len(training.pieces) - step]
    return {piece: rounds_of(training)[number][piece] for piece in alive}


# Known answers


def course_model() -> UnigramModel:
    """Return a model of every strict substring of the words, weighted by count."""
    counts = dict(reference.substring_counts(HUGS, 4))
    for word in ("pug", "pun", "bun", "hugs"):
        del counts[word]
    assert sum(counts.values()) == 210
    return UnigramModel.of({piece: math.log(times / 210) for piece, times in counts.items()})


def course_losses(model: UnigramModel) -> tuple[float, dict[str, float]]:
    # `losses` requires single characters first.
    pieces = sorted(model.pieces, key=len)
    known = scores_of(model)
    lattices = Lattices.of(list(HUGS), index_of(pieces))
    weights = np.array([*HUGS.values()], np.float64)
    atoms = sum(len(piece) == 1 for piece in pieces)
    cost, _, costs = lattices.losses(np.array([known[p] for p in pieces]), weights, atoms)
    return cost, dict(zip(pieces, costs.tolist(), strict=True))


def test_losses_match_hugging_face_course() -> None:
    """Hugging Face's course, chapter 6.7: the loss is 169.8, and removing `hug` adds 23.5."""
    model = course_model()
    cost, losses = course_losses(model)
    assert cost == pytest.approx(169.8, abs=0.05)
    assert losses["hug"] == pytest.approx(23.5, abs=0.05)
    assert losses["pu"] == pytest.approx(0, abs=1e-9)  # the course: removing it costs nothing
    assert math.isinf(losses["h"])


def test_best_segmentation_of_unhug_matches_hugging_face_course() -> None:
    lattice = course_model().lattice("unhug")
    assert pieces_of(lattice, lattice.best()) == ("un", "hug")
    assert math.exp(score(lattice.best())) == pytest.approx(0.005442, abs=5e-7)


def test_segmentation_scores_of_pug_match_hugging_face_course() -> None:
    """With P(p) and P(pu) at 17/210, where the course's text has 5/210 (see pitfalls)."""
    lattice = course_model().lattice("pug")
    worth = {pieces_of(lattice, path): math.exp(score(path)) for path in lattice.nbest(9)}
    assert worth["p", "u", "g"] == pytest.approx(0.0013217, abs=5e-8)
    assert worth["pu", "g"] == pytest.approx(0.0077098, abs=5e-8)
    # p·ug is as likely; the course takes pu·g, and by our rule the last piece is the longest.
    assert worth["p", "ug"] == worth["pu", "g"]
    assert pieces_of(lattice, lattice.best()) == ("p", "ug")


# The lattice of one text


@settings(max_examples=examples(200))
@given(TEXTS, MODELS)
@example("abcab", {"a": -1.0, "ab": -2.0, "bc": -2.0, "c": -1.0, "abc": -3.0})
def test_nbest_lists_all_segmentations_by_rank(text: str, pieces: dict[str, float]) -> None:
    model = UnigramModel.of(pieces)
    known = scores_of(model)
    lattice = model.lattice(text)
    expected = reference.ranked_segmentations(text, known)
    assert lattice.paths == len(expected)
    found = lattice.nbest(len(expected) + 3)
    assert [pieces_of(lattice, path) for path in found] == expected
    assert [score(path) for path in found] == [
        reference.log_probability(c, known) for c in expected
    ]
    assert lattice.best() == found[0]
    for n in {1, 2, len(expected)}:
        assert lattice.nbest(n) == found[:n]


@settings(max_examples=examples(100))
@given(TEXTS, MODELS)
def test_marginals_and_total_equal_sums_over_all_segmentations(
    text: str, pieces: dict[str, float]
) -> None:
    model = UnigramModel.of(pieces)
    known = scores_of(model)
    lattice = model.lattice(text)
    whole = sum(
        math.exp(reference.log_probability(c, known)) for c in reference.segmentations(text, known)
    )
    assert math.exp(lattice.forward()[-1]) == pytest.approx(whole)
    of_edges: Counter[tuple[int, int]] = Counter()
    for cut, share in reference.probabilities(text, known).items():
        at = 0
        for piece in cut:
            of_edges[at, at + len(piece)] += share  # type: ignore[assignment]
            at += len(piece)
    found = {(e.start, e.end): m for e, m in zip(lattice.edges, lattice.marginals(), strict=True)}
    assert found == pytest.approx(dict(of_edges))


@pytest.mark.parametrize("strength", [0, 0.3, 1, 3])
def test_sample_frequencies_follow_probability_to_the_strength(strength: float) -> None:
    model = course_model()
    draws = 20_000
    lattice = model.lattice("hugsun")
    drawn = lattice.sample(strength, draws, seed=1)
    shares = reference.probabilities("hugsun", scores_of(model), strength)
    assert drawn.total() == draws
    counted = {pieces_of(lattice, path): times for path, times in drawn.items()}
    assert counted.keys() <= shares.keys()
    for cut, share in shares.items():  # within five standard deviations
        assert abs(counted.get(cut, 0) - draws * share) < 5 * math.sqrt(draws * share) + 1


def test_invalid_lattice_arguments_are_refused() -> None:
    lattice = course_model().lattice("hug")
    refusal(lattice.nbest, 0, naming="0")
    for strength in (-0.1, math.nan, math.inf):
        refusal(lattice.sample, strength, 1, 0, naming=f"{strength}")
    refusal(lattice.sample, 1, 0, 0, naming="0")
    refusal(UnigramModel.of, {"": -1.0}, naming="''")
    refusal(UnigramModel.of, {"a": -math.inf}, naming="-inf")


# Training


@settings(max_examples=examples(60))
@given(WORDS, SETTINGS, st.sampled_from([1, 7, 10**6]))
@example({"abcd": 2}, {"max_piece": 4}, 7)  # of equal loss and probability, the longest goes first
def test_rounds_equal_reference(words: dict[str, int], how: dict[str, int], batch: int) -> None:
    """EM matches within rounding; losses and order match exactly given its values."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpeviz.core.lattice._BATCH", batch, raising=False)
        training = train_on_words(words, **how)
    atoms = len(training.alphabet)
    counts = reference.substring_counts(words, 16)
    most = max(how.get("seed_size", 10_000), atoms) - atoms
    first = reference.seeds(words, how.get("max_piece", 16), most)
    known = reference.estimate({piece: counts[piece] for piece in (*training.alphabet, *first)})
    for one, recorded in zip(training.rounds, rounds_of(training), strict=True):
        for _ in range(how.get("em_steps", 2)):
            known = reference.estimate(reference.expected_counts(words, known))
        assert recorded == pytest.approx(known, abs=1e-6)
        known = recorded
        lost, used = reference.losses(words, known), reference.piece_counts(words, known)
        order = sorted(lost, key=lambda piece: (lost[piece], known[piece], -len(piece), piece))
        assert [training.pieces[i] for i in one.order] == order
        assert one.losses[atoms:].tolist() == [lost[p] for p in training.pieces[atoms : one.before]]
        assert one.uses.tolist() == [used[piece] for piece in training.pieces[: one.before]]
        assert one.loss == reference.negative_log_likelihood(words, known)
        assert one.before - one.after == math.ceil(len(order) * how.get("pruned_share", 25) / 100)
        pruned = [training.pieces[pruning.id] for pruning in one.pruned]
        assert pruned == order[: one.before - one.after]
        known = {piece: value for piece, value in known.items() if piece not in pruned}
    assert [*known] == [*training.alphabet]
    notes = [i for i, pruning in enumerate(training.decisions) if pruning.note]
    assert notes == [one.start - 1 for one in training.rounds[1:]]


@settings(max_examples=examples(50))
@given(WORDS, SETTINGS, st.text("abé?", max_size=7))
def test_boundaries_equal_reference_segmentation_at_every_step(
    words: dict[str, int], how: dict[str, int], more: str
) -> None:
    training = train_on_words(words, **how)
    text = " ".join([*words, more])
    training = train(words, pattern="whitespace", **{**how, "seed_size": len(training.pieces)})
    tokenizer = training.at_step(training.steps)
    assert isinstance(tokenizer.boundaries(text), ChangingBoundaries)
    assert training.steps == len(training.pieces) - len(training.alphabet)
    number = {piece: i for i, piece in enumerate(training.pieces)}

    def expected(step: int) -> list[tuple[int, int]]:
        known = alive_at(training, step)
        return [
            (number.get(piece, UNKNOWN_ID), len(piece))
            for pre_token in tokenizer.pre_tokenizer.pre_tokens(text)
            for piece in reference.ranked_segmentations(pre_token, known)[0]
        ]

    check_steps(training, text, expected)
    for step in range(training.steps + 1):
        assert tokenizer.at_step(step).encode(text) == training.at_step(step).encode(text)


@settings(max_examples=examples(40))
@given(WORDS, SETTINGS, st.integers(0, 12), st.sampled_from(["characters", "bytes"]))
def test_training_to_size_is_prefix_of_full_training(
    words: dict[str, int], how: dict[str, int], more: int, atoms: str
) -> None:
    how.pop("seed_size", None)
    whole = train(words, pattern="none", atoms=atoms, **how)
    size = min(len(whole.alphabet) + more, len(whole.pieces))
    part = train(words, pattern="none", atoms=atoms, vocab_size=size, **how)
    assert part.pieces == whole.pieces
    assert (part.stopped, whole.stopped) == ("full", "atoms")
    assert part.steps == part.opening == len(whole.pieces) - size
    shown = [(one.id, one.count, one.loss, one.round) for one in whole.decisions]
    assert [(one.id, one.count, one.loss, one.round) for one in part.decisions] == (
        shown[: part.steps]
    )
    assert part.tokenizer().vocab_size == size + (atoms == "characters")
    for word in words:
        ours, theirs = part.tokenizer(), whole.tokenizer(size)
        assert ours.encode(word) == theirs.encode(word)
        counts = ours.boundaries(word).token_counts.tolist()
        assert counts == theirs.boundaries(word).token_counts.tolist()


# Against other libraries


@settings(max_examples=examples(150))
@given(MODELS, st.text("abc", max_size=12))
@example({"ab": -8.0, "bc": -8.0, "abc": -12.0}, "abcabc")
def test_tied_segmentations_equal_hugging_face(pieces: dict[str, float], text: str) -> None:
    pieces = {"a": -4.0, "b": -4.0, "c": -4.0} | pieces
    model = UnigramModel.of(pieces)
    listed = [("<unk>", 0.0), *zip(model.pieces, model.scores.tolist(), strict=True)]
    theirs = tokenizers.Tokenizer(tokenizers.models.Unigram(listed, unk_id=0))
    assert theirs.encode(text).tokens == [
        *pieces_of(model.lattice(text), model.lattice(text).best())
    ]


# Invalid arguments


def test_vocab_size_above_seed_pieces_keeps_all_pieces() -> None:
    training = train("abab", vocab_size=500)
    assert (training.steps, training.pieces) == (0, ("a", "b", "ab"))
    assert train("abc").steps == 0  # no substring repeats
    assert train("abc").opening == 0
    single = train("Die Bürgermeisterin prüft Überflüsse.")
    assert single.opening == single.steps == 1
