"""tf.keras.datasets.reuters: 11,228 news items, as numbers of words, on 46 topics."""

from __future__ import annotations

import json

import numpy as np

from everflow.keras.datasets.arrays_in_files import load_npz
from everflow.keras.datasets.word_sequences import arrange, ragged, take_old_names
from everflow.keras.utils.downloads import get_file

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def load_data(
    path="reuters.npz",
    num_words=None,
    skip_top=0,
    maxlen=None,
    test_split=0.2,
    seed=113,
    start_char=1,
    oov_char=2,
    index_from=3,
    **kwargs,
):
    """(training items, topics), (test items, topics); items are lists of numbers, the most frequent words the smallest."""
    num_words = take_old_names(kwargs, num_words)
    data = load_npz(get_file(path, origin=_ORIGIN + "reuters.npz", file_hash="87aedbeb0cb229e378797a632c1997b6"))
    xs, labels = data["x"], data["y"]
    np.random.seed(seed)
    order = np.arange(len(xs))
    np.random.shuffle(order)
    xs, labels = arrange(list(xs[order]), labels[order], num_words, skip_top, maxlen, start_char, oov_char, index_from)
    split = int(len(xs) * (1 - test_split))
    return (ragged(xs[:split]), np.array(labels[:split])), (ragged(xs[split:]), np.array(labels[split:]))


def get_word_index(path="reuters_word_index.json"):
    """{word: its number}."""
    with open(get_file(path, origin=_ORIGIN + "reuters_word_index.json"), encoding="utf-8") as file:
        return json.load(file)
