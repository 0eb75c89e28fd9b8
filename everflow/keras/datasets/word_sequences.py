"""What the two text datasets have in common: rare and frequent words replaced, long texts left out."""

from __future__ import annotations

import numpy as np

from everflow.keras.preprocessing.sequence import _remove_long_seq

# What `load_data` of texts takes after the path, with room for more.
OF_SEQUENCES = """num_words=None, skip_top=0, maxlen=None, %s seed=113, start_char=1, oov_char=2, index_from=3,
    **kwargs"""


def arrange(xs, labels, num_words, skip_top, maxlen, start_char, oov_char, index_from):
    """Sequences with a start mark and words from `index_from` on; those not in [skip_top, num_words) are `oov_char`."""
    if start_char is not None:
        xs = [[start_char] + [word + index_from for word in x] for x in xs]
    elif index_from:
        xs = [[word + index_from for word in x] for x in xs]
    if maxlen:
        xs, labels = _remove_long_seq(maxlen, xs, labels)
        if not xs:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. Increase maxlen."
            )
    if not num_words:
        num_words = max(max(x) for x in xs)
    if oov_char is not None:
        xs = [[word if skip_top <= word < num_words else oov_char for word in x] for x in xs]
    else:
        xs = [[word for word in x if skip_top <= word < num_words] for x in xs]
    return xs, labels


def ragged(rows):
    """An array of lists of different lengths."""
    result = np.empty(len(rows), dtype=object)
    result[:] = rows
    return result


def take_old_names(kwargs, num_words):
    """`nb_words`, the old name of `num_words`; TypeError for anything else."""
    if "nb_words" in kwargs:
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
    return num_words
