"""Decorators of tests, as tensorflow.python.framework.test_util has them, and the checks beside them."""

import unittest

import pytest

import everflow as tf
from everflow.test import graph_comparison, hardware, modes


class Case(tf.test.TestCase):
    __test__ = False

    def runTest(self):
        pass

    def testMode(self):
        self.seen.append(tf.executing_eagerly())


def _case(**methods):
    case = type("Case", (Case,), methods)()
    case.seen = []
    case.setUp()
    return case


def test_both_modes():
    case = modes.run_all_in_graph_and_eager_modes(type("Both", (Case,), {}))()
    case.seen = []
    case.setUp()
    case.testMode()
    assert case.seen == [False, True]


def test_a_function_too():
    case = _case(testMode=modes.also_run_as_tf_function(Case.testMode))
    case.testMode()
    assert case.seen == [True, False]


def test_graphs_only():
    decorated = modes.for_all_test_methods(modes.run_deprecated_v1)(type("Old", (Case,), {}))
    case = decorated()
    case.seen = []
    with modes.eager_mode():
        case.testMode()
    assert case.seen == [False]


def test_functional_control_flow_is_a_second_test():
    def testLoop(self):
        self.seen.append(tf.control_flow_v2_enabled())

    cls = modes.with_control_flow_v2(
        type("Loops", (Case,), {"testLoop": testLoop, "testMode": modes.disable_control_flow_v2("no")(Case.testMode)})
    )
    case = cls()
    case.seen = []
    case.testLoop()
    case.testLoopWithControlFlowV2()
    assert (
        case.seen == [False, True]
        and not hasattr(case, "testModeWithControlFlowV2")
        and not tf.control_flow_v2_enabled()
    )


def test_skipping():
    case = _case(
        testTwo=modes.run_v2_only(Case.testMode),
        testNot=modes.skip_if(lambda: True)(Case.testMode),
        testGpu=modes.run_gpu_only(Case.testMode),
    )
    with pytest.raises(unittest.SkipTest):
        case.testTwo()
    case.testNot()
    if not tf.test.is_gpu_available():
        with pytest.raises(unittest.SkipTest):
            case.testGpu()
        assert case.seen == []


def test_layouts_and_devices():
    assert hardware.NHWCToNCHW([1, 2, 3, 4]) == [1, 4, 2, 3] and hardware.NCHWToNHWC([1, 4, 2, 3]) == [1, 2, 3, 4]
    with tf.Graph().as_default() as graph:
        x = tf.zeros([1, 2, 3, 8])
        there = hardware.NHWCToNCHW_VECT_C(x)
        assert there.shape == [1, 2, 2, 3, 4] and hardware.NCHW_VECT_CToNHWC(there).shape == x.shape
        with hardware.force_cpu():
            assert tf.constant(1, name="c").device == "/device:CPU:0"
        assert list(graph_comparison.assert_ops_in_graph({"c": "Const"}, graph)) == ["c"]
        for wrong in ({"c": "Add"}, {"d": "Const"}):
            with pytest.raises(ValueError):
                graph_comparison.assert_ops_in_graph(wrong, graph)


def test_names_of_combinations():
    assert [c["testcase_name"] for c in hardware.generate_combinations_with_testcase_name(a=[1, 2], b=["x"])] == [
        "_test_a_1_b_x",
        "_test_a_2_b_x",
    ]


def _seen_by(decorate):
    """What a case saw of its graphs, in setUp and in its tests."""
    seen = []

    class Graphs(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            self.graph = tf.get_default_graph()
            seen.append("setUp")

        def testGraph(self):
            seen.append((tf.executing_eagerly(), tf.get_default_graph() is self.graph))

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(decorate(Graphs)).run(result)
    assert result.wasSuccessful()
    return seen


def test_both_modes_go_on_in_the_graph_of_set_up():
    assert _seen_by(modes.run_all_in_graph_and_eager_modes) == ["setUp", (False, True), "setUp", (True, True)]


def test_the_method_that_only_sounds_like_a_test_is_skipped_before_set_up_is_done():
    assert _seen_by(lambda case: case) == ["setUp", (False, True)]
