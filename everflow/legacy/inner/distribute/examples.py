"""`tensorflow.python.distribute.single_loss_example`: small models with a known course of training, for tests of strategies."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.data import Dataset
from everflow.distribute.steps import StandardSingleLossStep
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, get_collection
from everflow.layers import BatchNormalization, Dense
from everflow.ops import array, math
from everflow.ops.array.constants import constant

_ROWS, _COLUMNS = 16, 8


def _distance_from_one(layer: Dense, x: Any) -> Any:
    y = array.reshape(layer(x), []) - constant(1.0)
    return y * y


def single_loss_example(
    optimizer_fn: Callable[[], Any], distribution: Any, use_bias: bool = False, iterations_per_step: int = 1
) -> tuple[StandardSingleLossStep, Dense]:
    """(step, layer): a layer of one weight that is to give 1 for 1."""

    def dataset_fn() -> Dataset:
        return Dataset.from_tensors([[1.0]]).repeat()

    layer = Dense(1, use_bias=use_bias)

    def loss_fn(context: Any, x: Any) -> Any:
        return _distance_from_one(layer, x)

    step = StandardSingleLossStep(dataset_fn, loss_fn, optimizer_fn(), distribution, iterations_per_step)
    return step, layer


def minimize_loss_example(
    optimizer: Any, use_bias: bool = False, use_callable_loss: bool = True
) -> tuple[Callable[[Any], Any], Callable[[], Dataset], Dense]:
    """(model_fn, dataset_fn, layer): the same, as a function of an element that makes a step."""

    def dataset_fn() -> Dataset:
        return Dataset.from_tensors([[1.0]]).repeat().batch(1, drop_remainder=True)

    layer = Dense(1, use_bias=use_bias)

    def model_fn(x: Any) -> Any:
        def loss_fn() -> Any:
            return _distance_from_one(layer, x)

        return optimizer.minimize(loss_fn if use_callable_loss else loss_fn())

    return model_fn, dataset_fn, layer


def batchnorm_example(
    optimizer_fn: Callable[[], Any],
    batch_per_epoch: int = 1,
    momentum: float = 0.9,
    renorm: bool = False,
    update_ops_in_replica_mode: bool = False,
) -> tuple[Callable[[Any], Any], Callable[[], Dataset], BatchNormalization]:
    """(model_fn, dataset_fn, layer): batches whose means are 100 apart go through batch normalization."""

    def dataset_fn() -> Dataset:
        first = np.arange(_ROWS * _COLUMNS, dtype=np.float32).reshape(_ROWS, _COLUMNS)
        batches = np.concatenate([first + 100 * i for i in range(batch_per_epoch)])
        return Dataset.from_tensor_slices(batches).repeat().batch(_ROWS, drop_remainder=True)

    optimizer = optimizer_fn()
    normalization = BatchNormalization(renorm=renorm, momentum=momentum, fused=False)
    layer = Dense(1, use_bias=False)

    def model_fn(x: Any) -> Any:
        def loss_fn() -> Any:
            y = math.reduce_sum(layer(normalization(x, training=True)), axis=1)
            return math.reduce_mean(y - constant(1.0))

        loss = loss_fn()
        updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops_in_replica_mode else []
        with control_dependencies(updates) if updates else contextlib.nullcontext():
            return optimizer.minimize(lambda: loss)

    return model_fn, dataset_fn, normalization
