"""Batches of labeled tensors, and labeled tensors from Examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from everflow.contrib.labeled_tensor.axes import as_axis
from everflow.contrib.labeled_tensor.core import LabeledTensor, convert_to_labeled_tensor
from everflow.framework.scopes import name_scope
from everflow.ops.io import examples
from everflow.train import input as queues


class FixedLenFeature:
    """A feature of an Example that always has the same axes."""

    def __init__(self, axes: Sequence[Any], dtype: Any, default_value: Any = None) -> None:
        self.axes, self.dtype, self.default_value = [as_axis(axis) for axis in axes], dtype, default_value

    def plain(self) -> examples.FixedLenFeature:
        """The feature without names."""
        return examples.FixedLenFeature([axis.size for axis in self.axes], self.dtype, self.default_value)


def parse_example(
    serialized: Any, features: Mapping[str, FixedLenFeature], name: str | None = None, example_names: Any = None
) -> dict[str, LabeledTensor]:
    """Labeled tensors by feature from Examples along one axis."""
    return _parsed(examples.parse_example, serialized, features, name, example_names)


def parse_single_example(
    serialized: Any, features: Mapping[str, FixedLenFeature], name: str | None = None, example_names: Any = None
) -> dict[str, LabeledTensor]:
    """Labeled tensors by feature from one Example."""
    return _parsed(examples.parse_single_example, serialized, features, name, example_names)


def _parsed(
    parse: Callable[..., Any], serialized: Any, features: Mapping[str, FixedLenFeature], name: str | None, names: Any
) -> dict[str, LabeledTensor]:
    """What `parse` gives, with the axes of the Examples (a single one has none) before those of each feature."""
    serialized = convert_to_labeled_tensor(serialized)
    parsed = parse(serialized.tensor, {key: feature.plain() for key, feature in features.items()}, name, names)
    return {key: LabeledTensor(parsed[key], [*serialized.axes.values(), *f.axes]) for key, f in features.items()}


def batch(
    labeled_tensors: Sequence[Any],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Tensors that a queue collects, along an axis "batch"; with `enqueue_many` they have that axis already."""
    with name_scope(name, "lt_batch", labeled_tensors) as scope:
        given = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        made = queues.batch(
            [each.tensor for each in given],
            batch_size=batch_size,
            num_threads=num_threads,
            capacity=capacity,
            enqueue_many=enqueue_many,
            allow_smaller_final_batch=allow_smaller_final_batch,
            name=scope,
        )
        return _batched(given, made, enqueue_many)


def shuffle_batch(
    labeled_tensors: Sequence[Any],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    min_after_dequeue: int = 0,
    seed: int | None = None,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """`batch` in random order, from a queue that keeps `min_after_dequeue` entries to choose from."""
    with name_scope(name, "lt_shuffle_batch", labeled_tensors) as scope:
        given = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        made = queues.shuffle_batch(
            [each.tensor for each in given],
            batch_size=batch_size,
            num_threads=num_threads,
            capacity=capacity,
            enqueue_many=enqueue_many,
            min_after_dequeue=min_after_dequeue,
            seed=seed,
            allow_smaller_final_batch=allow_smaller_final_batch,
            name=scope,
        )
        return _batched(given, made, enqueue_many)


def _batched(given: list[LabeledTensor], made: Any, enqueue_many: bool) -> list[LabeledTensor]:
    made = made if isinstance(made, (list, tuple)) else [made]
    results = []
    for before, tensor in zip(given, made, strict=True):
        axes = list(before.axes.values())
        if enqueue_many:
            if not axes or axes[0].name != "batch":
                raise ValueError(
                    f"With enqueue_many the first axis of tensors is called 'batch'; there are {before.axes}"
                )
            axes = axes[1:]
        results.append(LabeledTensor(tensor, ["batch", *axes]))
    return results
