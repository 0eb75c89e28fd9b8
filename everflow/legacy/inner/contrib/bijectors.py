"""What tf.contrib.distributions has inside of the modules of its bijectors."""

from __future__ import annotations

from everflow.contrib.distributions.bijectors.bijector import Bijector
from everflow.contrib.distributions.bijectors.elementwise import _positive
from everflow.contrib.distributions.bijectors.elementwise import _root as _sqrtx2p1
from everflow.contrib.distributions.bijectors.flows import _clip_keeping_gradient as _clip_by_value_preserve_grad
from everflow.contrib.distributions.bijectors.flows import _mask
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import math
from everflow.ops.checks import values as checks
from everflow.ops.control_flow import with_dependencies

__all__ = ["MASK_EXCLUSIVE", "MASK_INCLUSIVE", "Weibull", "_clip_by_value_preserve_grad", "_gen_mask", "_sqrtx2p1"]

MASK_INCLUSIVE = "inclusive"
MASK_EXCLUSIVE = "exclusive"


def _gen_mask(num_blocks, n_in, n_out, mask_type=MASK_EXCLUSIVE, dtype=dtypes.float32):
    """1 where an output may see an input: those of its block and before, or before only."""
    return _mask(num_blocks, n_in, n_out, mask_type == MASK_EXCLUSIVE).astype(dtypes.as_dtype(dtype).as_numpy_dtype)


class Weibull(Bijector):
    """`y = 1 - exp(-(x / scale)**concentration)`: maps Weibull draws to uniform ones."""

    def __init__(self, scale=1.0, concentration=1.0, validate_args=False, name="weibull"):
        with self._init_scope(name, [scale, concentration]):
            self._scale = convert_to_tensor(scale, name="scale")
            self._concentration = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                self._scale = _positive(self._scale, "scale")
                self._concentration = _positive(self._concentration, "concentration")
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    scale = property(lambda self: self._scale, doc="The scale.")
    concentration = property(lambda self: self._concentration, doc="The exponent.")

    def _forward(self, x):
        return -math.expm1(-((self._draws(x) / self.scale) ** self.concentration))

    def _inverse(self, y):
        return self.scale * (-math.log1p(-self._shares(y))) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y):
        y = self._shares(y)
        return (
            -math.log1p(-y)
            + (1 / self.concentration - 1) * math.log(-math.log1p(-y))
            + math.log(self.scale / self.concentration)
        )

    def _forward_log_det_jacobian(self, x):
        z = self._draws(x) / self.scale
        return (
            -(z**self.concentration)
            + (self.concentration - 1) * math.log(z)
            + math.log(self.concentration)
            - math.log(self.scale)
        )

    def _draws(self, x):
        if not self.validate_args:
            return x
        return with_dependencies([checks.assert_non_negative(x, message="There are no negative Weibull draws")], x)

    def _shares(self, y):
        if not self.validate_args:
            return y
        one = math.cast(1.0, self.concentration.dtype.base_dtype)
        within = [
            checks.assert_non_negative(y, message="A share of the draws is negative"),
            checks.assert_less_equal(y, one, message="A share of the draws is above 1"),
        ]
        return with_dependencies(within, y)
