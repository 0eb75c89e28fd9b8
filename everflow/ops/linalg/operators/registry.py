"""How kinds of operators combine: a table of functions by operation and classes, the nearest base class winning."""

from __future__ import annotations

from everflow.framework.scopes import name_scope

_SCOPES = {"adjoint": "Adjoint", "cholesky": "Cholesky", "inverse": "Inverse", "matmul": "Matmul", "solve": "Solve"}
# Operation → {classes of its operators → function}.
FUNCTIONS: dict[str, dict[tuple[type, ...], callable]] = {operation: {} for operation in _SCOPES}


def register(operation, *classes):
    """Register the decorated function for an operation on these classes."""

    def decorate(function):
        if not callable(function):
            raise TypeError(f"{operation} of {classes} must be a function, not {function!r}")
        if classes in FUNCTIONS[operation]:
            raise ValueError(f"{operation} is registered already for {classes}")
        FUNCTIONS[operation][classes] = function
        return function

    return decorate


def apply(operation, *operators):
    """The result of an operation, by the function registered for the operators' nearest classes."""
    best = None
    orders = [type(operator).__mro__ for operator in operators]
    for classes, function in FUNCTIONS[operation].items():
        if all(cls in order for cls, order in zip(classes, orders, strict=True)):
            distance = sum(order.index(cls) for cls, order in zip(classes, orders, strict=True))
            if best is None or distance < best[0]:
                best = (distance, function)
    with name_scope(_SCOPES[operation]):
        return best[1](*operators)
