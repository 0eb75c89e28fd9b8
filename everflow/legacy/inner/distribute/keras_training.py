"""`keras.distribute.distributed_training_utils`: how data is spread over the replicas of a Keras model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from everflow.data import get_output_shapes
from everflow.data.iterators import Iterator as GraphIterator
from everflow.distribute.context import get_replica_context
from everflow.framework import nest
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly
from everflow.keras import backend as K
from everflow.keras import callbacks as keras_callbacks
from everflow.keras.engine.strategy_batches import cut
from everflow.keras.optimizers.optimizer import Optimizer
from everflow.legacy.inner.distribute.multi_worker import is_chief
from everflow.ops.array import concat
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.sparse.functions import sparse_concat


def global_batch_size_supported(distribution_strategy: Any) -> bool:
    """Whether the size of batches is that of all replicas together: for every strategy that runs here."""
    return True


def is_tpu_strategy(strategy: Any) -> bool:
    """Whether a strategy is for TPUs."""
    return type(strategy).__name__.startswith("TPUStrategy")


def get_input_params(
    distribution_strategy: Any, num_samples: int, steps: int | None, batch_size: int | None, mode: str | None = None
) -> tuple[int, int]:
    """(steps, size of batches) for so many samples; ValueError where they can't be cut so."""
    may_end_short = mode == "train" or mode in ("test", "predict") and executing_eagerly()
    return cut(num_samples, steps, batch_size, may_end_short)


def set_weights(distribution_strategy: Any, dist_model: Any, weights: list) -> None:
    """Give a model's variables values, on all replicas."""
    with distribution_strategy.scope():
        K.batch_set_value(list(zip(dist_model.weights, weights, strict=True)))


def process_batch_and_step_size(
    strategy: Any,
    inputs: Any,
    batch_size: int | None,
    steps_per_epoch: int | None,
    mode: str,
    validation_split: float = 0.0,
) -> tuple[int | None, int | None]:
    """(size of batches, steps) for arrays; what was given for anything else."""
    first = nest.flatten(inputs)[0]
    if not isinstance(first, np.ndarray):
        return batch_size, steps_per_epoch
    samples = int(first.shape[0] * (1 - validation_split))
    steps, batch_size = get_input_params(strategy, samples, steps_per_epoch, batch_size, mode)
    return batch_size, steps


# --- values of replicas ---------------------------------------------------------------------------


def flatten_per_replica_values(distribution_strategy: Any, per_replica_values: Any) -> list:
    """All parts of all values, one after the other."""
    return [
        part
        for value in nest.flatten(per_replica_values)
        for part in distribution_strategy.experimental_local_results(value)
    ]


def unwrap_outputs(distribution_strategy: Any, grouped_outputs: Any, with_loss_tensor: bool = False) -> list:
    """All parts of outputs; of a loss that comes first, the sum."""
    if not with_loss_tensor:
        return flatten_per_replica_values(distribution_strategy, grouped_outputs)
    if not isinstance(grouped_outputs, list):
        grouped_outputs = [grouped_outputs]
    loss = distribution_strategy.reduce("SUM", grouped_outputs[0], axis=None)
    return [loss, *flatten_per_replica_values(distribution_strategy, grouped_outputs[1:])]


def concat_along_batch_dimension(outputs: Sequence[Any]) -> Any:
    """What replicas give as one batch."""
    if isinstance(outputs[0], SparseTensor):
        return sparse_concat(axis=0, sp_inputs=outputs)
    if isinstance(outputs[0], RaggedTensor):
        return concat(outputs, axis=0)
    return np.concatenate(outputs)


def call_replica_local_fn(fn: Callable, *args: Any, **kwargs: Any) -> Any:
    """`fn` called in each replica, where a strategy keeps values apart; the first one's result."""
    strategy = kwargs.pop("strategy", None) or (args and getattr(args[0], "_distribution_strategy", None))
    if strategy and get_replica_context() is None:
        with strategy.scope():
            return strategy.extended.call_for_each_replica(fn, args, kwargs)
    return fn(*args, **kwargs)


@contextlib.contextmanager
def distributed_scope(strategy: Any, learning_phase: Any) -> Iterator[None]:
    """A strategy's scope, with a learning phase."""
    with strategy.scope(), K.learning_phase_scope(learning_phase):
        yield


# --- checks ---------------------------------------------------------------------------------------


def validate_inputs(x: Any, y: Any) -> None:
    """Raise for iterators: a strategy has to make its own."""
    if isinstance(x, GraphIterator) or isinstance(y, GraphIterator):
        raise ValueError("Under a strategy a model takes datasets and arrays, not iterators: give the dataset itself.")


def validate_callbacks(input_callbacks: Sequence[Any] | None, optimizer: Any) -> None:
    """Raise for callbacks that set the learning rate of an optimizer which isn't one of Keras."""
    rates = (keras_callbacks.LearningRateScheduler, keras_callbacks.ReduceLROnPlateau)
    for callback in input_callbacks or ():
        if isinstance(callback, rates) and not isinstance(optimizer, Optimizer):
            raise ValueError(f"{callback} sets the learning rate of an optimizer of tf.keras, and this is {optimizer}")


def validate_all_tensor_types(x: Any, x_values: Sequence[Any]) -> None:
    """Raise unless all replicas have tensors of one dtype."""
    if len({value.dtype for value in x_values}) > 1:
        raise ValueError(f"All replicas take tensors of one dtype; {x} has {[value.dtype for value in x_values]}")


def validate_all_tensor_shapes(x: Any, x_values: Sequence[Any]) -> None:
    """Raise unless all replicas have tensors of one shape."""
    shapes = [value.shape.as_list() for value in x_values]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError(f"All replicas take tensors of one shape; {x} has {shapes}")


def validate_per_replica_inputs(distribution_strategy: Any, x: Any) -> list:
    """Inputs as tensors: all of a composite one, and of a value with parts the first, which the others must be like."""
    found: list = []
    for value in nest.flatten(x, expand_composites=True):
        parts = distribution_strategy.experimental_local_results(value)
        for part in parts:
            if not isinstance(part, Tensor):
                raise ValueError(f"A dataset gives a model tensors, not {type(part)}")
        if not executing_eagerly():
            validate_all_tensor_shapes(value, parts)
        validate_all_tensor_types(value, parts)
        found.append(parts[0])
    return found


def validate_distributed_dataset_inputs(
    distribution_strategy: Any, x: Any, y: Any, sample_weights: Any = None
) -> tuple:
    """(x, y, weights): the parts of each, or None."""
    return tuple(
        None if value is None else validate_per_replica_inputs(distribution_strategy, value)
        for value in (x, y, sample_weights)
    )


def is_dataset_shape_fully_defined(dataset: Any) -> bool:
    """Whether all shapes of a dataset's elements are known."""
    return all(shape.is_fully_defined() for shape in nest.flatten(get_output_shapes(dataset)))


def get_batch_dimension(iterator: Any) -> Any:
    """The size of an iterator's batches; None or unknown where they may differ."""
    shapes = nest.flatten(get_output_shapes(iterator))
    return shapes[0].dims[0] if shapes[0].dims else None


# --- iterators and workers ------------------------------------------------------------------------


def get_iterator(dataset: Any, distribution_strategy: Any) -> Any:
    """An iterator that gives each replica its part, begun."""
    with distribution_strategy.scope():
        parts = distribution_strategy.make_dataset_iterator(dataset)
        _begin(parts)
    return parts


def initialize_iterator(iterator: Any, distribution_strategy: Any) -> None:
    """Begin at the dataset's start."""
    with distribution_strategy.scope():
        _begin(iterator)


def _begin(iterator: Any) -> None:
    begun = iterator.initialize()
    if not executing_eagerly():
        K.get_session((begun,)).run(begun)


def is_current_worker_chief() -> bool:
    """Whether the worker that a coordinator runs here is the chief."""
    return is_chief()
