"""Special functions: gamma, beta, zeta, error and Bessel functions, with TensorFlow's values at poles and out of range."""

from __future__ import annotations

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import SHARE
from everflow.kernels.math.dtypes import shape_text
from everflow.kernels.registry import by_shares, fresh, safe

for _name, _function in {
    "Erf": torch.erf,
    "Erfc": torch.erfc,
    "Lgamma": torch.lgamma,
    "Zeta": torch.special.zeta,
}.items():
    safe(_name)(_function)

by_shares("BesselI0e")(torch.special.i0e)
by_shares("BesselI1e")(torch.special.i1e)


@safe("Digamma")
def digamma(x: torch.Tensor) -> torch.Tensor:
    pole = (x <= 0) & (x == torch.floor(x))
    return torch.where(pole, float("inf"), torch.digamma(x))


@safe("Polygamma")
def polygamma(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """(-1)^(n+1) n! zeta(n+1, x) for whole n; digamma for n = 0; NaN for an order that isn't whole."""
    whole = (a == torch.floor(a)) & (a >= 0)
    order = torch.where(whole, a, 1.0)
    factor = torch.where(order % 2 == 0, -1.0, 1.0).to(a.dtype) * torch.exp(torch.lgamma(order + 1))
    value = torch.where(order == 0, digamma(x), factor * torch.special.zeta(order + 1, x))
    return torch.where(whole, value, float("nan"))


@by_shares("Igamma")
def igamma(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    value = torch.special.gammainc(a, x)
    value = torch.where(torch.isinf(a) | (a == 0), float("nan"), value)
    return torch.where((x == 0) & (a >= 0), 0.0, value)


@by_shares("Igammac")
def igammac(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    value = torch.where(torch.isinf(a) | (a <= 0), float("nan"), torch.special.gammaincc(a, x))
    return torch.where(torch.isinf(x) & (x > 0) & (a > 0), 0.0, value)


@by_shares("IgammaGradA")
def igamma_grad_a(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The derivative of igamma(a, x) by a, in float64.

    The power series P(a, x) = x^a e^-x sum_k x^k / gamma(a + k + 1) is differentiated term by term; far beyond
    the bulk of the distribution the derivative is that of its complement, for which the same series still converges.
    """
    a, x = torch.broadcast_tensors(a, x)
    wide_a, wide_x = a.to(torch.float64), x.to(torch.float64)
    valid = (wide_a > 0) & (wide_x > 0) & torch.isfinite(wide_a) & torch.isfinite(wide_x)
    at_end = ((wide_x == 0) & (wide_a >= 0)) | (torch.isposinf(wide_x) & torch.isfinite(wide_a) & (wide_a > 0))
    safe_a, safe_x = torch.where(valid, wide_a, 1.0), torch.where(valid, wide_x, 1.0)
    # Each term is positive and carries the factor log x - digamma(a + k + 1).
    log_x = torch.log(safe_x)
    log_term = safe_a * log_x - safe_x - torch.lgamma(safe_a + 1)
    slope = log_x - torch.digamma(safe_a + 1)
    total = torch.zeros_like(safe_a)
    peak = float(safe_x.max()) if safe_x.numel() else 0.0
    for k in range(int(peak + 12 * peak**0.5) + 60):
        total = total + torch.exp(log_term) * slope
        log_term = log_term + log_x - torch.log(safe_a + k + 1)
        slope = slope - 1 / (safe_a + k + 1)
    total = torch.where(valid, total, torch.where(at_end, 0.0, float("nan")))
    return total.to(a.dtype)


@fresh("Betainc", threads_matter_from=SHARE)
def betainc(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method) in float64."""
    shapes = [t.shape for t in (a, b, x) if t.dim()]
    if any(s != shapes[0] for s in shapes):
        first, second = ("a", "b") if a.dim() and b.dim() and a.shape != b.shape else ("a" if a.dim() else "b", "x")
        values = {"a": a, "b": b, "x": x}
        raise InvalidArgumentError(
            None,
            None,
            f"Shapes of {first} and {second} are inconsistent: {shape_text(values[first])} vs. {shape_text(values[second])}",
        )
    dtype = x.dtype
    a, b, x = (t.to(torch.float64) for t in torch.broadcast_tensors(a, b, x))
    # At the ends the value is that of x, whatever a and b are.
    at_end = ((x == 0) | (x == 1)) & ~(b <= 0) & ~(a <= 0)
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1) & ~at_end
    a, b, inside = torch.where(valid, a, 1.0), torch.where(valid, b, 1.0), torch.where(valid, x, 0.5)
    # The fraction converges fast below the mean; above it the complement is computed.
    swap = inside > (a + 1) / (a + b + 2)
    p, q, z = torch.where(swap, b, a), torch.where(swap, a, b), torch.where(swap, 1 - inside, inside)
    edge = z == 0
    z = torch.where(edge, 0.5, z)
    log_front = torch.lgamma(p + q) - torch.lgamma(p) - torch.lgamma(q) + p * torch.log(z) + q * torch.log1p(-z)
    # Of the smallest numbers even the product is too small to be divided.
    front = torch.where(p < 1e-200, torch.exp(log_front - torch.log(p)), torch.exp(log_front) / p)
    value = torch.where(edge, 0.0, front * _beta_fraction(p, q, z))
    value = torch.where(swap, 1 - value, value)
    return torch.where(at_end, x, torch.where(valid, value, float("nan"))).to(dtype)


def _beta_fraction(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    tiny = 1e-300
    c = torch.ones_like(x)
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / torch.where(d.abs() < tiny, tiny, d)
    fraction = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / torch.where(d.abs() < tiny, tiny, d)
            c = 1 + term / c
            c = torch.where(c.abs() < tiny, tiny, c)
            fraction = fraction * d * c
        if bool(((d * c - 1).abs() < 1e-15).all()):
            break
    return fraction
