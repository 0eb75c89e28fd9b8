"""`pandas_input_fn`: batches of the rows of a DataFrame."""

from __future__ import annotations

import numpy as np

from everflow.estimator.inputs.feeding import check_shuffle, dequeue_batch, enqueue_arrays


def pandas_input_fn(
    x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1, target_column="target"
):
    """An input function over a DataFrame: features by column, and labels from a Series or, by column, from a DataFrame
    of the same index.

    Args:
        x: The DataFrame.
        y: A Series or DataFrame of the same index, or None.
        batch_size: How many elements make a batch.
        num_epochs: How often to go through all of them; for ever if None.
        shuffle: Whether the order is random: True or False, it must be said.
        queue_capacity: The most examples that wait.
        num_threads: How many threads work at it.
        target_column: What the labels are called.

    Returns:
        A function without arguments; it returns features and labels.

    Raises:
        ValueError: If indices differ, a name is taken twice, or `shuffle` isn't said.
    """
    check_shuffle(shuffle)
    if y is not None:
        if target_column in x:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already has a column with that name: {x.columns}"
            )
        if not np.array_equal(x.index, y.index):
            raise ValueError(f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}")

    def input_fn():
        labels = (
            {} if y is None else {None: y} if not hasattr(y, "columns") else {column: y[column] for column in y.columns}
        )
        arrays = [_array(column) for column in (*(x[name] for name in x.columns), *labels.values())]
        queue = enqueue_arrays(arrays, queue_capacity, shuffle, num_threads, batch_size, num_epochs)
        tensors = dequeue_batch(queue, batch_size, num_epochs)
        features = dict(zip(x.columns, tensors, strict=False))
        if y is None:
            return features
        tensors = tensors[len(features) :]
        return features, dict(zip(labels, tensors, strict=True)) if hasattr(y, "columns") else tensors[0]

    return input_fn


def _array(column):
    """A column as an array that a tensor can hold: text and other objects as Python objects."""
    array = column.to_numpy()
    return (
        array if isinstance(array, np.ndarray) and array.dtype.kind in "biufcOSU" else np.asarray(array, dtype=object)
    )
