"""What an evaluation leaves: its metrics as one op and a dict, and its results as summaries beside the model."""

from __future__ import annotations

import os

import numpy as np
from google.protobuf.message import DecodeError

from everflow.framework.tensor_values import make_tensor_proto
from everflow.metrics import mean
from everflow.ops.control_flow.grouping import group
from everflow.platform import file_io, logging
from everflow.protos.summary_pb2 import Summary
from everflow.summary.reading import summary_iterator
from everflow.summary.writer import FileWriterCache

GLOBAL_STEP = "global_step"
LOSS = "loss"


def with_loss_metric(metrics, loss):
    """Metrics of a model and the mean of its loss; ValueError where the model took the names that estimators use."""
    for name in (LOSS, GLOBAL_STEP):
        if name in metrics:
            raise ValueError(
                f"Metric with name `{name}` is not allowed, because Estimator already defines a default metric with the same name."
            )
    return {**metrics, LOSS: mean(loss)}


def values_and_update(metrics):
    """({name: value}, one op that updates all), in the order of names."""
    pairs = sorted(metrics.items())
    values = {name: value for name, (value, _) in pairs}
    return values, group(*(update for _, (_, update) in pairs)) if pairs else None


def _described(results):
    return ", ".join(f"{key} = {value!s}" for key, value in sorted(results.items()) if not isinstance(value, bytes))


def write_results(output_dir, results, step):
    """Write an evaluation's results as summaries of a step."""
    logging.info("Saving dict for global step %d: %s", step, _described(results))
    writer = FileWriterCache.get(output_dir)
    summary = Summary()
    for key, value in sorted(results.items()):
        if key == GLOBAL_STEP or value is None:
            continue
        if isinstance(value, (float, int, np.floating, np.integer)) and not isinstance(value, bool):
            summary.value.add(tag=key, simple_value=float(value))
        elif isinstance(value, bytes):
            try:
                inner = Summary.FromString(value)
            except DecodeError:
                logging.warning("No summary for %s: its value is a string, but no serialized Summary.", key)
                continue
            for i, _ in enumerate(inner.value):
                inner.value[i].tag = f"{key}/{i}"
            summary.value.extend(inner.value)
        elif isinstance(value, np.ndarray):
            summary.value.add(tag=key, tensor=make_tensor_proto(value))
        else:
            logging.warning("No summary for %s: its value is no number, array or serialized Summary.", key)
    writer.add_summary(summary, step)
    writer.flush()


def write_checkpoint_path(output_dir, step, checkpoint_path):
    """Write which checkpoint an evaluation was of."""
    logging.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path)
    summary = Summary()
    summary.value.add(tag="checkpoint_path", tensor=make_tensor_proto(checkpoint_path))
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    writer.flush()


def evaluations_in(pattern):
    """(step, {name: value}) of each evaluation that the event files of a pattern hold, in their order."""
    if not file_io.is_directory(os.path.dirname(pattern)):
        return
    for path in file_io.get_matching_files(pattern):
        for event in summary_iterator(path):
            results = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
            if results:
                yield event.step, results
