"""Strategies that keep each variable in one place: in this machine's memory, or on the parameter servers of a cluster."""

from __future__ import annotations

from everflow.distribute.aggregating import AggregatingVariable
from everflow.distribute.mirrored import MirroredExtended
from everflow.distribute.strategy import Strategy, StrategyExtended, StrategyV2
from everflow.distribute.values import devices_of, replace_in_collections, select_replica
from everflow.framework import nest
from everflow.framework.scopes import device
from everflow.ops import array
from everflow.ops.variables.resource import is_resource_variable
from everflow.train.device_setter import replica_device_setter

_LOCAL = "/device:CPU:0"


class CentralStorageStrategy(Strategy):
    """Synchronous training on several devices of one machine, with variables on one of them.

    Args:
        compute_devices: The devices; all GPUs if None.
        parameter_device: The device of variables; the CPU if None.

    Example:
        >>> tf.distribute.experimental.CentralStorageStrategy(["/cpu:0"]).num_replicas_in_sync
        1
    """

    def __init__(self, compute_devices=None, parameter_device=None):
        StrategyV2.__init__(self, CentralExtended(self, compute_devices, parameter_device or _LOCAL))


class CentralStorageStrategyV2(StrategyV2):
    """`tf.compat.v2.distribute.experimental.CentralStorageStrategy`."""

    __init__ = CentralStorageStrategy.__init__


class ParameterServerStrategy(Strategy):
    """Asynchronous training: every worker draws its own graph, and variables are on the parameter servers in turn.

    Without a `cluster_resolver` that names a cluster, all is on this machine.

    Args:
        cluster_resolver: What names the cluster; TF_CONFIG if None.

    Example:
        >>> tf.distribute.experimental.ParameterServerStrategy().num_replicas_in_sync
        1
    """

    def __init__(self, cluster_resolver=None):
        cluster = cluster_resolver.cluster_spec() if cluster_resolver is not None else None
        if cluster is None or not cluster.as_dict():
            StrategyV2.__init__(self, CentralExtended(self, None, _LOCAL))
            return
        task_type, task_id = cluster_resolver.task_type, cluster_resolver.task_id
        if task_type is None or task_id is None:
            raise ValueError(
                f"With a `cluster_spec`, pass this task's `task_type` ({task_type}) and `task_id` ({task_id}), too"
            )
        StrategyV2.__init__(self, ClusterExtended(self, cluster, task_type, task_id))


class ParameterServerStrategyV2(StrategyV2):
    """`tf.compat.v2.distribute.experimental.ParameterServerStrategy`."""

    __init__ = ParameterServerStrategy.__init__


class CentralExtended(MirroredExtended):
    """Replicas on one or several devices; one copy of each variable, updated with the sum of what all replicas have."""

    _has_partitioned_variables = True
    _replicas_may_lack_rows = False

    def __init__(self, container_strategy, devices, parameter_device):
        super().__init__(container_strategy, devices)
        self._parameter_device = parameter_device

    parameter_devices = property(lambda self: (self._parameter_device,))
    experimental_between_graph = property(lambda self: True)

    def non_slot_devices(self, var_list):
        return min(var_list, key=lambda variable: variable.name)

    def _create_variable_across(self, next_creator, kwargs):
        is_shared = self._num_replicas_in_sync > 1
        given = dict(kwargs, collections=[]) if is_shared else kwargs
        # Not where the replica is that asks for it.
        with device(None), device(self._parameter_device):
            made = next_creator(**given)
        made.distribute_strategy = self._container_strategy()
        if not is_shared:
            return made
        holder = AggregatingVariable(self._container_strategy(), made, kwargs.get("aggregation"))
        replace_in_collections(holder, [made], kwargs.get("collections"), kwargs.get("trainable", True))
        return holder

    def read_var(self, v):
        return array.identity(v)

    def _check_colocated(self, variable):
        StrategyExtended._check_colocated(self, variable)

    def _update(self, var, fn, args, kwargs, group):
        if isinstance(var, AggregatingVariable):
            var = var.get()
        if not is_resource_variable(var):
            raise ValueError(f"A strategy updates variables that it made, not {var!r}")
        with device(var.device), self._updating(var.device):
            result = fn(var, *select_replica(0, args), **select_replica(0, kwargs))
        return result if group else nest.map_structure(self._local_results, result)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        name = getattr(colocate_with, "device", None) or devices_of(colocate_with)[0]
        with device(name), self._updating(name):
            result = fn(*select_replica(0, args), **select_replica(0, kwargs))
        return result if group else nest.map_structure(self._local_results, result)

    def _experimental_run_steps_on_iterator(self, fn, iterator, iterations, initial_loop_values=None):
        raise NotImplementedError("A strategy that keeps variables in one place runs one step at a time.")


class ClusterExtended(CentralExtended):
    """One worker of a cluster: its computations are here, the variables on the parameter servers."""

    def __init__(self, container_strategy, cluster, task_type, task_id):
        worker = f"/job:{task_type}/task:{task_id}"
        setter = replica_device_setter(
            ps_tasks=cluster.num_tasks("ps"), worker_device=worker, merge_devices=True, cluster=cluster
        )
        super().__init__(container_strategy, [f"/job:{task_type}/replica:0/task:{task_id}/device:CPU:0"], setter)
        self._worker = worker
        self._is_chief = task_id == 0 and (task_type == "chief" or "chief" not in cluster.jobs)
        self._servers = tuple(f"/job:ps/task:{i}" for i in cluster.task_indices("ps"))

    parameter_devices = property(lambda self: self._servers)
    should_checkpoint = property(lambda self: self._is_chief)
    should_save_summary = property(lambda self: self._is_chief)

    _default_device = property(lambda self: self._worker)
