"""Names of `tensorflow.python.ops.variable_scope` that hold what scopes and stores are inside."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.variables.scope import _scopes as get_variable_scope_store
from everflow.ops.variables.scope import _ScopesOfGraph as _VariableScopeStore
from everflow.ops.variables.store import VariableStore as _VariableStore
from everflow.ops.variables.store import default_store as with_variable_store
