"""Values that have a part for each replica, and variables that have a copy on each device."""

from __future__ import annotations

import functools
import operator

from everflow.distribute import context
from everflow.distribute.device_maps import LogicalDeviceSpec, full_device
from everflow.distribute.saving import mirrored_saveable, sync_on_read_saveable
from everflow.framework import nest
from everflow.framework.conversion import (
    convert_to_tensor_or_indexed_slices,
    internal_convert_to_tensor,
    register_tensor_conversion_function,
)
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, device, get_default_graph
from everflow.framework.static_values import is_tensor
from everflow.framework.type_specs import TypeSpec, type_spec_from_value
from everflow.ops import array
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables.options import VariableAggregation, VariableSynchronization
from everflow.ops.variables.variable import Variable


class _Parted:
    """What has a part for each replica or device, in `_values`."""

    values = property(lambda self: self._values, doc="The parts, in the order of the replicas or devices.")
    primary = property(lambda self: self._values[0], doc="The first part.")
    device_map = property(lambda self: self._device_map, doc="The devices of the parts.")
    logical_device = property(lambda self: self._logical_device, doc="Which of a replica's devices they are on.")
    devices = property(lambda self: self._device_map.logical_to_actual_devices(self._logical_device))

    def _hold(self, device_map, values, logical_device) -> None:
        self._device_map, self._values = device_map, tuple(values)
        if logical_device is None:
            logical_device = device_map.logical_device_from_values(self._values)
        self._logical_device = logical_device
        assert len(self._values) == len(self.devices), (self._values, self.devices)

    def _shown(self, show) -> str:
        parts = ",\n".join(f"  {i} {name}: {show(v)}" for i, (name, v) in enumerate(zip(self.devices, self._values)))
        return f"{type(self).__name__}:{{\n{parts}\n}}"

    def __str__(self):
        return self._shown(str)

    def __repr__(self):
        return self._shown(repr)

    @property
    def is_tensor_like(self) -> bool:
        """Whether all parts are tensors."""
        return all(is_tensor(v) for v in self._values)


class DistributedValues(_Parted):
    """A value with a part for each replica, on the devices of a map."""

    def __init__(self, device_map, values, logical_device=None):
        self._hold(device_map, values, logical_device)

    def get(self, device=None):
        """The part of the replica that is being drawn, or the one on a device; the first one across replicas."""
        if device is not None:
            return self._device_map.select_for_device(self._values, full_device(device))
        replica = context.get_replica_context()
        if replica is None:
            return self._get_cross_replica()
        if replica._id >= len(self._values):  # a replica of another strategy
            return self._values[-1]
        return self._device_map.select_for_current_replica(self._values, replica)

    def _get_cross_replica(self):
        device = context.current().update_device
        if device is not None and full_device(device) in self.devices:
            return self.get(device)
        return self._values[0]


class PerReplica(DistributedValues):
    """Parts that differ. Where structures are taken apart it is a composite, so that functions may take it."""

    @property
    def _type_spec(self):
        specs = tuple(type_spec_from_value(v) for v in self._values)
        return PerReplicaSpec(specs, self._device_map, self._logical_device)


class PerReplicaSpec(TypeSpec):
    """The type of a PerReplica: those of its parts, and their devices."""

    def __init__(self, value_specs, device_map, logical_device):
        self._value_specs, self._device_map, self._logical_device = tuple(value_specs), device_map, logical_device

    value_type = property(lambda self: PerReplica)
    _component_specs = property(lambda self: self._value_specs)

    def _serialize(self):
        return self._value_specs, self._device_map, self._logical_device

    def _to_components(self, value):
        return list(value.values)

    def _from_components(self, components):
        return PerReplica(self._device_map, tuple(components), self._logical_device)


class DistributedDelegate(DistributedValues):
    """What is asked of it and computed with it is asked of the part at hand."""

    def __getattr__(self, name):
        if name.startswith("_"):  # marks of kinds of values, which a part may have and this has not
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}", name=name, obj=self)
        return getattr(self.get(), name)

    def _get_as_operand(self):
        return self.get()

    def __getitem__(self, index):
        return self._get_as_operand()[index]


def _on_operands(function, swapped: bool = False):
    def compute(self, *others):
        operands = (self._get_as_operand(), *others)
        return function(*(reversed(operands) if swapped else operands))

    return compute


for _name in "add sub mul truediv floordiv mod pow and or xor matmul".split():
    _function = getattr(operator, f"__{_name}__")
    setattr(DistributedDelegate, f"__{_name}__", _on_operands(_function))
    setattr(DistributedDelegate, f"__r{_name}__", _on_operands(_function, swapped=True))
DistributedDelegate.__pow__ = _on_operands(pow)  # which may be given a modulus
for _name in "lt le gt ge neg abs invert".split():
    setattr(DistributedDelegate, f"__{_name}__", _on_operands(getattr(operator, f"__{_name}__")))


class Mirrored(DistributedDelegate):
    """Parts that are equal, on several devices; fetched, it is one value."""

    def _as_graph_element(self):
        return self.get()


def regroup(device_map, structures, wrap_class=PerReplica):
    """Structures of the replicas as one structure, whose leaves have a part for each replica."""

    def join(*parts):
        holder = getattr(parts[0], "_distributed_container", None)
        if holder is not None and all(getattr(p, "_distributed_container", None) is holder for p in parts):
            return holder
        if all(p is parts[0] for p in parts):
            return parts[0]
        return wrap_class(device_map, parts)

    return _map_together(join, structures)


def _map_together(join, structures):
    """As nest.map_structure, with tuples of plain values (gradient, variable) as structures too."""
    first = structures[0]
    if isinstance(first, dict):
        assert all(isinstance(s, dict) and set(s) == set(first) for s in structures), structures
        return type(first)((k, _map_together(join, [s[k] for s in structures])) for k in first)
    if isinstance(first, (list, tuple)):
        kind = list if isinstance(first, list) else tuple
        assert all(isinstance(s, kind) and len(s) == len(first) for s in structures), structures
        made = [_map_together(join, list(parts)) for parts in zip(*structures, strict=True)]
        return type(first)(*made) if hasattr(first, "_fields") else type(first)(made)
    return join(*structures)


def joined_updates(extended, device_map, updates: list, group: bool):
    """What an update gave for each copy as one: a tuple with `group` off; else a value whose every part waits for all
    updates, or the operation that runs them where they aren't tensors.
    """

    def one(value):
        if not isinstance(value, DistributedValues):
            return value
        together = extended._group(value)
        if not value.is_tensor_like:
            return together
        parts = []
        for part, name in zip(value.values, value.devices, strict=True):
            with device(name), control_dependencies([together]):
                parts.append(array.identity(part))
        return Mirrored(value.device_map, parts)

    joined = regroup(device_map, updates, Mirrored)
    return nest.map_structure(one if group else extended._local_results, joined)


def select_replica(index: int, structured):
    """The part of a structure that belongs to one replica."""

    return nest.map_structure(
        lambda value: value.values[index] if isinstance(value, DistributedValues) else value, structured
    )


def select_device_mirrored(device, structured):
    """The parts of a structure that are on a device; all replicas must have equal ones."""

    def part(value):
        if isinstance(value, DistributedValues) and not isinstance(value, Mirrored):
            raise TypeError(f"All replicas must have the same values here, and {value!r} has one for each")
        return value.get(device) if isinstance(value, (Mirrored, MirroredVariable)) else value

    return nest.map_structure(part, structured)


def value_container(value):
    """The variable that a copy belongs to; any other value itself."""
    return getattr(value, "_distributed_container", None) or value


def devices_of(destinations) -> list[str]:
    """The devices that a name, a list of names, a value or a variable stands for."""
    if isinstance(destinations, str):
        return [full_device(destinations)]
    if isinstance(destinations, LogicalDeviceSpec):
        return list(destinations.device_map.logical_to_actual_devices(destinations.logical_device))
    if isinstance(destinations, (list, tuple)):
        return [full_device(d) for d in destinations]
    if isinstance(destinations, (DistributedValues, DistributedVariable)):
        return list(destinations.devices)
    return [full_device(destinations.device)]


# --- variables --------------------------------------------------------------------------------


class DistributedVariable(_Parted, Variable):
    """A variable with a copy on each device; what is asked of it is asked of the copy of the replica that asks."""

    def __init__(self, strategy, device_map, values, aggregation, logical_device=None):
        self._strategy = strategy
        self._hold(device_map, values, logical_device)
        self._aggregation = aggregation
        for value in values:
            value._distributed_container = self

    distribute_strategy = property(lambda self: self._strategy, doc="The strategy in whose scope it was made.")
    aggregation = property(lambda self: self._aggregation)

    def get(self, device=None):
        """The copy of the replica that is drawn or of the device that is updated; the first across replicas."""
        frame = context.current()
        if device is None and frame.update_index is not None and frame.strategy is self._strategy:
            return self._values[frame.update_index]
        if device is not None or frame.update_device is not None:
            wanted = full_device(device or frame.update_device)
            for value in self._values:
                if full_device(value.device) == wanted:
                    return value
            if device is not None:
                raise ValueError(f"{self.name} has no copy on {wanted}; there are some on {self.devices}")
        replica = context.get_replica_context()
        return self._values[min(replica._id, len(self._values) - 1) if replica is not None else 0]

    initializer = property(lambda self: group(*[v.initializer for v in self._values]))

    def initialized_value(self):
        """Its value, or the initial one where it has none; that comes from another process where there are several, and
        those don't ask for it.
        """
        if self._strategy.extended._has_replicas_elsewhere:
            return self.get().read_value()
        return self.get().initialized_value()

    def _each(self, method: str, *args, **kwargs):
        """Call a method of every copy, each with its own part of the arguments."""
        return self._strategy.extended.update(
            self, lambda v, *a, **k: getattr(v, method)(*a, **k), args=args, kwargs=kwargs
        )


# What is asked of the copy at hand.
_FACTS = """
    name dtype shape op handle graph device initial_value constraint trainable synchronization _shared_name _unique_id _in_graph_mode
    _handle_name _graph_element _initializer_op _save_slice_info create
"""
_METHODS = "value read_value eval get_shape sparse_read gather_nd to_proto load numpy is_initialized _as_graph_element _dense_var_to_tensor _ref"
for _name in _FACTS.split():
    setattr(DistributedVariable, _name, property(lambda self, _name=_name: getattr(self.get(), _name)))
for _name in _METHODS.split():
    _ask = functools.partialmethod(lambda self, _name, *a, **k: getattr(self.get(), _name)(*a, **k), _name)
    setattr(DistributedVariable, _name, _ask)
_WRITES = "assign assign_add assign_sub scatter_add scatter_sub scatter_mul scatter_div scatter_min scatter_max scatter_update"


class MirroredVariable(DistributedVariable):
    """A variable whose copies are kept equal: whatever changes one changes all."""

    _saveable = mirrored_saveable

    def _get_cross_replica(self):
        return array.identity(self._values[0])

    def _write(self, method, value, *args, **kwargs):
        frame = context.current()
        if frame.update_device is not None:
            return getattr(self.get(), method)(value, *args, **kwargs)
        if frame.replica_context is None or frame.strategy is not self._strategy:
            return self._each(method, value, *args, **kwargs)
        if self._aggregation is VariableAggregation.NONE:
            raise ValueError(
                f"A replica can update {self.name} only if the variable was made with an `aggregation` other than NONE, "
                "which says how the replicas' values become one"
            )

        if self._strategy.extended._has_replicas_elsewhere and not isinstance(value, DistributedValues):
            value = convert_to_tensor_or_indexed_slices(value, self.dtype.base_dtype)

        def merge(strategy, value, *others, **named):
            if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
                value = strategy.extended.broadcast_to(
                    value.values[0] if isinstance(value, DistributedValues) else value, self
                )
            else:
                value = strategy.extended.reduce_to(self._aggregation, value, self)
            return self._each(method, value, *others, **named)

        return frame.replica_context.merge_call(merge, args=(value, *args), kwargs=kwargs)


# Writes that count on what is there.
_COUNTS = {"assign_add": operator.add, "assign_sub": operator.sub}


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies go their own way, and are put together when read across replicas."""

    _saveable = sync_on_read_saveable
    synchronization = property(lambda self: VariableSynchronization.ON_READ)

    def _get_cross_replica(self):
        if len(self._values) == 1:
            return self._values[0]
        return self._strategy.extended._read_across(self)

    def _write(self, method, value, *args, **kwargs):
        frame = context.current()
        is_of_one = frame.replica_context is not None or frame.update_device is not None
        # Where no replica of the strategy is drawn, a new value is for all copies; what is added, is for the first.
        is_for_all = method == "assign" and frame.strategy is not self._strategy
        is_alone = len(self._values) == 1 and self._strategy.extended._has_replicas_elsewhere
        if is_alone or is_of_one and not is_for_all:
            return getattr(self.get(), method)(value, *args, **kwargs)
        if method in _COUNTS and self._aggregation is not VariableAggregation.SUM:
            value, method = _COUNTS[method](self._get_cross_replica(), value), "assign"
        if method != "assign":
            raise ValueError(
                f"What all replicas together have of {self.name} is a sum, and `{method}` can't say whose part changes: use `assign`."
            )
        if len(self._values) == 1:
            return self._values[0].assign(value, *args, **kwargs)
        if self._aggregation is VariableAggregation.SUM:
            value = internal_convert_to_tensor(value, self.dtype) / len(self._values)
        with context.entered(context.Frame(self._strategy)):
            return self._each("assign", value, *args, **kwargs)

    def _across(self):
        frame = context.current()
        is_across = frame.replica_context is None and frame.update_device is None
        return self._strategy.extended._read_across(self) if is_across else None

    def value(self):
        """The replica's own value, or across replicas all of them put together."""
        found = self._across()
        return self.get().value() if found is None else found

    read_value = value

    def numpy(self):
        """What a read gives, as an array."""
        found = self._across()
        return self.get().numpy() if found is None else found.numpy()

    def _as_graph_element(self):
        found = self._across()
        return self.get()._as_graph_element() if found is None else found


for _name in _WRITES.split():
    for _kind in (MirroredVariable, SyncOnReadVariable):
        setattr(_kind, _name, functools.partialmethod(_kind._write, _name))


def _to_tensor(variable, dtype=None, name=None, as_ref=False):
    return internal_convert_to_tensor(variable.value(), dtype, name, as_ref=as_ref)


def _part_to_tensor(value, dtype=None, name=None, as_ref=False):
    return internal_convert_to_tensor(value.get(), dtype, name, as_ref=as_ref)


register_tensor_conversion_function(DistributedVariable, _to_tensor)
register_tensor_conversion_function(DistributedValues, _part_to_tensor)


def replace_in_collections(holder, copies, collections, trainable) -> None:
    """Let collections hold a variable in place of its copies; those stay trainable where `trainable` was not said."""
    graph = get_default_graph()
    collections = list([GraphKeys.GLOBAL_VARIABLES] if collections is None else collections)
    if trainable:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
        held = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        held[:] = [v for v in held if not any(v is copy for copy in copies)]
    graph.add_to_collections(collections, holder)
