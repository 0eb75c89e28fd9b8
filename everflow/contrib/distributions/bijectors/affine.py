"""Bijectors of vectors by a matrix: `y = scale @ x + shift`."""

from __future__ import annotations

from everflow.contrib.distributions.bijectors.bijector import Bijector
from everflow.contrib.distributions.bijectors.event_matrices import EventMatrices
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.linalg import operators as linear_operators


class AffineLinearOperator(Bijector):
    """`y = scale @ x + shift` with a LinearOperator as scale."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_linear_operator"):
        self._setup(shift, lambda: scale, [shift], validate_args, name)

    def _setup(self, shift, make_scale, values, validate_args, name):
        with self._init_scope(name, values):
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
            scale = make_scale()
            if scale is not None:
                if not isinstance(scale, linear_operators.LinearOperator):
                    raise TypeError(f"scale must be a tf.linalg.LinearOperator, not {scale!r}")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
            self._events = None
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
        y = x if self.scale is None else self._acted(x, self.scale.matmul, self.scale.matvec)
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
        return self.scale.log_abs_determinant()


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
        multiple_only = scale_diag is None and scale_tril is None and scale_perturb_factor is None
        self._multiplier = None

        def make_scale():
            if multiple_only:
                if scale_identity_multiplier is not None:
                    self._multiplier = convert_to_tensor(scale_identity_multiplier, name="identity_multiplier")
                    EventMatrices(0)  # TensorFlow's graphs have it
                return None
            perturbed = scale_perturb_diag, scale_perturb_factor
            return scale_operator(scale_identity_multiplier, scale_diag, scale_tril, *perturbed, validate_args)

        values = [shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag, scale_perturb_factor]
        self._setup(shift, make_scale, values, validate_args, name)

    def _forward(self, x):
        y = super()._forward(x) if self._multiplier is None else x * self._per_event(self._multiplier)
        return y + self.shift if self._multiplier is not None and self.shift is not None else y

    def _inverse(self, y):
        if self._multiplier is None:
            return super()._inverse(y)
        return (y if self.shift is None else y - self.shift) / self._per_event(self._multiplier)

    def _forward_log_det_jacobian(self, x):
        if self._multiplier is None:
            return super()._forward_log_det_jacobian(x)
        size = math.cast(array.shape(x)[-1], x.dtype.base_dtype)
        return math.log(math.abs(self._multiplier)) * size

    @staticmethod
    def _per_event(multiplier):
        """Multipliers of a batch with an axis for the entries of events."""
        return multiplier if multiplier.shape.ndims == 0 else multiplier[..., None]


def scale_operator(
    identity_multiplier=None,
    diag=None,
    tril=None,
    perturb_diag=None,
    perturb_factor=None,
    assert_positive=False,
    shape_hint=None,
):
    """A LinearOperator of the parts that are given."""

    def positive(x, message):
        return with_dependencies([check.assert_positive(x, message=message)], x) if assert_positive else x

    multiplier = identity_multiplier
    if multiplier is not None:
        multiplier = convert_to_tensor(multiplier, name="scale_identity_multiplier")
    diag = None if diag is None else convert_to_tensor(diag, name="diag")
    if tril is not None:
        tril = array.matrix_band_part(convert_to_tensor(tril, name="tril"), -1, 0)
        diagonal = array.matrix_diag_part(tril)
        if multiplier is not None:
            diagonal += multiplier[..., None]
        if diag is not None:
            diagonal += diag
        tril = array.matrix_set_diag(tril, positive(diagonal, "diagonal part must be positive"))
        facts = {"is_non_singular": True, "is_self_adjoint": False, "is_positive_definite": assert_positive}
        base = linear_operators.LinearOperatorLowerTriangular(tril, **facts)
    elif diag is not None:
        if multiplier is not None:
            diag += multiplier[..., None]
        diag = positive(diag, "diagonal part must be positive")
        facts = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": assert_positive}
        base = linear_operators.LinearOperatorDiag(diag, **facts)
    elif shape_hint is not None or perturb_factor is not None:
        rows = shape_hint
        if rows is None:
            rows = convert_to_tensor(perturb_factor, name="perturb_factor").shape.size(-2)
        if multiplier is None:
            base = linear_operators.LinearOperatorIdentity(num_rows=rows, dtype=convert_to_tensor(perturb_factor).dtype)
        else:
            checked = positive(multiplier, "identity multiplier must be positive")
            base = linear_operators.LinearOperatorScaledIdentity(rows, multiplier=checked, is_non_singular=True)
    else:
        raise ValueError("One of a diagonal, a triangle or a perturbation has to be given")
    if perturb_factor is None:
        return base
    return linear_operators.LinearOperatorLowRankUpdate(
        base,
        u=convert_to_tensor(perturb_factor, name="perturb_factor"),
        diag_update=None if perturb_diag is None else convert_to_tensor(perturb_diag, name="perturb_diag"),
        is_diag_update_positive=perturb_diag is None,
        is_non_singular=True,
        is_self_adjoint=True if tril is None else None,
        is_square=True,
    )
