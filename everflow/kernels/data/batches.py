"""Elements of datasets stacked into batches, padded to one size where they differ, and taken apart again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import DataLossError, InvalidArgumentError
from everflow.kernels.data import blocks
from everflow.kernels.data.datasets import Dataset, Element, End, Following, Iteration, dataset
from everflow.kernels.queues.queues import rows_of, shape_text
from everflow.kernels.sparse.serialize import serialize_sparse
from everflow.kernels.tensors import AnyTensor, Value, to_numpy

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType


def stack(values: list, component: int = 0) -> AnyTensor:
    """Elements of one component as one tensor along a new first axis."""
    first = values[0]
    if not isinstance(first, (torch.Tensor, np.ndarray)):
        out = np.empty(len(values), object)
        out[:] = values
        return out
    if isinstance(first, torch.Tensor):
        try:
            return torch.stack(values)
        except RuntimeError:
            _check_shapes(values, component)
            raise
    _check_shapes(values, component)
    out = np.empty((len(values), *first.shape), object)
    for i, value in enumerate(values):
        out[i] = value[()] if value.ndim == 0 else value
    return out


def _check_shapes(values: list, component: int) -> None:
    for i, value in enumerate(values):
        if value.shape != values[0].shape:
            raise InvalidArgumentError(
                None,
                None,
                f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                f"{shape_text(values[0].shape)} and element {i} had shape {shape_text(value.shape)}. "
                "The number of elements does not match.",
            )


def batched(elements: list) -> tuple:
    """Elements as one, stacked in each component."""
    return tuple(stack(list(column), i) for i, column in enumerate(zip(*elements, strict=True)))


def grouped(input_dataset: Dataset, size: int, drop_remainder: bool, join: Callable, with_map: bool = False) -> Dataset:
    """`size` elements at a time, made one by `join(elements)`.

    A batch that is one `with_map`, the map before it, takes all its elements, also where some of them fail.
    """
    if size <= 0:
        raise InvalidArgumentError(None, None, "Batch size must be greater than zero.")

    def start(iteration: Iteration) -> Following:
        if iteration.takes_blocks and join is batched and input_dataset.blocks is not None:
            take, put_together = input_dataset.blocks.start_columns(iteration), _put_together
        else:
            following, put_together = input_dataset.start(iteration), join

            def take(n: int) -> Element:
                return following()

        def batch() -> Element:
            found: list[Element] = []
            left, failure = size, None
            while left:
                try:
                    found.append(take(left))
                    left -= blocks.size_of(found[-1]) if put_together is _put_together else 1
                except End:
                    if with_map and found and drop_remainder:
                        put_together(found)  # it may fail, although it would be left out
                    if failure is None and (not found or drop_remainder):
                        raise
                    break
                except Exception as e:
                    iteration.check()
                    if not with_map:
                        raise
                    left, failure = left - 1, failure or e
            if failure is not None:
                raise failure
            return put_together(found)

        return batch

    known = input_dataset.cardinality
    return Dataset(start, known if known < 0 else known // size if drop_remainder else -(-known // size))


def _put_together(found: list[Element]) -> Element:
    """Blocks of elements as one."""
    return (
        blocks.joined(found) if blocks.fit(found) else batched([row for block in found for row in blocks.rows(block)])
    )


@dataset("BatchDataset")
def batch_dataset(input_dataset: Dataset, batch_size: torch.Tensor) -> Dataset:
    return grouped(input_dataset, int(batch_size), False, batched)


@dataset("BatchDatasetV2")
def batch_dataset_v2(input_dataset: Dataset, batch_size: torch.Tensor, drop_remainder: torch.Tensor) -> Dataset:
    return grouped(input_dataset, int(batch_size), bool(drop_remainder), batched)


def _padded(
    input_dataset: Dataset,
    batch_size: torch.Tensor,
    padded_shapes: list[torch.Tensor],
    padding_values: list[AnyTensor],
    drop_remainder: bool,
) -> Dataset:
    shapes = [s.tolist() for s in padded_shapes]
    for i, shape in enumerate(shapes):
        if any(size < -1 for size in shape):
            raise InvalidArgumentError(None, None, f"The padded shape of component {i} has a size below -1: {shape}")

    def pad_column(values: tuple[AnyTensor, ...], wanted: list[int], filler: AnyTensor, component: int) -> AnyTensor:
        rank = len(wanted)
        for value in values:
            if value.ndim != rank:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"All elements in a batch must have the same rank as the padded shape for component{component}: "
                    f"expected rank {rank} but got element with rank {value.ndim}",
                )
        size = [max(v.shape[d] for v in values) if wanted[d] < 0 else wanted[d] for d in range(rank)]
        for value in values:
            if any(n > s for n, s in zip(value.shape, size)):
                raise DataLossError(
                    None,
                    None,
                    f"Attempted to pad to a smaller size than the input element. ({shape_text(value.shape)} into {shape_text(size)})",
                )
        if isinstance(values[0], torch.Tensor):
            out: Value = torch.full((len(values), *size), filler.item(), dtype=values[0].dtype)
        else:
            out = np.full((len(values), *size), filler.item(), object)
        for i, value in enumerate(values):
            place: Any = (i, *map(slice, value.shape))
            out[place] = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        return out

    def join(elements: list[Element]) -> Element:
        columns = zip(*elements, strict=True)
        return tuple(
            pad_column(c, s, f, i) for i, (c, s, f) in enumerate(zip(columns, shapes, padding_values, strict=True))
        )

    return grouped(input_dataset, int(batch_size), drop_remainder, join)


@dataset("PaddedBatchDataset")
def padded_batch_dataset(
    input_dataset: Dataset, batch_size: torch.Tensor, padded_shapes: list[torch.Tensor], padding_values: list[Value]
) -> Dataset:
    return _padded(input_dataset, batch_size, padded_shapes, padding_values, False)


@dataset("PaddedBatchDatasetV2")
def padded_batch_dataset_v2(
    input_dataset: Dataset,
    batch_size: torch.Tensor,
    padded_shapes: list[torch.Tensor],
    padding_values: list[Value],
    drop_remainder: torch.Tensor,
) -> Dataset:
    return _padded(input_dataset, batch_size, padded_shapes, padding_values, bool(drop_remainder))


@dataset("UnbatchDataset", "ExperimentalUnbatchDataset")
def unbatch_dataset(input_dataset: Dataset) -> Dataset:
    def start(iteration: Iteration) -> Following:
        following = input_dataset.start(iteration)
        rows: Iterator[Element] = iter(())

        def unbatch() -> Element:
            nonlocal rows
            while True:
                for row in rows:
                    return row
                components = following()
                if len({len(c) for c in components}) > 1:
                    raise InvalidArgumentError(
                        None, None, "Input element must have the same batch size in each component."
                    )
                rows = zip(*[rows_of(c) for c in components])

        return unbatch

    return Dataset(start)


def _of_rows(input_dataset: Dataset, wanted: list[int]) -> Dataset:
    """Elements that fit into a row: one that doesn't fails when it is read, and the next batch begins after it."""

    def start(iteration: Iteration) -> Following:
        following = input_dataset.start(iteration)

        def take() -> Element:
            element = following()
            shape = element[0].shape
            problem = f"Input element had shape ({shape_text(shape)}) that is incompatible with the row shape"
            if len(shape) != len(wanted):
                raise InvalidArgumentError(None, None, problem)
            if any(0 <= most < n for n, most in zip(shape, wanted)):
                raise DataLossError(None, None, problem)
            return element

        return take

    return Dataset(start, input_dataset.cardinality)


@dataset("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset")
def dense_to_sparse_batch_dataset(
    input_dataset: Dataset, batch_size: torch.Tensor, row_shape: torch.Tensor, *, output_types: list[DType]
) -> Dataset:
    wanted = row_shape.tolist()

    def join(elements: list[Element]) -> Element:
        values = [e[0] for e in elements]
        size = [max(v.shape[d] for v in values) if w < 0 else w for d, w in enumerate(wanted)]
        places = [
            np.concatenate(
                [
                    np.full((v.numel() if isinstance(v, torch.Tensor) else v.size, 1), i),
                    np.indices(v.shape).reshape(v.ndim, math.prod(v.shape)).T,
                ],
                1,
            )
            for i, v in enumerate(values)
        ]
        indices = torch.from_numpy(np.concatenate(places).astype(np.int64))
        flat = [v.reshape(-1) for v in values]
        joined = torch.cat(flat) if isinstance(flat[0], torch.Tensor) else np.concatenate(flat)
        shape = torch.tensor([len(values), *size])
        kind = dtypes.string if isinstance(joined, np.ndarray) else dtypes.as_dtype(to_numpy(joined).dtype)
        return (serialize_sparse(indices, joined, shape, T=kind, out_type=dtypes.variant),)

    return grouped(_of_rows(input_dataset, wanted), int(batch_size), False, join)
