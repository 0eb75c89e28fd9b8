"""tf.keras.datasets.imdb: 50,000 reviews of films, as numbers of words, with whether they are good."""

from __future__ import annotations

import numpy as np

from everflow.keras.datasets.arrays_in_files import load_npz
from everflow.keras.datasets.storage import fetched, shuffled, word_index
from everflow.keras.datasets.word_sequences import OF_SEQUENCES, arrange, ragged, take_old_names
from everflow.platform.signatures import takes


@takes(f'path="imdb.npz", {OF_SEQUENCES % ""}')
def load_data(path, num_words, skip_top, maxlen, seed, start_char, oov_char, index_from, **kwargs):
    """(training reviews, labels), (test reviews, labels); reviews are lists of numbers, frequent words the smallest."""
    num_words = take_old_names(kwargs, num_words)
    words = num_words, skip_top, maxlen, start_char, oov_char, index_from
    data = load_npz(fetched(path, "imdb.npz", file_hash="599dadb1135973df5b59232a0e9a887c"))
    np.random.seed(seed)
    (x_train, y_train), (x_test, y_test) = (
        shuffled(data["x_" + name], data["y_" + name]) for name in ("train", "test")
    )
    xs, labels = arrange(list(x_train) + list(x_test), np.concatenate([y_train, y_test]), *words)
    split = len(x_train)
    return (ragged(xs[:split]), np.array(labels[:split])), (ragged(xs[split:]), np.array(labels[split:]))


def get_word_index(path="imdb_word_index.json"):
    """{word: its number}."""
    return word_index(path, "imdb_word_index.json")
