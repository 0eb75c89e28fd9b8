"""Decorators that say in which mode a test runs: drawing graphs, executing eagerly, both, or in traced functions."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import unittest

from absl.testing import parameterized

from everflow.eager import version_mark
from everflow.eager.mode import eager_mode
from everflow.framework.graph import Graph
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.ops.control_flow import switches
from everflow.ops.functions.python import py_func
from everflow.ops.functions.traced import function
from everflow.test.environment import SEED, is_gpu_available

_NO_TESTS = ("test_session", "testSkipEager")


def run_in_graph_and_eager_modes(func=None, config=None, use_gpu=True, reset_test=True, assert_no_eager_garbage=False):
    """Run a test method in a graph, with the test's session as the default one, then again executing eagerly.

    `reset_test` runs tearDown and setUp in between. `assert_no_eager_garbage` is for leaks of TensorFlow's own that
    can't happen here.

    >>> class MyTest(tf.test.TestCase):
    ...     @tf.contrib.eager.run_test_in_graph_and_eager_modes
    ...     def test_sum(self):
    ...         self.assertAllEqual(self.evaluate(tf.constant(1) + 1), 2)
    """

    def decorator(method):
        if isinstance(method, type):
            raise ValueError(
                f"run_in_graph_and_eager_modes decorates a test; for all those of {method.__name__} take run_all_in_graph_and_eager_modes."
            )

        @functools.wraps(method)
        def twice(self, *args, **kwargs):
            with (
                _drawing(),
                self.test_session(use_gpu=use_gpu, config=config),
                contextlib.suppress(unittest.SkipTest),  # what a graph can't do may be done eagerly
            ):
                method(self, *args, **kwargs)
            if reset_test:
                self.tearDown()
                self._tempdir = None
            with Graph().as_default(), eager_mode():
                if reset_test:
                    self.setUp()
                method(self, *args, **kwargs)

        return twice

    return decorator if func is None else decorator(func)


def _drawing():
    """The test's default graph; a new one where it executes eagerly."""
    if not executing_eagerly():
        return contextlib.nullcontext()
    graph = Graph()
    graph.seed = SEED
    return graph.as_default()


def for_all_test_methods(decorator, *args, **kwargs):
    """A decorator of a class that decorates each of its test methods with `decorator(*args, **kwargs)`."""

    def decorate(cls):
        for name, method in _tests_of(cls):
            setattr(cls, name, decorator(*args, **kwargs)(method))
        return cls

    return decorate


def run_all_in_graph_and_eager_modes(cls):
    """Decorate every test method of a class with `run_in_graph_and_eager_modes`."""
    return _each_test(cls, run_in_graph_and_eager_modes)


def _tests_of(cls):
    return [
        (name, getattr(cls, name))
        for name in dir(cls)
        if name.startswith("test") and name not in _NO_TESTS and callable(getattr(cls, name))
    ]


def _each_test(cls, decorator):
    for name, method in _tests_of(cls):
        setattr(cls, name, decorator(method))
    return cls


def _of_tests(decorator):
    """Let a decorator of test methods also decorate classes, and be used with or without a call."""

    @functools.wraps(decorator)
    def for_both(func=None):
        if func is None:
            return for_both
        return _each_test(func, decorator) if isinstance(func, type) else decorator(func)

    del for_both.__wrapped__  # its signature is its own
    return for_both


@_of_tests
def deprecated_graph_mode_only(method):
    """Run a test drawing graphs, whatever the mode of the program."""

    @functools.wraps(method)
    def drawing(self, *args, **kwargs):
        with _drawing():
            return method(self, *args, **kwargs)

    return drawing


@_of_tests
def run_deprecated_v1(method):
    """Where TensorFlow 2's behaviour is asked for, run a test drawing graphs all the same."""
    drawing = deprecated_graph_mode_only(method)

    @functools.wraps(method)
    def run(self, *args, **kwargs):
        return (drawing if version_mark.enabled() else method)(self, *args, **kwargs)

    return run


def run_v1_only(reason, func=None):
    """Skip a test, or all of a class with its `setUp` and `tearDown`, where TensorFlow 2's behaviour is asked for.

    `reason` says why it wouldn't work.
    """
    if not isinstance(reason, str):
        raise ValueError(f"'reason' should be string, got {type(reason)}")

    def decorator(f):
        if not isinstance(f, type):
            return _skipped_where(version_mark.enabled, reason, f)
        for name in ("setUp", "tearDown"):
            setattr(f, name, decorator(getattr(f, name)))
        return _each_test(f, decorator)

    return decorator if func is None else decorator(func)


def run_v2_only(func=None):
    """Skip a test where TensorFlow 2's behaviour isn't asked for."""

    def decorator(method):
        if isinstance(method, type):
            raise ValueError(f"run_v2_only decorates tests, not a class: {method.__name__}")
        return _skipped_where(lambda: not version_mark.enabled(), "Test is only compatible with v2", method)

    return decorator if func is None else decorator(func)


def _skipped_where(is_so, reason, method):
    @functools.wraps(method)
    def run(self, *args, **kwargs):
        if is_so():
            self.skipTest(reason)
        return method(self, *args, **kwargs)

    return run


def also_run_as_tf_function(f):
    """Run a test executing eagerly, then once more inside a traced function."""

    @functools.wraps(f)
    def both(*args, **kwargs):
        with eager_mode():
            f(*args, **kwargs)
            function(lambda: f(*args, **kwargs), autograph=False)()

    return both


def py_func_if_in_function(f):
    """A function of arrays that also takes tensors of a function that is being traced: there it becomes a py_func."""

    @functools.wraps(f)
    def called(*args, **kwargs):
        if not get_default_graph().building_function:
            return f(*args, **kwargs)
        places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]

        def with_arrays(*arrays):
            filled = list(args)
            for i, array in zip(places, arrays, strict=True):
                filled[i] = array
            f(*filled, **kwargs)

        return py_func(with_arrays, [args[i] for i in places], [])

    return called


# --- control flow -------------------------------------------------------------------------------


_AS_IT_IS = "_disable_control_flow_v2"  # the mark of a test, also of one that TensorFlow's own decorator marked


def enable_control_flow_v2(fn):
    """Run a test with `cond` and `while_loop` as functional ops."""

    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        before = switches.control_flow_v2_enabled()
        switches.enable_control_flow_v2()
        try:
            return fn(*args, **kwargs)
        finally:
            if not before:
                switches.disable_control_flow_v2()

    return wrapped


def enable_output_all_intermediates(fn):
    """Run a test with branches and loops that give out all that their derivatives may need."""

    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        before = switches._outputs_all_intermediates
        switches.set_output_all_intermediates(True)
        try:
            return fn(*args, **kwargs)
        finally:
            switches.set_output_all_intermediates(before)

    return wrapped


def disable_control_flow_v2(unused_msg):
    """Mark a test that `with_control_flow_v2` leaves as it is."""
    return _left_as_it_is


def _left_as_it_is(method):
    setattr(method, _AS_IT_IS, True)
    return method


def with_control_flow_v2(cls):
    """Add to each test of a class one with functional control flow, `NAMEWithControlFlowV2`."""
    if not switches.control_flow_v2_enabled():
        for name, method in _tests_of(cls):
            if not getattr(method, _AS_IT_IS, False):
                setattr(cls, name + "WithControlFlowV2", enable_control_flow_v2(method))
    return cls


def with_c_shapes(cls):
    """A class of tests as it is: there is one way to infer shapes."""
    return cls


def enable_tf_xla_constant_folding(description):
    """A decorator that leaves a test as it is: constants are folded in one way."""
    del description
    return lambda method: method


def build_as_function_and_v1_graph(func=None):
    """Run a test, with parameters, as many times as it can be drawn: in a graph, and in the body of a function.

    The class must be parameterized (absl's `parameterized.TestCase`).
    """

    def decorate(method):
        if isinstance(method, type):
            raise ValueError(f"build_as_function_and_v1_graph decorates a test, not the class {method.__name__}.")

        @parameterized.named_parameters(("_v1_graph", "v1_graph"), ("_function", "function"))
        @functools.wraps(method)
        def drawn(self, run_mode, *args, **kwargs):
            if run_mode == "v1_graph":
                with Graph().as_default():
                    method(self, *args, **kwargs)
                return

            @function
            def in_function():
                with self.subTest("in a function"):
                    method(self, *args, **kwargs)
                return 0

            with Graph().as_default():
                in_function()

        return drawn

    return decorate if func is None else decorate(func)


def enable_c_shapes(fn):
    """A test as it is: there is one way to infer shapes."""
    return fn


def InstallStackTraceHandler():
    """Have the stack of every thread printed when the process crashes."""
    faulthandler.enable()


def skip_if(condition):
    """Leave a test out where a condition, or what a function says, holds."""

    def decorate(method):
        @functools.wraps(method)
        def maybe(self, *args, **kwargs):
            if not (condition() if callable(condition) else condition):
                return method(self, *args, **kwargs)
            return None

        return maybe

    return decorate


def _skip_without(available, words):
    @_of_tests
    def decorator(method):
        @functools.wraps(method)
        def maybe(self, *args, **kwargs):
            if not available():
                raise unittest.SkipTest(words)
            return method(self, *args, **kwargs)

        return maybe

    return decorator


def _has_gpu(**kind):
    return is_gpu_available(**kind)


run_gpu_only = _skip_without(_has_gpu, "Test requires GPU")
run_cuda_only = _skip_without(functools.partial(_has_gpu, cuda_only=True), "Test requires CUDA GPU")
