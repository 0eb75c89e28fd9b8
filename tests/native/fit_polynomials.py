"""Finds the coefficients in `everflow/native/polynomials.py`: for each function of the table below the polynomial whose
greatest weighted error is least, by Remez' exchange in high precision. `python -m tests.native.fit_polynomials [NAME...]`
prints the tables, with the error that each leaves in bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp

HEAD = '''"""Coefficients of minimax polynomials, by the bits of the type and from the constant on. Written by
`python -m tests.native.fit_polynomials`, which also tells what each of them approximates.
"""
'''
Function = Callable[[mp.mpf], mp.mpf]


@dataclass(frozen=True)
class Fit:
    """A polynomial for `function` between two bounds. An error counts as much as `weight` says there."""

    function: Function
    low: float
    high: float | dict[int, float]  # where it matters, by the bits of the type that is to use it
    degree: dict[int, int]  # likewise
    weight: Function = lambda x: mp.mpf(1)


@mp.workdps(60)
def remez(fit: Fit, bits: int) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients from the constant on, and the greatest weighted error."""
    low, high = mp.mpf(fit.low), mp.mpf(fit.high[bits] if isinstance(fit.high, dict) else fit.high)
    count = fit.degree[bits] + 2
    middle, half = (low + high) / 2, (high - low) / 2
    grid = [middle - half * mp.cos(mp.pi * i / (24 * count)) for i in range(24 * count + 1)]
    values = [(x, fit.function(x), fit.weight(x)) for x in grid if fit.weight(x) != 0]
    at = [values[(len(values) - 1) * i // (count - 1)] for i in range(count)]
    for _ in range(40):
        # The polynomial that errs by the same amount at each point, above and below in turn.
        system = mp.matrix(count, count)
        right = mp.matrix(count, 1)
        for row, (x, value, weight) in enumerate(at):
            y = (x - middle) / half
            for column in range(count - 1):
                system[row, column] = y**column
            system[row, count - 1] = (-1) ** row / weight
            right[row] = value
        solution = mp.lu_solve(system, right)
        shifted, level = list(solution[: count - 1]), abs(solution[count - 1])

        def error(point: tuple, shifted: list = shifted) -> mp.mpf:
            x, value, weight = point
            return (value - mp.polyval(shifted[::-1], (x - middle) / half)) * weight

        errors = [error(point) for point in values]
        worst = max(abs(e) for e in errors)
        if worst < level * mp.mpf("1.02"):
            break
        # One extreme from each run of errors of the same sign.
        peaks: list[int] = []
        for i, e in enumerate(errors):
            if peaks and (e > 0) == (errors[peaks[-1]] > 0):
                if abs(e) > abs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > count:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < count:
            break
        at = [values[i] for i in peaks]
    return unshifted(shifted, middle, half), worst


def unshifted(terms: list[mp.mpf], middle: mp.mpf, half: mp.mpf) -> list[mp.mpf]:
    """The coefficients in x of a polynomial in (x - middle) / half."""
    result = [mp.mpf(0)]
    for term in reversed(terms):
        times_x = [mp.mpf(0), *(c / half for c in result)]
        result = [a - b * middle / half for a, b in zip(times_x, [*result, 0], strict=True)]
        result[0] += term
    return result[: len(terms)]


def over(function: Function) -> Function:
    """What is left of an odd or even function as a function of z = x^2; for zero, where it cannot be evaluated, by a z
    that is near enough.
    """
    return lambda z: function(mp.sqrt(max(z, mp.mpf(10) ** -30)))


def scaled_erfc(t: mp.mpf) -> mp.mpf:
    """log((x + 1/2) e^(x^2) erfc(x)) where t = (x - 2) / (x + 2)."""
    x = 2 * (1 + t) / (1 - t)
    return mp.log((x + 0.5) * mp.exp(x * x) * mp.erfc(x))


def erfinv_ratio(w: mp.mpf) -> mp.mpf:
    """y / x where x = erf(y) and w = -log(1 - x^2), by Halley's iteration."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    y = mp.sqrt(w) if w > 1 else x
    for _ in range(9):
        over = mp.erf(y) - x if w < 0.1 else mp.exp(-w) / (1 + x) - mp.erfc(y)
        step = over * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
        y -= step / (1 + y * step)
    return y / x


FITS: dict[str, Fit] = {
    # The error of e^x - 1 in proportion to x.
    "EXP": Fit(lambda x: (mp.expm1(x) - x) / x**2 if x else mp.mpf(0.5), -0.3476, 0.3476, {32: 6, 64: 10}, weight=abs),
    # Of z = x^2, where the function is x + x^3 P(z) and the error in proportion to x.
    "LOG": Fit(over(lambda x: (2 * mp.atanh(x) / x - 2) / x**2), 0, 0.0296, {32: 4, 64: 6}, weight=lambda z: z),
    # Of z = x^2 again: 2 atanh(x) behind 2 x + 2/3 x^3.
    "LOG_TAIL": Fit(
        over(lambda x: ((2 * mp.atanh(x) / x - 2) / x**2 - mp.mpf(2) / 3) / x**2),
        0,
        0.0296,
        {64: 6},
        weight=lambda z: z**2,
    ),
    "SINH": Fit(over(lambda x: (mp.sinh(x) / x - 1) / x**2), 0, 1, {32: 3, 64: 6}, weight=lambda z: z),
    "ATAN": Fit(over(lambda x: (mp.atan(x) / x - 1) / x**2), 0, 0.36, {32: 6, 64: 15}, weight=lambda z: z),
    "ASIN": Fit(over(lambda x: (mp.asin(x) / x - 1) / x**2), 0, 0.25, {32: 5, 64: 12}, weight=lambda z: z),
    "SIN": Fit(over(lambda x: (mp.sin(x) / x - 1) / x**2), 0, 0.62, {32: 3, 64: 6}, weight=lambda z: z),
    # Of z = x^2, where the function is 1 + z P(z).
    "COS": Fit(over(lambda x: (mp.cos(x) - 1) / x**2), 0, 0.62, {32: 3, 64: 6}, weight=lambda z: z),
    # Of z = x^2, where the function is x + x P(z).
    "ERF": Fit(over(lambda x: mp.erf(x) / x - 1), 0, 1, {32: 6, 64: 12}),
    # An error counts as much as erfc itself, which is to be taken from one.
    "LOG_ERFC": Fit(lambda x: mp.log(mp.erfc(x)), 1, {32: 4, 64: 6}, {32: 6, 64: 18}, weight=mp.erfc),
    "ERFC": Fit(scaled_erfc, -0.6, {32: 0.671, 64: 0.865}, {32: 11, 64: 24}),
    # Of w - 5/2 and sqrt(w) - 3; in double precision a first guess.
    "ERFINV_NEAR": Fit(
        lambda u: erfinv_ratio(u + 2.5), -2.5, 2.5, {32: 10, 64: 8}, weight=lambda u: 1 / erfinv_ratio(u + 2.5)
    ),
    "ERFINV_FAR": Fit(
        lambda s: erfinv_ratio((s + 3) ** 2),
        -0.764,
        {32: 1.05, 64: 3.05},
        {32: 10, 64: 9},
        weight=lambda s: 1 / erfinv_ratio((s + 3) ** 2),
    ),
}


def main(names: list[str]) -> None:
    print(HEAD)
    for name in names or FITS:
        print(f"{name} = {{")
        for bits in FITS[name].degree:
            terms, error = remez(FITS[name], bits)
            print(f"    {bits}: (  # error 2^-{float(-mp.log(error, 2)):.1f}")
            for term in terms:
                print(f"        {mp.nstr(term, 12 if bits == 32 else 17, min_fixed=0, max_fixed=0)},")
            print("    ),")
        print("}")


if __name__ == "__main__":
    main(sys.argv[1:])
