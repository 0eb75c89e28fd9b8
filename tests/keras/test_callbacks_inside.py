"""Callbacks as programs take them apart: lists of them, the files of checkpoints, what TensorBoard's do step by step."""

import os

import numpy as np

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.callbacks import CallbackList
from everflow.keras.callbacks.tensorboard_v2 import TensorBoard as TensorBoardV2

callbacks = tf.keras.callbacks
X, Y = np.ones((4, 3), "float32"), np.zeros((4, 1), "float32")


def a_model(**settings):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")])
    model.compile("sgd", "mse", **settings)
    return model


class Notes(callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_batch_begin(self, batch, logs=None):
        self.seen.append((batch, logs))

    def on_test_begin(self, logs=None):
        self.seen.append("test")


def test_hooks_of_a_list():
    notes = Notes()
    several = CallbackList([notes])
    several.on_batch_begin(3)
    several._call_batch_hook("train", "begin", 4, {"size": 2})
    several._call_begin_hook("test")
    assert notes.seen == [(3, {}), (4, {"size": 2}), "test"]


def test_the_newest_file_of_a_pattern(tmp_path):
    saver = callbacks.ModelCheckpoint("unused")
    find = saver._get_most_recently_modified_file_matching_pattern
    pattern = str(tmp_path / "w.{epoch:02d}-{loss:.1f}.h5")
    assert find(pattern) is None
    for name, time in (("w.01-0.5.h5", 30), ("w.02-0.1.h5", 40), ("w.03-0.3.h5", 40), ("other.h5", 50)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time, time))
    assert os.path.basename(find(pattern)) == "w.03-0.3.h5"


def test_training_restarts_from_it(tmp_path):
    path = str(tmp_path / "w.{epoch:02d}.h5")
    keep = {"save_weights_only": True, "load_weights_on_restart": True}
    first = a_model()
    first.fit(X, Y, epochs=2, verbose=0, callbacks=[callbacks.ModelCheckpoint(path, **keep)])
    wanted = first.get_weights()
    second, seen = a_model(), []
    look = callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: seen.append(second.get_weights()))
    second.fit(X, Y, verbose=0, callbacks=[callbacks.ModelCheckpoint(path, **keep), look])
    np.testing.assert_allclose(seen[0][0], wanted[0])


def test_a_writer_of_the_programs_own(tmp_path, monkeypatch):
    class Writer:
        def __init__(self):
            self.steps, self.closed = [], False

        def add_summary(self, summary, step):
            self.steps.append(step)

        def flush(self):
            pass

        def close(self):
            self.closed = True

    monkeypatch.setattr(callbacks.TensorBoard, "_init_writer", lambda self, model: setattr(self, "writer", Writer()))
    board = callbacks.TensorBoard(str(tmp_path), histogram_freq=1, profile_batch=0)
    a_model().fit(X, Y, batch_size=2, epochs=2, validation_data=(X, Y), verbose=0, callbacks=[board])
    assert sorted(set(board.writer.steps)) == [0, 1, 2, 3] and board.writer.closed


def _tags(folder):
    return {
        (os.path.relpath(path, folder), value.tag)
        for path, _, files in os.walk(folder)
        for name in files
        if "tfevents" in name
        for event in tf.train.summary_iterator(os.path.join(path, name))
        for value in event.summary.value
    }


def test_summaries_of_layers_go_to_the_run(tmp_path):
    class Watched(tf.keras.layers.Layer):
        def call(self, inputs):
            tf.compat.v2.summary.scalar("seen", tf.reduce_sum(inputs))
            return inputs

    with eager_mode():
        model = tf.keras.Sequential([Watched(input_shape=(3,), name="w"), tf.keras.layers.Dense(1)], name="m")
        model.compile("sgd", "mse")
        board = TensorBoardV2(str(tmp_path), update_freq=1, profile_batch=0, write_graph=False)
        model.fit(X, Y, batch_size=2, validation_data=(X, Y), verbose=0, callbacks=[board])
    assert {("train", "m/w/seen"), ("validation", "m/w/seen"), ("train", "batch_loss")} <= _tags(str(tmp_path))
