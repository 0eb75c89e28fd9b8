"""Reading event files back."""

from __future__ import annotations

import json

from everflow.formats.records import read_records
from everflow.platform.gfile import GFile
from everflow.protos.event_pb2 import Event
from everflow.protos.summary_pb2 import SummaryDescription


def summary_iterator(path):
    """The Events of an event file, one by one.

    >>> for event in tf.train.summary_iterator(path):
    ...     print(event.step)
    """
    with GFile(path, "rb") as file:
        for record in read_records(file, name=str(path)):
            yield Event.FromString(record)


def get_summary_description(node_def):
    """The description that a TensorSummary node carries."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    description = SummaryDescription()
    held = json.loads(node_def.attr["description"].s.decode() or "{}")
    description.type_hint = held.get("typeHint", "")
    return description
