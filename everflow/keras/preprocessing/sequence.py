"""tf.keras.preprocessing.sequence: sequences of one length, pairs of neighbours, and windows of time series."""

from __future__ import annotations

import json
import random

import numpy as np

from everflow.keras.utils.sequences import Sequence
from everflow.platform.signatures import takes


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Sequences as rows of an array: filled or cut at the beginning ("pre") or the end ("post").

    Args:
        sequences: A list of lists.
        maxlen: The length of a row; the longest if None.
        dtype: The type of the array.
        padding: `pre` or `post`: where short ones are filled.
        truncating: `pre` or `post`: where long ones are cut.
        value: What they are filled with.

    Returns:
        A matrix.

    Raises:
        ValueError: If the sequences are no lists, or an option isn't known.

    Example:
        >>> tf.keras.preprocessing.sequence.pad_sequences([[1, 2, 3], [4]])
        array([[1, 2, 3],
               [0, 0, 4]], dtype=int32)
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for sequence in sequences:
        if not hasattr(sequence, "__len__"):
            raise ValueError(f"`sequences` is a list of lists; {sequence!s} is none.")
    if maxlen is None:
        maxlen = max(len(sequence) for sequence in sequences)
    sample_shape = next((np.asarray(sequence).shape[1:] for sequence in sequences if len(sequence)), ())
    is_text = np.issubdtype(dtype, np.str_) if not isinstance(dtype, str) else dtype.startswith(("str", "U", "<U"))
    if isinstance(value, str) and dtype is not object and not is_text:
        raise ValueError(
            f"Text as `value`, {value!r}, doesn't go with dtype={dtype}: strings of any length need dtype=object."
        )
    result = np.full((len(sequences), maxlen, *sample_shape), value, dtype=dtype)
    for row, sequence in enumerate(sequences):
        if not len(sequence):
            continue
        if truncating not in ("pre", "post"):
            raise ValueError(f'Truncating type "{truncating}" not understood')
        kept = np.asarray(sequence[-maxlen:] if truncating == "pre" else sequence[:maxlen], dtype=dtype)
        if kept.shape[1:] != sample_shape:
            raise ValueError(
                f"Elements of sequence {row} have shape {kept.shape[1:]}, those of the first one {sample_shape}."
            )
        if padding == "post":
            result[row, : len(kept)] = kept
        elif padding == "pre":
            result[row, -len(kept) :] = kept
        else:
            raise ValueError(f'Padding type "{padding}" not understood')
    return result


def make_sampling_table(size, sampling_factor=1e-05):
    """For each rank of word frequency, how likely a word of it is kept; frequencies are taken to follow Zipf's law.

    Args:
        size: How many words there are.
        sampling_factor: How much frequent words are left out.

    Returns:
        A vector.

    Example:
        >>> tf.keras.preprocessing.sequence.make_sampling_table(10).shape
        (10,)
    """
    # Number 0 stands for no word; the table gives it what it gives the first.
    ranks = np.maximum(np.arange(size), 1)
    # The k-th word is one in k times the k-th harmonic number, which Euler's constant brings near.
    factor = sampling_factor * (ranks * (np.log(ranks) + 0.577) + 0.5 - 1.0 / (12.0 * ranks))
    return np.minimum(1.0, factor / np.sqrt(factor))


@takes(
    """sequence, vocabulary_size, window_size=4, negative_samples=1.0, shuffle=True, categorical=False,
    sampling_table=None, seed=None"""
)
def skipgrams(sequence, vocabulary_size, window_size, negative_samples, shuffle, categorical, sampling_table, seed):
    """Pairs of a word and one near it, labelled 1, and pairs with random words, labelled 0.

    Args:
        sequence: The numbers of the words of a text; 0 stands for none.
        vocabulary_size: How many words there are.
        window_size: How far "near" is.
        negative_samples: How many pairs with random words there are for each other one.
        shuffle: Whether pairs come in random order.
        categorical: Whether labels are [0, 1] and [1, 0].
        sampling_table: How likely each word is kept.
        seed: A seed for the order.

    Returns:
        A list of pairs, and one of labels.

    Example:
        >>> pairs, labels = tf.keras.preprocessing.sequence.skipgrams([1, 2], 3, negative_samples=0, shuffle=False)
        >>> pairs, labels
        ([[1, 2], [2, 1]], [1, 1])
    """
    couples, labels = [], []
    for i, word in enumerate(sequence):
        if not word:
            continue
        if sampling_table is not None and sampling_table[word] < random.random():
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        words = [couple[0] for couple in couples]
        random.shuffle(words)
        count = int(len(labels) * negative_samples)
        couples += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        if seed is None:
            seed = random.randint(0, int(10e6))
        for shuffled in (couples, labels):
            random.seed(seed)
            random.shuffle(shuffled)
    return couples, labels


class TimeseriesGenerator(Sequence):
    """Batches of windows of a time series, each with the target that follows it.

    Args:
        data: The series, the first axis being time.
        targets: What follows, as long as the data.
        length: How long a window is.
        sampling_rate: How far apart the steps of a window are.
        stride: How far a window is from the next.
        start_index: Where it begins.
        end_index: Where it ends; at the end if None.
        shuffle: Whether windows come in random order.
        reverse: Whether windows are turned around.
        batch_size: How many elements make a batch.

    Example:
        >>> windows = tf.keras.preprocessing.sequence.TimeseriesGenerator(np.arange(6), np.arange(6), length=3, batch_size=2)
        >>> x, y = windows[0]
        >>> x.tolist(), y.tolist()
        ([[0, 1, 2], [1, 2, 3]], [3, 4])
    """

    @takes(
        """data, targets, length, sampling_rate=1, stride=1, start_index=0, end_index=None, shuffle=False, reverse=False,
        batch_size=128""",
    )
    def __init__(self, data, targets, length, start_index, end_index, **kept):
        if len(data) != len(targets):
            raise ValueError(
                f"A time series has a target for each step; there are {len(data)} steps and {len(targets)} targets."
            )
        self.__dict__.update(kept, data=data, targets=targets, length=length)
        # Rows that can be targets: the first has a whole window before it.
        self.start_index, self.end_index = start_index + length, len(data) - 1 if end_index is None else end_index
        if self.start_index > self.end_index:
            raise ValueError(
                f"No window of {length} steps from `start_index` on ends before `end_index`: {self.start_index} > {self.end_index}."
            )

    def __len__(self):
        return (self.end_index - self.start_index + self.batch_size * self.stride) // (self.batch_size * self.stride)

    def __getitem__(self, index):
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            rows = np.arange(first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride)
        samples = np.array([self.data[row - self.length : row : self.sampling_rate] for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return (samples[:, ::-1, ...] if self.reverse else samples), targets

    def get_config(self):
        """Everything that makes the generator again, data as JSON."""

        def as_json(values, what):
            values = values.tolist() if isinstance(values, np.ndarray) else values
            try:
                return json.dumps(values)
            except TypeError as error:
                raise TypeError(f"{what} not JSON Serializable:", values) from error

        settings = ("length", "sampling_rate", "stride", "start_index", "end_index", "shuffle", "reverse", "batch_size")
        data = {"data": as_json(self.data, "Data"), "targets": as_json(self.targets, "Targets")}
        return data | {name: getattr(self, name) for name in settings}

    def to_json(self, **kwargs):
        """The generator as JSON."""
        return json.dumps({"class_name": self.__class__.__name__, "config": self.get_config()}, **kwargs)


def _remove_long_seq(maxlen, seq, label):
    """(sequences shorter than `maxlen`, their labels)."""
    kept = [(x, y) for x, y in zip(seq, label) if len(x) < maxlen]
    return [x for x, _ in kept], [y for _, y in kept]
