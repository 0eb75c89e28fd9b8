"""Iterators in checkpoints, so that training goes on where its input had come to."""

from __future__ import annotations

import os

from everflow.data.iterators import IteratorSaveable
from everflow.framework.scopes import get_collection
from everflow.ops.variables.global_step import get_or_create_global_step
from everflow.train.checkpoint_state import latest_checkpoint
from everflow.train.hook_timers import PeriodicHook
from everflow.train.saver import Saver
from everflow.train.session_run_hook import SessionRunArgs


class _Saveable(IteratorSaveable):
    """What saves an iterator, given its handle."""

    def __init__(self, iterator_resource):
        super().__init__(iterator_resource, iterator_resource.name, "-state")


def make_saveable_from_iterator(iterator):
    """What a `Saver` needs to save where an iterator is. The iterator must have been initialised when it is restored.

    Args:
        iterator: The iterator.

    Returns:
        A saveable object, for the collection `SAVEABLE_OBJECTS`.

    Example:
        >>> iterator = tf.data.Dataset.range(5).make_initializable_iterator()
        >>> element = iterator.get_next()
        >>> tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
        >>> sess.run(iterator.initializer)
        >>> path = tf.train.Saver().save(sess, "./model")
    """
    return _Saveable(iterator._iterator_resource)


class CheckpointInputPipelineHook(PeriodicHook):
    """Saves an Estimator's iterators as often as it saves its model, and puts them back when training starts again.

    Args:
        estimator: The Estimator.

    Example:
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> isinstance(tf.data.experimental.CheckpointInputPipelineHook(regressor), tf.train.SessionRunHook)
        True
    """

    def __init__(self, estimator):
        config = estimator.config
        several = config.num_worker_replicas > 1
        worker = f"_{config.task_type}_{config.task_id}" if several else ""
        self._folder = config.model_dir
        self._list_name = f"checkpoint_input{worker}"
        self._path = os.path.join(config.model_dir, f"input{worker}.ckpt")
        self._keep = config.keep_checkpoint_max
        super().__init__(config.save_checkpoints_secs, config.save_checkpoints_steps)
        self._started = False

    def begin(self):
        self._global_step_tensor = get_or_create_global_step()
        self._started = False
        self._saver = Saver(
            [_Saveable(resource) for resource in get_collection("iterators")], max_to_keep=self._keep, sharded=True
        )

    def before_run(self, run_context):
        if not self._started:
            # Not when the session is made: iterators are initialised after that.
            self._started = True
            saved = latest_checkpoint(self._folder, self._list_name)
            if saved:
                self._saver.restore(run_context.session, saved)
            else:
                self._save(run_context.session, run_context.session.run(self._global_step_tensor))
        return SessionRunArgs(self._global_step_tensor)

    def _act(self, run_context, step, elapsed_secs, elapsed_steps):
        self._save(run_context.session, step)

    def end(self, session):
        self._save_last(session)

    def _save(self, session, step):
        self._timer.update_last_triggered_step(step)
        self._saver.save(session, self._path, global_step=step, latest_filename=self._list_name)
