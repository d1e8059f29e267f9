"""Chapter: words with counts, and a mark at the end of each."""

from __future__ import annotations

from bpeviz.core.training import MergeTraining
from bpeviz.corpus.samples import written_out
from bpeviz.text import counted
from bpeviz.ui.inputs.training import COUNTED
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
    Why,
)
from bpeviz.ui.learn.forms import BoundariesForm, MessagePart

KEY = "word-ends"
WORDS = "low 5\nlower 2\nnewest 6\nwidest 3"
MARKS = {
    "symbol": "A symbol of its own",
    "attached": "Part of the last letter",
    "none": "No mark",
}
_SENTENCES = {
    "symbol": "The mark </w> is a symbol of its own.",
    "attached": "The mark </w> is part of the last letter.",
    "none": "Words have no mark.",
}
MERGES = 10
LONGEST_CORPUS = 2_000
"""The most characters of the words, each repeated by its count."""


def text_of(setup: Setup) -> str:
    """Return the words, each repeated by its count. Raises `NoQuestionError`."""
    try:
        return written_out(setup["text"], LONGEST_CORPUS)
    except ValueError as error:
        raise NoQuestionError("Each line must be a word and its count, such as “low 5”.") from error


def trained(setup: Setup, mark: str, merges: int = MERGES) -> MergeTraining:
    """Return the training history of the words with a mark."""
    return engine.merges_of(
        text_of(setup), merges=merges, pattern="whitespace", atoms="characters", end_mark=mark
    )


def _first(setup: Setup) -> Question:
    prompt = (
        f"Each word is repeated by its count. {_SENTENCES[setup['mark']]} "
        "Which pair is merged first?"
    )
    rows = [[line] for line in setup["text"].splitlines() if line.strip()]
    return engine.next_pair(
        [prompt],
        text_of(setup),
        hint="Add up the counts of all words that contain the pair.",
        see=[PictureRow("Words with counts", rows)],
        pattern="whitespace",
        atoms="characters",
        end_mark=setup["mark"],
    )


def _word(setup: Setup) -> Question:
    word, merges = setup["word"], setup["merges"]
    training = engine.merges_of(
        setup["corpus"], merges=merges, pattern="whitespace", atoms="characters"
    )
    if len(word) < 2:
        raise NoQuestionError("Type a word of at least two letters to encode.")
    if not training.steps:
        raise NoQuestionError("The training text has no two neighbors. Type a longer one.")
    played = engine.hues((trained(setup, setup["mark"]), text_of(setup)))
    colors = engine.hues((training, word), given=played)

    def judge(given: list[int] | None) -> Judgment:
        return engine.encoded_result(given, training.tokenizer(), word, colors)

    def mistakes() -> list[Mistake]:
        return engine.cut_mistakes(judge(None).marks["right"], word, training)

    prompt: list[MessagePart] = [
        f"Without a mark, training made {counted(training.steps, 'merge')}. "
    ]
    prompt += ["Which tokens does ", engine.quoted(word), " become?"]
    hint = "Apply the merges one after another, and look which letters are left alone."
    see = [engine.text_row(setup["corpus"], "Training text"), engine.merges_row(training, colors)]
    return Question(prompt, BoundariesForm(word), judge, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    rows = []
    for mark, title in MARKS.items():
        training = trained(setup, mark)
        names = "  ".join(training.name(merge.new_id) for merge in training.merges)
        rows.append([title, names])
    return [
        Picture("table", (["End-of-word mark", f"The first {MERGES} new tokens"], rows)),
        engine.played(trained(setup, setup["mark"]), text_of(setup)),
    ]


def _target(setup: Setup) -> PageLink:
    training = trained(setup, setup["mark"])
    target = engine.train_page(
        setup,
        "Open this training in Train",
        len(training.alphabet) + MERGES,
        pattern="whitespace",
        atoms="characters",
        end_mark=setup["mark"],
        min_count=1,
    )
    return PageLink(target.path, target.label, {**target.values, COUNTED.link: True})


CHAPTER = Chapter(
    key=KEY,
    place=90,
    title="Words and their ends",
    core=False,
    lead="Training often starts from a list of words with counts. A mark, written </w>, can be "
    "added to the end of each word. Then “est” at the end of “newest” and “est” in “estate” are "
    "different tokens.",
    myth="Byte-pair encoding is one fixed recipe, so every program finds the same merges.",
    fact="Small choices change the merges. The mark can be a symbol or part of the last letter, "
    "and either of two equally frequent pairs can come first. Two programs agree only if they "
    "follow the same rules.",
    settings=f"Characters, split by white space, minimum count 1. {engine.FIRST_SEEN}",
    source="Sennrich, Haddow and Birch 2016; since version 0.2, subword-nmt attaches the mark "
    "to the last letter.",
    inputs=(
        Input(
            "text",
            engine.text_field(KEY, "text", "Words with counts", 300),
            WORDS,
            lines=True,
        ),
        engine.choice_input(KEY, "mark", "End-of-word mark", MARKS),
        Input(
            "corpus",
            engine.text_field(KEY, "corpus", "Second training text", 300),
            "low lowest new wider lowering",
        ),
        engine.number_input(KEY, "merges", "Merges of the second text", 1, 30, 4),
        Input("word", engine.text_field(KEY, "word", "Word to encode", 40), "lower"),
    ),
    questions=(_first, _word),
    names=("The first merge in words", "Without a mark"),
    pictures=_pictures,
    why=Why(
        "Why do some tokenizers mark the end of a word?",
        (
            AnswerOption(
                "apart",
                "It keeps endings apart from other letters.",
                "“est” with the mark is an ending. And decoding can see where a word ends, and put"
                " the space back.",
                right=True,
            ),
            AnswerOption(
                "saves",
                "A marked word always needs fewer tokens.",
                "No: as a symbol of its own, the mark even adds one to each word at the start.",
            ),
            AnswerOption(
                "random",
                "It makes training find random new merges.",
                "Training stays exact: the same text and the same rules give the same merges.",
            ),
            AnswerOption(
                "language",
                "It tells which language a word comes from.",
                "The mark is the same in all languages: it only says where a word ends.",
            ),
        ),
    ),
    target=_target,
    samples={
        "low, lower, newest, widest": WORDS,
        "hug, pug, pun, bun, hugs": "hug 10\npug 5\npun 12\nbun 4\nhugs 5",
    },
)
