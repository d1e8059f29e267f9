"""Chapter: pre-tokenization, which rules out some merges."""

from __future__ import annotations

import bpeviz
from bpeviz.analysis.hues import Hues
from bpeviz.pretokenizers.patterns import PATTERNS
from bpeviz.text import counted, label, times
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import (
    AnswerOption,
    Chapter,
    Judgment,
    Mistake,
    PageLink,
    Picture,
    Question,
    Setup,
    Why,
    compared,
)
from bpeviz.ui.learn.forms import MessagePart, NumberForm

KEY = "pre-tokenization"
CHOICES = ("gpt2", "cl100k", "whitespace", "words")


def _first(setup: Setup) -> Question:
    return engine.next_pair(
        [
            "Without pre-tokenization, a pair may include spaces and periods. "
            "Which pair is merged first?"
        ],
        setup["text"],
        hint="Spaces and periods are bytes, too: a pair may cross the end of a word.",
        about_form=[" Click it."],
    )


def _tokens(setup: Setup, pattern: str) -> int:
    """Return the number of tokens after training with a pre-tokenization."""
    training = engine.train(setup["text"], merges=setup["merges"], pattern=pattern)
    return int(training.tokenizer().boundaries(setup["text"]).token_counts[-1])


def _colors(setup: Setup) -> Hues:
    text, merges = setup["text"], setup["merges"]
    patterns = ("none", setup["pattern"])
    return engine.hues(
        *((engine.train(text, merges=merges, pattern=pattern), text) for pattern in patterns)
    )


def _cost(setup: Setup) -> Question:
    free, size = _tokens(setup, "none"), len(setup["text"].encode())
    steps = engine.train(setup["text"], merges=setup["merges"]).steps
    title, colors = PATTERNS[setup["pattern"]].title, _colors(setup)

    def judge(given: int | None) -> Judgment:
        right = _tokens(setup, setup["pattern"])
        training = engine.merges_of(setup["text"], merges=1, pattern=setup["pattern"])
        other = "as many as" if right == free else f"and {free:,}"
        message: list[MessagePart] = [
            f"{counted(right, 'token')}, {other} without pre-tokenization."
        ]
        if training.steps:
            merge = training.merges[0]
            message += [
                " Now the first merge is ",
                engine.named(training, merge.left, colors),
                " + ",
            ]
            message += [engine.named(training, merge.right, colors)]
            message += [f", which occurs {times(merge.count)}."]
        most = engine.train(setup["text"], merges=setup["merges"], pattern=setup["pattern"]).steps
        if most < steps:
            message.append(f" Only {counted(most, 'merge')} could be made.")
        return Judgment(compared(given, right), message, {"right": right})

    prompt = (
        f"Without pre-tokenization, {counted(steps, 'merge')} "
        f"{'turns' if steps == 1 else 'turn'} {counted(size, 'byte')} "
        f"into {counted(free, 'token')}. Now the text is first split into pre-tokens "
        f"(pattern: {title}), and no merge crosses their boundaries. How many tokens are left "
        "after the same number of merges?"
    )
    parts = bpeviz.pretokenize(setup["text"], pattern=setup["pattern"])

    def mistakes() -> list[Mistake]:
        gone = size - _tokens(setup, setup["pattern"])
        return [
            Mistake(
                free, ["That is the number without pre-tokens. Some merges are ruled out now."]
            ),
            Mistake(len(parts), ["You counted pre-tokens. Many of them are several tokens."]),
            Mistake(gone, [f"{gone:,} is how many disappear. How many remain?"]),
            Mistake(size - steps, ["One merge applies at several places, and saves at each."]),
            Mistake(size, ["Some pairs are inside a pre-token, so some merges apply."]),
        ]

    see = [
        engine.tokens_row("Pre-tokens", [label(part.encode()) for part in parts]),
        engine.merges_row(
            engine.merges_of(setup["text"], merges=setup["merges"]),
            colors,
            title="Merges without them",
        ),
    ]
    hint = "Which of these merges would cross the end of a pre-token? They saved tokens."
    return Question([prompt], NumberForm(1, size, "tokens"), judge, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    text, merges, colors = setup["text"], setup["merges"], _colors(setup)
    tokenizers = [
        (title, engine.train(text, merges=merges, pattern=pattern).tokenizer())
        for title, pattern in (
            ("Not split", "none"),
            (PATTERNS[setup["pattern"]].title, setup["pattern"]),
        )
    ]
    return [
        engine.tokenized(text, tokenizers, colors=colors),
        engine.played(
            engine.train(text, merges=merges, pattern=setup["pattern"]), text, "", colors
        ),
    ]


def _target(setup: Setup) -> PageLink:
    return engine.train_page(
        setup,
        "Open this training in Train",
        256 + setup["merges"],
        pattern=setup["pattern"],
        min_count=1,
    )


def _claims() -> str:
    def split(text: str, pattern: str) -> str:
        parts = bpeviz.pretokenize(text, pattern=pattern)
        return " ".join(f"`{label(part.encode())}`" for part in parts)

    return (
        "GPT-3 neither limited numbers to three digits, nor joined letters and other characters. "
        "It has GPT-2's pattern. Only GPT-4 (cl100k) changed both: "
        f"“f(x)=1234567” is {split('f(x)=1234567', 'gpt2')} in GPT-2 and GPT-3, and "
        f"{split('f(x)=1234567', 'cl100k')} in GPT-4. "
        "In “coche azul”, GPT-2 leaves no space alone: it is "
        f"{split('coche azul', 'gpt2')}."
    )


CHAPTER = Chapter(
    key=KEY,
    place=60,
    title="Pre-tokenization",
    core=True,
    lead="Most tokenizers split the text before training, for example into words and punctuation. "
    "The parts are called pre-tokens. Merges stay inside a pre-token.",
    myth="The best tokenizer is the one that makes this text shortest.",
    fact="Without pre-tokenization, merges can make a text shorter, but they join the end of a "
    "word and the period after it. Then a word has other tokens before a comma than before a "
    "period.",
    settings=f"Bytes, minimum count 1. {engine.FIRST_SEEN} GPT-2's pattern keeps letters, digits, "
    "other symbols and white space apart. A word may begin with one space.",
    source="Radford et al., “Language Models are Unsupervised Multitask Learners”, 2019. The "
    "pattern is in github.com/openai/tiktoken, tiktoken_ext/openai_public.py.",
    inputs=(
        engine.text_input(KEY, "problema. casa. idea. Hola, cosa. prosa. rosa."),
        engine.choice_input(
            KEY, "pattern", "Pattern", {key: PATTERNS[key].title for key in CHOICES}
        ),
        engine.number_input(KEY, "merges", "Merges", 1, 60, 6),
    ),
    questions=(_first, _cost),
    names=("The first merge without it", "What it costs"),
    pictures=_pictures,
    why=Why(
        "The token “a.” is common in the first text, and saves tokens. What does it cost?",
        (
            AnswerOption(
                "looks",
                "Then “casa” looks different before a period.",
                "Before a comma the word ends in one token, before a period in another. The model "
                "has to learn the word twice.",
                right=True,
            ),
            AnswerOption(
                "nothing",
                "Nothing: fewer tokens are always the best.",
                "Fewer tokens are not the only aim. A model must also see that “Hola,” and “Hola.”"
                " have the same word in them.",
            ),
            AnswerOption(
                "slow",
                "Encoding a text takes much longer with it.",
                "Encoding takes about as long. The difference is in the tokens that a model sees.",
            ),
            AnswerOption(
                "lost",
                "The period is lost when a text is decoded.",
                "Decoding gives back every byte: the period is inside the token.",
            ),
        ),
    ),
    target=_target,
    samples={
        "English": "the dog. the dog, the dog! a dog; a dog.",
        "Numbers": "in 1234567 and 12345 and 1234",
    },
    claims=_claims,
)
