"""slim.learning: a training op from a loss, and a loop that trains, saves, logs and stops."""

from __future__ import annotations

import os
import sys
import time

from everflow import summary
from everflow.contrib.training.steps import (  # noqa: F401  names of slim.learning as well
    add_gradients_summaries,
    clip_gradient_norms,
    multiply_gradients,
)
from everflow.contrib.training.steps import create_train_op as _create_train_op
from everflow.framework import errors
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph, name_scope
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.grouping import group
from everflow.ops.lookup.static import tables_initializer
from everflow.ops.math import equal, greater_equal, mod
from everflow.ops.variables.variable import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from everflow.platform import logging
from everflow.platform.signatures import inserted, options_of, takes
from everflow.protos.config_pb2 import RunMetadata, RunOptions
from everflow.runtime.timeline import Timeline
from everflow.train import Saver, Supervisor, get_or_create_global_step

_USE_DEFAULT = 0


_TRAIN_OP = inserted(
    options_of(_create_train_op),
    variables_to_train={"clip_gradient_norm": 0},
    colocate_gradients_with_ops={"gradient_multipliers": None},
)
del _TRAIN_OP["transform_grads_fn"]


@takes(_TRAIN_OP)
def create_train_op(total_loss, optimizer, **given):
    """A tensor of the loss which, when run, takes one training step.

    >>> train_op = slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.AdamOptimizer(0.001))
    """
    clip_gradient_norm, gradient_multipliers = given.pop("clip_gradient_norm"), given.pop("gradient_multipliers")

    def transform(gradients):
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                gradients = multiply_gradients(gradients, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                gradients = clip_gradient_norms(gradients, clip_gradient_norm)
        return gradients

    return _create_train_op(total_loss, optimizer, **given, transform_grads_fn=transform)


def train_step(sess, train_op, global_step, train_step_kwargs):
    """One step of `train`: (loss, whether to stop). It logs the loss, and traces the step, when told to."""
    start = time.time()
    options = metadata = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("With `should_trace`, train_step_kwargs need a `logdir` for the traces")
        if sess.run(train_step_kwargs["should_trace"]):
            options, metadata = RunOptions(trace_level=RunOptions.FULL_TRACE), RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed = time.time() - start
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed)
    stop = sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False
    return loss, stop


def _write_trace(metadata, step, train_step_kwargs):
    path = os.path.join(train_step_kwargs["logdir"], f"tf_trace-{step}.json")
    logging.info("Writing trace to %s", path)
    with open(path, "w") as file:
        file.write(Timeline(metadata.step_stats).generate_chrome_trace_format())
    if "summary_writer" in train_step_kwargs:
        train_step_kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def _wait_for_step(sess, global_step, step):
    while sess.run(global_step) <= step:
        logging.info("Waiting for global step %d before starting training.", step)
        time.sleep(1)


def train(
    train_op,
    logdir,
    train_step_fn=train_step,
    train_step_kwargs=_USE_DEFAULT,
    log_every_n_steps=1,
    graph=None,
    master="",
    is_chief=True,
    global_step=None,
    number_of_steps=None,
    init_op=_USE_DEFAULT,
    init_feed_dict=None,
    local_init_op=_USE_DEFAULT,
    init_fn=None,
    ready_op=_USE_DEFAULT,
    summary_op=_USE_DEFAULT,
    save_summaries_secs=600,
    summary_writer=_USE_DEFAULT,
    startup_delay_steps=0,
    saver=None,
    save_interval_secs=600,
    sync_optimizer=None,
    session_config=None,
    session_wrapper=None,
    trace_every_n_steps=None,
    ignore_live_threads=False,
):
    """Train until `number_of_steps`, or until a step says stop; returns the last loss.

    >>> final_loss = slim.learning.train(train_op, "logs", number_of_steps=1000, init_fn=restore_pretrained)
    """
    _check(
        train_op, logdir, summary_op, saver, trace_every_n_steps, sync_optimizer, startup_delay_steps, number_of_steps
    )
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = get_or_create_global_step()
        saver = saver or Saver()
        several = isinstance(sync_optimizer, (list, tuple))
        replicas = list(sync_optimizer) if several else [sync_optimizer] if sync_optimizer else []
        starting = _init_ops(init_op, ready_op, local_init_op, replicas, is_chief)
        summary_op = summary.merge_all() if summary_op is _USE_DEFAULT else summary_op
        summary_writer = Supervisor.USE_DEFAULT if summary_writer is _USE_DEFAULT else summary_writer
        runners = [o.get_chief_queue_runner() for o in replicas if is_chief]
        tokens = [o.get_init_tokens_op() for o in replicas if is_chief]
        if train_step_kwargs == _USE_DEFAULT:
            steps = number_of_steps, log_every_n_steps, trace_every_n_steps
            train_step_kwargs = _default_step_arguments(global_step, *steps, logdir)
    starting.update(init_feed_dict=init_feed_dict, init_fn=init_fn)
    saving = {"saver": saver, "save_summaries_secs": save_summaries_secs, "save_model_secs": save_interval_secs}
    watching = {"summary_op": summary_op, "summary_writer": summary_writer, "global_step": global_step}
    supervisor = Supervisor(graph, is_chief=is_chief, logdir=logdir, **starting, **saving, **watching)
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer

    def take_step(sess):
        return train_step_fn(sess, train_op, global_step, train_step_kwargs)

    loop = _Loop(supervisor, take_step, runners, tokens)
    delay = min(startup_delay_steps, number_of_steps or sys.maxsize) if startup_delay_steps > 0 else None
    while True:
        try:
            with supervisor.managed_session(master, start_standard_services=False, config=session_config) as sess:
                logging.info("Starting Session.")
                sess = sess if session_wrapper is None else session_wrapper(sess)
                if is_chief and logdir:
                    supervisor.start_standard_services(sess)
                elif not is_chief and delay is not None:
                    _wait_for_step(sess, global_step, delay)
                loop.run(sess, saves=logdir and supervisor.is_chief, ignore_live_threads=ignore_live_threads)
            return loop.loss
        except errors.AbortedError:
            # A parameter server went away; start again from the last checkpoint.
            logging.info("Retrying training!")


def _init_ops(init_op, ready_op, local_init_op, replicas, is_chief):
    """What a supervisor runs to start a session, by the names of its parameters."""
    with name_scope("init_ops"):
        init_op = global_variables_initializer() if init_op is _USE_DEFAULT else init_op
        ready_op = report_uninitialized_variables() if ready_op is _USE_DEFAULT else ready_op
        if local_init_op is _USE_DEFAULT:
            local_init_op = group(local_variables_initializer(), tables_initializer())
        if replicas:
            inits = [o.chief_init_op if is_chief else o.local_step_init_op for o in replicas]
            local_init_op = group(local_init_op, *inits)
    made = {"init_op": init_op, "ready_op": ready_op, "local_init_op": local_init_op}
    return {**made, "ready_for_local_init_op": replicas[0].ready_for_local_init_op} if replicas else made


class _Loop:
    """Steps in a supervisor's session, until one of them says stop; `loss` is that of the last."""

    def __init__(self, supervisor, take_step, chief_runners, tokens):
        self._supervisor, self._take_step, self.loss = supervisor, take_step, None
        self._chief_runners, self._tokens = chief_runners, tokens

    def run(self, sess, saves, ignore_live_threads):
        supervisor = self._supervisor
        threads = supervisor.start_queue_runners(sess)
        logging.info("Starting Queues.")
        if self._chief_runners:
            supervisor.start_queue_runners(sess, self._chief_runners)
            sess.run(self._tokens)
        try:
            while not supervisor.should_stop():
                self.loss, stop = self._take_step(sess)
                if stop:
                    logging.info("Stopping Training.")
                    supervisor.request_stop()
        except errors.OutOfRangeError as e:
            # The input came to its end, which is how training on a number of epochs finishes.
            logging.info("Caught OutOfRangeError. Stopping Training. %s", e)
        if saves:
            logging.info("Finished training! Saving model to disk.")
            supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
        supervisor.stop(threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads)


def _check(
    train_op, logdir, summary_op, saver, trace_every_n_steps, sync_optimizer, startup_delay_steps, number_of_steps
):
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    writing = {
        "summary_op": isinstance(summary_op, Tensor),
        "saver": saver is not None,
        "trace_every_n_steps": trace_every_n_steps is not None,
    }
    for name, given in writing.items():
        if given and logdir is None:
            raise ValueError(f"Cannot provide {name} because logdir=None: there is no folder for what it writes.")
    if sync_optimizer is not None and startup_delay_steps > 0:
        raise ValueError(f"With a sync_optimizer workers begin at once: no {startup_delay_steps} steps of delay")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError(f"number_of_steps must be positive, or None to train without end; got {number_of_steps}")


def _default_step_arguments(global_step, number_of_steps, log_every_n_steps, trace_every_n_steps, logdir):
    """Tensors that say, in each step, whether to stop, to log and to trace."""
    with name_scope("train_step"):
        arguments = {}
        if number_of_steps:
            arguments["should_stop"] = greater_equal(global_step, number_of_steps)
        else:
            arguments["should_stop"] = constant(False)
        if log_every_n_steps > 0:
            arguments["should_log"] = equal(mod(global_step, log_every_n_steps), 0)
        if trace_every_n_steps is not None:
            arguments["should_trace"] = equal(mod(global_step, trace_every_n_steps), 0)
            arguments["logdir"] = logdir
        return arguments
