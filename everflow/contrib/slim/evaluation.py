"""slim.evaluation: run an evaluation on one checkpoint, or on each as training writes them."""

from __future__ import annotations

from everflow import summary
from everflow.platform.signatures import inserted, optional, takes
from everflow.train import Saver, Scaffold
from everflow.train.eval_step import checkpoints_iterator, wait_for_new_checkpoint  # noqa: F401  slim's, too
from everflow.train.evaluation import StopAfterNEvalsHook, SummaryAtEndHook
from everflow.train.evaluation import evaluate_once as _evaluate_once
from everflow.train.evaluation import evaluate_repeatedly as _evaluate_repeatedly

_USE_DEFAULT = 0


_EVALUATION = optional(
    """num_evals initial_op initial_op_feed_dict eval_op eval_op_feed_dict final_op final_op_feed_dict summary_op
    summary_op_feed_dict variables_to_restore session_config hooks""",
    num_evals=1,
    summary_op=_USE_DEFAULT,
)
_WAITING = {"eval_interval_secs": 60, "max_number_of_evaluations": None}
_TIMEOUT = {"timeout": None, "timeout_fn": None}


def _translated(master, logdir, given):
    """The arguments as those of tf.contrib.training."""
    summary_op, restored = given["summary_op"], given["variables_to_restore"]
    if summary_op is _USE_DEFAULT:
        summary_op = summary.merge_all()  # before the saver, whose nodes come after
    saver = Saver(restored) if restored is not None else None
    own = [StopAfterNEvalsHook(given["num_evals"])]
    if summary_op is not None:
        own.append(SummaryAtEndHook(logdir, summary_op=summary_op, feed_dict=given["summary_op_feed_dict"]))
    init_op, init_feeds, init_fn = given["initial_op"], given["initial_op_feed_dict"], given.get("init_fn")
    return {
        "master": master,
        "scaffold": Scaffold(init_op=init_op, init_feed_dict=init_feeds, init_fn=init_fn, saver=saver),
        "eval_ops": given["eval_op"],
        "feed_dict": given["eval_op_feed_dict"],
        "final_ops": given["final_op"],
        "final_ops_feed_dict": given["final_op_feed_dict"],
        "hooks": own + list(given["hooks"] or []),
        "config": given["session_config"],
    }


@takes(_EVALUATION)
def evaluate_once(master, checkpoint_path, logdir, **given):
    """Run `eval_op` so often on a checkpoint, then return `final_op`'s values; a summary goes to `logdir`."""
    return _evaluate_once(checkpoint_path, **_translated(master, logdir, given))


@takes(
    inserted(
        _EVALUATION, initial_op_feed_dict={"init_fn": None}, variables_to_restore=_WAITING, session_config=_TIMEOUT
    )
)
def evaluation_loop(master, checkpoint_dir, logdir, **given):
    """As `evaluate_once`, for each new checkpoint of a folder."""
    waiting = {name: given[name] for name in [*_WAITING, *_TIMEOUT]}
    return _evaluate_repeatedly(checkpoint_dir, **waiting, **_translated(master, logdir, given))
