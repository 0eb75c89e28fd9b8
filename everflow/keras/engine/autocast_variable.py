"""Variables of layers that compute in another type than their weights have: they are cast when they are read."""

from __future__ import annotations

import functools

from everflow.distribute.values import DistributedVariable
from everflow.framework.conversion import internal_convert_to_tensor, register_tensor_conversion_function
from everflow.framework.graph_scopes import read_dtype
from everflow.framework.scopes import executing_eagerly
from everflow.ops import math
from everflow.ops.variables.variable import Variable


class AutoCastVariable(Variable):
    """A variable of floats that is read in the type of the layer that is called."""

    def __init__(self, variable):
        if not hasattr(variable, "handle"):
            raise ValueError(f"Only resource variables can be cast when they are read, not {variable!r}.")
        if not variable.dtype.is_floating:
            raise ValueError(f"{variable.name} is of {variable.dtype.name}; only floats are cast when they are read.")
        self._variable = variable

    true_dtype = property(lambda self: self._variable.dtype, doc="The type that is stored.")

    @property
    def dtype(self):
        """The type that reading gives now."""
        return read_dtype() or self.true_dtype

    def _cast(self, value):
        return math.cast(value, self.dtype) if self._should_cast() else value

    def __repr__(self):
        value = f", numpy={self.read_value().numpy()!r}" if executing_eagerly() and not self._in_graph_mode else ""
        types = f"dtype={self.dtype.name} true_dtype={self.true_dtype.name}"
        return f"<AutoCastVariable {self.name!r} shape={self.shape} {types}{value}>"

    def _dense_var_to_tensor(self, dtype=None, name=None, as_ref=False):
        if as_ref and self._should_cast():
            raise AssertionError(f"{self.name} is cast when it is read, so that there is no reference to it.")
        return internal_convert_to_tensor(self.value(), dtype, name, as_ref=as_ref)

    def _should_cast(self):
        """Whether reading gives another type now than the one that is stored."""
        return self.dtype.base_dtype != self.true_dtype.base_dtype


# What is cast, and what is asked of the variable itself.
_READS = "value read_value sparse_read"
_FACTS = """
    name shape op handle graph device initial_value constraint trainable synchronization aggregation initializer _shared_name
    _unique_id _in_graph_mode _handle _handle_name _graph_element _initializer_op _save_slice_info create _dtype
"""
_METHODS = """
    eval get_shape to_proto initialized_value load numpy is_initialized _as_graph_element _ref assign assign_add assign_sub
    gather_nd scatter_add scatter_sub scatter_mul scatter_div scatter_min scatter_max scatter_update
"""


def _read(self, method, /, *args, **kwargs):
    return self._cast(getattr(self._variable, method)(*args, **kwargs))


def _ask(self, method, /, *args, **kwargs):
    return getattr(self._variable, method)(*args, **kwargs)


for _name in _READS.split():
    setattr(AutoCastVariable, _name, functools.partialmethod(_read, _name))
for _name in _METHODS.split():
    setattr(AutoCastVariable, _name, functools.partialmethod(_ask, _name))
for _name in _FACTS.split():
    setattr(AutoCastVariable, _name, property(lambda self, _name=_name: getattr(self._variable, _name)))


def _to_tensor(variable, dtype=None, name=None, as_ref=False):
    return variable._dense_var_to_tensor(dtype, name, as_ref)


register_tensor_conversion_function(AutoCastVariable, _to_tensor)


class AutoCastDistributedVariable(AutoCastVariable):
    """Such a variable with copies on several devices; its class is one of the strategy's as well."""

    def __new__(cls, variable):
        if not isinstance(variable, DistributedVariable):
            raise ValueError(f"Only a strategy's variables have copies on devices, not {variable!r}.")
        if not issubclass(cls, DistributedVariable):
            cls = type(AutoCastDistributedVariable.__name__, (AutoCastDistributedVariable, type(variable)), {})
        return super().__new__(cls)

    def __init__(self, variable):
        super().__init__(variable)
        self.__dict__.update(_strategy=variable._strategy, _values=variable._values, _aggregation=variable._aggregation)


def create_autocast_variable(variable):
    """A variable, one of a strategy too, as one that is cast when it is read."""
    return (AutoCastDistributedVariable if isinstance(variable, DistributedVariable) else AutoCastVariable)(variable)
