"""The same layer several times in a row: `repeat` with the same arguments, `stack` with different ones."""

from __future__ import annotations

from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.framework.conversion import convert_to_tensor
from everflow.ops.variables.scope import variable_scope


@add_arg_scope
def repeat(inputs, repetitions, layer, *args, **kwargs):
    """A layer applied again and again; the scopes inside are numbered.

    >>> net = repeat(net, 3, layers.conv2d, 256, [3, 3], scope="conv3")   # conv3/conv3_1, conv3/conv3_2, conv3/conv3_3
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        inputs = convert_to_tensor(inputs)
        name = _name_of(layer, scope, "repeat")
        outputs = inputs
        for i in range(repetitions):
            kwargs["scope"] = f"{name}_{i + 1}"
            outputs = layer(outputs, *args, **kwargs)
        return outputs


@add_arg_scope
def stack(inputs, layer, stack_args, **kwargs):
    """A layer applied once for each entry of `stack_args`, which has its positional arguments.

    >>> net = stack(net, layers.fully_connected, [32, 64, 128], scope="fc")   # fc/fc_1, fc/fc_2, fc/fc_3
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError(f"stack_args must be a list or tuple with an entry for each layer, not {stack_args!r}")
    with variable_scope(scope, "Stack", [inputs]):
        inputs = convert_to_tensor(inputs)
        name = _name_of(layer, scope, "stack")
        outputs = inputs
        for i, given in enumerate(stack_args):
            kwargs["scope"] = f"{name}_{i + 1}"
            outputs = layer(outputs, *(given if isinstance(given, (list, tuple)) else [given]), **kwargs)
        return outputs


def _name_of(layer, scope, default):
    if scope is not None:
        return scope
    if hasattr(layer, "__name__"):
        return layer.__name__
    return layer.func.__name__ if hasattr(layer, "func") else default
