"""`learn_runner.run`: makes an Experiment and runs one of its methods, the one that fits the task where none is named."""

from __future__ import annotations

from everflow.contrib.learn.experiment import Experiment
from everflow.contrib.learn.run_config import RunConfig, TaskType

_SCHEDULES = {
    None: "train_and_evaluate",
    TaskType.CHIEF: "train",
    TaskType.MASTER: "train_and_evaluate",
    TaskType.WORKER: "train",
    TaskType.EVALUATOR: "evaluate",
}


def run(experiment_fn, output_dir=None, schedule=None, run_config=None, hparams=None):
    """Run `experiment_fn(run_config, hparams)`, or `experiment_fn(output_dir)`: the experiment's method `schedule`.

    >>> learn_runner.run(experiment_fn=lambda run_config, hparams: tf.contrib.learn.Experiment(...), run_config=config)
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("The run_config says where to write, so output_dir can't be given with it")
    if output_dir is None and run_config is None:
        raise ValueError("Say where to write: by run_config, or by output_dir")
    if not callable(experiment_fn):
        raise TypeError("Experiment builder `experiment_fn` is not callable.")
    given = {"output_dir": output_dir} if run_config is None else {"run_config": run_config, "hparams": hparams}
    experiment = experiment_fn(**given)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"experiment_fn should return an Experiment, not a {type(experiment)}")
    if schedule is None:
        config = run_config or experiment.estimator.config or RunConfig()
        task = config.task_type if config.cluster_spec and config.cluster_spec.jobs else None
        if task not in _SCHEDULES:
            raise ValueError(f"No default schedule for task type: {task}. Please specify a schedule.")
        schedule = _SCHEDULES[task]
    method = getattr(experiment, schedule, None)
    if method is None or schedule.startswith("_"):
        raise ValueError(f"Schedule references non-existent task {schedule}.")
    if not callable(method):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return method()
