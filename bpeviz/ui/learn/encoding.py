"""Chapter: encoding a new text with trained merges, and decoding."""

from __future__ import annotations

from collections.abc import Sequence

from bpeviz.core.boundaries import MergeBoundaries
from bpeviz.core.merges import Merge
from bpeviz.core.training import MergeTraining
from bpeviz.text import counted
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import (
    DON_QUIJOTE,
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
    Verdict,
    Why,
    compared,
)
from bpeviz.ui.learn.forms import MessagePart, NumberForm, OrderForm

KEY = "encoding"
MERGES = 20
MAX_STEPS = 6
"""The most merges to put into order."""


def training_of(setup: Setup) -> MergeTraining:
    """Return the training history whose merges encode the text."""
    return engine.merges_of(setup["corpus"], merges=MERGES)


def applied(training: MergeTraining, text: str) -> list[int]:
    """Return the steps of the first merges that apply to a text, in their order."""
    steps = training.tokenizer().boundaries(text).change_steps
    return [int(step) for step in steps[:MAX_STEPS]]


def possible(merges: Sequence[Merge], order: Sequence[int]) -> bool:
    """Return whether each merge comes after those that make its parts."""
    later_ids = {merge.new_id for merge in merges}
    for place in order:
        if {merges[place].left, merges[place].right} & later_ids:
            return False
        later_ids.discard(merges[place].new_id)
    return True


def _tokens(setup: Setup) -> Question:
    text, training = setup["text"], training_of(setup)
    size, colors = len(text.encode()), engine.hues((training, text))
    if not size:
        raise NoQuestionError("There is no text. Type one.")

    def judge(given: int | None) -> Judgment:
        tokens = training.tokenizer().tokens(text)
        message: list[MessagePart] = [f"{counted(len(tokens), 'token')}: "]
        for token in tokens[:60]:
            message += [engine.named(training, token.id, colors), " "]
        if len(tokens) > 60:
            message.append("…")
        return Judgment(compared(given, len(tokens)), message, {"right": len(tokens)})

    if not training.steps:
        raise NoQuestionError("The training text has no two neighbors. Type a longer one.")

    def mistakes() -> list[Mistake]:
        gone, words = size - len(training.tokenizer().encode(text)), len(text.split())
        return [
            Mistake(size, ["You counted bytes. But some of the merges apply."]),
            Mistake(gone, [f"{gone:,} is how many tokens disappear. How many remain?"]),
            Mistake(words, ["You counted words. A word is often several tokens."]),
            Mistake(len("".join(text.split())), ["You counted letters. Spaces and merges count."]),
            Mistake(training.steps, [f"{training.steps:,} is the number of merges in training."]),
        ]

    prompt: list[MessagePart] = [
        f"Training made {counted(training.steps, 'merge')}. The text ",
    ]
    prompt += [engine.quoted(text), f" has {counted(size, 'byte')}. "]
    prompt.append("How many tokens does it become?")
    hint = "Go through the merges in order. Join each pair wherever it stands in the text."
    see = [engine.text_row(text, "Text to encode"), engine.merges_row(training, colors)]
    return Question(prompt, NumberForm(1, size, "tokens"), judge, mistakes, hint, see)


def _order(setup: Setup) -> Question | None:
    text, training = setup["text"], training_of(setup)
    steps = applied(training, text)
    if len(steps) < 2:
        return None
    merges = [training.merges[step] for step in steps]
    colors = engine.hues((training, text))
    names = [(training.name(merge.left), training.name(merge.right)) for merge in merges]
    listed = sorted(range(len(merges)), key=names.__getitem__)
    items = [
        [
            engine.named(training, merges[i].left, colors),
            engine.named(training, merges[i].right, colors),
        ]
        for i in listed
    ]
    mixed = [merges[i] for i in listed]

    right = sorted(range(len(listed)), key=listed.__getitem__)

    def judge(given: list[int] | None) -> Judgment:
        verdict: Verdict = "shown" if given is None else "right" if given == right else "wrong"
        message = "Merges apply in the order of training."
        if verdict == "wrong" and possible(mixed, given or []):
            message += " Yours is possible, too, but the order of training counts."
        elif verdict == "wrong":
            message += " In yours, a merge comes before the one that makes its part."
        notes = [f"merge {steps[i] + 1:,}" for i in listed]
        return Judgment(verdict, [message], {"order": right, "notes": notes})

    def mistakes() -> list[Mistake]:
        boundaries = training.tokenizer().boundaries(text)
        assert isinstance(boundaries, MergeBoundaries)  # noqa: S101 (for the type)
        merged_at = boundaries.merged_at.tolist()
        reading = sorted(range(len(listed)), key=lambda i: merged_at.index(steps[listed[i]]))
        sizes = [len(names[i][0] + names[i][1]) for i in listed]
        longest = sorted(range(len(listed)), key=lambda i: -sizes[i])
        return [
            Mistake(right[::-1], ["This begins with the last merge. The earliest comes first."]),
            Mistake(reading, ["You went from left to right. But training sets the order."]),
            Mistake(longest, ["The longest token cannot come first: it needs its parts."]),
            Mistake([*range(len(listed))], ["That is the order of the alphabet."]),
        ]

    prompt = "These merges apply to the text. In which order?"
    hint = "Look for them in the list of merges above."
    see = [engine.text_row(text)]
    return Question([prompt], OrderForm(items), judge, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    text, training = setup["text"], training_of(setup)
    tokenizer = training.tokenizer()
    ids = tokenizer.encode(text)
    rows = [
        [
            str(token_id),
            " ".join(map(str, tokenizer.token_bytes(token_id))),
            tokenizer.token_label(token_id),
            tokenizer.decode([token_id]),
        ]
        for token_id in dict.fromkeys(ids)
    ]
    alone = any("\N{REPLACEMENT CHARACTER}" in row[3] for row in rows)
    about = "Decoding joins the bytes of all tokens, and returns exactly the text."
    if alone:
        about += " A byte of a longer character is not text by itself: alone it decodes to �."
    return [
        engine.grid(text, tokenizer, colors=engine.hues((training, text))),
        Picture("table", (["Id", "Bytes", "Token", "Decoded alone"], rows), about),
    ]


def _target(setup: Setup) -> PageLink:
    training = engine.train_page(setup, "", 256 + MERGES, text=setup["corpus"], min_count=1)
    page = engine.inspect_page(setup["text"], "Open this text in Inspect, with this tokenizer")
    size = 256 + training_of(setup).steps
    return PageLink(page.path, page.label, {**training.values, **page.values, "size": size})


CHAPTER = Chapter(
    key=KEY,
    place=70,
    title="Encode and decode",
    core=True,
    lead="A trained tokenizer encodes any text. It starts from the bytes, and applies the merges "
    "in the order of training, wherever they fit. Decoding goes back from ids, the numbers of the "
    "tokens, to bytes.",
    myth="Ids rank the tokens by how often they occur in the text.",
    fact="An id only tells when training made the token: bytes come first, then merges. Encoding "
    "repeats the merges of training, the earliest first, and counts nothing.",
    settings=f"Bytes, no pre-tokenization, up to {MERGES} merges of the training text.",
    source="Sennrich, Haddow and Birch, “Neural Machine Translation of Rare Words with Subword "
    "Units”, 2016, section 3.2.",
    inputs=(
        engine.text_input(KEY, "casa de lanza", "Text to encode", 200),
        Input("corpus", engine.text_field(KEY, "corpus", "Training text"), DON_QUIJOTE, True),
    ),
    questions=(_tokens, _order),
    names=("Tokens of a new text", "The order of merges"),
    pictures=_pictures,
    why=Why(
        "Why must the merges apply in the order of training?",
        (
            AnswerOption(
                "parts",
                "Later merges need what earlier ones make.",
                "For example, a merge of “d” with “e·” fits only where “e” and the space are "
                "already merged.",
                right=True,
            ),
            AnswerOption(
                "decode",
                "Otherwise decoding would lose some bytes.",
                "Decoding always works: it only joins the bytes of the tokens, whatever they are.",
            ),
            AnswerOption(
                "longest",
                "The first merges make the longest tokens.",
                "The opposite is true: the first merge makes a token of two bytes.",
            ),
            AnswerOption(
                "frequent",
                "The most frequent pair in this text leads.",
                "Encoding counts nothing. It only repeats the merges that training found.",
            ),
        ),
    ),
    target=_target,
    samples={"Como estás?": "Como estás?", "lanza": "lanza", "Its own text": DON_QUIJOTE[:60]},
)
