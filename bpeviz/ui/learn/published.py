"""Chapter: published tokenizers, and special tokens."""

from __future__ import annotations

from collections.abc import Sequence

import bpeviz
from bpeviz.core.tokenizer import Token
from bpeviz.pretrained.catalog import TITLES
from bpeviz.text import counted, label
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
    chosen,
)
from bpeviz.ui.learn.forms import BoundariesForm, MessagePart, token
from bpeviz.ui.runtime.cache import cached

KEY = "published"
VOCABULARY = "cl100k_base"
LISTED = 9
"""The most pieces of a vocabulary above a question, unless the text has more tokens."""

MAX_TOKENS = 40
"""The most tokens that a result lists."""

NEEDS = ("gpt2", "cl100k_base")


def _with_ids(tokens: Sequence[Token]) -> list[MessagePart]:
    """Return tokens and their ids as a message."""
    each = "with its id" if len(tokens) == 1 else "each with its id"
    message: list[MessagePart] = [f"{counted(len(tokens), 'token')}, {each}: "]
    for part in tokens[:MAX_TOKENS]:
        message += [token(part.label), f"\u00a0{part.id}, "]
    message[-1] = f"\u00a0{tokens[-1].id}." if len(tokens) <= MAX_TOKENS else "…"
    return message


def _dearer(setup: Setup) -> Question:
    first, second = setup["text"], setup["other"]
    if not first or not second:
        raise NoQuestionError("There is no text. Type one into both boxes.")

    def cost() -> tuple[int, int]:
        own, other = (len(bpeviz.load(VOCABULARY).encode(text)) for text in (first, second))
        return own, other

    def answer() -> tuple[str, list[MessagePart]]:
        own, other = cost()
        both = [bpeviz.load(VOCABULARY).tokens(text) for text in (first, second)]
        message = ["First: ", *_with_ids(both[0]), " Second: ", *_with_ids(both[1])]
        raw = [token.raw.decode(errors="replace") for token in (*both[0], *both[1])]
        if any("\N{REPLACEMENT CHARACTER}" in text for text in raw):
            message.append(" A byte in ⟨ ⟩ is only a part of a character, and no text by itself.")
        if other == own:
            return "same", message
        return "less" if other < own else "more" if other < 2 * own else "double", message

    def mistakes() -> list[Mistake]:
        sizes = f"It has {counted(len(second), 'character')}, the first {len(first):,}. "
        many = f"It has {counted(len(second.split()), 'word')}, the first {len(first.split()):,}. "
        return [
            Mistake("less", [f"{sizes}But count pieces: a long one costs as much as a letter."]),
            Mistake("same", [f"{many}But count pieces: a word may need several."]),
            Mistake("more", ["Count once more: each place without a piece costs a letter."]),
            Mistake("double", ["That is too much: cover more letters with one piece."]),
        ]

    options = {
        "less": "Fewer tokens than the first.",
        "same": "As many tokens as the first.",
        "more": "More, but not twice as many.",
        "double": "Twice as many, or even more.",
    }
    see = []
    for name, text in (("First text", first), ("Second text", second)):
        see += [engine.text_row(text, name)]
        see += [engine.tokens_row("Its pieces", fitting)] if (fitting := pieces(text)) else []
    prompt = (
        "GPT-4's vocabulary has these pieces. Where none fits, a letter is a token. What does the "
        "second text cost?"
    )
    hint = "Cover each text with few pieces, a letter where none fits. Then count both."
    return chosen([prompt], options, answer, mistakes, hint, see)


@cached()
def pieces(text: str) -> list[str]:
    """Return pieces of a text in GPT-4's vocabulary, its tokens among them: spaces, then by length.

    A piece has at least two characters. The fewest of them that cover the text are its tokens.

    Raises:
        NoQuestionError: Fewer pieces than its tokens cover the text.
    """
    tokenizer = bpeviz.load(VOCABULARY)
    parts = {text[i:j] for i in range(len(text)) for j in range(i + 2, min(len(text), i + 12) + 1)}
    fitting = [part for part in parts if len(tokenizer.encode(part)) == 1]
    tokens = tokenizer.tokens(text)
    needed = {text[part.start : part.end] for part in tokens}
    listed: list[str] = []
    for part in sorted(fitting, key=lambda part: (part not in needed, -len(part), part)):
        # With another piece, fewer than GPT-4's tokens could cover the text.
        if part in needed or (
            len(listed) < LISTED and fewest(text, [*listed, part]) >= len(tokens)
        ):
            listed.append(part)
    if fewest(text, listed) < len(tokens):
        raise NoQuestionError("GPT-4 does not take the fewest pieces of this text. Change it.")
    return [
        label(part.encode())
        for part in sorted(listed, key=lambda part: (not part.isspace(), -len(part), part))
    ]


def fewest(text: str, listed: Sequence[str]) -> int:
    """Return the fewest tokens that cover a text: these pieces, and the tokens of its letters."""
    tokenizer = bpeviz.load(VOCABULARY)
    best = [0]
    for end in range(1, len(text) + 1):
        costs = [best[end - len(part)] + 1 for part in listed if text.endswith(part, 0, end)]
        best.append(min([best[-1] + len(tokenizer.encode(text[end - 1])), *costs]))
    return best[-1]


def _digits(setup: Setup) -> Question:
    number = setup["number"]
    if len(number) < 2:
        raise NoQuestionError("Type a number of at least two digits.")

    def judge(given: list[int] | None) -> Judgment:
        return engine.boundaries_result(given, bpeviz.load("cl100k_base").tokens(number), number)

    def mistakes() -> list[Mistake]:
        size = len(number)
        from_right = sorted({*range(size - 3, 0, -3)})
        gpt2 = engine.boundaries_result(None, bpeviz.load("gpt2").tokens(number), number)
        return [
            Mistake(from_right, ["You grouped from the right, as one writes numbers."]),
            Mistake([*range(1, size)], ["Not each digit: up to three may be in one token."]),
            Mistake([], ["It has too many digits for a single token."]),
            Mistake([*range(2, size, 2)], ["You took two digits at a time. It takes more."]),
            Mistake(gpt2.marks["right"], ["That is what GPT-2 does, which has another rule."]),
        ]

    prompt = (
        "GPT-4 (cl100k) puts at most three digits into one token. It begins at the left. Where "
        "are the boundaries?"
    )
    hint = "Count three digits from the left, then again."
    return Question([prompt], BoundariesForm(number), judge, mistakes, hint)


def _pasted(setup: Setup) -> Question:
    name = setup["special"]
    if not name:
        raise NoQuestionError("There is no special token. Type <|endoftext|>.")

    def answer() -> tuple[str, list[MessagePart]]:
        tokenizer = bpeviz.load("gpt2")
        message = _with_ids(tokenizer.tokens(name))
        if name in tokenizer.special_tokens:
            number = tokenizer.special_tokens[name]
            message.append(f" Where a program allows it, it is one token, with the id {number}.")
        return "text", message

    def mistakes() -> list[Mistake]:
        return [
            Mistake("special", ["Then any user could end the text. The program must allow it."]),
            Mistake("removed", ["GPT-2 removes nothing: decoding gives the text back."]),
            Mistake("error", ["tiktoken's “encode” stops with an error. bpeviz never does."]),
        ]

    prompt: list[MessagePart] = [
        "A user pastes ",
        engine.quoted(name),
        " into a text. With GPT-2's ",
    ]
    prompt += ["vocabulary, what does it become in bpeviz?"]
    options = {
        "special": "One special token, which ends the text.",
        "text": "Ordinary tokens: it is text like any other.",
        "removed": "Nothing: it is removed.",
        "error": "An error: such a name is forbidden.",
    }
    hint = "Whom would you trust with it: the user or the program?"
    return chosen(prompt, options, answer, mistakes, hint)


def _pictures(setup: Setup) -> list[Picture]:
    own = bpeviz.train(setup["text"], merges=0, special_tokens=("<|mine|>",)).tokenizer()
    published = [(TITLES[name], bpeviz.load(name)) for name in NEEDS]
    rows = []
    for title, tokenizer, name in (
        *((title, tokenizer, "<|endoftext|>") for title, tokenizer in published),
        ("Your own, over bytes", own, "<|mine|>"),
    ):
        plain = " ".join(map(str, tokenizer.encode(name)))
        allowed = " ".join(map(str, tokenizer.encode(name, allowed_special=[name])))
        rows.append([title, name, plain, allowed])
    header = ["Tokenizer", "Name", "Ids as text", "Id where it is allowed"]
    return [
        *(engine.tokenized(setup[name], published) for name in ("text", "other")),
        Picture(
            "table",
            (header, rows),
            "tiktoken raises an error for such a name unless the caller decides. Hugging Face "
            "tokenizers treats it as special by default.",
        ),
    ]


def _target(setup: Setup) -> PageLink:
    return engine.inspect_page(setup["text"])


def _claims() -> str:
    curly, straight = (bpeviz.load("cl100k_base").encode(quote)[0] for quote in '“"')
    return (
        "GPT-4 does not turn curly quotes into straight ones. tiktoken changes no character: in "
        f'GPT-4 (cl100k), `“` has the id {curly:,} and `"` the id {straight:,}.'
    )


CHAPTER = Chapter(
    key=KEY,
    place=100,
    title="Real tokenizers",
    core=False,
    lead="GPT-2 and GPT-4 use byte-pair encoding, too. Their vocabularies have 50,256 and 100,256 "
    "entries. GPT-4's is called cl100k. Beside them are special tokens, such as <|endoftext|>, "
    "which never come from merges.",
    myth="A space is always its own token, and so is a digit.",
    fact="A space usually belongs to the word after it, and a run of spaces can be one token. So "
    "can several digits: each vocabulary has its own rule.",
    settings="The published vocabularies, with tiktoken's patterns.",
    source="github.com/openai/tiktoken: tiktoken_ext/openai_public.py and tiktoken/core.py.",
    inputs=(
        engine.text_input(KEY, "    Hello World", "First text", 60),
        Input("other", engine.text_field(KEY, "other", "Second text", 60), "Ahoj světe"),
        Input("number", engine.text_field(KEY, "number", "Number", 30), "1234567"),
        Input("special", engine.text_field(KEY, "special", "Pasted", 30), "<|endoftext|>"),
    ),
    questions=(_dearer, _digits, _pasted),
    names=("Cost of another language", "Three digits", "A pasted special token"),
    pictures=_pictures,
    why=Why(
        "Why must pasted text not become a special token by itself?",
        (
            AnswerOption(
                "pretend",
                "A user could pretend to be the program.",
                "Special tokens separate speakers. If pasted text made them, a user could speak "
                "as another.",
                right=True,
            ),
            AnswerOption(
                "cost",
                "A special token costs more than others.",
                "A special token is one token like any other.",
            ),
            AnswerOption(
                "id",
                "A special token has no id of its own.",
                "They do have ids: in GPT-2, <|endoftext|> is 50256.",
            ),
            AnswerOption(
                "long",
                "A special token is too long to be pasted.",
                "It can be pasted like any text. The question is what a program makes of it.",
            ),
        ),
    ),
    target=_target,
    samples={
        "Norwegian": {"text": "Good morning", "other": "God morgen"},
        "Greek": {"text": "Good morning", "other": "Καλημέρα"},
        "Zeros": {"text": "0" * 17, "other": "zero zero zero"},
        "Code": {"text": "def f(x):\n    x", "other": "a function of x"},
    },
    needs=NEEDS,
    claims=_claims,
)
