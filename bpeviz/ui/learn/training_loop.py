"""Chapter: the loop of merges, and when it stops."""

from __future__ import annotations

from dataclasses import replace

from bpeviz.text import counted, times
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import (
    DON_QUIJOTE,
    AnswerOption,
    Chapter,
    Judgment,
    Mistake,
    NoQuestionError,
    PageLink,
    Picture,
    PictureRow,
    Question,
    Setup,
    Why,
    compared,
)
from bpeviz.ui.learn.forms import CurveForm, MessagePart, NumberForm

KEY = "training-loop"
MERGES = 20


def _curve(setup: Setup) -> Question:
    text, merges = setup["text"], setup["merges"]
    size = len(text.encode())
    if size <= merges:
        raise NoQuestionError(
            f"This text is too short for {counted(merges, 'merge')}. Type a longer one."
        )
    handles = sorted({round(merges * share / 4) for share in range(5)})
    form = CurveForm(handles, size, size, "merges", "tokens")

    def values() -> dict[int, int]:
        counts = engine.train(text, merges=merges).tokenizer().boundaries(text).token_counts
        return {step: int(counts[min(step, len(counts) - 1)]) for step in range(merges + 1)}

    def judge(given: list[int] | None) -> Judgment:
        result = engine.curve_result(given, form, values())
        steps = engine.train(text, merges=merges).steps
        if steps < merges:
            note = f" After {counted(steps, 'merge')} nothing is left to merge."
            return replace(result, message=[*result.message, note])
        return result

    prompt = (
        f"The text has {size:,} bytes, so {size:,} tokens. Each merge makes it shorter. How many "
        f"tokens are left after 1, 2, … {merges:,} merges? Draw the curve."
    )
    hint = "The first merges save many tokens. Later ones save less and less."
    see = [engine.text_row(text)]
    mistakes = lambda: engine.curve_mistakes(form, values())  # noqa: E731
    return Question([prompt], form, judge, mistakes, hint, see)


def _rare(setup: Setup) -> Question:
    text, merges = setup["text"], setup["merges"]
    training = engine.merges_of(text, merges=merges)

    def judge(given: int | None) -> Judgment:
        often = [merge for merge in training.merges if merge.count > 1]
        message: list[MessagePart] = [f"{counted(len(often), 'merge')}: "]
        if len(often) < training.steps:
            merge, colors = training.merges[len(often)], engine.hues((training, text))
            message += [
                f"merge {len(often) + 1:,}, ",
                engine.named(training, merge.left, colors),
                " + ",
                engine.named(training, merge.right, colors),
                f", joins a pair that occurs {times(merge.count)}.",
            ]
        else:
            message.append("every merge of this training joins a pair that occurs at least twice.")
        return Judgment(compared(given, len(often)), message, {"right": len(often)})

    def mistakes() -> list[Mistake]:
        often = [merge.count for merge in training.merges if merge.count > 1]
        once, thrice = training.steps - len(often), sum(count > 2 for count in often)
        return [
            Mistake(once, [f"{once:,} is how many join a pair that occurs once."]),
            Mistake(thrice, ["You stopped at pairs that occur three times. Two are enough."]),
            Mistake(training.steps, ["Not all: at the end, a pair occurs only once."]),
            Mistake(0, ["The first merges joined frequent pairs: count those."]),
        ]

    prompt = (
        "In a short text, frequent pairs run out, and the remaining pairs occur only once. How "
        f"many of the {counted(training.steps, 'merge')} join a pair that occurs at least twice?"
    )
    counts = [[f"{merge.count:,} times"] for merge in training.merges[: training.steps // 2]]
    see = [PictureRow("Count of each merge: the first half", counts, numbered=True)]
    hint = "Look at how fast the counts fall, and go on in your mind."
    form = NumberForm(0, training.steps, "merges")
    return Question([prompt], form, judge, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    text, merges = setup["text"], setup["merges"]
    rows = []
    for least in (1, 2):
        training = engine.merges_of(text, merges=merges, min_count=least)
        tokens = int(training.tokenizer().boundaries(text).token_counts[-1])
        last = training.name(training.merges[-1].new_id) if training.steps else "none"
        rows.append([str(least), f"{training.steps:,}", f"{tokens:,}", last])
    header = ["Minimum count", "Merges", "Tokens", "Last new token"]
    return [
        engine.played(engine.train(text, merges=merges), text, "Press Play to see the loop."),
        Picture("table", (header, rows)),
    ]


def _target(setup: Setup) -> PageLink:
    largest = 256 + setup["merges"]
    return engine.train_page(setup, "Open this training in Train", largest, min_count=1)


def _claims() -> str:
    training = engine.train(DON_QUIJOTE, merges=MERGES)
    tokens = int(training.tokenizer().boundaries(DON_QUIJOTE).token_counts[-1])
    return (
        f"One prints 79 tokens after {MERGES} merges of Don Quijote's opening. There are {tokens}: "
        "it makes another merge, and gives id 256 to two merges."
    )


CHAPTER = Chapter(
    key=KEY,
    place=50,
    title="The loop",
    core=True,
    lead="Training is a loop: count the pairs, merge the best one, count again. A new token is "
    "like any other: it can be merged with its neighbors later. So tokens grow from bytes to "
    "parts of words, words and phrases.",
    myth="The more merges, the better: training should go on until nothing is left to merge.",
    fact="The first merges join pairs that are common in other texts of this kind, too. The last "
    "ones only memorize this text. With a minimum count of 2, pairs that occur once are not "
    "merged, so training ends earlier.",
    settings=f"Bytes, no pre-tokenization, minimum count 1. {engine.FIRST_SEEN}",
    source="Sennrich, Haddow and Birch, “Neural Machine Translation of Rare Words with Subword "
    "Units”, 2016.",
    inputs=(
        engine.text_input(KEY, DON_QUIJOTE),
        engine.number_input(KEY, "merges", "Merges", 2, 60, MERGES),
    ),
    questions=(_curve, _rare),
    names=("The falling curve", "Pairs that repeat"),
    pictures=_pictures,
    why=Why(
        "A late merge joins a pair that was seen only once. Has training found something useful?",
        (
            AnswerOption(
                "memorizes",
                "No: it memorizes this one text.",
                "A pair that occurs once shows nothing about other texts. The entry in the "
                "vocabulary is wasted.",
                right=True,
            ),
            AnswerOption(
                "shorter",
                "Yes: every text gets shorter.",
                "Only this text does. A token that was seen once is unlikely to occur in other "
                "texts.",
            ),
            AnswerOption(
                "forbidden",
                "No: long tokens are forbidden.",
                "Long tokens are fine if they occur often. Here the count is the problem.",
            ),
            AnswerOption(
                "rare",
                "Yes: rare pairs are important.",
                "A pair that occurs once here hardly ever occurs elsewhere. What counts is how "
                "often it helps.",
            ),
        ),
    ),
    target=_target,
    samples={
        "banana": "banana bandana banana bandana",
        "One letter": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "English": "the cat and the other cat sat there, and then the cat ate the other rat",
    },
    claims=_claims,
)
