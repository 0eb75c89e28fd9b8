"""slim.evaluation: run an evaluation on one checkpoint, or on each as training writes them."""

from __future__ import annotations

from everflow import summary
from everflow.train import Saver, Scaffold
from everflow.train.eval_step import checkpoints_iterator, wait_for_new_checkpoint  # noqa: F401  slim.evaluation's as well
from everflow.train.evaluation import StopAfterNEvalsHook, SummaryAtEndHook
from everflow.train.evaluation import evaluate_once as _evaluate_once
from everflow.train.evaluation import evaluate_repeatedly as _evaluate_repeatedly

_USE_DEFAULT = 0


def _translated(master, logdir, num_evals, initial_op, initial_op_feed_dict, init_fn, eval_op,
                eval_op_feed_dict, final_op, final_op_feed_dict, summary_op, summary_op_feed_dict,
                variables_to_restore, session_config, hooks):  # fmt: skip
    """The arguments as those of tf.contrib.training."""
    if summary_op is _USE_DEFAULT:
        summary_op = summary.merge_all()  # before the saver, whose nodes come after
    saver = Saver(variables_to_restore) if variables_to_restore is not None else None
    own = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        own.append(SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=summary_op_feed_dict))
    return {
        "master": master,
        "scaffold": Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, init_fn=init_fn, saver=saver),
        "eval_ops": eval_op,
        "feed_dict": eval_op_feed_dict,
        "final_ops": final_op,
        "final_ops_feed_dict": final_op_feed_dict,
        "hooks": own + list(hooks or []),
        "config": session_config,
    }


def evaluate_once(master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, eval_op=None,
                  eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT, summary_op_feed_dict=None,
                  variables_to_restore=None, session_config=None, hooks=None):  # fmt: skip
    """Run `eval_op` so many times on a checkpoint, then `final_op`, whose values are returned; a summary goes to
    `logdir`.
    """
    common = _translated(master, logdir, num_evals, initial_op, initial_op_feed_dict, None, eval_op,
                         eval_op_feed_dict, final_op, final_op_feed_dict, summary_op,
                         summary_op_feed_dict, variables_to_restore, session_config, hooks)  # fmt: skip
    return _evaluate_once(checkpoint_path, **common)


def evaluation_loop(master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, init_fn=None, eval_op=None,
                    eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT, summary_op_feed_dict=None,
                    variables_to_restore=None, eval_interval_secs=60, max_number_of_evaluations=None, session_config=None, timeout=None,
                    timeout_fn=None, hooks=None):  # fmt: skip
    """As `evaluate_once`, for each new checkpoint of a folder."""
    common = _translated(master, logdir, num_evals, initial_op, initial_op_feed_dict, init_fn, eval_op,
                         eval_op_feed_dict, final_op, final_op_feed_dict, summary_op,
                         summary_op_feed_dict, variables_to_restore, session_config, hooks)  # fmt: skip
    waiting = {"eval_interval_secs": eval_interval_secs, "timeout": timeout, "timeout_fn": timeout_fn}
    return _evaluate_repeatedly(
        checkpoint_dir, max_number_of_evaluations=max_number_of_evaluations, **waiting, **common
    )
