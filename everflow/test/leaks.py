"""Decorators of tests that must leave nothing behind: no tensors, no objects, no work for Python's garbage collector."""

from __future__ import annotations

import functools
import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

from everflow.eager.mode import eager_mode
from everflow.framework.graph import Graph
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly


def assert_no_new_tensors(f: Callable) -> Callable:
    """A test after which no tensors are alive that weren't before; it draws into a graph of its own."""

    @functools.wraps(f)
    def checked(self: Any, **kwargs: Any) -> Any:
        gc.collect()
        before = {id(each) for each in gc.get_objects() if isinstance(each, Tensor)}
        if executing_eagerly():
            result = f(self, **kwargs)
        else:
            with Graph().as_default():
                result = f(self, **kwargs)
        gc.collect()
        left = [each for each in gc.get_objects() if isinstance(each, Tensor) and id(each) not in before]
        if left:
            raise AssertionError(f"{len(left)} tensors are alive after the test that weren't before it: {left}")
        return result

    return checked


def assert_no_garbage_created(f: Callable) -> Callable:
    """A test that makes no cycles of references, which only Python's garbage collector would find."""

    @functools.wraps(f)
    def checked(self: Any, **kwargs: Any) -> Any:
        gc.disable()
        gc.collect()
        flags = gc.get_debug()
        found = len(gc.garbage)
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            result = f(self, **kwargs)
            gc.collect()
            kinds = Counter(type(each).__name__ for each in gc.garbage[found:])
            del gc.garbage[found:]
        finally:
            gc.set_debug(flags)
            gc.enable()
        if kinds:
            raise AssertionError(f"The test leaves cycles of references behind, of {dict(kinds)}.")
        return result

    return checked


def assert_no_new_pyobjects_executing_eagerly(f: Callable) -> Callable:
    """A test that, run again and again eagerly, holds no more objects of Python than before."""

    @functools.wraps(f)
    def checked(self: Any, **kwargs: Any) -> None:
        with eager_mode():
            f(self, **kwargs)  # what is made once and kept
            gc.collect()
            before = _counts()
            for _ in range(3):
                f(self, **kwargs)
            gc.collect()
            grown = {kind: count - before[kind] for kind, count in _counts().items() if count >= before[kind] + 3}
        if grown:
            raise AssertionError(f"Three runs of the test leave objects behind: {grown}")

    return checked


def _counts() -> Counter[str]:
    """How many objects of each class there are. Python's own types are left out: it makes and keeps them at any time."""
    kinds = (type(each) for each in gc.get_objects())
    return Counter(
        f"{kind.__module__}.{kind.__qualname__}" for kind in kinds if kind.__module__ not in ("builtins", "weakref")
    )
