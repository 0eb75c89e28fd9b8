"""What is printed of batches and epochs, and where models are saved in programs for TensorFlow 2."""

import re

import numpy as np
import pytest

import everflow as tf
from everflow.eager import version_mark
from everflow.eager.mode import eager_mode

X, Y = np.ones([4, 2], "float32"), np.ones([4, 1], "float32")


@pytest.fixture(autouse=True)
def eager():
    with eager_mode():
        yield
    tf.keras.backend.clear_session()


def model():
    made = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
    made.compile("sgd", "mse")
    return made


def dataset():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(2).filter(lambda x, y: True)


def lines(capsys):
    return re.sub(r"\d+\.\d+(e[+-]\d+)?|\d+s", "?", capsys.readouterr().out).splitlines()


def test_one_line_for_an_epoch_of_unknown_length(capsys):
    model().fit(dataset(), verbose=2)
    assert lines(capsys) == ["2/2 - ? - loss: ?"]


def test_a_bar_without_an_end_has_no_line(capsys):
    bar = tf.keras.utils.Progbar(None, verbose=2, interval=0)
    bar.update(1, [("a", 1)])
    assert lines(capsys) == []


def test_generators_are_not_announced(capsys):
    def batches():
        while True:
            yield X, Y

    model().fit_generator(batches(), steps_per_epoch=2, verbose=2)
    assert lines(capsys) == ["2/2 - ? - loss: ?"]


def test_evaluations_count_as_in_tensorflow(capsys):
    model().evaluate(X, Y, verbose=2)
    assert lines(capsys) == ["4/1 - ? - loss: ?"]


@pytest.fixture(params=[False, True], ids=["1", "2"])
def second(request, monkeypatch):
    monkeypatch.setattr(version_mark, "_force_enable", request.param)
    return request.param


def test_programs_for_the_second_version_save_folders(tmp_path, second):
    path = tmp_path / "model"
    model().save(str(path))
    assert path.is_dir() == second
    assert tf.keras.models.load_model(str(path)).predict(X).shape == (4, 1)


@pytest.mark.parametrize("save_format", [None, "tf", "h5"])
def test_the_ending_of_a_path_counts_more(tmp_path, second, save_format):
    model().save(str(tmp_path / "model.h5"), save_format=save_format)
    assert (tmp_path / "model.h5").is_file()
