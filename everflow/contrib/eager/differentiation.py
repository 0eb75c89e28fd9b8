"""Functions that differentiate Python functions: with respect to their arguments, or to the variables they read."""

from __future__ import annotations

import inspect

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array
from everflow.ops.gradients.tape import GradientTape


def implicit_value_and_gradients(f):
    """A function that gives what `f` does and a list of (gradient, variable) for the trainable variables it reads.

    >>> value, grads_and_vars = tfe.implicit_value_and_gradients(loss)(x)
    >>> optimizer.apply_gradients(grads_and_vars)
    """

    def differentiated(*args, **kwargs):
        with GradientTape() as tape:
            result = returned(f, args, kwargs)
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed by the function that is to be differentiated")
        return result, list(zip(tape.gradient(result, variables), variables, strict=True))

    return differentiated


def implicit_gradients(f):
    """A function that gives a list of (gradient, variable) for the trainable variables that `f` reads."""
    both = implicit_value_and_gradients(f)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def value_and_gradients_function(f, params=None):
    """A function that gives `f`'s result and gradients of its arguments (names or positions; by default all).

    A keyword argument `dy` is the gradient of the result, ones by default.

    >>> tfe.value_and_gradients_function(lambda x, y: x * y)(2.0, 3.0)  # 6.0, [3.0, 2.0]
    """

    def differentiated(*args, **kwargs):
        dy = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError(f"Pass arguments by position, not by keyword, to be differentiated: {sorted(kwargs)}")
        positions = argument_positions(f, params, args)
        args = list(args)
        with GradientTape() as tape:
            for position in set(positions):
                # A tensor of its own, so that the same one given twice is two arguments.
                args[position] = array.identity(convert_to_tensor(args[position]))
                tape.watch(args[position])
            result = returned(f, args, {})
        sources = [args[position] for position in positions]
        return result, tape.gradient(result, sources, output_gradients=dy)

    return differentiated


def gradients_function(f, params=None):
    """A function that gives the gradients of some of the arguments of `f` (names or positions; all by default).

    >>> tfe.gradients_function(lambda x: x * x * x)(2.0)[0].numpy()
    12.0
    """
    both = value_and_gradients_function(f, params)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def returned(f, args, kwargs):
    """What a function gives; ValueError where that is nothing."""
    result = f(*args, **kwargs)
    if result is None:
        name = getattr(f, "__name__", type(f).__name__)
        raise ValueError(f"{name} returned None, which has no gradients: it should return what is to be differentiated")
    return nest.map_structure(convert_to_tensor, result)


def argument_positions(f, params, args) -> list[int]:
    """The positions of the arguments that are to be differentiated by, given by names or positions; None: all."""
    parameters = inspect.signature(f).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if params is None:
        takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        return list(range(len(args) if takes_any or not names else len(names)))
    if len({isinstance(p, str) for p in params}) > 1:
        raise ValueError(f"params must be names or positions, not both: {params}")
    if not all(isinstance(p, (str, int)) for p in params):
        raise ValueError(f"params must be names or positions: {params}")
    return [names.index(p) if isinstance(p, str) else p for p in params]
