"""Chapter 6: real tokenizers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bpeviz.analysis import trace
from bpeviz.text import counted
from bpeviz.ui import components
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.base import Chapter, Question, Task
from bpeviz.views.acts import LONGEST_OWN_WORD, Judgment, TypeAct, token
from bpeviz.views.payloads import MessagePart, MessageRow
from bpeviz.views.stage import Row

WORD, YEAR = "unbelievable", "2026"

NAMES = {"<|endoftext|>": "a text", "<|endofprompt|>": "a prompt", "<|im_end|>": "a message"}
"""Special tokens of GPT-4o, and what each one ends."""

SPACES = "    Hello World"
SPACES_TOKENS = {"spaces_gpt2": 5, "spaces_gpt4": 3}
"""The tokens of `SPACES` under GPT-2 and GPT-4."""

_BYTES_ONLY = (
    "These are single bytes: GPT-4o's tokens of this text need a file that is not here yet."
)


MERGES_ASKED = 3
"""The merges of `WORD` that the user chooses. All others follow."""


def ranks(word: str) -> list[int]:
    """Return the ranks of some merges: all those of a word, and some that do not fit it.

    One that does not fit stands before each merge of the word: the one with the highest rank below.
    """
    tokenizer = stored.o200k()
    fitting = sorted(event.id for event in trace.inspect(word, tokenizer).events if event.id)
    rest = [i for i in tokenizer.known_ids() if tokenizer.parents(i) and not _is_in(word, i)]
    others = [max((i for i in rest if i < rank), default=rank) for rank in fitting]
    return sorted({*fitting, *others})


def _is_in(word: str, token_id: int) -> bool:
    """Return whether a token is a part of a word, or is not plain letters."""
    name = stored.o200k().token_label(token_id)
    return name in word or not (name.isascii() and name.isalpha())


def _next(word: str) -> Task[int]:
    """Return the task in which the user chooses GPT-4o's merges of a word, by their ranks."""
    tokenizer = stored.o200k()
    items: list[list[MessagePart]] = []
    for rank in ranks(word):
        left, right = tokenizer.parents(rank) or (rank, rank)
        names = (token(tokenizer.token_label(part)) for part in (left, right))
        items.append([*names, f" {rank:,}"])
    rows: list[MessageRow] = [{"title": "Merges, by rank", "items": items, "numbered": False}]

    def rank_of(pair: tuple[int, int]) -> int | None:
        letters = b"".join(map(tokenizer.token_bytes, pair)).decode()
        return next(tokenizer.find(letters), None)

    numbers = engine.MergeNumbers(rank_of, "has the rank {}", "a smaller one")
    task = engine.merges_in_order(word, tokenizer, MERGES_ASKED, numbers, rows)
    return Task(
        task.questions,
        lambda done, given: engine.plain(task.payload(done, given)),
        {"tokens": len(tokenizer.encode(word))},
    )


def special(name: str) -> Task[str]:
    """Return the task in which the user types the name of a special token."""
    task = engine.typed(Question(TypeAct(60), partial(_judge, name), name="A special token"), _rows)
    plain = len(stored.o200k().encode(name))
    told: dict[str, int | str] = {
        "name": name,
        "ends": NAMES[name],
        "signs": len(name),
        "special": plain,
    }
    return replace(task, figures=told)


def _rows(text: str) -> list[Row]:
    """Return a text in GPT-4o's tokens, or in bytes while these need a file."""
    return engine.encoded_rows(text, {"": stored.gpt4o(text) or stored.o200k().at_step(0)})


def _judge(name: str, given: str | None) -> Judgment[str]:
    text = name if given is None else given
    if not text:
        return Judgment("wrong", ["There is no text yet."])
    whole = stored.gpt4o(text)
    message: list[MessagePart] = [] if whole else [_BYTES_ONLY]
    if whole:
        tokens = whole.tokens(text)
        message = [f"The text does not end. It has {counted(len(tokens), 'plain token')}: "]
        for part in tokens:
            message += [", " if part is not tokens[0] else "", token(part.label), f" {part.id}"]
        message.append(".")
    return Judgment("right" if name in text else "wrong", message, name)


def _year() -> None:
    components.player(engine.played(YEAR, stored.o200k(), "A year"), "learn_real_year")


CHAPTER = Chapter(
    key="real",
    texts={"next": stored.LONG_WORDS, "digits": stored.DIGITS, "special": [*NAMES]},
    tasks={
        "next": _next,
        "digits": engine.gpt4o_cuts,
        "special": special,
        "word": engine.gpt4o_cuts,
    },
    rounds={"next": MERGES_ASKED},
    own="word",
    longest=LONGEST_OWN_WORD,
    own_needs=("o200k_base",),
    figures=lambda: (
        {
            "entries": round(stored.o200k().vocab_size, -3),
            "group": 3,
        }
        | SPACES_TOKENS
    ),
    drawings={"year": _year},
)
