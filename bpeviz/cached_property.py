"""A property that is computed once per object, without a lock.

`functools.cached_property` of Python 3.11 holds one lock per property, not per object, while it
computes: all users wait while the value of one is computed. Python 3.12 has no lock either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801, the name of the one it replaces
    """A property whose value is stored in the `__dict__` of the object when it is first read.

    Threads that read it for the first time at once may each compute it; all of them get the same
    object.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> cached_property[Value] | Value:
        if instance is None:
            return self
        # Python looks here only while `__dict__` has no such name, since there is no `__set__`.
        value: Value = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value
