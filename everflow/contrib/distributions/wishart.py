"""The Wishart distribution of random positive definite matrices, by its scale matrix or by the Cholesky factor of it."""

from __future__ import annotations

import math as pymath

import numpy as np

from everflow.distributions.checks import gen_new_seed
from everflow.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.array.indexing import where_v2
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_same_float_dtype
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg import operators as linear_operators
from everflow.ops.random import distributions as random
from everflow.platform.signatures import takes


class _WishartLinearOperator(Distribution):
    """Sums of `df` outer products of normal draws, whose scale is a lower triangular LinearOperator."""

    def __init__(self, df, scale_operator, parameters, name):
        self._cholesky_input_output_matrices = parameters["cholesky_input_output_matrices"]
        with name_scope(name) as name, name_scope("init", values=[df, scale_operator]):
            if not scale_operator.dtype.is_floating:
                raise TypeError(f"scale must be of floats, not of {scale_operator.dtype.name}")
            if not scale_operator.is_square:
                raise ValueError("scale_operator must be square.")
            self._scale_operator = scale_operator
            self._df = convert_to_tensor(df, dtype=scale_operator.dtype, name="df")
            assert_same_float_dtype((self._df, scale_operator))
            size = scale_operator.shape.with_rank_at_least(2).size(-1)
            if size is None:
                size = scale_operator.domain_dimension_tensor()
                self._dimension = math.cast(size, dtype=scale_operator.dtype, name="dimension")
            else:
                self._dimension = convert_to_tensor(size, dtype=scale_operator.dtype, name="dimension")
            self._df = self._large_enough(self._df, parameters["validate_args"])
        parents = [self._df, self._dimension, *scale_operator.graph_parents]
        self._begin(parameters, scale_operator.dtype, FULLY_REPARAMETERIZED, parents, name)

    def _large_enough(self, df, validate_args):
        """The degrees of freedom, which are no fewer than the matrices have rows: else they would be singular."""
        known, size = constant_value(df), constant_value(self._dimension)
        if known is not None and size is not None:
            if np.any(known < size):
                raise ValueError(f"df={known} cannot be less than dimension {size:g} of the scale: singular matrices")
            return df
        if not validate_args:
            return df
        message = (
            f"df, {df}, is less than the scale matrix has rows, {self._dimension}: "
            "a Wishart has as many degrees of freedom at least."
        )
        return with_dependencies([check.assert_less_equal(self._dimension, df, message=message)], df)

    df = property(lambda self: self._df, doc="Degrees of freedom.")
    dimension = property(lambda self: self._dimension, doc="How many rows the matrices have, in their type.")
    scale_operator = property(lambda self: self._scale_operator, doc="The scale's Cholesky factor, a LinearOperator.")
    cholesky_input_output_matrices = property(
        lambda self: self._cholesky_input_output_matrices,
        doc="Whether draws and values are Cholesky factors rather than the matrices.",
    )

    def scale(self):
        """The scale matrix, or its Cholesky factor if that is how matrices are given."""
        return self._scaled_by(None)

    def _scaled_by(self, factor):
        """The scale matrix times a number for each of the batch; the Cholesky factor by the root of it."""
        if self.cholesky_input_output_matrices:
            root = None if factor is None else math.sqrt(factor)
            matrix = self.scale_operator.to_dense()
            return matrix if root is None else root * matrix
        squared = self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)
        return squared if factor is None else factor * squared

    def _batch_shape_tensor(self):
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self):
        return self.scale_operator.batch_shape

    def _event_shape_tensor(self):
        size = self.scale_operator.domain_dimension_tensor()
        return array.stack([size, size])

    def _event_shape(self):
        size = self.scale_operator.domain_dimension
        return TensorShape([size, size])

    def _sample_n(self, n, seed=None):
        # Bartlett's way: a triangle of normal draws, and roots of chi-squared ones on its diagonal, is the Cholesky
        # factor of a draw with the identity as scale.
        batch_shape = self.batch_shape_tensor()
        event_shape = self.event_shape_tensor()
        ndims = array.shape(batch_shape)[0] + 3
        shape = array.concat([[n], batch_shape, event_shape], 0)
        x = random.random_normal(shape=shape, mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        df = self.df * array.ones(self.scale_operator.batch_shape_tensor(), dtype=self.df.dtype.base_dtype)
        alpha = self._multi_gamma_sequence(0.5 * df, self.dimension)
        g = random.random_gamma(shape=[n], alpha=alpha, beta=0.5, dtype=self.dtype, seed=gen_new_seed(seed, "wishart"))
        x = array.matrix_set_diag(array.matrix_band_part(x, -1, 0), math.sqrt(g))
        # All draws of one element of the batch side by side, as columns that one product with its scale takes.
        x = array.transpose(x, array.concat([math.range(1, ndims), [0]], 0))
        x = array.reshape(x, array.concat([batch_shape, [event_shape[0]], [-1]], 0))
        x = self.scale_operator.matmul(x)
        x = array.reshape(x, array.concat([batch_shape, event_shape, [n]], 0))
        x = array.transpose(x, array.concat([[ndims - 1], math.range(0, ndims - 1)], 0))
        return x if self.cholesky_input_output_matrices else math.matmul(x, x, adjoint_b=True)

    def _log_prob(self, x):
        root = x if self.cholesky_input_output_matrices else linalg.cholesky(x)
        batch_shape = self.batch_shape_tensor()
        event_shape = self.event_shape_tensor()
        ndims = array.rank(root)
        sample_ndims = ndims - array.shape(batch_shape)[0] - 2
        sample_shape = array.strided_slice(array.shape(root), [0], [sample_ndims])
        # As when drawing: all samples of one element of the batch as columns.
        y = array.transpose(root, array.concat([math.range(sample_ndims, ndims), math.range(0, sample_ndims)], 0))
        y = array.reshape(y, array.concat([batch_shape, [math.cast(self.dimension, dtype=dtypes.int32), -1]], 0))
        y = self.scale_operator.solve(y)
        y = array.reshape(y, array.concat([batch_shape, event_shape, sample_shape], 0))
        axes = [math.range(ndims - sample_ndims, ndims), math.range(0, ndims - sample_ndims)]
        y = array.transpose(y, array.concat(axes, 0))
        trace = math.reduce_sum(math.square(y), axis=[-2, -1])
        half_log_det = math.reduce_sum(math.log(array.matrix_diag_part(root)), axis=[-1])
        log_prob = (self.df - self.dimension - 1.0) * half_log_det - 0.5 * trace - self.log_normalization()
        if root.shape.ndims is not None and self.batch_shape.ndims is not None:
            drawn = root.shape.ndims - self.batch_shape.ndims - 2
            log_prob.set_shape(log_prob.shape[:drawn].concatenate(self.batch_shape))
        return log_prob

    def _entropy(self):
        half_dp1 = 0.5 * self.dimension + 0.5
        half_df = 0.5 * self.df
        return (
            self.dimension * (half_df + half_dp1 * pymath.log(2.0))
            + 2 * half_dp1 * self.scale_operator.log_abs_determinant()
            + self._multi_lgamma(half_df, self.dimension)
            + (half_dp1 - half_df) * self._multi_digamma(half_df, self.dimension)
        )

    def _mean(self):
        return self._scaled_by(self.df)

    def _variance(self):
        x = math.sqrt(self.df) * self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)
        d = array.expand_dims(array.matrix_diag_part(x), -1)
        v = math.square(x) + math.matmul(d, d, adjoint_b=True)
        return linalg.cholesky(v) if self.cholesky_input_output_matrices else v

    def _stddev(self):
        if self.cholesky_input_output_matrices:
            raise ValueError("With cholesky_input_output_matrices=True a standard deviation does not make sense")
        return linalg.cholesky(self.variance())

    def _mode(self):
        s = self.df - self.dimension - 1.0
        s = where_v2(math.less(s, 0.0), constant(float("NaN"), dtype=self.dtype, name="nan"), s)
        return self._scaled_by(s)

    def mean_log_det(self, name="mean_log_det"):
        """The mean of the logarithms of the determinants of draws."""
        with self._name_scope(name):
            return (
                self._multi_digamma(0.5 * self.df, self.dimension)
                + self.dimension * pymath.log(2.0)
                + 2 * self.scale_operator.log_abs_determinant()
            )

    def log_normalization(self, name="log_normalization"):
        """The logarithm of what the density is divided by to sum to one."""
        with self._name_scope(name):
            return (
                self.df * self.scale_operator.log_abs_determinant()
                + 0.5 * self.df * self.dimension * pymath.log(2.0)
                + self._multi_lgamma(0.5 * self.df, self.dimension)
            )

    # The multivariate gamma function of dimension p at a is a product of gamma functions at a - i/2, i < p.

    def _multi_gamma_sequence(self, a, p, name="multi_gamma_sequence"):
        with self._name_scope(name, values=[a, p]):
            below = math.lin_space(constant(0.0, dtype=self.dtype), 0.5 - 0.5 * p, math.cast(p, dtypes.int32))
            return below + array.expand_dims(a, [-1])

    def _multi_lgamma(self, a, p, name="multi_lgamma"):
        with self._name_scope(name, values=[a, p]):
            seq = self._multi_gamma_sequence(a, p)
            return 0.25 * p * (p - 1.0) * pymath.log(pymath.pi) + math.reduce_sum(math.lgamma(seq), axis=[-1])

    def _multi_digamma(self, a, p, name="multi_digamma"):
        with self._name_scope(name, values=[a, p]):
            seq = self._multi_gamma_sequence(a, p)
            return math.reduce_sum(math.digamma(seq), axis=[-1])


def _lower_triangular(factor):
    facts = {"is_non_singular": True, "is_positive_definite": True, "is_square": True}
    return linear_operators.LinearOperatorLowerTriangular(factor, **facts)


_WISHART = {"cholesky_input_output_matrices": False, "validate_args": False, "allow_nan_stats": True}


class WishartCholesky(_WishartLinearOperator):
    """The Wishart distribution by the Cholesky factor of its scale matrix.

    >>> WishartCholesky(df=3.0, scale=[[2.0, 0.0], [1.0, 1.0]]).mean()  # [[12.0, 6.0], [6.0, 6.0]]
    """

    @takes({**_WISHART, "name": "WishartCholesky"})
    def __init__(self, df, scale, **given):
        parameters, validate_args = {"df": df, "scale": scale, **given}, given["validate_args"]
        with name_scope(given["name"]) as name, name_scope("init", values=[scale]):
            scale = convert_to_tensor(scale)
            if validate_args:
                diagonal = array.matrix_diag_part(scale)
                positive = check.assert_positive(diagonal, message="scale must be positive definite")
                rows_and_columns = array.shape(scale)[-1], array.shape(scale)[-2]
                square = check.assert_equal(*rows_and_columns, message="scale must be square")
                scale = with_dependencies([positive, square], scale)
            operator = _lower_triangular(scale)
        super().__init__(df, operator, parameters, name)


class WishartFull(_WishartLinearOperator):
    """The Wishart distribution by its scale matrix."""

    @takes({**_WISHART, "name": "WishartFull"})
    def __init__(self, df, scale, **given):
        parameters, validate_args = {"df": df, "scale": scale, **given}, given["validate_args"]
        with name_scope(given["name"]) as name, name_scope("init", values=[scale]):
            scale = convert_to_tensor(scale)
            if validate_args:
                scale = with_dependencies([check.assert_equal(scale, array.matrix_transpose(scale))], scale)
            factor = linalg.cholesky(scale)
            positive = [check.assert_positive(array.matrix_diag_part(factor))] if validate_args else []
            operator = _lower_triangular(with_dependencies(positive, factor))
        super().__init__(df, operator, parameters, name)
