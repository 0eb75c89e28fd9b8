"""Operators made of operators: products, adjoints, inverses, blocks along the diagonal."""

from __future__ import annotations

import functools
import itertools
from operator import add, mul

from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, as_dimension, dimension_value
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators import broadcasting as broadcast
from everflow.ops.linalg.operators.base import LinearOperator


def checked_parts(operators):
    """What a whole is made of as a list, with the dtype that all of them have."""
    operators = list(operators)
    if not operators:
        raise ValueError("At least one operator is wanted to make one of; the list is empty")
    if len({operator.dtype for operator in operators}) > 1:
        raise TypeError(f"Operators of one dtype are wanted, not of {[(o.name, o.dtype.name) for o in operators]}")
    return operators, operators[0].dtype


def parents_of(operators):
    """The tensors that all of the operators are made of."""
    return [parent for operator in operators for parent in operator.graph_parents]


def implied(whole, operators, **said):
    """The hints of a whole, in the order given: what holds for all parts holds for it, too."""
    return [
        broadcast.settled(f"{whole} of operators that have it", hint, value)
        if all(getattr(operator, hint) for operator in operators)
        else value
        for hint, value in said.items()
    ]


class OfSeveral(LinearOperator):
    """Base of what is made of several operators and has the product of their determinants."""

    operators = property(lambda self: self._operators)

    def _determinant(self):
        return functools.reduce(mul, (operator.determinant() for operator in self._operators))

    def _log_abs_determinant(self):
        return functools.reduce(add, (operator.log_abs_determinant() for operator in self._operators))

    def _shape_of_batches(self):
        """The batch shape that all operators have together, as a tensor."""
        return array.shape(
            functools.reduce(add, (array.zeros(shape=operator.batch_shape_tensor()) for operator in self._operators))
        )


class LinearOperatorComposition(OfSeveral):
    """The product of operators, the last of which acts first.

    Args:
        operators: The operators.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> sess.run(tf.linalg.LinearOperatorComposition([diagonal, diagonal]).to_dense())
        array([[1., 0.],
               [0., 4.]], dtype=float32)
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        self._operators, dtype = checked_parts(operators)
        [is_non_singular] = implied("A product", self._operators, is_non_singular=is_non_singular)
        name = "_o_".join(o.name for o in self._operators) if name is None else name
        with name_scope(name):
            super().__init__(
                dtype,
                parents_of(self._operators),
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )

    def _shape(self):
        for left, right in itertools.pairwise(self._operators):
            as_dimension(left.domain_dimension).assert_is_compatible_with(right.range_dimension)
        matrix = TensorShape([self._operators[0].range_dimension, self._operators[-1].domain_dimension])
        batch = self._operators[0].batch_shape
        for operator in self._operators[1:]:
            batch = array.broadcast_static_shape(batch, operator.batch_shape)
        return batch.concatenate(matrix)

    def _shape_tensor(self):
        matrix = array.stack(
            [self._operators[0].range_dimension_tensor(), self._operators[-1].domain_dimension_tensor()]
        )
        return array.concat((self._shape_of_batches(), matrix), 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        order = list(self._operators) if adjoint else list(reversed(self._operators))
        result = order[0].matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        order = list(reversed(self._operators)) if adjoint else list(self._operators)
        result = order[0].solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.solve(result, adjoint=adjoint)
        return result


class _OfOne(LinearOperator):
    """Base of what is made of one operator and is as regular, symmetrical and positive as that."""

    operator = property(lambda self: self._operator)

    def _assert_non_singular(self):
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self._operator.assert_self_adjoint()


def _agreed_hints(operator, kind, *said):
    """What an operator, or its user, says of its adjoint or inverse; ValueError where they differ."""
    agreed = []
    for hint, given in zip(("is_non_singular", "is_self_adjoint", "is_positive_definite"), said, strict=True):
        own = getattr(operator, hint)
        if None not in (own, given) and bool(own) != bool(given):
            raise ValueError(f"{operator.name} has {hint}={own}, so its {kind} can't have {hint}={given}")
        agreed.append(own if given is None else given)
    return agreed


class LinearOperatorAdjoint(_OfOne):
    """The adjoint of an operator.

    Args:
        operator: The operator.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> matrix = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> sess.run(tf.linalg.LinearOperatorAdjoint(matrix).to_dense())
        array([[1., 3.],
               [2., 4.]], dtype=float32)
    """

    def __init__(
        self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None
    ):
        self._operator = operator
        hints = _agreed_hints(operator, "adjoint", is_non_singular, is_self_adjoint, is_positive_definite)
        name = operator.name + "_adjoint" if name is None else name
        with name_scope(name):
            super().__init__(
                operator.dtype,
                operator.graph_parents,
                *hints,
                operator.is_square if is_square is None else is_square,
                name,
            )

    def _shape(self):
        shape = self._operator.shape
        if shape.rank is None:
            return shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self):
        shape = self._operator.shape_tensor()
        return array.concat([shape[:-2], [shape[-1], shape[-2]]], axis=-1)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x, adjoint=False):
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solvevec(self, rhs, adjoint=False):
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self):
        if self.is_self_adjoint:
            return self._operator.determinant()
        return math.conj(self._operator.determinant())

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _trace(self):
        if self.is_self_adjoint:
            return self._operator.trace()
        return math.conj(self._operator.trace())

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self):
        dense = self._operator.to_dense()
        return dense if self.is_self_adjoint else linalg.adjoint(dense)


class LinearOperatorInversion(_OfOne):
    """The inverse of an operator.

    Args:
        operator: The operator.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.linalg.LinearOperatorInversion(tf.linalg.LinearOperatorDiag([2.0, 4.0])).to_dense())
        array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float32)
    """

    def __init__(
        self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None
    ):
        self._operator = operator
        if operator.is_square is False or is_square is False:
            raise ValueError(f"operator must be square. Found: {operator}")
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError(
                f"Only a non-singular operator has an inverse; is_non_singular is False for {operator.name} or in the hints"
            )
        hints = _agreed_hints(operator, "inverse", is_non_singular, is_self_adjoint, is_positive_definite)
        name = operator.name + "_inv" if name is None else name
        with name_scope(name):
            super().__init__(
                operator.dtype,
                operator.graph_parents,
                *hints,
                True,
                name,
            )

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -1.0 * self._operator.log_abs_determinant()

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)


class LinearOperatorBlockDiag(OfSeveral):
    """Operators as blocks along the diagonal.

    Args:
        operators: The operators.
        is_non_singular: A promise that it has an inverse; None leaves it open.
        is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
        is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
        is_square: A promise that it has as many rows as columns; None leaves it open.
        name: What the operations' names start with.

    Example:
        >>> blocks = [tf.linalg.LinearOperatorFullMatrix([[2.0]]), tf.linalg.LinearOperatorFullMatrix([[3.0]])]
        >>> sess.run(tf.linalg.LinearOperatorBlockDiag(blocks).to_dense())
        array([[2., 0.],
               [0., 3.]], dtype=float32)
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ):
        self._operators, dtype = checked_parts(operators)
        hints = implied(
            "A direct sum",
            self._operators,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
        )
        if not (is_square and all(o.is_square for o in self._operators)):
            raise ValueError(
                f"Blocks along a diagonal must be square, and be known to be; got {[o.name for o in self._operators]}"
            )
        name = "_ds_".join(o.name for o in self._operators) if name is None else name
        with name_scope(name):
            super().__init__(dtype, parents_of(self._operators), *hints, True, name)

    def _shape(self):
        sides = (
            _sizes(o.range_dimension for o in self._operators),
            _sizes(o.domain_dimension for o in self._operators),
        )
        batch = functools.reduce(array.broadcast_static_shape, (operator.batch_shape for operator in self._operators))
        return batch.concatenate([None if None in sizes else sum(sizes) for sizes in sides])

    def _shape_tensor(self):
        domain = self._operators[0].domain_dimension_tensor()
        rows = self._operators[0].range_dimension_tensor()
        for operator in self._operators[1:]:
            domain = domain + operator.domain_dimension_tensor()
            rows = rows + operator.range_dimension_tensor()
        return array.concat((self._shape_of_batches(), array.stack([rows, domain])), 0)

    def _split_into_blocks(self, dimensions, tensor, axis):
        sizes = _sizes(dimensions)
        if None not in sizes:
            return array.split(tensor, sizes, axis=axis)
        return array.split(tensor, [o.domain_dimension_tensor() for o in self._operators], axis=axis)

    def _block_by_block(self, operation, x, adjoint, adjoint_arg):
        parts = self._split_into_blocks(
            [o.domain_dimension for o in self._operators], x, axis=-1 if adjoint_arg else -2
        )
        results = [
            getattr(o, operation)(y, adjoint=adjoint, adjoint_arg=adjoint_arg) for o, y in zip(self._operators, parts)
        ]
        return array.concat(_broadcast_if_needed(results), axis=-2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._block_by_block("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._block_by_block("solve", rhs, adjoint, adjoint_arg)

    def _diag_part(self):
        parts = [operator.diag_part()[..., None] for operator in self._operators]
        return array.squeeze(array.concat(_broadcast_if_needed(parts), axis=-2), axis=-1)

    def _assert_non_singular(self):
        return group([operator.assert_non_singular() for operator in self._operators])

    def _assert_positive_definite(self):
        return group([operator.assert_positive_definite() for operator in self._operators])

    def _assert_self_adjoint(self):
        return group([operator.assert_self_adjoint() for operator in self._operators])

    def _trace(self):
        return functools.reduce(add, (operator.trace() for operator in self._operators))

    def _to_dense(self):
        """Each block with zeros to its left and right, one below the other."""
        offset = 0
        rows = []
        for block in _broadcast_if_needed([operator.to_dense() for operator in self._operators]):
            height = array.shape(block)[:-1]
            left = array.zeros(shape=array.concat([height, [offset]], axis=-1), dtype=block.dtype)
            offset = offset + array.shape(block)[-1]
            right = array.zeros(
                shape=array.concat([height, [self.domain_dimension_tensor() - offset]], axis=-1), dtype=block.dtype
            )
            rows.append(array.concat([left, block, right], axis=-1))
        matrix = array.concat(rows, axis=-2)
        matrix.set_shape(self.shape)
        return matrix


def _sizes(dimensions):
    return [None if d is None else dimension_value(d) for d in dimensions]


def _broadcast_if_needed(matrices):
    batches = [m.shape[:-2] for m in matrices]
    if all(b.is_fully_defined() and b == batches[0] for b in batches):
        return matrices
    return broadcast.broadcast_matrix_batch_dims(matrices)
