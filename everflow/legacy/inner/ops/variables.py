"""Names of TensorFlow's `ops.variables`, where `Variable` is the class of version 2, which makes resource variables."""

from __future__ import annotations

from everflow.ops.variables.variable import Variable as VariableV1
from everflow.ops.variables.variable import VariableMetaclass, default_variable_creator_v2
from everflow.ops.variables.variable import VariableV2 as Variable

__all__ = ["Variable", "VariableMetaclass", "VariableV1", "default_variable_creator_v2"]
