"""`tensorflow.python.keras.keras_parameterized`: tests that run once for each kind of model and in each mode that Keras
has.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from absl.testing import parameterized

from everflow.eager import version_mark
from everflow.eager.mode import eager_mode
from everflow.framework.graph import Graph
from everflow.framework.seeds import DEFAULT_GRAPH_SEED
from everflow.keras import backend
from everflow.legacy.inner.keras_testing import scopes
from everflow.test.test_case import TestCase as TensorFlowTestCase

_Way = Callable[[Any], contextlib.AbstractContextManager]  # the context that a test runs in, given its TestCase


class TestCase(TensorFlowTestCase, parameterized.TestCase):
    """A test case after whose tests nothing is left of their models."""

    __test__ = False

    def tearDown(self) -> None:
        """Forget graphs and names of layers."""
        backend.clear_session()
        super().tearDown()


def run_with_all_model_types(test_or_class: Any = None, exclude_models: str | Sequence[str] | None = None) -> Any:
    """Decorator of a test, or of a class of them: it runs with functional, subclassed and sequential models, but for
    those that are excluded.
    """
    without = [exclude_models] if isinstance(exclude_models, str) else exclude_models or ()
    ways: dict[str, _Way] = {
        kind: lambda test, kind=kind: scopes.model_type_scope(kind)
        for kind in ("functional", "subclass", "sequential")
        if kind not in without
    }
    return _in_each_way(test_or_class, ways)


def run_all_keras_modes(
    test_or_class: Any = None, config: Any = None, always_skip_v1: bool = False, always_skip_eager: bool = False
) -> Any:
    """Decorator of a test, or of a class of them: it runs in a session, eagerly, and eagerly with models that train in
    functions, of their own graph or traced.
    """
    ways: dict[str, _Way] = {"v2_function": _eager(False, True), "v2_funcgraph": _eager(False, False)}
    if not always_skip_eager:
        ways["v2_eager"] = _eager(True, True)
    if not always_skip_v1 and not version_mark.enabled():
        ways["v1_session"] = functools.partial(_in_a_session, config)
    return _in_each_way(test_or_class, ways)


def _eager(run_eagerly: bool, run_tf_function: bool) -> _Way:
    @contextlib.contextmanager
    def way(test: Any) -> Iterator[None]:
        with eager_mode(), scopes.run_eagerly_scope(run_eagerly):
            with scopes.experimental_run_tf_function_scope(run_tf_function):
                yield

    return way


@contextlib.contextmanager
def _in_a_session(config: Any, test: Any) -> Iterator[None]:
    graph = Graph()
    graph.seed = DEFAULT_GRAPH_SEED
    with graph.as_default(), scopes.run_eagerly_scope(False), scopes.experimental_run_tf_function_scope(False):
        with test.test_session(use_gpu=True, config=config):
            yield


def _in_each_way(test_or_class: Any, ways: dict[str, _Way]) -> Any:
    """A decorator of tests and classes of them, or what it makes of `test_or_class`."""

    def decorate(decorated: Any) -> Any:
        if not isinstance(decorated, type):
            return _Ways(decorated, ways)
        for name, value in list(vars(decorated).items()):
            if name.startswith("test") and isinstance(value, types.FunctionType):
                _Ways(value, ways).__set_name__(decorated, name)
        return decorated

    return decorate if test_or_class is None else decorate(test_or_class)


class _Ways:
    """Stands for a test method, or for one with several parameters, until its class is made."""

    def __init__(self, tests: Callable | Iterable[Callable], ways: dict[str, _Way]) -> None:
        self._tests, self._ways = tests, ways

    def methods(self, name: str) -> Iterator[Callable]:
        """A method for each test and way, by its name."""
        if isinstance(self._tests, _Ways):
            tests: Iterable[Callable] = list(self._tests.methods(name))
        else:
            tests = list(self._tests) if isinstance(self._tests, Iterable) else [self._tests]
        for test in tests:
            for suffix, way in self._ways.items():
                yield _in_context(test, way, f"{test.__name__}_{suffix}")

    def __set_name__(self, owner: type, name: str) -> None:
        delattr(owner, name)
        for method in self.methods(name):
            setattr(owner, method.__name__, method)


def _in_context(test: Callable, way: _Way, name: str) -> Callable:
    @functools.wraps(test)
    def method(self: Any, *args: Any, **kwargs: Any) -> None:
        with way(self):
            test(self, *args, **kwargs)

    method.__name__ = name
    return method
