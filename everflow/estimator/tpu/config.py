"""The settings of TPU estimators. Off a TPU they are kept and checked, and have no effect but the sizes of batches."""

from __future__ import annotations

import collections
import copy
import re

from everflow.estimator.run_config import RunConfig as _RunConfig


class InputPipelineConfig:
    """How input is spread over a TPU's hosts."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class TPUConfig(
    collections.namedtuple(
        "TPUConfig",
        [
            "iterations_per_loop",
            "num_shards",
            "num_cores_per_replica",
            "per_host_input_for_training",
            "tpu_job_name",
            "initial_infeed_sleep_secs",
            "input_partition_dims",
            "eval_training_input_configuration",
            "experimental_host_call_every_n_steps",
        ],
    )
):
    """What a program wants of a TPU."""

    def __new__(
        cls,
        iterations_per_loop=2,
        num_shards=None,
        num_cores_per_replica=None,
        per_host_input_for_training=True,
        tpu_job_name=None,
        initial_infeed_sleep_secs=None,
        input_partition_dims=None,
        eval_training_input_configuration=InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps=1,
    ):
        timed = isinstance(iterations_per_loop, str) and re.fullmatch(r"[1-9]\d*[smh]", iterations_per_loop)
        if not timed and (isinstance(iterations_per_loop, str) or iterations_per_loop < 1):
            raise ValueError(
                "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based value `<N><s|m|h>`. "
                f"Given: {iterations_per_loop!r}"
            )
        for name, value in (("num_shards", num_shards), ("initial_infeed_sleep_secs", initial_infeed_sleep_secs)):
            if value is not None and value < 1:
                raise ValueError(f"TPUConfig {name} must be positive, got {value}")
        if per_host_input_for_training is True:
            per_host_input_for_training = InputPipelineConfig.PER_HOST_V1
        elif per_host_input_for_training is False:
            per_host_input_for_training = InputPipelineConfig.PER_SHARD_V1
        if input_partition_dims is not None:
            if len(input_partition_dims) not in (1, 2):
                raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
            if per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
                raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
        if num_cores_per_replica is not None and num_cores_per_replica not in (1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError(f"num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got {num_cores_per_replica}")
        if eval_training_input_configuration not in (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED):
            raise ValueError(
                f"eval_training_input_configuration must be PER_HOST_V1 or SLICED; got {eval_training_input_configuration}"
            )
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name,
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


class RunConfig(_RunConfig):
    """A `tf.estimator.RunConfig` with a `TPUConfig`."""

    def __init__(self, tpu_config=None, evaluation_master=None, master=None, cluster=None, **kwargs):
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._tpu_cluster = cluster
        if cluster is not None:
            if master is not None:
                raise ValueError("Both master and cluster are set.")
            master = cluster.master()
            if spec := cluster.cluster_spec():
                self._cluster = spec.as_dict()
        if master is not None:
            self._master = master
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master:
            self._evaluation_master = self._master

    master = property(lambda self: self._master, doc="The address that training sessions connect to.")
    evaluation_master = property(
        lambda self: self._evaluation_master, doc="The address that evaluating sessions connect to."
    )
    tpu_config = property(lambda self: self._tpu_config, doc="The `TPUConfig`.")
    cluster = property(lambda self: self._tpu_cluster, doc="What finds the TPU, or None.")

    def replace(self, **kwargs):
        """A copy with other settings."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        new = super().replace(**kwargs) if kwargs else copy.copy(self)
        new._tpu_config = tpu_config
        return new
