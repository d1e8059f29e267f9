"""Chapter: the size of a vocabulary, and what it costs."""

from __future__ import annotations

from dataclasses import replace

import bpeviz
from bpeviz.corpus import samples
from bpeviz.pretrained import download
from bpeviz.text import counted
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import (
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
    chosen,
)
from bpeviz.ui.learn.forms import CurveForm, MessagePart

KEY = "how-large"
LARGEST = 1_024
SIZES = (256, 288, 320, 384, 512, 768, LARGEST)
LONGEST_CORPUS = 10_000

_KEYS = ("english-prose", "spanish", "several-languages", "source-code")
TEXT = "\n".join(samples.by_key(key).text for key in _KEYS)
"""Some 5,000 characters: in a shorter text, the last merges join pairs that occur only once."""


def counts(setup: Setup) -> dict[int, int]:
    """Return the number of tokens of the text at each vocabulary size."""
    text = setup["text"]
    training = engine.train(text, vocab_size=LARGEST, pattern="gpt2")
    by_step = training.tokenizer().boundaries(text).token_counts
    return {256 + step: int(tokens) for step, tokens in enumerate(by_step.tolist())}


def _curve(setup: Setup) -> Question:
    size = len(setup["text"].encode())
    largest = max(counts(setup))
    if largest < 256 + 8:
        raise NoQuestionError("This text gives too few merges. Type a longer one.")
    handles = [256 + round((largest - 256) * share / 4) for share in range(5)]
    form = CurveForm(handles, size, size, "entries", "tokens")

    def judge(given: list[int] | None) -> Judgment:
        return engine.curve_result(given, form, counts(setup))

    prompt = (
        f"With 256 entries, one for each byte, the text has {counted(size, 'token')}. How "
        f"many does it have with larger vocabularies, up to {largest:,} entries? Draw the curve."
    )

    def mistakes() -> list[Mistake]:
        return engine.curve_mistakes(form, counts(setup))

    hint = "The first new entries save the most. Let your curve fall fast, then slowly."
    see = [engine.text_row(setup["text"])]
    return Question([prompt], form, judge, mistakes, hint, see)


def _double(setup: Setup) -> Question:
    tokens = counts(setup)
    large = max(tokens)
    small = max(256, large // 2)

    width = setup["width"]

    def answer() -> tuple[str, list[MessagePart]]:
        saved = 1 - tokens[large] / tokens[small]
        grown = large / small - 1
        message = (
            f"The table grows from {small:,} × {width:,} = {small * width:,} numbers to "
            f"{large:,} × {width:,} = {large * width:,}, by {grown:.0%}. The text goes from "
            f"{counted(tokens[small], 'token')} to {tokens[large]:,}: {saved:.1%} fewer."
        )
        return "both" if saved >= 0.5 and grown >= 1 else "table", [message]

    def mistakes() -> list[Mistake]:
        curve = "Look at the curve above: how much does the text shrink at its end?"
        return [
            Mistake("table", [curve]),
            Mistake("saving", ["Each new entry is a new row, so the table grows with them."]),
            Mistake("both", [curve]),
            Mistake("neither", ["Each new entry adds a row to the table."]),
        ]

    grows = "doubles, too" if large == 2 * small else "grows as much"
    prompt = (
        "A model has a row of numbers for each entry of the vocabulary: the embedding table. The "
        f"vocabulary grows from {small:,} to {large:,} entries. What {grows}?"
    )
    options = {
        "table": "Only the embedding table.",
        "saving": "Only the saving: the text has half as many tokens.",
        "both": "Both: a larger table, and half as many tokens.",
        "neither": "Neither of the two.",
    }
    hint = "How many rows does the table have? Then compare two places of the curve."
    rows = [[f"{size:,} entries × {width:,} numbers"] for size in (small, large)]
    return chosen([prompt], options, answer, mistakes, hint, [PictureRow("The table", rows)])


def _pictures(setup: Setup) -> list[Picture]:
    tokens, width = counts(setup), setup["width"]
    chosen = min(setup["size"], max(tokens))
    sizes = [size for size in sorted({*SIZES, chosen}) if size in tokens]
    rows = []
    before = None
    for size in sizes:
        saved = ""
        if before is not None:
            saved = f"{(tokens[before] - tokens[size]) / (size - before):.1f}"
        before = size
        mark = " (chosen)" if size == chosen else ""
        rows.append([f"{size:,}{mark}", f"{tokens[size]:,}", saved, f"{size * width:,}"])
    header = [
        "Entries",
        "Tokens",
        "Tokens saved by each new entry",
        "Numbers in the embedding table",
    ]
    cost = (
        f"With {chosen:,} entries, the text has {counted(tokens[chosen], 'token')}, and the "
        f"table has {chosen:,} × {width:,} = {chosen * width:,} numbers."
    )
    pictures = [Picture("table", (header, rows), cost)]
    about = (
        "GPT-2's vocabulary shows this on a larger scale. With 8,192 entries instead of 4,096, "
        "Tiny Shakespeare has 6.8% fewer tokens (computed once: that text is not part of bpeviz)."
    )
    if not download.available("gpt2"):
        return [replace(pictures[0], caption=f"{pictures[0].caption} {about}")]
    header = ["First entries of GPT-2's vocabulary", "Tokens of this text", "Saved by doubling"]
    return [*pictures, Picture("table", (header, gpt2_rows(setup["text"])), about)]


def gpt2_rows(text: str) -> list[list[str]]:
    """Return sizes of GPT-2's vocabulary, the tokens of a text, and the share that each saves."""
    costs = bpeviz.load("gpt2").boundaries(text).token_counts
    tokens = {size: int(costs[size - 256]) for size in (1_024, 2_048, 4_096, 8_192, 16_384, 32_768)}
    rows = []
    for size, number in tokens.items():
        before = tokens.get(size // 2)
        saved = f"{1 - number / before:.1%}" if before else ""
        rows.append([f"{size:,}", f"{number:,}", saved])
    return rows


def _target(setup: Setup) -> PageLink:
    label = "Open this training in Train, with its curves"
    return engine.train_page(setup, label, LARGEST, pattern="gpt2", min_count=1)


CHAPTER = Chapter(
    key=KEY,
    place=130,
    title="How large?",
    core=True,
    lead="More merges make a larger vocabulary and shorter texts. But every entry costs: a model "
    "stores a row of numbers, an embedding, for each one, and must see it often in training.",
    myth="A larger vocabulary is free.",
    fact="Each entry adds a whole row to the embedding table, while later merges save less and "
    "less. The right size depends on the model, the languages, and how much text there is.",
    settings="Bytes, GPT-2's pre-tokenization, minimum count 1.",
    source="Tao et al., “Scaling Laws with Vocabulary: Larger Models Deserve Larger "
    "Vocabularies”, 2024.",
    inputs=(
        engine.text_input(KEY, TEXT, longest=LONGEST_CORPUS),
        engine.number_input(
            KEY, "size", "Entries of the vocabulary", 256, LARGEST, 512, asked=False, slider=True
        ),
        engine.number_input(KEY, "width", "Numbers in an embedding", 1, 16_384, 768, asked=False),
    ),
    questions=(_curve, _double),
    names=("The falling curve", "Twice the vocabulary"),
    pictures=_pictures,
    why=Why(
        "Why do later merges save less than earlier ones?",
        (
            AnswerOption(
                "first",
                "The most frequent pairs were merged first.",
                "The remaining pairs are rarer, so each new entry saves fewer tokens.",
                right=True,
            ),
            AnswerOption(
                "longer",
                "Later tokens are long, and those save less.",
                "A merge saves one token at each place, however long the new token is. But the "
                "number of places falls.",
            ),
            AnswerOption(
                "slower",
                "The computer gets slower with each merge.",
                "Speed does not change which tokens are made.",
            ),
            AnswerOption(
                "full",
                "The vocabulary is almost full by that time.",
                "It has room until it reaches its size. The number of places for a merge falls "
                "long before.",
            ),
        ),
    ),
    target=_target,
    samples={
        "English alone": samples.by_key("english-prose").text,
        "Code alone": samples.by_key("source-code").text,
    },
)
