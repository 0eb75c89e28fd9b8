"""`tf.contrib.model_pruning.train`: slim's training loop, in which masks are updated after each step."""

from __future__ import annotations

from everflow.contrib.slim import learning
from everflow.platform.signatures import options_of, takes


def train_step(sess, train_op, mask_update_op, global_step, train_step_kwargs):
    """One step of `train`: (loss, whether to stop)."""
    loss, stop = learning.train_step(sess, train_op, global_step, train_step_kwargs)
    sess.run(mask_update_op)
    return loss, stop


@takes(options_of(learning.train, ["session_wrapper", "ignore_live_threads"]))
def train(train_op, logdir, mask_update_op, train_step_fn=train_step, **given):
    """Train as `slim.learning.train` does, and run `mask_update_op` after each step; returns the last loss.

    >>> update = tf.contrib.model_pruning.Pruning(hparams).conditional_mask_update_op()
    >>> loss = tf.contrib.model_pruning.train(train_op, "logs", update, number_of_steps=1000)
    """

    def step(sess, train_op, global_step, train_step_kwargs):
        return train_step_fn(sess, train_op, mask_update_op, global_step, train_step_kwargs)

    return learning.train(train_op, logdir, step, **given)
