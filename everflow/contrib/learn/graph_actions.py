"""Training, evaluating and running of graphs, as programs did it by hand before there were estimators."""

from __future__ import annotations

import itertools

import numpy as np

from everflow import summary
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_default_graph
from everflow.ops.variables.global_step import get_global_step
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.train.coordinator import Coordinator
from everflow.train.hooks import NanLossDuringTrainingError, StopAtStepHook
from everflow.train.monitored_session import ChiefSessionCreator, MonitoredSession, MonitoredTrainingSession
from everflow.train.queue_runner import start_queue_runners
from everflow.train.scaffold import Scaffold


@takes(
    """graph, output_dir, train_op, loss_op, global_step_tensor=None, init_op=None, init_feed_dict=None, init_fn=None,
    log_every_steps=10, supervisor_is_chief=True, supervisor_master="", supervisor_save_model_secs=600,
    keep_checkpoint_max=5, supervisor_save_summaries_steps=100, feed_fn=None, steps=None, fail_on_nan_loss=True,
    monitors=None, max_steps=None"""
)
def train(graph, output_dir, train_op, loss_op, **given):
    """Run `train_op` until it is enough; the last loss."""
    if not output_dir:
        raise ValueError("Output directory should be non-empty.")
    if train_op is None:
        raise ValueError("Missing train_op.")
    if loss_op is None:
        raise ValueError("Missing loss_op.")
    if given["steps"] is not None and given["max_steps"] is not None:
        raise ValueError(f"Can not provide both: steps is {given['steps']}, max_steps {given['max_steps']}")
    hooks = list(given["monitors"] or [])
    if given["steps"] is not None or given["max_steps"] is not None:
        hooks.append(StopAtStepHook(num_steps=given["steps"], last_step=given["max_steps"]))
    with graph.as_default():
        if given["global_step_tensor"] is None and get_global_step(graph) is None:
            raise ValueError("No 'global_step' was given or found in the graph.")
        scaffold = Scaffold(
            init_op=given["init_op"],
            init_feed_dict=given["init_feed_dict"],
            init_fn=(lambda _, session: given["init_fn"](session)) if given["init_fn"] else None,
        )
        loss = None
        with MonitoredTrainingSession(
            master=given["supervisor_master"],
            is_chief=given["supervisor_is_chief"],
            checkpoint_dir=output_dir,
            scaffold=scaffold,
            hooks=hooks,
            save_checkpoint_secs=given["supervisor_save_model_secs"],
            save_summaries_steps=given["supervisor_save_summaries_steps"],
            log_step_count_steps=given["log_every_steps"],
        ) as session:
            while not session.should_stop():
                feeds = given["feed_fn"]() if given["feed_fn"] else None
                _, loss = session.run([train_op, loss_op], feed_dict=feeds)
                if np.isnan(loss):
                    if given["fail_on_nan_loss"]:
                        raise NanLossDuringTrainingError()
                    logging.warning("The loss is NaN.")
        return loss


@takes(
    """graph, output_dir, checkpoint_path, eval_dict, update_op=None, global_step_tensor=None, supervisor_master="",
    log_every_steps=10, feed_fn=None, max_steps=None"""
)
def evaluate(graph, output_dir, checkpoint_path, eval_dict, **given):
    """({name: value}, the global step) of a checkpoint, after updates of metrics over the input."""
    with graph.as_default():
        step_tensor = given["global_step_tensor"]
        step_tensor = get_global_step(graph) if step_tensor is None else step_tensor
        creator = ChiefSessionCreator(checkpoint_filename_with_path=checkpoint_path, master=given["supervisor_master"])
        updates = [given["update_op"]] if given["update_op"] is not None else []
        results = step = None
        # The monitored session hides the end of the input, after which results can still be asked for.
        with MonitoredSession(session_creator=creator) as session:
            for done in itertools.count(1):
                if session.should_stop() or (given["max_steps"] is not None and done > given["max_steps"]):
                    break
                feeds = given["feed_fn"]() if given["feed_fn"] else None
                *_, results, step = session.run([*updates, eval_dict, step_tensor], feed_dict=feeds)
    if results is not None and output_dir:
        _write(output_dir, graph, results, step)
    return results, step


_SUMMARY_WRITERS: dict = {}


def get_summary_writer(logdir):
    """The writer of event files in a folder, the same for each call."""
    if logdir not in _SUMMARY_WRITERS:
        _SUMMARY_WRITERS[logdir] = summary.FileWriter(logdir, graph=get_default_graph())
    return _SUMMARY_WRITERS[logdir]


def clear_summary_writers():
    """Close all of these writers, and forget them."""
    for writer in _SUMMARY_WRITERS.values():
        writer.close()
    _SUMMARY_WRITERS.clear()


def _write(output_dir, graph, results, step):
    writer = summary.FileWriter(output_dir, graph)
    written = summary.Summary()
    for name, value in results.items():
        if np.isscalar(value) or np.ndim(value) == 0:
            written.value.add(tag=name, simple_value=float(value))
    writer.add_summary(written, step)
    writer.close()


def run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path=None):
    """What tensors come to for each of some feeds."""
    if not output_dict:
        raise ValueError("output_dict is invalid: it must name the tensors to run.")
    if not feed_dicts:
        raise ValueError("feed_dicts is invalid: there is nothing to run for.")
    graph = get_default_graph()
    with graph.as_default():
        creator = ChiefSessionCreator(checkpoint_filename_with_path=restore_checkpoint_path)
        session = creator.create_session()
        coordinator = Coordinator()
        try:
            threads = (
                start_queue_runners(session, coord=coordinator) if graph.get_collection(GraphKeys.QUEUE_RUNNERS) else []
            )
            for feeds in feed_dicts:
                yield session.run(output_dict, feeds)
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=120)
        finally:
            session.close()


def run_feeds(*args, **kwargs):
    """`run_feeds_iter` as a list."""
    return list(run_feeds_iter(*args, **kwargs))


def run_n(output_dict, feed_dict=None, restore_checkpoint_path=None, n=1):
    """What tensors come to in `n` runs."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


def infer(restore_checkpoint_path, output_dict, feed_dict=None):
    """What tensors come to with the variables of a checkpoint."""
    return run_n(output_dict, feed_dict, restore_checkpoint_path, n=1)[0]
