"""Declarations of the trainers: `Trainer` checks every argument once, from the declaration."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers.properties import examples, quarter
from helpers.readme import readme_trainer
from helpers.texts import ANY_TEXT, SMALL_TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.formats import FORMATS, FormatError
from bpeviz.text import clean
from bpeviz.trainers import TRAINERS, Option, Trainer, texts_of
from bpeviz.trainers.options import TIE_WINNERS

TEXT = "low lower lowest"
OPTIONS = [
    pytest.param(trainer, option, id=f"{trainer.key}-{option.name}")
    for trainer in TRAINERS.values()
    for option in trainer.options
]
every_trainer = pytest.mark.parametrize("trainer", TRAINERS.values(), ids=list(TRAINERS))


def train(trainer: Trainer, corpus: Any = TEXT, **arguments: Any) -> Any:
    """Train one merge, or prune to the atoms, unless the arguments set another size."""
    size = {} if trainer.prunes or "vocab_size" in arguments else {"merges": 1}
    return trainer(corpus, **{**size, **arguments})


def needed(option: Option) -> dict[str, str]:
    return dict([option.needs]) if option.needs else {}


@pytest.mark.parametrize(("trainer", "option"), OPTIONS)
def test_train_accepts_every_declared_value(trainer: Trainer, option: Option) -> None:
    if option.kind == "choice":
        assert option.choices is not None
        # Published vocabularies need files that are not on every machine.
        values: list[Any] = [key for key in option.choices if option.name != "base"] or ["text"]
    elif option.kind == "text":
        values = ["", "a b"]
    else:
        values = [max(option.minimum, 9), option.maximum or 700]
    for value in values:
        training = train(trainer, **needed(option), **{option.name: value})
        assert training.algorithm == trainer.key


@pytest.mark.parametrize(("trainer", "option"), OPTIONS)
def test_train_rejects_undeclared_values(trainer: Trainer, option: Option) -> None:
    wrong: list[Any] = [None, True, 1.5, b"text", ["text"]]
    if option.kind != "number":
        wrong.append(1)
    if option.kind == "choice":
        wrong += ["", "no such choice"]
    if option.kind == "number":
        wrong += ["7", option.minimum - 1]
        wrong += [] if option.maximum is None else [option.maximum + 1]
    for value in wrong:
        with pytest.raises(ValueError, match=rf"^The option {option.name} must be .*\.$") as caught:
            train(trainer, **needed(option), **{option.name: value})
        for allowed in option.choices or ():
            assert allowed in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"end_mark": "symbol"}, "end_mark needs atoms=characters"),
        ({"threshold": 2, "encode": "longest"}, "threshold needs encode=merges"),
        ({"ending": "x"}, "no option ending. It has: atoms, encode, end_mark"),
    ],
)
def test_train_rejects_options_without_effect(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bpeviz.train(TEXT, merges=1, **options)


def test_train_accepts_defaults_of_options_without_effect() -> None:
    assert bpeviz.train(TEXT, merges=1, threshold=0, encode="longest").steps == 1


@every_trainer
def test_train_rejects_special_tokens_that_are_not_a_tuple_of_names(trainer: Trainer) -> None:
    for names in ("<s>", "", 3, None, [b"<s>"], [("<s>",)]):
        with pytest.raises(ValueError, match="special tokens as a tuple of names"):
            train(trainer, special_tokens=names)


@every_trainer
def test_train_rejects_repeated_empty_and_reserved_special_tokens(trainer: Trainer) -> None:
    for names in (("x", "x"), ("",), *((name,) for name in trainer.reserved)):
        with pytest.raises(ValueError, match=r"^Special tokens must differ"):
            train(trainer, special_tokens=names)
    training = train(trainer, special_tokens=["<a>", "<b>"])
    assert {"<a>", "<b>"} <= {*training.tokenizer().special_tokens}
    assert isinstance(training.special, tuple)


@every_trainer
def test_train_rejects_invalid_sizes(trainer: Trainer) -> None:
    number = {"merges": 1, "vocab_size": 600}
    wrong: list[dict[str, Any]] = [{"vocab_size": size} for size in (-1, "600", 600.0, True)]
    if trainer.prunes:
        wrong += [{"merges": 1}, number]
    else:
        wrong += [{"merges": count} for count in (-1, "3", 3.0, True, None)] + [number]
    for size in wrong:
        with pytest.raises(ValueError, match=r"^[A-Z].*(vocab_size|merges)"):
            trainer(TEXT, **size)


@every_trainer
def test_train_rejects_vocabulary_smaller_than_atoms(trainer: Trainer) -> None:
    with pytest.raises(ValueError, match=r"at least [0-9]+: one entry per .*, not 1\.$"):
        trainer(TEXT, vocab_size=1)


@every_trainer
@pytest.mark.parametrize("corpus", [b"bytes", ["a", "list"], None])
def test_train_rejects_corpus_of_wrong_type(trainer: Trainer, corpus: Any) -> None:
    with pytest.raises(ValueError, match="a text or a mapping of counts"):
        train(trainer, corpus)


@every_trainer
@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"a": 10**30}, "counts are too large"),
        ({"ab": 2**58, "c": 2**59}, "counts are too large"),
        ({5: 3}, "pre-token must be a text that is not empty, not 5"),
        ({"ab": 2, "": 3}, "pre-token must be a text that is not empty, not ''"),
        ({"a": 1, "b": 0}, "count of 'b' must be a whole number of 1 or more, not 0"),
        ({"ab": 1.5}, "count of 'ab' must be a whole number of 1 or more, not 1.5"),
        ({"ab": "2"}, "count of 'ab' must be a whole number of 1 or more, not '2'"),
        ({"ab": True}, "count of 'ab' must be a whole number of 1 or more, not True"),
    ],
)
def test_train_rejects_invalid_counts(trainer: Trainer, counts: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        train(trainer, counts)


def test_counts_may_be_of_any_integer_type() -> None:
    expected = bpeviz.train({"ab": 3, "cd": 2}, merges=2).merges
    assert bpeviz.train({"ab": np.int64(3), "cd": np.uint8(2)}, merges=2).merges == expected


def test_unknown_algorithm_error_lists_known_algorithms() -> None:
    with pytest.raises(ValueError, match=f"'bpf'.*{', '.join(TRAINERS)}"):
        bpeviz.train(TEXT, "bpf", merges=1)


def test_each_tie_rule_says_which_pair_wins() -> None:
    options = [option for trainer in TRAINERS.values() for option in trainer.options]
    rules = {rule for one in options if one.name == "ties" for rule in one.choices or ()}
    assert rules == TIE_WINNERS.keys()


@every_trainer
def test_rules_fit_into_a_line_and_lists_of_algorithms_into_their_box(trainer: Trainer) -> None:
    assert len(f"{trainer.title}: {trainer.rule}.") <= 98
    assert len(f"{trainer.short} · {trainer.gist}") <= 42
    assert trainer.rule[0].islower()


@every_trainer
def test_training_has_a_short_repr(trainer: Trainer) -> None:
    shown = repr(train(trainer, TEXT * 20, vocab_size=300))
    assert trainer.key in shown
    assert len(shown) < 100


def variants(trainer: Trainer) -> Iterator[dict[str, str]]:
    """Yield each choice of each option, without vocabularies that need a download."""
    for option in trainer.options:
        for value in option.choices or ():
            if option.name != "base" or value == "text":
                yield needed(option) | {option.name: value}


@pytest.mark.slow
@every_trainer
@pytest.mark.parametrize("pattern", ["none", "gpt2"])
@pytest.mark.parametrize(
    "text",
    [
        *("", "a", " ", " \n\n \t", "\n---\n", "\0\0", "👍👨‍👩‍👧", "שלום שלום"),
        *("e\u0301e\u0301 e\u0301", "\ud800a\ud800a", "\x1c a"),
    ],
    ids=ascii,
)
def test_difficult_texts_have_consistent_boundaries(
    trainer: Trainer, text: str, pattern: str
) -> None:
    for how in quarter([*variants(trainer)], f"{trainer.key}{text!r}{pattern}"):
        training = trainer(text, vocab_size=600, pattern=pattern, **how)
        boundaries = training.tokenizer().boundaries(text)
        for step in range(training.steps + 1):
            training.candidates(text, boundaries, step, 3)
        for step in (0, training.steps):
            tokenizer = training.at_step(step)
            for held in (text, "", "x 👋", "\ud800"):
                boundaries = tokenizer.boundaries(held)
                count = boundaries.token_counts[-1]
                assert count == len(tokenizer.encode(held)) == len(tokenizer.tokens(held))


@every_trainer
def test_special_tokens_have_the_last_ids(trainer: Trainer) -> None:
    for atoms in ("bytes", "characters"):
        more = {"atoms": atoms} if "atoms" in {one.name for one in trainer.options} else {}
        tokenizer = train(trainer, "ab ab", special_tokens=("<s>", "<end>"), **more).tokenizer()
        names = [name for name in tokenizer.special_tokens if name not in trainer.reserved]
        last = [tokenizer.vocab_size - 2, tokenizer.vocab_size - 1]
        assert [tokenizer.special_tokens[name] for name in names] == last
        assert tokenizer.encode("<s>", allowed_special={"<s>"}) == last[:1]
        assert tokenizer.decode(last).replace(" ", "") == "<s><end>"


@every_trainer
@settings(max_examples=examples(100))
@given(SMALL_TEXTS, SMALL_TEXTS | ANY_TEXT, st.data())
def test_decode_round_trips_text_and_tokens_cover_it(
    trainer: Trainer, corpus: str, text: str, data: st.DataObject
) -> None:
    how = data.draw(st.sampled_from([{}, *variants(trainer)]))
    pattern = data.draw(st.sampled_from(["none", "gpt2", "words"]))
    tokenizer = trainer(corpus, vocab_size=600, pattern=pattern, **how).tokenizer()
    tokens = tokenizer.tokens(text)
    assert [token.id for token in tokens] == tokenizer.encode(text)
    starts = [token.start for token in tokens]
    assert starts == sorted(starts)
    if tokenizer.unknown_id is None:  # it can encode every text
        assert tokenizer.decode(tokenizer.encode(text)) == clean(text)
        assert [token.end for token in tokens][-1:] == [len(clean(text))] * bool(text)
    if tokenizer.atoms == "bytes":
        assert b"".join(token.raw for token in tokens) == clean(text).encode()


@pytest.mark.parametrize("atoms", ["bytes", "characters"])
def test_sentence_about_step_0_names_the_atoms_and_no_text(atoms: str) -> None:
    training = bpeviz.train("नमस्ते दुनिया", merges=2, atoms=atoms)
    sentence = texts_of(training).beginning(training)
    assert sentence == f"Every {atoms[:-1]} is its own piece, or token."


def test_trainer_of_the_readme_is_trained_printed_saved_and_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = ModuleType("bpeviz.trainers.rarest")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(readme_trainer(), vars(module))
    monkeypatch.setitem(TRAINERS, "rarest", module.TRAINER)
    text = "banana bandana " * 9
    training = bpeviz.train(text, "rarest", merges=9, special_tokens=("<s>",))
    tokenizer = training.tokenizer()
    assert len(repr(training)) < 100 > len(repr(tokenizer))
    boundaries = training.boundaries(text)
    for step, merge in enumerate(training.merges):
        (best,) = training.candidates(text, boundaries, step, 1)
        assert (best.ids, best.count) == ((merge.left, merge.right), merge.count)
    (path,) = bpeviz.save(tokenizer, tmp_path / "rarest.bpeviz")
    back = bpeviz.read(path)
    assert type(back) is type(tokenizer)
    assert back.encode(text) == tokenizer.encode(text)
    assert back.boundaries(text).ids(4).tolist() == tokenizer.boundaries(text).ids(4).tolist()
    for key in {*FORMATS} - {"bpeviz"}:
        with pytest.raises(FormatError) as caught:
            formats.dump(tokenizer, key, suggests=True)
        assert str(caught.value).endswith(".bpeviz holds it (--format bpeviz).")
