"""TensorFlow 2's `TensorBoard` callback: what training and validation come to in event files of their own folders."""

from __future__ import annotations

import json
import os
import time

import numpy as np

from everflow.eager.mode import eager_mode
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import executing_eagerly
from everflow.keras import backend as K
from everflow.keras.callbacks.base import Callback
from everflow.keras.callbacks.tensorboard import file_writer
from everflow.keras.saving.json_data import default as as_json
from everflow.platform import file_io
from everflow.platform.signatures import takes
from everflow.protos.config_pb2 import RunMetadata
from everflow.protos.summary_pb2 import Summary
from everflow.protos.types_pb2 import DT_STRING

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
        self._profile_batch, self._profile_start = profile_batch, None
        self._batches_seen, self._writers = 0, {}

    # --- what is written at the start ----------------------------------------------------------

    def set_model(self, model):
        """Write the graph, and the layers of a model that can tell them."""
        super().set_model(model)
        self._close()
        if self.write_graph:
            self._writer("train").add_graph(K.get_graph())
            if model._is_graph_network or (type(model).__name__ == "Sequential" and model.built):
                written = json.dumps(model._updated_config(), default=as_json)
                self._write_text("train", "keras", "graph_keras_model", written.encode(), 0)
            self._writer("train").flush()
        if self.embeddings_freq:
            self._configure_embeddings()

    def _writer(self, run):
        """The event file of a run, made when something is to be written."""
        if run not in self._writers:
            with K.get_graph().as_default():  # when executing eagerly, that of functional models
                self._writers[run] = file_writer(os.path.join(self.log_dir, run))
        return self._writers[run]

    def _close(self):
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
        self._writer(run).add_summary(summary, step)

    def _write_scalars(self, run, prefix, logs, step):
        for name, value in logs.items():
            summary = Summary()
            summary.value.add(tag=prefix + name, simple_value=float(value))
            self._writer(run).add_summary(summary, step)
        self._writer(run).flush()

    # --- batches -------------------------------------------------------------------------------

    def on_train_begin(self, logs=None):
        """Take the time of the first batch, where that is asked for."""
        self._batches_seen = 0
        if self._profile_batch == 1:
            self._profile_start = time.time()

    def on_train_batch_end(self, batch, logs=None):
        """Write metrics of a batch."""
        if self.update_freq != "epoch" and batch % self.update_freq == 0:
            metrics = {name: value for name, value in (logs or {}).items() if name not in _NOT_METRICS}
            self._write_scalars("train", "batch_", metrics, self._batches_seen)
        self._batches_seen += 1
        if self._profile_start is not None:
            self._write_profile()
        elif self._batches_seen == self._profile_batch - 1:
            self._profile_start = time.time()

    def _write_profile(self):
        """The time of a batch as a run's metadata; a graph that is run in a session has its own."""
        start, self._profile_start = self._profile_start, None
        if not executing_eagerly():
            return
        metadata = RunMetadata()
        device = metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
        taken = int((time.time() - start) * 1e6)
        device.node_stats.add(node_name="train_batch", all_start_micros=int(start * 1e6), all_end_rel_micros=taken)
        name = f"batch_{self._batches_seen}"
        self._write_text("train", name, "graph_run_metadata", metadata.SerializeToString(), self._batches_seen)

    # --- epochs --------------------------------------------------------------------------------

    def on_epoch_end(self, epoch, logs=None):
        """Write metrics of training and of validation, and what is known of weights."""
        metrics = {name: value for name, value in (logs or {}).items() if name not in _NOT_METRICS}
        validated = {name[len("val_") :]: value for name, value in metrics.items() if name.startswith("val_")}
        trained = {name: value for name, value in metrics.items() if not name.startswith("val_")}
        self._write_scalars("train", "epoch_", trained, epoch)
        if validated:
            self._write_scalars("validation", "epoch_", validated, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            self.model.save_weights(os.path.join(self.log_dir, "train", f"keras_embedding.ckpt-{epoch}"))

    def on_train_end(self, logs=None):
        """End the files."""
        if self._profile_start is not None:
            self._write_profile()
        self._close()

    def _write_weights(self, epoch):
        for layer in self.model.layers:
            for weight, value in zip(layer.weights, layer.get_weights()):
                name = weight.name.replace(":", "_")
                self._add(raw.HistogramSummary, name, epoch, value)
                picture = _picture(value) if self.write_images else None
                if picture is not None:
                    self._add(raw.ImageSummary, f"{name}/image/0", epoch, picture[None])
        self._writer("train").flush()

    def _add(self, build, tag, epoch, value):
        """Write what an op makes of a value, which is computed at once, whatever the model is drawn in."""
        with eager_mode():
            written = build(tag, convert_to_tensor(value)).numpy()
        summary = Summary.FromString(written)
        summary.value[0].tag = tag
        self._writer("train").add_summary(summary, epoch)

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


def _picture(value):
    """A weight as an image of one channel: a vector as a line, a matrix lying down, filters one behind the other; else None."""
    value = np.squeeze(value)
    if value.ndim == 1:
        return value.reshape(value.shape[0], 1, 1)
    if value.ndim == 2:
        return (value.T if value.shape[0] > value.shape[1] else value)[..., None]
    if value.ndim == 3:
        return (np.transpose(value, [2, 0, 1]) if K.image_data_format() == "channels_last" else value)[0][..., None]
    return None
