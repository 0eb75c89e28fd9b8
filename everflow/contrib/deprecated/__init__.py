"""tf.contrib.deprecated: the summaries of 2016, whose tag and name are two things."""

from everflow.framework import dtypes as _dtypes
from everflow.framework import raw_ops as _raw
from everflow.framework.conversion import convert_to_tensor as _convert_to_tensor
from everflow.framework.graph_keys import GraphKeys as _GraphKeys
from everflow.framework.scopes import get_collection as _get_collection
from everflow.framework.scopes import name_scope as _name_scope
from everflow.ops.io.summaries import collect as _collect


def _summary(kind, tag, values, collections, name, **arguments):
    """A node of type `kind`, whose first two inputs these are, in collections."""
    with _name_scope(name, kind.removesuffix("V2"), [tag, values]) as scope:
        if "sample_rate" in arguments:
            rate = _convert_to_tensor(arguments["sample_rate"], dtype=_dtypes.float32, name="sample_rate")
            arguments["sample_rate"] = rate
        made = getattr(_raw, kind)(tag, values, **arguments, name=scope)
        _collect(made, collections, [_GraphKeys.SUMMARIES])
    return made


def scalar_summary(tags, values, collections=None, name=None):
    """A summary of numbers, a tag for each."""
    return _summary("ScalarSummary", tags, values, collections, name)


def histogram_summary(tag, values, collections=None, name=None):
    """A summary of how values are distributed."""
    return _summary("HistogramSummary", tag, values, collections, name)


def image_summary(tag, tensor, max_images=3, collections=None, name=None):
    """A summary of the first images of a batch."""
    return _summary("ImageSummary", tag, tensor, collections, name, max_images=max_images)


def audio_summary(tag, tensor, sample_rate, max_outputs=3, collections=None, name=None):
    """A summary of the first sounds of a batch."""
    return _summary("AudioSummaryV2", tag, tensor, collections, name, max_outputs=max_outputs, sample_rate=sample_rate)


def merge_summary(inputs, collections=None, name=None):
    """One summary of several."""
    with _name_scope(name, "MergeSummary", inputs):
        made = _raw.MergeSummary(inputs=inputs, name=name)
        _collect(made, collections, [])
    return made


def merge_all_summaries(key=_GraphKeys.SUMMARIES):
    """One summary of all in a collection; None where there are none."""
    summaries = _get_collection(key)
    return merge_summary(summaries) if summaries else None
