"""`RunConfig`: the settings of an estimator's runs, and its place in a cluster as the environment's TF_CONFIG says."""

from __future__ import annotations

import copy
import inspect
import json
import operator
import os

from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.protos.config_pb2 import ConfigProto
from everflow.protos.rewriter_config_pb2 import RewriterConfig

_USE_DEFAULT = object()
_DEFAULT_CHECKPOINT_SECS = 600
_TIMING = ("save_checkpoints_steps", "save_checkpoints_secs")


class TaskType:
    """The kinds of processes in a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


class RunConfig:
    """Where an estimator keeps its model, how often it saves and reports, its seed and its session's settings. In a cluster,
    TF_CONFIG says which task this is.

    Args:
        model_dir: The folder of checkpoints and event files.
        tf_random_seed: The seed of graphs; 1 if None.
        save_summary_steps: Every how many steps summaries are written.
        save_checkpoints_steps: Every how many steps a checkpoint is written.
        save_checkpoints_secs: Every how many seconds a checkpoint is written; 600 unless steps are given.
        session_config: A `tf.ConfigProto` with settings.
        keep_checkpoint_max: How many checkpoints are kept; all if None.
        keep_checkpoint_every_n_hours: One of so many hours is kept for ever.
        log_step_count_steps: Every how many steps the speed is logged.
        train_distribute: The strategy for training.
        device_fn: A function of an operation that gives its device.
        protocol: `grpc`.
        eval_distribute: The strategy for evaluation.
        experimental_distribute: Strategies for both.
        experimental_max_worker_delay_secs: The longest a worker waits before it starts.
        session_creation_timeout_secs: How long a worker waits for its session.

    Example:
        >>> config = tf.estimator.RunConfig("model", tf_random_seed=1, save_checkpoints_steps=500)
        >>> config.model_dir, config.save_checkpoints_steps
        ('model', 500)
    """

    @takes(
        """model_dir=None, tf_random_seed=None, save_summary_steps=100, save_checkpoints_steps=DEFAULT,
        save_checkpoints_secs=DEFAULT, session_config=None, keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000,
        log_step_count_steps=100, train_distribute=None, device_fn=None, protocol=None, eval_distribute=None,
        experimental_distribute=None, experimental_max_worker_delay_secs=None, session_creation_timeout_secs=7200""",
        DEFAULT=_USE_DEFAULT,
    )
    def __init__(self, **settings):
        timing = [settings[name] for name in _TIMING]
        if timing == [_USE_DEFAULT, _USE_DEFAULT]:
            settings["save_checkpoints_secs"] = _DEFAULT_CHECKPOINT_SECS
        settings |= {name: None for name in _TIMING if settings[name] is _USE_DEFAULT}
        environment = json.loads(os.environ.get("TF_CONFIG", "{}"))
        if environment:
            logging.info("TF_CONFIG environment variable: %s", environment)
        self._set(**{**settings, "model_dir": _model_dir(environment, settings["model_dir"])})
        self._service = environment.get("service", None)
        self._cluster = environment.get("cluster", {})
        workers = getattr(self._train_distribute, "extended", None)
        if getattr(workers, "task", None) is not None:  # the strategy knows the cluster
            place = _place_of_worker(workers)
        else:
            place = _place_in_cluster(environment) if self._cluster else _place_alone(environment)
        self.__dict__.update({f"_{key}": value for key, value in place.items()})
        if self._session_config is None and self.task_type != TaskType.EVALUATOR and self._cluster:
            self._session_config = _cluster_session_config(self.task_type, self.task_id)
        if self.task_type == TaskType.EVALUATOR:
            self._cluster = {}

    def _set(self, **settings):
        _check(settings)
        self.__dict__.update({f"_{key}": value for key, value in settings.items()})

    def replace(self, **kwargs):
        """A copy with other settings; what the cluster says can't be replaced."""
        for key in kwargs:
            if key not in _REPLACEABLE:
                raise ValueError(f"Replacing {key} is not supported. Allowed properties are {list(_REPLACEABLE)}.")
        if "model_dir" in kwargs and not kwargs["model_dir"] and kwargs["model_dir"] is not None:
            raise ValueError("model_dir should be non-empty")
        if any(name in kwargs for name in _TIMING):  # one way of timing checkpoints puts the other one out
            kwargs = {**dict.fromkeys(_TIMING), **kwargs}
        new = copy.copy(self)
        new._set(**{**{key: getattr(self, f"_{key}") for key in _REPLACEABLE}, **kwargs})
        return new

    def __repr__(self):
        return f"{type(self).__name__}({vars(self)})"

    @property
    def cluster_spec(self):
        """The `tf.train.ClusterSpec` of the cluster, empty where there is none."""
        from everflow.train import ClusterSpec  # loads google_crc32c

        return ClusterSpec(self._cluster)


_PROPERTIES = {
    # settings
    "model_dir": "The folder of checkpoints and summaries, or None.",
    "tf_random_seed": "The seed of the graphs, or None.",
    "save_summary_steps": "Summaries are written every so many steps.",
    "save_checkpoints_steps": "Steps between checkpoints, or None.",
    "save_checkpoints_secs": "Seconds between checkpoints, or None.",
    "session_config": "The ConfigProto of sessions, or None.",
    "keep_checkpoint_max": "How many checkpoints are kept; 0 or None for all.",
    "keep_checkpoint_every_n_hours": "Hours after which one is kept for good.",
    "log_step_count_steps": "Loss and speed are reported every so many steps.",
    "train_distribute": "The distribution strategy of training, or None.",
    "eval_distribute": "The distribution strategy of evaluation, or None.",
    "device_fn": "A function from an op to its device, or None for the default.",
    "protocol": "The protocol of the cluster's servers, or None.",
    "experimental_max_worker_delay_secs": "How long a worker waits at most before it starts, or None.",
    "session_creation_timeout_secs": "How long a worker waits for the chief to make the model ready.",
    # the place in a cluster
    "service": "What TF_CONFIG has under service.",
    "task_type": "What kind of process this is.",
    "task_id": "Which one of its kind.",
    "global_id_in_cluster": "Which one of all: the chief, workers, then others.",
    "master": "The address that training sessions connect to.",
    "evaluation_master": "The address that evaluating sessions connect to.",
    "num_ps_replicas": "How many parameter servers there are.",
    "num_worker_replicas": "How many processes train, the chief among them.",
    "is_chief": "Whether this process initializes and saves the model.",
}
for _name, _doc in _PROPERTIES.items():
    setattr(RunConfig, _name, property(operator.attrgetter(f"_{_name}"), doc=_doc))
_REPLACEABLE = tuple(inspect.signature(RunConfig).parameters)

# --- checks --------------------------------------------------------------------------------------


def _takes_one_op(function):
    return callable(function) and list(inspect.signature(function).parameters) in (["op"], ["self", "op"])


# setting → (whether a value is good, what it should be)
_CHECKS = {
    "model_dir": (lambda value: bool(value), "should be non-empty."),
    "save_summary_steps": (lambda value: value >= 0, "should be >= 0"),
    "save_checkpoints_steps": (lambda value: value >= 0, "should be >= 0"),
    "save_checkpoints_secs": (lambda value: value >= 0, "should be >= 0"),
    "session_config": (lambda value: isinstance(value, ConfigProto), "must be instance of ConfigProto"),
    "keep_checkpoint_max": (lambda value: value >= 0, "should be >= 0"),
    "keep_checkpoint_every_n_hours": (lambda value: value > 0, "should be > 0"),
    "log_step_count_steps": (lambda value: value > 0, "should be > 0"),
    "tf_random_seed": (lambda value: isinstance(value, int) or hasattr(value, "__index__"), "must be integer."),
    "device_fn": (_takes_one_op, 'must be callable with exactly one argument "op".'),
    "protocol": (lambda value: value in ("grpc", "grpc+verbs"), "should be grpc or grpc+verbs"),
    "experimental_max_worker_delay_secs": (lambda value: isinstance(value, int), "must be an integer if set."),
    "session_creation_timeout_secs": (lambda value: value > 0, "should be > 0"),
}


def _check(settings):
    for key, (is_good, expected) in _CHECKS.items():
        value = settings.get(key)
        if value is not None and not is_good(value):
            raise ValueError(f"{key} {expected} Given: {value!r}")
    if settings["save_checkpoints_steps"] is not None and settings["save_checkpoints_secs"] is not None:
        raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")


# --- TF_CONFIG -----------------------------------------------------------------------------------


def _model_dir(environment, given):
    """The model folder, from the argument or the environment; both may say it if they say the same."""
    found = environment.get("model_dir")
    if found is not None:
        if not found:
            raise ValueError("model_dir in TF_CONFIG should be non-empty.")
        if given is not None and given != found:
            raise ValueError(f"`model_dir` provided in RunConfig, {given!r}, is not that of TF_CONFIG, {found!r}.")
        return found
    return given


def _place_alone(environment):
    """A process without a cluster is the only worker and the chief."""
    task = environment.get("task", {})
    if task.get("type", TaskType.WORKER) != TaskType.WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if int(task.get("index", 0)) != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    masters = {"master": "session_master", "evaluation_master": "eval_session_master"}
    masters = {name: environment.get(key, "") for name, key in masters.items()}
    alone = {"task_id": 0, "global_id_in_cluster": 0, "is_chief": True, "num_worker_replicas": 1}
    return _place(TaskType.WORKER, **masters, **alone)


def _place(task_type, **facts):
    """What is known of a process in its cluster. An evaluator looks at checkpoints only: the others don't see it."""
    nothing = {"global_id_in_cluster": None, "master": "", "evaluation_master": "", "is_chief": False}
    return {**nothing, "num_ps_replicas": 0, "num_worker_replicas": 0, "task_type": task_type, **facts}


def _place_of_worker(extended):
    """What this process is among the workers of a strategy: they need no chief of their own kind."""
    task_type, task_id = extended.task
    if task_type == TaskType.EVALUATOR:
        return _place(task_type, task_id=task_id)
    return _place(
        task_type,
        task_id=task_id,
        global_id_in_cluster=extended.worker_index,
        is_chief=extended.should_checkpoint,
        num_worker_replicas=extended.num_workers,
    )


def _place_in_cluster(environment):
    """What this process is in the cluster of TF_CONFIG."""
    from everflow.train import ClusterSpec  # loads google_crc32c

    cluster = ClusterSpec(environment["cluster"]).as_dict()
    task_type, task_id = _task(environment.get("task", {}), cluster)
    if task_type == TaskType.EVALUATOR:
        return _place(task_type, task_id=task_id)
    address = _address(cluster, task_type, task_id)
    alone = sum(len(tasks) for tasks in cluster.values()) == 1
    chief = TaskType.MASTER if task_type == TaskType.MASTER or TaskType.CHIEF not in cluster else TaskType.CHIEF
    order = [chief, TaskType.WORKER, TaskType.PS]
    order += [job for job in cluster if job not in order]
    before = sum(len(cluster.get(job, ())) for job in order[: order.index(task_type)])
    return _place(
        task_type,
        task_id=task_id,
        global_id_in_cluster=before + task_id,
        master=environment.get("session_master") or ("" if alone else f"grpc://{address}"),
        is_chief=task_type == chief,
        num_ps_replicas=len(cluster.get(TaskType.PS, ())),
        num_worker_replicas=len(cluster.get(TaskType.WORKER, ())) + 1,
    )


def _task(task, cluster):
    chief = (
        TaskType.CHIEF if task.get("type") != TaskType.MASTER and TaskType.MASTER not in cluster else TaskType.MASTER
    )
    if chief not in cluster:
        raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "chief" node.')
    if len(cluster[chief]) > 1:
        raise ValueError('The "cluster" in TF_CONFIG must have only one "chief" node.')
    task_type = task.get("type")
    if not task_type:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task.get("index") is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_id = int(task["index"])
    if task_id < 0:
        raise ValueError(f"Task index must be non-negative number, not {task_id}.")
    return task_type, task_id


def _address(cluster, task_type, task_id):
    if task_type not in cluster:
        raise ValueError(f"{task_type} is not a valid task_type: the cluster of TF_CONFIG has {sorted(cluster)}.")
    if task_id >= len(cluster[task_type]):
        raise ValueError(
            f"TF_CONFIG names task {task_id} of {task_type!r}, and its cluster has {cluster[task_type]} there."
        )
    return cluster[task_type][task_id]


def default_session_config():
    """The settings of sessions where a program gives none: ops go where they can."""
    config = ConfigProto(allow_soft_placement=True)
    config.graph_options.rewrite_options.meta_optimizer_iterations = RewriterConfig.ONE
    return config


def _cluster_session_config(task_type, task_id):
    """Sessions of a worker see the parameter servers and itself, so that a lost worker doesn't hold up the others."""
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }.get(task_type)
    if filters is None:
        return None
    config = default_session_config()
    config.device_filters.extend(filters)
    return config
