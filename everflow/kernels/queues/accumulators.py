"""Accumulators at run time: gradients that are summed or averaged until enough have come; stale ones are dropped."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.forking import renewed
from everflow.framework.shapes import TensorShape
from everflow.kernels.facts import Waits
from everflow.kernels.old_handles import OldHandle
from everflow.kernels.queues.queues import shape_text, shared_resource
from everflow.kernels.registry import acting, kernel, reading

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session, Step


# Indices, values, and the shape where it is known.
_SparseGradient: TypeAlias = tuple[torch.Tensor, torch.Tensor, list[int] | None]
_A = TypeVar("_A", bound="Accumulator")


class Accumulator(OldHandle):
    """What both kinds share: the step, the count, and waiting for enough."""

    def __init__(self, name: str, dtype: DType, shape: TensorShape, reduction_type: str) -> None:
        if not dtype.is_floating:
            raise InvalidArgumentError(None, None, f"Gradients are accumulated in floating point, not in {dtype.name}")
        self.name, self.dtype, self.reduction = name, dtype, reduction_type
        self.shape: Sequence[int | None] | None = shape.as_list() if shape.ndims is not None else None
        self.condition = renewed(threading.Condition())
        self.step = 0
        self.forget()

    def forget(self) -> None:
        self.count = 0

    def apply(self, local_step: int, gradient: Any) -> None:
        """Add a gradient; one that was made before the step of now is dropped without a look at it."""
        with self.condition:
            if local_step >= self.step:
                self.check(gradient)
                self.add(gradient)
                self.count += 1
                self.condition.notify_all()

    def take(self, required: int, step: Step) -> Any:
        """The average or sum, once `required` gradients have come; then it begins anew, one step further."""
        if required <= 0:
            raise InvalidArgumentError(None, None, f"Argument num_required must be positive, but was {required}")
        with self.condition:
            step.wait_for(self.condition, lambda: self.count >= required)
            result = self.result()
            self.step += 1
            self.forget()
            return result

    def check(self, gradient: Any) -> None:
        raise NotImplementedError

    def add(self, gradient: Any) -> None:
        raise NotImplementedError

    def result(self) -> Any:
        raise NotImplementedError


class DenseAccumulator(Accumulator):
    """Gradients of one shape."""

    def forget(self) -> None:
        super().forget()
        self.sum: torch.Tensor | None = None

    def check(self, gradient: torch.Tensor) -> None:
        expected = list(self.sum.shape) if self.sum is not None else self.shape
        got = list(gradient.shape)
        if expected is not None and (
            len(got) != len(expected) or any(e is not None and e != g for e, g in zip(expected, got, strict=True))
        ):
            raise InvalidArgumentError(
                None, None, f"Shape mismatch: expected {shape_text(expected)}, got {shape_text(got)}"
            )

    def add(self, gradient: torch.Tensor) -> None:
        self.sum = gradient.clone() if self.sum is None else self.sum + gradient

    def result(self) -> torch.Tensor:
        assert self.sum is not None, "it is taken after something came"
        if self.reduction == "SUM":
            return self.sum
        return (
            self.sum / self.count if self.sum.is_floating_point() or self.sum.is_complex() else self.sum // self.count
        )


class SparseAccumulator(Accumulator):
    """Gradients of some rows: each row is averaged over the gradients that had it."""

    def forget(self) -> None:
        super().forget()
        self.none: torch.Tensor | None = None  # no rows, of the shape that they have
        self.rows: list = []  # [index, value, how many gradients had it], in the order of the indices

    def check(self, gradient: _SparseGradient) -> None:
        indices, values, shape = gradient
        if indices.ndim != 1:
            raise InvalidArgumentError(
                None, None, f"Input indices should be vector but received shape: {shape_text(indices.shape)}"
            )
        if values.ndim < 1:
            raise InvalidArgumentError(None, None, "Values cannot be 0-dimensional.")
        if len(indices) != len(values):
            raise InvalidArgumentError(None, None, f"Expected {len(indices)} non-empty input values, got {len(values)}")
        known = self.shape
        if known is None and shape is not None:
            known = shape
        if known is None:
            return
        if shape is not None and self.shape is not None:
            self._check_given_shape(shape, self.shape)
        if values.ndim < len(known):
            raise InvalidArgumentError(
                None, None, f"Shape mismatch: expected values rank at least {len(known)}, got {values.ndim}"
            )
        for i, index in enumerate(indices.tolist()):
            if known[0] is not None and known[0] >= 0 and index >= known[0]:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Shape mismatch: index of slice {i} exceeded limits of shape; index is {index} exceeded {known[0]}",
                )
        for axis, size in enumerate(known[1:], 1):
            if size is not None and size >= 0 and values.shape[axis] != size:
                raise InvalidArgumentError(
                    None, None, f"Shape mismatch: expected values dim {axis} to be {size}, got {values.shape[axis]}"
                )

    @staticmethod
    def _check_given_shape(shape: list[int], known: Sequence[int | None]) -> None:
        """Complain about a gradient whose shape is said to be another than that of the accumulator."""
        if len(shape) < len(known):
            raise InvalidArgumentError(
                None, None, f"Shape mismatch: expected shape rank at least {len(known)}, got {len(shape)}"
            )
        for axis, (size, given) in enumerate(zip(known, shape)):
            if size is not None and given not in (size, -1):
                raise InvalidArgumentError(
                    None, None, f"Shape mismatch: expected shape dim {axis} to be {size}, got {given}"
                )

    def add(self, gradient: _SparseGradient) -> None:
        indices, values, _ = gradient
        self.none = values[:0]
        new = [[index, value.clone(), 1] for index, value in zip(indices.tolist(), values, strict=True)]
        if not self.rows:
            self.rows = new
            return
        # Both lists are in order, as gradients of lookups are: they are merged.
        merged, old, i, j = [], self.rows, 0, 0
        while i < len(old) and j < len(new):
            if old[i][0] < new[j][0]:
                merged.append(old[i])
                i += 1
            elif old[i][0] > new[j][0]:
                merged.append(new[j])
                j += 1
            else:
                merged.append([old[i][0], old[i][1] + new[j][1], old[i][2] + 1])
                i, j = i + 1, j + 1
        self.rows = merged + old[i:] + new[j:]

    def result(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        indices = torch.tensor([row[0] for row in self.rows], dtype=torch.int64)
        rows = [value / count if self.reduction == "MEAN" else value for _, value, count in self.rows]
        values = torch.stack(rows) if rows or self.none is None else self.none
        first = self.shape[0] if self.shape and self.shape[0] is not None else -1
        return indices, values, torch.tensor([first, *values.shape[1:]], dtype=torch.int64)


# --- kernels ----------------------------------------------------------------------------------


def _accumulator(
    cls: type[_A],
    dtype: DType,
    shape: TensorShape,
    reduction_type: str,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> _A:
    def make(name: str) -> _A:
        return cls(name, dtype, shape, reduction_type)

    return shared_resource("accumulator", node, session, container, shared_name, make)


@kernel("ConditionalAccumulator", "ResourceConditionalAccumulator", once=True)
def conditional_accumulator(
    *,
    dtype: DType,
    shape: TensorShape,
    reduction_type: str,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> DenseAccumulator:
    return _accumulator(DenseAccumulator, dtype, shape, reduction_type, container, shared_name, node, session)


@kernel("SparseConditionalAccumulator", once=True)
def sparse_conditional_accumulator(
    *,
    dtype: DType,
    shape: TensorShape,
    reduction_type: str,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> SparseAccumulator:
    # No dimensions mean that nothing is known: SyncReplicasOptimizer says so.
    shape = shape if shape.ndims else TensorShape(None)
    return _accumulator(SparseAccumulator, dtype, shape, reduction_type, container, shared_name, node, session)


@acting("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient", waits=Waits.PUTS)
def apply_gradient(handle: DenseAccumulator, local_step: torch.Tensor, gradient: torch.Tensor) -> None:
    handle.apply(int(local_step), gradient)


@acting("AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", waits=Waits.TAKES)
def take_gradient(handle: DenseAccumulator, num_required: torch.Tensor, *, step: Step) -> torch.Tensor:
    return handle.take(int(num_required), step)


@reading("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated")
def num_accumulated(handle: DenseAccumulator) -> torch.Tensor:
    return torch.tensor(handle.count, dtype=torch.int32)


@acting("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")
def set_global_step(handle: DenseAccumulator, new_global_step: torch.Tensor) -> None:
    with handle.condition:
        handle.step = int(new_global_step)


@acting("SparseAccumulatorApplyGradient", waits=Waits.PUTS)
def sparse_apply_gradient(
    handle: SparseAccumulator,
    local_step: torch.Tensor,
    gradient_indices: torch.Tensor,
    gradient_values: torch.Tensor,
    gradient_shape: torch.Tensor,
    *,
    has_known_shape: bool,
) -> None:
    shape = gradient_shape.tolist() if has_known_shape else None
    handle.apply(int(local_step), (gradient_indices, gradient_values, shape))


@acting("SparseAccumulatorTakeGradient", waits=Waits.TAKES)
def sparse_take_gradient(
    handle: SparseAccumulator, num_required: torch.Tensor, *, step: Step
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return handle.take(int(num_required), step)
