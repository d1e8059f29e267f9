"""Chapter: WordPiece, BPE-dropout and Unigram."""

from __future__ import annotations

import math

from bpeviz.analysis.hues import OWN
from bpeviz.core.boundaries import UNKNOWN_ID
from bpeviz.core.training import Candidate, MergeTraining
from bpeviz.text import color_key, times
from bpeviz.trainers.unigram import UnigramTraining
from bpeviz.trainers.wordpiece import together
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import (
    AnswerOption,
    Chapter,
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
    Why,
    chosen,
)
from bpeviz.ui.learn.forms import MessagePart, OrderForm, token
from bpeviz.ui.runtime.cache import cached

KEY = "other-trainers"
SHOWN = 4
DRAWS = 1_000
MOST_PATHS, MOST_DRAWS = 64, 4_000
"""The most segmentations of a word to choose from, and the draws to find them all."""


def pairs_of(setup: Setup) -> tuple[MergeTraining, list[Candidate], dict[int, int]]:
    """Return the training history of no merges, the most frequent pairs, and token counts.

    Raises:
        NoQuestionError: The text has too few pairs.
    """
    text = setup["text"]
    training = engine.merges_of(text, "wordpiece", merges=0, pattern="whitespace")
    boundaries = training.at_step(0).boundaries(text)
    if (boundaries.ids(0) == UNKNOWN_ID).any():
        raise NoQuestionError("WordPiece does not split a word this long. Type shorter words.")
    candidates = training.candidates(text, boundaries, 0, 1_000)
    counts = training.pairs(text, boundaries, 0).tokens
    if len(candidates) < 2:
        raise NoQuestionError("This text has too few pairs. Type more words.")
    frequent = sorted(candidates, key=lambda pair: -pair.count)[:SHOWN]
    return training, frequent, dict(enumerate(counts.tolist()))


def _score(setup: Setup) -> Question:
    training, pairs, counts = pairs_of(setup)
    items = [[engine.named(training, token_id, OWN) for token_id in pair.ids] for pair in pairs]
    hints = [together(pair.count, *(counts[token_id] for token_id in pair.ids)) for pair in pairs]

    def judge(given: list[int] | None) -> Judgment:
        scores = [pair.score or 0.0 for pair in pairs]
        right = sorted(range(len(pairs)), key=lambda i: -scores[i])
        verdict: Verdict = "shown"
        if given is not None:
            ranked = [scores[i] for i in given]
            verdict = "right" if ranked == sorted(ranked, reverse=True) else "wrong"
        message = "WordPiece prefers a pair whose parts hardly ever occur without each other."
        if len({*scores}) < len(scores):
            message += " Pairs with the same score may be in either order."
        if given is not None and verdict == "right":
            right = list(given)  # tied pairs stay as the user put them
        notes = [f"{hint}: score {score:.3g}" for hint, score in zip(hints, scores, strict=True)]
        return Judgment(verdict, [message], {"order": right, "notes": notes})

    prompt = (
        "WordPiece divides the count of a pair by the product of the counts of its parts. ## "
        "means: inside a word. Sort these pairs by this score, the highest first."
    )

    def mistakes() -> list[Mistake]:
        every = range(len(pairs))
        scores = [pair.score or 0.0 for pair in pairs]
        right = sorted(every, key=lambda i: -scores[i])
        parts = [counts[pair.ids[0]] * counts[pair.ids[1]] for pair in pairs]
        by_count = sorted(every, key=lambda i: -pairs[i].count)
        return [
            Mistake(by_count, ["You sorted by count, as BPE does. The parts matter here."]),
            Mistake(by_count[::-1], ["The rarest pair first: but its parts matter, too."]),
            Mistake(sorted(every, key=lambda i: scores[i]), ["That is the lowest score first."]),
            Mistake(sorted(every, key=lambda i: -parts[i]), ["You sorted by the parts alone."]),
            Mistake([right[1], right[0], *right[2:]], ["The first two are the wrong way round."]),
        ]

    hint = "Divide the first number by the product of the other two: which result is the largest?"
    see = [engine.text_row(setup["text"])]
    return Question([prompt], OrderForm(items, hints), judge, mistakes, hint, see)


def _bpe(text: str) -> MergeTraining:
    return engine.merges_of(text, merges=20, pattern="whitespace", atoms="characters")


@cached()
def dropped(text: str, word: str, share: float) -> float:
    """Return the mean number of tokens of a word under BPE-dropout, trained on a text."""
    training = _bpe(text)
    drawn = training.segmentations(training.steps, word, share, DRAWS, 0)
    return sum(len(ids) * count for ids, count in drawn.items()) / DRAWS


def _unigram(setup: Setup) -> UnigramTraining:
    training = engine.train(setup["text"], "unigram", pattern="whitespace", atoms="characters")
    assert isinstance(training, UnigramTraining)  # noqa: S101 (for the type)
    return training


def _prune(setup: Setup) -> Question | None:
    """Return the question for the piece to prune, or None if the text uses too few pieces."""
    training = _unigram(setup)
    first = training.rounds[0] if training.rounds else None
    by_cost: dict[float, str] = {}  # pieces with the same cost would all be right
    uses, each = {}, {}
    for i in first.order.tolist() if first else ():
        if first and first.uses[i] and len(by_cost) < SHOWN:
            key, count = str(i), int(first.uses[i])
            uses[key], each[key] = count, round(float(first.losses[i]) / count, 1)
            by_cost.setdefault(uses[key] * each[key], key)
    if len(by_cost) < 3:
        return None
    costs = {key: cost for cost, key in by_cost.items()}
    names = {key: training.name(int(key)) for key in costs}
    colors = engine.hues((training, setup["text"]))

    def answer() -> tuple[str, list[MessagePart]]:
        best = min(costs, key=lambda key: costs[key])
        return best, [
            engine.named(training, int(best), colors),
            f" costs {uses[best]:,} × {each[best]:,} = {costs[best]:,.1f}. Unigram prunes such "
            "pieces, and estimates all others again.",
        ]

    def mistakes() -> list[Mistake]:
        return [
            Mistake(key, [f"{uses[key]:,} × {each[key]:,} = {costs[key]:,.1f}. Another is less."])
            for key in sorted(costs, key=lambda key: -costs[key])
        ]

    rows: list[list[MessagePart]] = [
        [
            engine.named(training, int(key), colors),
            f" used {times(uses[key])}, {each[key]:,} each",
        ]
        for key in names
    ]
    prompt = (
        "Unigram starts with many pieces, and prunes those that it misses least. Without a piece, "
        "the text costs more wherever the piece was used. Which piece costs least to lose?"
    )
    hint = "Multiply the uses and the cost of each use."
    return chosen([prompt], names, answer, mistakes, hint, [PictureRow("Pieces", rows)])


def _paths(setup: Setup) -> list[tuple[float, list[str], list[float]]]:
    """Return the segmentations of the word: probability, pieces, and their probabilities."""
    tokenizer = _unigram(setup).at_step(0)
    lattice, scores = tokenizer.lattice(setup["word"]), tokenizer.model.scores
    if any(edge.id < 0 for edge in lattice.edges) or lattice.paths > MOST_PATHS:
        return []
    sampled = [[*path] for path in lattice.sample(0.0, MOST_DRAWS, 0)]
    return sorted(
        (
            (
                math.exp(sum(float(scores[edge.id]) for edge in path)),
                [lattice.text[edge.start : edge.end] for edge in path],
                [math.exp(float(scores[edge.id])) for edge in path],
            )
            for path in sampled
        ),
        reverse=True,
    )


def _path(setup: Setup) -> Question | None:
    """Return the question for the most likely path, or None if the word has too few paths."""
    word = setup["word"]
    if not word or word != "".join(word.split()):
        raise NoQuestionError("Type one word to encode, without white space.")
    paths = _paths(setup)[:SHOWN]
    if len(paths) < 3:
        return None
    options = {"-".join(pieces): " + ".join(pieces) for _, pieces, _ in paths}
    products = {
        "-".join(pieces): f"{' × '.join(f'{chance:.1%}' for chance in each)} = {100 * product:.2g}%"
        for product, pieces, each in paths
    }

    def answer() -> tuple[str, list[MessagePart]]:
        best = next(iter(options))
        return best, [
            f"{products[best]}, the largest product. A model in training also gets other paths."
        ]

    def mistakes() -> list[Mistake]:
        return [Mistake(key, [f"{products[key]}. Another path has more."]) for key in options]

    shares = {
        piece: chance
        for _, pieces, each in paths
        for piece, chance in zip(pieces, each, strict=True)
    }
    colors = engine.hues((_unigram(setup), setup["text"]))
    rows: list[list[MessagePart]] = [
        [
            token(piece, colors.index(color_key(piece.encode())) if len(piece) > 1 else -1),
            f" {chance:.1%}",
        ]
        for piece, chance in sorted(shares.items(), key=lambda item: -item[1])
    ]
    prompt: list[MessagePart] = [
        "Each piece has a probability. Multiply them along a path through "
    ]
    prompt += [engine.quoted(word), ". Which path is the most likely one?"]
    hint = "A path with a rare piece loses, even if it has few pieces."
    by_words = dict(sorted(options.items()))
    return chosen(prompt, by_words, answer, mistakes, hint, [PictureRow("Probability", rows)])


def _pictures(setup: Setup) -> list[Picture]:
    shares = sorted({0, 10, setup["dropout"], 100})
    rows = [
        [f"{share}%", f"{dropped(setup['text'], setup['word'], share / 100):.2f}"]
        for share in shares
    ]
    unigram = _unigram(setup)
    wordpiece = engine.train(setup["text"], "wordpiece", merges=20, pattern="whitespace")
    trained = {
        "BPE": _bpe(setup["text"]).tokenizer(),
        "WordPiece": wordpiece.tokenizer(),
        "Unigram, before it prunes": unigram.at_step(0),
    }
    cut = [
        [name, "  ".join(part.label for part in tokenizer.tokens(setup["word"]))]
        for name, tokenizer in trained.items()
    ]
    about = f"Means of {DRAWS:,} draws. The vocabulary stays the same; only encoding is random."
    return [
        Picture("table", (["Dropout probability", "Tokens of the word"], rows), about),
        Picture("table", (["Trainer", "The word, without dropout"], cut)),
        engine.played(
            unigram,
            setup["text"],
            "Unigram works in the opposite direction: it starts with many pieces, and each round "
            "removes those that the text needs least.",
        ),
    ]


def _target(setup: Setup) -> PageLink:
    training = engine.merges_of(setup["text"], "wordpiece", merges=20, pattern="whitespace")
    return engine.train_page(
        setup,
        "Open this text in Train, with WordPiece",
        int(training.sizes[-1]),
        "wordpiece",
        pattern="whitespace",
        min_count=1,
    )


CHAPTER = Chapter(
    key=KEY,
    place=120,
    title="Other trainers",
    core=False,
    lead="Byte-pair encoding is not the only trainer. WordPiece chooses pairs by a score, Unigram "
    "prunes a large list of pieces, and BPE-dropout makes encoding random on purpose.",
    myth="The same text always has the same ids.",
    fact="Unigram and BPE-dropout can encode by chance while a model is trained: the same text "
    "then has different ids each time. When the model is used, the best path is taken, or all "
    "merges apply.",
    settings="Split by white space, minimum count 1.",
    source="The score is the Hugging Face course's reconstruction (chapter 6.6) of Google's "
    "unpublished trainer; Kudo 2018 (Unigram); Provilkov et al. 2020 (BPE-dropout).",
    inputs=(
        engine.text_input(KEY, "the cat the hat the quiz then that quilt", longest=300),
        Input("word", engine.text_field(KEY, "word", "Word to encode", 30), "that"),
        engine.number_input(
            KEY, "dropout", "Dropout in percent", 0, 100, 50, asked=False, slider=True
        ),
    ),
    questions=(_score, _prune, _path),
    names=("Scores of WordPiece", "The piece to prune", "The likeliest path"),
    pictures=_pictures,
    why=Why(
        "Why would anyone make encoding random?",
        (
            AnswerOption(
                "odd",
                "A model then copes better with odd spellings.",
                "It sees each word in several ways, and learns how pieces relate. That helps with "
                "rare words and typing errors.",
                right=True,
            ),
            AnswerOption(
                "shorter",
                "Texts then have fewer tokens than before.",
                "It makes them longer: with fewer merges there are more tokens.",
            ),
            AnswerOption(
                "secret",
                "Nobody else can then read the secret text.",
                "Every version decodes to the same text, so nothing is hidden.",
            ),
            AnswerOption(
                "faster",
                "Training a model then takes far less time.",
                "Texts get more tokens, so it takes longer, not shorter.",
            ),
        ),
    ),
    target=_target,
    samples={
        "hug, pug, pun, bun, hugs": {
            "text": "hug hug hug hug pug pug pun pun pun bun hugs hugs",
            "word": "hugs",
        },
        "low, lower, newest, widest": {
            "text": "low low low lower newest newest newest widest widest",
            "word": "lowest",
        },
        "Spanish": {"text": "prueba de tokens", "word": "pruebas"},
    },
)
