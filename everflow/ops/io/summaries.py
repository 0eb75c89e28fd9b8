"""Summary ops: tensors as Summary protos that a FileWriter puts into event files."""

from __future__ import annotations

import contextlib
import re

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import add_to_collection, executing_eagerly, get_collection, name_scope
from everflow.framework.shapes import scalar as scalar_shape
from everflow.platform import logging
from everflow.protos.summary_pb2 import SummaryMetadata

_ILLEGAL = re.compile(r"[^-/\w\.]")


def clean_tag(name):
    """A tag with what tags can't hold replaced by underscores."""
    if name is None:
        return None
    cleaned = _ILLEGAL.sub("_", name).lstrip("/")
    if cleaned != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextlib.contextmanager
def summary_scope(name, family=None, default_name=None, values=None):
    """(tag, scope): the scope's name is the tag, with the family before it where there is one."""
    name, family = clean_tag(name), clean_tag(family)
    base = name if family is None else f"{family}/{name}"
    with name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(val, collections, default_collections):
    """Add a summary to collections: those given, else the default ones."""
    for key in default_collections if collections is None else collections:
        add_to_collection(key, val)


def scalar(name, tensor, collections=None, family=None):
    """A summary of one number.

    Args:
        name: The name of the operation in the graph.
        tensor: The number, a scalar.
        collections: The graph's collections to add the result to.
        family: What is put before the name, so that TensorBoard shows a family together.

    Returns:
        A scalar string tensor: a serialized Summary.

    Example:
        >>> data = sess.run(tf.summary.scalar("loss", tf.constant(0.5)))
        >>> tf.Summary.FromString(data).value[0].simple_value
        0.5
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = raw.ScalarSummary(tags=tag, values=tensor, name=scope)
        collect(value, collections, [GraphKeys.SUMMARIES])
    return value


def histogram(name, values, collections=None, family=None):
    """A summary of how values are distributed.

    Args:
        name: The name of the operation in the graph.
        values: Numbers of any shape.
        collections: The graph's collections to add the result to.
        family: What is put before the name, so that TensorBoard shows a family together.

    Returns:
        A scalar string tensor: a serialized Summary.

    Example:
        >>> data = sess.run(tf.summary.histogram("weights", [1.0, 2.0, 2.0]))
        >>> tf.Summary.FromString(data).value[0].histo.num
        3.0
    """
    with summary_scope(name, family, values=[values], default_name="HistogramSummary") as (tag, scope):
        value = raw.HistogramSummary(tag=tag, values=values, name=scope)
        collect(value, collections, [GraphKeys.SUMMARIES])
    return value


def image(name, tensor, max_outputs=3, collections=None, family=None):
    """A summary of the first images of a batch [batch, height, width, channels].

    Args:
        name: The name of the operation in the graph.
        tensor: The images, with 1, 3 or 4 channels; floats are scaled to fit.
        max_outputs: The most images to keep.
        collections: The graph's collections to add the result to.
        family: What is put before the name, so that TensorBoard shows a family together.

    Returns:
        A scalar string tensor: a serialized Summary.

    Example:
        >>> data = sess.run(tf.summary.image("pictures", tf.zeros([2, 4, 4, 3])))
        >>> [value.tag for value in tf.Summary.FromString(data).value]
        ['pictures/image/0', 'pictures/image/1']
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = raw.ImageSummary(tag=tag, tensor=tensor, max_images=max_outputs, name=scope)
        collect(value, collections, [GraphKeys.SUMMARIES])
    return value


def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    """A summary of the first sounds of a batch [batch, frames, channels], with values from -1 to 1.

    Args:
        name: The name of the operation in the graph.
        tensor: The sounds.
        sample_rate: How many frames make a second.
        max_outputs: The most sounds to keep.
        collections: The graph's collections to add the result to.
        family: What is put before the name, so that TensorBoard shows a family together.

    Returns:
        A scalar string tensor: a serialized Summary.

    Example:
        >>> data = sess.run(tf.summary.audio("sound", tf.zeros([1, 100, 1]), sample_rate=8000))
        >>> tf.Summary.FromString(data).value[0].tag
        'sound/audio/0'
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        sample_rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        value = raw.AudioSummaryV2(tag=tag, tensor=tensor, max_outputs=max_outputs, sample_rate=sample_rate, name=scope)
        collect(value, collections, [GraphKeys.SUMMARIES])
    return value


def text(name, tensor, collections=None):
    """A summary of a string tensor, shown as text or a table.

    Args:
        name: The name of the operation in the graph.
        tensor: The strings.
        collections: The graph's collections to add the result to.

    Returns:
        A scalar string tensor: a serialized Summary.

    Raises:
        ValueError: If it doesn't hold strings.

    Example:
        >>> data = sess.run(tf.summary.text("note", tf.constant("hello")))
        >>> tf.Summary.FromString(data).value[0].tensor.string_val
        [b'hello']
    """
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name=name, tensor=tensor, summary_metadata=metadata, collections=collections)


def tensor_summary(
    name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None, display_name=None
):
    """A summary that holds a tensor as it is, for a plug-in to show.

    Args:
        name: The name of the operation in the graph.
        tensor: The tensor.
        summary_description: A SummaryDescription that the node carries.
        collections: The graph's collections to add the result to.
        summary_metadata: A SummaryMetadata for the plug-in.
        family: What is put before the name, so that TensorBoard shows a family together.
        display_name: What TensorBoard calls it.

    Returns:
        A scalar string tensor: a serialized Summary.

    Example:
        >>> data = sess.run(tf.summary.tensor_summary("values", tf.constant([1.0, 2.0])))
        >>> tf.make_ndarray(tf.Summary.FromString(data).value[0].tensor)
        array([1., 2.], dtype=float32)
    """
    metadata = SummaryMetadata() if summary_metadata is None else summary_metadata
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = raw.TensorSummaryV2(
            tensor=tensor, tag=tag, serialized_summary_metadata=metadata.SerializeToString(), name=scope
        )
        collect(value, collections, [GraphKeys.SUMMARIES])
    return value


def _refuse_when_eager():
    if executing_eagerly():
        raise RuntimeError("Eagerly there are no summary ops to merge: write with tf.contrib.summary")


def merge(inputs, collections=None, name=None):
    """One summary of several.

    Args:
        inputs: The summaries.
        collections: The graph's collections to add the result to.
        name: The name of the operation in the graph.

    Returns:
        A scalar string tensor: a serialized Summary.

    Raises:
        RuntimeError: When executing eagerly.

    Example:
        >>> merged = tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)])
        >>> [value.tag for value in tf.Summary.FromString(sess.run(merged)).value]
        ['a', 'b']
    """
    _refuse_when_eager()
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        value = raw.MergeSummary(inputs=inputs, name=name)
        collect(value, collections, [])
    return value


def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None):
    """One summary of all in a collection; None where there are none.

    Args:
        key: The collection.
        scope: Only summaries whose names match this at their start, a regular expression.
        name: The name of the operation in the graph.

    Returns:
        A scalar string tensor, or None.

    Raises:
        RuntimeError: When executing eagerly.

    Example:
        >>> loss = tf.summary.scalar("loss", 0.5)
        >>> rate = tf.summary.scalar("rate", 0.1)
        >>> [value.tag for value in tf.Summary.FromString(sess.run(tf.summary.merge_all())).value]
        ['loss', 'rate']
    """
    _refuse_when_eager()
    summaries = get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None


_OP_TYPES = (
    "ScalarSummary",
    "HistogramSummary",
    "ImageSummary",
    "AudioSummary",
    "AudioSummaryV2",
    "MergeSummary",
    "TensorSummary",
    "TensorSummaryV2",
)


@shape_rule(*_OP_TYPES)
def _scalar_output(op):
    return scalar_shape()


not_differentiable(*_OP_TYPES)
# Those of `summary/writing_ops.py`, which write what they make.
not_differentiable(
    "SummaryWriter", "CreateSummaryFileWriter", "FlushSummaryWriter", "CloseSummaryWriter", "WriteSummary", "WriteRawProtoSummary",
    "ImportEvent", "WriteScalarSummary", "WriteHistogramSummary", "WriteImageSummary", "WriteAudioSummary", "WriteGraphSummary",
)  # fmt: skip
