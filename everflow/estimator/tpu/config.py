"""The settings of TPU estimators. Off a TPU they are kept and checked, and have no effect but the sizes of batches."""

from __future__ import annotations

import collections
import copy
import enum
import re

from everflow.estimator.run_config import RunConfig as _RunConfig
from everflow.platform.signatures import parameters, takes


class InputPipelineConfig:
    """How input is spread over a TPU's hosts.

    Example:
        >>> tf.estimator.tpu.InputPipelineConfig.PER_HOST_V2
        3
    """

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class ExportSavedModelApiVersion(enum.Enum):
    """Which of the two ways a model for TPUs is exported in."""

    V1 = 1
    V2 = 2


class BatchConfig(
    collections.namedtuple(
        "BatchConfig",
        [
            "num_batch_threads",
            "max_batch_size",
            "batch_timeout_micros",
            "allowed_batch_sizes",
            "max_enqueued_batches",
        ],
    )
):
    """How requests to a served model are gathered into batches."""

    def __new__(
        cls, num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes, max_enqueued_batches=10
    ):
        return super().__new__(
            cls, num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes, max_enqueued_batches
        )


_PARAMETERS = parameters(
    """iterations_per_loop=2, num_shards=None, num_cores_per_replica=None, per_host_input_for_training=True,
    tpu_job_name=None, initial_infeed_sleep_secs=None, input_partition_dims=None,
    eval_training_input_configuration=PER_HOST_V1, experimental_host_call_every_n_steps=1""",
    PER_HOST_V1=InputPipelineConfig.PER_HOST_V1,
)


class TPUConfig(collections.namedtuple("TPUConfig", _PARAMETERS)):
    """What a program wants of a TPU.

    Args:
        iterations_per_loop: How many steps are run at a time.
        num_shards: How many replicas there are.
        num_cores_per_replica: How many cores a replica has.
        per_host_input_for_training: A value of `InputPipelineConfig`.
        tpu_job_name: The job of the TPU's hosts.
        initial_infeed_sleep_secs: How many seconds to wait before input.
        input_partition_dims: How inputs are cut over the cores of a replica.
        eval_training_input_configuration: The same for evaluation while training.
        experimental_host_call_every_n_steps: Every how many steps the host is called.

    Example:
        >>> tf.estimator.tpu.TPUConfig(iterations_per_loop=100).iterations_per_loop
        100
    """

    @takes(_PARAMETERS)
    def __new__(cls, **given):
        config = super().__new__(cls, **given)
        if given["per_host_input_for_training"] is True:
            config = config._replace(per_host_input_for_training=InputPipelineConfig.PER_HOST_V1)
        elif given["per_host_input_for_training"] is False:
            config = config._replace(per_host_input_for_training=InputPipelineConfig.PER_SHARD_V1)
        config._check()
        return config

    def _check(self):
        iterations = self.iterations_per_loop
        timed = isinstance(iterations, str) and re.fullmatch(r"[1-9]\d*[smh]", iterations)
        if not timed and (isinstance(iterations, str) or iterations < 1):
            raise ValueError(
                "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based value "
                f"`<N><s|m|h>`. Given: {iterations!r}"
            )
        for name in ("num_shards", "initial_infeed_sleep_secs"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"TPUConfig {name} must be positive, got {value}")
        if self.input_partition_dims is not None:
            if len(self.input_partition_dims) not in (1, 2):
                raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
            if self.per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
                raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
        cores = self.num_cores_per_replica
        if cores is not None and cores not in (1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError(f"num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got {cores}")
        kind = self.eval_training_input_configuration
        if kind not in (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED):
            raise ValueError(f"eval_training_input_configuration must be PER_HOST_V1 or SLICED; got {kind}")


class RunConfig(_RunConfig):
    """A `tf.estimator.RunConfig` with a `TPUConfig`.

    Args:
        tpu_config: A `TPUConfig`.
        evaluation_master: The server for evaluation.
        master: The server to connect to.
        cluster: A `TPUClusterResolver`.
        **kwargs: What `tf.estimator.RunConfig` takes.

    Example:
        >>> config = tf.estimator.tpu.RunConfig(tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=10))
        >>> config.tpu_config.iterations_per_loop
        10
    """

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
