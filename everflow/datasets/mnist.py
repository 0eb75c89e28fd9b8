"""`read_data_sets`, as tensorflow.examples.tutorials.mnist.input_data has it: MNIST in three parts that hand out
batches.
"""

from __future__ import annotations

import collections
import contextlib
import gzip
import http.client
import os
import urllib.error
import urllib.request

import numpy as np

from everflow.datasets.digits import LEVELS, load_digits
from everflow.framework import dtypes, seeds
from everflow.platform import gfile
from everflow.platform import logging as tf_logging
from everflow.platform.progress import Work

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
TRAIN_IMAGES = "train-images-idx3-ubyte"
TRAIN_LABELS = "train-labels-idx1-ubyte"
TEST_IMAGES = "t10k-images-idx3-ubyte"
TEST_LABELS = "t10k-labels-idx1-ubyte"
_IMAGES_MAGIC, _LABELS_MAGIC = 2051, 2049
_SIDE = 28
_TRAIN_SIZE, _FAKE_SIZE = 60000, 10000
_TIMEOUT = 20  # seconds without a byte

Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


class DataSet:
    """Images and labels that are handed out in batches, shuffled anew for each pass."""

    def __init__(self, images, labels, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, seed=None):
        graph_seed, op_seed = seeds.get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)  # numpy's own generator, as programs of the time expect
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self._images, self._labels, self.one_hot = images, labels, one_hot
        self._num_examples = _FAKE_SIZE if fake_data else len(images)
        self._epochs_completed = self._index_in_epoch = 0
        if not fake_data:
            assert len(images) == len(labels), f"{len(images)} images have {len(labels)} labels"
            self._images = _as_rows(images) if reshape else images
            if dtype == dtypes.float32:
                self._images = np.multiply(self._images.astype(np.float32), 1.0 / 255.0)

    @property
    def images(self):
        return self._images

    @property
    def labels(self):
        return self._labels

    @property
    def num_examples(self):
        return self._num_examples

    @property
    def epochs_completed(self):
        """How often every example has been handed out."""
        return self._epochs_completed

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """(images, labels) of the next `batch_size` examples. A batch may end one pass and begin the next."""
        if fake_data:
            image = [1] * (_SIDE * _SIDE)
            label = [1] + [0] * 9 if self.one_hot else 0
            return [image for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._index_in_epoch = start + batch_size
            return self._images[start : self._index_in_epoch], self._labels[start : self._index_in_epoch]
        self._epochs_completed += 1
        rest_images, rest_labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = batch_size - len(rest_images)
        return (
            np.concatenate([rest_images, self._images[: self._index_in_epoch]]),
            np.concatenate([rest_labels, self._labels[: self._index_in_epoch]]),
        )

    def _shuffle(self):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def _as_rows(images):
    """Images of one channel as the rows of a matrix."""
    count, height, width, channels = images.shape
    assert channels == 1, f"images of {channels} channels can't be reshaped to rows of pixels"
    return images.reshape(count, height * width)


def dense_to_one_hot(labels_dense, num_classes):
    """Class labels as rows with a single one."""
    return np.eye(num_classes)[np.asarray(labels_dense, dtype=np.int64).ravel()]


def _read_idx(f, magic, what):
    """The array in an idx file: big-endian magic number and sizes, then bytes."""
    data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    found = int.from_bytes(data[:4], "big")
    if found != magic:
        raise ValueError(f"Invalid magic number {found} in MNIST {what} file: {getattr(f, 'name', f)}")
    rank = data[3]
    shape = np.frombuffer(data, ">u4", rank, offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def extract_images(f):
    """The images in an open idx file, gzipped or not: uint8 [n, rows, columns, 1]."""
    return _read_idx(f, _IMAGES_MAGIC, "image")[..., np.newaxis]


def extract_labels(f, one_hot=False, num_classes=10):
    """The labels in an open idx file, gzipped or not: uint8 [n], or one row for each with `one_hot`."""
    labels = _read_idx(f, _LABELS_MAGIC, "label")
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def maybe_download(filename, work_directory, source_url):
    """The path of a file in `work_directory`, fetched from `source_url` where it is not there yet."""
    gfile.MakeDirs(work_directory)
    path = os.path.join(work_directory, filename)
    if not gfile.Exists(path):
        with urllib.request.urlopen(source_url, timeout=_TIMEOUT) as response:
            content = _received(response, filename)
        with gfile.GFile(path + ".part", "wb") as f:
            f.write(content)
        gfile.Rename(path + ".part", path)
        print("Successfully downloaded", filename, len(content), "bytes.")
    return path


def _received(response, name):
    """All that comes, in parts of a size at which the progress can be seen."""
    size = int(response.headers.get("Content-Length", 0))
    parts = []
    with Work(f"Downloading {name}", size or None, "bytes") as work:
        while part := response.read(1 << 16):
            parts.append(part)
            work.advance(len(part))
    return b"".join(parts)


def _locate(name, train_dir, source_url):
    """The path of an idx file, packed or not, in `train_dir`; downloaded where neither is there."""
    for candidate in (name + ".gz", name):
        path = os.path.join(train_dir, candidate)
        if gfile.Exists(path):
            return path
    return maybe_download(name + ".gz", train_dir, source_url + name + ".gz")


def load_arrays(train_dir, source_url=DEFAULT_SOURCE_URL):
    """(training images, labels), (test images, labels) as uint8; the bundled digits at MNIST's size where MNIST can't
    be had.
    """
    try:
        paths = [
            _locate(name, train_dir, source_url) for name in (TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS)
        ]
    except (urllib.error.URLError, http.client.HTTPException, OSError) as e:
        tf_logging.warning(
            "MNIST is not in %s and can't be downloaded (%s): using the 1797 digits that come with Everflow in its place.",
            train_dir,
            e,
        )
        (train, train_labels), (test, test_labels) = load_digits()
        return (_as_mnist(train), train_labels), (_as_mnist(test), test_labels)
    arrays = []
    for path, extract in zip(paths, (extract_images, extract_labels) * 2, strict=True):
        with contextlib.closing(gfile.GFile(path, "rb")) as f:
            print("Extracting", path)
            arrays.append(extract(f))
    return (arrays[0], arrays[1]), (arrays[2], arrays[3])


def _as_mnist(images):
    """8 by 8 digits as MNIST has them: 20 by 20 in the middle of 28 by 28, grey levels up to 255."""
    from PIL import Image

    out = np.zeros((len(images), _SIDE, _SIDE, 1), np.uint8)
    for i, image in enumerate(images):
        scaled = Image.fromarray((image.astype(np.float32) * (255 / LEVELS)).astype(np.uint8)).resize(
            (20, 20), Image.Resampling.BICUBIC
        )
        out[i, 4:24, 4:24, 0] = np.asarray(scaled)
    return out


def read_data_sets(
    train_dir,
    fake_data=False,
    one_hot=False,
    dtype=dtypes.float32,
    reshape=True,
    validation_size=5000,
    seed=None,
    source_url=DEFAULT_SOURCE_URL,
):
    """MNIST as Datasets(train, validation, test), read from `train_dir` and downloaded to it where it isn't there."""
    if fake_data:
        fake = [DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed) for _ in range(3)]
        return Datasets(*fake)
    (train_images, train_labels), (test_images, test_labels) = load_arrays(train_dir, source_url or DEFAULT_SOURCE_URL)
    if one_hot:
        train_labels, test_labels = dense_to_one_hot(train_labels, 10), dense_to_one_hot(test_labels, 10)
    if not 0 <= validation_size <= max(len(train_images), _TRAIN_SIZE):
        raise ValueError(f"Validation size should be between 0 and {len(train_images)}. Received: {validation_size}.")
    if validation_size > len(train_images):  # the same share of a smaller set
        validation_size = validation_size * len(train_images) // _TRAIN_SIZE
    parts = (
        (train_images[validation_size:], train_labels[validation_size:]),
        (train_images[:validation_size], train_labels[:validation_size]),
        (test_images, test_labels),
    )
    return Datasets(*(DataSet(images, labels, dtype=dtype, reshape=reshape, seed=seed) for images, labels in parts))


def load_mnist(train_dir="MNIST-data"):
    """read_data_sets with everything else as it is by default."""
    return read_data_sets(train_dir)
