"""tensorflow.python.ops.linalg.linear_operator_test_util: test cases that hold an operator against its dense matrix.

A case says how an operator and the matrix it stands for are made; `add_tests` gives it a test for each thing an
operator does, shape, type of numbers and way to hand the matrix in.
"""

from __future__ import annotations

import abc
import functools
import itertools

from everflow.framework import dtypes
from everflow.framework.graph import Graph
from everflow.framework.seeds import DEFAULT_GRAPH_SEED
from everflow.legacy.inner.ops.testing.random_matrices import (  # noqa: F401  Cases make their matrices with these.
    random_normal,
    random_normal_correlated_columns,
    random_positive_definite_matrix,
    random_sign_uniform,
    random_tril_matrix,
    random_uniform,
)
from everflow.ops import array, math
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators.broadcasting import matrix_solve
from everflow.test import TestCase


class OperatorShapesInfo:
    """The shape of an operator, and whatever else a case needs to make one of it."""

    def __init__(self, shape, **kwargs):
        self.shape = shape
        self.__dict__.update(kwargs)


class CheckTapeSafeSkipOptions:
    """What `check_tape_safe` can leave out."""

    DETERMINANT = "determinant"
    DIAG_PART = "diag_part"
    LOG_ABS_DETERMINANT = "log_abs_determinant"
    TRACE = "trace"


def _tolerances():
    single, double = 1e-6, 1e-12
    return {
        dtypes.float16: 1e-3,
        dtypes.float32: single,
        dtypes.float64: double,
        dtypes.complex64: single,
        dtypes.complex128: double,
    }


class LinearOperatorDerivedClassTest(TestCase, metaclass=abc.ABCMeta):
    """What cases of all operators share: what is tried, how near results must be, and what a case has to tell."""

    _atol = _tolerances()
    _rtol = _tolerances()

    @staticmethod
    def adjoint_options():
        return [False, True]

    @staticmethod
    def adjoint_arg_options():
        return [False, True]

    @staticmethod
    def dtypes_to_test():
        return [dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]

    @staticmethod
    def use_placeholder_options():
        return [False, True]

    @staticmethod
    def operator_shapes_infos():
        raise NotImplementedError("operator_shapes_infos has not been implemented: it tells the shapes to try.")

    @staticmethod
    def skip_these_tests():
        return []

    def assertAC(self, x, y):
        """Assert that arrays are as near as the type of the first one allows."""
        dtype = dtypes.as_dtype(x.dtype)
        self.assertAllClose(x, y, atol=self._atol[dtype], rtol=self._rtol[dtype])

    def assertRaisesError(self, msg):
        """What checks of arguments raise: ValueErrors while a graph is drawn, and OpErrors when it runs."""
        return self.assertRaisesRegex(Exception, msg)

    def check_tape_safe(self, operator, skip_options=None):
        """Assert that gradients reach an operator's variables through what it computes."""
        skipped = skip_options or []
        self.assertTrue(operator.variables, f"{operator.name} has no variables, so no gradient can reach one")
        for what in ("determinant", "diag_part", "log_abs_determinant", "trace", "to_dense"):
            if what not in skipped:
                with GradientTape() as tape:
                    value = getattr(operator, what)()
                for gradient in tape.gradient(value, operator.trainable_variables):
                    self.assertIsNotNone(gradient)

    @abc.abstractmethod
    def operator_and_matrix(self, shapes_info, dtype, use_placeholder, ensure_self_adjoint_and_pd=False):
        """An operator, and the tensor it stands for; both must be of one run, as matrices may be random."""

    @abc.abstractmethod
    def make_rhs(self, operator, adjoint, with_batch=True):
        """A right-hand side for `operator.solve`."""

    @abc.abstractmethod
    def make_x(self, operator, adjoint, with_batch=True):
        """What `operator.matmul` can be given."""


class SquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """Cases of square operators."""

    @staticmethod
    def operator_shapes_infos():
        return [OperatorShapesInfo(shape) for shape in ((0, 0), (1, 1), (1, 3, 3), (3, 4, 4), (2, 1, 4, 4))]

    def _get_num_systems(self, operator):
        return 1 if operator.tensor_rank is None or operator.tensor_rank > 2 else 2

    def make_rhs(self, operator, adjoint, with_batch=True):
        return self.make_x(operator, adjoint=not adjoint, with_batch=with_batch)

    def make_x(self, operator, adjoint, with_batch=True):
        return _columns(
            operator,
            operator.domain_dimension,
            operator.domain_dimension_tensor,
            self._get_num_systems(operator),
            with_batch,
        )


class NonSquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """Cases of operators that are not square, and so have no inverses."""

    @staticmethod
    def operator_shapes_infos():
        return [OperatorShapesInfo(shape) for shape in ((2, 1), (1, 2), (1, 3, 2), (3, 3, 4), (2, 1, 2, 4))]

    @staticmethod
    def skip_these_tests():
        return ["cholesky", "inverse", "solve", "solve_with_broadcast", "det", "log_abs_det"]

    def _get_num_systems(self, operator):
        return 1 if operator.tensor_rank is None or operator.tensor_rank > 2 else 2

    def make_rhs(self, operator, adjoint, with_batch=True):
        raise NotImplementedError("Operators that are not square are not solved, so there is no right-hand side.")

    def make_x(self, operator, adjoint, with_batch=True):
        if adjoint:
            size, size_tensor = operator.range_dimension, operator.range_dimension_tensor
        else:
            size, size_tensor = operator.domain_dimension, operator.domain_dimension_tensor
        return _columns(operator, size, size_tensor, self._get_num_systems(operator), with_batch)


def _columns(operator, size, size_tensor, count, with_batch):
    if operator.shape.is_fully_defined():
        batch = operator.batch_shape.as_list() if with_batch else []
        return random_normal([*batch, size.value, count], dtype=operator.dtype)
    shape = [size_tensor(), count]
    if with_batch:
        shape = array.concat([operator.batch_shape_tensor(), shape], axis=0)
    return random_normal(shape, dtype=operator.dtype)


def _compare(self, use_placeholder, shapes_info, dtype, both, definite=False):
    """One run of what `both` gives of an operator and its matrix: the operator's result and the one that is right."""
    with self.session(graph=Graph()) as sess:
        sess.graph.seed = DEFAULT_GRAPH_SEED
        further = {"ensure_self_adjoint_and_pd": True} if definite else {}
        operator, matrix = self.operator_and_matrix(shapes_info, dtype, use_placeholder=use_placeholder, **further)
        result, right = both(operator, matrix)
        if not use_placeholder:
            self.assertAllEqual(result.shape, right.shape)
        result_value, right_value = sess.run([result, right])
        self.assertAC(result_value, right_value)


def _densely(result, right, definite=False):
    """A test that compares a function of an operator with one of its matrix."""

    def both(operator, matrix):
        return result(operator, matrix), right(matrix)

    def make(use_placeholder, shapes_info, dtype):
        return lambda self: _compare(self, use_placeholder, shapes_info, dtype, both, definite)

    return make


def _product(solving, with_batch):
    """A test of `matmul` or `solve`, for operators and arguments that are adjoint or not."""

    def make(use_placeholder, shapes_info, dtype, adjoint, adjoint_arg):
        def test(self):
            # Without a batch of its own there is nothing to broadcast.
            if not with_batch and len(shapes_info.shape) <= 2:
                return

            def both(operator, matrix):
                right_side = (self.make_rhs if solving else self.make_x)(operator, adjoint, with_batch=with_batch)
                given = linalg.adjoint(right_side) if adjoint_arg else right_side
                method = operator.solve if solving else operator.matmul
                product = matrix_solve if solving else math.matmul
                further = {"adjoint": adjoint} if solving else {"adjoint_a": adjoint}
                return method(given, adjoint=adjoint, adjoint_arg=adjoint_arg), product(matrix, right_side, **further)

            _compare(self, use_placeholder, shapes_info, dtype, both)

        return test

    return make


_TESTS = {
    "add_to_tensor": _densely(lambda operator, matrix: operator.add_to_tensor(2 * matrix), lambda matrix: 3 * matrix),
    "cholesky": _densely(lambda operator, _: operator.cholesky().to_dense(), linalg.cholesky, definite=True),
    "det": _densely(lambda operator, _: operator.determinant(), linalg.matrix_determinant),
    "diag_part": _densely(lambda operator, _: operator.diag_part(), array.matrix_diag_part),
    "inverse": _densely(lambda operator, _: operator.inverse().to_dense(), linalg.matrix_inverse),
    "log_abs_det": _densely(
        lambda operator, _: operator.log_abs_determinant(), lambda matrix: linalg.slogdet(matrix)[1]
    ),
    "to_dense": _densely(lambda operator, _: operator.to_dense(), lambda matrix: matrix),
    "trace": _densely(lambda operator, _: operator.trace(), linalg.trace),
}
_PRODUCT_TESTS = {
    "matmul": _product(solving=False, with_batch=True),
    "matmul_with_broadcast": _product(solving=False, with_batch=False),
    "solve": _product(solving=True, with_batch=True),
    "solve_with_broadcast": _product(solving=True, with_batch=False),
}


def add_tests(test_cls):
    """Give a case its tests, named by what they try."""
    skipped = test_cls.skip_these_tests()

    def add(name, test):
        if hasattr(test_cls, name):
            raise RuntimeError(f"Test {name} defined more than once")
        setattr(test_cls, name, test)

    ways = functools.partial(
        itertools.product,
        test_cls.use_placeholder_options(),
        test_cls.operator_shapes_infos(),
        test_cls.dtypes_to_test(),
    )
    for name, make in _TESTS.items():
        if name not in skipped:
            for placeholder, info, dtype in ways():
                add(
                    f"test_{name}__shape={info.shape},dtype={dtype},use_placeholder={placeholder}",
                    make(placeholder, info, dtype),
                )
    for name, make in _PRODUCT_TESTS.items():
        if name not in skipped:
            for placeholder, info, dtype, adjoint, adjoint_arg in ways(
                test_cls.adjoint_options(), test_cls.adjoint_arg_options()
            ):
                add(
                    f"test_{name}__shape={info.shape},dtype={dtype},use_placeholder={placeholder},adjoint={adjoint},adjoint_arg={adjoint_arg}",
                    make(placeholder, info, dtype, adjoint, adjoint_arg),
                )
