"""What holds of every trainer of the registry, with every choice of its options."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers.properties import examples, quarter
from helpers.readme import readme_trainer
from helpers.refusals import assert_sentence, refusal
from helpers.texts import ANY_TEXT, SMALL_TEXTS
from helpers.trainings import CASES, TEXT, choices, each_case, each_trainer, needed, trained
from hypothesis import given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID, SPECIAL_ID
from bpeviz.core.merges import Merge
from bpeviz.formats import FORMATS
from bpeviz.pretokenizers.counts import count
from bpeviz.text import clean
from bpeviz.trainers import TRAINERS, Option, Trainer, bpe, texts_of
from bpeviz.trainers.options import TIE_WINNERS
from bpeviz.ui.inputs.training import option_widget

END = "<|endoftext|>"
NAMED = (
    f"low lower{END}low{END}{END}newer the new <é>low\n---\nwidest{END} wider <end> low new{END}"
)
NAMES = ("<é>", END)
DIFFICULT = (
    *("", "a", " ", " \n\n \t", "\n---\n", "\0\0", "👍👨‍👩‍👧", "שלום שלום", " a", "\n a"),
    *("e\u0301e\u0301 e\u0301", "\ud800a\ud800a", "\x1c a", "a" * 90),
)
OPTIONS = [
    pytest.param(trainer, option, id=f"{trainer.key}-{option.name}")
    for trainer in TRAINERS.values()
    for option in trainer.options
]


def small(key: str, corpus: Any = "low lower lowest", **more: Any) -> Any:
    """Train one merge, or prune to the atoms, unless the arguments set another size."""
    size = {} if TRAINERS[key].prunes or "vocab_size" in more else {"merges": 1}
    return TRAINERS[key](corpus, **{**size, **more})


# ---- Steps


@each_case
def test_boundaries_of_each_step_are_those_of_its_tokenizer(key: str, how: dict[str, str]) -> None:
    training = trained(key, **how)
    for text in (TEXT, "The old hat, 12 ñandú"):
        boundaries = training.tokenizer().boundaries(text)
        assert len(boundaries.token_counts) == training.steps + 1
        for step in {0, 1, training.steps // 3, training.steps - 1, training.steps}:
            tokenizer = training.at_step(step)
            ids, own = boundaries.ids(step), tokenizer.boundaries(text)
            visible = ids[ids != DROPPED_ID]
            assert boundaries.token_counts[step] == len(visible)
            known = [tokenizer.unknown_id if i < 0 else i for i in visible.tolist()]
            assert known == tokenizer.encode(text)
            assert own.cuts(step).tolist() == boundaries.cuts(step).tolist()
            assert own.ids(step).tolist() == ids.tolist()


@each_case
def test_candidates_are_what_each_step_decides(key: str, how: dict[str, str]) -> None:
    training = trained(key, **how)
    boundaries = training.boundaries(TEXT)
    for step, decision in enumerate(training.decisions):
        listed = training.candidates(TEXT, boundaries, step, 10_000)
        best = listed[0]
        values = [each.count if each.score is None else each.score for each in listed]
        if not isinstance(decision, Merge):
            assert (best.ids, best.count, best.score) == (
                (decision.id,),
                decision.count,
                decision.loss,
            )
            assert values == sorted(values)
            continue
        pair = decision.left, decision.right
        assert (best.ids, best.count) == (pair, decision.count)
        assert values == sorted(values, reverse=True)
        tied = [each.ids for each, value in zip(listed, values, strict=True) if value == values[0]]
        assert len(tied) == decision.ties + 1
        rule = how.get("ties", "first")
        if "ties" in how and rule != "huggingface":
            names = {i: training.tokenizer().token_bytes(i) for ids in tied for i in ids}
            assert bpe.choose(tied, names, rule) == pair
        assert training.candidates(TEXT, boundaries, step, 2) == listed[:2]


@pytest.mark.parametrize(
    ("key", "how"),
    [
        case
        for case in CASES
        # These merge other tokens than they show, or count in a part of the text.
        if case.values[0] not in ("scaffold", "parity", "unigram", "wordpiece")
        and "longest" not in case.values[1].values()
    ],
)
def test_counts_are_those_of_neighbors_in_the_text(key: str, how: dict[str, str]) -> None:
    """The count of each candidate, and what each merge takes away."""
    training = trained(key, **how)
    boundaries = training.boundaries(TEXT)
    tokenizer = training.tokenizer()  # over bytes, the atoms of a pre-token end where its bytes do
    ends = getattr(tokenizer, "pre_token_atom_ends", tokenizer.pre_token_ends)(TEXT)
    first = {0, *map(int, ends)}
    weights = training.weights(TEXT) if key == "multilingual" else np.ones(len(boundaries), int)
    for step, merge in enumerate(training.decisions):
        if key == "superbpe" and step >= training.transition_step:
            break
        rows: list[tuple[list[int], int]] = []
        starts = [0, *boundaries.token_ends(step).tolist()]
        for token_id, start in zip(boundaries.ids(step).tolist(), starts, strict=False):
            if start in first or token_id == DROPPED_ID:
                rows.append(([], int(weights[start])))
            rows[-1][0].append(token_id)
        counts = bpe.count(rows)
        listed = {
            each.ids: each.count for each in training.candidates(TEXT, boundaries, step, 10_000)
        }
        assert listed.items() <= counts.items()
        assert key not in ("bpe", "adaptive", "multilingual") or listed == counts
        if key != "multilingual":
            lost = boundaries.token_counts[step] - boundaries.token_counts[step + 1]
            assert lost == merge.applied


def test_uses_of_pieces_are_those_of_the_text_at_the_start_of_each_round() -> None:
    training = trained("unigram")
    boundaries = training.boundaries(TEXT)
    for each in training.rounds:
        if each.start < training.steps:
            uses = Counter(boundaries.ids(each.start).tolist())
            for piece in training.candidates(TEXT, boundaries, each.start, 10_000):
                assert piece.count == uses[piece.ids[0]]


@each_trainer
@pytest.mark.parametrize("limit", [0, 5, 10_000])
def test_training_stops_for_the_reason_that_it_states(key: str, limit: int) -> None:
    text, prunes = "low lower lowest", TRAINERS[key].prunes
    atoms = small(key, text).sizes[-1 if prunes else 0]
    training = small(key, text, vocab_size=int(atoms) + limit)
    boundaries = training.boundaries(text)
    left = training.candidates(text, boundaries, training.steps, 9)
    if training.stopped == "full":
        assert training.sizes[-1] == atoms + limit or prunes
    elif training.stopped == "rare":
        assert left == [] or left[0].count < 2
    else:
        assert left == []
    assert training.stopped != "full" or limit < 10_000 or prunes


@each_case
def test_pre_tokens_end_where_the_text_does(key: str, how: dict[str, str]) -> None:
    tokenizer = trained(key, **how).tokenizer()
    for text in (" a", "\n a", "", "low  low\n"):
        ends = [*tokenizer.pre_token_ends(text)]
        assert ends == sorted({*ends})
        assert ends[:1] == [] or ends[0] > 0
        assert ends[-1:] == [len(text.encode())] * bool(text)


@each_case
def test_difficult_texts_train_and_are_encoded(key: str, how: dict[str, str]) -> None:
    for text in quarter(DIFFICULT, f"{key} {how}") if how else DIFFICULT:
        training = TRAINERS[key](text, vocab_size=600, pattern="none", **how)
        boundaries = training.boundaries(text)
        for step in range(training.steps + 1):
            training.candidates(text, boundaries, step, 3)
        for step in {0, training.steps}:
            tokenizer = training.at_step(step)
            for held in (text, "", "x 👋", "\ud800"):
                counted = tokenizer.boundaries(held).token_counts[-1]
                ids, tokens = tokenizer.encode(held), tokenizer.tokens(held)
                assert counted == len(ids) == len(tokens), (text, held)


@pytest.mark.thorough
@each_trainer
def test_long_pre_token_is_encoded(key: str) -> None:
    """A trainer or an encoder that is quadratic in the length would take hours."""
    text = "the cat sat on the mat and looked at the other cat " * 20_000
    size = {"vocab_size": 60} if TRAINERS[key].prunes else {"merges": 60}
    tokenizer = TRAINERS[key](text[:10_000], pattern="none", **size).tokenizer()
    assert tokenizer.boundaries(text).token_counts[-1] == len(tokenizer.encode(text))


@each_trainer
@settings(max_examples=examples(100))
@given(SMALL_TEXTS, SMALL_TEXTS | ANY_TEXT, st.data())
def test_decode_returns_the_text_and_tokens_cover_it(
    key: str, corpus: str, text: str, data: st.DataObject
) -> None:
    how = data.draw(st.sampled_from([{}, *choices(key)]))
    pattern = data.draw(st.sampled_from(["none", "gpt2", "words"]))
    tokenizer = TRAINERS[key](corpus, vocab_size=600, pattern=pattern, **how).tokenizer()
    tokens = tokenizer.tokens(text)
    assert [token.id for token in tokens] == tokenizer.encode(text)
    starts = [token.start for token in tokens]
    assert starts == sorted(starts)
    if tokenizer.unknown_id is None:  # it can encode every text
        assert tokenizer.decode(tokenizer.encode(text)) == clean(text)
        assert [token.end for token in tokens][-1:] == [len(clean(text))] * bool(text)
    if tokenizer.atoms == "bytes":
        assert b"".join(token.raw for token in tokens) == clean(text).encode()


@each_trainer
def test_unknown_id_is_named(key: str) -> None:
    tokenizer = trained(key).tokenizer()
    for unknown in (-1, tokenizer.vocab_size, 10**12):
        for ask in (tokenizer.token_bytes, tokenizer.token_label, tokenizer.is_atom):
            with pytest.raises(ValueError, match=f"has no id {unknown}"):
                ask(unknown)
        with pytest.raises(ValueError, match=f"has no id {unknown}"):
            tokenizer.decode([0, unknown])


# ---- Corpora


@each_trainer
def test_counted_pre_tokens_train_like_their_text(key: str) -> None:
    text, pattern = "low lower lowest slow slower, été 👋🏽\n" * 5, "words"
    if key in ("sentencepiece", "multilingual", "parity", "superbpe"):
        pattern = "none"
    size = {} if TRAINERS[key].prunes else {"merges": 20}
    ours, theirs = (
        TRAINERS[key](corpus, pattern=pattern, **size) for corpus in (text, count(text, pattern))
    )
    assert ours.decisions == theirs.decisions
    assert ours.tokenizer().encode(text) == theirs.tokenizer().encode(text)


@each_trainer
def test_corpus_that_is_none_is_refused(key: str) -> None:
    for counts, names in (
        ({"a": 10**30}, ()),
        ({"ab": 2**58, "c": 2**59}, ()),
        ({5: 3}, "5"),
        ({"ab": 2, "": 3}, "''"),
        ({"a": 1, "b": 0}, ("'b'", "0")),
        ({"ab": 1.5}, ("'ab'", "1.5")),
        ({"ab": "2"}, "'2'"),
        ({"ab": True}, "True"),
        (b"bytes", "bytes"),
        (None, "None"),
    ):
        refusal(small, key, counts, naming=names)


def test_counts_may_be_of_any_integer_type() -> None:
    expected = bpeviz.train({"ab": 3, "cd": 2}, merges=2).merges
    assert bpeviz.train({"ab": np.int64(3), "cd": np.uint8(2)}, merges=2).merges == expected


# ---- Special tokens


@each_trainer
def test_each_name_in_the_text_is_a_token_that_no_step_touches(key: str) -> None:
    training = trained(key, NAMED, special_tokens=NAMES)
    assert {*NAMES} <= {*training.split_at}
    boundaries, raw = training.boundaries(NAMED), NAMED.encode()
    for step in {0, training.steps // 2, training.steps}:
        ids, cuts = boundaries.ids(step), boundaries.cuts(step)
        starts = np.append(0, cuts)[:-1]
        for name, special in ((END, SPECIAL_ID), ("<é>", SPECIAL_ID - 1)):
            at = [match.start() for match in re.finditer(re.escape(name.encode()), raw)]
            assert starts[ids == special].tolist() == at
            assert (cuts[ids == special] - at).tolist() == [len(name.encode())] * len(at)
        assert boundaries.as_changes().ids(step).tolist() == ids.tolist()
        part = boundaries.slice(2, len(raw) - 1)
        assert part.as_changes().ids(step).tolist() == part.ids(step).tolist()
        column = Column("", training.at_step(step), boundaries, step)
        last = [*column.tokenizer.special_tokens.values()][-2:]
        assert np.isin(column.ids, last).sum() == NAMED.count(END) + 1
    names = [training.name(each.new_id) for each in training.decisions if isinstance(each, Merge)]
    assert not any("|" in name or "<é" in name for name in names)


@each_trainer
@pytest.mark.parametrize("text", ["", END, END * 3])
def test_text_of_only_names_gives_no_steps(key: str, text: str) -> None:
    training = small(key, text, special_tokens=(END,))
    assert training.steps == 0
    assert training.boundaries(text).token_counts.tolist() == [text.count(END)]


@each_trainer
@pytest.mark.parametrize("atoms", ["bytes", "characters"])
def test_special_tokens_have_the_last_ids(key: str, atoms: str) -> None:
    names = {option.name for option in TRAINERS[key].options}
    more = {"atoms": atoms} if "atoms" in names else {}
    tokenizer = small(key, "ab ab", special_tokens=["<s>", "<end>"], **more).tokenizer()
    ours = [name for name in tokenizer.special_tokens if name not in TRAINERS[key].reserved]
    last = [tokenizer.vocab_size - 2, tokenizer.vocab_size - 1]
    assert [tokenizer.special_tokens[name] for name in ours] == last
    assert tokenizer.encode("<s>", allowed_special={"<s>"}) == last[:1]
    assert tokenizer.decode(last).replace(" ", "") == "<s><end>"


@each_trainer
def test_names_that_are_none_are_refused(key: str) -> None:
    for names in ("<s>", "", 3, None, [b"<s>"], [("<s>",)]):
        refusal(small, key, special_tokens=names, naming=repr(names))
    for names in (("x", "x"), ("",), *((name,) for name in TRAINERS[key].reserved)):
        refusal(small, key, special_tokens=names, naming=TRAINERS[key].reserved)


# ---- Options


def outcome(key: str, how: dict[str, Any]) -> list[Any]:
    """Return what training makes, its tokens, and what is said of it."""
    training = trained(key, **how)
    names = [training.name(i) for i in range(training.vocab_size)]
    tokens = [token.label for token in training.tokenizer().tokens(f"{TEXT}ñandú Low x abc")]
    return [names, tokens, training.steps, training.sizes.tolist()]


@pytest.mark.parametrize(("trainer", "option"), OPTIONS)
def test_option_changes_something(trainer: Trainer, option: Option) -> None:
    if option.name == "base":
        pytest.skip("Its other values are published vocabularies.")
    others: dict[str, Any] = {
        "base_text": "the cat sat low lower",
        "development": "x\n---\nkissa kissa kissa kissa",
        "coverage": "0.98",
        "unmatched": "drop",
    }
    more = needed(option)
    if option.name == "base_size":
        more |= {"base_text": TEXT}
    if option.name == "encode":
        more |= {"text": "bc bc bc ab ab", "merges": 2, "pattern": "whitespace"}
    if option.name in ("second", "max_words"):
        more |= {"text": "so be it. And so\n" * 6, "transition": 262, "merges": 30}
    if option.name == "unmatched":
        more |= {"pattern": "regex", "expression": r"\w+"}
    if option.kind == "choice":
        values = [value for value in option.choices or () if value != option.default]
    elif option.kind == "text":
        values = [others[option.name]]
    else:
        values = [option.minimum, option.maximum or 300, 2, 3, 30, 270, 290]
    usual, changed = outcome(trainer.key, more), 0
    for value in {*values} - {option.default}:
        try:
            changed += outcome(trainer.key, more | {option.name: value}) != usual
        except ValueError as error:
            assert_sentence(str(error), option.name)
    assert changed


@pytest.mark.parametrize(("trainer", "option"), OPTIONS)
def test_option_refuses_other_values_and_names_its_own(trainer: Trainer, option: Option) -> None:
    wrong: list[Any] = [None, True, 1.5, b"text", ["text"]]
    if option.kind != "number":
        wrong.append(1)
    if option.kind == "choice":
        wrong += ["", "no such choice"]
    if option.kind == "number":
        wrong += ["7", option.minimum - 1]
        assert not option_widget(trainer, option).allows(option.minimum - 1)
        wrong += [] if option.maximum is None else [option.maximum + 1]
    for value in wrong:
        how = needed(option) | {option.name: value}
        refusal(small, trainer.key, naming=(option.name, *(option.choices or ())), **how)


@pytest.mark.parametrize(
    ("how", "names"),
    [
        ({"end_mark": "symbol"}, ("end_mark", "atoms=characters")),
        ({"threshold": 2, "encode": "longest"}, ("threshold", "encode=merges")),
        ({"ending": "x"}, ("ending", "end_mark")),
    ],
)
def test_option_without_effect_is_refused(how: dict[str, Any], names: tuple[str, ...]) -> None:
    refusal(small, "bpe", naming=names, **how)
    assert small("bpe", threshold=0, encode="longest").steps == 1


@each_trainer
def test_sizes_that_are_none_are_refused(key: str) -> None:
    number = {"merges": 1, "vocab_size": 600}
    wrong: list[dict[str, Any]] = [{"vocab_size": size} for size in (-1, "600", 600.0, True, 1)]
    if TRAINERS[key].prunes:
        wrong += [{"merges": 1}, number]
    else:
        wrong += [{"merges": merges} for merges in (-1, "3", 3.0, True, None)] + [number]
    for size in wrong:
        message = refusal(TRAINERS[key], "low lower lowest", **size)
        assert re.search("vocab|merges", message)


def test_unknown_algorithm_is_named_with_the_known() -> None:
    refusal(bpeviz.train, "low", "bpf", merges=1, naming=("'bpf'", *TRAINERS))


# ---- What is said


@each_trainer
def test_words_of_a_trainer_fit_into_their_places(key: str) -> None:
    trainer = TRAINERS[key]
    assert len(f"{trainer.title}: {trainer.rule}.") <= 98
    assert len(f"{trainer.short} · {trainer.gist}") <= 42
    assert trainer.rule[0].islower()
    training = trained(key)
    assert key in repr(training)
    assert len(repr(training)) < 100
    assert texts_of(training).beginning(training)


def test_each_tie_rule_says_which_pair_wins() -> None:
    options = [option for trainer in TRAINERS.values() for option in trainer.options]
    rules = {rule for each in options if each.name == "ties" for rule in each.choices or ()}
    assert rules == TIE_WINNERS.keys()


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
        refusal(formats.dump, tokenizer, key, suggests=True, naming=".bpeviz")
