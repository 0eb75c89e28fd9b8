"""`tf.distribute.experimental.MultiWorkerMirroredStrategy`: replicas in several processes, whose variables are kept equal by
collective ops. Every worker draws a graph of its own and runs it on its own server.
"""

from __future__ import annotations

import enum
import itertools
import threading
import weakref
from collections.abc import Callable

from everflow.cluster.launchers import adopt_torchrun
from everflow.cluster.server import Server
from everflow.config.experimental import list_physical_devices
from everflow.distribute import context
from everflow.distribute.cluster_resolver import ClusterResolver, TFConfigClusterResolver
from everflow.distribute.input import InputContext
from everflow.distribute.mirrored import MirroredExtended
from everflow.distribute.reduce_ops import ReduceOp, as_reduce_op, reduced
from everflow.distribute.reduction import mirrored_on
from everflow.distribute.strategy import Strategy, StrategyV2
from everflow.distribute.values import DistributedValues, DistributedVariable, Mirrored, devices_of
from everflow.framework import strategy_context
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.devices import DeviceSpec
from everflow.framework.scopes import control_dependencies, device, executing_eagerly, get_default_graph, name_scope
from everflow.ops import array
from everflow.ops.array import collectives
from everflow.ops.variables.options import VariableAggregation
from everflow.protos import config_pb2, rewriter_config_pb2


class CollectiveCommunication(enum.Enum):
    """How tensors travel. Here that is gloo's choice, or NCCL's."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class MultiWorkerMirroredStrategy(Strategy):
    """Synchronous training on several machines: every worker computes the gradients of its part of a batch, and all apply
    their sum. The cluster is that of TF_CONFIG, or of torchrun; without either it is this process.

    >>> strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    >>> with strategy.scope():
    ...     model = build_model()
    """

    def __init__(self, communication=CollectiveCommunication.AUTO, cluster_resolver=None, _gpus=None):
        if not isinstance(communication, CollectiveCommunication):
            raise AssertionError(f"communication must be a CollectiveCommunication, not {communication!r}")
        if cluster_resolver is None:
            adopt_torchrun()
            cluster_resolver = TFConfigClusterResolver()
        StrategyV2.__init__(self, CollectiveExtended(self, communication, cluster_resolver, _gpus))

    def _input_context(self) -> InputContext:
        extended = self.extended
        return InputContext(extended.num_workers, extended.worker_index, self.num_replicas_in_sync)

    def update_config_proto(self, config_proto):
        return self.extended.update_config_proto(StrategyV2.update_config_proto(self, config_proto))


class MultiWorkerMirroredStrategyV2(StrategyV2):
    """`tf.compat.v2.distribute.experimental.MultiWorkerMirroredStrategy`."""

    __init__ = MultiWorkerMirroredStrategy.__init__
    _input_context = MultiWorkerMirroredStrategy._input_context
    update_config_proto = MultiWorkerMirroredStrategy.update_config_proto


class CollectiveExtended(MirroredExtended):
    """What `MultiWorkerMirroredStrategy` does: this worker's devices, and the way to the others."""

    _isolates_sessions = False
    _num_workers = property(lambda self: self.num_workers)
    experimental_between_graph = property(lambda self: True)
    should_checkpoint = property(lambda self: self._is_chief)
    should_save_summary = property(lambda self: self._is_chief)
    _has_replicas_elsewhere = property(lambda self: self.num_workers > 1)
    _num_replicas_in_sync = property(lambda self: len(self._devices) * self.num_workers)

    def __init__(self, container_strategy, communication, resolver: ClusterResolver, gpus=None):
        jobs = resolver.cluster_spec().as_dict()
        self._cluster = resolver.cluster_spec() if jobs else None
        self.task = (resolver.task_type, resolver.task_id) if jobs else None
        self.num_workers, self.worker_index, self._leader = _place(jobs, self.task)
        self._is_chief = self.worker_index == 0
        self._hint = communication.value
        gpus = len(list_physical_devices("GPU")) if gpus is None else gpus
        local = [f"/device:GPU:{i}" for i in range(gpus)] or ["/device:CPU:0"]
        # One worker alone, or an evaluator, has sessions in this process, which has no jobs.
        prefix = "/job:{}/task:{}".format(*self.task) if self.num_workers > 1 else ""
        super().__init__(container_strategy, [prefix + name for name in local])
        self._worker_device = prefix
        self._first_replica_id = self.worker_index * len(self._devices)
        if self.num_workers > 1 and executing_eagerly():
            raise RuntimeError(
                "Several workers need a graph, which eager execution has not: use sessions, Keras or Estimators"
            )

    _default_device = property(lambda self: self._worker_device or None)

    def update_config_proto(self, config):
        """Change a ConfigProto so that a worker waits for nobody but by collective ops."""
        rewrites = config.graph_options.rewrite_options
        rewrites.scoped_allocator_optimization = rewriter_config_pb2.RewriterConfig.ON
        rewrites.scoped_allocator_opts.enable_op[:] = ["CollectiveReduce"]
        if self.num_workers > 1:
            config.device_filters[:] = [self._worker_device]
            config.experimental.collective_group_leader = self._leader
        return config

    def session_place(self, config: config_pb2.ConfigProto | None = None) -> tuple[str, config_pb2.ConfigProto]:
        """The target and settings of a session of this worker; its server is started where it is not running yet.

        Its variables end with the session: after a failure all workers begin with the same checkpoint.
        """
        made = config_pb2.ConfigProto()
        if config is not None:
            made.CopyFrom(config)
        if self.num_workers == 1:
            return "", made
        self.update_config_proto(made)
        server = server_at(
            self._cluster.task_address(*self.task), lambda: Server(self._cluster, *self.task, config=made)
        )
        made.isolate_session_state = True
        return server.target, made

    # --- variables ---------------------------------------------------------------------------

    def _create_variable_across(self, next_creator, kwargs):
        """The chief's first value is everybody's."""
        if self.num_workers > 1:
            strategy_context.belongs_to_worker(get_default_graph(), self._container_strategy())
        start = self._broadcast_initial(kwargs["initial_value"], kwargs.get("dtype"))
        return super()._create_variable_across(next_creator, dict(kwargs, initial_value=start))

    def _broadcast_initial(self, given, dtype):
        number = _variable_number() if self.num_workers > 1 else None

        def initial():
            with device(self._devices[0]):
                return sent_or_received(convert_to_tensor(given() if callable(given) else given, dtype=dtype))

        def sent_or_received(value):
            if number is None:
                return value
            place = len(self._devices) * self.num_workers, self._group_key(), number, self._hint
            if not self._is_chief:
                return collectives.broadcast_recv(value.shape, value.dtype, *place)
            sent = collectives.broadcast_send(value, value.shape, value.dtype, *place)
            with control_dependencies([sent]):
                return array.identity(value)

        return initial

    def _read_across(self, variable):
        if variable.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return super()._read_across(variable)
        reduce_op = ReduceOp.from_variable_aggregation(variable.aggregation)
        return self._reduce_to(reduce_op, variable, self._devices[0])

    # --- reducing ----------------------------------------------------------------------------

    def _group_key(self) -> int:
        kinds = [DeviceSpec.from_string(name) for name in self._devices]
        return _group_keys.setdefault(tuple((d.device_type, d.device_index) for d in kinds), len(_group_keys) + 1)

    def _reduce_to(self, reduce_op, value, destinations):
        if isinstance(value, (int, float)) and value == 0:
            return 0
        if not self._has_replicas_elsewhere and isinstance(value, (int, float)):
            return self._reduce_plain(reduce_op, value, destinations)
        (total,) = self._all_reduced(reduce_op, [value])
        parts = total.values if isinstance(total, DistributedValues) else [total]
        wanted = devices_of(destinations)
        if len(wanted) > 1:
            return mirrored_on(wanted, lambda i: _identity(parts[i]))
        return mirrored_on([parts[0].device], lambda _: _identity(parts[0]))

    def batch_reduce_to(self, reduce_op, value_destination_pairs):
        context.require_cross_replica()
        return self._all_reduced(as_reduce_op(reduce_op), [value for value, _ in value_destination_pairs])

    def _all_reduced(self, reduce_op, values) -> list:
        """Values that have a part for each device here, reduced over all devices of all workers."""
        if self._num_replicas_in_sync == 1:
            return [_parts(value)[0] for value in values]
        with name_scope("allreduce"):
            totals = [self._exchanged(_parts(value)) for value in values]
        if reduce_op is ReduceOp.MEAN:
            totals = [[_divided(part, self._num_replicas_in_sync) for part in parts] for parts in totals]
        return [parts[0] if len(parts) == 1 else Mirrored(self._device_map, parts) for parts in totals]

    def _exchanged(self, parts) -> list:
        size, group = self._num_replicas_in_sync, self._group_key()
        if any(isinstance(part, IndexedSlices) for part in parts):
            keys = _instance_key(), _instance_key()
            joined = []
            for part, name in zip(parts, self._devices, strict=True):
                with device(name):
                    fields = [
                        collectives.all_gather(field, size, group, key, self._hint)
                        for field, key in zip((part.values, part.indices), keys, strict=True)
                    ]
                    joined.append(IndexedSlices(*fields, part.dense_shape))
            return joined
        key, made = _instance_key(), []
        for part, name in zip(parts, self._devices, strict=True):
            with device(name):
                value = array.identity(part) if not getattr(part, "device", "") else part
                made.append(collectives.all_reduce(value, size, group, key, "Add", "Id", (0,), self._hint))
        return made


# --- the cluster ---------------------------------------------------------------------------------

_servers: dict[str, Server] = {}  # by address: a process is one task, and its strategies share the server


def server_at(address: str, start: Callable[[], Server]) -> Server:
    """The server of this process at an address, started when it is asked for first."""
    if address not in _servers:
        _servers[address] = start()
    return _servers[address]


def _place(jobs: dict, task) -> tuple[int, int, str]:
    """How many workers there are, which of them this is, and the one that leads."""
    if not jobs or task[0] == "evaluator":
        return 1, 0, "/job:{}/replica:0/task:{}".format(*task) if jobs else ""
    if None in task:
        raise ValueError(f"With a cluster, `task_type` ({task[0]}) and `task_id` ({task[1]}) must be there, too")
    chiefs, workers = len(jobs.get("chief", ())), len(jobs.get("worker", ()))
    if task[0] not in ("chief", "worker") or task[1] >= len(jobs.get(task[0], ())):
        raise ValueError(f"{task[0]} {task[1]} is no worker of the cluster {jobs}: there are `chief` and `worker`")
    leader = "/job:chief/replica:0/task:0" if chiefs else "/job:worker/replica:0/task:0"
    return chiefs + workers, task[1] + (chiefs if task[0] == "worker" else 0), leader


# --- keys: all workers draw alike, so counting gives all of them the same ------------------------

_group_keys: dict[tuple, int] = {}
_variable_numbers: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class _Counts(threading.local):
    """Numbers of a thread: the workers of a cluster may be threads of one process."""

    def __init__(self) -> None:
        self.instances = itertools.count(100)


_counts = _Counts()


def _instance_key() -> int:
    """The key of the next collective operation."""
    return next(_counts.instances)


def _variable_number() -> int:
    """The key of the next variable's first value, counted in each graph."""
    return next(_variable_numbers.setdefault(get_default_graph(), itertools.count(1_000_000)))


def _parts(value) -> list:
    return list(value.values) if isinstance(value, (DistributedValues, DistributedVariable)) else [value]


def _divided(part, count: int):
    if isinstance(part, IndexedSlices):
        return IndexedSlices(part.values / count, part.indices, part.dense_shape)
    return part / count


def _identity(part):
    return reduced(ReduceOp.SUM, [part]) if isinstance(part, IndexedSlices) else array.identity(part)
