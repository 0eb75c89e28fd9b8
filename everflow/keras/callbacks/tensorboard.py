"""`TensorBoard`: metrics, histograms, images and the graph in event files."""

from __future__ import annotations

import os

from everflow.framework.composites import IndexedSlices
from everflow.framework.scopes import executing_eagerly
from everflow.keras import backend as K
from everflow.keras.callbacks.base import Callback
from everflow.ops import array
from everflow.platform import file_io
from everflow.platform.signatures import takes
from everflow.profiler import live
from everflow.protos.summary_pb2 import Summary


class TensorBoard(Callback):
    """Writes event files that TensorBoard shows.

    `update_freq` is "epoch", "batch" or a number of samples; histograms of weights and outputs are written every
    `histogram_freq` epochs.

    Args:
        log_dir: The folder of event files.
        histogram_freq: Every how many epochs histograms are written; 0 for never.
        batch_size: The batch size for histograms.
        write_graph: Whether the graph is written.
        write_grads: Whether histograms of gradients are written.
        write_images: Whether weights are written as images.
        embeddings_freq: Every how many epochs embeddings are written; 0 for never.
        embeddings_layer_names: The layers whose outputs are embeddings.
        embeddings_metadata: Files with labels, by layer.
        embeddings_data: The inputs for embeddings.
        update_freq: `epoch`, `batch` or a number of samples.
        profile_batch: Which batch is profiled; 0 for none.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> board = tf.keras.callbacks.TensorBoard("logs", profile_batch=0)
        >>> _ = model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0, callbacks=[board])
        >>> len(tf.gfile.Glob("logs/*")) > 0
        True
    """

    @takes(
        """log_dir="./logs", histogram_freq=0, batch_size=32, write_graph=True, write_grads=False, write_images=False,
        embeddings_freq=0, embeddings_layer_names=None, embeddings_metadata=None, embeddings_data=None,
        update_freq="epoch", profile_batch=2""",
    )
    def __init__(self, log_dir, update_freq, profile_batch, **kept):
        super().__init__()
        self.__dict__.update(kept, log_dir=os.fspath(log_dir))
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.merged = None
        self._samples_seen = self._samples_seen_at_last_write = 0
        self._total_batches_seen = self._total_val_batches_seen = 0
        self._profile_batch = profile_batch
        self._is_profiling = False

    def set_model(self, model):
        from everflow.summary import merge_all  # loads google_crc32c

        super().set_model(model)
        if self.histogram_freq and self.merged is None and not executing_eagerly():
            self._make_histogram_ops(model)
        self._init_writer(model)
        if self.embeddings_freq and self.embeddings_data is not None:
            self._configure_embeddings()
        if self.histogram_freq and not executing_eagerly():
            self.merged = merge_all()

    def _init_writer(self, model):
        """Begin the event file."""
        self.writer = file_writer(self.log_dir, K.get_graph() if self.write_graph else None)

    # --- histograms and images -----------------------------------------------------------------

    def _make_histogram_ops(self, model):
        for layer in model.layers:
            self._add_summaries_of(layer)

    def _add_summaries_of(self, layer):
        from everflow.summary import histogram  # loads google_crc32c

        for weight in layer.weights:
            name = weight.name.replace(":", "_")
            histogram(name, weight)
            if self.write_images:
                self._add_image(name, weight)
        if self.write_grads and layer.trainable_weights:
            for weight in layer.trainable_weights:
                self.model.optimizer and self._add_gradient(weight)
        if hasattr(layer, "output"):
            outputs = layer.output if isinstance(layer.output, list) else [layer.output]
            for i, output in enumerate(outputs):
                histogram(f"{layer.name}_out" if len(outputs) == 1 else f"{layer.name}_out_{i}", output)

    def _add_gradient(self, weight):
        from everflow.summary import histogram  # loads google_crc32c

        for gradient in K.gradients(self.model.total_loss, [weight]):
            if gradient is not None:
                values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
                histogram(weight.name.replace(":", "_") + "_grad", values)

    def _add_image(self, name, weight):
        """A weight as an image: a vector as a line, a matrix as it is, kernels as one image for each filter."""
        from everflow.summary import image  # loads google_crc32c

        picture = array.squeeze(weight)
        shape = picture.shape.as_list()
        if len(shape) == 2:
            if shape[0] > shape[1]:
                picture = array.transpose(picture)
                shape = picture.shape.as_list()
            picture = array.reshape(picture, [1, shape[0], shape[1], 1])
        elif len(shape) == 3:
            if K.image_data_format() == "channels_last":
                picture = array.transpose(picture, perm=[2, 0, 1])
                shape = picture.shape.as_list()
            picture = array.reshape(picture, [shape[0], shape[1], shape[2], 1])
        elif len(shape) == 1:
            picture = array.reshape(picture, [1, shape[0], 1, 1])
        else:
            return
        if picture.shape.as_list()[-1] in (1, 3, 4):
            image(name, picture)

    def _fetch_callback(self, summary):
        self.writer.add_summary(summary, self._total_val_batches_seen)
        self._total_val_batches_seen += 1

    def on_epoch_begin(self, epoch, logs=None):
        if self.histogram_freq and epoch % self.histogram_freq == 0 and self.merged is not None:
            self.model._make_test_function()
            if not any(fetch is self.merged for fetch in self.model.test_function.fetches):
                self.model.test_function.fetches.append(self.merged)
                self.model.test_function.fetch_callbacks[self.merged] = self._fetch_callback

    # --- embeddings ----------------------------------------------------------------------------

    def _configure_embeddings(self):
        """Tell TensorBoard's projector where the outputs of layers are saved."""
        names = self.embeddings_layer_names or [
            layer.name for layer in self.model.layers if type(layer).__name__ == "Embedding"
        ]
        self._embedded = [self.model.get_layer(name) for name in names]
        metadata = self.embeddings_metadata
        metadata = metadata if isinstance(metadata, dict) else dict.fromkeys(names, metadata)
        lines = []
        for layer in self._embedded:
            path = metadata.get(layer.name)
            entry = f'  tensor_name: "{layer.weights[0].op.name}"\n' + (f'  metadata_path: "{path}"\n' if path else "")
            lines.append("embeddings {\n" + entry + "}\n")
        file_io.recursive_create_dir(self.log_dir)
        file_io.write_string_to_file(os.path.join(self.log_dir, "projector_config.pbtxt"), "".join(lines))

    def _save_embeddings(self, epoch):
        from everflow.train import Saver  # loads google_crc32c

        variables = [weight for layer in self._embedded for weight in layer.weights[:1]]
        Saver(variables).save(K.get_session(), os.path.join(self.log_dir, "keras_embedding.ckpt"), epoch)

    # --- scalars -------------------------------------------------------------------------------

    def _write_custom_summaries(self, step, logs=None):
        """Write numbers by their names."""
        for name, value in (logs or {}).items():
            summary = Summary()
            summary.value.add(tag=name, simple_value=float(value))
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_train_batch_begin(self, batch, logs=None):
        if self._total_batches_seen == self._profile_batch - 1 and self._profile_batch:
            self._is_profiling = begin_profile()

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        if self.update_freq != "epoch" and self._samples_seen - self._samples_seen_at_last_write >= self.update_freq:
            self._write_custom_summaries(
                self._total_batches_seen,
                {f"batch_{k}": v for k, v in logs.items() if k not in ("batch", "size", "num_steps")},
            )
            self._samples_seen_at_last_write = self._samples_seen
        self._total_batches_seen += 1
        if self._is_profiling:
            self._is_profiling = False
            live.save(self.log_dir, live.stop())

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs)

    def on_epoch_end(self, epoch, logs=None):
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        self._write_custom_summaries(
            step, {f"epoch_{k}": v for k, v in (logs or {}).items() if k not in ("batch", "size", "num_steps")}
        )
        if self.histogram_freq and self.merged is not None and self.model.test_function is not None:
            function = self.model.test_function
            function.fetches[:] = [fetch for fetch in function.fetches if fetch is not self.merged]
            function.fetch_callbacks.pop(self.merged, None)
        if self.embeddings_freq and self.embeddings_data is not None and epoch % self.embeddings_freq == 0:
            self._save_embeddings(epoch)

    def on_train_end(self, logs=None):
        self.writer.close()


def file_writer(folder, graph=None, **settings):
    """What writes an event file into a folder."""
    from everflow.summary import FileWriter  # loads google_crc32c

    with K.get_graph().as_default():  # when executing eagerly, that of functional models
        return FileWriter(folder, graph, **settings)


def begin_profile() -> bool:
    """Take a profile from now on; not where the program takes one itself, of which this batch is then a part."""
    try:
        live.start()
    except live.ProfilerAlreadyRunningError:
        return False
    return True
