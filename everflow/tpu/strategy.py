"""Strategies and systems of TPUs on a machine that has none: both are an error, as in TensorFlow."""

from __future__ import annotations

import collections

from everflow.distribute.strategy import ReplicaContext, Strategy, StrategyExtended, StrategyV2
from everflow.framework.graph import Graph
from everflow.protos.config_pb2 import ConfigProto
from everflow.runtime.session import Session
from everflow.tpu.system import initialize_system
from everflow.tpu.topology import Topology


def initialize_tpu_system(cluster_resolver=None):
    """Start the TPU system that a cluster resolver leads to; its `Topology`."""
    master = cluster_resolver.master() if cluster_resolver is not None else ""
    job = (
        cluster_resolver.get_job_name()
        if cluster_resolver is not None and hasattr(cluster_resolver, "get_job_name")
        else None
    )
    with Graph().as_default(), Session(config=ConfigProto(allow_soft_placement=True), target=master) as session:
        return Topology(serialized=session.run(initialize_system(job=job)))


_SystemMetadata = collections.namedtuple(
    "_TPUSystemMetadata", ["num_cores", "num_hosts", "num_of_cores_per_host", "topology", "devices"]
)


def _query_tpu_system_metadata(master_address, cluster_def=None, query_topology=False):
    """The TPU cores that a session finds, their hosts and all devices."""
    with Graph().as_default(), Session(target=master_address) as session:
        devices = session.list_devices()
    cores = collections.Counter(d.name.partition("/device:")[0] for d in devices if d.device_type == "TPU")
    per_host = max(cores.values(), default=0)
    return _SystemMetadata(sum(cores.values()), len(cores), per_host, None, tuple(devices))


class TPUExtended(StrategyExtended):
    """What a `TPUStrategy` does: replicas on the cores of a TPU. There is no core here to put one on.

    Args:
        container_strategy: The strategy it belongs to.
        tpu_cluster_resolver: What leads to the TPU.
        steps_per_run: How many steps a run makes; 1 if None.
        device_assignment: Which replica is on which core.

    Raises:
        IndexError: If there is no TPU, as on every machine that Everflow knows.
    """

    def __init__(self, container_strategy, tpu_cluster_resolver=None, steps_per_run=None, device_assignment=None):
        super().__init__(container_strategy)
        self.steps_per_run = 1 if steps_per_run is None else steps_per_run
        self._device_assignment = device_assignment
        master = tpu_cluster_resolver.master() if tpu_cluster_resolver is not None else ""
        metadata = _query_tpu_system_metadata(master)
        if not metadata.num_cores:
            found = [d.name for d in metadata.devices]
            raise IndexError(f"A TPUStrategy needs the cores of a TPU, and these are the devices here: {found}.")
        raise NotImplementedError(
            "Everflow has no kernels for TPUs: run replicas with a tf.distribute.MirroredStrategy."
        )


class TPUStrategyV2(StrategyV2):
    """Replicas on the cores of a TPU. There is no core here to put one on.

    Args:
        tpu_cluster_resolver: What leads to the TPU.
        device_assignment: Which replica is on which core.

    Raises:
        IndexError: If there is no TPU, as on every machine that Everflow knows.
    """

    def __init__(self, tpu_cluster_resolver=None, device_assignment=None):
        super().__init__(TPUExtended(self, tpu_cluster_resolver, device_assignment=device_assignment))


class TPUStrategy(Strategy):
    """Replicas on the cores of a TPU, `steps_per_run` steps in every run of the session. There is no core here.

    Args:
        tpu_cluster_resolver: What leads to the TPU.
        steps_per_run: How many steps a run makes.
        device_assignment: Which replica is on which core.

    Raises:
        IndexError: If there is no TPU, as on every machine that Everflow knows.
    """

    def __init__(self, tpu_cluster_resolver=None, steps_per_run=None, device_assignment=None):
        super().__init__(TPUExtended(self, tpu_cluster_resolver, steps_per_run, device_assignment))

    steps_per_run = property(lambda self: self.extended.steps_per_run, doc="How many steps a run makes.")


class _TPUReplicaContext(ReplicaContext):
    """The context of a replica on a TPU's core."""
