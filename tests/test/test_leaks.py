"""Decorators of tests that leave nothing behind."""

import gc

import pytest

import everflow as tf
from everflow.test import graph_comparison, leaks, modes


@pytest.fixture(autouse=True)
def nothing_of_other_tests():
    """What other tests left in the process is of no interest, and takes long to look through."""
    gc.freeze()
    yield
    gc.unfreeze()


class _Test(tf.test.TestCase):
    def runTest(self):
        """There is none."""


def test_tensors_that_stay_are_found():
    kept = []

    @leaks.assert_no_new_tensors
    def tidy(self):
        tf.constant(1.0) + 1.0

    @leaks.assert_no_new_tensors
    def keeps(self):
        kept.append(tf.constant(1.0))

    tidy(_Test())
    with pytest.raises(AssertionError, match="1 tensors are alive"):
        keeps(_Test())


def test_cycles_are_found():
    @leaks.assert_no_garbage_created
    def cyclic(self):
        itself = []
        itself.append(itself)

    leaks.assert_no_garbage_created(lambda self: None)(_Test())
    with pytest.raises(AssertionError, match="cycles"):
        cyclic(_Test())


def test_objects_that_grow_are_found():
    kept = []

    @leaks.assert_no_new_pyobjects_executing_eagerly
    def tidy(self):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.exp(x) * x)
        tape.gradient(y, x)

    tidy(_Test())
    with pytest.raises(AssertionError, match="leave objects behind"):
        leaks.assert_no_new_pyobjects_executing_eagerly(lambda self: kept.append(_Test()))(_Test())


def test_meta_graphs_are_compared():
    def meta_graph(value):
        with tf.Graph().as_default() as graph:
            tf.add_to_collection("mine", tf.constant(value))
            graph_comparison.set_producer_version(graph, 12)
            return tf.train.export_meta_graph()

    first = meta_graph(1.0)
    assert first.graph_def.versions.producer == 12
    graph_comparison.assert_meta_graph_protos_equal(_Test(), first, meta_graph(1.0))
    with pytest.raises(AssertionError):
        graph_comparison.assert_meta_graph_protos_equal(_Test(), first, meta_graph(2.0))


def test_drawn_in_a_graph_and_in_a_function():
    from absl.testing import parameterized

    seen = []

    class Drawn(parameterized.TestCase):
        @modes.build_as_function_and_v1_graph
        def test_here(self):
            seen.append(tf.get_default_graph().building_function)

    for name in ("test_here_v1_graph", "test_here_function"):
        Drawn(name).debug()
    assert seen == [False, True]
