"""The cache: its budget, its keys, and which errors it holds."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import usual

from bpeviz.analysis import trace
from bpeviz.corpus import samples
from bpeviz.ui.runtime.cache import Cache, Failure, cached, size_of
from bpeviz.views import charts, race, tables
from bpeviz.views.stage import Stage, of_training

PROSE = samples.by_key("english-prose").text
TEXT = "the cat sat on the mat; the rat sat on the cat. " * 4


def failing(error: Exception) -> Callable[..., object]:
    def create(*_arguments: object) -> object:
        raise error

    return create


def test_cache_stays_within_its_budget() -> None:
    cache = Cache(1_000_000)
    for number in range(50):
        cache.get_or_create(number, lambda: np.zeros(25_000))
        assert cache.size <= 1_000_000
    assert cache.find(0) is None
    assert cache.find(49) is not None
    assert not cache.put("large", np.zeros(200_000))
    assert cache.find("large") is None
    assert cache.find(49) is not None


def test_cache_counts_the_size_of_a_value_once() -> None:
    cache = Cache(1_000_000)
    value = np.zeros(25_000)
    for _ in range(2):  # a value that is put again replaces the first one
        cache.put("value", value)
        assert cache.size == size_of(value)


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(50_000),
        [np.zeros(25_000)] * 2,
        {"a": np.zeros(50_000)},
        frozenset({"x" * 400_000}),
        (b"x" * 400_000,),
        SimpleNamespace(a=[np.zeros(50_000)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_size_counts_each_part_once(value: object) -> None:
    assert size_of(value) == pytest.approx(400_000, rel=0.01)


def test_values_count_as_they_will_have_grown() -> None:
    cache = Cache(10_000_000)
    array = np.zeros(50_000)
    cache.put("plain", [array])
    assert cache.size == pytest.approx(400_000, rel=0.01)
    cache.put("may grow", (SimpleNamespace(a=array), 1))
    assert cache.size == pytest.approx(1_200_000, rel=0.01)
    cache.put("stated", SimpleNamespace(a=array, cache_size=100_000))
    assert cache.size == pytest.approx(1_300_000, rel=0.01)


@pytest.mark.parametrize("key", ["bpe", "wordpiece", "unigram", "scaffold", "superbpe"])
def test_trainings_at_most_double_in_use(key: str) -> None:
    training = usual.train(key, PROSE)
    # As from a worker.
    training, boundaries = value = pickle.loads(
        pickle.dumps((training, training.boundaries(PROSE)))
    )
    before = size_of(value)
    row = of_training(training, PROSE, boundaries)
    row.timeline(Stage([row]).hues)
    tables.decisions(training, training.steps)
    charts.decided(training, training.steps)
    race.first_groups(row, 20)
    training.tokenizer().encode(PROSE)
    assert before < size_of(value) < 2.1 * before


def test_inspection_states_the_size_of_all_but_its_tokenizer() -> None:
    tokenizer = usual.train("bpe", TEXT).tokenizer()
    inspection = trace.inspect(TEXT, tokenizer)
    parts = dict(vars(inspection), tokenizer=None) | {
        name: getattr(inspection, name)
        for name in ("raw", "units", "contacts", "point_ends", "grapheme_ends", "cuts")
    }
    assert 0.3 < size_of(parts) / inspection.cache_size < 2


@pytest.mark.parametrize("cause", [TimeoutError(), MemoryError()])
def test_transient_error_is_not_cached(cause: Exception) -> None:
    error = ValueError("took too long")
    error.__cause__ = cause
    cache = Cache(1_000_000)
    with pytest.raises(ValueError, match="too long"):
        cache.get_or_create("key", failing(error))
    assert cache.get_or_create("key", lambda: "a value") == "a value"


def test_lasting_error_is_cached_without_its_local_variables() -> None:
    cache = Cache(1_000_000)
    create = failing(ValueError("a bad expression"))
    for _ in range(3):
        with pytest.raises(ValueError, match="bad expression"):
            cache.get_or_create("key", create)
        create = failing(AssertionError("created again"))
        found = cache.find("key")
        assert isinstance(found, Failure)
        assert found.error.__traceback__ is None  # it would refer to all local variables
        assert found.error.__context__ is None


def test_one_of_several_users_creates_a_value() -> None:
    cache = Cache(1_000_000)
    created: list[int] = []
    threads = [
        Thread(target=cache.get_or_create, args=("key", lambda: created.append(1) or "a value"))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert created == [1]


def test_cached_function_ignores_underscored_parameters_and_uses_cache_keys() -> None:
    class Handle:
        def __init__(self, text: str) -> None:
            self.cache_key = (len(text),)

    calls: list[str] = []

    @cached()
    def function(handle: Handle, _other: str) -> str:
        calls.append(_other)
        return _other

    assert function(Handle("ab"), "first") == "first"
    assert function(Handle("cd"), "second") == "first"
    assert function(Handle("abc"), "third") == "third"
    assert calls == ["first", "third"]
