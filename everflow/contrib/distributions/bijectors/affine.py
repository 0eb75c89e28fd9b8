"""Bijectors of vectors by a matrix: `y = scale @ x + shift`."""

from __future__ import annotations

from everflow.contrib.distributions.bijectors.bijector import Bijector
from everflow.contrib.distributions.bijectors.event_matrices import EventMatrices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.linalg import operators as linear_operators


class AffineLinearOperator(Bijector):
    """`y = scale @ x + shift` with a LinearOperator as scale."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_linear_operator"):
        self._setup(shift, lambda dtype: scale, [shift], validate_args, name)

    def _setup(self, shift, make_scale, values, validate_args, name):
        with self._init_scope(name, values):
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
            self._events = None
            scale = make_scale(None if shift is None else shift.dtype)
            if scale is not None:
                if not isinstance(scale, linear_operators.LinearOperator):
                    raise TypeError(f"scale must be a tf.linalg.LinearOperator, not {scale!r}")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
            if scale is not None and scale.batch_shape.ndims is not None:
                self._events = EventMatrices(scale.batch_shape.ndims)
        self._shift, self._scale = shift, scale
        known = shift if shift is not None else scale
        settings = {"is_constant_jacobian": True, "validate_args": validate_args, "name": name}
        settings["dtype"] = None if known is None else known.dtype.base_dtype
        parents = [shift] if shift is not None else []
        Bijector.__init__(self, forward_min_event_ndims=1, graph_parents=parents, **settings)

    shift = property(lambda self: self._shift, doc="What is added.")
    scale = property(lambda self: self._scale, doc="The matrix, as a LinearOperator.")

    def _forward(self, x):
        y = x if self.scale is None else self._acted(x, self._nonsingular("matmul"), self._nonsingular("matvec"))
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else self._acted(x, self.scale.solve, self.scale.solvevec)

    def _acted(self, x, on_matrix, on_vector):
        """The operator on vectors: on all samples at once, where it is known which axes are those of samples."""
        if self._events is None or not self._events.fits(x):
            return on_vector(x)
        matrices, sample_shape = self._events.matrices_of(x)
        return self._events.samples_of(on_matrix(matrices), sample_shape)

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return convert_to_tensor(0.0, dtype=x.dtype.base_dtype)
        return self._nonsingular("log_abs_determinant")()

    def _nonsingular(self, method):
        """A method of the scale, which is checked before where arguments are."""

        def checked(*args):
            with control_dependencies([self.scale.assert_non_singular()] if self.validate_args else []):
                return getattr(self.scale, method)(*args)

        return checked


class Affine(AffineLinearOperator):
    """`y = scale @ x + shift`; the scale is a sum: of the identity, a diagonal, a triangle, and of low rank.

    >>> Affine(shift=[1.0, 2.0], scale_diag=[3.0, 4.0]).forward([1.0, 1.0])  # [4.0, 6.0]
    """

    def __init__(
        self,
        shift=None,
        scale_identity_multiplier=None,
        scale_diag=None,
        scale_tril=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        name="affine",
    ):
        others = scale_diag, scale_tril, scale_perturb_factor
        self._multiplier = None

        def make_scale(dtype):
            if all(part is None for part in others):
                if scale_identity_multiplier is not None:
                    self._multiplier = _nonzero_multiplier(scale_identity_multiplier, validate_args)
                else:
                    self._multiplier = convert_to_tensor(1.0, dtype=dtype)
                self._events = EventMatrices(self._multiplier.shape.ndims)
                return None
            perturbed = scale_perturb_diag, scale_perturb_factor
            return scale_operator(scale_identity_multiplier, scale_diag, scale_tril, *perturbed, validate_args)

        values = [shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag, scale_perturb_factor]
        self._setup(shift, make_scale, values, validate_args, name)

    def _forward(self, x):
        if self._multiplier is None:
            return super()._forward(x)
        y = x * self._multiplier
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        if self._multiplier is None:
            return super()._inverse(y)
        return (y if self.shift is None else y - self.shift) / self._multiplier

    def _forward_log_det_jacobian(self, x):
        if self._multiplier is None:
            return self.scale.log_abs_determinant()
        size = math.cast(array.shape(x)[-1], x.dtype.base_dtype)
        return math.log(math.abs(self._multiplier)) * size


def _nonzero_multiplier(multiplier, validate_args):
    multiplier = convert_to_tensor(multiplier, name="identity_multiplier")
    if not validate_args:
        return multiplier
    zero = array.zeros([], multiplier.dtype)
    data = ["A multiple of the identity has to be of something else than zero."]
    return with_dependencies([check.assert_none_equal(multiplier, zero, data)], multiplier)


def scale_operator(
    identity_multiplier=None, diag=None, tril=None, perturb_diag=None, perturb_factor=None, validate_args=False
):
    """A LinearOperator of the parts that are given."""
    given = {
        "identity_multiplier": identity_multiplier,
        "diag": diag,
        "tril": tril,
        "perturb_diag": perturb_diag,
        "perturb_factor": perturb_factor,
    }
    parts = {name: None if part is None else convert_to_tensor(part, name=name) for name, part in given.items()}
    multiplier, diag, tril = (parts[name] for name in ("identity_multiplier", "diag", "tril"))
    factor = parts["perturb_factor"]
    if tril is not None:
        base = _triangle(tril, diag, multiplier, validate_args)
    else:
        with name_scope("make_diag_scale", values=[multiplier, diag]):
            if diag is not None:
                base = _diagonal(diag, multiplier, validate_args)
            else:
                base = _multiple(multiplier, factor, validate_args)
    if factor is None:
        return base
    return linear_operators.LinearOperatorLowRankUpdate(
        base,
        u=factor,
        diag_update=parts["perturb_diag"],
        is_diag_update_positive=perturb_diag is None,
        is_non_singular=True,
        is_self_adjoint=True if tril is None else None,
        is_square=True,
    )


def nonzero(x, diagonal, message, validate_args):
    """The tensor itself, once its diagonal is known to have no zero."""
    if not validate_args:
        return x
    diagonal = x if diagonal is None else diagonal(x)
    return with_dependencies([check.assert_none_equal(diagonal, array.zeros([], x.dtype), message=message)], x)


def _triangle(tril, diag, multiplier, validate_args):
    tril = array.matrix_band_part(tril, -1, 0)
    diagonal = array.matrix_diag_part(tril)
    if diag is not None:
        diagonal += diag
    if multiplier is not None:
        diagonal += multiplier[..., None]
    tril = nonzero(
        array.matrix_set_diag(tril, diagonal),
        array.matrix_diag_part,
        "The diagonal of a triangular scale has a zero.",
        validate_args,
    )
    facts = {"is_non_singular": True, "is_self_adjoint": False, "is_positive_definite": False}
    return linear_operators.LinearOperatorLowerTriangular(tril, **facts)


def _diagonal(diag, multiplier, validate_args):
    if multiplier is not None:
        diag += multiplier[..., None]
    diag = nonzero(diag, None, "The diagonal of a scale has a zero.", validate_args)
    facts = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": False}
    return linear_operators.LinearOperatorDiag(diag, **facts)


def _multiple(multiplier, factor, validate_args):
    """The identity, or a multiple of it, with as many rows as what is added to it."""
    rows = factor.shape.size(-2)
    if multiplier is None:
        return linear_operators.LinearOperatorIdentity(num_rows=rows, dtype=factor.dtype)
    multiplier = nonzero(multiplier, None, "The multiplier of the identity is zero.", validate_args)
    facts = {"is_non_singular": True, "is_self_adjoint": True, "assert_proper_shapes": validate_args}
    return linear_operators.LinearOperatorScaledIdentity(rows, multiplier=multiplier, **facts)
