"""Known answers from outside the project, a row of `answers.toml` each, and Learn's figures.

A row says what a text is under a tokenizer, and who else says so.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import bpeviz
from bpeviz import Tokenizer, Training
from bpeviz.analysis.conversation import encode_conversation
from bpeviz.analysis.metrics import Column, common_ends
from bpeviz.analysis.trace import inspect
from bpeviz.corpus import samples
from bpeviz.libraries.chat_template import conversation
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretrained import catalog, download
from bpeviz.trainers import bpe
from bpeviz.ui.learn.chapters import CHAPTERS
from bpeviz.ui.learn.prose import MORE
from bpeviz.ui.learn.tours import TOURS

TABLE = tomllib.loads(Path(__file__).with_name("answers.toml").read_text("utf-8"))

SOURCES = "paper", "book", "course", "library", "program", "standard", "hand"
"""The kinds of sources: a hand calculation says how, and a library which version or file."""

FIELDS = {"text", "tokenizer", "what", "value", "source"}
OPTIONAL = {"on", "figures"}

TINY_SHAKESPEARE = Path(__file__).parents[2] / "shared" / "data" / "tinyshakespeare.txt"


@dataclass(frozen=True)
class Case:
    """A text, and what it is encoded or split with.

    Attributes:
        text: The text.
        pre_tokens: It, where it is only split; otherwise none.
        training: The training history, where the tokenizer is trained.
        tokenizer: The tokenizer, where the text is encoded.
        name: Its name, where it is published.
    """

    text: str
    pre_tokens: Sequence[str] = ()
    training: Training | None = None
    tokenizer: Tokenizer | None = None
    name: str = ""

    @property
    def trained(self) -> Any:
        assert self.training is not None, "This is known of trainings only."
        return self.training

    @property
    def encodes(self) -> Tokenizer:
        assert self.tokenizer is not None, "This is known of tokenizers only."
        return self.tokenizer

    @property
    def ids(self) -> list[int]:
        return self.encodes.encode(self.text)

    def named(self, values: str) -> list[Any]:
        """Return a value of each merge, by its name."""
        return [getattr(merge, values) for merge in self.trained.merges]


def candidates(case: Case) -> dict[str, float]:
    """Return the score of each pair after the last merge, by its names."""
    training, step = case.trained, case.trained.steps
    boundaries = training.tokenizer().boundaries(case.text)
    listed = training.candidates(case.text, boundaries, step, 1_000)
    return {" ".join(map(training.name, pair.ids)): pair.score for pair in listed}


def loaded(name: str) -> Tokenizer:
    if not download.available(name):
        pytest.skip(f"not available: {name}")
    return bpeviz.load(name)


def safe_chat(case: Case) -> list[int]:
    """Return the ids of a conversation in the template of the catalog, in the safe encoding."""
    shape = catalog.ENTRIES[case.name].chat
    assert shape is not None
    given = conversation(case.text)
    return encode_conversation(case.encodes, shape.chat_template, given, safe=True).ids


def column(case: Case, tokenizer: Tokenizer) -> Column:
    return Column("", tokenizer, tokenizer.boundaries(case.text), tokenizer.steps)


def spans_with(case: Case, name: str) -> int:
    """Return the number of the smallest pieces at whose ends tokens of both tokenizers end."""
    return len(common_ends([column(case, case.encodes), column(case, loaded(name))]))


def composed_tokens(tokenizer: Tokenizer) -> set[bytes]:
    """Return the tokens of more than one byte."""
    special = {*tokenizer.special_tokens.values()}
    ids = (i for i in tokenizer.known_ids() if i not in special and not tokenizer.is_atom(i))
    return {*map(tokenizer.token_bytes, ids)}


def shared_with(case: Case, name: str) -> int:
    """Return the number of tokens that two vocabularies have in common, single bytes included."""
    return 256 + len(composed_tokens(case.encodes) & composed_tokens(loaded(name)))


WITH = {"spans with": spans_with, "tokens shared with": shared_with}
WHAT: Mapping[str, Callable[[Case], Any]] = {
    **{
        f"{what} {name}": partial(find, name=name)
        for what, find in WITH.items()
        for name in ("cl100k_base", "o200k_base")
    },
    "ends inside characters": lambda case: sum(
        kind == "character" for _, kind in inspect(case.text, case.encodes).cuts_inside()
    ),
    "ids": lambda case: case.ids,
    "safe ids of a chat": safe_chat,
    "tokens": lambda case: [token.label for token in case.encodes.tokens(case.text)],
    "count": lambda case: len(case.ids),
    "decoded": lambda case: case.encodes.decode(case.ids),
    "spans": lambda case: [[each.start, each.end] for each in case.encodes.tokens(case.text)],
    "entries": lambda case: case.encodes.vocab_size,
    "merges": lambda case: [*map(case.trained.name, case.named("new_id"))],
    "pairs": lambda case: [[each.left, each.right] for each in case.trained.merges],
    "counts": lambda case: case.named("count"),
    "applied": lambda case: case.named("applied"),
    "scores": lambda case: case.named("score"),
    "ties": lambda case: case.named("ties"),
    "stopped": lambda case: case.trained.stopped,
    "steps": lambda case: case.trained.steps,
    "candidates": candidates,
    "pre-tokens": lambda case: [*case.pre_tokens],
    "words": lambda case: [each for each in case.pre_tokens if each.strip()],
    "characters": lambda case: len(case.text),
    "bytes": lambda case: [*case.text.encode()],
    "size": lambda case: len(case.text.encode()),
}
"""What a row may be about; that which is known of some entries only may leave others out."""


def text_of(words: str) -> str:
    """Return the text of a row, by its name or as it is."""
    if words == "@tiny_shakespeare":
        if not TINY_SHAKESPEARE.exists():
            pytest.skip(f"There is no {TINY_SHAKESPEARE.name} beside this repository.")
        return TINY_SHAKESPEARE.read_bytes().decode()
    if words.startswith("@samples/"):
        return samples._read(words.removeprefix("@samples/"))
    return TABLE["texts"][words[1:]] if words.startswith("@") else words


def case_of(row: Mapping[str, Any]) -> Case:
    """Return the text and the tokenizer of a row."""
    text, how = text_of(row["text"]), row["tokenizer"]
    if how == "unicode":
        return Case(text)
    if isinstance(how, str):
        if not download.available(how):
            pytest.skip(f"not available: {how}")
        return Case(text, tokenizer=bpeviz.load(how), name=how)
    if "split" in how:
        return Case(text, pretokenize(text, how["split"], how.get("expression", "")))
    on = row.get("on", row["text"])
    training = trained(on, json.dumps(how))
    return Case(text, training=training, tokenizer=training.tokenizer())


@lru_cache(30)
def trained(on: str, how: str) -> Training:
    """Return the training history of rows that train alike."""
    options = json.loads(how)
    corpus = TABLE["on"].get(on.removeprefix("@")) or text_of(on)
    return bpeviz.train(corpus, options.pop("train"), **options)


def checked(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row, and check that it has all fields, and a source outside."""
    kind, _, source = row.get("source", "").partition(": ")
    assert kind in SOURCES, row
    assert source, row
    assert "bpeviz" not in source.lower(), row
    assert {*row} - OPTIONAL == FIELDS, row
    assert row["what"] in WHAT, row
    return row


ROWS = [checked(row) for row in TABLE["answer"]]


def title(row: Mapping[str, Any]) -> str:
    how = row["tokenizer"]
    name = how if isinstance(how, str) else how.get("train") or how.get("split")
    return f"{name}-{row['what']}-{row['text'][:20]!r}"


def is_large(row: Mapping[str, Any]) -> bool:
    """Return whether a row needs all tokens of two vocabularies, or a megabyte of text."""
    return row["what"].startswith("tokens shared") or row["text"] == "@tiny_shakespeare"


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=[pytest.mark.slow] * is_large(row), id=title(row)) for row in ROWS],
)
def test_answer_is_known(row: Mapping[str, Any]) -> None:
    value, expected = WHAT[row["what"]](case_of(row)), row["value"]
    if isinstance(value, dict):
        value = {name: value[name] for name in expected}
    approximate = not isinstance(expected, str | bool) and row["what"] in ("scores", "candidates")
    assert value == (pytest.approx(expected) if approximate else expected)


def test_rows_differ() -> None:
    keys = [str((row["text"], row.get("on"), row["tokenizer"], row["what"])) for row in ROWS]
    assert len({*keys}) == len(keys)


@pytest.mark.slow
def test_merges_save_as_many_tokens_of_tiny_shakespeare_as_learn_says() -> None:
    """GPT-2 cut at 8,192 instead of 4,096 entries, by tiktoken with the ranks of these entries."""
    costs = case_of({"text": "@tiny_shakespeare", "tokenizer": "gpt2"})
    counts = costs.encodes.boundaries(costs.text).token_counts
    (stop,) = (chapter for chapter in CHAPTERS if chapter.key == "stop")
    assert f"{1 - counts[8_192 - 256] / counts[4_096 - 256]:.1%}" == stop.figures()["saved"]


@pytest.mark.parametrize(("second_id", "tokens"), [(256, 79), (257, 80)])
def test_tutorial_prints_79_tokens_since_it_uses_an_id_twice(second_id: int, tokens: int) -> None:
    """A notebook makes one merge with the id 256, then 20 more whose ids start at 256 again."""
    ids = list(TABLE["texts"]["quijote"].encode())
    for new_id in (256, *range(second_id, second_id + 20)):
        counts = Counter(pairwise(ids))
        ids = bpe.merge(ids, max(counts, key=counts.__getitem__), new_id)
    assert len(ids) == tokens


# ---- Learn

PLAY = MORE.read_text("utf-8").partition("### Play")[2]
ITEMS = re.findall(r"^- .+?\]|^\d+\. .+?\]", PLAY, re.MULTILINE | re.DOTALL)
"""The goals and claims of the last page, each up to its link."""

QUOTED = [(row, figure) for row in ROWS for figure in row.get("figures", [])]


def prose_of(figure: str) -> str:
    """Return a figure of Learn as its prose has it, or the words of a step of a tour."""
    part, _, name = figure.partition(".")
    if part in TOURS:
        return " ".join(TOURS[part].steps[int(name) - 1].paragraphs)
    if part == "more":
        return re.sub(r"\s+", " ", ITEMS[int(name) - 1])
    (chapter,) = (each for each in CHAPTERS if each.key == part)
    asked = [figures for task in chapter.texts if name in (figures := chapter.task(task).figures)]
    return written({**chapter.figures(), **(asked[0] if asked else {})}[name])


def written(value: Any) -> str:
    """Return an answer as the prose writes it; of a list of one number, that number."""
    if isinstance(value, list):
        return " ".join(f"`{each}`" if isinstance(each, str) else str(each) for each in value)
    return f"{value:,}" if isinstance(value, int) else str(value)


@pytest.mark.parametrize(("row", "figure"), QUOTED, ids=[figure for _, figure in QUOTED])
def test_prose_of_learn_says_the_answer(row: Mapping[str, Any], figure: str) -> None:
    value = row["value"]
    if row["what"] == "pre-tokens":
        value = [each.replace(" ", "·") for each in value]
    if figure.startswith("more.") and row["what"] == "ids":
        assert all(f" is {each}" in prose_of(figure) for each in value)
        return
    assert written(value) in prose_of(figure)
    is_part = figure.partition(".")[0] in (*TOURS, "more")
    assert is_part or written(value) == prose_of(figure)


def test_numbers_of_the_last_page_are_known_answers() -> None:
    """Others are those of the claims, of their texts, and of searches that tests repeat."""
    given = {1: {"20", "18"}, 2: {"20", "1"}, 3: {"3"}, 4: {"3", "2"}, 5: {"20", "79"}, 10: {"20"}}
    given |= {11: {"97"}, 13: {"1", "15", "2", "45"}, 15: {"3", "16", "15"}}
    for number, item in enumerate(ITEMS, 1):
        answers = [row["value"] for row, figure in QUOTED if figure == f"more.{number}"]
        plain = re.sub(r"`[^`]*`|GPT-\w+|Llama \d|\[.*|^\d+\.", "", item)
        known = {*re.findall(r"\d+", str(answers)), *given.get(number, ())}
        assert {*re.findall(r"\d+", plain)} <= known, item
