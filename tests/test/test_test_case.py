"""tf.test.TestCase, through a program's eyes."""

import contextlib
import os
import subprocess
import sys

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.protos import test_log_pb2
from everflow.test import gradient_checker_v2


class Case(tf.test.TestCase):
    __test__ = False  # run below, a method at a time

    def runTest(self):
        pass


@pytest.fixture
def case():
    case = Case()
    case.setUp()
    yield case
    case.tearDown()


@pytest.mark.parametrize(
    "method, args",
    [
        ("assertAllClose", ([1.0, 2.0], [1.0, 2.0000001])),
        ("assertAllClose", ({"a": 1.0, "b": [1, 2]}, {"a": 1.0, "b": [1, 2]})),
        ("assertAllClose", ([(1.0, np.ones(2))], [(1.0, np.ones(2))])),
        ("assertAllClose", ([[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.0]])),
        ("assertAllCloseAccordingToType", (np.float16(1), np.float16(1.0005))),
        ("assertAllEqual", ([float("nan")], [float("nan")])),
        ("assertAllEqual", ([b"a"], [b"a"])),
        ("assertAllInRange", ([1, 2], 1, 2)),
        ("assertAllInSet", ([1, 2], {1, 2, 3})),
        ("assertAllGreater", ([1, 2], 0)),
        ("assertNear", (1.0, 1.01, 0.1)),
        ("assertNear", (np.array([1.0]), 1.01, 0.1)),
        ("assertArrayNear", ([1.0, 2.0], [1.0, 2.0], 0.1)),
        ("assertDeviceEqual", ("/device:CPU:0", "/cpu:0")),
        ("assertProtoEquals", ('name: "a"', tf.NodeDef(name="a"))),
        ("assertItemsEqual", ([1, 2], [2, 1])),
        ("assertNotAllEqual", ([1], [2])),
    ],
)
def test_holds(case, method, args):
    getattr(case, method)(*args)


@pytest.mark.parametrize(
    "method, args",
    [
        ("assertAllClose", ([1.0, 2.0], [1.0, 2.1])),
        ("assertAllClose", ([1.0, 2.0], [1.0])),
        ("assertAllClose", ({"a": 1.0}, {"b": 1.0})),
        ("assertNotAllClose", ([1.0], [1.0])),
        ("assertAllEqual", ([1, 2], [1, 3])),
        ("assertAllEqual", ([b"a"], ["a"])),
        ("assertAllInRange", ([1, 2], 1, 2, False, True)),
        ("assertAllInSet", ([1, 5], {1, 2, 3})),
        ("assertAllGreater", ([1, 2], 1)),
        ("assertNear", (1.0, 1.5, 0.1)),
        ("assertNear", (np.array([1.0]), 1.5, 0.1)),
        ("assertDeviceEqual", ("/device:CPU:0", "/cpu:1")),
        ("assertDTypeEqual", (np.zeros(2, np.float32), np.float64)),
        ("assertProtoEquals", ('name: "b"', tf.NodeDef(name="a"))),
    ],
)
def test_fails(case, method, args):
    with pytest.raises(AssertionError):
        getattr(case, method)(*args)


def test_sessions(case):
    graph = tf.get_default_graph()
    assert graph.seed == 87654321
    with case.test_session() as first:
        assert first.graph is graph and tf.constant(1.0).device == "/device:CPU:0"
    with case.cached_session(use_gpu=True) as again:
        assert again is first and tf.constant(1.0).device == ""
    with case.session() as other:
        assert other is not first
    with case.session(graph=tf.Graph()) as another:
        assert tf.get_default_graph() is another.graph
    assert case.evaluate({"a": tf.constant(2)}) == {"a": 2}
    case.assertAllEqual(tf.constant([1, 2]), [1, 2])
    case.assertShapeEqual(np.zeros(2), tf.constant([1, 2]))


def test_random_numbers_start_anew(case):
    assert np.random.rand() == pytest.approx(0.18463433217903202)


def test_exceptions(case):
    with case.assertRaisesOpError("x"):
        raise tf.errors.InvalidArgumentError(None, None, "has x")
    with pytest.raises(AssertionError), case.assertRaisesWithPredicateMatch(ValueError, lambda e: "q" in str(e)):
        raise ValueError("z")
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError("x"):
        pass


def test_threads(case):
    thread = case.checkedThread(target=lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="division by zero"):
        thread.join()


def test_captured_writes(case, capfd):
    with case.captureWritesToStream(sys.stderr) as captured:
        sys.stderr.write("hello")
        assert captured.contents() == "hello"


def test_temp_dir(case):
    assert case.get_temp_dir() == case.get_temp_dir()
    assert tf.test.get_temp_dir() == tf.test.get_temp_dir()


def test_graph_defs():
    one, two = tf.GraphDef(), tf.GraphDef()
    one.node.add(name="a", op="b", input=["^y", "^x"])
    two.node.add(name="a", op="b", input=["^x", "^y"])
    tf.test.assert_equal_graph_def(one, two)
    two.node[0].op = "c"
    with pytest.raises(AssertionError, match="not expected 'c'"):
        tf.test.assert_equal_graph_def(one, two)
    with pytest.raises(TypeError):
        tf.test.assert_equal_graph_def(one, 3)


def test_stubs():
    class Thing:
        value = 1

    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(Thing, "value", 2)
        stubs.SmartSet(np, "zeros", None)
        assert Thing.value == 2 and np.zeros is None
    assert Thing.value == 1 and np.zeros is not None


def test_gradients_against_numbers():
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        y = tf.square(x)
        theoretical, numerical = tf.test.compute_gradient(
            x, [2, 2], y, [2, 2], x_init_value=np.ones([2, 2], np.float32)
        )
        np.testing.assert_allclose(theoretical, 2 * np.eye(4))
        np.testing.assert_allclose(numerical, 2 * np.eye(4), atol=1e-3)
        assert isinstance(tf.test.compute_gradient([x], [[2, 2]], y, [2, 2]), list)
        assert tf.test.compute_gradient_error(x, [2, 2], y, [2, 2]) < 1e-2
        z = tf.constant([1 + 2j])
        theoretical, _ = tf.test.compute_gradient(z, [1], z * z, [1], x_init_value=np.array([1 + 2j]))
        np.testing.assert_allclose(theoretical, [[2, 4], [-4, 2]])


def test_what_this_installation_can_do():
    assert tf.test.is_gpu_available() == bool(tf.test.gpu_device_name())
    assert isinstance(tf.test.is_built_with_cuda(), bool)


def test_benchmark():
    class Adding(tf.test.Benchmark):
        def benchmark_add(self):
            with tf.Graph().as_default(), tf.Session() as sess:
                return self.run_op_benchmark(sess, tf.constant(1.0), min_iters=3, mbs=1)

    found = Adding().benchmark_add()
    assert (
        found["name"] == "Adding.benchmark_add"
        and found["iters"] == 3
        and found["wall_time"] > 0
        and found["throughput"] > 0
    )
    assert tf.test.Benchmark.is_abstract() and not Adding.is_abstract()


def test_a_difference_is_shown_where_it_is(case):
    with pytest.raises(
        AssertionError, match=r"a\[a\]\[1\] is different from b\[a\]\[1\](.|\n)*not close where = \(array\(\[0\]\),\)"
    ):
        case.assertAllClose({"a": [[1.0], [2.0, 3.0]]}, {"a": [[1.0], [2.5, 3.0]]})
    with pytest.raises(AssertionError, match=r"not equal lhs = \[4\]"):
        case.assertAllEqual([[1, 2], [3, 4]], [[1, 2], [3, 5]])
    with pytest.raises(AssertionError, match=r"\[1 0\] : 9"):
        case.assertAllInRange([[1, 2], [9, 4]], 0, 5)


def test_benchmarks_of_a_program(tmp_path):
    program = tmp_path / "bench.py"
    program.write_text(
        "import everflow as tf\n"
        "class Bench(tf.test.Benchmark):\n"
        "    def benchmark_one(self):\n"
        "        self.report_benchmark(iters=2, wall_time=0.5, extras={'kind': 'fast', 'size': 3})\n"
        "    def benchmark_two(self):\n"
        "        raise ValueError\n"
        "tf.test.main()\n"
    )
    done = subprocess.run(
        [sys.executable, str(program), "--benchmarks=Bench.*one"], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout.split()
        == (
            'entry { name: "Bench.benchmark_one" iters: 2 wall_time: 0.5 '
            'extras { key: "kind" value { string_value: "fast" } } extras { key: "size" value { double_value: 3.0 } } }'
        ).split()
    )


def test_benchmarks_report_to_files(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", str(tmp_path / "report_"))

    class Rates(tf.test.Benchmark):
        def benchmark_rate(self):
            metrics = [{"name": "rate", "value": 2.5, "min_value": 1.0}]
            self.report_benchmark(iters=3, extras={"size": 7}, metrics=metrics, name="a/b")

    Rates().benchmark_rate()
    written = test_log_pb2.BenchmarkEntries.FromString((tmp_path / "report_Rates.a__b").read_bytes())
    (entry,) = written.entry
    assert (entry.name, entry.iters, entry.extras["size"].double_value) == ("Rates.a/b", 3, 7.0)
    assert entry.metrics[0].min_value.value == 1.0 and not entry.metrics[0].HasField("max_value")
    with pytest.raises(OSError, match="reported already"):
        Rates().benchmark_rate()


@pytest.mark.parametrize("eager", [False, True])
def test_gradients_of_a_function(eager):
    def f(a, b):
        return tf.reduce_sum(a * b, 0)

    with eager_mode() if eager else tf.Graph().as_default(), contextlib.nullcontext() if eager else tf.Session():
        x = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0], [6.0]])]
        theoretical, numerical = tf.compat.v2.test.compute_gradient(f, x)
        np.testing.assert_allclose(theoretical[0], [[5, 0], [0, 5], [6, 0], [0, 6]])
        np.testing.assert_allclose(theoretical[1], [[1, 2], [3, 4]])
        assert gradient_checker_v2.max_error(theoretical, numerical) < 1e-6
        with pytest.raises(AssertionError, match="int32 of argument 0"):
            tf.compat.v2.test.compute_gradient(tf.square, [np.int32([1])])
        with pytest.raises(ValueError, match="must be a list"):
            tf.compat.v2.test.compute_gradient(tf.square, np.float32([1]))


def test_evaluating_eagerly():
    with eager_mode():
        case = Case()
        assert case.evaluate({"a": lambda: tf.constant(3), "b": [tf.Variable(2.0), None]}) == {"a": 3, "b": [2.0, None]}
        sparse = case.evaluate(tf.SparseTensor([[0]], [1], [2]))
        assert isinstance(sparse, tf.SparseTensorValue) and sparse.values.tolist() == [1]
        assert case.evaluate(tf.ragged.constant([[1], [2, 3]])).to_list() == [[1], [2, 3]]
        with pytest.raises(ValueError, match="int"):
            case.evaluate(3)


def test_ragged_values_are_compared_as_lists(case):
    with tf.Graph().as_default(), case.session():
        rows = tf.ragged.constant([[1, 2], [], [3]])
        case.assertAllEqual(rows, [[1, 2], [], [3]])
        case.assertAllEqual([[1, 2], [], [3]], case.evaluate(rows))
        case.assertAllEqual(rows, tf.ragged.constant([[1, 2], [], [3]], row_splits_dtype=tf.int32))
        case.assertAllClose(rows, rows)
        case.assertNotAllEqual(rows, [[1, 2], [], [4]])
        case.assertAllEqual(tf.ragged.constant([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
        for other in ([[1, 2], []], [[1, 2], [], [3, 4]], np.array([[1, 2], [3, 4]]), 3):
            with pytest.raises(AssertionError):
                case.assertAllEqual(rows, other)
        with pytest.raises(AssertionError):
            case.assertAllClose(tf.ragged.constant([[1.0], [2.0]]), [[1.0], [2.1]])


def test_lists_of_uneven_rows_are_compared(case):
    case.assertAllEqual([[1, 2], [], [3]], [[1, 2], [], [3]])
    with pytest.raises(AssertionError):
        case.assertAllEqual([[1, 2], [], [3]], [[1, 2], [4], [3]])


def test_what_was_captured_stays(capfd):
    case = tf.test.TestCase()
    with case.captureWritesToStream(sys.stdout) as captured:
        os.write(sys.stdout.fileno(), b"one ")
        assert captured.contents() == "one "
        os.write(sys.stdout.fileno(), b"two")
    assert captured.contents() == "one two"


def test_lists_of_tensors_are_compared_as_objects(case):
    with tf.Graph().as_default():
        a, b = tf.zeros([2]), tf.zeros([3])
        case.assertAllEqual((a, b), [a, b])
        with pytest.raises(AssertionError):
            case.assertAllEqual([a], [[0.0, 0.0]])
