"""The update rules of the optimizers as expressions: what becomes of a variable and its slots, entry by entry.

They round as TensorFlow does, after each operation. (The kernels in `training.py` go through memory at each, so some of
them take fewer steps than TensorFlow, which rounds less often.)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.native.lowering import Lowered, lowers
from everflow.native.values import Value, apply, const, select


def _root(x: Value) -> Value:
    return apply("sqrt", x)


def _towards(slot: Value, value: Value, rate: Value) -> Value:
    return slot + (value - slot) * rate


def _gradient_descent(var: Value, alpha: Value, delta: Value) -> Lowered:
    return var - delta * alpha


def _momentum(var: Value, accum: Value, lr: Value, grad: Value, momentum: Value, *, use_nesterov: bool) -> Lowered:
    accum = accum * momentum + grad
    return var - (grad * lr + accum * momentum * lr if use_nesterov else accum * lr), accum


def _keras_momentum(
    var: Value, accum: Value, lr: Value, grad: Value, momentum: Value, *, use_nesterov: bool
) -> Lowered:
    accum = accum * momentum - grad * lr
    return var + (accum * momentum - grad * lr if use_nesterov else accum), accum


def _corrected(lr: Value, beta1_power: Value, beta2_power: Value) -> Value:
    return lr * _root(1.0 - beta2_power) / (1.0 - beta1_power)


def _adam(
    var: Value,
    m: Value,
    v: Value,
    beta1_power: Value,
    beta2_power: Value,
    lr: Value,
    beta1: Value,
    beta2: Value,
    epsilon: Value,
    grad: Value,
    *,
    use_nesterov: bool = False,
) -> Lowered:
    m = _towards(m, grad, 1.0 - beta1)
    v = _towards(v, grad * grad, 1.0 - beta2)
    step = grad * (1.0 - beta1) + beta1 * m if use_nesterov else m
    return var - step * _corrected(lr, beta1_power, beta2_power) / (_root(v) + epsilon), m, v


def _amsgrad(
    var: Value,
    m: Value,
    v: Value,
    vhat: Value,
    beta1_power: Value,
    beta2_power: Value,
    lr: Value,
    beta1: Value,
    beta2: Value,
    epsilon: Value,
    grad: Value,
) -> Lowered:
    m = _towards(m, grad, 1.0 - beta1)
    v = _towards(v, grad * grad, 1.0 - beta2)
    vhat = apply("maximum", vhat, v)
    return var - m * _corrected(lr, beta1_power, beta2_power) / (_root(vhat) + epsilon), m, v, vhat


def _adamax(
    var: Value,
    m: Value,
    v: Value,
    beta1_power: Value,
    lr: Value,
    beta1: Value,
    beta2: Value,
    epsilon: Value,
    grad: Value,
) -> Lowered:
    m = _towards(m, grad, 1.0 - beta1)
    v = apply("maximum", v * beta2, apply("abs", grad))
    return var - lr / (1.0 - beta1_power) * (m / (v + epsilon)), m, v


def _adagrad(var: Value, accum: Value, lr: Value, grad: Value, *, update_slots: bool) -> Lowered:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr * apply("rsqrt", accum), accum


def _adagrad_v2(var: Value, accum: Value, lr: Value, epsilon: Value, grad: Value, *, update_slots: bool) -> Lowered:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / (_root(accum) + epsilon), accum


def _adadelta(
    var: Value, accum: Value, accum_update: Value, lr: Value, rho: Value, epsilon: Value, grad: Value
) -> Lowered:
    accum = accum * rho + grad * grad * (1.0 - rho)
    update = _root(accum_update + epsilon) * apply("rsqrt", accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1.0 - rho)


def _rmsprop(
    var: Value, ms: Value, mom: Value, lr: Value, rho: Value, momentum: Value, epsilon: Value, grad: Value
) -> Lowered:
    ms = _towards(ms, grad * grad, 1.0 - rho)
    mom = mom * momentum + grad * lr / _root(ms + epsilon)
    return var - mom, ms, mom


def _centered_rmsprop(
    var: Value,
    mg: Value,
    ms: Value,
    mom: Value,
    lr: Value,
    rho: Value,
    momentum: Value,
    epsilon: Value,
    grad: Value,
) -> Lowered:
    ms = _towards(ms, grad * grad, 1.0 - rho)
    mg = _towards(mg, grad, 1.0 - rho)
    mom = mom * momentum + grad * lr / _root(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def _sign(x: Value) -> Value:
    return (x > 0).cast(x.dtype) - (x < 0).cast(x.dtype)


def _ftrl_step(
    var: Value, accum: Value, linear: Value, grad: Value, shrunk: Value, rates: tuple[np.ndarray, ...]
) -> Lowered:
    lr, l1, l2, lr_power = (const(rate, var.dtype) for rate in rates)
    if not rates[0] > 0 or rates[3] != -0.5:
        return None  # an error of the kernel's, or powers
    new_accum = accum + grad * grad
    new_power = _root(new_accum)
    linear = linear + (shrunk - (new_power - _root(accum)) / lr * var)
    quadratic = new_power / lr + l2 * 2.0
    clipped = ((_sign(linear) * l1 - linear) if rates[1] else -linear) / quadratic
    return select(apply("abs", linear) > l1, clipped, 0.0), new_accum, linear


def _ftrl(var: Value, accum: Value, linear: Value, grad: Value, *rates: np.ndarray) -> Lowered:
    return _ftrl_step(var, accum, linear, grad, grad, rates)


def _ftrl_v2(
    var: Value,
    accum: Value,
    linear: Value,
    grad: Value,
    lr: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    l2_shrinkage: np.ndarray,
    lr_power: np.ndarray,
) -> Lowered:
    shrunk = grad + var * (const(l2_shrinkage, var.dtype) * 2.0)
    return _ftrl_step(var, accum, linear, grad, shrunk, (lr, l1, l2, lr_power))


def _shrink(prox: Value, threshold: Value) -> Value:
    """Soft thresholding, the proximal operator of the L1 norm."""
    return _sign(prox) * apply("maximum", apply("abs", prox) - threshold, 0.0)


def _proximal_gradient_descent(var: Value, alpha: Value, l1: Value, l2: Value, delta: Value) -> Lowered:
    prox = var - delta * alpha
    return select((l1 > 0).expand(prox.shape), _shrink(prox, alpha * l1), prox) / (1.0 + l2 * alpha)


def _proximal_adagrad(var: Value, accum: Value, lr: Value, l1: Value, l2: Value, grad: Value) -> Lowered:
    accum = accum + grad * grad
    rate = apply("rsqrt", accum) * lr
    prox = var - grad * rate
    return select((l1 > 0).expand(prox.shape), _shrink(prox, rate * l1), prox) / (1.0 + rate * l2), accum


def _add_sign(var: Value, m: Value, lr: Value, alpha: Value, decay: Value, beta: Value, grad: Value) -> Lowered:
    m = m * beta + grad * (1.0 - beta)
    agree = _sign(grad) * _sign(m)
    return var - (alpha + decay * agree) * lr * grad, m


def _power_sign(var: Value, m: Value, lr: Value, logbase: Value, decay: Value, beta: Value, grad: Value) -> Lowered:
    m = m * beta + grad * (1.0 - beta)
    agree = _sign(grad) * _sign(m)
    return var - apply("exp", logbase * decay * agree) * lr * grad, m


# TensorFlow rounds in another order where it updates rows.


def _row_momentum(var: Value, accum: Value, lr: Value, grad: Value, momentum: Value, *, use_nesterov: bool) -> Lowered:
    accum = accum * momentum + grad
    return var - (grad * lr + accum * (momentum * lr) if use_nesterov else accum * lr), accum


def _average(slot: Value, value: Value, kept: Value) -> Value:
    return slot * kept + value * (1.0 - kept)


def _row_rmsprop(
    var: Value, ms: Value, mom: Value, lr: Value, rho: Value, momentum: Value, epsilon: Value, grad: Value
) -> Lowered:
    ms = _average(ms, grad * grad, rho)
    mom = mom * momentum + grad * lr / _root(ms + epsilon)
    return var - mom, ms, mom


def _row_centered_rmsprop(
    var: Value,
    mg: Value,
    ms: Value,
    mom: Value,
    lr: Value,
    rho: Value,
    momentum: Value,
    epsilon: Value,
    grad: Value,
) -> Lowered:
    ms = _average(ms, grad * grad, rho)
    mg = _average(mg, grad, rho)
    mom = mom * momentum + grad * lr / _root(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


ROW_RULES: dict[str, Callable[..., Lowered]] = {
    "Momentum": _row_momentum,
    "RMSProp": _row_rmsprop,
    "CenteredRMSProp": _row_centered_rmsprop,
}
# Optimizer: its rule, how many variables it changes, and the inputs that must be constants.
RULES: dict[str, tuple[Callable[..., Lowered], int, tuple[int, ...]]] = {
    "GradientDescent": (_gradient_descent, 1, ()),
    "Momentum": (_momentum, 2, ()),
    "KerasMomentum": (_keras_momentum, 2, ()),
    "Adam": (_adam, 3, ()),
    "AdamWithAmsgrad": (_amsgrad, 4, ()),
    "AdaMax": (_adamax, 3, ()),
    "Adagrad": (_adagrad, 2, ()),
    "AdagradV2": (_adagrad_v2, 2, ()),
    "Adadelta": (_adadelta, 3, ()),
    "RMSProp": (_rmsprop, 3, ()),
    "CenteredRMSProp": (_centered_rmsprop, 4, ()),
    "Ftrl": (_ftrl, 3, (4, 5, 6, 7)),
    "FtrlV2": (_ftrl_v2, 3, (4, 5, 6, 7, 8)),
    "ProximalGradientDescent": (_proximal_gradient_descent, 1, ()),
    "ProximalAdagrad": (_proximal_adagrad, 2, ()),
    "AddSign": (_add_sign, 2, ()),
    "PowerSign": (_power_sign, 2, ()),
}
RESOURCE_ONLY = ("KerasMomentum", "AdamWithAmsgrad")


def _checked(rule: Callable[..., Lowered], count: int) -> Callable[..., Lowered]:
    """A rule for a gradient and slots of the variable's shape, and rates that are scalars."""
    names = list(inspect.signature(rule).parameters)
    gradient = next(i for i, name in enumerate(names) if name in ("grad", "delta"))

    @functools.wraps(rule)
    def lower(*inputs: Any, **attributes: bool) -> Lowered:
        var = inputs[0]
        shapes = [var.shape if i < count or i == gradient else () for i in range(len(inputs))]
        if var.dtype.kind != "f" or [tuple(value.shape) for value in inputs] != shapes:
            return None
        return rule(*inputs, **attributes)

    return lower


def _register() -> None:
    for name, (rule, count, known) in RULES.items():
        prefixes = ["Resource"] if name in RESOURCE_ONLY else ["", "Resource"]
        lowers(*[f"{p}Apply{name}" for p in prefixes], known=known, updates=True)(_checked(rule, count))


_register()


# --- what plans make of several -----------------------------------------------------------------


def _jointly(rule: Callable[..., Lowered], count: int, rates: int) -> Callable[..., Lowered]:
    """One rule for many variables: the inputs are all variables, then all of each slot, rates, and gradients."""

    def lower(*inputs: Value, N: int) -> Lowered:
        slots = [inputs[i * N : (i + 1) * N] for i in range(count)]
        shared, gradients = inputs[count * N : count * N + rates], inputs[count * N + rates :]
        made = []
        for *held, gradient in zip(*slots, gradients, strict=True):
            results = _checked(rule, count)(*held, *shared, gradient)
            if results is None:
                return None
            made.append(results if isinstance(results, tuple) else (results,))
        return tuple(value for values in zip(*made, strict=True) for value in values)

    return lower


lowers("_ApplyAdams", updates=True)(_jointly(_adam, 3, 6))
lowers("_ApplyGradientDescents", updates=True)(_jointly(_gradient_descent, 1, 1))


@lowers("_ScaleRef", "_ScaleResource", updates=True)
def _scale(var: Value, rate: Value) -> Lowered:
    return var * rate if not rate.shape else None


@lowers("_StepRef", "_StepResource", updates=True)
def _step(var: Value, rate: Value, moment: Value, denominator: Value) -> Lowered:
    return var - rate * moment / denominator if var.shape == moment.shape == denominator.shape else None


@lowers("_MoveTowards", updates=True)
def _move_towards(var: Value, value: Value, rate: Value) -> Lowered:
    return var - (var - value) * rate if var.shape == value.shape else None
