"""Decorators that run a test twice: once drawing graphs, once executing eagerly."""

from __future__ import annotations

import functools

from everflow.eager.mode import eager_mode
from everflow.framework.graph import Graph


def run_in_graph_and_eager_modes(func=None, config=None, use_gpu=True, reset_test=True, assert_no_eager_garbage=False):
    """Run a test method in a graph, with the test's session as the default one, then again executing eagerly.

    `reset_test` runs tearDown and setUp in between. `assert_no_eager_garbage` is for leaks of TensorFlow's own that can't happen here.

    >>> class MyTest(tf.test.TestCase):
    ...     @tf.contrib.eager.run_test_in_graph_and_eager_modes
    ...     def test_sum(self):
    ...         self.assertAllEqual(self.evaluate(tf.constant(1) + 1), 2)
    """

    def decorator(method):
        if isinstance(method, type):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods. Did you mean `run_all_in_graph_and_eager_modes`?")

        @functools.wraps(method)
        def twice(self, *args, **kwargs):
            with Graph().as_default(), self.test_session(use_gpu=use_gpu, config=config):
                method(self, *args, **kwargs)
            if reset_test:
                self.tearDown()
                self._tempdir = None
            with eager_mode():
                if reset_test:
                    self.setUp()
                method(self, *args, **kwargs)

        return twice

    return decorator if func is None else decorator(func)


def run_all_in_graph_and_eager_modes(cls):
    """Decorate every test method of a class with `run_in_graph_and_eager_modes`."""
    for name in dir(cls):
        value = getattr(cls, name)
        if name.startswith("test") and callable(value) and name not in ("test_session", "testSkipEager"):
            setattr(cls, name, run_in_graph_and_eager_modes(value))
    return cls
