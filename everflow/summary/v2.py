"""tf.compat.v2.summary: summaries that are written when they run, as tensors that TensorBoard's plug-ins read.

Unlike tf.contrib.summary's they are recorded unless told otherwise, and need a step: an argument of each, or set once
with `set_step`.
"""

# ruff: noqa: F401  Writers and flush are public here.

from __future__ import annotations

import contextlib
import itertools
import os
import re
import types

from everflow.framework import dtypes, errors
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import FuncGraph
from everflow.framework.operation import Tensor
from everflow.framework.scopes import (
    add_to_collection,
    control_dependencies,
    device,
    executing_eagerly,
    get_default_graph,
    init_scope,
    name_scope,
)
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.audio import encode_wav
from everflow.ops.checks.shapes import assert_rank, assert_scalar
from everflow.ops.control_flow.conditionals import cond, smart_cond
from everflow.ops.control_flow.maps import map_fn
from everflow.ops.functions import collection
from everflow.ops.image.codecs import encode_png
from everflow.ops.image.color import convert_image_dtype
from everflow.ops.strings.text import as_string
from everflow.platform import logging
from everflow.profiler import live
from everflow.protos.config_pb2 import RunMetadata
from everflow.protos.summary_pb2 import SummaryMetadata
from everflow.runtime.profiling import RECORDER
from everflow.summary import writing_ops
from everflow.summary.writing_ops import NoopSummaryWriter, ResourceSummaryWriter, SummaryWriter, flush

_uid = itertools.count()
_BUCKETS = 30
_NOT_OF_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")
_WAV = b"\x10\x0b"  # what the audio plug-in wants to know: that sounds are WAV files


# --- writers and steps --------------------------------------------------------------------------


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """A writer to a new event file of a folder.

    >>> writer = tf.compat.v2.summary.create_file_writer("logs")
    >>> with writer.as_default():
    ...     tf.compat.v2.summary.scalar("loss", 0.5, step=1)
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    given = {"logdir": logdir, "max_queue": max_queue, "flush_millis": flush_millis, "filename_suffix": filename_suffix}
    # The writer belongs to the program, not to the function that happens to be traced.
    with init_scope(), name_scope(name, "create_file_writer"), device("cpu:0"):
        if executing_eagerly():
            _check_values(given)
        logdir = convert_to_tensor(logdir, dtype=dtypes.string)
        max_queue = constant(10) if max_queue is None else max_queue
        flush_millis = constant(2 * 60 * 1000) if flush_millis is None else flush_millis
        suffix = constant(".v2") if filename_suffix is None else filename_suffix
        # Several writers of one second and folder have files of their own.
        suffix = constant(f".{os.getpid()}.{next(_uid)}") + suffix

        def begin(resource):
            return raw.CreateSummaryFileWriter(
                writer=resource, logdir=logdir, max_queue=max_queue, flush_millis=flush_millis, filename_suffix=suffix
            )

        shared_name = f"anonymous_{next(_uid)}" if executing_eagerly() else name
        return ResourceSummaryWriter(shared_name, begin, v2=True)


def _check_values(given):
    """Complain about a tensor without a value: a writer of eager execution is made at once."""
    for argument, value in given.items():
        if isinstance(value, Tensor) and not value.is_eager:
            raise ValueError(
                f'Invalid graph Tensor argument "{argument}={value}": executing eagerly, no writer takes it, since it has'
                " no value yet. Pass a value, or make the writer in the graph."
            )


def create_noop_writer():
    """A writer to nowhere."""
    return NoopSummaryWriter()


def record_if(condition):
    """A context in which summaries are recorded where a condition holds: a bool, a tensor, or a function."""
    return writing_ops.recording(condition)


def _get_step():
    """The step of summaries that are given none, or None."""
    return writing_ops.current.step


def _set_step(step):
    """Give summaries of this thread a step: a number, a variable, or None for none."""
    writing_ops.current.step = step


# --- writing tensors ----------------------------------------------------------------------------


@contextlib.contextmanager
def _summary_scope(name, default_name="summary", values=None):
    """(tag, scope) for a summary: the tag is the name below the name scopes around it."""
    name = name or default_name
    outer = get_default_graph().get_name_scope()
    # Tags may hold any letters, scopes can't.
    with name_scope(_NOT_OF_SCOPES.sub("", name) or None, default_name, values) as scope:
        yield f"{outer}/{name}" if outer else name, scope


def _written(name, default_name, step, make):
    """A bool tensor whose computation runs the op that `make(writer, step, scope)` draws, where summaries are recorded."""
    with name_scope(name, default_name) as scope:
        writer = writing_ops.current.writer
        if writer is None:
            return constant(False)
        if step is None:
            step = _get_step()
            if step is None:
                raise ValueError(
                    "No step set for a summary: pass `step`, or call tf.summary.experimental.set_step before"
                )

        def record():
            with control_dependencies([make(writer._resource, step, scope)]):
                return constant(True)

        with device("cpu:0"):
            op = smart_cond(
                writing_ops.should_record(unless_told=True), record, lambda: constant(False), name="summary_cond"
            )
            if not executing_eagerly():
                add_to_collection(writing_ops.SUMMARIES, op)
        return op


def write(tag, tensor, step=None, metadata=None, name=None):
    """Write a tensor under a tag, with a SummaryMetadata for the plug-in that shows it. Gives whether it was."""

    def make(writer, step, scope):
        text = b"" if metadata is None else metadata
        text = text.SerializeToString() if hasattr(text, "SerializeToString") else text
        return raw.WriteSummary(
            writer=writer, step=step, tensor=array.identity(tensor), tag=tag, summary_metadata=text, name=scope
        )

    return _written(name, "write_summary", step, make)


def _write_raw_pb(tensor, step=None, name=None):
    """Write serialized Summary protos."""

    def make(writer, step, scope):
        return raw.WriteRawProtoSummary(writer=writer, step=step, tensor=array.identity(tensor), name=scope)

    return _written(name, "write_raw_pb", step, make)


# --- traces -----------------------------------------------------------------------------------------


def _can_trace(what):
    """Whether functions' graphs can be collected here; a warning says why not."""
    if isinstance(get_default_graph(), FuncGraph):
        logging.warn(f"A function is being traced: {what} does nothing in it.")
        return False
    if not executing_eagerly():
        logging.warn(f"{what} does something only when executing eagerly.")
        return False
    return True


def trace_on(graph=True, profiler=False):
    """Collect the graphs of functions that run from here on, until `trace_export` or `trace_off`.

    Args:
        graph: Whether graphs are collected.
        profiler: Whether a profile is taken, too: what ran when, which `trace_export` writes for TensorBoard.

    Example:
        >>> tf.compat.v2.summary.trace_on()
    """
    if not _can_trace("trace_on"):
        return
    if collection.active() or RECORDER.running:
        logging.warn("Functions are being traced already: trace_on has no effect.")
        return
    if graph:
        collection.start()
    if profiler:
        live.start()


def trace_export(name, step=None, profiler_outdir=None):
    """Write the graphs collected since `trace_on`, and collect no more.

    Args:
        name: The tag in the event file.
        step: The step; that of `set_step` if None.
        profiler_outdir: The folder that the profile is written below, if one is being taken.

    Raises:
        ValueError: If nothing is being collected, if there is a writer and no step, or if a profile has no folder.

    Example:
        >>> tf.compat.v2.summary.trace_export("a run", step=0)
    """
    if not _can_trace("trace_export"):
        return
    profiled = RECORDER.running
    if not collection.active() and not profiled:
        raise ValueError("Nothing is being traced: call trace_on before the functions, and then trace_export.")
    if profiled and profiler_outdir is None:
        raise ValueError("A profile is being taken: say with profiler_outdir where it is to be written")
    if collection.active():
        run_metadata_graphs(name, collection.take(), step)
    if profiled:
        live.save(profiler_outdir, live.stop())
    trace_off()


def trace_off():
    """Collect no more, and forget what was collected.

    Example:
        >>> tf.compat.v2.summary.trace_off()
    """
    collection.stop()
    if RECORDER.running:
        live.stop()


def _write_metadata(name, data, step, plugin):
    with _summary_scope(name, f"{plugin}_summary", [data, step]) as (tag, _):
        tensor = constant(data.SerializeToString(), dtypes.string)
        return write(tag, tensor, step, _for(plugin, "", b"1"))


def run_metadata(name, data, step=None):
    """Write a RunMetadata: graphs, times and costs."""
    return _write_metadata(name, data, step, "graph_run_metadata")


def run_metadata_graphs(name, data, step=None):
    """Write the graphs of a RunMetadata."""
    graphs = RunMetadata(function_graphs=data.function_graphs, partition_graphs=data.partition_graphs)
    return _write_metadata(name, graphs, step, "graph_run_metadata_graph")


experimental = types.SimpleNamespace(
    get_step=_get_step, set_step=_set_step, summary_scope=_summary_scope, write_raw_pb=_write_raw_pb
)


# --- kinds of summaries -------------------------------------------------------------------------


def _for(plugin, description, content=b""):
    plugin_data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return SummaryMetadata(summary_description=description or "", plugin_data=plugin_data)


def scalar(name, data, step=None, description=None):
    """Write one number."""
    with _summary_scope(name, "scalar_summary", values=[data, step]) as (tag, _):
        assert_scalar(data)
        return write(tag, math.cast(data, dtypes.float32), step, _for("scalars", description))


def histogram(name, data, step=None, buckets=None, description=None):
    """Write how many of the values lie in each of `buckets` equal parts of their range."""
    with _summary_scope(name, "histogram_summary", values=[data, buckets, step]) as (tag, _):
        return write(tag, _buckets(data, buckets or _BUCKETS), step, _for("histograms", description))


def _buckets(data, count):
    """A row (left, right, how many) for each bucket."""
    data = math.cast(array.reshape(data, [-1]), dtypes.float64)

    def spread():
        low, high = math.reduce_min(data), math.reduce_max(data)
        width = (high - low) / count

        def in_parts():
            at = math.minimum(math.cast(math.floor((data - low) / width), dtypes.int32), count - 1)
            held = math.cast(math.reduce_sum(array.one_hot(at, depth=count), axis=0), dtypes.float64)
            edges = math.lin_space(low, high, count + 1)
            return array.transpose(array.stack([edges[:-1], array.concat([edges[1:-1], [high]], 0), held]))

        def in_one():
            return array.stack([[low - 0.5, high + 0.5, math.cast(array.size(data), dtypes.float64)]])

        return cond(math.equal(width, 0), in_one, in_parts)

    return cond(math.equal(array.size(data), 0), lambda: constant([], shape=(0, 3), dtype=dtypes.float64), spread)


def image(name, data, step=None, max_outputs=3, description=None):
    """Write the first images of a batch [batch, height, width, channels]; floats from 0 to 1."""
    with _summary_scope(name, "image_summary", values=[data, max_outputs, step]) as (tag, _):
        data = convert_to_tensor(data)
        with control_dependencies(_checks(data, 4)):
            images = convert_image_dtype(data, dtypes.uint8, saturate=True)[:max_outputs]
        encoded = map_fn(encode_png, images, dtype=dtypes.string, name="encode_each_image")
        size = array.stack([as_string(array.shape(data)[2]), as_string(array.shape(data)[1])], name="dimensions")
        return write(tag, array.concat([size, encoded], axis=0), step, _for("images", description))


def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Write the first sounds of a batch [batch, frames, channels], with values from -1 to 1, as WAV files."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    with _summary_scope(name, "audio_summary", values=[data, sample_rate, max_outputs, step]) as (tag, _):
        data = convert_to_tensor(data)
        with control_dependencies(_checks(data, 3)):
            sounds = data[:max_outputs]
        encoded = map_fn(
            lambda sound: encode_wav(sound, sample_rate), sounds, dtype=dtypes.string, name="encode_each_audio"
        )
        rows = array.transpose(array.stack([encoded, array.tile([""], [array.shape(encoded)[0]])]))
        return write(tag, rows, step, _for("audio", description, _WAV))


def _checks(data, rank):
    check = assert_rank(data, rank)
    return [] if check is None else [check]


def text(name, data, step=None, description=None):
    """Write strings, shown as text or a table."""
    with _summary_scope(name, "text_summary", values=[data, step]) as (tag, _):
        return write(tag, convert_to_tensor(data, dtype=dtypes.string), step, _for("text", description))
