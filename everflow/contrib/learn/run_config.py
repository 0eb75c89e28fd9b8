"""`RunConfig` of tf.contrib.learn: that of tf.estimator with the arguments of old."""

from __future__ import annotations

import json
import os

from everflow.estimator.run_config import RunConfig as EstimatorRunConfig
from everflow.estimator.run_config import TaskType  # noqa: F401  It is part of this module's interface.
from everflow.platform.signatures import options_of
from everflow.protos.config_pb2 import ConfigProto, GPUOptions


class RunConfig(EstimatorRunConfig):
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
        for_core["session_config"] = session_config or self._tf_config
        if save_checkpoints_steps is not None:
            for_core["save_checkpoints_secs"] = None
        super().__init__(**for_core)
        if master is not None:
            self._master = master
        if evaluation_master:
            self._evaluation_master = evaluation_master

    @property
    def tf_config(self):
        """The session's options that were made from the arguments."""
        return self._tf_config

    @property
    def environment(self):
        """Where it runs: "local" or "cloud"."""
        return "cloud" if self.cluster_spec and self.cluster_spec.jobs else "local"

    @staticmethod
    def get_task_id():
        """The number of this task, as the environment's TF_CONFIG says."""
        task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {})
        return int(task.get("index", 0)) if task else 0

    def uid(self, whitelist=None):
        """A string of all that it says, but for the attributes in `whitelist`: equal for equal configs."""
        left_out = {name.lstrip("_") for name in whitelist or ()}
        said = {name: value for name, value in sorted(vars(self).items()) if name.lstrip("_") not in left_out}
        return ", ".join(f"{name}={value!r}" for name, value in said.items())
