"""`tf.distribute.MirroredStrategy`: a replica and a copy of each variable on every device, kept equal by reducing
gradients over all of them.

Replica functions are drawn in threads that take turns: each runs until it ends or calls `merge_call`, where all meet.
"""

from __future__ import annotations

import contextlib
import copy
import threading

from everflow.config.experimental import list_physical_devices
from everflow.distribute import context
from everflow.distribute.device_maps import full_device, map_of
from everflow.distribute.reduce_ops import ReduceOp
from everflow.distribute.reduction import CrossDeviceOps, ReductionToOneDevice, mirrored_on
from everflow.distribute.strategy import ReplicaContext, Strategy, StrategyExtended, StrategyV2
from everflow.distribute.values import (
    DistributedValues,
    DistributedVariable,
    MirroredVariable,
    SyncOnReadVariable,
    devices_of,
    joined_updates,
    regroup,
    replace_in_collections,
    select_replica,
)
from everflow.framework.scopes import (
    device,
    executing_eagerly,
    get_default_graph,
    init_scope,
    name_scope,
)
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.variables.options import VariableSynchronization
from everflow.ops.variables.scope import _scopes as variable_scopes
from everflow.ops.variables.scope import get_variable_scope, variable_scope
from everflow.summary.writing_ops import current as summaries

_SYNCHRONIZATIONS = (VariableSynchronization.AUTO, VariableSynchronization.ON_WRITE, VariableSynchronization.ON_READ)


class MirroredStrategy(Strategy):
    """Synchronous training on several devices of one machine: all GPUs unless `devices` names others.

    Args:
        devices: The devices; all GPUs if None.
        cross_device_ops: How values are reduced.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        >>> with strategy.scope():
        ...     v = tf.Variable(1.0)
        >>> strategy.num_replicas_in_sync
        1
    """

    def __init__(self, devices=None, cross_device_ops=None):
        StrategyV2.__init__(self, MirroredExtended(self, devices, cross_device_ops))


class MirroredStrategyV2(StrategyV2):
    """`tf.compat.v2.distribute.MirroredStrategy`."""

    __init__ = MirroredStrategy.__init__


class MirroredExtended(StrategyExtended):
    """What `MirroredStrategy` does: a copy of each variable on every device, a thread for each replica."""

    _isolates_sessions = True
    _first_replica_id = 0  # other processes may have replicas, too

    def __init__(self, container_strategy, devices=None, cross_device_ops=None):
        super().__init__(container_strategy)
        self._devices = tuple(full_device(d) for d in devices or _all_devices())
        if len(set(self._devices)) != len(self._devices):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {list(devices)}")
        if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
            raise ValueError(f"cross_device_ops must be a tf.distribute.CrossDeviceOps, not {cross_device_ops!r}")
        self._cross_device_ops = cross_device_ops or ReductionToOneDevice()

    # --- variables ---------------------------------------------------------------------------

    def _create_variable(self, next_creator, **kwargs):
        replica = context.get_replica_context()
        if isinstance(replica, MirroredReplicaContext):
            return replica.shared_variable(
                kwargs.get("name"), lambda: self._create_variable_across(next_creator, kwargs)
            )
        return self._create_variable_across(next_creator, kwargs)

    def _create_variable_across(self, next_creator, kwargs):
        """A copy on each device, the first with the name that was asked for; the others begin with its value."""
        synchronization, collections = (
            kwargs.pop("synchronization", VariableSynchronization.AUTO),
            kwargs.pop("collections", None),
        )
        if synchronization not in (None, *_SYNCHRONIZATIONS):
            raise ValueError(
                f"Copies on several devices can't have the synchronization {synchronization!r}: {kwargs.get('name')}"
            )
        on_read = synchronization is VariableSynchronization.ON_READ
        trainable = kwargs.get("trainable", True)
        if on_read and trainable is None:
            trainable = kwargs["trainable"] = False
        copies = []
        for index, name in enumerate(self._devices):
            given = dict(kwargs, collections=[])
            if index:
                first = copies[0]
                # The name of the first one is taken whole, with the scopes around it.
                given["name"] = f"{first.name.split(':')[0]}/replica_{index}/"
                given["initial_value"] = _same_start(first, name)
            with init_scope(), get_default_graph().colocate_with(None, ignore_existing=True), device(name):
                copies.append(next_creator(**given))
        kind = SyncOnReadVariable if on_read else MirroredVariable
        made = kind(self._container_strategy(), self._device_map, copies, kwargs.get("aggregation"))
        replace_in_collections(made, copies, collections, trainable)
        return made

    def read_var(self, v):
        assert isinstance(v, DistributedVariable), f"{v!r} has no copies: it was made outside of the strategy's scope"
        return super().read_var(v)

    def _check_colocated(self, variable):
        if not isinstance(variable, DistributedVariable):
            raise ValueError(f"Variables are made beside one that has copies, not beside {variable!r}")
        super()._check_colocated(variable)

    # --- replicas ----------------------------------------------------------------------------

    def _call_for_each_replica(self, fn, args, kwargs):
        return _Replicas(self, fn, args, kwargs).run()

    def _reduce_to(self, reduce_op, value, destinations):
        if not isinstance(value, DistributedValues):
            if isinstance(value, DistributedVariable):
                return self._reduce_to(reduce_op, DistributedValues(value.device_map, value.values), destinations)
            return self._reduce_plain(reduce_op, value, destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations)

    def _reduce_plain(self, reduce_op, value, destinations):
        """A value without parts is the same in all replicas; its sum would be unclear where there are several."""
        if isinstance(value, (int, float)) and value == 0:
            return 0
        if isinstance(value, (int, float)) and self._num_replicas_in_sync == 1:
            return value
        if reduce_op is ReduceOp.SUM and len(self._devices) > 1:
            raise ValueError(
                f"{value} is one value for all replicas, and cannot be reduced by {reduce_op}: give one per replica, or use MEAN"
            )
        return mirrored_on(devices_of(destinations), lambda _: value)

    def _broadcast_to(self, tensor, destinations):
        if isinstance(tensor, (int, float)):  # its type is that of what it is written to
            return tensor
        return self._cross_device_ops.broadcast(tensor, destinations)

    def _update(self, var, fn, args, kwargs, group):
        made = []
        assert isinstance(var, DistributedVariable), (
            f"{var!r} has no copies: it was made outside of the strategy's scope"
        )
        for index, held in enumerate(var.values):
            name = f"update_{index}"
            with device(held.device), self._updating(held.device, index), name_scope(name):
                made.append(fn(held, *select_replica(index, args), **select_replica(index, kwargs)))
        return joined_updates(self, var.device_map, made, group)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        made = []
        devices = devices_of(colocate_with)
        for index, name in enumerate(devices):
            with device(name), self._updating(name, index), name_scope(f"update_{index}"):
                made.append(fn(*select_replica(index, args), **select_replica(index, kwargs)))
        return joined_updates(self, map_of(devices), made, group)


def _all_devices() -> list[str]:
    gpus = len(list_physical_devices("GPU"))
    return [f"/gpu:{i}" for i in range(gpus)] or ["/cpu:0"]


def _same_start(first, name):
    """What a copy on a device begins with: the value of the first one, so that random values are equal too."""

    def start():
        # Where variables are made at once, nobody keeps what they began with.
        with device(name):
            return array.identity(first.read_value() if executing_eagerly() else first.initial_value)

    return start


# --- replica functions in turns ------------------------------------------------------------------

# What a graph knows of the scopes that are open: each replica has its own.
_SCOPES = (
    "_name_stack _control _control_flow_context _device_stack _colocation_stack _container _default_original_op _gradient_override_map "
    "_kernel_labels _attr_scope_map _variable_creator_stack"
).split()


class _OpenScopes:
    """The scopes that are open in a graph, to be put back later."""

    def __init__(self, graph):
        self._graph = graph
        self.of_graph = {name: getattr(graph, name) for name in _SCOPES}
        self._variable_scope = variable_scopes().current

    def copied(self) -> _OpenScopes:
        """The same scopes for a thread of its own, which opens more of them."""
        made = copy.copy(self)
        made.of_graph = {
            name: copy.copy(value) if isinstance(value, (list, dict)) else value
            for name, value in self.of_graph.items()
        }
        made.of_graph["_control"] = self.of_graph["_control"].copied()
        return made

    def put_back(self) -> None:
        for name, value in self.of_graph.items():
            setattr(self._graph, name, value)
        variable_scopes().current = self._variable_scope


class _Replicas:
    """A replica function being drawn for every device."""

    def __init__(self, extended: MirroredExtended, fn, args, kwargs):
        self.extended = extended
        self.strategy = extended._container_strategy()
        self.graph = get_default_graph()
        self.made_variables: dict = {}
        self.replicas = [
            _Replica(self, i, name, fn, select_replica(i, args), select_replica(i, kwargs))
            for i, name in enumerate(extended._devices)
        ]

    def run(self):
        """Let each replica come as far as it can, meet where they meet, until all have ended."""
        outer = _OpenScopes(self.graph)
        try:
            while True:
                for replica in self.replicas:
                    replica.go_on()
                    outer.put_back()
                    if replica.error is not None:
                        raise replica.error
                if all(r.ended for r in self.replicas):
                    return regroup(self.extended._device_map, [r.result for r in self.replicas])
                if any(r.ended for r in self.replicas):
                    raise RuntimeError(
                        "Some replicas called merge_call() and others did not; all must call it equally often."
                    )
                self._merge()
        finally:
            for replica in self.replicas:
                replica.give_up()
            outer.put_back()

    def _merge(self) -> None:
        calls = [r.merge for r in self.replicas]
        fn = calls[0][0]
        args, kwargs = (regroup(self.extended._device_map, [c[i] for c in calls]) for i in (1, 2))
        # What is drawn together stands in the scopes that the first replica has open.
        outer = _OpenScopes(self.graph)
        self.replicas[0].scopes.put_back()
        try:
            with context.entered(context.Frame(self.strategy)), device(None):
                result = fn(self.strategy, *args, **kwargs)
        finally:
            outer.put_back()
        for index, replica in enumerate(self.replicas):
            replica.answer = select_replica(index, result)


class _Replica:
    """One replica's thread. It and the thread that waits for it never run at the same time."""

    def __init__(self, owner: _Replicas, index: int, device_name: str, fn, args, kwargs):
        self._owner = owner
        self.index = index
        self._device = device_name
        self._call = fn, args, kwargs
        self._turn, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread: threading.Thread | None = None
        self._unwanted = False
        self.scopes = _OpenScopes(owner.graph).copied()
        self._variable_scope = get_variable_scope()
        # The writer and step of the thread that calls; one replica's summaries stand for all.
        self._summaries = dict(vars(summaries), is_left_to_another=index > 0)
        self.ended = False
        self.result = self.error = self.merge = self.answer = None

    def go_on(self) -> None:
        """Run until the next meeting or the end."""
        if self.ended:
            return
        self.scopes.put_back()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        else:
            self._turn.release()
        self._back.acquire()
        self.scopes = _OpenScopes(self._owner.graph)

    def give_up(self) -> None:
        """End a thread that waits for a meeting which will not be."""
        if self._thread is not None and not self.ended:
            self._unwanted = True
            self.go_on()

    def _run(self) -> None:
        fn, args, kwargs = self._call
        vars(summaries).update(self._summaries)
        try:
            with contextlib.ExitStack() as stack:
                enter = stack.enter_context
                enter(self._owner.graph.as_default())
                enter(MirroredReplicaContext(self._owner, self))
                enter(device(self._device))
                if self.index:
                    enter(name_scope(f"replica_{self.index}"))
                    enter(variable_scope(self._variable_scope, reuse=True, auxiliary_name_scope=False))
                self.result = fn(*args, **kwargs)
        except BaseException as e:  # raised again by whoever waits
            self.error = None if self._unwanted else e
        finally:
            self.ended = True
            self._back.release()

    def meet(self, merge_fn, args, kwargs):
        """Called by the replica's own thread: wait until all are here, and give the result for this one."""
        self.merge = merge_fn, args, kwargs
        self._back.release()
        self._turn.acquire()
        if self._unwanted:
            raise RuntimeError("Another replica has failed")
        return self.answer


class MirroredReplicaContext(ReplicaContext):
    def __init__(self, owner: _Replicas, replica: _Replica):
        super().__init__(owner.strategy, replica.index)
        with init_scope(), get_default_graph().name_scope(None), device(None):
            self._replica_id = constant(owner.extended._first_replica_id + replica.index)
        self._owner = owner
        self._replica = replica
        self._variables_seen: dict = {}

    def _merge_call(self, merge_fn, args, kwargs):
        return self._replica.meet(merge_fn, args, kwargs)

    def shared_variable(self, name, make):
        """The first replica makes variables; the others get the same ones, those of one name in the same order.

        By name, since `get_variable` finds what is made and doesn't ask again.
        """
        made = self._owner.made_variables.setdefault(name, [])
        position = self._variables_seen.get(name, 0)
        self._variables_seen[name] = position + 1
        if position == len(made):
            made.append(make())
        return made[position]
