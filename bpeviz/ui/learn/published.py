"""Chapter: published tokenizers, and special tokens."""

from __future__ import annotations

from collections.abc import Sequence

import bpeviz
from bpeviz.core.tokenizer import Token
from bpeviz.pretrained.catalog import TITLES
from bpeviz.text import counted
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import (
    AnswerOption,
    Chapter,
    Input,
    NoQuestionError,
    Picture,
    Question,
    Result,
    Setup,
    Target,
    Verdict,
    Why,
    compared,
)
from bpeviz.ui.learn.forms import ChoiceForm, MessagePart, NumberForm, token

KEY = "published"
MAX_TOKENS = 40
"""The most tokens that a result lists."""

NEEDS = ("gpt2", "cl100k_base")


def _with_ids(found: Sequence[Token]) -> list[MessagePart]:
    """Return tokens and their ids as a message."""
    each = "with its id" if len(found) == 1 else "each with its id"
    message: list[MessagePart] = [f"{counted(len(found), 'token')}, {each}: "]
    for one in found[:MAX_TOKENS]:
        message += [token(one.label), f"\u00a0{one.id}, "]
    message[-1] = f"\u00a0{found[-1].id}." if len(found) <= MAX_TOKENS else "…"
    return message


def _count(setup: Setup, name: str, hint: str) -> Question:
    text = setup["text"]
    if not text:
        raise NoQuestionError("There is no text. Type one.")
    size = len(text.encode())

    def judge(given: int | None) -> Result:
        found = bpeviz.load(name).tokens(text)
        message = _with_ids(found)
        if any("\N{REPLACEMENT CHARACTER}" in one.raw.decode(errors="replace") for one in found):
            message.append(" A byte in ⟨ ⟩ is only a part of a character, and no text by itself.")
        return Result(compared(given, len(found)), message, {"right": len(found)})

    prompt: list[MessagePart] = [f"With {TITLES[name]}, how many tokens does ", engine.quoted(text)]
    return Question([*prompt, f" become? {hint}".rstrip()], NumberForm(1, size, "tokens"), judge)


def _gpt2(setup: Setup) -> Question:
    return _count(setup, "gpt2", "Each dot is a space." if " " in setup["text"] else "")


def _cl100k(setup: Setup) -> Question:
    return _count(setup, "cl100k_base", "It is GPT-4's, with twice as many entries.")


def _pasted(setup: Setup) -> Question:
    name = setup["special"]
    if not name:
        raise NoQuestionError("There is no special token. Type <|endoftext|>.")

    def judge(given: int | None) -> Result:
        tokenizer = bpeviz.load("gpt2")
        found = tokenizer.tokens(name)
        is_special = [one.id for one in found] == [tokenizer.special_tokens.get(name)]
        right = 0 if is_special else 1
        verdict: Verdict = "shown" if given is None else "right" if given == right else "wrong"
        message = _with_ids(found)
        if name in tokenizer.special_tokens:
            number = tokenizer.special_tokens[name]
            message.append(f" Where a program allows it, it is one token, with the id {number}.")
        return Result(verdict, message, {"right": [right]})

    prompt: list[MessagePart] = [
        "A user pastes ",
        engine.quoted(name),
        " into a text. With GPT-2's ",
    ]
    prompt += ["vocabulary, what does it become in bpeviz? (bpeviz follows tiktoken here.)"]
    options = (
        "One special token, which ends the text.",
        "Ordinary tokens: it is text like any other.",
        "Nothing: it is removed.",
    )
    return Question(prompt, ChoiceForm(options), judge)


def _pictures(setup: Setup) -> list[Picture]:
    own = bpeviz.train(setup["text"], merges=0, special_tokens=("<|mine|>",)).tokenizer()
    rows = []
    for title, tokenizer, name in (
        ("GPT-2", bpeviz.load("gpt2"), "<|endoftext|>"),
        ("cl100k", bpeviz.load("cl100k_base"), "<|endoftext|>"),
        ("Your own, over bytes", own, "<|mine|>"),
    ):
        plain = " ".join(map(str, tokenizer.encode(name)))
        allowed = " ".join(map(str, tokenizer.encode(name, allowed_special=[name])))
        rows.append([title, name, plain, allowed])
    header = ["Tokenizer", "Name", "Ids as text", "Id where it is allowed"]
    shown = [(TITLES[name], bpeviz.load(name)) for name in NEEDS]
    return [
        engine.tokenized(setup["text"], shown),
        Picture(
            "table",
            (header, rows),
            "tiktoken raises an error for such a name unless the caller decides. Hugging Face "
            "tokenizers treats it as special by default.",
        ),
    ]


def _target(setup: Setup) -> Target:
    return engine.inspect_page(setup["text"])


def _claims() -> str:
    curly, straight = (bpeviz.load("cl100k_base").encode(one)[0] for one in '“"')
    return (
        "GPT-4 does not turn curly quotes into straight ones. tiktoken changes no character: in "
        f'cl100k, `“` has the id {curly:,} and `"` the id {straight:,}.'
    )


CHAPTER = Chapter(
    key=KEY,
    place=100,
    title="Real tokenizers",
    core=False,
    lead="GPT-2 and GPT-4 use byte-pair encoding, too. Their vocabularies have 50,257 and about "
    "100,000 entries. GPT-4's is called cl100k. Some entries are special tokens, such as "
    "<|endoftext|>, which never come from merges.",
    myth="Pasting <|endoftext|> into a chat ends the text. A space is always its own token, and so "
    "is a digit. And a character is at most one token.",
    fact="Whether a pasted name stays text depends on the library and the program. In tiktoken, it "
    "is special only where the program allows it. A space usually belongs to the word after it, "
    "and a run of spaces can be one token. So can several digits. A rare "
    "character can need several tokens, and none of them is text by itself.",
    settings="The published vocabularies, with tiktoken's patterns.",
    source="tiktoken, openai_public.py and core.py; the ids are computed here.",
    inputs=(
        engine.text_input(KEY, "    Hello World", "Text", 60),
        Input("special", engine.text_field(KEY, "special", "Pasted", 30), "<|endoftext|>"),
    ),
    questions=(_gpt2, _cl100k, _pasted),
    pictures=_pictures,
    why=Why(
        "Why must pasted text not become a special token by itself?",
        (
            AnswerOption(
                "A user could then give orders that only the program may give.",
                "Special tokens separate texts and speakers. If pasted text could make them, a "
                "user could pretend to be someone else.",
                right=True,
            ),
            AnswerOption(
                "Special tokens cost more.",
                "A special token is one token like any other.",
            ),
            AnswerOption(
                "Special tokens have no id.",
                "They do have ids: in GPT-2, <|endoftext|> is 50256.",
            ),
        ),
    ),
    target=_target,
    samples={"Zeros": "0" * 17, "Digits": "1234567", "Thumbs up": "👍", "Code": "def f(x):\n    x"},
    needs=NEEDS,
    claims=_claims,
)
