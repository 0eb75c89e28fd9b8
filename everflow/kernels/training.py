"""The update rules of the optimizers: one in-place function each, on the variable's and its slots' buffers.

Every rule serves four op types: `ApplyX` on refs, `ResourceApplyX` on resource variables, and the sparse form of both,
which applies the rule to the rows that the gradient names.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework.errors import InternalError, InvalidArgumentError
from everflow.kernels.math.float_forms import square_root
from everflow.kernels.math.scaled import add_scaled, add_scaled_
from everflow.kernels.registry import specialize, updating
from everflow.kernels.state import Ref, ResourceVariable, shape_text, unique_rounds

if TYPE_CHECKING:
    from everflow.kernels.context import Node
    from everflow.kernels.tensors import Value

# ATen's fused updates read and write memory once; their bias correction is a power of the step, which vanishes here
# because TensorFlow hands over the powers it has kept itself.
_FUSED_DTYPES = (torch.float32, torch.float64)
_NO_BIAS_CORRECTION = torch.tensor(1e9)


def _gradient_descent(var: torch.Tensor, alpha: float, delta: torch.Tensor) -> None:
    add_scaled_(var, delta, -alpha)


def _towards_(slot: torch.Tensor, value: torch.Tensor, rate: float) -> None:
    """slot += (value - slot) * rate"""
    add_scaled_(slot, value - slot, rate)


def _momentum(
    var: torch.Tensor, accum: torch.Tensor, lr: float, grad: torch.Tensor, momentum: float, *, use_nesterov: bool
) -> None:
    add_scaled(grad, accum, momentum, out=accum)
    if use_nesterov:
        var.sub_(add_scaled(grad * lr, accum * momentum, lr))
    else:
        add_scaled_(var, accum, -lr)


def _keras_momentum(
    var: torch.Tensor, accum: torch.Tensor, lr: float, grad: torch.Tensor, momentum: float, *, use_nesterov: bool
) -> None:
    add_scaled_(accum.mul_(momentum), grad, -lr)
    if use_nesterov:
        var.add_(accum * momentum - grad * lr)
    else:
        var.add_(accum)


def corrected_rate(lr: float, beta1_power: float, beta2_power: float = 0.0) -> float:
    """Adam's rate, without the bias of moments that began with zero; no number where the powers are none of betas."""
    try:
        return lr * math.sqrt(1 - beta2_power) / (1 - beta1_power)
    except (ValueError, ZeroDivisionError):
        with np.errstate(all="ignore"):
            return float(lr * np.sqrt(np.float64(1 - beta2_power)) / np.float64(1 - beta1_power))


def _adam(
    var: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    beta1_power: float,
    beta2_power: float,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    grad: torch.Tensor,
    *,
    use_nesterov: bool,
) -> None:
    alpha = corrected_rate(lr, beta1_power, beta2_power)
    if grad.dtype in _FUSED_DTYPES and not use_nesterov:
        torch._fused_adam_(
            [var],
            [grad.contiguous()],
            [m],
            [v],
            [],
            [_NO_BIAS_CORRECTION],
            lr=alpha,
            beta1=beta1,
            beta2=beta2,
            weight_decay=0.0,
            eps=epsilon,
            amsgrad=False,
            maximize=False,
        )
        return
    _towards_(m, grad, 1 - beta1)
    _towards_(v, grad * grad, 1 - beta2)
    step = m * beta1 + grad * (1 - beta1) if use_nesterov else m
    var.addcdiv_(step, square_root(v).add_(epsilon), value=-alpha)


def _amsgrad(
    var: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    vhat: torch.Tensor,
    beta1_power: float,
    beta2_power: float,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    grad: torch.Tensor,
) -> None:
    alpha = corrected_rate(lr, beta1_power, beta2_power)
    _towards_(m, grad, 1 - beta1)
    _towards_(v, grad * grad, 1 - beta2)
    torch.maximum(vhat, v, out=vhat)
    var.addcdiv_(m, square_root(vhat).add_(epsilon), value=-alpha)


def _adamax(
    var: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    beta1_power: float,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    grad: torch.Tensor,
) -> None:
    _towards_(m, grad, 1 - beta1)
    torch.maximum(v.mul_(beta2), grad.abs(), out=v)
    var.addcdiv_(m, v + epsilon, value=-corrected_rate(lr, beta1_power))


def _adagrad(var: torch.Tensor, accum: torch.Tensor, lr: float, grad: torch.Tensor, *, update_slots: bool) -> None:
    if update_slots:
        accum.add_(grad * grad)
    var.sub_((grad * lr).mul_(torch.rsqrt(accum)))


def _adagrad_v2(
    var: torch.Tensor, accum: torch.Tensor, lr: float, epsilon: float, grad: torch.Tensor, *, update_slots: bool
) -> None:
    if update_slots:
        accum.add_(grad * grad)
    var.addcdiv_(grad, square_root(accum).add_(epsilon), value=-lr)


def _adagrad_da(
    var: torch.Tensor,
    gradient_accumulator: torch.Tensor,
    gradient_squared_accumulator: torch.Tensor,
    grad: torch.Tensor,
    lr: float,
    l1: float,
    l2: float,
    global_step: int,
) -> None:
    gradient_accumulator.add_(grad)
    gradient_squared_accumulator.add_(grad * grad)
    denominator = square_root(gradient_squared_accumulator).add_(l2 * global_step * lr)
    total = gradient_accumulator
    if l1 > 0:
        total = total.sign() * (total.abs() - l1 * global_step).clamp_(min=0)
    torch.div(total * -lr, denominator, out=var)


def _adadelta(
    var: torch.Tensor,
    accum: torch.Tensor,
    accum_update: torch.Tensor,
    lr: float,
    rho: float,
    epsilon: float,
    grad: torch.Tensor,
) -> None:
    add_scaled_(accum.mul_(rho), grad * grad, 1 - rho)
    update = square_root(accum_update + epsilon).mul_(torch.rsqrt(accum + epsilon)).mul_(grad)
    add_scaled_(var, update, -lr)
    add_scaled_(accum_update.mul_(rho), update * update, 1 - rho)


def _rmsprop(
    var: torch.Tensor,
    ms: torch.Tensor,
    mom: torch.Tensor,
    lr: float,
    rho: float,
    momentum: float,
    epsilon: float,
    grad: torch.Tensor,
) -> None:
    _towards_(ms, grad * grad, 1 - rho)
    mom.mul_(momentum).addcdiv_(grad, square_root(ms + epsilon), value=lr)
    var.sub_(mom)


def _centered_rmsprop(
    var: torch.Tensor,
    mg: torch.Tensor,
    ms: torch.Tensor,
    mom: torch.Tensor,
    lr: float,
    rho: float,
    momentum: float,
    epsilon: float,
    grad: torch.Tensor,
) -> None:
    _towards_(ms, grad * grad, 1 - rho)
    _towards_(mg, grad, 1 - rho)
    mom.mul_(momentum).addcdiv_(grad, square_root((ms - mg * mg).add_(epsilon)), value=lr)
    var.sub_(mom)


# TensorFlow rounds in another order where it updates rows.


def _row_momentum(
    var: torch.Tensor, accum: torch.Tensor, lr: float, grad: torch.Tensor, momentum: float, *, use_nesterov: bool
) -> None:
    if not use_nesterov:
        _momentum(var, accum, lr, grad, momentum, use_nesterov=False)
        return
    add_scaled(grad, accum, momentum, out=accum)
    var.sub_(add_scaled(grad * lr, accum, momentum * lr))


def _average_(slot: torch.Tensor, value: torch.Tensor, kept: float) -> None:
    """slot = slot * kept + value * (1 - kept)"""
    torch.add(slot * kept, value * (1 - kept), out=slot)


def _row_rmsprop(
    var: torch.Tensor,
    ms: torch.Tensor,
    mom: torch.Tensor,
    lr: float,
    rho: float,
    momentum: float,
    epsilon: float,
    grad: torch.Tensor,
) -> None:
    _average_(ms, grad * grad, rho)
    mom.mul_(momentum).addcdiv_(grad, square_root(ms + epsilon), value=lr)
    var.sub_(mom)


def _row_centered_rmsprop(
    var: torch.Tensor,
    mg: torch.Tensor,
    ms: torch.Tensor,
    mom: torch.Tensor,
    lr: float,
    rho: float,
    momentum: float,
    epsilon: float,
    grad: torch.Tensor,
) -> None:
    _average_(ms, grad * grad, rho)
    _average_(mg, grad, rho)
    mom.mul_(momentum).addcdiv_(grad, square_root((ms - mg * mg).add_(epsilon)), value=lr)
    var.sub_(mom)


def _ftrl_step(
    var: torch.Tensor,
    accum: torch.Tensor,
    linear: torch.Tensor,
    grad: torch.Tensor,
    shrunk: torch.Tensor,
    lr: float,
    l1: float,
    l2: float,
    lr_power: float,
) -> None:
    if not lr > 0:
        raise InvalidArgumentError(None, None, f"lr is not a positive scalar: {shape_text(())}")
    new_accum = accum + grad * grad
    if lr_power == -0.5:
        new_power, power = square_root(new_accum), square_root(accum)
    else:
        new_power, power = new_accum.pow(-lr_power), accum.pow(-lr_power)
    linear.add_(shrunk - (new_power - power).div_(lr).mul_(var))
    quadratic = new_power.div_(lr).add_(2 * l2)
    clipped = (linear.sign().mul_(l1).sub_(linear) if l1 else linear.neg()).div_(quadratic)
    torch.where(linear.abs() > l1, clipped, clipped.new_zeros(()), out=var)
    accum.copy_(new_accum)


def _ftrl(
    var: torch.Tensor,
    accum: torch.Tensor,
    linear: torch.Tensor,
    grad: torch.Tensor,
    lr: float,
    l1: float,
    l2: float,
    lr_power: float,
) -> None:
    _ftrl_step(var, accum, linear, grad, grad, lr, l1, l2, lr_power)


def _ftrl_v2(
    var: torch.Tensor,
    accum: torch.Tensor,
    linear: torch.Tensor,
    grad: torch.Tensor,
    lr: float,
    l1: float,
    l2: float,
    l2_shrinkage: float,
    lr_power: float,
) -> None:
    _ftrl_step(var, accum, linear, grad, grad + var * (2 * l2_shrinkage), lr, l1, l2, lr_power)


def _shrink(prox: torch.Tensor, threshold: torch.Tensor | float) -> torch.Tensor:
    """Soft thresholding, the proximal operator of the L1 norm."""
    return prox.sign().mul_((prox.abs() - threshold).clamp_(min=0))


def _proximal_gradient_descent(var: torch.Tensor, alpha: float, l1: float, l2: float, delta: torch.Tensor) -> None:
    prox = add_scaled(var, delta, -alpha)
    if l1 > 0:
        prox = _shrink(prox, alpha * l1)
    torch.div(prox, 1 + l2 * alpha, out=var)


def _proximal_adagrad(
    var: torch.Tensor, accum: torch.Tensor, lr: float, l1: float, l2: float, grad: torch.Tensor
) -> None:
    accum.add_(grad * grad)
    rate = torch.rsqrt(accum).mul_(lr)
    prox = var - grad * rate
    if l1 > 0:
        prox = _shrink(prox, rate * l1)
    torch.div(prox, (rate * l2).add_(1), out=var)


def _add_sign(
    var: torch.Tensor, m: torch.Tensor, lr: float, alpha: float, sign_decay: float, beta: float, grad: torch.Tensor
) -> None:
    add_scaled_(m.mul_(beta), grad, 1 - beta)
    agree = grad.sign().mul_(m.sign())
    add_scaled_(var, agree.mul_(sign_decay).add_(alpha).mul_(grad), -lr)


def _power_sign(
    var: torch.Tensor, m: torch.Tensor, lr: float, logbase: float, sign_decay: float, beta: float, grad: torch.Tensor
) -> None:
    add_scaled_(m.mul_(beta), grad, 1 - beta)
    agree = grad.sign().mul_(m.sign())
    add_scaled_(var, agree.mul_(logbase * sign_decay).exp_().mul_(grad), -lr)


# Rules that read and write memory once by themselves.
_ONE_PASS = (_gradient_descent, _momentum, _adam)
# The others pass over their buffers several times: in blocks of so many values, all but the first pass finds them in
# the cache.
_BLOCK = 1 << 16


def _apply(
    rule: Callable[..., None], buffers: list[torch.Tensor], rest: list[Any], grad_at: int, attributes: dict[str, bool]
) -> None:
    """`rule` on whole buffers; where they are large, block by block. (Rules are elementwise.)"""
    grad = rest[grad_at]
    if grad.numel() < 2 * _BLOCK or rule in _ONE_PASS or not all(buffer.is_contiguous() for buffer in buffers):
        rule(*buffers, *rest, **attributes)
        return
    for *parts, grad_part in zip(
        *(b.view(-1).split(_BLOCK) for b in buffers), grad.reshape(-1).split(_BLOCK), strict=True
    ):
        rest[grad_at] = grad_part
        rule(*parts, *rest, **attributes)


def _row_rule(rule: Callable[..., None], slots: int) -> Callable[..., None]:
    """`rule` applied to the rows named by `indices`; a row that comes twice is updated twice, in order."""

    def update(*arguments: Any, indices: torch.Tensor, grad_at: int, **attributes: bool) -> None:
        buffers, rest = arguments[:slots], list(arguments[slots:])
        grad = rest[grad_at]
        for chosen in unique_rounds(indices):
            at = indices if chosen is None else indices[chosen]
            rows = [b.index_select(0, at) for b in buffers]
            rest[grad_at] = grad if chosen is None else grad[chosen]
            rule(*rows, *rest, **attributes)
            for buffer, changed in zip(buffers, rows, strict=True):
                buffer.index_copy_(0, at, changed)

    return update


# Op name: the rule, how many buffers it writes, its other inputs, and the attribute it wants.
_RULES: dict[str, tuple[Callable[..., None], int, str, str | None]] = {
    "GradientDescent": (_gradient_descent, 1, "alpha delta", None),
    "Momentum": (_momentum, 2, "lr grad momentum", "use_nesterov"),
    "KerasMomentum": (_keras_momentum, 2, "lr grad momentum", "use_nesterov"),
    "Adam": (_adam, 3, "beta1_power beta2_power lr beta1 beta2 epsilon grad", "use_nesterov"),
    "AdamWithAmsgrad": (_amsgrad, 4, "beta1_power beta2_power lr beta1 beta2 epsilon grad", None),
    "AdaMax": (_adamax, 3, "beta1_power lr beta1 beta2 epsilon grad", None),
    "Adagrad": (_adagrad, 2, "lr grad", "update_slots"),
    "AdagradV2": (_adagrad_v2, 2, "lr epsilon grad", "update_slots"),
    "AdagradDA": (_adagrad_da, 3, "grad lr l1 l2 global_step", None),
    "Adadelta": (_adadelta, 3, "lr rho epsilon grad", None),
    "RMSProp": (_rmsprop, 3, "lr rho momentum epsilon grad", None),
    "CenteredRMSProp": (_centered_rmsprop, 4, "lr rho momentum epsilon grad", None),
    "Ftrl": (_ftrl, 3, "grad lr l1 l2 lr_power", None),
    "FtrlV2": (_ftrl_v2, 3, "grad lr l1 l2 l2_shrinkage lr_power", None),
    "ProximalGradientDescent": (_proximal_gradient_descent, 1, "alpha l1 l2 delta", None),
    "ProximalAdagrad": (_proximal_adagrad, 2, "lr l1 l2 grad", None),
    "AddSign": (_add_sign, 2, "lr alpha sign_decay beta grad", None),
    "PowerSign": (_power_sign, 2, "lr logbase sign_decay beta grad", None),
}
_ROW_RULES: dict[str, Callable[..., None]] = {
    "Momentum": _row_momentum,
    "RMSProp": _row_rmsprop,
    "CenteredRMSProp": _row_centered_rmsprop,
}
_RESOURCE_ONLY = {"KerasMomentum", "AdamWithAmsgrad"}
DENSE_ONLY = {"GradientDescent", "Adam", "AdamWithAmsgrad", "AdaMax", "AddSign", "PowerSign"}


def _buffers(variables: tuple[Ref | ResourceVariable, ...]) -> list[torch.Tensor]:
    """The buffers of a variable and its slots, which must all have been initialised with one shape."""
    buffers = []
    for variable in variables:
        if isinstance(variable, Ref):
            buffers.append(variable.read())
        elif variable.value is None:
            raise InternalError(None, None, "Invalid variable reference.")
        else:
            buffers.append(variable.value)
    for other in buffers[1:]:
        if other.shape != buffers[0].shape:
            raise InvalidArgumentError(
                None,
                None,
                f"var and its slots do not have the same shape {shape_text(buffers[0].shape)} {shape_text(other.shape)}",
            )
    return buffers


def _scalar(name: str, value: torch.Tensor) -> float:
    if value.ndim:
        raise InvalidArgumentError(None, None, f"{name} is not a scalar: {shape_text(value.shape)}")
    return value.item()


def _wrong_shape(name: str, var: torch.Tensor, grad: torch.Tensor) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, f"var and {name} do not have the same shape{shape_text(var.shape)} {shape_text(grad.shape)}"
    )


def _dense(rule: Callable[..., None], slots: int, names: list[str], attribute: str | None) -> Callable:
    gradient_name = "delta" if "delta" in names else "grad"
    grad_at = names.index(gradient_name)

    def run(*inputs: Value, **attributes: bool) -> Ref | None:
        variables = inputs[:slots]
        buffers = _buffers(variables)
        rest: list[Any] = [
            value if i == grad_at else _scalar(names[i], value) for i, value in enumerate(inputs[slots:])
        ]
        grad = rest[grad_at]
        if grad.shape != buffers[0].shape:
            raise _wrong_shape(gradient_name, buffers[0], grad)
        _apply(rule, buffers, rest, grad_at, attributes)
        return variables[0] if isinstance(variables[0], Ref) else None

    return _with_attribute(run, attribute)


def _with_attribute(run: Callable[..., Ref | None], attribute: str | None) -> Callable:
    """Give `run` the keyword-only parameter by which the registry knows the attribute it wants."""
    if attribute == "use_nesterov":
        return lambda *inputs, use_nesterov: run(*inputs, use_nesterov=use_nesterov)
    if attribute == "update_slots":
        return lambda *inputs, update_slots: run(*inputs, update_slots=update_slots)
    return lambda *inputs: run(*inputs)


def _sparse(rule: Callable[..., None], slots: int, names: list[str], attribute: str | None) -> Callable:
    """The sparse form: `delta` is called `grad` there, and `indices` follow it."""
    names = [n.replace("delta", "grad") for n in names]
    grad_at = names.index("grad")
    by_rows = _row_rule(rule, slots)

    def run(*inputs: Value, **attributes: bool) -> Ref | None:
        variables = inputs[:slots]
        rest = list(inputs[slots:])
        indices = rest.pop(grad_at + 1)
        buffers = _buffers(variables)
        var, grad = buffers[0], rest[grad_at]
        _check_sparse(var, grad, indices)
        rest = [value if i == grad_at else _scalar(names[i], value) for i, value in enumerate(rest)]
        by_rows(*buffers, *rest, indices=indices.long(), grad_at=grad_at, **attributes)
        return variables[0] if isinstance(variables[0], Ref) else None

    return _with_attribute(run, attribute)


def _check_sparse(var: torch.Tensor, grad: torch.Tensor, indices: torch.Tensor) -> None:
    if not var.ndim:
        raise InvalidArgumentError(None, None, "var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise InvalidArgumentError(None, None, "indices must be one-dimensional")
    if not grad.ndim or grad.shape[0] != indices.shape[0]:
        raise InvalidArgumentError(None, None, "grad must be the same size as indices in the first dimension.")
    if grad.shape[1:] != var.shape[1:]:
        axis = next((i for i in range(1, var.ndim) if i >= grad.ndim or grad.shape[i] != var.shape[i]), var.ndim)
        raise InvalidArgumentError(None, None, f"var and grad must match in dimension {axis}")
    wrong = (indices < 0) | (indices >= var.shape[0])
    if bool(wrong.any()):
        at = int(wrong.nonzero()[0])
        raise InvalidArgumentError(None, None, f"Index {int(indices[at])} at offset {at} in indices is out of range")


def _with_known_scalars(
    rule: Callable[..., None], slots: int, names: list[str], attribute: str | None, general: Callable
) -> Callable[[Node], Callable | None]:
    """For `specialize`: the update of a node some of whose scalars are constants, which are then read once."""
    gradient_name = "delta" if "delta" in names else "grad"
    grad_at = slots + names.index(gradient_name)

    def choose(node: Node) -> Callable[..., Ref | ResourceVariable] | None:
        scalars: list[Any] = [None] * len(names)
        for i in range(len(names)):
            value = None if slots + i == grad_at else node.constant_input(slots + i)
            scalars[i] = None if value is None or value.ndim else value.item()
        if all(value is None for value in scalars):
            return None
        unknown = [i for i, value in enumerate(scalars) if value is None and slots + i != grad_at]
        attributes = {} if attribute is None else {attribute: node.attribute(attribute)}

        def run(*inputs: Value) -> Ref | ResourceVariable:
            grad = inputs[grad_at]
            shape = grad.shape
            buffers = [variable.value for variable in inputs[:slots]]
            for buffer in buffers:
                if buffer is None or buffer.shape != shape:
                    return general(*inputs, **attributes)
            rest = scalars.copy()
            rest[grad_at - slots] = grad
            for i in unknown:
                rest[i] = inputs[slots + i].item()
            _apply(rule, buffers, rest, grad_at - slots, attributes)
            return inputs[0]

        return run

    return choose


def _register() -> None:
    for name, (rule, slots, inputs, attribute) in _RULES.items():
        names = inputs.split()
        prefixes = ["Resource"] if name in _RESOURCE_ONLY else ["", "Resource"]
        dense_types = [f"{p}Apply{name}" for p in prefixes]
        written = functools.partial(updating, writes=tuple(range(slots)))
        dense = written(*dense_types)(_dense(rule, slots, names, attribute))
        specialize(*dense_types)(_with_known_scalars(rule, slots, names, attribute, dense))
        if name not in DENSE_ONLY:
            written(*[f"{p}SparseApply{name}" for p in prefixes])(
                _sparse(_ROW_RULES.get(name, rule), slots, names, attribute)
            )


_register()
