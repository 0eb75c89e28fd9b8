"""Reading event files back."""

from __future__ import annotations

import json

from everflow.formats.records import read_records
from everflow.platform.gfile import GFile
from everflow.protos.event_pb2 import Event
from everflow.protos.summary_pb2 import SummaryDescription


def summary_iterator(path):
    """The Events of an event file, one by one.

    Args:
        path: The event file.

    Yields:
        Event messages.

    Example:
        >>> with tf.summary.FileWriter("logs") as writer:
        ...     writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), 7)
        >>> for event in tf.train.summary_iterator(tf.gfile.Glob("logs/*")[0]):
        ...     print(event.step, [value.tag for value in event.summary.value])
        0 []
        7 ['loss']
    """
    with GFile(path, "rb") as file:
        for record in read_records(file, name=str(path)):
            yield Event.FromString(record)


def get_summary_description(node_def):
    """The description that a TensorSummary node carries.

    Args:
        node_def: The node.

    Returns:
        A SummaryDescription.

    Raises:
        ValueError: If it is another node.

    Example:
        >>> node = tf.raw_ops.TensorSummary(tensor=[1.0], description='{"type_hint": "a vector"}').op.node_def
        >>> tf.summary.get_summary_description(node).type_hint
        ''
    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    description = SummaryDescription()
    held = json.loads(node_def.attr["description"].s.decode() or "{}")
    description.type_hint = held.get("typeHint", "")
    return description
