"""The words of specs. The second letter of a layer is its activation: r relu, s sigmoid, t tanh, m softmax, l none, x as
it is given.
"""

from __future__ import annotations

from typing import Any

from everflow.contrib import layers
from everflow.contrib.specs.specs_lib import Composable, External, Function, Import, debug  # noqa: F401  words, too
from everflow.ops import array, math
from everflow.ops.io import printing
from everflow.ops.nn import activations, normalization
from everflow.ops.variables import scope as variable_scopes

_ACTIVATIONS = {
    "r": {"activation_fn": activations.relu},
    "s": {"activation_fn": math.sigmoid},
    "t": {"activation_fn": math.tanh},
    "m": {"activation_fn": activations.softmax},
    "l": {"activation_fn": None},
    "x": {},
}
_LAYERS = {"C": layers.convolution2d, "F": layers.fully_connected}
globals().update(
    {letter + kind: Function(make, **given) for letter, make in _LAYERS.items() for kind, given in _ACTIVATIONS.items()}
)

Fun = Function
Ap, Mp = Function(layers.avg_pool2d), Function(layers.max_pool2d)
Bn, Do, Flat, Unit = map(Function, (layers.batch_norm, layers.dropout, layers.flatten, layers.unit_norm))
Relu, Sig, Tanh, Smax = map(Function, (activations.relu, math.sigmoid, math.tanh, activations.softmax))
Lrn = Function(normalization.local_response_normalization)
Id, Reshape, Transpose, Squeeze = map(Function, (array.identity, array.reshape, array.transpose, array.squeeze))
Expand, Print = Function(array.expand_dims), Function(printing.Print)


def Dws(n: int) -> Function:
    """A layer with sigmoid at every place by itself, `n` deep."""
    return _LAYER_NAMES["Cs"](n, [1, 1])


def Dwm(n: int) -> Function:
    """A layer with softmax at every place by itself, `n` deep."""
    return _LAYER_NAMES["Cm"](n, [1, 1])


_LAYER_NAMES = {name: value for name, value in globals().items() if isinstance(value, Function)}


class Idx(Composable):
    """What it is given, with no op of its own."""

    def funcall(self, x: Any) -> Any:
        return x


class Conc(Composable):
    """The values of several functions, joined along a dimension."""

    def __init__(self, dim: int, *args: Composable) -> None:
        self.dim, self.funs = dim, args

    def funcall(self, x: Any) -> Any:
        return array.concat([f.funcall(x) for f in self.funs], axis=self.dim)


def Var(name: str, *args: Any, **kw: Any) -> Function:
    """A variable, whatever the input; arguments are those of `tf.get_variable`."""
    return Function(lambda _: variable_scopes.get_variable(name, *args, **kw))


class Shared(Composable):
    """A network that has the same variables wherever it is used."""

    shared_number = 1

    def __init__(self, subnet: Composable, name: str | None = None, scope: Any = None) -> None:
        self.subnet, self.scope = subnet, scope
        if name is None:
            name = f"Shared_{Shared.shared_number}"
            Shared.shared_number += 1
        self.name = name

    def funcall(self, x: Any) -> Any:
        if self.scope is None:
            with variable_scopes.variable_scope(self.name) as self.scope:
                return self.subnet.funcall(x)
        with variable_scopes.variable_scope(self.scope, reuse=variable_scopes.AUTO_REUSE):
            return self.subnet.funcall(x)


__all__ = sorted({*_LAYER_NAMES, "Conc", "Dwm", "Dws", "External", "Fun", "Idx", "Import", "Shared", "Var", "debug"})
