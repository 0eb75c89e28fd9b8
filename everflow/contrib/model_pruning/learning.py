"""`tf.contrib.model_pruning.train`: slim's training loop, in which masks are updated after each step."""

from __future__ import annotations

from everflow.contrib.slim import learning

_USE_DEFAULT = 0


def train_step(sess, train_op, mask_update_op, global_step, train_step_kwargs):
    """One step of `train`: (loss, whether to stop)."""
    loss, stop = learning.train_step(sess, train_op, global_step, train_step_kwargs)
    sess.run(mask_update_op)
    return loss, stop


def train(train_op, logdir, mask_update_op, train_step_fn=train_step, train_step_kwargs=_USE_DEFAULT, log_every_n_steps=1, graph=None,
          master="", is_chief=True, global_step=None, number_of_steps=None, init_op=_USE_DEFAULT, init_feed_dict=None,
          local_init_op=_USE_DEFAULT, init_fn=None, ready_op=_USE_DEFAULT, summary_op=_USE_DEFAULT, save_summaries_secs=600,
          summary_writer=_USE_DEFAULT, startup_delay_steps=0, saver=None, save_interval_secs=600, sync_optimizer=None, session_config=None,
          trace_every_n_steps=None):  # fmt: skip
    """Train as `slim.learning.train` does, and run `mask_update_op` after each step; returns the last loss.

    >>> update = tf.contrib.model_pruning.Pruning(hparams).conditional_mask_update_op()
    >>> loss = tf.contrib.model_pruning.train(train_op, "logs", update, number_of_steps=1000)
    """

    def step(sess, train_op, global_step, train_step_kwargs):
        return train_step_fn(sess, train_op, mask_update_op, global_step, train_step_kwargs)

    return learning.train(
        train_op, logdir, step, train_step_kwargs, log_every_n_steps, graph, master, is_chief, global_step, number_of_steps, init_op,
        init_feed_dict, local_init_op, init_fn, ready_op, summary_op, save_summaries_secs, summary_writer, startup_delay_steps, saver,
        save_interval_secs, sync_optimizer, session_config, trace_every_n_steps=trace_every_n_steps,
    )  # fmt: skip
