"""How kinds of operators combine: a table of functions by operation and classes, the nearest base class winning."""

from __future__ import annotations

from everflow.framework.scopes import name_scope

_SCOPES = {"adjoint": "Adjoint", "cholesky": "Cholesky", "inverse": "Inverse", "matmul": "Matmul", "solve": "Solve"}
_functions: dict[tuple, callable] = {}


def register(operation, *classes):
    """Register the decorated function for an operation on these classes."""

    def decorate(function):
        if (operation, *classes) in _functions:
            raise ValueError(f"{operation} is registered already for {classes}")
        _functions[(operation, *classes)] = function
        return function

    return decorate


def apply(operation, *operators):
    """The result of an operation, by the function registered for the operators' nearest classes."""
    best = None
    orders = [type(operator).__mro__ for operator in operators]
    for (name, *classes), function in _functions.items():
        if name != operation or len(classes) != len(operators):
            continue
        if all(cls in order for cls, order in zip(classes, orders)):
            distance = sum(order.index(cls) for cls, order in zip(classes, orders))
            if best is None or distance < best[0]:
                best = (distance, function)
    with name_scope(_SCOPES[operation]):
        return best[1](*operators)
