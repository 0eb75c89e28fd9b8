"""tf.keras.datasets.reuters: 11,228 news items, as numbers of words, on 46 topics."""

from __future__ import annotations

import numpy as np

from everflow.keras.datasets.arrays_in_files import load_npz
from everflow.keras.datasets.storage import fetched, shuffled, word_index
from everflow.keras.datasets.word_sequences import OF_SEQUENCES, arrange, ragged, take_old_names
from everflow.platform.signatures import takes


@takes(f'path="reuters.npz", {OF_SEQUENCES % "test_split=0.2,"}')
def load_data(path, num_words, skip_top, maxlen, test_split, seed, start_char, oov_char, index_from, **kwargs):
    """(training items, topics), (test items, topics); items are lists of numbers, the most frequent words the smallest."""
    num_words = take_old_names(kwargs, num_words)
    words = num_words, skip_top, maxlen, start_char, oov_char, index_from
    data = load_npz(fetched(path, "reuters.npz", file_hash="87aedbeb0cb229e378797a632c1997b6"))
    np.random.seed(seed)
    xs, labels = shuffled(data["x"], data["y"])
    xs, labels = arrange(list(xs), labels, *words)
    split = int(len(xs) * (1 - test_split))
    return (ragged(xs[:split]), np.array(labels[:split])), (ragged(xs[split:]), np.array(labels[split:]))


def get_word_index(path="reuters_word_index.json"):
    """{word: its number}."""
    return word_index(path, "reuters_word_index.json")
