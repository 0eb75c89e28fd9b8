"""Names that programs take from inside TensorFlow's modules of savers: what a list of variables comes to, savers without
nodes of their own, and a table to try savers with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import internal_convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, executing_eagerly
from everflow.ops.variables.saveables import SaveableObject, SaveSpec
from everflow.ops.variables.variable import Variable
from everflow.train.saver_graph import (
    ReferenceVariableSaveable,
    ResourceVariableSaveable,
    named,
    saveables_for,
    saveables_of,
)
from everflow.train.saver_graph import on_cpu as set_cpu0
from everflow.train.saving.functional_saver import MultiDeviceSaver, sharded_filename
from everflow.train.saving.functional_saver import SingleDeviceSaver as _SingleDeviceSaver

__all__ = [
    "CheckpointedOp",
    "MultiDeviceSaver",
    "ReferenceVariableSaveable",
    "ResourceVariableSaveable",
    "_SingleDeviceSaver",
    "op_list_to_dict",
    "saveable_objects_for_op",
    "set_cpu0",
    "sharded_filename",
    "validate_and_slice_inputs",
]


def saveable_objects_for_op(op: Any, name: str) -> Iterator[SaveableObject]:
    """What saving a variable, a partitioned one, or an object comes to."""
    return saveables_for(name, op)


def op_list_to_dict(op_list: Any, convert_variable_to_tensor: bool = True) -> dict[str, Any]:
    """{name: variable, list of parts, or saveable}; of whole variables the tensors, unless `convert_variable_to_tensor`
    is False.
    """
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"op_list must be a list, tuple or set of variables, not {op_list!r}")
    things = named(op_list)
    if not convert_variable_to_tensor:
        return things
    return {name: _tensor_of(thing) if isinstance(thing, Variable) else thing for name, thing in things.items()}


def _tensor_of(variable: Variable) -> Any:
    if hasattr(variable, "handle"):
        return variable if executing_eagerly() else variable._graph_element
    return internal_convert_to_tensor(variable, as_ref=True)


def validate_and_slice_inputs(names_to_saveables: Any) -> list[SaveableObject]:
    """What saving variables by name comes to, in the order of the names."""
    return saveables_of(names_to_saveables)


class CheckpointedOp:
    """A table of numbers by word that a Saver saves as something of its own kind."""

    class CustomSaveable(SaveableObject):
        """The table's keys and values."""

        def __init__(self, table: CheckpointedOp, name: str) -> None:
            keys, values = table._export()
            super().__init__(table, [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")], name)

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            """Put what was saved into the table."""
            return raw.LookupTableImportV2(self.op.table_ref, *restored_tensors)

    def __init__(self, name: str, table_ref: Any = None) -> None:
        if table_ref is None:
            table_ref = raw.MutableHashTableV2(key_dtype=dtypes.string, value_dtype=dtypes.float32, name=name)
        self.table_ref = table_ref
        self._name = name if executing_eagerly() else table_ref.op.name
        self._saveable = CheckpointedOp.CustomSaveable(self, name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    name = property(lambda self: self._name)

    @property
    def saveable(self) -> SaveableObject:
        """What a Saver is given; when executing eagerly, with what the table holds now."""
        return CheckpointedOp.CustomSaveable(self, self._name) if executing_eagerly() else self._saveable

    def insert(self, keys: Any, values: Any) -> Any:
        """An op that gives keys these values."""
        return raw.LookupTableInsertV2(self.table_ref, keys, values)

    def lookup(self, keys: Any, default: Any) -> Any:
        """The values of keys, or a default."""
        return raw.LookupTableFindV2(self.table_ref, keys, default)

    def keys(self) -> Any:
        """All keys."""
        return self._export()[0]

    def values(self) -> Any:
        """All values."""
        return self._export()[1]

    def _export(self) -> Any:
        return raw.LookupTableExportV2(self.table_ref, Tkeys=dtypes.string, Tvalues=dtypes.float32)
