"""Inner names of Keras for short batches and for checkpoints of workers."""

import numpy as np

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.legacy.inner.distribute import training_state
from everflow.legacy.inner.keras_engine.padding import PartialBatchPaddingHandler


def test_rows_that_were_added_are_taken_away_again():
    with eager_mode():
        handler = PartialBatchPaddingHandler([(None, 2)])
        handler.padded_batch_size = 3
        rows = [np.ones([3, 2], "float32"), np.ones([1, 2], "float32")]
        padded = []
        for batch in map(tf.constant, rows):
            handler.padding_mask = handler.update_mask(handler.padding_mask, batch)
            padded.append(handler.pad_batch(batch).numpy())
        assert [batch.tolist() for batch in padded] == [[[1, 1]] * 3, [[1, 1], [0, 0], [0, 0]]]
        np.testing.assert_array_equal(handler.apply_mask(np.concatenate(padded)), np.ones([4, 2]))


def test_a_checkpoint_is_a_file_or_an_index(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
    inner = tmp_path / "inner"
    model.save_weights(str(inner / "weights"))
    assert training_state.checkpoint_exists(str(inner / "weights"))
    assert training_state.remove_checkpoint_if_exists(str(inner), str(inner / "weights"))
    assert not inner.exists()
    assert not training_state.remove_checkpoint_if_exists(str(inner), str(inner / "weights"))
