"""`learn_runner.run`: makes an Experiment and runs one of its methods, the one that fits the task where none is named."""

from __future__ import annotations

from everflow.contrib.learn.experiment import Experiment
from everflow.contrib.learn.run_config import RunConfig, TaskType

_SCHEDULES = {TaskType.MASTER: "train_and_evaluate", TaskType.PS: "run_std_server", TaskType.WORKER: "train"}


def _is_distributed(config):
    """Whether there are other processes."""
    return bool(config) and sum(len(tasks) for tasks in config.cluster_spec.as_dict().values()) > 1


def _get_default_schedule(config):
    """What a process of this kind does."""
    if not _is_distributed(config):
        return "train_and_evaluate"
    if config.task_type not in _SCHEDULES:
        raise ValueError(f"No default schedule for task type: {config.task_type}. Please specify a schedule.")
    return _SCHEDULES[config.task_type]


def _execute_schedule(experiment, schedule):
    """Call a method of an experiment by its name."""
    method = getattr(experiment, schedule, None)
    if method is None or schedule.startswith("_"):
        raise ValueError(f"Schedule references non-existent task {schedule}.")
    if not callable(method):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return method()


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
    config = run_config or experiment.estimator.config or RunConfig()
    return _execute_schedule(experiment, schedule or _get_default_schedule(config))


def tune(experiment_fn, tuner):
    """Run an experiment for each of the trials that a tuner has."""

    def checked(run_config, hparams):
        if hparams is None:
            raise ValueError("The tuner gave no hparams")
        experiment = experiment_fn(run_config=run_config, hparams=hparams)
        if not isinstance(experiment, Experiment):
            raise TypeError(f"experiment_fn should return an Experiment, not a {type(experiment)}")
        return experiment

    while tuner.next_trial():
        tuner.run_experiment(checked)
