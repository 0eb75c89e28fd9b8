"""Decorators of tests, as tensorflow.python.framework.test_util has them, and the checks beside them."""

import contextlib
import unittest

import pytest

import everflow as tf
from everflow.eager import version_mark
from everflow.ops.control_flow import switches
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


@pytest.mark.parametrize(
    "decorator,two,eagerly",
    [
        (modes.deprecated_graph_mode_only, False, False),
        (modes.run_deprecated_v1, False, True),
        (modes.run_deprecated_v1, True, False),
    ],
)
def test_graphs_only(decorator, two, eagerly, monkeypatch):
    monkeypatch.setattr(version_mark, "_force_enable", two)
    case = modes.for_all_test_methods(decorator)(type("Old", (Case,), {}))()
    case.seen = []
    with modes.eager_mode():
        case.testMode()
    assert case.seen == [eagerly]


def test_what_a_graph_cant_do_is_done_eagerly_and_both_begin_with_the_same_seed():
    class Both(tf.test.TestCase):
        seen = []

        @modes.run_in_graph_and_eager_modes
        def testMode(self):
            if not tf.executing_eagerly():
                self.seen.append(tf.get_default_graph().seed)
                self.skipTest("not in graphs")
            self.seen.append("eager")

    assert Both("testMode").run().wasSuccessful() and Both.seen == [87654321, "eager"]


def test_sessions_when_executing_eagerly():
    case = tf.test.TestCase()
    with modes.eager_mode():
        with case.cached_session() as sess:
            assert sess.run([tf.constant(1), lambda: tf.constant(2)]) == [1, 2]
            with pytest.raises(RuntimeError, match="feed"):
                sess.run(tf.constant(1), feed_dict={"a": 1})
            with pytest.raises(RuntimeError, match="options"):
                sess.run(tf.constant(1), options=3)
        with case.session() as sess, pytest.raises(AttributeError, match="eagerly"):
            sess.run(tf.constant(1))


def test_a_cached_session_keeps_its_options():
    case = tf.test.TestCase()
    with tf.Graph().as_default():
        with case.cached_session():
            pass
        with pytest.raises(ValueError, match="was made with"), case.cached_session(config=tf.ConfigProto()):
            pass


def test_all_intermediates_on_demand():
    @modes.enable_output_all_intermediates
    def asked():
        return switches.output_all_intermediates()

    assert asked() and not switches.output_all_intermediates()


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


@pytest.fixture
def version_two(monkeypatch):
    monkeypatch.setattr(version_mark, "_force_enable", True)


def _outcome(decorator):
    """What a test and the `setUp` of a decorated class come to."""
    case = decorator(type("Case", (Case,), {"setUp": lambda self: self.seen.append("set up")}))()
    case.seen = []
    with contextlib.suppress(unittest.SkipTest):
        case.setUp()
    with contextlib.suppress(unittest.SkipTest):
        case.testMode()
    return case.seen


def test_tests_of_version_1():
    assert _outcome(modes.run_v1_only("no sessions")) == ["set up", False]
    with pytest.raises(ValueError, match="supports|decorates"):
        modes.run_v2_only(Case)


def test_tests_of_version_1_are_left_out_in_version_2(version_two):
    assert _outcome(modes.run_v1_only("no sessions")) == []
    case = _case(testTwo=modes.run_v2_only(Case.testMode))
    case.testTwo()
    assert len(case.seen) == 1


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
