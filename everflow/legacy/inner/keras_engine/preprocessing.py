"""Layers whose state comes from data before training: `base_preprocessing_layer` and its `Normalization`."""

from __future__ import annotations

import collections
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from everflow.data import Dataset, make_one_shot_iterator
from everflow.data.experimental import INFINITE_CARDINALITY, cardinality
from everflow.framework.errors import OutOfRangeError
from everflow.framework.scopes import executing_eagerly, init_scope
from everflow.framework.type_specs import TensorSpec
from everflow.keras import backend as K
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.tracked_attributes import untracked
from everflow.ops import array

_BATCH = 512
_COUNT_NAME, _MEAN_NAME, _VARIANCE_NAME = "count", "mean", "variance"


class PreprocessingLayer(Layer):
    """Base of layers that are given data, with `adapt`, before a model is trained."""

    def adapt(self, data: Any, reset_state: bool = True) -> None:
        """Learn from data; subclasses say how."""


class Combiner:
    """How a layer's state comes from data, batch by batch: a value that is accumulated, merged, and written down."""

    def compute(self, batch_values: Any, accumulator: Any = None) -> Any:
        """What there is after one more batch."""

    def merge(self, accumulators: Iterable) -> Any:
        """Several accumulated values as one."""

    def extract(self, accumulator: Any) -> Any:
        """{name of a state variable: value}."""

    def restore(self, output: Any) -> Any:
        """An accumulated value from what `extract` gave."""

    def serialize(self, accumulator: Any) -> Any:
        """An accumulated value as bytes."""

    def deserialize(self, encoded_accumulator: Any) -> Any:
        """An accumulated value from bytes."""


class CombinerPreprocessingLayer(PreprocessingLayer):
    """A layer whose state variables have what a combiner makes of the data."""

    @untracked
    def __init__(self, combiner: Combiner, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.state_variables: dict[str, Any] = {}
        self._combiner = combiner

    def adapt(self, data: Any, reset_state: bool = True) -> None:
        """Learn from an array or a dataset; with `reset_state=False` on top of what was learnt before."""
        goes_on = self.built and not reset_state
        accumulator = self._combiner.restore(self._restore_updates()) if goes_on else None
        for batch in self._batches(data):
            if not self.built:
                self.build((None, *np.shape(batch)[1:]))
            accumulator = self._combiner.compute(batch, accumulator)
        self._set_state_variables(self._combiner.extract(accumulator))

    def _batches(self, data: Any) -> Iterator[np.ndarray]:
        if isinstance(data, np.ndarray):
            return (data[start : start + _BATCH] for start in range(0, len(data), _BATCH))
        if not isinstance(data, Dataset):
            raise ValueError(
                f"adapt() takes a dataset or a numpy array, not a {type(data).__name__}: {str(data)[:200]}"
            )
        if self._dataset_is_infinite(data):
            raise ValueError("adapt() goes through all of a dataset, and this one has no end: `take` a part of it.")
        return self._get_dataset_iterator(data)

    def _dataset_is_infinite(self, dataset: Dataset) -> bool:
        return int(K.get_value(cardinality(dataset))) == INFINITE_CARDINALITY

    def _get_dataset_iterator(self, dataset: Dataset) -> Iterator[np.ndarray]:
        if executing_eagerly():
            yield from (element.numpy() for element in dataset)
            return
        element = make_one_shot_iterator(dataset).get_next()
        while True:
            try:
                yield K.get_session().run(element)
            except OutOfRangeError:
                return

    def _add_state_variable(self, name: str, shape: Any, dtype: Any, initializer: Any = None, **kwargs: Any) -> Any:
        """A variable that `adapt` sets, and training leaves alone."""
        variable = self.add_weight(name, shape, dtype, initializer, trainable=False, **kwargs)
        self.state_variables[name] = variable
        return variable

    def _restore_updates(self) -> dict[str, np.ndarray]:
        return {name: K.get_value(variable) for name, variable in self.state_variables.items()}

    def _set_state_variables(self, updates: dict[str, Any]) -> None:
        if not self.built:
            raise RuntimeError(f"{self.name} has no variables to set yet: call `build`, or the layer, first.")
        with init_scope():
            K.batch_set_value([(self.state_variables[name], np.asarray(value)) for name, value in updates.items()])


Accumulator = collections.namedtuple("Accumulator", [_COUNT_NAME, _MEAN_NAME, _VARIANCE_NAME])


class _NormalizingCombiner(Combiner):
    """Mean and variance over all axes but some."""

    def __init__(self, axis: int | Sequence[int]) -> None:
        self._axis = axis

    def compute(self, batch_values: Any, accumulator: Accumulator | None = None) -> Accumulator:
        values = np.asarray(batch_values)
        kept = [axis % values.ndim for axis in _listed(self._axis)]
        others = tuple(i for i in range(values.ndim) if i not in kept)
        count = np.prod([values.shape[i] for i in others], dtype="int64")
        mean = np.mean(values, axis=others, dtype="float64")
        batch = Accumulator(np.array(count), mean, np.var(values, axis=others, dtype="float64"))
        return batch if accumulator is None else self.merge([accumulator, batch])

    def merge(self, accumulators: Iterable[Accumulator]) -> Accumulator:
        accumulators = list(accumulators)
        count = np.sum([a.count for a in accumulators], dtype="int64")
        mean = np.sum([a.mean * (a.count / count) for a in accumulators], axis=0)
        variance = np.sum([(a.variance + (a.mean - mean) ** 2) * (a.count / count) for a in accumulators], axis=0)
        return Accumulator(np.array(count), mean, variance)

    def extract(self, accumulator: Accumulator) -> dict[str, np.ndarray]:
        return accumulator._asdict()

    def restore(self, output: dict[str, Any]) -> Accumulator:
        kinds = {"count": "int32", "mean": "float64", "variance": "float64"}
        return Accumulator(**{name: np.array(output[name], kind) for name, kind in kinds.items()})

    def serialize(self, accumulator: Accumulator) -> bytes:
        return json.dumps({name: np.asarray(value).tolist() for name, value in accumulator._asdict().items()}).encode()

    def deserialize(self, encoded_accumulator: bytes) -> Accumulator:
        return Accumulator(**{name: np.array(value) for name, value in json.loads(encoded_accumulator).items()})


class Normalization(CombinerPreprocessingLayer):
    """Inputs less the mean of the data, divided by its variance, for each place along some axes."""

    _NormalizingCombiner = _NormalizingCombiner

    @untracked
    def __init__(self, axis: int | Sequence[int] = -1, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(_NormalizingCombiner(axis), dtype=dtype or K.floatx(), **kwargs)
        if axis == 0:
            raise ValueError("Axis 0 is that of examples, which can't have a mean each.")
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        """Make variables for means, variances and the number of examples."""
        self._rank = len(input_shape)
        self._kept = [axis % self._rank for axis in _listed(self.axis)]
        shape = [input_shape[axis] for axis in _listed(self.axis)]
        self.mean = self._add_state_variable(_MEAN_NAME, shape, K.floatx(), "zeros")
        self.variance = self._add_state_variable(_VARIANCE_NAME, shape, K.floatx(), "zeros")
        self.count = self._add_state_variable(_COUNT_NAME, (), "int32", "zeros")
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        """Normalize."""
        sides = [side if i in self._kept else 1 for i, side in enumerate(inputs.shape.as_list())]
        return (inputs - array.reshape(self.mean, sides)) / array.reshape(self.variance, sides)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The same."""
        return input_shape

    def compute_output_signature(self, input_spec: TensorSpec) -> TensorSpec:
        """The same."""
        return input_spec

    def get_config(self) -> dict[str, Any]:
        """The axes, beside what every layer tells."""
        return {**super().get_config(), "axis": self.axis}

    def set_weights(self, weights: Sequence) -> None:
        """Means and variances; the number of examples is 0 where it isn't given."""
        super().set_weights([*weights, np.array(0)] if len(weights) == 2 else weights)


def _listed(axis: int | Sequence[int]) -> list[int]:
    return [axis] if isinstance(axis, int) else list(axis)
