"""How variables with several copies are saved: as one value, which comes back to all of them."""

from __future__ import annotations

from everflow.distribute.reduce_ops import read_all
from everflow.framework.scopes import device
from everflow.ops import array
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables.options import VariableAggregation
from everflow.ops.variables.saveables import SaveableObject, SaveSpec


class CopiesSaveable(SaveableObject):
    """`share` says what part of the restored value each copy gets; `value` what is saved."""

    def __init__(self, variable, value, name, share: int = 1):
        self._copies = variable.values
        self._share = share
        first = self._copies[0]
        super().__init__(variable, [SaveSpec(value, "", name, dtype=first.dtype, device=first.handle.device)], name)

    def restore(self, restored_tensors, restored_shapes):
        tensor = restored_tensors[0]
        if restored_shapes is not None:
            tensor = array.reshape(tensor, restored_shapes[0])
        assigned = []
        if self._share != 1:
            tensor = tensor / self._share
        for held in self._copies:
            with device(held.device):
                assigned.append(held.assign(tensor))
        return group(*assigned)


def mirrored_saveable(variable, name: str) -> CopiesSaveable:
    """Copies are equal, so the first is saved."""
    first = variable.values[0]

    def read():
        with device(first.device):
            value = first.read_value()
        with device("/device:CPU:0"):
            return array.identity(value)

    return CopiesSaveable(variable, read, name)


def sync_on_read_saveable(variable, name: str) -> CopiesSaveable:
    """What a read gives is saved; of a sum, each copy takes its share back."""
    share = len(variable.values) if variable.aggregation is VariableAggregation.SUM else 1
    is_drawn = variable.values[0]._graph_element is not None
    return CopiesSaveable(variable, read_all(variable) if is_drawn else lambda: read_all(variable), name, share)
