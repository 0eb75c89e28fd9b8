"""tf.contrib.summary's ops: summaries that are written when they run, by a writer that is a resource of the session.

Unlike those of tf.summary they need no `FileWriter` and no merging, and so work when executing eagerly. A step is part
of each.
"""

from __future__ import annotations

import abc
import contextlib
import datetime
import getpass
import os
import re
import threading
import weakref

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph import Graph
from everflow.framework.operation import Tensor
from everflow.framework.scopes import (
    add_to_collection,
    control_dependencies,
    device,
    executing_eagerly,
    get_collection,
    get_default_graph,
    get_default_session,
    name_scope,
)
from everflow.ops import array, math
from everflow.ops.array.constants import constant, placeholder
from everflow.ops.control_flow.conditionals import smart_cond
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.io.summaries import summary_scope
from everflow.ops.variables.global_step import get_or_create_global_step
from everflow.ops.variables.variable import Variable
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.summary_pb2 import SummaryMetadata

_WRITERS, SUMMARIES = "_SUMMARY_WRITER_V2", "_SUMMARY_V2"
_MAX_QUEUE, _FLUSH_MILLIS, _SUFFIX = 10, 2 * 60 * 1000, ".v2"
_DB_NAMES = {
    "experiment_name": re.compile(r"^[^\x00-\x1F<>]{0,256}$"),
    "run_name": re.compile(r"^[^\x00-\x1F<>]{0,512}$"),
    "user_name": re.compile(r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$"),
}


class _Current(threading.local):
    """The writer of a thread, and whether summaries are recorded: a bool, a tensor, a function, or None for no."""

    def __init__(self):
        self.writer: SummaryWriter | None = None
        self.records = None
        self.step = None  # of tf.compat.v2.summary
        self.is_left_to_another = False  # in replica functions but the first replica's


current = _Current()


# --- writers -----------------------------------------------------------------------------------


class SummaryWriter(abc.ABC):
    """What summaries go to. `create_file_writer` and `create_db_writer` make them."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    @abc.abstractmethod
    def set_as_default(self):
        """Let summaries of this thread go to this writer."""

    @abc.abstractmethod
    def as_default(self):
        """A context in which summaries go to this writer; it is flushed at the end."""

    def init(self):
        """The op that begins the file."""
        raise NotImplementedError("Summary writers without a file can't be initialized")

    def flush(self):
        """Have all summaries so far in the file."""
        raise NotImplementedError("Summary writers without a file can't be flushed")

    def close(self):
        """Flush and close the file."""
        raise NotImplementedError("Summary writers without a file can't be closed")


class ResourceSummaryWriter(SummaryWriter):
    """A writer that is a resource.

    One of TensorFlow 2 (`v2`) belongs to this object when executing eagerly: it can't be used after `close`, and goes
    when the object does.
    """

    def __init__(self, shared_name, init_op_fn, name=None, v2=False):
        super().__init__()
        self._resource = raw.SummaryWriter(shared_name=shared_name, name=name)
        self._init_op_fn = init_op_fn
        self._init_op = init_op_fn(self._resource)
        self._v2, self._closed = v2, False
        if not executing_eagerly():
            add_to_collection(_WRITERS, self._init_op)
        elif v2:
            self._resource_deleter = weakref.finalize(self, _destroy, get_default_graph(), self._resource)
            self._resource_deleter.atexit = False  # files are closed then by themselves

    def _check_open(self):
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")

    def set_as_default(self):
        self._check_open()
        current.writer = self

    @contextlib.contextmanager
    def as_default(self):
        self._check_open()
        before, current.writer = current.writer, self
        try:
            yield self
            self.flush()
        finally:
            current.writer = before

    def init(self):
        self._check_open()
        return self._init_op_fn(self._resource)

    def flush(self):
        return None if self._closed else flush(self)

    def close(self):
        if self._closed:
            return None
        with control_dependencies([self.flush()]), device("cpu:0"):
            result = raw.CloseSummaryWriter(writer=self._resource)
        self._closed = self._v2 and executing_eagerly()
        return result


def _destroy(graph, resource):
    """Forget a resource of eager execution (`graph`), whatever is drawn when its owner goes."""
    with graph.as_default(), control_dependencies(None):
        raw.DestroyResourceOp(resource=resource, ignore_lookup_error=True)


class NoopSummaryWriter(SummaryWriter):
    """A writer to nowhere."""

    def set_as_default(self):
        pass

    @contextlib.contextmanager
    def as_default(self):
        yield

    def init(self):
        pass

    def flush(self):
        pass

    def close(self):
        pass


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """A writer to a new event file of a folder; one that writes nothing where `logdir` is None.

    >>> writer = tf.contrib.summary.create_file_writer("logs")
    >>> with writer.as_default(), tf.contrib.summary.always_record_summaries():
    ...     tf.contrib.summary.scalar("loss", loss)
    """
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with device("cpu:0"):
        max_queue = constant(_MAX_QUEUE) if max_queue is None else max_queue
        flush_millis = constant(_FLUSH_MILLIS) if flush_millis is None else flush_millis
        filename_suffix = constant(_SUFFIX) if filename_suffix is None else filename_suffix

        def begin(resource):
            limits = {"max_queue": max_queue, "flush_millis": flush_millis}
            file = {"logdir": logdir, "filename_suffix": filename_suffix}
            return raw.CreateSummaryFileWriter(writer=resource, **limits, **file)

        return ResourceSummaryWriter("logdir:" + logdir if name is None else name, begin)


def create_db_writer(db_uri, experiment_name=None, run_name=None, user_name=None, name=None):
    """A writer to an SQLite database, which holds the runs of experiments of users.

    Named after the day, the time and the user's login where they aren't given; with an empty name there is no such row.
    """
    now = datetime.datetime.now()
    given = {
        "experiment_name": f"{now:%Y-%m-%d}" if experiment_name is None else experiment_name,
        "run_name": f"{now:%H:%M:%S}" if run_name is None else run_name,
        "user_name": getpass.getuser() if user_name is None else user_name,
    }
    with device("cpu:0"):
        texts = {}
        for what, value in given.items():
            if isinstance(value, str) and not _DB_NAMES[what].search(value):
                raise ValueError(f"{what} ({value}) must match {_DB_NAMES[what].pattern}")
            texts[what] = convert_to_tensor(value, dtypes.string)

        def begin(resource):
            return raw.CreateSummaryDbWriter(writer=resource, db_uri=db_uri, **texts)

        return ResourceSummaryWriter(name, begin)


create_summary_file_writer = create_file_writer  # its deprecated name


def flush(writer=None, name=None):
    """Have all summaries so far in the file of a writer, or of the current one."""
    writer = current.writer if writer is None else writer
    if writer is None:
        return no_op()
    with device("cpu:0"):
        return raw.FlushSummaryWriter(
            writer=writer._resource if isinstance(writer, ResourceSummaryWriter) else writer, name=name
        )


def eval_dir(model_dir, name=None):
    """The folder for summaries of evaluations."""
    return os.path.join(model_dir, "eval" if not name else "eval_" + name)


def summary_writer_initializer_op():
    """The ops that begin the files of all writers of the graph."""
    if executing_eagerly():
        raise RuntimeError(
            "summary_writer_initializer_op is for graphs: with eager execution, writers start by themselves"
        )
    return get_collection(_WRITERS)


def initialize(graph=None, session=None):
    """Begin the files of all writers in a session, and write a graph to the current one; not needed eagerly.

    Args:
        graph: A graph, or GraphDef, to write to the current writer.
        session: The session; the default one if None.

    Returns:
        None.

    Raises:
        RuntimeError: If no default writer is set.
        ValueError: If there is no session.

    Example:
        >>> with tf.contrib.summary.create_file_writer("logs").as_default():
        ...     tf.summary.initialize()
    """
    if executing_eagerly():
        return
    if current.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("There is no default session: pass `session`")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        data = placeholder(dtypes.string)
        session.run(write_graph(data, 0), feed_dict={data: _serialized(graph)})


# --- whether to record -------------------------------------------------------------------------


def should_record_summaries():
    """A bool tensor: whether summaries are recorded here."""
    return should_record(unless_told=False)


def should_record(unless_told):
    """A bool tensor: what the contexts around say, or `unless_told` where there is none."""
    if current.is_left_to_another:
        return constant(False)
    records = current.records() if callable(current.records) else current.records
    return math.logical_and(True, unless_told if records is None else records)


@contextlib.contextmanager
def recording(records):
    """A context in which summaries are recorded where `records` says so."""
    before, current.records = current.records, records
    try:
        yield
    finally:
        current.records = before


def always_record_summaries():
    """A context in which all summaries are recorded."""
    return recording(True)


def never_record_summaries():
    """A context in which no summaries are recorded."""
    return recording(False)


def record_summaries_every_n_global_steps(n, global_step=None):
    """A context in which summaries are recorded when the global step is a multiple of `n`."""
    step = _step(global_step)
    with device("cpu:0"):
        if executing_eagerly():
            return recording(lambda: math.equal(step % n, 0))
        return recording(math.equal(step % n, 0))


# --- summaries ---------------------------------------------------------------------------------


def all_summary_ops():
    """The summaries of the graph, to be run with the training step; None when executing eagerly.

    Returns:
        A list of operations, or None.

    Example:
        >>> tf.summary.all_v2_summary_ops()
        []
    """
    return None if executing_eagerly() else get_collection(SUMMARIES)


def _step(step):
    if step is None:
        return get_or_create_global_step()
    if isinstance(step, (Tensor, Variable)):
        return step
    return convert_to_tensor(constant(step, dtypes.int64))


def _write(name, tensor, family, step, write, held="tensor", **inputs):
    """A bool tensor whose computation writes a summary where summaries are recorded, by the op that `write` draws.

    The op takes the tensor as `held`; of `inputs` those that are functions are called where the op is drawn.
    """
    writer = current.writer
    if writer is None:
        return no_op()

    outer = get_default_graph().get_name_scope()

    def record():
        # The branch begins at the root of names; its summary belongs where it was asked for.
        with name_scope(f"{outer}/" if outer else None), summary_scope(name, family, values=[tensor]) as (tag, scope):
            made = {key: value() if callable(value) else value for key, value in inputs.items()}
            made |= {"step": _step(step), held: array.identity(tensor)}
            with control_dependencies([write(writer=writer._resource, tag=tag, name=scope, **made)]):
                return constant(True)

    with device("cpu:0"):
        op = smart_cond(should_record_summaries(), record, lambda: constant(False), name="")
        if not executing_eagerly():
            add_to_collection(SUMMARIES, op)
    return op


def generic(name, tensor, metadata=None, family=None, step=None):
    """Write a tensor as it is, for a plug-in to show."""

    def text():
        if isinstance(metadata, SummaryMetadata):
            return constant(metadata.SerializeToString())
        return metadata if metadata is not None else constant("")

    return _write(name, tensor, family, step, raw.WriteSummary, summary_metadata=text)


def scalar(name, tensor, family=None, step=None):
    """Write one number, under the global step where no other is given."""
    return _write(name, tensor, family, step, raw.WriteScalarSummary, held="value")


def histogram(name, tensor, family=None, step=None):
    """Write how values are distributed."""
    return _write(name, tensor, family, step, raw.WriteHistogramSummary, held="values")


def image(name, tensor, bad_color=None, max_images=3, family=None, step=None):
    """Write the first images of a batch; pixels that are no numbers get the bad color, red."""

    def color():
        return constant([255, 0, 0, 255], dtype=dtypes.uint8) if bad_color is None else bad_color

    return _write(name, tensor, family, step, raw.WriteImageSummary, bad_color=color, max_images=max_images)


def audio(name, tensor, sample_rate, max_outputs, family=None, step=None):
    """Write the first sounds of a batch."""
    return _write(name, tensor, family, step, raw.WriteAudioSummary, sample_rate=sample_rate, max_outputs=max_outputs)


def _serialized(graph):
    return (graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph).SerializeToString()


def write_graph(param, step=None, name=None):
    """Write a graph: a serialized GraphDef as a tensor, or when executing eagerly a GraphDef or Graph."""
    if not executing_eagerly() and not isinstance(param, Tensor):
        raise TypeError(f"graph() needs a tf.Tensor of a serialized GraphDef, not a {type(param).__name__}")
    if current.writer is None:
        return no_op()
    with device("cpu:0"):
        tensor = constant(_serialized(param)) if isinstance(param, (Graph, GraphDef)) else array.identity(param)
        return raw.WriteGraphSummary(writer=current.writer._resource, step=_step(step), tensor=tensor, name=name)


def import_event(tensor, name=None):
    """Write a serialized Event."""
    return raw.ImportEvent(writer=current.writer._resource, event=tensor, name=name)
