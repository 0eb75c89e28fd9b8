"""tf.contrib.learn.datasets.base."""

import importlib

import numpy as np

import everflow as tf
import tests.served  # noqa: F401


def test_with_and_without_header(tmp_path):
    path = str(tmp_path / "iris.csv")
    base = tf.contrib.learn.datasets.base
    with tf.gfile.GFile(path, "w") as f:
        f.write("2,3,setosa,virginica\n1.5,2,3,0\n4,5,6.5,1\n")
    data = base.load_csv_with_header(path, target_dtype=np.int64, features_dtype=np.float32)
    np.testing.assert_array_equal(data.data, np.array([[1.5, 2, 3], [4, 5, 6.5]], np.float32))
    assert data.target.tolist() == [0, 1] and data.target.dtype == np.int64
    with tf.gfile.GFile(path, "w") as f:
        f.write("0,1.5,2\n1,4,5\n")
    data = base.load_csv_without_header(path, np.int32, np.float64, target_column=0)
    assert data.target.tolist() == [0, 1] and data.data.tolist() == [[1.5, 2], [4, 5]]


def test_module_paths():
    assert (
        tf.contrib.learn.datasets.mnist.read_data_sets
        is importlib.import_module("everflow.datasets.mnist").read_data_sets
    )
    served = importlib.import_module("tensorflow.contrib.learn.python.learn.datasets.mnist")
    assert served.DataSet is tf.contrib.learn.datasets.mnist.DataSet
    assert importlib.import_module("tensorflow.contrib.learn.python.learn.datasets").base.Dataset
