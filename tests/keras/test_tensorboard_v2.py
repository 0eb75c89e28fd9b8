"""TensorFlow 2's TensorBoard callback: what stands in the event files of training and validation."""

import os

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.callbacks.tensorboard_v2 import TensorBoard
from everflow.profiler import live
from everflow.protos.trace_events_pb2 import Trace

layers = tf.keras.layers
X, Y = np.ones((10, 3), "float32"), np.zeros((10, 1), "float32")


def _steps(folder):
    """{run/tag: steps} of the event files below a folder."""
    found = {}
    for path, _, files in os.walk(folder):
        run = os.path.relpath(path, folder)
        for name in sorted(files):
            for event in tf.train.summary_iterator(os.path.join(path, name)) if "tfevents" in name else ():
                if event.HasField("graph_def"):
                    found[f"{run}/GRAPH"] = [0]
                for value in event.summary.value:
                    found.setdefault(f"{run}/{value.tag}", []).append(event.step)
    return found


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    tf.keras.backend.clear_session()  # names of weights begin anew
    with tf.Graph().as_default() if request.param == "graph" else eager_mode():
        yield request.param


def _trained(folder, **settings):
    model = tf.keras.Sequential([layers.Dense(4, input_shape=(3,), name="a"), layers.Dense(1, name="b")])
    model.compile("sgd", "mse")
    model.fit(
        X, Y, batch_size=5, epochs=2, verbose=0, validation_data=(X, Y), callbacks=[TensorBoard(folder, **settings)]
    )
    return _steps(folder)


def test_epochs_of_training_and_validation(tmp_path, mode):
    found = _trained(tmp_path)
    timed = {"train/batch_2": [2]} if mode == "eager" else {}
    losses = {"train/epoch_loss": [0, 1], "validation/epoch_loss": [0, 1]}
    assert found == {"train/GRAPH": [0], "train/keras": [0], **losses, **timed}


def test_what_ran_in_a_batch_is_profiled(tmp_path):
    with eager_mode():
        _trained(tmp_path)
    (profile,) = tmp_path.glob("train/plugins/profile/*/local.trace")
    assert Trace.FromString(profile.read_bytes()).trace_events


def test_a_profile_of_the_program_itself_goes_on(tmp_path):
    with eager_mode(), live.Profiler(str(tmp_path / "own")):
        _trained(tmp_path / "board")
    assert not list(tmp_path.glob("board/train/plugins/profile"))
    assert list(tmp_path.glob("own/plugins/profile/*/local.trace"))


@pytest.mark.parametrize("frequency, steps", [("batch", [0, 1, 2, 3]), (2, [0, 2]), (7, [0, 2])])
def test_batches(tmp_path, frequency, steps):
    found = _trained(tmp_path, update_freq=frequency, write_graph=False, profile_batch=0)
    assert found["train/batch_loss"] == steps and "train/GRAPH" not in found


def test_histograms_and_images_of_weights(tmp_path, mode):
    found = _trained(tmp_path, histogram_freq=1, write_images=True)
    assert found["train/a/kernel_0"] == found["train/a/kernel_0/image/0"] == found["train/b/bias_0"] == [0, 1]
    assert "train/b/bias_0/image/0" not in found


def test_embeddings_are_told_to_the_projector(tmp_path):
    model = tf.keras.Sequential([layers.Embedding(4, 2, input_length=1, name="words"), layers.Flatten()])
    model.compile("sgd", "mse")
    board = TensorBoard(tmp_path, embeddings_freq=1, embeddings_metadata={"words": "labels.tsv"})
    model.fit(np.ones((4, 1)), np.ones((4, 2)), verbose=0, callbacks=[board])
    assert 'metadata_path: "labels.tsv"' in (tmp_path / "projector_config.pbtxt").read_text()
    assert any(name.startswith("keras_embedding.ckpt-0") for name in os.listdir(tmp_path / "train"))
    with pytest.raises(ValueError, match="zzz"):
        TensorBoard(tmp_path, embeddings_freq=1, embeddings_metadata={"zzz": "l"}).set_model(model)


def test_what_it_takes(tmp_path):
    assert TensorBoard(tmp_path, batch_size=3).update_freq == "epoch"  # an argument of version 1's
    with pytest.raises(ValueError, match="foo"):
        TensorBoard(tmp_path, foo=1)
    assert tf.compat.v2.keras.callbacks.TensorBoard is TensorBoard is not tf.keras.callbacks.TensorBoard
