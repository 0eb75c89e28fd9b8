"""Outputs of batches written to their places: by threads where they are large."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework.composites import SparseTensorValue
from everflow.legacy.inner.keras_engine import training_data


class Small(training_data.SliceAggregator):
    _BINARY_SIZE_THRESHOLD = 1
    _MAX_COPY_SECONDS = 0.2


def _run(made, values):
    made.create(values[:2])
    made.aggregate(values[:2], 0, 2)
    made.aggregate(values[2:], 2, 4)
    made.finalize()
    return made.results


def test_threads_write_all_batches():
    values = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(_run(Small(4, 2), values), values)


def test_what_goes_wrong_in_a_thread_is_told():
    made = Small(4, 2)
    made._slice_assign = None
    with pytest.raises(TypeError):
        _run(made, np.ones([4, 2]))
    made = Small(4, 2)
    made._slice_assign = lambda *batch: None  # never says that it is done
    with pytest.raises(ValueError, match="0.2 seconds"):
        _run(made, np.ones([4, 2]))


def test_sparse_values_are_joined():
    made = training_data.OutputsAggregator(use_steps=True)
    parts = [SparseTensorValue([[0, 0]], [1], [1, 2]), SparseTensorValue([[0, 1]], [2], [1, 2])]
    made.create(parts[0])
    for part in parts:
        made.aggregate(part)
    made.finalize()
    assert made.results.indices.tolist() == [[0, 0], [1, 1]] and tuple(made.results.dense_shape) == (2, 2)


def test_losses_and_targets():
    check = training_data.check_loss_and_target_compatibility
    losses = tf.keras.losses
    check([np.ones([2, 3])], [losses.MeanAbsoluteError()], [(2, 5)])
    for loss, shape in ((losses.MeanSquaredError(), (2, 5)), (losses.categorical_crossentropy, (2, 1))):
        with pytest.raises(ValueError):
            check([np.ones([2, 1])], [loss], [shape])
