"""tf.contrib.periodic_resample: entries along one dimension become neighbours along the others (sub-pixel upscaling)."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient

__all__ = ["periodic_resample"]


def periodic_resample(values, shape, name=None):
    """`values` in another shape of the same rank, in which one size is None and the others are at least as large."""
    return raw.PeriodicResample(values=values, shape=shape, name=name)


@gradient("PeriodicResample")
def _periodic_resample_grad(op, grad):
    return raw.PeriodicResampleOpGrad(grad=grad, original_shape=op.inputs[0].shape, desired_shape=op.attrs["shape"])
