"""What the functions of `everflow.native` should give, by numpy and scipy in double precision or by mpmath, and how far
off a result is.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np
from scipy import special

ONE_ARGUMENT = (
    "acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp expm1 floor lgamma log log1p rint round "
    "rsqrt sigmoid sin sinh softplus sqrt tan tanh"
).split()
SINGLE_ONLY = ("digamma", "lgamma")
ROUNDINGS = ("ceil", "floor", "rint", "round")
# Units in the last place that a result may be off, two of the others.
MOST = {**dict.fromkeys(ROUNDINGS, 0.0), "sqrt": 0.5}
_OTHER_NAMES = {n: n.replace("a", "arc", 1) for n in ("acos", "acosh", "asin", "asinh", "atan", "atanh")}

DOUBLE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    **{name: getattr(np, _OTHER_NAMES.get(name, name), None) for name in ONE_ARGUMENT},  # type: ignore[dict-item]
    **{name: getattr(special, name) for name in ("erf", "erfc", "erfinv")},
    "round": lambda x: np.where(x == 0, x, np.rint(x) + 0.0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: np.where(x > 0, 1.0, np.exp(-abs(x))) / (1 + np.exp(-abs(x))),
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-abs(x))),
}

EXACT: dict[str, Callable[..., mp.mpf]] = {
    **{name: getattr(mp, name, None) for name in ONE_ARGUMENT if name not in ROUNDINGS},  # type: ignore[dict-item]
    "atan2": mp.atan2,
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))),
    "log1p": lambda x: mp.log1p(x) if x >= -1 else mp.nan,
    "pow": mp.power,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
}


def exact(name: str, *arguments: np.ndarray) -> list[mp.mpf]:
    """In so many digits that the arguments of trigonometric functions can be reduced."""
    with mp.workdps(360 if name in ("sin", "cos", "tan") else 50):
        return [EXACT[name](*(mp.mpf(float(x)) for x in row)) for row in zip(*arguments, strict=True)]


def units_off(got: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Errors in units in the last place of `got`'s type; `true` has more digits. Of a value that overflows, infinity is
    right.
    """
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        right = (got == true.astype(got.dtype)) | (np.isnan(got) & np.isnan(true))
        unit = np.ldexp(1.0, np.maximum(np.frexp(true)[1] - 1, info.minexp) - info.nmant)
        error = abs(got.astype(true.dtype) - true) / unit
    return np.where(right, 0.0, np.where(np.isnan(error), np.inf, error))


def units_off_exact(got: np.ndarray, true: list[mp.mpf]) -> np.ndarray:
    """The same, of results that mpmath gave."""
    info = np.finfo(got.dtype)
    errors = []
    with mp.workdps(50):
        for value, wanted in zip(got.tolist(), true, strict=True):
            if isinstance(wanted, mp.mpc) or mp.isnan(wanted):
                errors.append(0.0 if np.isnan(value) else np.inf)
            elif abs(wanted) > float(info.max) or not np.isfinite(value):
                errors.append(
                    0.0
                    if value == float(wanted) or abs(wanted) > float(info.max) * (1 + 2e-16) and np.isinf(value)
                    else np.inf
                )
            else:
                exponent = max(mp.frexp(wanted)[1] - 1, info.minexp) if wanted else info.minexp
                errors.append(float(abs(mp.mpf(value) - wanted) / mp.ldexp(1, exponent - info.nmant)))
    return np.array(errors)
