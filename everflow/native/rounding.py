"""Rounding to integers, by the instructions of the machine."""

from __future__ import annotations

from everflow.native.formulas import Scalar


def floor(x: Scalar) -> Scalar:
    return x.call("llvm.floor")


def ceil(x: Scalar) -> Scalar:
    return x.call("llvm.ceil")


def rint(x: Scalar) -> Scalar:
    return x.call("llvm.rint")


def round(x: Scalar) -> Scalar:
    """Half to even. As in TensorFlow nothing but -0 becomes -0."""
    return (x == 0.0).where(x, rint(x) + 0.0)
