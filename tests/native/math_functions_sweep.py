"""Every single precision argument there is: `python -m tests.native.math_functions_sweep [NAME...]` goes through all 2^32
bit patterns of the functions of one argument and prints how far off the worst result is, in units in the last place.
Exits with 1 where that is more than it may be.

The truth is the same function in double precision, which `test_math_functions` holds against many digits; a loop in
machine code compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from llvmlite import ir

from everflow.native.formulas import DOUBLE, FLOAT, Scalar
from everflow.native.math_functions import FUNCTIONS
from tests.native import references
from tests.native.vector_loops import compile_loop

CHUNK = 1 << 20


def error_of(name: str) -> Callable[[ir.IRBuilder, ir.Value], ir.Value]:
    """Units that the single precision result is off, of one argument."""

    def lower(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        single, double = (
            Scalar(builder, FUNCTIONS[name](builder, Scalar(builder, x).to(type).value)) for type in (FLOAT, DOUBLE)
        )
        same = (single == double.to(FLOAT)) | ((single != single) & (double != double))
        exponent = (double.bits() >> 52) & 0x7FF
        exponent = (exponent < 1023 - 126).where(1023 - 126, exponent)
        unit = ((exponent - 23) << 52).from_bits()
        error = (abs(single.to(DOUBLE) - double) / unit).to(FLOAT)
        error = (error == error).where(error, np.inf)
        return same.where(0.0, error).value

    return lower


def sweep(name: str) -> tuple[float, float]:
    """The greatest error, and where."""
    error = compile_loop(error_of(name), FLOAT, 1)
    worst, where = 0.0, 0.0
    out = np.empty(CHUNK, np.float32)
    patterns = np.arange(CHUNK, dtype=np.uint32)
    for start in range(0, 1 << 32, CHUNK):
        x = (patterns + np.uint32(start)).view(np.float32)
        error(x, out=out)
        if out.max() > worst:
            worst, where = float(out.max()), float(x[out.argmax()])
    return worst, where


def main(names: list[str]) -> int:
    failed = 0
    for name in names or [n for n in references.ONE_ARGUMENT if n not in references.SINGLE_ONLY]:
        worst, where = sweep(name)
        print(f"{name:9s} {worst:.4f} at {where!r}", flush=True)
        failed |= worst > references.MOST.get(name, 2.0)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
