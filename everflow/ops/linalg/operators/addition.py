"""Sums of linear operators as operators: of each pair the cheapest kind that can hold it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.array.basic import broadcast_static_shape
from everflow.ops.linalg.operators.base import LinearOperator
from everflow.ops.linalg.operators.basic import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from everflow.ops.linalg.operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity

# Each kind can be held by those that come later.
_KINDS = {
    LinearOperatorIdentity: "identity",
    LinearOperatorScaledIdentity: "scaled_identity",
    LinearOperatorDiag: "diag",
    LinearOperatorLowerTriangular: "tril",
    LinearOperatorFullMatrix: "matrix",
}
_IDENTITIES = {"identity", "scaled_identity"}
_DIAGONALS = _IDENTITIES | {"diag"}


class _Hints(NamedTuple):
    """What is known of a sum; None: it follows from the summands."""

    is_non_singular: bool | None = None
    is_positive_definite: bool | None = None
    is_self_adjoint: bool | None = None


def _type(operator: LinearOperator) -> str:
    for cls, kind in _KINDS.items():
        if isinstance(operator, cls):
            return kind
    raise TypeError(f"{type(operator).__name__} can't be added: there are sums of {', '.join(_KINDS.values())} only")


def add_operators(
    operators: Iterable[LinearOperator],
    operator_name: str | None = None,
    addition_tiers: Sequence[Sequence[_Adder]] | None = None,
    name: str | None = None,
) -> list[LinearOperator]:
    """Operators whose sum is that of `operators`, as few as the adders of `addition_tiers` make of them: those of one
    tier add what they can before those of the next.
    """
    if isinstance(operators, (str, bytes)) or not isinstance(operators, Iterable):
        raise TypeError(f"add_operators() takes several operators, not a {type(operators).__name__}")
    operators = list(operators)
    if not operators:
        raise ValueError("add_operators() needs at least one operator")
    if not all(isinstance(operator, LinearOperator) for operator in operators):
        raise TypeError(f"add_operators() adds linear operators; it was given {operators}")
    _check_shapes(operators)
    tiers = _DEFAULT_ADDITION_TIERS if addition_tiers is None else addition_tiers
    with name_scope(name, "add_operators", [p for operator in operators for p in operator.graph_parents]):
        waiting = operators[::-1]
        for tier in tiers:
            waiting = _added(waiting, tier, operator_name)
        return waiting


def _added(waiting: list[LinearOperator], tier: Sequence[_Adder], operator_name: str | None) -> list[LinearOperator]:
    waiting, done = list(waiting), []
    while waiting:
        one = waiting.pop()
        match = _match(one, waiting, tier)
        if match is None:
            done.append(one)
        else:
            other, adder = match
            waiting.remove(other)
            waiting.append(adder.add(one, other, operator_name))
    return done


def _match(one: LinearOperator, others: list[LinearOperator], tier: Sequence[_Adder]) -> Any:
    """(the last of some operators that one can be added to, who adds them), or None."""
    found = ((other, adder) for other in reversed(others) for adder in tier if adder.can_add(one, other))
    return next(found, None)


def _check_shapes(operators: list[LinearOperator]) -> None:
    """ValueError where operators are known not to fit each other."""
    for which in ("range_dimension", "domain_dimension"):
        sizes = {getattr(operator, which).value for operator in operators} - {None}
        if len(sizes) > 1:
            raise ValueError(f"Operators that are added must have one {which}; these have {sorted(sizes)}")
    functools.reduce(broadcast_static_shape, [operator.batch_shape for operator in operators])


# --- adders ---------------------------------------------------------------------------------------


class _Adder:
    """Adds operators of certain kinds, and gives one of a kind."""

    _holds: set[str] = set()

    @property
    def name(self) -> str:
        return type(self).__name__

    def can_add(self, op1: LinearOperator, op2: LinearOperator) -> bool:
        """Whether their sum is of the kind that this one makes."""
        return {_type(op1), _type(op2)} <= self._holds

    def add(
        self, op1: LinearOperator, op2: LinearOperator, operator_name: str | None, hints: _Hints | None = None
    ) -> LinearOperator:
        """The sum of two operators."""
        known = _with_inferred(op1, op2, hints or _Hints())
        if operator_name is None:
            operator_name = f"Add/{op1.name}__{op2.name}/"
        with name_scope(self.name.lstrip("_")):
            return self._add(op1, op2, functools.partial(self._made, name=operator_name, **known._asdict()))

    def _add(self, op1: LinearOperator, op2: LinearOperator, make: Callable[..., LinearOperator]) -> LinearOperator:
        raise NotImplementedError

    _made: Callable[..., LinearOperator]


class _AddAndReturnScaledIdentity(_Adder):
    _holds = _IDENTITIES
    _made = LinearOperatorScaledIdentity

    def _add(self, op1, op2, make):
        multipliers = [
            op.multiplier if _type(op) == "scaled_identity" else array.ones(op.batch_shape_tensor(), dtype=op.dtype)
            for op in (op1, op2)
        ]
        return make(num_rows=op1.range_dimension_tensor(), multiplier=multipliers[0] + multipliers[1])


class _AddAndReturnDiag(_Adder):
    _holds = _DIAGONALS
    _made = LinearOperatorDiag

    def _add(self, op1, op2, make):
        return make(diag=op1.diag_part() + op2.diag_part())


class _AddAndReturnTriL(_Adder):
    _holds = _DIAGONALS | {"tril"}
    _made = LinearOperatorLowerTriangular

    def _add(self, op1, op2, make):
        return make(tril=_dense_sum(op1, op2))


class _AddAndReturnMatrix(_Adder):
    _holds = set(_KINDS.values())
    _made = LinearOperatorFullMatrix

    def _add(self, op1, op2, make):
        return make(matrix=_dense_sum(op1, op2))


def _dense_sum(op1: LinearOperator, op2: LinearOperator) -> Any:
    """The sum as a matrix: what is diagonal is added to the other's entries."""
    light, other = (op1, op2) if _type(op1) in _DIAGONALS else (op2, op1)
    return light.add_to_tensor(other.to_dense())


def _with_inferred(op1: LinearOperator, op2: LinearOperator, hints: _Hints) -> _Hints:
    definite = hints.is_positive_definite
    if definite is None and op1.is_positive_definite and op2.is_positive_definite:
        definite = True
    adjoint = hints.is_self_adjoint
    if adjoint is None and op1.is_self_adjoint and op2.is_self_adjoint:
        adjoint = True
    regular = hints.is_non_singular
    return _Hints(True if regular is None and definite else regular, definite, adjoint)


_DEFAULT_ADDITION_TIERS = [
    [_AddAndReturnScaledIdentity()],
    [_AddAndReturnDiag()],
    [_AddAndReturnTriL()],
    [_AddAndReturnMatrix()],
]
