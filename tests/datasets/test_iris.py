"""The irises, and the model that so many programs of 2016 began with."""

import numpy as np
import pytest

import everflow as tf

learn = tf.contrib.learn


def test_the_flowers():
    iris = learn.datasets.load_dataset("iris")
    assert iris.data.shape == (150, 4) and iris.data.dtype == np.float64
    assert np.bincount(iris.target).tolist() == [50, 50, 50]
    assert iris.data.sum() == pytest.approx(2078.2, abs=0.01)
    with pytest.raises(ValueError, match="Name of dataset is not found"):
        learn.datasets.load_dataset("tulips")


def test_three_layers_tell_them_apart(tmp_path):
    iris = learn.datasets.load_iris()
    columns = learn.infer_real_valued_columns_from_input(iris.data)
    classifier = learn.DNNClassifier(
        feature_columns=columns,
        hidden_units=[10, 20, 10],
        n_classes=3,
        config=learn.RunConfig(tf_random_seed=1, model_dir=str(tmp_path)),
    )
    classifier.fit(iris.data, iris.target, steps=150)
    assert classifier.evaluate(iris.data, iris.target)["accuracy"] > 0.9
