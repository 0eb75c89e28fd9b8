"""Bijectors that rearrange events, and those of matrices and simplexes."""

from __future__ import annotations

import numpy as np

from everflow.contrib.distributions.axes import padded_behind
from everflow.contrib.distributions.bijectors.bijector import Bijector, KeepsVolume
from everflow.contrib.distributions.bijectors.composed import Chain
from everflow.contrib.distributions.bijectors.elementwise import AffineScalar, Softplus
from everflow.contrib.distributions.matrices import fill_triangular, fill_triangular_inverse
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.nn import activations as nn


class Permute(KeepsVolume, Bijector):
    """The components of vectors in another order."""

    def __init__(self, permutation, validate_args=False, name=None):
        settings = {"is_constant_jacobian": True, "validate_args": validate_args, "name": name or "permute"}
        super().__init__(forward_min_event_ndims=1, **settings)
        with name_scope(self.name):
            permutation = convert_to_tensor(permutation, name="permutation")
        if not permutation.dtype.is_integer:
            raise TypeError(f"permutation.dtype ({permutation.dtype.name}) should be `int`-like.")
        known = constant_value(permutation)
        if known is not None and (known.ndim != 1 or sorted(known) != list(range(len(known)))):
            raise ValueError(f"A permutation has each of 0, 1, ... once; this one is {known}")
        self._permutation = permutation

    permutation = property(lambda self: self._permutation, doc="Where each component comes from.")

    def _forward(self, x):
        return array.gather(x, self.permutation, axis=-1)

    def _inverse(self, y):
        return array.gather(y, array.invert_permutation(self.permutation), axis=-1)


class Reshape(KeepsVolume, Bijector):
    """Events in another shape; one size may be -1."""

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        with self._init_scope(name or "reshape", [event_shape_out, event_shape_in]):
            self._out = convert_to_tensor(event_shape_out, name="event_shape_out", preferred_dtype=dtypes.int32)
            self._in = convert_to_tensor(event_shape_in, name="event_shape_in", preferred_dtype=dtypes.int32)
        known_in, known_out = constant_value(self._in), constant_value(self._out)
        if known_in is None or known_out is None:
            raise NotImplementedError("Reshape wants shapes that are known while the graph is drawn")
        self._known_in, self._known_out = list(known_in), list(known_out)
        for known in (self._known_in, self._known_out):
            if known.count(-1) > 1:
                raise ValueError(f"{known} must have at most one `-1`.")
        ndims = {"forward_min_event_ndims": len(known_in), "inverse_min_event_ndims": len(known_out)}
        super().__init__(**ndims, is_constant_jacobian=True, validate_args=validate_args, name=name or "reshape")

    def _forward(self, x):
        return self._reshaped(x, self._known_in, self._known_out)

    def _inverse(self, y):
        return self._reshaped(y, self._known_out, self._known_in)

    def _reshaped(self, value, old, new):
        batch = array.shape(value)[: array.rank(value) - len(old)]
        result = array.reshape(value, array.concat([batch, new], 0))
        result.set_shape(self._event_shape(value.shape, old, new))
        return result

    def _forward_event_shape(self, input_shape):
        return self._event_shape(input_shape, self._known_in, self._known_out)

    def _inverse_event_shape(self, output_shape):
        return self._event_shape(output_shape, self._known_out, self._known_in)

    def _forward_event_shape_tensor(self, input_shape):
        batch = input_shape[: -len(self._known_in)]
        return array.concat([batch, self._filled(input_shape, self._known_in, self._known_out)], 0)

    def _inverse_event_shape_tensor(self, output_shape):
        batch = output_shape[: -len(self._known_out)]
        return array.concat([batch, self._filled(output_shape, self._known_out, self._known_in)], 0)

    @staticmethod
    def _filled(shape, old, new):
        if -1 not in new:
            return convert_to_tensor(new, dtype=dtypes.int32)
        total = math.reduce_prod(shape[-len(old) :])
        rest = int(np.prod([size for size in new if size != -1]))
        return array.stack([total // rest if size == -1 else int(size) for size in new])

    @staticmethod
    def _event_shape(shape, old, new):
        if shape.ndims is None:
            return TensorShape(None)
        event = shape[shape.ndims - len(old) :]
        sizes = [None if size == -1 else int(size) for size in new]
        if None in sizes and event.is_fully_defined():
            rest = int(np.prod([size for size in sizes if size is not None]))
            sizes = [int(np.prod(event.as_list())) // max(rest, 1) if size is None else size for size in sizes]
        return shape[: shape.ndims - len(old)].concatenate(sizes)


class FillTriangular(Bijector):
    """Vectors as triangular matrices."""

    def __init__(self, upper=False, validate_args=False, name="fill_triangular"):
        self._upper = upper
        settings = {"is_constant_jacobian": True, "validate_args": validate_args, "name": name}
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2, **settings)

    def _forward(self, x):
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y):
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x):
        return array.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y):
        return array.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape):
        n = input_shape.size(-1) if input_shape.ndims else None
        size = None if n is None else int(np.sqrt(0.25 + 2.0 * n) - 0.5)
        return input_shape[:-1].concatenate([size, size])

    def _inverse_event_shape(self, output_shape):
        n = output_shape.size(-1) if output_shape.ndims else None
        return output_shape[:-2].concatenate([None if n is None else n * (n + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape):
        size = math.cast(math.sqrt(0.25 + math.cast(2 * input_shape[-1], dtypes.float32)) - 0.5, dtypes.int32)
        return array.concat([input_shape[:-1], [size, size]], 0)

    def _inverse_event_shape_tensor(self, output_shape):
        n = output_shape[-1]
        return array.concat([output_shape[:-2], [n * (n + 1) // 2]], 0)


class SoftmaxCentered(Bijector):
    """Vectors as probabilities of one class more, whose logit is 0."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape):
        return input_shape[:-1].concatenate([None if input_shape.size(-1) is None else input_shape.size(-1) + 1])

    def _forward_event_shape_tensor(self, input_shape):
        return array.concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape(self, output_shape):
        return output_shape[:-1].concatenate([None if output_shape.size(-1) is None else output_shape.size(-1) - 1])

    def _inverse_event_shape_tensor(self, output_shape):
        return array.concat([output_shape[:-1], output_shape[-1:] - 1], 0)

    def _forward(self, x):
        return nn.softmax(padded_behind(x, 1))

    def _inverse(self, y):
        logs = math.log(y)
        log_normalization = (-logs[..., -1])[..., None]
        return logs[..., :-1] + log_normalization

    def _inverse_log_det_jacobian(self, y):
        return -math.reduce_sum(math.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x):
        # The softplus is the logarithm of the sum with the 0 that is put behind x.
        log_normalization = nn.softplus(math.reduce_logsumexp(x, axis=-1, keepdims=True))
        total = -log_normalization + math.reduce_sum(x - log_normalization, axis=-1, keepdims=True)
        return array.squeeze(total, axis=-1)


class Ordered(Bijector):
    """Increasing vectors as any vectors: the first component, and the logarithms of the steps."""

    def __init__(self, validate_args=False, name="ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _checked(self, x):
        if not self.validate_args:
            return x
        steps = x[..., 1:] - x[..., :-1]
        return with_dependencies([check.assert_positive(steps, message="The components must increase.")], x)

    def _forward(self, x):
        x = self._checked(x)
        return array.concat([x[..., 0, None], math.log(x[..., 1:] - x[..., :-1])], -1)

    def _inverse(self, y):
        return math.cumsum(array.concat([y[..., 0, None], math.exp(y[..., 1:])], -1), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return math.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x):
        x = self._checked(x)
        return -math.reduce_sum(math.log(x[..., 1:] - x[..., :-1]), axis=-1)


class CholeskyOuterProduct(Bijector):
    """Lower triangular matrices times their transpose."""

    def __init__(self, validate_args=False, name="cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        lower = array.matrix_band_part(x, -1, 0)
        return math.matmul(lower, lower, adjoint_b=True)

    def _inverse(self, y):
        return linalg.cholesky(y)

    def _forward_log_det_jacobian(self, x):
        diag = array.matrix_diag_part(x)
        n, alone = diag.shape.size(-1), x.shape.ndims == 2
        if alone:
            diag = diag[None, :]
        exponents = math.cast(math.linspace(float(n), 1.0, n), x.dtype)
        weighted = array.squeeze(math.matmul(math.log(diag), exponents[..., None]), axis=-1)
        found = n * np.log(2.0) + weighted
        return array.squeeze(found, axis=0) if alone else found


class MatrixInverseTriL(Bijector):
    """The inverses of lower triangular matrices."""

    def __init__(self, validate_args=False, name="matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        shape = array.shape(x)
        unit = linalg.eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype)
        return linalg.matrix_triangular_solve(x, unit)

    def _inverse(self, y):
        return self._forward(y)

    def _forward_log_det_jacobian(self, x):
        # What TensorFlow has; a triangular matrix alone would make it -(size + 1).
        size = math.cast(array.shape(x)[-1], x.dtype)
        return -2.0 * size * math.reduce_sum(math.log(math.abs(array.matrix_diag_part(x))), axis=-1)


class TransformDiagonal(Bijector):
    """Another bijector, of the diagonals of matrices only."""

    def __init__(self, diag_bijector, validate_args=False, name="transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        return array.matrix_set_diag(x, self._diag_bijector.forward(array.matrix_diag_part(x)))

    def _inverse(self, y):
        return array.matrix_set_diag(y, self._diag_bijector.inverse(array.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x):
        return self._diag_bijector.forward_log_det_jacobian(array.matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y):
        return self._diag_bijector.inverse_log_det_jacobian(array.matrix_diag_part(y), event_ndims=1)


class ScaleTriL(Chain):
    """Any vectors as lower triangular matrices with a positive diagonal."""

    def __init__(self, diag_bijector=None, diag_shift=1e-5, validate_args=False, name="scale_tril"):
        diagonal = Softplus(validate_args=validate_args) if diag_bijector is None else diag_bijector
        if diag_shift is not None:
            diagonal = Chain([AffineScalar(shift=diag_shift), diagonal])
        parts = [TransformDiagonal(diag_bijector=diagonal), FillTriangular()]
        super().__init__(parts, validate_args=validate_args, name=name)
