"""`RunConfig` of tf.contrib.learn: that of tf.estimator with the arguments of old."""

from __future__ import annotations

import json
import os

from everflow.estimator.run_config import RunConfig as EstimatorRunConfig
from everflow.platform.signatures import options_of
from everflow.protos.config_pb2 import ConfigProto, GPUOptions
from everflow.train import ClusterSpec


class TaskType:
    """Kinds of processes."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


class Environment:
    """Where processes run, which tells who the chief is."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


def _count_ps(cluster_spec):
    """How many parameter servers there are."""
    return len(cluster_spec.as_dict().get(TaskType.PS, ())) if cluster_spec else 0


def _count_worker(cluster_spec):
    """How many processes train."""
    jobs = cluster_spec.as_dict() if cluster_spec else {}
    return sum(len(jobs.get(kind, ())) for kind in (TaskType.WORKER, TaskType.MASTER))


def _get_master(cluster_spec, task_type, task_id):
    """The address that sessions connect to: none where there is but one process."""
    jobs = cluster_spec.as_dict()
    if not jobs or task_type is None or task_id is None:
        return ""
    if sum(len(tasks) for tasks in jobs.values()) == 1:
        return ""
    if task_type not in jobs:
        raise ValueError(f"{task_type} is not a valid task_type: the cluster has {sorted(jobs)}")
    if not 0 <= task_id < len(jobs[task_type]):
        raise ValueError(f"{task_id} is not a valid task_id: the cluster has {jobs[task_type]} of {task_type!r}")
    return f"grpc://{jobs[task_type][task_id]}"


class ClusterConfig:
    """What this process is in a cluster, as the environment's TF_CONFIG says."""

    def __init__(self, master=None, evaluation_master=None):
        environment = json.loads(os.environ.get("TF_CONFIG") or "{}")
        task = environment.get("task", {})
        cluster = ClusterSpec(environment.get("cluster", {}))
        self._cluster_spec = cluster
        self._cluster = environment.get("cluster", {})
        self._environment = environment.get("environment", Environment.LOCAL)
        self._task_type = task.get("type")
        self._task_id = self.get_task_id()
        self._master = _get_master(cluster, self._task_type, self._task_id) if master is None else master
        self._num_ps_replicas = _count_ps(cluster) or 0
        self._num_worker_replicas = _count_worker(cluster) or 0
        chief = TaskType.MASTER if self._environment == Environment.CLOUD else TaskType.WORKER
        self._is_chief = self._task_id == 0 and self._task_type in (None, chief)
        self._evaluation_master = evaluation_master or ""

    cluster_spec = property(lambda self: self._cluster_spec, doc="The cluster.")
    environment = property(lambda self: self._environment, doc="Where it runs.")
    evaluation_master = property(lambda self: self._evaluation_master, doc="The server for evaluation.")
    is_chief = property(lambda self: self._is_chief, doc="Whether this process initializes and saves the model.")
    master = property(lambda self: self._master, doc="The server to connect to.")
    num_ps_replicas = property(lambda self: self._num_ps_replicas, doc="How many parameter servers there are.")
    num_worker_replicas = property(lambda self: self._num_worker_replicas, doc="How many processes train.")
    task_id = property(lambda self: self._task_id, doc="Which one of its kind this process is.")
    task_type = property(lambda self: self._task_type, doc="What kind of process this is, or None.")

    @staticmethod
    def get_task_id():
        """The number of this task, as the environment's TF_CONFIG says."""
        task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
        return int(task.get("index", 0)) if task else 0


# Settings that two equal experiments may differ in.
_DEFAULT_UID_WHITE_LIST = [
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
]


class RunConfig(ClusterConfig, EstimatorRunConfig):
    """How an estimator is run: seeds, how often it saves, and the session's options.

    Args:
        master: The server to connect to.
        num_cores: How many cores are used; 0 for all.
        log_device_placement: Whether devices are logged.
        gpu_memory_fraction: How much of a GPU's memory is used.
        tf_random_seed: The seed of graphs.
        save_summary_steps: Every how many steps summaries are written.
        save_checkpoints_secs: Every how many seconds a checkpoint is written.
        save_checkpoints_steps: Every how many steps a checkpoint is written.
        keep_checkpoint_max: How many checkpoints are kept.
        keep_checkpoint_every_n_hours: One of so many hours is kept for ever.
        log_step_count_steps: Every how many steps the speed is logged.
        protocol: `grpc`.
        evaluation_master: The server for evaluation.
        model_dir: The folder of checkpoints and event files.
        session_config: A `tf.ConfigProto` with settings.
        session_creation_timeout_secs: How long a worker waits for its session.

    Example:
        >>> tf.contrib.learn.RunConfig(save_checkpoints_secs=60).save_checkpoints_secs
        60
    """

    def __init__(
        self,
        master=None,
        num_cores=0,
        log_device_placement=False,
        gpu_memory_fraction=1,
        tf_random_seed=None,
        save_summary_steps=100,
        save_checkpoints_secs=600,
        save_checkpoints_steps=None,
        keep_checkpoint_max=5,
        keep_checkpoint_every_n_hours=10000,
        log_step_count_steps=100,
        protocol=None,
        evaluation_master="",
        model_dir=None,
        session_config=None,
        session_creation_timeout_secs=7200,
    ):
        given = dict(locals())
        options = GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction)
        threads = {"inter_op_parallelism_threads": num_cores, "intra_op_parallelism_threads": num_cores}
        self._tf_config = ConfigProto(log_device_placement=log_device_placement, gpu_options=options, **threads)
        for_core = {name: given[name] for name in options_of(EstimatorRunConfig.__init__) if name in given}
        if save_checkpoints_steps is not None:
            for_core["save_checkpoints_secs"] = None
        ClusterConfig.__init__(self, master, evaluation_master)
        self._service = self._global_id_in_cluster = None
        settings = options_of(EstimatorRunConfig.__init__)
        self._set(**{**settings, "save_checkpoints_steps": None, **for_core})

    @property
    def tf_config(self):
        """The session's options that were made from the arguments."""
        return self._tf_config

    def uid(self, whitelist=None):
        """A string of all that it says, but for the attributes in `whitelist`: equal for equal configs."""
        left_out = _DEFAULT_UID_WHITE_LIST if whitelist is None else whitelist
        left_out = {name.lstrip("_") for name in left_out} | {"cluster_spec"}
        said = {name: value for name, value in sorted(vars(self).items()) if name.lstrip("_") not in left_out}
        return ", ".join(f"{name}={value!r}" for name, value in said.items())
