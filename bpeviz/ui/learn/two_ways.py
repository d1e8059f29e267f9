"""Chapter: two ways to encode with the same tokens."""

from __future__ import annotations

from bpeviz.analysis.hues import Hues
from bpeviz.core.training import MergeTraining
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
    Question,
    Setup,
    Why,
)
from bpeviz.ui.learn.forms import BoundariesForm

KEY = "two-ways"
LONGEST_TEXT = 40

TITLES = {"merges": "Merge order", "longest": "Longest match"}


def _trained(setup: Setup, way: str) -> MergeTraining:
    return engine.merges_of(
        setup["corpus"],
        merges=setup["merges"],
        pattern="whitespace",
        atoms="characters",
        encode=way,
    )


def _colors(setup: Setup) -> Hues:
    return engine.hues(*((_trained(setup, way), setup["text"]) for way in TITLES))


def _question(setup: Setup, way: str, rule: str, hint: str) -> Question:
    text, training = setup["text"], _trained(setup, way)
    if len(text) < 2:
        raise NoQuestionError("Type at least two letters to encode.")
    if not training.steps:
        raise NoQuestionError("The training text has no two neighbors. Type a longer one.")
    colors = _colors(setup)

    def judge(given: list[int] | None) -> Judgment:
        return engine.encoded_result(given, training.tokenizer(), text, colors)

    def mistakes() -> list[Mistake]:
        other = "longest" if way == "merges" else "merges"
        tokens = _trained(setup, other).tokenizer().tokens(text)
        cuts = engine.boundaries_result(None, tokens, text).marks["right"]
        words = f"That is the result of the other way: {TITLES[other].lower()}."
        others = engine.cut_mistakes(judge(None).marks["right"], text, _trained(setup, "merges"))
        return [Mistake(cuts, [words]), *others]

    see = [
        engine.text_row(setup["corpus"], "Training text"),
        engine.merges_row(training, colors),
    ]
    return Question([rule], BoundariesForm(text), judge, mistakes, hint, see)


def _in_order(setup: Setup) -> Question:
    return _question(
        setup,
        "merges",
        "Encode this text by merging in order. Where are the boundaries?",
        "Look for the first merge anywhere in the text, and apply it. Then take the next one.",
    )


def _longest(setup: Setup) -> Question:
    return _question(
        setup,
        "longest",
        "Now take the longest token that fits, again and again, from the left. Where are the "
        "boundaries now?",
        "Start at the left, and try the longest tokens first. The order plays no part.",
    )


def _pictures(setup: Setup) -> list[Picture]:
    tokenizers = [(title, _trained(setup, way).tokenizer()) for way, title in TITLES.items()]
    about = "The same vocabulary, two ways to encode."
    return [engine.tokenized(setup["text"], tokenizers, about, _colors(setup))]


def _target(setup: Setup) -> PageLink:
    training = _trained(setup, "longest")
    page = engine.inspect_page(setup["text"])
    linked = engine.train_page(
        setup,
        "",
        len(training.alphabet) + training.steps,
        pattern="whitespace",
        text=setup["corpus"],
        atoms="characters",
        encode="longest",
        min_count=1,
    )
    return PageLink(page.path, page.label, {**linked.values, **page.values})


CHAPTER = Chapter(
    key=KEY,
    place=80,
    title="Two ways to encode",
    core=True,
    lead="A vocabulary alone does not decide how to encode. Byte-pair encoding merges in the order "
    "of training. Others, such as BERT's WordPiece, take the longest token that fits, from the "
    "left.",
    myth="With the same vocabulary, every tokenizer gives the same tokens.",
    fact="With the same vocabulary, merging in order and longest match can give different tokens. "
    "A tokenizer is a vocabulary and a rule to encode.",
    settings="Characters, split by white space. With GPT-2's pattern, both ways agree on “abc”.",
    source="Longest match: Devlin et al., “BERT: Pre-training of Deep Bidirectional Transformers "
    "for Language Understanding”, 2018.",
    inputs=(
        engine.text_input(KEY, "abc", "Text to encode", LONGEST_TEXT),
        Input("corpus", engine.text_field(KEY, "corpus", "Training text"), "bc bc bc ab ab"),
        engine.number_input(KEY, "merges", "Merges", 1, 30, 2),
    ),
    questions=(_in_order, _longest),
    names=("Merging in order", "The longest token first"),
    pictures=_pictures,
    why=Why(
        "Why does merging in order not start with “ab” at the left of the first text, “abc”?",
        (
            AnswerOption(
                "before",
                "Training merged “bc” before “ab”.",
                "The earliest merge of training applies first, anywhere in the text. Then no “b” "
                "is left for “ab”.",
                right=True,
            ),
            AnswerOption(
                "right",
                "Merging starts at the right end.",
                "It has no direction between different pairs: the earliest merge of training "
                "applies first.",
            ),
            AnswerOption(
                "longer",
                "“bc” is a longer token than “ab”.",
                "Both have two letters. Length plays no part when merging in order.",
            ),
            AnswerOption(
                "alphabet",
                "“bc” comes later in the alphabet.",
                "The alphabet plays no part: “bc” occurred more often in training.",
            ),
        ),
    ),
    target=_target,
    samples={"abcab": "abcab", "An unknown letter": "abxbc"},
)
