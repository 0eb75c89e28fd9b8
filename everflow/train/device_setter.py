"""`tf.train.replica_device_setter`: variables on parameter servers, everything else on the worker that draws the graph."""

from __future__ import annotations

from everflow.cluster.cluster import ClusterSpec
from everflow.framework.devices import DeviceSpec, canonical_name, merged_name
from everflow.platform import logging
from everflow.platform.signatures import takes

# What parameter servers hold, unless `ps_ops` says otherwise.
STANDARD_PS_OPS = (
    "Variable VariableV2 AutoReloadVariable MutableHashTable MutableHashTableV2 MutableHashTableOfTensors MutableHashTableOfTensorsV2 "
    "MutableDenseHashTable MutableDenseHashTableV2 VarHandleOp BoostedTreesEnsembleResourceHandleOp "
    "BoostedTreesQuantileStreamResourceHandleOp ResourceConditionalAccumulator"
).split()


class _RoundRobin:
    """Tasks in turn."""

    def __init__(self, num_tasks: int):
        self._num_tasks = num_tasks
        self._next = 0

    def __call__(self, op) -> int:
        task, self._next = self._next, (self._next + 1) % self._num_tasks
        return task


class _ReplicaDeviceChooser:
    def __init__(self, ps_device, worker_device, merge_devices, ps_ops, ps_strategy):
        self._ps_device = ps_device
        self._worker_device = canonical_name(worker_device)
        self._merge_devices = merge_devices
        self._ps_ops = ps_ops
        self._ps_strategy = ps_strategy

    def device_function(self, op) -> str:
        """The device of an op: what it asks for itself wins over what its kind would get."""
        asked = op.device or ""
        if not self._merge_devices and asked:
            return asked
        if self._ps_device and op.type in self._ps_ops:
            server = DeviceSpec.from_string(self._ps_device)
            if server.job and DeviceSpec.from_string(asked).job in (None, server.job):
                return merged_name(server.replace(task=self._ps_strategy(op)).to_string(), asked)
        return merged_name(self._worker_device, asked)


@takes(
    """ps_tasks=0, ps_device="/job:ps", worker_device="/job:worker", merge_devices=True, cluster=None, ps_ops=None,
    ps_strategy=None"""
)
def replica_device_setter(ps_tasks, ps_device, worker_device, merge_devices, cluster, ps_ops, ps_strategy):
    """A device function for `tf.device`: variables go to tasks of `ps_device` in turn, other ops to `worker_device`.


    `ps_strategy(op)` may choose the task of a variable; see `tf.contrib.training.GreedyLoadBalancingStrategy`. None
    where there are no parameter servers.

    Args:
        ps_tasks: How many tasks there are for variables; 0 for none, and then there is nothing to set.
        ps_device: The job of variables.
        worker_device: The job, or device, of other operations.
        merge_devices: Whether what an inner `tf.device` asks for is kept.
        cluster: A cluster that says how many tasks there are.
        ps_ops: The op types that count as variables.
        ps_strategy: A function of an operation that chooses the task; in turn if None.

    Returns:
        A function for `tf.device`, or None.

    Raises:
        TypeError: If `ps_strategy` is no function.

    Example:
        >>> cluster = {"ps": ["ps0:2222", "ps1:2222"], "worker": ["worker0:2222"]}
        >>> with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        ...     v, w, c = tf.Variable(1.0), tf.Variable(2.0), tf.constant(3.0)
        >>> v.device, w.device, c.device
        ('/job:ps/task:0', '/job:ps/task:1', '/job:worker')
    """
    if cluster is not None:
        tasks = ClusterSpec(cluster).as_dict()
        job = DeviceSpec.from_string(ps_device).job
        if job not in tasks:
            return None
        ps_tasks = len(tasks[job])
    if ps_tasks == 0:
        return None
    if ps_strategy is None:
        ps_strategy = _RoundRobin(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError(f"ps_strategy must be callable, not {ps_strategy!r}")
    if not merge_devices:
        logging.warning("replica_device_setter(merge_devices=False) is deprecated: merge_devices=True is its default.")
    return _ReplicaDeviceChooser(
        ps_device, worker_device, merge_devices, STANDARD_PS_OPS if ps_ops is None else ps_ops, ps_strategy
    ).device_function
