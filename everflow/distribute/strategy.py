"""`tf.distribute.Strategy`: how a computation is spread over devices. Users call what is here; `extended` does it."""

from __future__ import annotations

import contextlib
import enum
import functools

from everflow.distribute import context
from everflow.distribute.device_maps import full_device, map_of
from everflow.distribute.input import (
    DistributedDataset,
    DistributedIterator,
    InputContext,
    input_workers,
    numpy_dataset,
    split_over_replicas,
)
from everflow.distribute.multi_step import run_steps
from everflow.distribute.reduce_ops import ReduceOp, as_reduce_op, read_all
from everflow.distribute.scopes import StrategyScope
from everflow.distribute.values import (
    DistributedValues,
    DistributedVariable,
    SyncOnReadVariable,
    devices_of,
    value_container,
)
from everflow.framework import nest
from everflow.framework.composites import IndexedSlices
from everflow.framework.scopes import device, get_default_graph
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import grouping
from everflow.ops.gradients.custom import custom_gradient


class InputReplicationMode(enum.Enum):
    """For whom an input function is called.

    Example:
        >>> tf.distribute.InputReplicationMode.PER_WORKER.name
        'PER_WORKER'
    """

    PER_WORKER = "PER_WORKER"


class StrategyV2:
    """How variables and computations are spread over devices.

    Args:
        extended: The `tf.distribute.StrategyExtended` that does the work.

    Example:
        >>> isinstance(tf.distribute.get_strategy(), tf.distribute.Strategy)
        True
    """

    def __init_subclass__(cls):
        cls.__name__ = cls.__name__.removesuffix("V2")  # what programs of TensorFlow 2 see

    _is_default = False
    _scale_loss_for_estimator = False

    def _scale_loss_for_estimator_enabled(self):
        return context.losses_are_means(self)

    def __init__(self, extended):
        self._extended = extended

    extended = property(lambda self: self._extended, doc="The methods that libraries rather than users call.")

    @property
    def num_replicas_in_sync(self):
        """How many replicas share their gradients."""
        return self._extended._num_replicas_in_sync

    def scope(self):
        """A context in which variables are made for this strategy."""
        return self._extended._scope(self)

    def colocate_vars_with(self, colocate_with_variable):
        """Deprecated: see `extended.colocate_vars_with`."""
        return self._extended.colocate_vars_with(colocate_with_variable)

    # --- running -----------------------------------------------------------------------------

    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """Call `fn` once for each replica, with its part of the arguments; gives the results, grouped by replica."""
        with self.scope():
            return self._extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def experimental_run(self, fn, input_iterator=None):
        """`experimental_run_v2` with the next element of an iterator as the argument."""
        with self.scope():
            args = (input_iterator.get_next(),) if input_iterator is not None else ()
            return self.experimental_run_v2(fn, args=args)

    def reduce(self, reduce_op, value, axis):
        """The sum or mean of a value over the replicas, and along `axis` of each part where it is given."""
        reduce_op = as_reduce_op(reduce_op)
        if axis is not None:
            return self._reduce_along(reduce_op, value, axis)
        return self._extended._reduce(reduce_op, value)

    def _reduce_along(self, reduce_op, value, axis):
        parts = self.experimental_local_results(value)
        sums = [math.reduce_sum(part, axis=axis) for part in parts]
        total = self._extended._reduce(ReduceOp.SUM, _like(value, sums))
        if reduce_op is ReduceOp.SUM:
            return total
        counts = [math.cast(array.shape(part)[axis], total.dtype) for part in parts]
        return total / self._extended._reduce(ReduceOp.SUM, _like(value, counts))

    def experimental_local_results(self, value):
        """The parts of a value, as a tuple."""
        return self._extended._local_results(value)

    def unwrap(self, value):
        """Deprecated name of `experimental_local_results`."""
        return self.experimental_local_results(value)

    def group(self, value, name=None):
        """An operation that runs all parts of a value."""
        return self._extended._group(value, name)

    # --- input -------------------------------------------------------------------------------

    def experimental_distribute_dataset(self, dataset):
        """A dataset whose batches are split over the replicas."""
        return self._extended._experimental_distribute_dataset(dataset)

    def experimental_distribute_datasets_from_function(self, dataset_fn):
        """A dataset made by `dataset_fn(input_context)`, whose elements are handed to the replicas one by one."""
        return self._extended._experimental_distribute_datasets_from_function(dataset_fn)

    def make_dataset_iterator(self, dataset):
        """An iterator over a dataset's batches, each split over the replicas; run its `initialize()` first."""
        return self._extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """An iterator over the dataset that `input_fn(input_context)` gives."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode}")
        with self.scope():
            return self._extended._make_input_fn_iterator(input_fn, replication_mode)

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A dataset of the rows of numpy arrays."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session)

    def _input_context(self) -> InputContext:
        return InputContext(num_replicas_in_sync=self.num_replicas_in_sync)

    # --- configuration -----------------------------------------------------------------------

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        """Adapt to a session's configuration and a cluster."""
        return self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto):
        """A copy of a ConfigProto as this strategy wants it."""
        return self._extended._update_config_proto(config_proto)

    def _in_multi_worker_mode(self) -> bool:
        return self._extended._has_replicas_elsewhere

    def __copy__(self):
        raise RuntimeError("A strategy has devices and variables of its own, and can't be copied.")


def _like(value, parts: list):
    return type(value)(value.device_map, parts) if isinstance(value, DistributedValues) else parts[0]


class Strategy(StrategyV2):
    """How variables and computations are spread over devices; that of TensorFlow 2, whose `reduce` may leave out the axis.

    Args:
        extended: The `tf.distribute.StrategyExtended` that does the work.

    Example:
        >>> isinstance(tf.distribute.get_strategy(), tf.distribute.Strategy)
        True
    """

    def reduce(self, reduce_op, value, axis=None):
        """The sum or mean of a value over the replicas, and along `axis` of each part where it is given."""
        return super().reduce(reduce_op, value, axis)


class StrategyExtended:
    """What a strategy does; a subclass for each kind.

    Args:
        container_strategy: The strategy it belongs to.

    Example:
        >>> isinstance(tf.distribute.get_strategy().extended, tf.distribute.StrategyExtended)
        True
    """

    def __init__(self, container_strategy):
        self._container_strategy_ref = container_strategy

    def _container_strategy(self):
        return self._container_strategy_ref

    # --- a kind defines these ----------------------------------------------------------------

    _devices: tuple[str, ...] = ()

    def _create_variable(self, next_creator, **kwargs):
        return next_creator(**kwargs)

    def _call_for_each_replica(self, fn, args, kwargs):
        raise NotImplementedError("must be implemented in descendants")

    def _reduce_to(self, reduce_op, value, destinations):
        raise NotImplementedError("must be implemented in descendants")

    def _update(self, var, fn, args, kwargs, group):
        raise NotImplementedError("must be implemented in descendants")

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        name = devices_of(colocate_with)[0]
        with device(name), self._updating(name):
            made = fn(*args, **kwargs)
        return made if group else nest.map_structure(self._local_results, made)

    def _broadcast_to(self, tensor, destinations):
        raise NotImplementedError("must be implemented in descendants")

    def _experimental_distribute_dataset(self, dataset):
        strategy = self._container_strategy()
        return DistributedDataset(input_workers(strategy), split_over_replicas(strategy, dataset), strategy)

    def _experimental_distribute_datasets_from_function(self, dataset_fn):
        strategy = self._container_strategy()
        return DistributedDataset(input_workers(strategy), [dataset_fn(strategy._input_context())], strategy)

    def _make_dataset_iterator(self, dataset):
        strategy = self._container_strategy()
        return DistributedIterator(input_workers(strategy), split_over_replicas(strategy, dataset), strategy)

    def _make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        strategy = self._container_strategy()
        return DistributedIterator(input_workers(strategy), [input_fn(strategy._input_context())], strategy)

    def _experimental_make_numpy_dataset(self, numpy_input, session):
        return numpy_dataset(numpy_input)

    def _experimental_run_steps_on_iterator(self, fn, iterator, iterations, initial_loop_values=None):
        return run_steps(self, fn, iterator, iterations, initial_loop_values)

    def _configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        """What a strategy of one process has nothing to do for."""

    def _update_config_proto(self, config_proto):
        made = type(config_proto)()
        made.CopyFrom(config_proto)
        made.isolate_session_state |= self._isolates_sessions
        return made

    # --- facts -------------------------------------------------------------------------------

    _device_map = property(lambda self: map_of(self._devices))
    worker_devices = property(lambda self: self._devices, doc="The devices that replicas run on.")
    parameter_devices = property(lambda self: self._devices, doc="The devices that hold variables.")
    _num_replicas_in_sync = property(lambda self: len(self._devices))
    _has_replicas_elsewhere = False  # in other processes, which draw graphs of their own
    _global_batch_size = property(lambda self: True, doc="Whether a batch's size is that of all replicas together.")
    _replicas_may_lack_rows = True  # eagerly, where the data ends in the middle of an element
    _isolates_sessions = False  # whether what a session's variables hold ends with it
    _has_partitioned_variables = False  # whether partitioners count; a variable that has copies is in one piece
    experimental_between_graph = property(lambda self: False, doc="Whether each worker draws a graph of its own.")
    experimental_should_init = property(lambda self: True)
    should_checkpoint = property(lambda self: True)
    should_save_summary = property(lambda self: True)
    experimental_require_static_shapes = property(lambda self: False)

    def non_slot_devices(self, var_list):
        """Where an optimizer's own variables go."""
        return self._devices

    # --- scope and variables -----------------------------------------------------------------

    _default_device: str | None = None  # where operations go that nobody put elsewhere

    def _scope(self, strategy):
        return StrategyScope(strategy)

    def _creator(self, next_creator, **kwargs):
        kwargs["use_resource"] = True
        return self._create_variable(next_creator, **kwargs)

    def variable_created_in_scope(self, v):
        """Whether a variable belongs to this strategy."""
        return getattr(v, "distribute_strategy", None) is self._container_strategy()

    def colocate_vars_with(self, colocate_with_variable):
        """A context in which variables are made on the devices of another one, which this strategy has made."""
        variable = self.value_container(colocate_with_variable)
        self._check_colocated(variable)
        return get_default_graph().colocate_with(variable.op)

    def _check_colocated(self, variable):
        if variable.distribute_strategy.extended is not self:
            raise ValueError(f"{variable!r} was made in the scope of another strategy, {variable.distribute_strategy}")

    def value_container(self, value):
        """The variable that a copy belongs to; any other value itself."""
        return value_container(value)

    def read_var(self, v):
        """A variable's value across replicas."""
        if isinstance(v, SyncOnReadVariable):
            return self._read_across(v)
        return array.identity(v.value() if hasattr(v, "value") and callable(v.value) else v)

    def _read_across(self, variable):
        """The value of a variable whose copies go their own way, put together from all replicas."""
        return read_all(variable)

    # --- replicas ----------------------------------------------------------------------------

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """Call `fn` once for each replica."""
        context.require_cross_replica()
        with self._container_strategy().scope():
            return self._call_for_each_replica(fn, args, kwargs or {})

    def reduce_to(self, reduce_op, value, destinations):
        """The sum or mean of a value's parts, on the devices of `destinations`."""
        context.require_cross_replica()
        return self._reduce_to(as_reduce_op(reduce_op), value, destinations)

    def batch_reduce_to(self, reduce_op, value_destination_pairs):
        """`reduce_to` for a list of (value, destinations)."""
        context.require_cross_replica()
        return [self.reduce_to(reduce_op, value, destinations) for value, destinations in value_destination_pairs]

    def _reduce(self, reduce_op, value):
        if context.in_replica_function():
            raise RuntimeError(
                "`reduce` is for values of all replicas; inside of one, tf.distribute.get_replica_context().all_reduce adds them up."
            )

        def one(part):
            return self._reduce_to(reduce_op, part, full_device("/cpu:0"))

        return nest.map_structure(one, value)

    def broadcast_to(self, tensor, destinations):
        """A tensor on every device of `destinations`."""
        assert destinations is not None, "broadcast_to takes the devices, or a value or variable that is on them"
        return self._broadcast_to(tensor, destinations)

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Call `fn(copy, *args)` for every copy of a variable, each with its part of the arguments."""
        context.require_cross_replica()
        return self._update(var, fn, args, kwargs or {}, group)

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        """Call `fn(*args)` on every device of `colocate_with`."""
        context.require_cross_replica()
        return self._update_non_slot(colocate_with, fn, args, kwargs or {}, group)

    def _updating(self, name: str, index: int | None = None):
        return context.entered(context.Frame(self._container_strategy(), None, name, index))

    def _group(self, value, name=None):
        parts = self._local_results(value)
        if len(parts) == 1 and name is None:
            return getattr(parts[0], "op", parts[0])
        return grouping.group(*parts, name=name)

    def _local_results(self, value):
        return tuple(value.values) if isinstance(value, (DistributedValues, DistributedVariable)) else (value,)

    # --- input -------------------------------------------------------------------------------

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A dataset of the rows of numpy arrays."""
        return self._experimental_make_numpy_dataset(numpy_input, session)

    def experimental_run_steps_on_iterator(self, fn, iterator, iterations=1, initial_loop_values=None):
        """Call `fn(context, inputs)` so many times, each with the next inputs; gives the `MultiStepContext`, with `run_op`."""
        context.require_cross_replica()
        return self._experimental_run_steps_on_iterator(fn, iterator, iterations, initial_loop_values)


class ReplicaContext:
    """The replica that is being drawn.

    Args:
        strategy: The strategy.
        replica_id_in_sync_group: Which replica it is.

    Example:
        >>> tf.distribute.get_replica_context().num_replicas_in_sync
        1
    """

    def __init__(self, strategy, replica_id_in_sync_group):
        self._strategy = strategy
        number = replica_id_in_sync_group
        self._id = number if isinstance(number, int) else constant_value(number) or 0
        self._replica_id = replica_id_in_sync_group

    strategy = property(lambda self: self._strategy, doc="The strategy that runs it.")
    num_replicas_in_sync = property(lambda self: self._strategy.num_replicas_in_sync)

    replica_id_in_sync_group = property(
        lambda self: self._replica_id, doc="Which replica it is: a tensor in replica functions, 0 outside of all."
    )

    @property
    def devices(self):
        """The device of this replica, as a tuple."""
        return (self._strategy.extended.worker_devices[self._id],)

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Meet the other replicas: `merge_fn(strategy, *args)` is called once, with arguments of all of them."""
        return self._merge_call(merge_fn, args, kwargs or {})

    def _merge_call(self, merge_fn, args, kwargs):
        """A replica that is alone."""
        with context.entered(context.Frame(self._strategy)):
            return merge_fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op, value):
        """The sum or mean of a value over all replicas, for each of them."""
        reduce_op = as_reduce_op(reduce_op)

        def reduce_all(strategy, *flat):
            return [strategy.extended.reduce_to(reduce_op, v, v) for v in flat]

        def merged(*flat):
            return self.merge_call(reduce_all, args=flat)

        @custom_gradient
        def differentiable(*flat):
            # What one replica adds is in the result of all.
            return merged(*flat), lambda *grads: self.all_reduce(reduce_op, list(grads))

        flat = nest.flatten(value)
        is_dense = not any(isinstance(v, IndexedSlices) for v in flat)
        return nest.pack_sequence_as(value, (differentiable if is_dense else merged)(*flat))

    def __enter__(self):
        self._entered = context.entered(context.Frame(self._strategy, self))
        self._entered.__enter__()
        return self

    def __exit__(self, *exception):
        return self._entered.__exit__(*exception)


class DefaultExtended(StrategyExtended):
    """What is in force where no strategy is: one replica, wherever it was put."""

    _has_partitioned_variables = True
    _num_replicas_in_sync = 1
    _devices = ("",)

    def _scope(self, strategy):
        return contextlib.nullcontext(strategy)

    def colocate_vars_with(self, colocate_with_variable):
        return get_default_graph().colocate_with(colocate_with_variable.op)

    def variable_created_in_scope(self, v):
        return not isinstance(v, DistributedVariable)

    def _call_for_each_replica(self, fn, args, kwargs):
        with ReplicaContext(self._container_strategy(), constant(0)):
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op, value, destinations):
        return value

    def _experimental_distribute_dataset(self, dataset):
        return dataset

    def _experimental_distribute_datasets_from_function(self, dataset_fn):
        return dataset_fn(InputContext())

    def _broadcast_to(self, tensor, destinations):
        raise NotImplementedError("Without a strategy a value is where it was made, and nowhere to be spread to.")

    def _update(self, var, fn, args, kwargs, group):
        with get_default_graph().colocate_with(var.op), self._updating(var.device or "/cpu:0"):
            result = fn(var, *args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        return self._update(colocate_with, lambda _, *args, **kwargs: fn(*args, **kwargs), args, kwargs, group)

    def non_slot_devices(self, var_list):
        return min(var_list, key=lambda variable: variable.name)

    def _experimental_run_steps_on_iterator(self, fn, iterator, iterations, initial_loop_values=None):
        raise NotImplementedError("Several steps in one run take a strategy with a loop of its own.")


class _DefaultDistributionStrategy(Strategy):
    """The strategy where there is none."""

    _is_default = True

    def __init__(self):
        super().__init__(DefaultExtended(self))


@functools.cache
def default_strategy() -> _DefaultDistributionStrategy:
    """The strategy where a program has chosen none."""
    return _DefaultDistributionStrategy()


_get_default_strategy = default_strategy  # its name inside TensorFlow


@context.default_frame
@functools.cache
def _default_frame() -> context.Frame:
    return context.Frame(default_strategy(), ReplicaContext(default_strategy(), 0))
