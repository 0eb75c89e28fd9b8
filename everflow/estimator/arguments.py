"""Names of the arguments of functions that users write: they are called with those that they name."""

from __future__ import annotations

from everflow.platform.decorators import fn_args


def check_model_fn(model_fn, params):
    """ValueError for a model function that can't be called by an estimator with these params."""
    allowed = {"features", "labels", "mode", "params", "self", "config"}
    names = set(fn_args(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to Estimator."
        )
    unknown = sorted(names - allowed)
    if unknown:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {unknown}; it may have {sorted(allowed - {'self'})}."
        )


def named(function, **values):
    """The part of `values` that a function has arguments for."""
    names = fn_args(function)
    return {key: value for key, value in values.items() if key in names}
