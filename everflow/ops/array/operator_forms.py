"""How functions of matrices come to take linear operators: where a function refuses its arguments, and one of them is
an operator, the form that `ops/linalg/operators` registered for its name answers.
"""

from __future__ import annotations

from collections.abc import Callable

from everflow.platform.signatures import standing_for

_forms: dict[str, Callable] = {}
_kinds: tuple[type, ...] = ()


def register_operator_forms(kind: type, forms: dict[str, Callable]) -> None:
    """What takes the place of functions, by name, where an object of a class is given."""
    global _kinds
    _kinds += (kind,)
    _forms.update(forms)


def takes_operators(function: Callable) -> Callable:
    """Leave a call that a function refuses to the form of its name, if there is an operator among the arguments.

    TensorFlow turns to it only then: the names and nodes that the attempt took in a graph stay.
    """

    @standing_for(function)
    def build(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            if not any(isinstance(value, _kinds) for value in (*args, *kwargs.values())):
                raise
        return _forms[function.__name__](*args, **kwargs)

    return build
