"""`SessionManager`: makes a session that is ready to train, from a checkpoint where there is one, else by init ops."""

from __future__ import annotations

import time

import numpy as np

from everflow.framework import errors
from everflow.framework.scopes import get_default_graph
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.runtime.session import Session
from everflow.train.checkpoint_state import checkpoint_exists, get_checkpoint_state

_CHECKPOINT = """saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None, wait_for_checkpoint=False,
    max_wait_secs=7200, config=None"""


# Seconds until somebody who waits for a model looks for the second time.
_FIRST_PAUSE = 0.25


class SessionManager:
    """Makes sessions that restore or initialize a graph, and waits for those that another process initializes.

    Args:
        local_init_op: What initializes local variables and tables.
        ready_op: What names the variables that aren't initialized yet.
        ready_for_local_init_op: What names the variables that `local_init_op` still waits for.
        graph: The graph to work in; the default graph if None.
        recovery_wait_secs: How often is looked whether the model is ready.
        local_init_run_options: RunOptions for `local_init_op`.

    Example:
        >>> v = tf.Variable(1.0)
        >>> manager = tf.train.SessionManager()
        >>> session = manager.prepare_session("", init_op=tf.global_variables_initializer())
        >>> session.run(v)
        np.float32(1.0)
        >>> session.close()
    """

    @takes(
        """local_init_op=None, ready_op=None, ready_for_local_init_op=None, graph=None, recovery_wait_secs=30,
        local_init_run_options=None""",
    )
    def __init__(self, graph, local_init_op, ready_for_local_init_op, **given):
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op = local_init_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self.__dict__.update({f"_{name}": value for name, value in given.items()})
        self._target = None
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                f"Nothing waits for ready_for_local_init_op, {ready_for_local_init_op}: with it one must also pass a "
                "local_init_op"
            )

    def _restore_checkpoint(
        self, master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
    ):
        """(a new session, whether it was restored)"""
        self._target = master
        sess = Session(self._target, graph=self._graph, config=config)
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError(
                f"Can not provide both a folder and a file to restore: checkpoint_dir is {checkpoint_dir!r}, "
                f"checkpoint_filename_with_path {checkpoint_filename_with_path!r}"
            )
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return sess, False
        if checkpoint_filename_with_path:
            saver.restore(sess, checkpoint_filename_with_path)
            return sess, True
        waited = 0
        state = get_checkpoint_state(checkpoint_dir)
        while not state or not state.model_checkpoint_path:
            if not wait_for_checkpoint or waited >= max_wait_secs:
                return sess, False
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs
            state = get_checkpoint_state(checkpoint_dir)
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints([p for p in state.all_model_checkpoint_paths if checkpoint_exists(p)])
        return sess, True

    @takes(f"master, init_op=None, {_CHECKPOINT}, init_feed_dict=None, init_fn=None")
    def prepare_session(self, master, init_op, init_feed_dict, init_fn, **checkpoint):
        """A session with a model that is ready: restored from a checkpoint, or initialized by `init_op` and `init_fn`."""
        sess, restored = self._restore_checkpoint(master, **checkpoint)
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no way to do it is given: pass an init_op, an init_fn or a "
                    "local_init_op"
                )
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        missing = self._what_is_missing(sess)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready yet{missing}; init_op={_names(init_op)}, init_fn={init_fn}, "
                f"local_init_op={self._local_init_op}"
            )
        return sess

    def _what_is_missing(self, sess):
        """Run the local init op where it can; gives why the model is not ready then, to follow "ready", or None."""
        done, message = self._try_run_local_init_op(sess)
        if not done:
            return f", not even for the local init op: {message}"
        ready, message = self._model_ready(sess)
        return None if ready else f": {message}"

    @takes(f"master, {_CHECKPOINT}")
    def recover_session(self, master, checkpoint_dir, **checkpoint):
        """(a session, whether its model is ready), restored from a checkpoint where there is one."""
        sess, restored = self._restore_checkpoint(master, checkpoint_dir=checkpoint_dir, **checkpoint)
        if not restored:
            self._try_run_local_init_op(sess)
            return sess, False
        missing = self._what_is_missing(sess)
        if missing:
            logging.info("%s did not make the model ready%s", checkpoint_dir, missing)
            return sess, False
        logging.info("Restored model from %s", checkpoint_dir)
        return sess, True

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session with a model that another process makes ready; DeadlineExceededError after `max_wait_secs`.

        It looks again after a quarter of a second, then ever more seldom, up to `recovery_wait_secs`: a cluster that starts
        needs no half minute.
        """
        self._target = master
        pause = min(_FIRST_PAUSE, self._recovery_wait_secs)
        end = time.monotonic() + (float("Inf") if max_wait_secs is None else max_wait_secs)
        while True:
            sess = Session(self._target, graph=self._graph, config=config)
            missing = self._what_is_missing(sess)
            if not missing:
                return sess
            sess.close()
            remaining = end - time.monotonic()
            if remaining < pause:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {int(max_wait_secs)} secs."
                )
            logging.info("Waiting for model to be ready%s", missing)
            time.sleep(pause)
            pause = min(2 * pause, self._recovery_wait_secs)

    def _model_ready(self, sess):
        return _ready(self._ready_op, sess, "Model not ready")

    def _model_ready_for_local_init(self, sess):
        return _ready(self._ready_for_local_init_op, sess, "Model not ready for local init")

    def _try_run_local_init_op(self, sess):
        """(whether local things are initialized, why not)"""
        if self._local_init_op is None:
            return True, None
        ready, message = self._model_ready_for_local_init(sess)
        if not ready:
            return False, message
        logging.info("Running local_init_op.")
        sess.run(self._local_init_op, options=self._local_init_run_options)
        logging.info("Done running local_init_op.")
        return True, None


def _names(init_op):
    if isinstance(init_op, (list, tuple)):
        return [getattr(op, "name", op) for op in init_op]
    return getattr(init_op, "name", None)


def _ready(op, sess, message):
    """(whether an op finds nothing missing, what it finds)"""
    if op is None:
        return True, None
    try:
        missing = sess.run(op)
    except errors.FailedPreconditionError as e:
        if "uninitialized" not in str(e):
            logging.warning("%s : error [%s]", message, e)
            raise
        return False, str(e)
    if missing is None or missing.dtype == np.int32 or missing.size == 0:
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode("utf-8") for name in missing)
