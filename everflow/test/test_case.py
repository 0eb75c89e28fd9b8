"""tf.test.TestCase: unittest with sessions, and assertions on arrays, tensors and messages."""

from __future__ import annotations

import contextlib
import os
import random
import re
import tempfile
import threading

import numpy as np
from absl.testing import absltest
from google.protobuf import text_format

from everflow.framework import errors, nest
from everflow.framework.devices import canonical_name
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, get_default_session, has_default_graph, reset_default_graph
from everflow.framework.seeds import set_random_seed
from everflow.protos import config_pb2, graph_pb2
from everflow.runtime.session import Session
from everflow.test.environment import gpu_device_name

_SEED = 87654321
_GRAPH_DEF_VERSION = 134


class _CheckedThread:
    """A thread whose failure fails the test that joins it."""

    def __init__(self, testcase, target, args=None, kwargs=None):
        self._testcase = testcase
        self._error = None
        self._joined = False

        def run():
            try:
                target(*(args or ()), **(kwargs or {}))
            except Exception as e:
                self._error = e

        self._thread = threading.Thread(target=run)

    def start(self):
        self._thread.start()

    def is_alive(self):
        return self._thread.is_alive()

    def check_termination(self):
        """Fail the test where nobody joined the thread."""
        if not self._joined:
            self._testcase.fail(
                "A checked thread was not joined." if self._thread.is_alive() else "A checked thread was not joined, though it ended."
            )

    def join(self):
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._testcase.fail(f"Error in checkedThread: {self._error}")


class TestCase(absltest.TestCase):
    """A test case with a fresh default graph and seeded random numbers for each test."""

    def __init__(self, methodName="runTest"):
        super().__init__(methodName)
        self._threads = []
        self._tempdir = None
        self._cached_session = None

    def setUp(self):
        super().setUp()
        self._close_cached_session()
        random.seed(_SEED)
        np.random.seed(_SEED)
        # `run_in_graph_and_eager_modes` has entered a new one.
        if not (executing_eagerly() and has_default_graph()):
            reset_default_graph()
        set_random_seed(_SEED)

    def tearDown(self):
        for thread in self._threads:
            thread.check_termination()
        self._close_cached_session()
        super().tearDown()

    def _close_cached_session(self):
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    def get_temp_dir(self):
        """A directory of this test's own, the same at every call in it."""
        if self._tempdir is None:
            self._tempdir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        return self._tempdir

    # --- sessions

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A new session on `graph` or the default one, closed at the end. Without `use_gpu`, what is drawn in it is put on the CPU."""
        if executing_eagerly():
            yield None
            return
        with self._new_session(graph, config) as sess, self._constrained(sess, use_gpu, force_gpu):
            yield sess

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """The test's own session: the same one at every call, open until the test ends."""
        if executing_eagerly():
            yield None
            return
        if self._cached_session is None:
            self._cached_session = self._new_session(graph, config)
        elif graph is not None and graph is not self._cached_session.graph:
            raise ValueError("The graph used to get the cached session is different than the one that was used to create the session.")
        with self._cached_session.graph.as_default(), self._cached_session.as_default():
            with self._constrained(self._cached_session, use_gpu, force_gpu):
                yield self._cached_session

    def test_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """The older way: `cached_session` without a graph, a new session with one."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return (self.cached_session if graph is None else self.session)(graph, config, use_gpu, force_gpu)

    @staticmethod
    def _new_session(graph, config):
        if config is None:
            config = config_pb2.ConfigProto(allow_soft_placement=True)
        return Session(graph=graph, config=config)

    @staticmethod
    @contextlib.contextmanager
    def _constrained(sess, use_gpu, force_gpu):
        with sess.graph.as_default():
            if force_gpu:
                name = gpu_device_name()
                if not name:
                    raise ValueError("force_gpu, but there is no GPU")
                with sess.graph.device(name):
                    yield
            elif use_gpu:
                yield
            else:
                with sess.graph.device("/device:CPU:0"):
                    yield

    def evaluate(self, tensors):
        """The values of a structure of tensors."""
        if executing_eagerly():
            return nest.map_structure(lambda t: t.numpy() if hasattr(t, "numpy") else t, tensors)
        sess = get_default_session()
        if sess is None:
            with self.test_session() as sess:
                return sess.run(tensors)
        return sess.run(tensors)

    def checkedThread(self, target, args=None, kwargs=None):
        """A thread that must be joined, and fails the test where it fails."""
        thread = _CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream):
        """What is written to a stream such as sys.stderr, also by code that isn't Python: `.contents()` gives it."""
        saved = os.dup(stream.fileno())
        with tempfile.TemporaryFile() as kept:
            stream.flush()
            os.dup2(kept.fileno(), stream.fileno())
            try:
                yield _Captured(stream, kept)
            finally:
                stream.flush()
                os.dup2(saved, stream.fileno())
                os.close(saved)

    # --- arrays

    def _array(self, a):
        if isinstance(a, Tensor) or hasattr(a, "_as_graph_element"):
            a = self.evaluate(a)
        return a if isinstance(a, np.ndarray) else np.array(a)

    def _checked_shapes(self, a, b, msg):
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape} with contents {b}. {msg or ''}")
        return a, b

    def _show_difference(self, a, b, wrong, msg, words):
        where = np.where(wrong) if a.ndim else ()
        lines = [words, f"first values: {a[where] if a.ndim else a}", f"second values: {b[where] if b.ndim else b}", f"where: {where}"]
        raise AssertionError("\n".join([*lines, msg or ""]))

    def _close_arrays(self, a, b, rtol, atol, msg):
        a, b = self._checked_shapes(a, b, msg)
        if any(x.dtype == np.float16 for x in (a, b)):
            rtol, atol = max(rtol, 1e-3), max(atol, 1e-3)
        if any(x.dtype.name == "bfloat16" for x in (a, b)):
            rtol, atol = max(rtol, 1e-2), max(atol, 1e-2)
            a, b = a.astype(np.float32), b.astype(np.float32)
        close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        if not close.all():
            self._show_difference(a, b, ~close, msg, f"Not equal to tolerance rtol={rtol}, atol={atol}")

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """That two arrays, tensors, or structures of them agree within |a - b| <= atol + rtol * |b|."""
        if isinstance(a, dict) or isinstance(b, dict):
            self.assertIsInstance(b, type(a) if isinstance(a, dict) else dict, msg)
            self.assertCountEqual(a.keys(), b.keys(), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"at {key!r}. {msg or ''}")
        elif isinstance(a, list | tuple) and _is_ragged(a):
            self.assertEqual(len(a), len(b), msg)
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self.assertAllClose(x, y, rtol, atol, f"at [{i}]. {msg or ''}")
        else:
            self._close_arrays(a, b, rtol, atol, msg)

    def assertAllCloseAccordingToType(
        self,
        a,
        b,
        rtol=1e-6,
        atol=1e-6,
        float_rtol=1e-6,
        float_atol=1e-6,
        half_rtol=1e-3,
        half_atol=1e-3,
        bfloat16_rtol=1e-2,
        bfloat16_atol=1e-2,
        msg=None,
    ):
        """As assertAllClose, with a tolerance for each precision."""
        a, b = self._array(a), self._array(b)
        by_type = [
            (("float32", "complex64"), float_rtol, float_atol),
            (("float16",), half_rtol, half_atol),
            (("bfloat16",), bfloat16_rtol, bfloat16_atol),
        ]
        for names, type_rtol, type_atol in by_type:
            if {a.dtype.name, b.dtype.name} & set(names):
                rtol, atol = max(rtol, type_rtol), max(atol, type_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a, b, **kwargs):
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertAllEqual(self, a, b, msg=None):
        """That two arrays or tensors have the same shape and values; NaNs are equal here."""
        a, b = self._checked_shapes(a, b, msg)
        same = np.asarray(a == b)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = same | (np.isnan(a) & np.isnan(b))
        if not same.all():
            self._show_difference(a, b, ~same, msg, "Arrays are not equal")

    def assertNotAllEqual(self, a, b, msg=None):
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllGreater(self, a, comparison_target):
        self.assertGreater(np.min(self._array(a)), comparison_target)

    def assertAllLess(self, a, comparison_target):
        self.assertLess(np.max(self._array(a)), comparison_target)

    def assertAllGreaterEqual(self, a, comparison_target):
        self.assertGreaterEqual(np.min(self._array(a)), comparison_target)

    def assertAllLessEqual(self, a, comparison_target):
        self.assertLessEqual(np.max(self._array(a)), comparison_target)

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):
        """That all elements lie between two bounds; an open bound itself is outside."""
        target = self._array(target)
        low = target <= lower_bound if open_lower_bound else target < lower_bound
        high = target >= upper_bound if open_upper_bound else target > upper_bound
        outside = low | high | np.isnan(target)
        if outside.any():
            where = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"
            raise AssertionError(f"{outside.sum()} of the {target.size} element(s) are outside the range {where}: {target[outside]}")

    def assertAllInSet(self, target, expected_set):
        absent = [value for value in np.unique(self._array(target)).tolist() if value not in expected_set]
        if absent:
            raise AssertionError(f"{len(absent)} unique element(s) are not in the set {expected_set}: {absent}")

    def assertNear(self, f1, f2, err, msg=None):
        """That two numbers differ by `err` at most."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1:f} != {f2:f} +/- {err:f}{f' ({msg})' if msg is not None else ''}")

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """That two arrays differ by `err` at most, in the Euclidean norm."""
        self.assertTrue(np.linalg.norm(ndarray1 - ndarray2) < err, msg)

    def assertDTypeEqual(self, target, expected_dtype):
        found = target.dtype if hasattr(target, "dtype") else self._array(target).dtype
        self.assertEqual(found, expected_dtype)

    def assertShapeEqual(self, np_array, tf_tensor, msg=None):
        """That an array and a tensor have the same static shape."""
        if not isinstance(np_array, np.ndarray | np.generic):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    # --- devices, messages, errors

    def assertDeviceEqual(self, device1, device2, msg=None):
        device1, device2 = canonical_name(device1), canonical_name(device2)
        self.assertEqual(device1, device2, f"Devices {device1} and {device2} are not equal. {msg or ''}")

    def assertProtoEquals(self, expected_message_maybe_ascii, message, msg=None):
        """That a message equals another, or one written as text."""
        expected = expected_message_maybe_ascii
        if not isinstance(expected, type(message)):
            if not isinstance(expected, str):
                self.fail(f"Can't compare protos of type {type(expected)} and {type(message)}. {msg or ''}")
            expected = text_format.Parse(expected, type(message)())
        if expected != message:
            self.assertMultiLineEqual(str(expected), str(message), msg=msg)

    def assertProtoEqualsVersion(self, expected, actual, producer=_GRAPH_DEF_VERSION, min_consumer=0, msg=None):
        """As assertProtoEquals for a GraphDef, with versions added to what is expected."""
        wanted = text_format.Parse(expected, graph_pb2.GraphDef()) if isinstance(expected, str) else expected
        wanted.versions.producer, wanted.versions.min_consumer = producer, min_consumer
        self.assertProtoEquals(wanted, actual, msg=msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """That the block raises an exception that a predicate accepts, or whose message a regular expression finds."""
        wanted = expected_err_re_or_predicate
        try:
            yield
        except Exception as e:
            if not isinstance(e, exception_type):
                raise AssertionError(f"Exception of type {type(e)}: {e}") from e
            message = e.message if isinstance(e, errors.OpError) else str(e)
            if not (wanted(e) if callable(wanted) else re.search(wanted, message)):
                raise AssertionError(f"Exception of type {type(e)}: {e}") from e
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertItemsEqual(self, first, second, msg=None):
        """The older name of assertCountEqual."""
        self.assertCountEqual(first, second, msg)

    # Older names that Python 3.12 took out of unittest.
    assertEquals = absltest.TestCase.assertEqual
    assertNotEquals = absltest.TestCase.assertNotEqual
    assertAlmostEquals = absltest.TestCase.assertAlmostEqual
    assertNotAlmostEquals = absltest.TestCase.assertNotAlmostEqual
    assertRegexpMatches = absltest.TestCase.assertRegex
    assertNotRegexpMatches = absltest.TestCase.assertNotRegex
    assertRaisesRegexp = absltest.TestCase.assertRaisesRegex
    assert_ = absltest.TestCase.assertTrue


class _Captured:
    def __init__(self, stream, kept):
        self._stream = stream
        self._kept = kept

    def contents(self):
        """What was written so far, as text."""
        self._stream.flush()
        self._kept.flush()
        self._kept.seek(0)
        return self._kept.read().decode()


def _is_ragged(values) -> bool:
    """Whether a list can't be one array: its parts have different shapes, or are structures themselves."""
    if any(isinstance(v, dict) for v in values):
        return True
    if any(isinstance(v, Tensor) for v in values):
        return True
    try:
        return np.array(values).dtype == object
    except ValueError:
        return True
