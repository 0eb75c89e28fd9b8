"""tf.contrib.distribute: the strategies under their first names and with their first arguments."""

from __future__ import annotations

from collections import namedtuple

from everflow.cluster.server import Server
from everflow.contrib.framework.kept_arguments import keep
from everflow.distribute import collective, mirrored, reduction
from everflow.distribute.central_storage import CentralExtended
from everflow.distribute.cluster_resolver import TFConfigClusterResolver
from everflow.distribute.context import (  # noqa: F401
    get_loss_reduction,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from everflow.distribute.one_device import OneDeviceStrategy  # noqa: F401
from everflow.distribute.reduction import CrossDeviceOps  # noqa: F401
from everflow.distribute.steps import (  # noqa: F401
    Monitor,
    StandardInputStep,
    StandardSingleLossStep,
    Step,
    UpdateContext,
)
from everflow.distribute.strategy import ReplicaContext
from everflow.distribute.strategy import Strategy as DistributionStrategy
from everflow.tpu.strategy import TPUStrategy, initialize_tpu_system  # noqa: F401


class AllReduceCrossDeviceOps(reduction.AllReduceCrossDeviceOps):
    """An all-reduce; torch moves the values, whatever algorithm is named."""

    def __init__(self, all_reduce_alg="nccl", num_packs=1, agg_small_grads_max_bytes=0, agg_small_grads_max_group=10):
        super().__init__(num_packs)
        keep(self, locals(), "num_packs")


class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """An all-reduce over the devices of several workers, in the pieces that `all_reduce_spec` names by size; torch moves
    the values, whatever algorithm is named for them.
    """

    def __init__(
        self,
        worker_devices,
        num_gpus_per_worker,
        all_reduce_spec=("pscpu/pscpu", 2, -1),
        num_packs=0,
        agg_small_grads_max_bytes=0,
        agg_small_grads_max_group=10,
    ):
        specs = [all_reduce_spec] if isinstance(all_reduce_spec, (tuple, str)) else list(all_reduce_spec)
        limits = [spec[2] for spec in specs if not isinstance(spec, str)]
        if len(specs) > 1 and any(a >= b for a, b in zip(limits, limits[1:]) if b > 0):
            raise ValueError(f"The limits of sizes in all_reduce_spec grow from piece to piece; these are {limits}")
        super().__init__(
            num_packs=num_packs,
            agg_small_grads_max_bytes=agg_small_grads_max_bytes,
            agg_small_grads_max_group=agg_small_grads_max_group,
        )
        keep(self, locals(), "worker_devices", "num_gpus_per_worker", "all_reduce_spec")


class MirroredStrategy(mirrored.MirroredStrategy):
    """`tf.distribute.MirroredStrategy`, which may be told the number of GPUs instead of their names."""

    def __init__(self, devices=None, num_gpus=None, num_gpus_per_worker=None, cross_device_ops=None, auto_shard_dataset=False,
                 cross_tower_ops=None):  # fmt: skip
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("num_gpus and num_gpus_per_worker mean the same: give one of them")
        if cross_device_ops is not None and cross_tower_ops is not None:
            raise ValueError("Both `cross_device_ops` and `cross_tower_ops` are specified; they mean the same.")
        if num_gpus is None:
            num_gpus = num_gpus_per_worker
        if devices is None and num_gpus is not None:
            devices = [f"/device:GPU:{i}" for i in range(num_gpus)] or ["/device:CPU:0"]
        elif num_gpus is not None:
            raise ValueError(f"Give the devices or how many GPUs, not both: devices={devices}, num_gpus={num_gpus}")
        super().__init__(devices, cross_device_ops or cross_tower_ops)
        self._auto_shard_dataset = auto_shard_dataset


class CollectiveAllReduceStrategy(collective.MultiWorkerMirroredStrategy):
    """`tf.distribute.experimental.MultiWorkerMirroredStrategy`, which may be told how many GPUs a worker has."""

    def __init__(self, num_gpus_per_worker=0, communication=collective.CollectiveCommunication.AUTO):
        super().__init__(communication, _gpus=num_gpus_per_worker)


class ParameterServerStrategy(DistributionStrategy):
    """Variables in one place, replicas on this machine's GPUs or on its CPU."""

    def __init__(self, num_gpus_per_worker=0):
        devices = [f"/device:GPU:{i}" for i in range(num_gpus_per_worker)] or ["/device:CPU:0"]
        super().__init__(CentralExtended(self, devices, "/device:CPU:0"))


_CONFIG = "train_distribute eval_distribute remote_cluster"


class DistributeConfig(namedtuple("DistributeConfig", _CONFIG, defaults=(None, None, None))):
    """Which strategies `estimator.train_and_evaluate` uses."""


def run_standard_tensorflow_server(session_config=None):
    """The server of the task that the environment variable TF_CONFIG names, started."""
    resolver = TFConfigClusterResolver()
    cluster = resolver.cluster_spec()
    if not cluster.as_dict():
        raise ValueError("TF_CONFIG must hold a `cluster` for a server to be part of")
    if resolver.task_type is None or resolver.task_id is None:
        raise ValueError("TF_CONFIG must say with `task` which task of the cluster this is")
    task = {"job_name": resolver.task_type, "task_index": resolver.task_id}
    return Server(cluster, **task, protocol=resolver.rpc_layer, config=session_config)


# Their first names.
get_distribution_strategy, has_distribution_strategy = get_strategy, has_strategy


def get_cross_replica_context():
    """The strategy in whose scope we are, outside of a replica function; None inside of one."""
    return get_strategy() if in_cross_replica_context() else None


def require_replica_context(replica_ctx):
    """Raise where `replica_ctx` is not the replica that is being drawn."""
    if not isinstance(replica_ctx, ReplicaContext) or get_replica_context() is not replica_ctx:
        raise RuntimeError("Need to be inside of the replica function that this replica context belongs to")
