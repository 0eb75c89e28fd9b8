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
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.devices import canonical_name
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, get_default_session, has_default_graph, reset_default_graph
from everflow.framework.seeds import set_random_seed
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.protos import config_pb2, graph_pb2
from everflow.test.array_assertions import ArrayAssertions
from everflow.test.environment import SEED, get_temp_dir, gpu_device_name
from everflow.test.sessions import EagerSessionWarner, ErrorLoggingSession, FakeEagerSession

_GRAPH_DEF_VERSION = 134
# What a text says before the type of a message of any kind, and what our descriptors say.
_ANY = ("type.googleapis.com/tensorflow.", "type.googleapis.com/everflow.")


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
            ended = "" if self._thread.is_alive() else ", though it ended"
            self._testcase.fail(f"A checked thread was not joined{ended}.")

    def join(self):
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._testcase.fail(f"Error in checkedThread: {self._error}")


def _eager_value(value):
    """The value of an eager tensor, or of a function that makes one; ValueError for what has none."""
    if value is None:
        return None
    if callable(value):
        return nest.map_structure(_eager_value, value())
    if isinstance(value, SparseTensor):
        return SparseTensorValue(*(part.numpy() for part in (value.indices, value.values, value.dense_shape)))
    if isinstance(value, RaggedTensor):
        return RaggedTensorValue(_eager_value(value.values), value.row_splits.numpy())
    if not hasattr(value, "numpy"):
        raise ValueError(
            f"evaluate() takes tensors, variables and functions that make them, not a {type(value).__name__}"
        )
    return value.numpy()


def _has_value(structure):
    """Whether all of it has a value already, also where a graph is drawn now."""
    flat = nest.flatten(structure, expand_composites=True)
    return bool(flat) and all(isinstance(value, Tensor) and value.is_eager for value in flat)


class TestCase(ArrayAssertions, absltest.TestCase):
    """A test case with a fresh default graph and seeded random numbers for each test.

    Args:
        methodName: The name of the test method.

    Example:
        >>> class SquareTest(tf.test.TestCase):
        ...     def testSquare(self):
        ...         with self.session():
        ...             self.assertAllClose(tf.square([2.0, 3.0]).eval(), [4.0, 9.0])
        >>> SquareTest("testSquare").run().wasSuccessful()
        True
    """

    def __init__(self, methodName="runTest"):
        super().__init__(methodName)
        self._threads = []
        self._tempdir = None
        self._cached_session = None

    def setUp(self):
        super().setUp()
        if self.id().endswith(".test_session"):  # which unittest takes for a test, by its name
            self.skipTest("Not a test.")
        self._close_cached_session()
        random.seed(SEED)
        np.random.seed(SEED)
        if not has_default_graph():  # What was entered, as `run_in_graph_and_eager_modes` does, stays.
            reset_default_graph()
        set_random_seed(SEED)

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
            self._tempdir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR") or get_temp_dir())
        return self._tempdir

    # --- sessions

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A new session on `graph` or the default one, closed at the end; without `use_gpu` its ops are on the CPU."""
        if executing_eagerly():
            yield EagerSessionWarner()
            return
        with (
            self._new_session(graph, config) as sess,
            self._constrain_devices_and_set_default(sess, use_gpu, force_gpu),
        ):
            yield sess

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """The test's own session: the same one at every call, open until the test ends."""
        if executing_eagerly():
            yield FakeEagerSession(self)
            return
        if self._cached_session is None:
            self._cached_session = self._new_session(graph, config)
            self._cached_options = {"config": config, "force_gpu": force_gpu}
        elif graph is not None and graph is not self._cached_session.graph:
            raise ValueError(
                "This test's cached session is of another graph. A test has one: use self.session(graph=...) for a second."
            )
        elif (
            config is not None
            and config != self._cached_options["config"]
            or force_gpu != self._cached_options["force_gpu"]
        ):
            raise ValueError(
                f"This test's cached session was made with {self._cached_options}, not with config={config} and"
                f" force_gpu={force_gpu}. A test has one: use self.session() for a second."
            )
        with self._cached_session.graph.as_default(), self._cached_session.as_default():
            with self._constrain_devices_and_set_default(self._cached_session, use_gpu, force_gpu):
                yield self._cached_session

    def test_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """The older way: `cached_session` without a graph, a new session with one."""
        return (self.cached_session if graph is None else self.session)(graph, config, use_gpu, force_gpu)

    @staticmethod
    def _new_session(graph, config):
        if config is None:
            config = config_pb2.ConfigProto(allow_soft_placement=True)
        return ErrorLoggingSession(graph=graph, config=config)

    @staticmethod
    @contextlib.contextmanager
    def _constrain_devices_and_set_default(sess, use_gpu, force_gpu):
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
        if executing_eagerly() or _has_value(tensors):
            return nest.map_structure(_eager_value, tensors)
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
        handle, path = tempfile.mkstemp(dir=self.get_temp_dir())  # read after the block, too
        stream.flush()
        os.dup2(handle, stream.fileno())
        try:
            yield CapturedWrites(path)
        finally:
            stream.flush()
            os.dup2(saved, stream.fileno())
            os.close(saved)
            os.close(handle)

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
            expected = text_format.Parse(expected.replace(*_ANY), type(message)())
        if expected != message:
            self.assertMultiLineEqual(str(expected), str(message), msg=msg)

    def _AssertProtoEquals(self, a, b, msg=None):
        self.assertProtoEquals(a, b, msg)

    def _eval_tensor(self, tensor):
        return None if tensor is None else _eager_value(tensor)

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


TensorFlowTestCase = TestCase  # its name inside TensorFlow


class CapturedWrites:
    """What was written to a stream, by the file that it went to instead."""

    def __init__(self, capture_location):
        self.capture_location = capture_location

    def contents(self):
        """What was written so far, as text."""
        with open(self.capture_location, encoding="utf-8", errors="replace") as kept:
            return kept.read()
