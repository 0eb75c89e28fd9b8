"""tf.keras.datasets.imdb: 50,000 reviews of films, as numbers of words, with whether they are good."""

from __future__ import annotations

import json

import numpy as np

from everflow.keras.datasets.arrays_in_files import load_npz
from everflow.keras.datasets.word_sequences import arrange, ragged, take_old_names
from everflow.keras.utils.downloads import get_file

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def load_data(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2, index_from=3, **kwargs):
    """(training reviews, labels), (test reviews, labels); reviews are lists of numbers, the most frequent words the smallest."""
    num_words = take_old_names(kwargs, num_words)
    data = load_npz(get_file(path, origin=_ORIGIN + "imdb.npz", file_hash="599dadb1135973df5b59232a0e9a887c"))
    np.random.seed(seed)
    parts = []
    for name in ("train", "test"):
        x, y = data["x_" + name], data["y_" + name]
        order = np.arange(len(x))
        np.random.shuffle(order)
        parts.append((x[order], y[order]))
    (x_train, y_train), (x_test, y_test) = parts
    xs, labels = arrange(
        list(x_train) + list(x_test), np.concatenate([y_train, y_test]), num_words, skip_top, maxlen, start_char, oov_char, index_from
    )
    split = len(x_train)
    return (ragged(xs[:split]), np.array(labels[:split])), (ragged(xs[split:]), np.array(labels[split:]))


def get_word_index(path="imdb_word_index.json"):
    """{word: its number}."""
    with open(get_file(path, origin=_ORIGIN + "imdb_word_index.json"), encoding="utf-8") as file:
        return json.load(file)
