"""The cache: its budget, its keys, and which errors it holds."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from types import SimpleNamespace

import numpy as np
import pytest

import bpeviz
from bpeviz.cached_property import cached_property
from bpeviz.ui.runtime import cache as cache_module
from bpeviz.ui.runtime.cache import Cache, Failure, cached, size_of

TEXT = "the cat sat on the mat; the rat sat on the cat. " * 4


class Growing:
    """A value that caches a property of 400,000 bytes."""

    @cached_property
    def large(self) -> object:
        return np.zeros(50_000)


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
    first, second = Growing(), np.zeros(25_000)
    for _ in range(2):  # a value that is put again replaces the first one
        cache.put("first", first)
        cache.put("second", second)
        cache.measure()
        assert cache.size == size_of(first) + size_of(second)
    _ = first.large
    cache.put("first", first)
    cache.measure()
    assert cache.size == size_of(first) + size_of(second)
    assert cache.size == pytest.approx(400_000 + 200_000, rel=0.01)


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


def test_cache_evicts_when_cached_values_grow() -> None:
    cache = Cache(1_000_000)
    values = [cache.get_or_create(number, Growing) for number in range(4)]
    for value in values:
        _ = value.large
    assert cache.size < 10_000
    cache.measure()
    assert 800_000 < cache.size <= 1_000_000
    assert sum(cache.find(number) is not None for number in range(4)) == 2


def test_cache_measures_only_values_that_were_used(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(1_000_000)
    idle, used = Growing(), (1, Growing())
    cache.put("idle", idle)
    cache.put("used", used)
    cache.put("plain", {"a": [2], "b": "c"})
    cache.measure()
    measured: list[object] = []
    monkeypatch.setattr(cache_module, "size_of", lambda value: measured.append(value) or 100)
    assert cache.find("used") is used
    assert cache.find("plain") == {"a": [2], "b": "c"}  # it cannot grow
    cache.measure()
    cache.measure()
    assert measured == [used]


def test_cache_measures_at_times_and_forgets_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(cache_module, "monotonic", lambda: now[0])
    cache = Cache(1_000_000)
    cache.measure_if_due()
    values = [cache.get_or_create(number, Growing) for number in range(4)]
    for value in values:
        _ = value.large
    cache.measure_if_due()
    assert cache.size < 10_000
    now[0] += cache_module._MEASURED
    cache.measure_if_due()
    assert cache.size > 800_000


def test_values_are_found_while_one_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(1_000_000)
    slow = Growing()
    cache.put("slow", slow)
    measuring, go_on = Event(), Event()

    def size(_value: object) -> int:
        measuring.set()
        assert go_on.wait(10)
        return 100

    monkeypatch.setattr(cache_module, "size_of", size)
    thread = Thread(target=cache.measure)
    thread.start()
    assert measuring.wait(10)
    assert cache.find("slow") is slow  # it would wait for the thread forever
    go_on.set()
    thread.join(10)
    assert cache.size == 100


def test_run_measures_what_grew_after_another_run_had_measured_it() -> None:
    cache = Cache(1_000_000)
    value = cache.get_or_create("growing", Growing)
    other = Thread(target=cache.measure)  # at the end of another run
    other.start()
    other.join()
    _ = value.large
    cache.measure_if_due()
    assert cache.size > 400_000


def test_value_that_changes_while_it_is_measured_keeps_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = Cache(1_000_000)
    cache.put("changing", Growing())
    before = cache.size
    monkeypatch.setattr(cache_module, "size_of", failing(RuntimeError("changed size")))
    cache.measure()
    assert cache.size == before > 0


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


def test_size_counts_nested_values() -> None:
    array = np.zeros(1_000_000)
    for value in (array, [array], {"a": (array,)}, ["x" * 80] * 100_000):
        assert 7_900_000 < size_of(value) < 14_000_000
    assert size_of([[[[[[array]]]]]]) > 7_900_000
    history = bpeviz.train(TEXT, vocab_size=300)
    before = size_of(history)
    assert 3_000 < before < 500_000
    history.candidates(TEXT, history.tokenizer().boundaries(TEXT), 1, 5)
    _ = history.names
    assert size_of(history) > before
