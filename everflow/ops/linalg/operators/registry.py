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
            raise TypeError(f"{operation}_fn must be callable, and {function!r} is not")
        if classes in FUNCTIONS[operation]:
            kinds = ", ".join(each.__name__ for each in classes)
            raise ValueError(
                f"{_SCOPES[operation]}({kinds}) has already been registered: {FUNCTIONS[operation][classes]}"
            )
        FUNCTIONS[operation][classes] = function
        return function

    return decorate


def registered(operation, *classes):
    """The function registered for the classes nearest to these, or None."""
    best = None
    orders = [cls.__mro__ for cls in classes]
    for bases, function in FUNCTIONS[operation].items():
        if all(base in order for base, order in zip(bases, orders, strict=True)):
            distance = sum(order.index(base) for base, order in zip(bases, orders, strict=True))
            if best is None or distance < best[0]:
                best = (distance, function)
    return best and best[1]


def apply(operation, *operators, name=None):
    """The result of an operation, by the function registered for the operators' nearest classes."""
    function = registered(operation, *map(type, operators))
    if function is None:
        kinds = ", ".join(type(each).__name__ for each in operators)
        raise ValueError(
            f"No {operation} registered for {kinds}: a function for it is registered by classes of operators."
        )
    with name_scope(name or _SCOPES[operation]):
        return function(*operators)
