"""`QueueRunner`: threads that keep a queue filled, started for a whole graph by `start_queue_runners`."""

from __future__ import annotations

import threading
import weakref

from everflow.framework import errors
from everflow.framework.forking import renewed
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import (
    add_to_collection,
    executing_eagerly,
    get_collection,
    get_default_graph,
    get_default_session,
    register_proto_function,
)
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.protos import queue_runner_pb2
from everflow.runtime.session import BaseSession


class QueueRunner:
    """A queue, the ops that fill it (one thread each) and how to close it when they end.

    Args:
        queue: The queue.
        enqueue_ops: The operations that fill it.
        close_op: What closes it; made if None.
        cancel_op: What closes it and cancels those that wait; made if None.
        queue_closed_exception_types: Exceptions that are an end like any other; `OutOfRangeError` if None.
        queue_runner_def: A message to make it from.
        import_scope: What was put before names when the message's graph was imported.

    Example:
        >>> queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
        >>> runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 2)
        >>> tf.train.add_queue_runner(runner)
        >>> len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))
        1
    """

    @takes(
        """queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
        queue_runner_def=None, import_scope=None""",
    )
    def __init__(self, queue_runner_def, import_scope, **given):
        if executing_eagerly():
            raise RuntimeError(
                "QueueRunners are of graphs, and thus not supported when eager execution is enabled: see tf.data"
            )
        if queue_runner_def:
            if given["queue"] or given["enqueue_ops"]:
                raise ValueError("queue_runner_def says all that queue and enqueue_ops say: leave those out")
            self._init_from_proto(queue_runner_def, import_scope=import_scope)
        else:
            self._init_from_args(**given)
        self._lock = renewed(threading.Lock())
        self._runs_per_session = weakref.WeakKeyDictionary()
        self._exceptions_raised = []
        renewed(self)

    def _at_fork_reinit(self):
        self._runs_per_session.clear()  # its threads are the parent's: they can be started anew

    def _init_from_args(self, queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types):
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue = queue
        self._enqueue_ops = enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        if queue_closed_exception_types is None:
            queue_closed_exception_types = (errors.OutOfRangeError,)
        elif (
            not isinstance(queue_closed_exception_types, tuple)
            or not queue_closed_exception_types
            or not all(isinstance(t, type) and issubclass(t, errors.OpError) for t in queue_closed_exception_types)
        ):
            raise TypeError(
                f"queue_closed_exception_types is a tuple of tf.errors classes, not {queue_closed_exception_types!r}"
            )
        self._queue_closed_exception_types = queue_closed_exception_types

    def _init_from_proto(self, proto, import_scope=None):
        if not isinstance(proto, queue_runner_pb2.QueueRunnerDef):
            raise TypeError(f"queue_runner_def must be a QueueRunnerDef, not {type(proto)}")
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(f"{import_scope}/{name}" if import_scope and name else name)

        self._queue = element(proto.queue_name)
        self._enqueue_ops = [element(name) for name in proto.enqueue_op_name]
        self._close_op = element(proto.close_op_name)
        self._cancel_op = element(proto.cancel_op_name)
        types = tuple(errors.exception_type_from_error_code(code) for code in proto.queue_closed_exception_types)
        self._queue_closed_exception_types = types or (errors.OutOfRangeError,)

    queue = property(lambda self: self._queue, doc="The queue.")
    enqueue_ops = property(lambda self: self._enqueue_ops, doc="The ops that fill it.")
    close_op = property(lambda self: self._close_op, doc="The op run when all of them have ended.")
    cancel_op = property(lambda self: self._cancel_op, doc="The op run when the coordinator asks to stop.")
    queue_closed_exception_types = property(
        lambda self: self._queue_closed_exception_types, doc="The errors that only mean the end of the input."
    )
    exceptions_raised = property(
        lambda self: self._exceptions_raised, doc="Errors in threads that had no coordinator to tell."
    )

    name = property(lambda self: self._queue.name, doc="The name of the queue's op.")

    def _run(self, sess, position, coord=None):
        counted = True
        try:
            enqueue = self._callable(sess, position)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._queue_closed_exception_types:
                    with self._lock:
                        self._runs_per_session[sess] -= 1
                        counted = False
                        last = self._runs_per_session[sess] == 0
                    if last:
                        self._close(sess, self._close_op)
                    return
        except Exception as e:
            # What goes wrong here is for the coordinator, or for who asks.
            if coord:
                coord.request_stop(e)
            else:
                logging.error("Exception in QueueRunner: %s", e)
                with self._lock:
                    self._exceptions_raised.append(e)
                raise
        finally:
            if counted:
                with self._lock:
                    self._runs_per_session[sess] -= 1

    def _callable(self, sess, position):
        """A function that runs one of the enqueue ops; made once, it is quicker than `run` each time."""
        return sess.make_callable(self._enqueue_ops[position])

    @staticmethod
    def _close(sess, op):
        try:
            sess.run(op)
        except Exception as e:  # it may be closed already, or the session may be
            logging.vlog(1, "Ignored exception: %s", e)

    def _close_on_stop(self, sess, cancel_op, coord):
        coord.wait_for_stop()
        self._close(sess, cancel_op)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """The threads that fill the queue in a session, and one that closes it when the coordinator asks to stop.

        None are made for a session that has them already.
        """
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [
            threading.Thread(target=self._run, args=(sess, i, coord), name=f"QueueRunnerThread-{self.name}-{op.name}")
            for i, op in enumerate(self._enqueue_ops)
        ]
        if coord:
            name = f"QueueRunnerThread-{self.name}-close_on_stop"
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, self._cancel_op, coord), name=name))
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            thread.daemon = thread.daemon or daemon
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope=None):
        """As a QueueRunnerDef; None where it lies outside `export_scope`."""
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None

        def inside(name):
            return name.removeprefix(export_scope + "/") if export_scope else name

        proto = queue_runner_pb2.QueueRunnerDef(queue_name=inside(self.queue.name))
        proto.enqueue_op_name.extend(inside(op.name) for op in self._enqueue_ops)
        proto.close_op_name = inside(self._close_op.name)
        proto.cancel_op_name = inside(self._cancel_op.name)
        proto.queue_closed_exception_types.extend(
            errors.error_code_from_exception_type(t) for t in self._queue_closed_exception_types
        )
        return proto

    @staticmethod
    def from_proto(queue_runner_def, import_scope=None):
        """A runner as a QueueRunnerDef describes it, in the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    """Have `start_queue_runners` start this one, too.

    Args:
        qr: The `tf.train.QueueRunner`.
        collection: The collection it is put into.

    Returns:
        None.

    Example:
        >>> queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
        >>> tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)]))
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(queue.dequeue())
        np.float32(1.0)
        >>> coord.request_stop()
        >>> coord.join(threads)
    """
    add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS):
    """Start the threads of all queue runners of the graph; gives the threads.

    Args:
        sess: The session; the default one if None.
        coord: The coordinator that stops the threads.
        daemon: Whether the program ends without waiting for them.
        start: Whether they start at once.
        collection: The collection of queue runners.

    Returns:
        A list of threads.

    Raises:
        RuntimeError: When executing eagerly.
        TypeError: If `sess` is no session.
        ValueError: If there is no session.

    Example:
        >>> numbers = tf.train.range_input_producer(3, shuffle=False)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(numbers.dequeue_many(4))
        array([0, 1, 2, 0], dtype=int32)
        >>> coord.request_stop()
        >>> coord.join(threads)
    """
    if executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    if sess is None:
        sess = get_default_session()
        if not sess:
            raise ValueError("Cannot start queue runners: No default session was entered, so pass `sess`")
    if not isinstance(sess, BaseSession):
        if hasattr(sess, "run_step_fn"):  # a monitored session starts them by itself
            return []
        raise TypeError(f"sess must be a `tf.Session` object, not {sess!r}")
    runners = get_collection(collection) if sess.graph is get_default_graph() else sess.graph.get_collection(collection)
    with sess.graph.as_default():
        return [thread for qr in runners for thread in qr.create_threads(sess, coord=coord, daemon=daemon, start=start)]


register_proto_function(
    GraphKeys.QUEUE_RUNNERS,
    proto_type=queue_runner_pb2.QueueRunnerDef,
    to_proto=QueueRunner.to_proto,
    from_proto=QueueRunner.from_proto,
)
