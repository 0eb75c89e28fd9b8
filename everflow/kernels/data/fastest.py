"""Of several datasets with the same elements, the one that gives them fastest: all are tried for some elements."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data.datasets import Dataset, Element, End, Following, Iteration, dataset
from everflow.kernels.data.functions import caller, dataset_of

if TYPE_CHECKING:
    import torch

    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.context import Session
    from everflow.kernels.tensors import Value
    from everflow.protos.attr_value_pb2 import NameAttrList


def _fastest(datasets: Sequence[Dataset], trials: int) -> Callable[[Iteration], Following]:
    """Elements of the first; after some trials, of whichever took the least time for them."""

    def start(iteration: Iteration) -> Following:
        parts = [d.start(iteration) for d in datasets]
        seconds = [0.0] * len(parts)
        left = trials

        def following() -> Element:
            nonlocal left
            if left == 0:
                best = min(range(len(parts)), key=seconds.__getitem__)
                parts[:] = [parts[best]]
                left = -1
            if left < 0:
                return parts[0]()
            left -= 1
            found = [_timed(part, seconds, i) for i, part in enumerate(parts)]
            return found[0]

        return following

    return start


def _timed(part: Following, seconds: list[float], at: int) -> Element:
    begin = time.perf_counter()
    try:
        return part()
    finally:
        seconds[at] += time.perf_counter() - begin


@dataset("ChooseFastestDataset", "ExperimentalChooseFastestDataset")
def choose_fastest_dataset(
    input_datasets: list[Dataset],
    *,
    num_experiments: int,
    output_types: list[DType],
    output_shapes: list[TensorShape],
) -> Dataset:
    cardinality = -2
    for i, made in enumerate(input_datasets):
        types = made.origin and made.origin.attribute("output_types", "Toutput_types") or output_types
        shapes = made.origin and made.origin.attribute("output_shapes") or output_shapes
        if list(types) != list(output_types):
            raise InvalidArgumentError(None, None, f"Dataset {i} has elements of {types}, not of {output_types}")
        for c, (own, wanted) in enumerate(zip(shapes, output_shapes, strict=True)):
            if not own.is_compatible_with(wanted):
                raise InvalidArgumentError(None, None, f"Component {c} of dataset {i} has shape {own}, not {wanted}")
        if -2 not in (cardinality, made.cardinality) and made.cardinality != cardinality:
            raise InvalidArgumentError(
                None, None, f"Dataset {i} has {made.cardinality} elements, those before it have {cardinality}"
            )
        cardinality = max(cardinality, made.cardinality)
    return Dataset(_fastest(input_datasets, num_experiments), cardinality)


@dataset("ChooseFastestBranchDataset")
def choose_fastest_branch_dataset(
    input_dataset: Dataset,
    ratio_numerator: torch.Tensor,
    ratio_denominator: torch.Tensor,
    other_arguments: list[Value],
    *,
    branches: list[NameAttrList],
    other_arguments_lengths: list[int],
    num_elements_per_branch: int,
    session: Session,
) -> Dataset:
    """What functions make of a dataset. Its first elements go to one after the other, the rest to the fastest one."""
    ends = list(itertools.accumulate(other_arguments_lengths))
    captured = [other_arguments[end - n : end] for n, end in zip(other_arguments_lengths, ends, strict=True)]
    up, down = int(ratio_numerator), int(ratio_denominator)
    at_a_time = max(1, num_elements_per_branch * up // down)

    def start(iteration: Iteration) -> Following:
        source, seconds = input_dataset.start(iteration), [0.0] * len(branches)
        calls = [caller(session, f, values, iteration) for f, values in zip(branches, captured, strict=True)]
        at, branch = 0, 0
        some = _Some(source, at_a_time)
        current = dataset_of(calls[0](some.dataset)).start(iteration)

        def following() -> Element:
            nonlocal at, branch, some, current
            while True:
                try:
                    return _timed(current, seconds, branch)
                except End:
                    if some.is_last:
                        raise
                at += 1
                is_tried = at >= len(branches)
                branch = min(range(len(branches)), key=seconds.__getitem__) if is_tried else at
                some = _Some(source, None if is_tried else at_a_time)
                current = dataset_of(calls[branch](some.dataset)).start(iteration)

        return following

    known = input_dataset.cardinality
    return Dataset(start, known if known < 0 else -(-known // up) * down)


class _Some:
    """The next elements of an iteration as a dataset, which can be iterated once."""

    def __init__(self, following: Following, count: int | None) -> None:
        self.is_last = count is None  # whether there is nothing after them
        self._following, self._left = following, count
        self.dataset = Dataset(lambda iteration: self._next)

    def _next(self) -> Element:
        if self._left == 0:
            raise End
        try:
            element = self._following()
        except End:
            self.is_last = True
            raise
        if self._left is not None:
            self._left -= 1
        return element
