"""Names of TensorFlow's `ops.variables`, where `Variable` is the class of version 2, which makes resource variables."""

from __future__ import annotations

import enum

from everflow.ops.variables.initial_values import guarded as _try_guard_against_uninitialized_dependencies
from everflow.ops.variables.options import VariableAggregation
from everflow.ops.variables.variable import Variable as VariableV1
from everflow.ops.variables.variable import VariableMetaclass, default_variable_creator_v2
from everflow.ops.variables.variable import VariableV2 as Variable


class VariableAggregationV2(enum.Enum):
    """How the copies of a variable are brought together, as version 2 has it: without the old name of one way. Equal to
    what version 1 calls the same.
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3

    def __eq__(self, other):
        return isinstance(other, (VariableAggregation, VariableAggregationV2)) and self.value == other.value

    def __hash__(self):
        return hash(VariableAggregation(self.value))


__all__ = [
    "Variable",
    "VariableAggregationV2",
    "VariableMetaclass",
    "VariableV1",
    "_try_guard_against_uninitialized_dependencies",
    "default_variable_creator_v2",
]
