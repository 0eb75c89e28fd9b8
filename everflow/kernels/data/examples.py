"""Datasets of parsed Examples, as graphs have them that TensorFlow wrote: one op parses batches of serialized ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data.datasets import Dataset, dataset
from everflow.kernels.data.parallel import Parallel
from everflow.kernels.data.stats import telling_threads
from everflow.kernels.io.examples import parse_example
from everflow.kernels.sparse.serialize import serialize_sparse
from everflow.kernels.strings.text import strings
from everflow.protos.example_pb2 import Example

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.context import Step
    from everflow.kernels.data.datasets import Element, Following, Iteration
    from everflow.kernels.data.stats import Recorder
    from everflow.kernels.tensors import AnyTensor, Strings, Value

_NO_NAMES = np.empty(0, object)


@dataset("ParseExampleDataset", "ExperimentalParseExampleDataset")
def parse_example_dataset(
    input_dataset: Dataset,
    num_parallel_calls: torch.Tensor,
    dense_defaults: list[AnyTensor],
    *,
    sparse_keys: list[str],
    dense_keys: list[str],
    sparse_types: list[DType],
    Tdense: list[DType],
    dense_shapes: list[TensorShape],
) -> Dataset:
    """Features in the order of their keys; sparse ones as variants."""
    of_sparse, of_dense = ([strings([key.encode()], ()) for key in some] for some in (sparse_keys, dense_keys))

    def parsed(serialized: Strings) -> Element:
        indices, values, shapes, dense = parse_example(
            serialized,
            _NO_NAMES,
            of_sparse,
            of_dense,
            dense_defaults,
            sparse_types=sparse_types,
            Tdense=Tdense,
            dense_shapes=dense_shapes,
        )
        found: dict[str, Value] = dict(zip(dense_keys, dense))
        for key, dtype, *parts in zip(sparse_keys, sparse_types, indices, values, shapes):
            found[key] = _as_variant(dtype, *parts)
        return tuple(found[key] for key in sorted(found))

    calls = int(num_parallel_calls)
    if calls < 1 and calls != -1:
        raise InvalidArgumentError(None, None, f"num_parallel_calls must be greater than zero, not {calls}.")

    def start(iteration: Iteration) -> Following:
        following, count = input_dataset.start(iteration), None
        if iteration.stats is not None and made.origin is not None:
            count = _counted(iteration.stats, made.origin.told_name, {*sparse_keys, *dense_keys})

        def batch(step: Step | None, element: Element) -> Element:
            if count is not None:
                count(element[0])
            return parsed(element[0])

        return (lambda: batch(None, following())) if calls == 1 else Parallel(following, batch, calls, iteration)

    made = Dataset(start, input_dataset.cardinality)
    return telling_threads(made, calls)


def _counted(stats: Recorder, name: str, keys: set[str]) -> Callable[[Strings], None]:
    """A function that tells how many features Examples have, and how many values those that are asked for."""
    numbers = itertools.count(1)

    def count(serialized: Strings) -> None:
        for text in serialized.reshape(-1).tolist():
            features, number = Example.FromString(text).features.feature, next(numbers)
            kinds = [(f, f.WhichOneof("kind")) for key, f in features.items() if key in keys]
            values = sum(len(getattr(f, kind).value) for f, kind in kinds if kind is not None)
            stats.add_to_histogram(f"{name}::features_count", len(features), number)
            stats.add_to_histogram(f"{name}::feature_values_count", values, number)

    return count


def _as_variant(dtype: DType, indices: Any, values: AnyTensor, shape: Any) -> Strings:
    return serialize_sparse(indices, values, shape, T=dtype, out_type=dtypes.variant)


@dataset("FilterByLastComponentDataset")
def filter_by_last_component_dataset(input_dataset: Dataset) -> Dataset:
    """The elements whose last component is true, without it."""

    def start(iteration: Iteration) -> Following:
        following = input_dataset.start(iteration)

        def wanted() -> Element:
            while True:
                *element, is_wanted = following()
                if bool(is_wanted):
                    return tuple(element)

        return wanted

    return Dataset(start)
