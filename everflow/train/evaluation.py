"""Evaluating checkpoints as training writes them."""

from __future__ import annotations

import time

from everflow import summary
from everflow.framework.scopes import control_dependencies
from everflow.ops import array
from everflow.ops.variables.assign import assign_add
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.train import (
    ChiefSessionCreator,
    FinalOpsHook,
    MonitoredSession,
    Scaffold,
    SessionRunArgs,
    SessionRunHook,
    get_or_create_global_step,
)
from everflow.train.eval_step import checkpoints_iterator, get_or_create_eval_step


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after so many batches; None for as many as there are."""

    def __init__(self, num_evals, log_progress=True):
        self._num_evals = num_evals
        self._log_progress = log_progress
        self._evals_completed = None

    def _set_evals_completed_tensor(self, updated_eval_step):
        self._evals_completed = updated_eval_step

    def before_run(self, run_context):
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context, run_values):
        done = run_values.results["evals_completed"]
        if self._log_progress:
            logging.info("Evaluation [%s]", done if self._num_evals is None else f"{done}/{self._num_evals}")
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes one summary when an evaluation ends."""

    def __init__(self, log_dir=None, summary_writer=None, summary_op=None, feed_dict=None):
        if (log_dir is None) == (summary_writer is None):
            raise ValueError("Say where the summary goes: log_dir or summary_writer, one of them")
        self._log_dir = log_dir
        self._summary_writer = summary_writer
        self._summary_op = summary_op
        self._feed_dict = feed_dict
        self._global_step = None

    def begin(self):
        if self._summary_writer is None:
            self._summary_writer = summary.FileWriterCache.get(self._log_dir)
        if self._summary_op is None:
            self._summary_op = summary.merge_all()
        self._global_step = get_or_create_global_step()

    def end(self, session):
        if self._summary_op is not None:
            step, text = session.run([self._global_step, self._summary_op], self._feed_dict)
            self._summary_writer.add_summary(text, step)
        self._summary_writer.flush()


def _counted(eval_ops, eval_step):
    """The evaluation ops with one that counts each run; (ops, the one that counts)."""
    update = assign_add(eval_step, 1, use_locking=True)
    if isinstance(eval_ops, dict):
        return {**eval_ops, "update_eval_step": update}, update
    return [*(eval_ops if isinstance(eval_ops, (list, tuple)) else [eval_ops]), update], update


_PARAMETERS = """master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None, final_ops_feed_dict=None,
    %s hooks=None, config=None"""


@takes("checkpoint_path, " + _PARAMETERS % "")
def evaluate_once(checkpoint_path, eval_ops, final_ops, final_ops_feed_dict, hooks, **session):
    """Run `eval_ops` on a checkpoint until a hook stops it; returns the values of `final_ops`.

    >>> values = evaluate_once(path, eval_ops=list(updates), final_ops=metrics, hooks=[StopAfterNEvalsHook(100)])
    """
    eval_ops, hooks = _prepared(eval_ops, hooks, count_after_all=True)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    _run(checkpoint_path, eval_ops, [*hooks, final], **session)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final.final_ops_values


def _prepared(eval_ops, hooks, count_after_all):
    """The ops with a count of their runs, which hooks are told of: read when all ops have run, or as it is counted."""
    eval_step = get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        eval_ops, counted = _counted(eval_ops, eval_step)
        if count_after_all:
            with control_dependencies(list(eval_ops.values()) if isinstance(eval_ops, dict) else eval_ops):
                counted = array.identity(eval_step.read_value())
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(counted)
    return eval_ops, hooks


def _run(checkpoint_path, eval_ops, hooks, master, scaffold, config, feed_dict):
    creator = ChiefSessionCreator(
        scaffold=scaffold or Scaffold(), checkpoint_filename_with_path=checkpoint_path, master=master, config=config
    )
    with MonitoredSession(session_creator=creator, hooks=hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)


@takes(
    f"""checkpoint_dir, {_PARAMETERS % "eval_interval_secs=60,"}, max_number_of_evaluations=None, timeout=None,
    timeout_fn=None"""
)
def evaluate_repeatedly(checkpoint_dir, eval_ops, hooks, max_number_of_evaluations, **given):
    """As `evaluate_once`, for each new checkpoint of a folder; returns the last values."""
    eval_ops, hooks = _prepared(eval_ops, hooks, count_after_all=False)
    final = FinalOpsHook(given.pop("final_ops"), given.pop("final_ops_feed_dict"))
    waiting = [given.pop(name) for name in ("eval_interval_secs", "timeout", "timeout_fn")]
    for count, path in enumerate(checkpoints_iterator(checkpoint_dir, *waiting), 1):
        _run(path, eval_ops, [*hooks, final], **given)
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return final.final_ops_values
