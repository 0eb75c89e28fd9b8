"""What code that draws a computation for TPUs can ask of it."""

import pytest

from everflow.ops.tpu.shard_context import get_tpu_context, on_device_training_loop, tpu_shard_context


def test_number_of_shards():
    with tpu_shard_context(4):
        assert get_tpu_context().number_of_shards == 4
        with pytest.raises(NotImplementedError), tpu_shard_context(5):
            pass
    assert get_tpu_context().number_of_shards is None


def test_a_loop_is_marked():
    def train():
        pass

    assert on_device_training_loop(train) is train
    assert train.step_marker_location == "STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP"
