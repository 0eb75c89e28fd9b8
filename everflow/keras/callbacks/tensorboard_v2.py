"""TensorFlow 2's `TensorBoard` callback: what training and validation come to in event files of their own folders."""

from __future__ import annotations

import contextlib
import json
import os

import numpy as np

from everflow.eager.mode import eager_mode
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import executing_eagerly
from everflow.keras import backend as K
from everflow.keras.callbacks.base import Callback
from everflow.keras.callbacks.tensorboard import begin_profile, file_writer
from everflow.keras.saving.json_data import default as as_json
from everflow.ops import math
from everflow.ops.variables.variable import Variable
from everflow.platform import file_io
from everflow.platform.signatures import takes
from everflow.profiler import live
from everflow.protos.config_pb2 import RunMetadata
from everflow.protos.summary_pb2 import Summary
from everflow.protos.trace_events_pb2 import Trace
from everflow.protos.types_pb2 import DT_STRING
from everflow.summary.v2 import create_file_writer
from everflow.summary.writing_ops import current, recording

_TRAIN, _VALIDATION = "train", "validation"  # the folders of runs
_IMAGES = 3  # of a weight, at most
_NOT_METRICS = ("batch", "size", "num_steps")
# What TensorFlow 1's callback took besides, and what is not missed without it.
_OF_VERSION_1 = {"batch_size", "write_grads", "embeddings_layer_names", "embeddings_data"}


class TensorBoard(Callback):
    """Writes event files that TensorBoard shows: "train" and "validation" beside each other.

    Args:
        log_dir: The folder; each run has one in it.
        histogram_freq: Every how many epochs histograms of weights are written; 0 for never.
        write_graph: Whether the model's graph is written.
        write_images: Whether weights are written as images, where their histograms are.
        update_freq: "epoch", "batch", or every how many batches of an epoch.
        profile_batch: The batch whose time is taken; 0 for none.
        embeddings_freq: Every how many epochs the weights of embeddings are saved; 0 for never.
        embeddings_metadata: A file with labels, or one for each layer by name.

    Raises:
        ValueError: If an argument isn't known.

    Example:
        >>> from everflow.keras.callbacks.tensorboard_v2 import TensorBoard
        >>> TensorBoard("logs", update_freq="batch").update_freq
        1
    """

    @takes(
        """log_dir="logs", histogram_freq=0, write_graph=True, write_images=False, update_freq="epoch", profile_batch=2,
        embeddings_freq=0, embeddings_metadata=None, **kwargs"""
    )
    def __init__(self, log_dir, histogram_freq, write_graph, write_images, update_freq, profile_batch, **more):
        super().__init__()
        self.embeddings_freq, self.embeddings_metadata = more.pop("embeddings_freq"), more.pop("embeddings_metadata")
        unknown = set(more) - _OF_VERSION_1
        if unknown:
            raise ValueError(f"TensorBoard doesn't know {sorted(unknown)}.")
        self.log_dir = os.fspath(log_dir)
        self.histogram_freq, self.write_graph, self.write_images = histogram_freq, write_graph, write_images
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._profile_batch, self._is_profiling = profile_batch, False
        self._batches_seen, self._writers = 0, {}
        self._steps, self._entered = {}, []

    # --- what is written at the start ----------------------------------------------------------

    def set_model(self, model):
        """Write the graph, and the layers of a model that can tell them."""
        super().set_model(model)
        self._close_writers()
        if self.write_graph:
            if not model.run_eagerly:
                self._get_writer(_TRAIN).add_graph(K.get_graph())
            if model._is_graph_network or (type(model).__name__ == "Sequential" and model.built):
                written = json.dumps(model._updated_config(), default=as_json)
                self._write_text(_TRAIN, "keras", "graph_keras_model", written.encode(), 0)
            self._get_writer(_TRAIN).flush()
        if self.embeddings_freq:
            self._configure_embeddings()

    def _get_writer(self, run):
        """The event file of a run, made when something is to be written."""
        if run not in self._writers:
            self._writers[run] = file_writer(os.path.join(self.log_dir, run))
        return self._writers[run]

    def _close_writers(self):
        for writer in self._writers.values():
            writer.close()
        self._writers = {}

    def _write_text(self, run, tag, plugin, content, step):
        summary = Summary()
        value = summary.value.add(tag=tag)
        value.metadata.plugin_data.plugin_name = plugin
        value.tensor.dtype = DT_STRING
        value.tensor.string_val.append(content)
        value.tensor.tensor_shape.SetInParent()
        self._get_writer(run).add_summary(summary, step)

    def _log_metrics(self, logs, prefix, step):
        """Write metrics, those of validation ("val_") beside those of training."""
        metrics = {name: value for name, value in (logs or {}).items() if name not in _NOT_METRICS}
        validated = {name[len("val_") :]: value for name, value in metrics.items() if name.startswith("val_")}
        trained = {name: value for name, value in metrics.items() if not name.startswith("val_")}
        for run, values in ((_TRAIN, trained), (_VALIDATION, validated)):
            for name, value in values.items():
                summary = Summary()
                summary.value.add(tag=prefix + name, simple_value=float(value))
                self._get_writer(run).add_summary(summary, step)
            if values:
                self._get_writer(run).flush()

    # --- summaries of the program's own --------------------------------------------------------

    def _set_default_writer(self, run):
        """Let summaries that layers write go to a run's folder, where batches are written."""
        if self.update_freq == "epoch" or not executing_eagerly():
            return
        writer = create_file_writer(os.path.join(self.log_dir, run))
        self._steps[run] = self._steps.get(run) or Variable(0, dtype=dtypes.int64, trainable=False)
        step, before = self._steps[run], current.step
        context = contextlib.ExitStack()
        context.enter_context(writer.as_default())
        context.enter_context(recording(lambda: math.equal(step % self.update_freq, 0)))
        context.callback(setattr, current, "step", before)
        current.step = step
        self._entered.append(context)

    def _leave_default_writer(self):
        if self._entered:
            self._entered.pop().close()

    def on_test_begin(self, logs=None):
        """Validation's summaries have a folder of their own."""
        self._set_default_writer(_VALIDATION)

    def on_test_end(self, logs=None):
        """Back to training's, if there is one."""
        self._leave_default_writer()

    def on_test_batch_end(self, batch, logs=None):
        """Count a step of validation."""
        self._increment_step(_VALIDATION)

    def _increment_step(self, run):
        if run in self._steps:
            self._steps[run].assign_add(1)

    # --- batches -------------------------------------------------------------------------------

    def on_train_begin(self, logs=None):
        """Take the time of the first batch, where that is asked for."""
        self._batches_seen = 0
        self._set_default_writer(_TRAIN)
        if self._profile_batch == 1:
            self._enable_trace()

    def on_train_batch_end(self, batch, logs=None):
        """Write metrics of a batch."""
        if self.update_freq != "epoch" and batch % self.update_freq == 0:
            self._log_metrics(logs, "batch_", self._batches_seen)
        self._batches_seen += 1
        self._increment_step(_TRAIN)
        if self._is_tracing:
            self._log_trace()
        elif self._batches_seen == self._profile_batch - 1:
            self._enable_trace()

    @property
    def _is_tracing(self):
        """Whether the time of a batch is taken."""
        return self._is_profiling

    def _enable_trace(self):
        self._is_profiling = begin_profile()

    def _log_trace(self):
        """What ran in a batch as a profile, and as a run's metadata where it was no session's, which writes its own."""
        self._is_profiling = False
        profile = live.stop()
        if not executing_eagerly():
            return
        live.save(os.path.join(self.log_dir, _TRAIN), profile)
        metadata = RunMetadata()
        device = metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
        for event in Trace.FromString(profile).trace_events:
            start, taken = (picoseconds // 10**6 for picoseconds in (event.timestamp_ps, event.duration_ps))
            device.node_stats.add(node_name=event.name, all_start_micros=start, all_end_rel_micros=taken)
        name = f"batch_{self._batches_seen}"
        self._write_text(_TRAIN, name, "graph_run_metadata", metadata.SerializeToString(), self._batches_seen)

    # --- epochs --------------------------------------------------------------------------------

    def on_epoch_end(self, epoch, logs=None):
        """Write metrics of training and of validation, and what is known of weights."""
        self._log_metrics(logs, "epoch_", epoch)
        for every, write in ((self.histogram_freq, self._log_weights), (self.embeddings_freq, self._log_embeddings)):
            if every and epoch % every == 0:
                write(epoch)

    def on_train_end(self, logs=None):
        """End the files."""
        if self._is_tracing:
            self._log_trace()
        self._leave_default_writer()
        self._close_writers()

    def _log_embeddings(self, epoch):
        self.model.save_weights(os.path.join(self.log_dir, _TRAIN, f"keras_embedding.ckpt-{epoch}"))

    def _log_weights(self, epoch):
        for layer in self.model.layers:
            for weight, value in zip(layer.weights, layer.get_weights()):
                name = weight.name.replace(":", "_")
                self._add(raw.HistogramSummary, name, epoch, value)
                if self.write_images:
                    self._log_weight_as_image(name, value, epoch)
        self._get_writer(_TRAIN).flush()

    def _log_weight_as_image(self, name, value, epoch):
        for number, picture in enumerate(_pictures(value)[:_IMAGES]):
            self._add(raw.ImageSummary, f"{name}/image/{number}", epoch, picture[None, ..., None])

    def _add(self, build, tag, epoch, value):
        """Write what an op makes of a value, which is computed at once, whatever the model is drawn in."""
        with eager_mode():
            written = build(tag, convert_to_tensor(value)).numpy()
        summary = Summary.FromString(written)
        summary.value[0].tag = tag
        self._get_writer(_TRAIN).add_summary(summary, epoch)

    # --- embeddings ----------------------------------------------------------------------------

    def _configure_embeddings(self):
        """Tell TensorBoard's projector which weights are embeddings."""
        named = self.embeddings_metadata
        lines = []
        for layer in self.model.layers:
            if type(layer).__name__ == "Embedding":
                path = named.get(layer.name) if isinstance(named, dict) else named
                of_labels = f'  metadata_path: "{path}"\n' if path else ""
                lines.append(f'embeddings {{\n  tensor_name: "{layer.name}"\n{of_labels}}}\n')
        unknown = set(named or ()) - {layer.name for layer in self.model.layers} if isinstance(named, dict) else ()
        if unknown:
            raise ValueError(f"`embeddings_metadata` names layers that the model hasn't: {sorted(unknown)}")
        file_io.recursive_create_dir(self.log_dir)
        file_io.write_string_to_file(os.path.join(self.log_dir, "projector_config.pbtxt"), "".join(lines))


def _pictures(value):
    """A weight as grey images: a vector as a line, a matrix lying down, filters one by one; others as none."""
    value = np.squeeze(value)
    if value.ndim == 1:
        return value.reshape(1, value.shape[0], 1)
    if value.ndim == 2:
        return (value.T if value.shape[0] > value.shape[1] else value)[None]
    if value.ndim == 3:
        return np.transpose(value, [2, 0, 1]) if K.image_data_format() == "channels_last" else value
    return []
