"""Managers of checkpoints: which are kept when the clock goes back, and whose are left alone."""

import os
from unittest import mock

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode


def test_a_clock_that_goes_back(tmp_path):
    from tensorflow.python.training import checkpoint_management

    folder = str(tmp_path)

    def kept():
        return sorted(int(name[5:-6]) for name in os.listdir(folder) if name.endswith(".index"))

    with eager_mode(), mock.patch.object(checkpoint_management, "time") as clock:
        clock.time.return_value = 10000.0
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        manager = tf.train.CheckpointManager(checkpoint, folder, 1, keep_checkpoint_every_n_hours=1.0)
        for _ in range(3):
            manager.save()
            clock.time.return_value += 3700.0
        assert kept() == [2, 3]
        clock.time.return_value = 5000.0
        manager = tf.train.CheckpointManager(checkpoint, folder, 1, keep_checkpoint_every_n_hours=1.0)
        assert manager.checkpoints == [] and manager.latest_checkpoint.endswith("ckpt-3")
        manager.save()
        manager.save()
        assert kept() == [2, 3, 5]
    with eager_mode():
        manager.save()  # by the real clock again
    assert checkpoint_management.get_checkpoint_state(folder).all_model_checkpoint_timestamps[-1] > 1e9
