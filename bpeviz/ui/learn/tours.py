"""Guided tours: steps on a live page, each with a state of it, and some sentences about a part.

The address names the running tour and its step, such as `/Pre-tokenize?tour=splitting.3`. Each step
gives the page its state once. The words are in `prose/tours`; their figures are computed from the
state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

import bpeviz
from bpeviz.cached_property import cached_property
from bpeviz.core.training import MergeTraining
from bpeviz.corpus.samples import written_out
from bpeviz.pretokenizers.patterns import WORD_LIST, pretokenize
from bpeviz.pretrained import catalog, download
from bpeviz.text import joined
from bpeviz.trainers import TRAINERS
from bpeviz.ui import components
from bpeviz.ui.inputs.training import SIDE
from bpeviz.ui.pages import algorithms, compare, inspect
from bpeviz.ui.pages import pretokenize as splits
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import session
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.reconnection import reconnected
from bpeviz.ui.tokenizers import OWN
from bpeviz.ui.widgets import SessionValue

NO_BREAK = "\N{NO-BREAK SPACE}"
NEEDED = ("gpt2", "cl100k_base", "o200k_base")
LLAMA = {"longest": 16, "control": 3}
"""The longest run of spaces that is one token of Llama 2, and how many tokens are before its bytes;
a test reads its vocabulary."""

APPLIED: SessionValue[str] = SessionValue("tour_step_applied")
"""The step whose state the page has got, as in the address."""


@dataclass(frozen=True)
class Step:
    """A step of a tour.

    Attributes:
        values: The state of the page, by the names of its widgets in links.
        mark: Selectors of the part that the words are about: of an element of the page, which
            begins with the key of its section if it is in one, then of a part in its shadow root.
        jump: The step to which the player goes.
    """

    values: dict[str, Any]
    mark: tuple[str, ...]
    jump: int | None = None


@dataclass(frozen=True)
class Tour:
    """A tour of one page.

    Attributes:
        key: Its name in links, and that of its file of words.
        page: The page.
        figures: Returns the figures in the words of a step.
        steps: Its steps.
        needs: The published vocabularies that it needs.
    """

    key: str
    page: Page
    figures: Callable[[Step], dict[str, Any]]
    steps: Sequence[Step]
    needs: tuple[str, ...] = ()

    @cached_property
    def words(self) -> list[list[str]]:
        """Its title and subject, then the heading and the paragraphs of each step."""
        file = Path(__file__).parent / "prose" / "tours" / f"{self.key}.md"
        parts = re.split("^#+ ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]
        return [[" ".join(block.split()) for block in part.strip().split("\n\n")] for part in parts]

    def link(self, step: int = 1) -> dict[str, str]:
        """Return the parameters of the address that opens the page at a step."""
        return {session.TOUR: f"{self.key}.{step}"}

    def told(self, number: int) -> list[str]:
        """Return the heading and the paragraphs of a step, or what they wait for."""
        heading, *paragraphs = self.words[number]
        if missing := [catalog.title(name) for name in self.needs if not download.available(name)]:
            why = (
                f"This step needs the files of {joined(missing)}, which this machine does not have."
            )
            return [heading, f"{why} The page tries to download them."]
        words = "\n".join(paragraphs).format(**_figures(self.key, number))
        words = re.sub("^(Many think:|In fact:)", r"**\1**", words, flags=re.MULTILINE)
        return [heading, *words.replace("` + `", f"`{NO_BREAK}+{NO_BREAK}`").split("\n")]


@cached()
def _figures(key: str, number: int) -> dict[str, Any]:
    return TOURS[key].figures(TOURS[key].steps[number - 1])


# ---- a running tour


def _running(page: Page) -> tuple[Tour | None, int]:
    """Return the tour of the page in the address, and the number of its step, from 1."""
    key, _, number = st.query_params.get(session.TOUR, "").partition(".")
    tour = TOURS.get(key)
    if tour is None or tour.page != page or st.context.is_embedded:
        return None, 0
    step = int(number) if re.fullmatch("[0-9]{1,3}", number, re.ASCII) else 1
    return tour, min(max(step, 1), len(tour.steps))


def restore(page: Page) -> None:
    """Give the page the state of the step in the address, once, before it draws its widgets."""
    tour, number = _running(page)
    if tour is None:
        APPLIED.clear()
    elif APPLIED.get() != (at := f"{tour.key}.{number}"):
        is_known = not APPLIED.present and reconnected()  # the browser has newer values
        APPLIED.put(at)
        if not is_known:
            session.apply(page, tour.steps[number - 1].values)


def draw(page: Page) -> None:
    """Draw the step of the tour in the address."""
    tour, number = _running(page)
    if tour is None:
        return
    step = tour.steps[number - 1]
    heading, *paragraphs = tour.told(number)
    title, jump = tour.words[0][0], None if session.STEP in st.query_params else step.jump
    data = {"tour": tour.key, "title": title, "step": number, "steps": len(tour.steps)}
    data |= {"heading": heading, "words": paragraphs, "mark": list(step.mark), "jump": jump}
    components.tour(data, "tour", step=partial(_go, tour))


def _go(tour: Tour) -> None:
    """Go to the step that was pressed, or end the tour at 0."""
    number = st.session_state["tour"]["step"]
    own = (session.TOUR, session.PARAMETER, session.STEP)
    kept = {name: value for name, value in st.query_params.items() if name not in own}
    is_step = type(number) is int and 1 <= number <= len(tour.steps)
    st.query_params.from_dict(kept | (tour.link(number) if is_step else {}))


# ---- Pre-tokenize


def _text(text: str, name: str = "text") -> dict[str, Any]:
    return {f"{name}_sample": "own", f"{name}_box": text}


LISTS = {key: published.words for key, published in splits.PUBLISHED.items()}
ROWS = (".st-key-side-by-side", ".comparison")
LISTED = (".st-key-closer_open .st-key-white_space + *",)
NEW_TEXT = (".st-key-closer_open .st-key-unseen + *",)


def _split(text: str, *rules: str, mark: tuple[str, ...] = ROWS, unseen: str = "") -> Step:
    """Return a step of Pre-tokenize; the list and the vocabulary are of the last rule."""
    values = _text(text) | {"splits": list(rules), "explained": rules[-1], "unseen": unseen}
    values |= {"closer_open": mark != ROWS, "levels_open": False, "summary_open": False}
    values |= {"white_space": True, "drop_unmatched": False, "entries": 50}
    of_lists = {splits.PUBLISHED[key].widget.link: LISTS[key] for key in rules if key in LISTS}
    return Step(values | of_lists, mark)


def _pieces(step: Step) -> dict[str, Any]:
    """Return the number of pieces by each rule, and the number in the list."""
    text, unseen, rules = (step.values[name] for name in ("text_box", "unseen", "splits"))
    by = {
        rule: pretokenize(text, WORD_LIST if rule in LISTS else rule, LISTS.get(rule, ""))
        for rule in rules
    }
    listed = [piece for piece in by[rules[-1]] if not piece.isspace()]
    unknown = [word for word in unseen.split() if word not in listed]
    counts = {rule: len(pieces) for rule, pieces in by.items()}
    return counts | {"listed": len(listed), "unknown": len(unknown), "new": len(unseen.split())}


FOX = "The quick brown fox jumps over the lazy dog"
NEW = "The quick red fox jumps over a cat"
SUM, MONEY = "3 + 5 * (10 - 2)", "That U.S.A. poster-print costs $12.40..."
TWO_LISTS = _split(splits.SENTENCE, "characters", *LISTS)
SPLITTING = (
    _split(SUM, "whitespace", "arithmetic"),
    _split(SUM, "whitespace", "arithmetic", mark=LISTED),
    _split(FOX, "words", "whitespace", mark=LISTED),
    _split(MONEY, "words", "nltk", mark=LISTED),
    _split(FOX, "words", "whitespace", mark=NEW_TEXT, unseen=NEW),
    _split(splits.SENTENCE, "whitespace", "characters"),
    TWO_LISTS,
    TWO_LISTS,
)

# ---- Compare


def _compared(text: str) -> Step:
    values = _text(text) | {"compared": list(NEEDED), "baseline": NEEDED[0], "token_ids": True}
    return Step(values | {"how_many_texts": "one"}, (".st-key-score", ".comparison"))


def _in_each(step: Step) -> dict[str, Any]:
    """Return the tokens of the text in each published tokenizer."""
    tokens = {name: bpeviz.load(name).tokens(step.values["text_box"]) for name in NEEDED}
    return {name: _described(of) for name, of in tokens.items()}


def _described(tokens: Sequence[Any]) -> dict[str, Any]:
    """Return the number of tokens, their labels in backquotes, and their ids."""
    labels = " ".join(f"`{token.label}`" for token in tokens)
    ids = [token.id for token in tokens]
    return {"n": len(tokens), "tokens": labels, "ids": " ".join(map(str, ids)), "id": ids}


REAL = tuple(map(_compared, ("    Hello World", "Καλημέρα", "1234567 2026", "<|endoftext|>", '“"')))

# ---- Algorithms and Inspect


def _trained(text: str, corpus: str, chosen: Mapping[str, Any], *trained: str) -> dict[str, Any]:
    """Return the values of trainings on a corpus, or on the text.

    Args:
        text: The text of the page.
        corpus: The text to train on, or "" for the text of the page.
        chosen: Options that are not as at first.
        *trained: The algorithms, as the names of their options begin.
    """
    trained_on = _text(corpus, "trained_on") if corpus else {"trained_on_sample": "this"}
    values = _text(text) | trained_on | {"more_open": False, "special_names": ""}
    for beginning in trained:
        trainer = TRAINERS[beginning.removeprefix(ASIDE)]
        options: dict[str, Any] = {}
        for option in trainer.options:
            if option.name != trainer.largest and option.applies(options):
                options[option.name] = chosen.get(option.name, option.at_first)
        values |= {f"{beginning}_{name}": value for name, value in options.items()}
    return values


SENTENCES, RACES, STAGE = (
    (".st-key-lock_step", part) for part in (".sentences", ".races", ".stage .frame")
)
ASIDE = f"{SIDE}_"
RANDOM = (".st-key-random_open",)
COUNTS = "low 5\nlower 2\nnewest 6\nwidest 3"
CATS = "the cat the hat the quiz then that quilt"
SPANISH = "El perro come 12 manzanas. La casa es grande."
STRENGTH = "strength of BPE-dropout up to 1.0"


def _side_by_side(
    text: str,
    *keys: str,
    jump: int,
    mark: tuple[str, ...] = SENTENCES,
    corpus: str = "",
    drop: float | None = None,
    **chosen: Any,
) -> Step:
    """Return a step of Algorithms, over characters. drop: the strength of BPE-dropout."""
    chosen = {"atoms": "characters", "min_count": 1, "largest": 1_024} | chosen
    values = _trained(text, corpus, chosen, *(f"{ASIDE}{key}" for key in keys))
    values |= {"algorithms": list(keys), "pattern": "whitespace", "counted": text == COUNTS}
    values |= {f"{ASIDE}{key}_open": False for key in keys} | {"random_open": drop is not None}
    random = {} if drop is None else {"word": "that", "seed": 0, STRENGTH: drop}
    return Step(values | random | {"largest": chosen["largest"]}, mark, jump)


def _inspected(text: str, size: int = 295, **chosen: str) -> Step:
    """Return a step of Inspect. size: the size of the vocabulary."""
    values = _trained(text, SPANISH, chosen, "sentencepiece")
    values |= {"algorithm": "sentencepiece", "pattern": "none", "counted": False}
    values |= {"largest": size, "size": size, "by_merges": False, "inspected_by": OWN}
    return Step(values | {"special_tokens": "text", "closer": "steps"}, (".st-key-grid", ".lines"))


def _training(step: Step) -> Any:
    """Return the training history of a step, of the last of several algorithms."""
    values = step.values
    corpus = values.get("trained_on_box", values["text_box"])
    keys = [f"{ASIDE}{key}" for key in values.get("algorithms", [])] or [values["algorithm"]]
    own = {name: value for name, value in values.items() if name.startswith(f"{keys[-1]}_")}
    options = {name[len(keys[-1]) + 1 :]: value for name, value in own.items()}
    options.pop("open", None)
    key = keys[-1].removeprefix(ASIDE)
    size = None if TRAINERS[key].prunes else values["largest"]
    corpus = written_out(corpus, 2_000) if values["counted"] else corpus
    return bpeviz.train(corpus, key, vocab_size=size, pattern=values["pattern"], **options)


def _of_training(step: Step) -> dict[str, Any]:
    """Return the tokens of the text, and figures of its training."""
    training, text = _training(step), step.values["text_box"]
    name, last = training.name, training.steps
    figures = _described(training.tokenizer().tokens(text)) | LLAMA | {"steps": last}
    figures |= {"most": int(training.sizes.max()), "least": int(training.sizes.min())}
    if isinstance(training, MergeTraining):
        figures["made"] = joined([f"`{name(merge.new_id)}`" for merge in training.merges])
        merge = training.merges[min(step.jump or 1, last) - 1]
        figures |= {"pair": f"`{name(merge.left)}` + `{name(merge.right)}`", "count": merge.count}
    if STRENGTH in step.values:
        how = (last, step.values["word"], step.values[STRENGTH], algorithms.DRAWS, 0)
        drawn = training.segmentations(*how)
        total = sum(len(ids) * times for ids, times in drawn.items())
        figures["average"] = f"{total / algorithms.DRAWS:.2f}"
        figures["drawn"] = [" ".join(f"`{name(i)}`" for i in ids) for ids in drawn]
    if training.algorithm == "wordpiece" and text == CATS:
        boundaries = training.at_step(0).boundaries(text)
        counts = training.pairs(text, boundaries, 0).tokens
        for pair in training.candidates(text, boundaries, 0, 99):
            left, right = (counts[token] for token in pair.ids)
            score = f"{pair.count} / ({left} × {right}) = {pair.score:.1f}".replace(" ", NO_BREAK)
            figures[" ".join(map(name, pair.ids))] = {"count": pair.count, "score": score}
    return figures


LOWER = _side_by_side(
    "lower", "bpe", mark=STAGE, jump=4, corpus="low lowest new wider lowering", largest=16
)
WORD_ENDS = (
    _side_by_side(COUNTS, "bpe", jump=1),
    _side_by_side(COUNTS, "bpe", jump=3, end_mark="symbol"),
    _side_by_side(COUNTS, "bpe", jump=2, end_mark="attached"),
    LOWER,
    LOWER,
)

SPELLED = _side_by_side(
    "pruebas de otro ejemplo", "wordpiece", mark=STAGE, jump=11, corpus="prueba de tokens"
)
OTHER = (
    _side_by_side(CATS, "bpe", "wordpiece", mark=RACES, jump=0),
    _side_by_side(CATS, "bpe", "wordpiece", jump=2),
    _side_by_side(CATS, "unigram", jump=9),
    _side_by_side(CATS, "unigram", jump=0),
    _side_by_side(CATS, "bpe", mark=RANDOM, jump=12, drop=0.1),
    _side_by_side(CATS, "bpe", mark=RANDOM, jump=12, drop=1.0),
    SPELLED,
    SPELLED,
)

SENTENCEPIECE = (
    _inspected("La casa"),
    _inspected("más", 39, unknown="unk"),
    _inspected("más"),
    _inspected("más", 287),
    _inspected("12", digits="yes"),
    _inspected("la  casa"),
    _inspected("más"),
    _inspected("más"),
)

TOURS: Mapping[str, Tour] = {
    tour.key: tour
    for tour in (
        Tour("splitting", splits.PAGE, _pieces, SPLITTING),
        Tour("word-ends", algorithms.PAGE, _of_training, WORD_ENDS),
        Tour("real-tokenizers", compare.PAGE, _in_each, REAL, NEEDED),
        Tour("sentencepiece", inspect.PAGE, _of_training, SENTENCEPIECE),
        Tour("algorithms", algorithms.PAGE, _of_training, OTHER),
    )
}
