"""input_data.read_data_sets: idx files, batches, and the bundled digits where there is no MNIST."""

import gzip
import struct

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.datasets import mnist
from everflow.datasets.digits import load_digits


def small(seed=5, **kwargs):
    return mnist.DataSet(np.arange(40, dtype=np.uint8).reshape(10, 2, 2, 1), np.arange(10), seed=seed, **kwargs)


def write_idx(path, array, pack=True):
    data = struct.pack(">I", 0x0800 + array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()
    path.write_bytes(gzip.compress(data) if pack else data)


@pytest.fixture
def folder(tmp_path):
    for prefix, count in (("train", 60), ("t10k", 10)):
        images = np.arange(count * 784, dtype=np.uint32).astype(np.uint8).reshape(count, 28, 28)
        write_idx(tmp_path / f"{prefix}-images-idx3-ubyte.gz", images)
        write_idx(tmp_path / f"{prefix}-labels-idx1-ubyte", np.arange(count, dtype=np.uint8) % 10, pack=False)
    return str(tmp_path)


def test_batches_in_the_order_of_tensorflow():
    data = small()
    assert data.images.shape == (10, 4) and data.images.dtype == np.float32
    batches = [data.next_batch(4)[1].tolist() for _ in range(6)]
    assert batches == [[9, 5, 2, 4], [7, 1, 0, 8], [6, 3, 2, 1], [0, 4, 6, 5], [7, 8, 3, 9], [2, 4, 8, 3]]
    assert data.epochs_completed == 2


def test_without_shuffling():
    data = small()
    assert [data.next_batch(4, shuffle=False)[1].tolist() for _ in range(3)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 0, 1],
    ]


def test_images_and_labels_stay_together():
    data = small(dtype=tf.uint8, reshape=False)
    for _ in range(7):
        images, labels = data.next_batch(3)
        assert (images[:, 0, 0, 0] == labels * 4).all()


def test_wrong_arguments():
    with pytest.raises(TypeError):
        small(dtype=tf.int32)
    with pytest.raises(AssertionError):
        mnist.DataSet(np.zeros((3, 2, 2, 1)), np.zeros(2))


def test_fake_data():
    data = mnist.read_data_sets("nowhere", fake_data=True, one_hot=True)
    images, labels = data.train.next_batch(2, fake_data=True)
    assert len(images[0]) == 784 and labels == [[1] + [0] * 9] * 2 and data.test.num_examples == 10000


def test_idx_files(folder):
    from tensorflow.examples.tutorials.mnist import input_data

    data = input_data.read_data_sets(folder, one_hot=True, reshape=False, validation_size=6000)
    assert (data.train.num_examples, data.validation.num_examples, data.test.num_examples) == (54, 6, 10)
    assert data.train.images.shape[1:] == (28, 28, 1) and data.test.labels.shape == (10, 10)
    assert input_data.read_data_sets(folder, validation_size=20).validation.num_examples == 20  # it has that many
    with pytest.raises(ValueError):
        input_data.read_data_sets(folder, validation_size=60001)


def test_a_file_of_another_kind(folder, tmp_path):
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match="magic"):
        mnist.read_data_sets(folder)


def test_digits_stand_in_without_a_network(tmp_path, caplog):
    data = mnist.read_data_sets(str(tmp_path / "new"), source_url="file:///no/such/place/")
    assert len(caplog.records) == 1 and "digits that come with Everflow" in caplog.text
    assert (
        data.train.images.shape == (1437 - 119, 784)
        and data.validation.num_examples == 119
        and data.test.num_examples == 360
    )
    assert 0.9 < data.train.images.max() <= 1


def test_digits_split():
    (train, train_labels), (test, test_labels) = load_digits()
    assert train.shape == (1437, 8, 8) and test.shape == (360, 8, 8) and train.max() == 16
    assert set(train_labels) == set(test_labels) == set(range(10))
