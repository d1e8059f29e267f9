"""Color indices tell tokens apart, and a token has one color in all views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from helpers import usual
from helpers.payloads import color_index
from helpers.properties import many
from helpers.stages import timeline as timeline_of
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.analysis.hues import Coloring, Hues, contacts_at, hues
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Part
from bpeviz.core.training import Training
from bpeviz.corpus.samples import SAMPLES
from bpeviz.palette import COLORS, HUES
from bpeviz.text import color_key
from bpeviz.views.stage import Row, Stage, of_columns, of_training

TEXT = "the old cat sat and the cold cat sat\nthe old 世界 👩‍👩‍👧 cat ate\n" * 2

TYPED = ("hello world", "strawberry", "मुझे हिंदी में लिखना अच्छा लगता है।", "👩‍👩‍👧‍👦")
TEXTS = [*(sample.text[:2_000] for sample in SAMPLES), *TYPED]


def colored(text: str, keys: Sequence[str]) -> tuple[Sequence[Row], Hues]:
    """Return a text under some trainers, and its color indices."""
    trainings = [usual.train(key, text) for key in keys]
    rows = [of_training(training, text) for training in trainings]
    return rows, Stage(rows).hues


def touching(row: Row) -> set[tuple[int, int]]:
    """Return the color keys of the colored tokens that touch at any step and differ."""
    key = row.names.key
    pairs = {(key(left), key(right)) for left, right in row.coloring.contacts.pairs}
    return {(left, right) for left, right in pairs if left != right and min(left, right) >= 0}


def clashes(pairs: Iterable[tuple[int, int]], found: Hues, period: int) -> int:
    """Return how many pairs have the same color index, or for the period HUES the same hue."""
    return sum(found.index(left) % period == found.index(right) % period for left, right in pairs)


def test_tokens_that_touch_differ_in_hue_and_most_keep_it_while_they_grow() -> None:
    grown = kept = 0
    for text in TEXTS:
        training = usual.train("bpe", text)
        (row,), found = colored(text, ["bpe"])
        assert clashes(touching(row), found, HUES) == 0
        tokenizer = training.tokenizer()
        size = [len(tokenizer.token_bytes(i)) for i in range(tokenizer.vocab_size)]
        for merge in training.merges:
            colored_parts = [i for i in (merge.left, merge.right) if training.color_key(i) >= 0]
            if colored_parts:
                longer = training.color_key(max(colored_parts, key=size.__getitem__))
                grown += 1
                kept += clashes([(training.color_key(merge.new_id), longer)], found, HUES)
    assert kept / grown > 0.75


def test_most_tokens_keep_their_look_when_the_end_of_the_text_is_edited() -> None:
    changed = stayed = 0
    for text in TEXTS[::2]:
        before = colored(text, ["bpe"])[1].indices
        for edited in (text + "e", text + ". A new sentence", text[:-1]):
            after = colored(edited, ["bpe"])[1].indices
            both = before.keys() & after.keys()
            stayed += len(both)
            changed += sum(before[key] != after[key] for key in both)
    assert changed <= stayed / 20


def looks_at_each_step(training: Training, text: str) -> list[tuple[int, int]]:
    """Return the number of colored tokens and of their looks at each step, one by one."""
    row = of_training(training, text)
    hues = Stage([row]).hues
    counts = []
    for step in range(row.shown.steps + 1):
        keys = {training.color_key(i) for i in row.shown.ids(step).tolist() if i >= 0} - {-1}
        counts.append((len(keys), len({hues.index(key) for key in keys})))
    return counts


def test_merges_10_to_20_of_the_first_text_have_a_look_for_each_token() -> None:
    counts = looks_at_each_step(usual.train("bpe", SAMPLES[0].text), SAMPLES[0].text)
    assert all(tokens == looks for tokens, looks in counts[:21])


@many()
@given(st.text("abc ", min_size=1, max_size=40), st.integers(0, COLORS))
def test_nearly_as_many_tokens_as_looks_differ_at_each_step(text: str, merges: int) -> None:
    counts = looks_at_each_step(bpeviz.train(text, merges=merges), text)
    assert all(looks >= tokens - 1 for tokens, looks in counts)


def test_given_color_indices_stay() -> None:
    first = hues([Coloring(contacts_at([1, 2, 3]), lambda token_id: COLORS * token_id)])
    assert len({*first.indices.values()}) == 3
    second = hues([Coloring(contacts_at([1, 9, 2]), lambda token_id: COLORS * token_id)], first)
    assert second.indices | first.indices == second.indices
    assert second.index(COLORS * 9) not in {first.index(COLORS), first.index(2 * COLORS)}
    assert (first.index(-1), first.index(COLORS * 77 + 5)) == (-1, 5)


def test_token_has_one_color_in_all_columns_and_in_the_player() -> None:
    text = "the old cold cat sat on the old cold mat " * 3
    training = bpeviz.train(text, vocab_size=400, min_count=2)
    boundaries = training.tokenizer().boundaries(text)
    part = Part(0, len(text), 0, len(text))
    hues = Stage([of_training(training, text, boundaries, part)]).hues
    moved = [key for key, index in hues.indices.items() if index != key % COLORS]
    assert moved
    timeline = timeline_of(text, training, boundaries, part, training.steps)
    columns = [
        Column(str(step), training.at_step(step), boundaries, step) for step in (9, training.steps)
    ]
    beside = of_columns(columns, text, hues).score()
    colors = {name: index for name, index in timeline["tokenStyles"].values() if index >= 0}
    shown = [one for row in beside["rows"] for one in row["distinct"] if one[3] >= 0]
    assert shown
    for _, name, raw, index, _ in shown:
        assert colors[name] == index == hues.index(color_key(bytes.fromhex(raw)))
    assert any(index != color_index(bytes.fromhex(raw)) for _, _, raw, index, _ in shown)
