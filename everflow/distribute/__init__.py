"""tf.distribute: a computation spread over devices, with variables that have a copy on each of them."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.cluster.server import Server
from everflow.distribute import cluster_resolver, experimental
from everflow.distribute.context import (
    experimental_set_strategy,
    get_loss_reduction,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from everflow.distribute.input import InputContext
from everflow.distribute.mirrored import MirroredStrategy
from everflow.distribute.one_device import OneDeviceStrategy
from everflow.distribute.reduce_ops import ReduceOp
from everflow.distribute.reduction import CrossDeviceOps, HierarchicalCopyAllReduce, NcclAllReduce, ReductionToOneDevice
from everflow.distribute.strategy import InputReplicationMode, ReplicaContext, Strategy, StrategyExtended
from everflow.framework.lazy_names import add_names

add_names(
    "everflow.distribute.cluster_resolver",
    **dict.fromkeys(
        ("GCEClusterResolver", "KubernetesClusterResolver", "SlurmClusterResolver"),
        "everflow.distribute.scheduler_resolvers",
    ),
    TPUClusterResolver="everflow.distribute.tpu_resolver",
)
