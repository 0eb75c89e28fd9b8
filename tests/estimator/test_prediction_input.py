"""What predict says of its input."""

import numpy as np
import pytest

import everflow as tf


def _model(features, mode):
    return tf.estimator.EstimatorSpec(
        mode, predictions={"y": features * 2.0}, export_outputs={"only": tf.estimator.export.PredictOutput(features)}
    )


def _warnings(input_fn, tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(tf.logging, "warning", lambda text, *args: said.append(text))
    from everflow.estimator import estimator

    monkeypatch.setattr(estimator.logging, "warning", lambda text, *args: said.append(text % args if args else text))
    next(tf.estimator.Estimator(_model, str(tmp_path)).predict(input_fn))
    return [text for text in said if "yields forever" in text]


@pytest.mark.parametrize("element_of", [lambda data: data, lambda data: data.make_one_shot_iterator().get_next()])
def test_elements_of_a_dataset_are_no_mistake(element_of, tmp_path, monkeypatch):
    data = lambda: tf.data.Dataset.from_tensor_slices(np.ones([2, 3], np.float32)).batch(2)  # noqa: E731
    assert not _warnings(lambda: element_of(data()), tmp_path, monkeypatch)


def test_a_constant_may_be_one(tmp_path, monkeypatch):
    assert _warnings(lambda: tf.ones([2, 3]), tmp_path, monkeypatch)
