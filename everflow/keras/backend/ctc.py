"""The backend's connectionist temporal classification: labels without an alignment to the frames."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.keras.backend.config import epsilon
from everflow.ops import array, math
from everflow.ops.control_flow import maps as functional
from everflow.ops.nn.ctc import ctc_beam_search_decoder, ctc_greedy_decoder, ctc_loss
from everflow.ops.sparse.functions import sparse_to_dense


def ctc_label_dense_to_sparse(labels, label_lengths):
    """Rows of labels, of which only the first `label_lengths` count, as a SparseTensor.

    Args:
        labels: Rows of labels.
        label_lengths: How many of each row count.

    Returns:
        A SparseTensor.

    Example:
        >>> sess.run(tf.keras.backend.ctc_label_dense_to_sparse(tf.constant([[3, 4, 0]]), tf.constant([2]))).values
        array([3, 4], dtype=int32)
    """
    shape = array.shape(labels)
    rows = array.stack([shape[0]])
    columns = array.stack([shape[1]])

    def before_end(row, length):
        return array.expand_dims(math.range(array.shape(row)[1]), 0) < array.fill(columns, length)

    start = math.cast(array.fill([1, shape[1]], 0), dtypes.bool)
    mask = functional.scan(before_end, label_lengths, initializer=start, parallel_iterations=1)
    mask = mask[:, 0, :]
    column_numbers = array.reshape(array.tile(math.range(0, shape[1]), rows), shape)
    column_indices = array.boolean_mask(column_numbers, mask)
    row_numbers = array.transpose(
        array.reshape(array.tile(math.range(0, shape[0]), columns), array.reverse(shape, [0]))
    )
    row_indices = array.boolean_mask(row_numbers, mask)
    indices = array.transpose(array.reshape(array.concat([row_indices, column_indices], axis=0), [2, -1]))
    values = array.gather_nd(labels, indices)
    return SparseTensor(math.cast(indices, dtypes.int64), values, math.cast(shape, dtypes.int64))


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """The loss of each element of a batch; y_pred holds probabilities, (samples, time, classes).

    Args:
        y_true: The labels: [samples, most labels].
        y_pred: Probabilities: [samples, time, classes], the last class being the blank.
        input_length: How many steps each sequence has: [samples, 1], or a vector for `ctc_decode`.
        label_length: How many labels each sequence has: [samples, 1].

    Returns:
        A loss for each sample: [samples, 1].

    Example:
        >>> K = tf.keras.backend
        >>> sess.run(K.ctc_batch_cost(tf.constant([[0]]), tf.constant([[[0.9, 0.1], [0.1, 0.9]]]), [[2]], [[1]])).shape
        (1, 1)
    """
    of_labels, of_frames = (
        math.cast(array.squeeze(lengths, axis=-1), dtypes.int32) for lengths in (label_length, input_length)
    )
    labels = math.cast(ctc_label_dense_to_sparse(y_true, of_labels), dtypes.int32)
    return array.expand_dims(ctc_loss(inputs=_scores(y_pred), labels=labels, sequence_length=of_frames), 1)


def _scores(probabilities):
    """Probabilities (samples, time, classes) as the ops want them: time first, and as logarithms."""
    return math.log(array.transpose(probabilities, perm=[1, 0, 2]) + epsilon())


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """The most likely labels, as a list of matrices padded with -1, and their log probabilities.

    Args:
        y_pred: Probabilities: [samples, time, classes], the last class being the blank.
        input_length: How many steps each sequence has: [samples, 1], or a vector for `ctc_decode`.
        greedy: Whether the best class of each step is taken; else a beam search is made.
        beam_width: How many sequences a beam search follows.
        top_paths: How many are returned.

    Returns:
        A list of matrices, and the log probabilities.

    Example:
        >>> (labels,), _ = tf.keras.backend.ctc_decode(tf.constant([[[0.9, 0.1], [0.1, 0.9]]]), tf.constant([2]))
        >>> sess.run(labels)
        array([[0]])
    """
    y_pred = _scores(y_pred)
    input_length = math.cast(input_length, dtypes.int32)
    if greedy:
        decoded, log_probabilities = ctc_greedy_decoder(inputs=y_pred, sequence_length=input_length)
    else:
        decoded, log_probabilities = ctc_beam_search_decoder(
            inputs=y_pred, sequence_length=input_length, beam_width=beam_width, top_paths=top_paths
        )
    dense = [sparse_to_dense(found.indices, found.dense_shape, found.values, default_value=-1) for found in decoded]
    return dense, log_probabilities
