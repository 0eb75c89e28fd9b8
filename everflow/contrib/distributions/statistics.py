"""Statistics of streams and sequences: moving means and variances in variables, and autocorrelation."""

from __future__ import annotations

import numpy as np

from everflow.contrib.distributions.axes import padded_behind, rotated, zero
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import colocate_with, control_dependencies, name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.variables import assign as state
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable, variable_scope


def _check_floating(name, dtype):
    if not dtype.is_floating:
        raise TypeError(f"{name} must be of floats, not of {dtype.name}")


def assign_moving_mean_variance(mean_var, variance_var, value, decay, name=None):
    """Move a mean and a variance, kept in two variables, towards a value; `(mean, variance)` after it.

    The variance takes both the old and the new mean into account, so the order of the two updates is fixed.
    """
    with variable_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        with colocate_with(variance_var), colocate_with(mean_var):
            dtype = mean_var.dtype.base_dtype
            _check_floating("mean_var", dtype)
            if dtype != variance_var.dtype.base_dtype:
                both = f"{dtype.name} and {variance_var.dtype.base_dtype.name}"
                raise TypeError(f"mean_var and variance_var must be of one type, not {both}")
            value = convert_to_tensor(value, dtype=dtype, name="value")
            decay = convert_to_tensor(decay, dtype=dtype, name="decay")
            delta = value - mean_var
            with control_dependencies([delta]):
                mean_var = state.assign_add(mean_var, (1.0 - decay) * delta)
                moved = (1.0 - decay) * (variance_var - decay * math.square(delta))
                variance_var = state.assign_sub(variance_var, moved)
            return mean_var, variance_var


def assign_log_moving_mean_exp(log_mean_exp_var, log_value, decay, name=None):
    """Move the logarithm of a mean, kept in a variable, towards that of a value, without leaving logarithms."""
    with variable_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        # In logarithms, relative to the old mean, which weighs log(decay); the new value weighs log(1 - decay).
        with colocate_with(log_mean_exp_var):
            dtype = log_mean_exp_var.dtype.base_dtype
            _check_floating("log_mean_exp_var", dtype)
            log_value = convert_to_tensor(log_value, dtype=dtype, name="log_value")
            decay = convert_to_tensor(decay, dtype=dtype, name="decay")
            delta = (log_value - log_mean_exp_var)[None, ...]
            parts = array.concat([math.log(decay) * array.ones_like(delta), delta + math.log1p(-decay)], axis=0)
            return state.assign_add(log_mean_exp_var, math.reduce_logsumexp(parts, axis=0))


def moving_mean_variance(value, decay, collections=None, name=None):
    """`(mean, variance)` that follow a value from run to run, kept in variables that this makes."""
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        dtype = value.dtype.base_dtype
        _check_floating("value", dtype)
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        given = {"shape": value.shape, "dtype": dtype, "trainable": False, "collections": collections}
        variance_var, mean_var = (
            get_variable(variable, initializer=zeros_initializer(), **given)
            for variable in ("moving_variance", "moving_mean")
        )
        return assign_moving_mean_variance(mean_var, variance_var, value, decay)


def auto_correlation(x, axis=-1, max_lags=None, center=True, normalize=True, name="auto_correlation"):
    """How much a sequence is like itself, later by 0, 1, 2, ... steps.

    >>> auto_correlation([1.0, 3.0, 2.0, 4.0, 5.0])  # [1.0, 0.125, 0.0, -0.5, -2.0]
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        # The sequence's axis goes last, and back in the end.
        rank = array.rank(x)
        known_rank = constant_value(rank)
        if known_rank is not None:
            shift = np.int32(known_rank) - 1 - (axis if axis >= 0 else known_rank + axis)
        else:
            place = axis if axis >= 0 else rank + axis
            shift = rank - 1 - place
        x = rotated(x, shift)
        if center:
            x -= math.reduce_mean(x, axis=-1, keepdims=True)
        # The correlation is the inverse transform of the power spectrum; zeros keep the end from meeting the beginning.
        shape = array.shape(x)
        known_shape = constant_value(shape)
        length = shape[-1] if known_shape is None else int(known_shape[-1])
        float64_length = math.cast(length, np.float64)
        whole = math.pow(np.float64(2.0), math.ceil(math.log(float64_length * 2) / np.log(2.0)))
        padded = padded_behind(x, math.cast(whole - float64_length, np.int32))
        spectrum = raw.FFT(padded if x.dtype.is_complex else math.complex(padded, zero(x.dtype, "imag")))
        product = math.cast(raw.IFFT(spectrum * math.conj(spectrum)), x.dtype)
        if max_lags is None:
            lags = length - 1
        else:
            max_lags = convert_to_tensor(max_lags, name="max_lags")
            known = constant_value(max_lags)
            both_known = isinstance(length, int) and known is not None
            lags = min(length - 1, int(known)) if both_known else math.minimum(length - 1, max_lags)
        found = product[..., : lags + 1]
        if x.shape.ndims is not None:
            found.set_shape(x.shape[:-1].concatenate([lags + 1 if isinstance(lags, int) else None]))
        # The farther apart, the fewer pairs there are.
        found /= math.cast(length, x.dtype) - math.range(0.0, math.cast(lags, x.dtype) + 1.0)
        if normalize:
            found /= found[..., :1]
        return rotated(found, -shift)
