"""What stands for the things that functions use in the meta graph of a saved object: variables, tables and other
resources, files, constants. Each says what a function is given for it, and what has to run before it can be used.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import control_dependencies, get_default_graph, name_scope
from everflow.ops.array.constants import constant, placeholder
from everflow.ops.variables.variable import Variable


class VariableNode:
    """A variable: its handle and its read."""

    initializer = None

    def __init__(self, variable):
        # Two variables of one name are two here as well.
        name = get_default_graph().unique_name(variable._shared_name, mark_as_used=False)
        self.dtype = variable.dtype.base_dtype
        self.handle = raw.VarHandleOp(shape=variable.shape, dtype=self.dtype, shared_name=name, name=name)
        with name_scope(self.handle.op.name + "/Read/"):
            self.value = raw.ReadVariableOp(resource=self.handle, dtype=self.dtype)

    def captured(self, for_filling=False):
        """What a function is given for it."""
        return self.handle


class AssetNode:
    """A file: a placeholder that loaders feed with its path, and a variable that holds the path."""

    def __init__(self):
        self.placeholder = placeholder(dtypes.string, [], name="asset_path_initializer")
        self._variable = Variable(
            lambda: self.placeholder, dtype=dtypes.string, use_resource=True, trainable=False, collections=[]
        )
        self.initializer = self._variable.initializer

    def captured(self, for_filling=False):
        """What a function is given for it: the path; one that fills a table waits until it is there."""
        with control_dependencies([self.initializer] if for_filling else []):
            return self._variable.read_value()


class ResourceNode:
    """A table or another resource, made anew."""

    initializer = None

    def __init__(self, resource):
        self._handle = resource._create_resource()

    def captured(self, for_filling=False):
        """What a function is given for it."""
        return self._handle


class ConstantNode:
    """A tensor whose value is known."""

    initializer = None

    def __init__(self, tensor):
        value = tensor.numpy() if tensor.is_eager else tensor.op.attrs["value"].array
        self._tensor = constant(value, dtype=tensor.dtype)
        self.name = self._tensor.op.name

    def captured(self, for_filling=False):
        """What a function is given for it."""
        return self._tensor
