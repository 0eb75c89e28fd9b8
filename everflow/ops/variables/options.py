"""What a variable is told when it is made: how copies are kept together, collections, its part of a whole; checked
here.
"""

from __future__ import annotations

import enum

from everflow.framework.graph_keys import GraphKeys
from everflow.protos import variable_pb2


class VariableSynchronization(enum.Enum):
    """When the copies of a variable on several devices are brought together.

    Example:
        >>> tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ).synchronization
        <VariableSynchronization.ON_READ: 3>
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the copies of a variable on several devices are brought together.

    Example:
        >>> tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN).aggregation
        <VariableAggregation.MEAN: 2>
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # its former name


def validate_synchronization_aggregation_trainable(synchronization, aggregation, trainable, name):
    """The three checked and with their defaults filled in."""
    aggregation = _as_enum(VariableAggregation, aggregation, "aggregation", name)
    synchronization = _as_enum(VariableSynchronization, synchronization, "synchronization", name)
    if trainable is None:
        trainable = synchronization != VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


def _as_enum(kind, value, what, name):
    if value is None:
        return kind(0)
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"Invalid variable {what} mode: {value} for variable: {name}") from None


def check_creation_arguments(initial_value, collections, constraint, synchronization, aggregation, trainable, name):
    """(synchronization, aggregation, trainable, collections) for a new variable, checked."""
    synchronization, aggregation, trainable = validate_synchronization_aggregation_trainable(
        synchronization, aggregation, trainable, name
    )
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, (list, tuple, set)):
        raise ValueError(f"A variable's collections must be a list, tuple, or set of names, not {collections!r}")
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
    return synchronization, aggregation, trainable, collections


def take_options(variable, variable_def, import_scope):
    """Give a variable what a VariableDef says of it besides the names of its nodes."""
    options = validate_synchronization_aggregation_trainable(
        VariableSynchronization(variable_def.synchronization),
        VariableAggregation(variable_def.aggregation),
        variable_def.trainable,
        variable_def.variable_name,
    )
    variable._synchronization, variable._aggregation, variable._trainable = options
    variable._save_slice_info = None
    if variable_def.HasField("save_slice_info_def"):
        variable._save_slice_info = SaveSliceInfo(
            save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope
        )
    variable._constraint = None


def to_variable_def(variable, node, snapshot, export_scope, is_resource=False):
    """A VariableDef of a variable whose own tensor is `node` and whose read is `snapshot`; None where it is outside
    `export_scope`.
    """
    if export_scope and not node.name.startswith(export_scope):
        return None
    proto = variable_pb2.VariableDef(is_resource=is_resource)
    proto.variable_name = strip_name_scope(node.name, export_scope)
    if variable._initial_value is not None:
        proto.initial_value_name = strip_name_scope(variable._initial_value.name, export_scope)
    proto.initializer_name = strip_name_scope(variable.initializer.name, export_scope)
    proto.snapshot_name = strip_name_scope(snapshot.name, export_scope)
    proto.trainable = variable.trainable
    proto.synchronization = variable.synchronization.value
    proto.aggregation = variable.aggregation.value
    if variable._save_slice_info:
        proto.save_slice_info_def.MergeFrom(variable._save_slice_info.to_proto(export_scope=export_scope))
    return proto


class SaveSliceInfo:
    """Which part of a larger tensor a variable holds, for files that store the whole."""

    def __init__(
        self,
        full_name=None,
        full_shape=None,
        var_offset=None,
        var_shape=None,
        save_slice_info_def=None,
        import_scope=None,
    ):
        if save_slice_info_def:
            if not isinstance(save_slice_info_def, variable_pb2.SaveSliceInfoDef):
                raise AssertionError("save_slice_info_def must be a SaveSliceInfoDef")
            self.full_name = prepend_name_scope(save_slice_info_def.full_name, import_scope)
            self.full_shape = list(save_slice_info_def.full_shape)
            self.var_offset = list(save_slice_info_def.var_offset)
            self.var_shape = list(save_slice_info_def.var_shape)
        else:
            self.full_name = full_name
            self.full_shape = full_shape
            self.var_offset = var_offset
            self.var_shape = var_shape

    @property
    def spec(self):
        """The slice as checkpoints write it: "4 2 0,2:0,2"."""
        full_shape = "".join(f"{d} " for d in self.full_shape)
        return full_shape + ":".join(f"{o},{s}" for o, s in zip(self.var_offset, self.var_shape, strict=True))

    def to_proto(self, export_scope=None):
        """A SaveSliceInfoDef, or None where the name is outside `export_scope`."""
        if export_scope and not self.full_name.startswith(export_scope):
            return None
        proto = variable_pb2.SaveSliceInfoDef(full_name=strip_name_scope(self.full_name, export_scope))
        proto.full_shape.extend(self.full_shape)
        proto.var_offset.extend(self.var_offset)
        proto.var_shape.extend(self.var_shape)
        return proto


def prepend_name_scope(name, import_scope):
    """A name as it is inside the scope that a graph was imported under."""
    return f"{import_scope.rstrip('/')}/{name}" if import_scope else name


def strip_name_scope(name, export_scope):
    """A name without the scope that is exported."""
    prefix = export_scope.rstrip("/") + "/" if export_scope else ""
    return name[len(prefix) :] if prefix and name.startswith(prefix) else name


def check_node_name(scope):
    """ValueError where a variable's name is empty: its node is named like its name scope."""
    if not scope:
        raise ValueError("'' is not a valid node name")
