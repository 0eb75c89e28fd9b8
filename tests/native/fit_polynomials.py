"""Finds the coefficients in `everflow/native/polynomials.py`: for each function of the table below the polynomial whose
greatest weighted error is least, by Remez' exchange in high precision. `python -m tests.native.fit_polynomials [NAME...]`
prints the tables, with the error that each leaves in bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp

Function = Callable[[mp.mpf], mp.mpf]


@dataclass(frozen=True)
class Fit:
    """A polynomial for `function` between two bounds. An error counts as much as `weight` says there."""

    function: Function
    low: float
    high: float
    degree: int
    weight: Function = lambda x: mp.mpf(1)


def remez(fit: Fit, degree: int) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients from the constant on, and the greatest weighted error."""
    low, high, count = mp.mpf(fit.low), mp.mpf(fit.high), degree + 2
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


FITS: dict[str, Fit] = {
    "EXP": Fit(lambda x: (mp.expm1(x) - x) / x**2 if x else mp.mpf(0.5), -0.3476, 0.3476, 10, weight=lambda x: abs(x)),
    "LOG": Fit(
        lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z if z else mp.mpf(2) / 3,
        0,
        0.0296,
        6,
        weight=lambda z: z,
    ),
}


def main(names: list[str]) -> None:
    mp.mp.dps = 60
    print('"""."""\n')
    for name in names or FITS:
        terms, error = remez(FITS[name], FITS[name].degree)
        left = f"{float(-mp.log(error, 2)):.1f}" if error else "all"
        print(f"{name} = (  # error 2^-{left}")
        for term in terms:
            print(f"    {mp.nstr(term, 17, min_fixed=0, max_fixed=0)},")
        print(")")


if __name__ == "__main__":
    main(sys.argv[1:])
