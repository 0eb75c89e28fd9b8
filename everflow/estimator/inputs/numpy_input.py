"""`numpy_input_fn`: batches of numpy arrays."""

from __future__ import annotations

import numpy as np

from everflow.estimator.inputs.feeding import check_shuffle, dequeue_batch, enqueue_arrays


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """An input function over arrays: `x` an array or a dict of them, `y` labels likewise or None.

    Args:
        x: An array, or arrays by name.
        y: The labels likewise, or None.
        batch_size: How many elements make a batch.
        num_epochs: How often to go through all of them; for ever if None.
        shuffle: Whether the order is random: True or False, it must be said.
        queue_capacity: The most examples that wait.
        num_threads: How many threads work at it.

    Returns:
        A function without arguments; it returns features and labels.

    Raises:
        ValueError: If lengths differ, `shuffle` isn't said, or names are taken twice.
        TypeError: If `x` is something else.

    Example:
        >>> data = tf.estimator.inputs.numpy_input_fn({"x": np.arange(4)}, np.arange(4), batch_size=2, shuffle=False)
        >>> features, labels = data()
        >>> with tf.train.MonitoredSession() as session:
        ...     print(session.run([features["x"], labels]))
        [array([0, 1]), array([0, 1])]
    """
    check_shuffle(shuffle)

    def input_fn():
        if not isinstance(x, (dict, np.ndarray)):
            raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
        features = _columns(x, "x")
        labels = {} if y is None else _columns(y, "y")
        if isinstance(x, dict) and isinstance(y, dict) and (both := set(x) & set(y)):
            raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
        arrays = [*features.values(), *labels.values()]
        if len({array.shape[0] for array in arrays}) != 1:
            shapes = (
                {key: array.shape for key, array in features.items()},
                {key: array.shape for key, array in labels.items()},
            )
            raise ValueError(
                f"Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\nShapes in x: {shapes[0]}\n"
                f"Shapes in y: {shapes[1]}"
            )
        queue = enqueue_arrays(arrays, queue_capacity, shuffle, num_threads, batch_size, num_epochs)
        tensors = dequeue_batch(queue, batch_size, num_epochs)
        taken = _like(x, features, tensors)
        return taken if y is None else (taken, _like(y, labels, tensors[len(features) :]))

    return input_fn


def _columns(value, what):
    """{key: array}, keys in order; a single array is under None."""
    if not isinstance(value, dict):
        return {None: value}
    if not value:
        raise ValueError(f"{what} cannot be an empty dict{', use None instead.' if what == 'y' else ''}")
    return {key: value[key] for key in sorted(value)}


def _like(value, columns, tensors):
    return dict(zip(columns, tensors, strict=False)) if isinstance(value, dict) else tensors[0]
