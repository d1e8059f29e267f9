"""Chapter: the first merge of byte-pair encoding."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from bpeviz.text import character_stand_in, counted, times
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
    Question,
    Setup,
    Why,
    compared,
)
from bpeviz.ui.learn.forms import MessagePart, NumberForm, token

KEY = "first-merge"
HELLO = "hello hell help"


def _pair(setup: Setup) -> Question:
    text = setup["text"]
    about_form: list[MessagePart] = [" Click between them, wherever they are."]
    if longer := next((character for character in text if len(character.encode()) > 1), ""):
        size = len(longer.encode())
        about_form += [" Below ", token(character_stand_in(longer)), f" are its {size} bytes."]
    prompt = ["Which two neighbors occur together most often?"]
    return engine.next_pair(prompt, text, about_form=about_form)


def _tokens(setup: Setup) -> Question:
    text = setup["text"]
    training = engine.merges_of(text, merges=1)
    if not training.steps:
        raise NoQuestionError("This text has no two neighbors to merge. Type a longer one.")
    merge = training.merges[0]
    before, colors = len(text.encode()), engine.hues((training, text))

    def judge(given: int | None) -> Judgment:
        right = int(training.tokenizer().boundaries(text).token_counts[1])
        message = f"{before:,} tokens − {merge.applied:,} = {counted(right, 'token')}."
        if merge.applied < merge.count:
            message += (
                f" The pair occurs {times(merge.count)}, but some of these places overlap, "
                f"so only {merge.applied:,} can be replaced."
            )
        else:
            message += " Each merge of two tokens into one makes the text one token shorter."
        return Judgment(compared(given, right), [message], {"right": right})

    prompt: list[MessagePart] = [
        engine.named(training, merge.left, colors),
        " + ",
        engine.named(training, merge.right, colors),
        f" occurs {times(merge.count)}. Now the text has {counted(before, 'token')}, "
        "one for each byte. How many remain after this merge?",
    ]

    def mistakes() -> list[Mistake]:
        gone = merge.applied
        return [
            Mistake(gone, [f"{gone:,} is how many disappear. How many remain?"]),
            Mistake(before, ["Then nothing would be shorter. But two tokens become one."]),
            Mistake(before - 2 * gone, ["Two tokens become one: each place saves one, not two."]),
            Mistake(before - 1, ["That saves one token in all. But there are more places."]),
            Mistake(before - gone + 1, ["The new token is in the vocabulary, not one more here."]),
            Mistake(256 + 1, ["That is the size of the vocabulary. Count the text."]),
        ]

    hint = "Each place where the pair is merged has one token less."
    see = [engine.text_row(text)]
    return Question(prompt, NumberForm(1, before, "tokens"), judge, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    training = engine.train(setup["text"], merges=1)
    about = (
        "Step back and forth to see this one merge. An id is the number of a token in the "
        "vocabulary: the bytes have 0 to 255, and the new token gets 256."
    )
    return [engine.played(training, setup["text"], about)]


def _target(setup: Setup) -> PageLink:
    return engine.train_page(setup, "Open this text in Train", 256 + 20, min_count=1)


def _claims() -> str:
    counts = Counter(pairwise(HELLO))
    best = [pair for pair, count in counts.items() if count == max(counts.values())]
    merged = " or ".join(f"`{left}` + `{right}`" for left, right in best)
    return (
        f"The first merge of “{HELLO}” is not `l` + `l`, which occurs {counts[('l', 'l')]} times. "
        f"It is {merged}, which occur {counts[best[0]]} times each."
    )


CHAPTER = Chapter(
    key=KEY,
    place=40,
    title="The first merge",
    core=True,
    lead="Byte-pair encoding starts with the bytes of a text. It counts each pair of neighbors, "
    "and merges the pair that occurs most often into one new token. A dot · is a space.",
    myth="The most frequent word is merged first.",
    fact="Training never looks for words. It only counts pairs of neighbors, and a letter with the "
    "space after it can be the best pair of all.",
    settings=f"Bytes, no pre-tokenization, minimum count 1. {engine.FIRST_SEEN}",
    source="Gage, “A New Algorithm for Data Compression”, 1994. Sennrich, Haddow and Birch, "
    "“Neural Machine Translation of Rare Words with Subword Units”, 2016. The text is the opening "
    "of Cervantes, Don Quijote, 1605.",
    inputs=(engine.text_input(KEY, DON_QUIJOTE),),
    questions=(_pair, _tokens),
    names=("The most frequent pair", "Tokens after the merge"),
    pictures=_pictures,
    why=Why(
        "Why does the pair with the highest count make a good token?",
        (
            AnswerOption(
                "saves",
                "It saves the most tokens in one step.",
                "Every place where the pair is replaced saves one token. So the highest count "
                "saves most, unless places overlap.",
                right=True,
            ),
            AnswerOption(
                "means",
                "It always has a meaning in the text.",
                "Meaning plays no part: counts alone decide.",
            ),
            AnswerOption(
                "long",
                "It is the longest pair in the text.",
                "At the first step, all pairs have the same length: two bytes.",
            ),
            AnswerOption(
                "word",
                "It is always part of a frequent word.",
                "Not always: a letter and the space after it is no part of a single word.",
            ),
        ),
    ),
    target=_target,
    samples={
        "banana": "banana bandana banana",
        "Overlaps": "aaabdaaabac",
        "Ties": "abcabc",
        "English": "the cat and the other cat sat there",
        HELLO: HELLO,
    },
    claims=_claims,
)
