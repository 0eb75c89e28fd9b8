"""`tensorflow.python.keras.engine.training_utils`: what `fit` and its kin are given, checked and brought into lists; losses
and metrics by output. Means and joined outputs over a data set are in aggregation.py.
"""

# ruff: noqa: F401  Names handed on are a purpose of this file.

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from everflow.data import Dataset, make_initializable_iterator
from everflow.data import experimental as data_experimental
from everflow.data.iterators import Iterator as DatasetIterator
from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import add_to_collection, executing_eagerly
from everflow.keras import backend as K
from everflow.keras import losses
from everflow.keras import metrics as metrics_module
from everflow.keras.callbacks import ProgbarLogger
from everflow.keras.engine import data_checks, endpoints
from everflow.keras.engine.array_batches import _batch_shuffled as batch_shuffle
from everflow.keras.engine.compiling import _placeholder_like
from everflow.keras.engine.training_loop import _is_validated
from everflow.legacy.inner.keras_engine.aggregation import (
    Aggregator,
    ConcatAggregator,
    MetricsAggregator,
    OutputsAggregator,
    SliceAggregator,
    get_copy_pool,
)
from everflow.ops import math
from everflow.ops.array.indexing import gather
from everflow.platform import logging

# --- arrays --------------------------------------------------------------------------------------

standardize_sample_weights = data_checks.sample_weights_by_output
standardize_class_weights = data_checks.class_weights_by_output
standardize_sample_or_class_weights = data_checks._by_output
check_array_lengths = data_checks.check_lengths


def standardize_input_data(
    data: Any, names: list[str], shapes: Any = None, check_batch_axis: bool = True, exception_prefix: str = ""
) -> list:
    """Arrays in the order of `names`, checked against `shapes`. Here each list in a list is an array of its own."""
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], (list, tuple)):
        data = [np.asarray(rows) for rows in data]
    elif isinstance(data, (int, float)):
        raise ValueError(f"An array is wanted for {names}, not the number {data}")
    return data_checks.standardize(data, names, shapes, check_batch_axis, exception_prefix)


def standardize_weights(
    y: Any, sample_weight: Any = None, class_weight: Any = None, sample_weight_mode: Any = None
) -> Any:
    """The weight of each sample, or None."""
    return data_checks.standardize_weights(y, sample_weight, class_weight, sample_weight_mode)


def standardize_single_array(x: Any, expected_shape: Sequence | None = None) -> Any:
    """An array or tensor with at least two dimensions, unless one is expected."""
    if x is None:
        return None
    if isinstance(x, (int, float)):
        raise ValueError(f"An array is wanted, not the number {x}")
    rank = len(x.shape)
    wanted = None if expected_shape is None else len(expected_shape)
    if rank != 1 or wanted == 1:
        return x
    return K.expand_dims(x) if isinstance(x, Tensor) else np.expand_dims(x, 1)


def slice_arrays(arrays: Any, indices: Any, contiguous: bool = True) -> Any:
    """Rows of an array, or of each in a list: from a position on, or those that are listed.

    Of a tensor, whose rows can't be listed, those from the first to the last, unless they are not `contiguous`.
    """
    if arrays is None:
        return None
    if isinstance(arrays, (list, tuple)):
        return [slice_arrays(array, indices, contiguous) for array in arrays]
    if hasattr(indices, "__len__"):
        if isinstance(arrays, Tensor):
            return arrays[indices[0] : indices[-1] + 1] if contiguous else gather(arrays, indices)
        return arrays[indices if not hasattr(indices, "shape") else indices.tolist()]
    return arrays[indices:]


def check_num_samples(
    ins: Any, batch_size: int | None = None, steps: int | None = None, steps_name: str = "steps"
) -> Any:
    """How many samples there are; None where steps are counted and data can't tell."""
    if steps is not None and batch_size is not None:
        raise ValueError(f"Give `{steps_name}` or `batch_size`, not both.")
    if check_steps_argument(ins, steps, steps_name):
        return None
    return int(ins[0].shape[0]) if hasattr(ins[0], "shape") else None


def check_steps_argument(input_data: Any, steps: int | None, steps_name: str) -> bool:
    """Whether data is such that steps have to be counted; ValueError where nobody said how many."""
    is_iterated = isinstance(input_data, DatasetIterator)
    nothing = input_data is None or isinstance(input_data, list) and not input_data
    needed = nothing or is_iterated or has_symbolic_tensors(input_data) or isinstance(input_data, Dataset)
    if needed and steps is None and not isinstance(input_data, Dataset):
        raise ValueError(f"How many batches an epoch has isn't to be seen from the data: say it with `{steps_name}`.")
    return needed


def split_training_and_validation_data(x: Any, y: Any, sample_weights: Any, validation_split: float) -> tuple:
    """(x, y, weights to train with, and to validate with), the last part of the rows being the latter."""
    if has_symbolic_tensors(x):
        raise ValueError("Tensors of a graph can't be split into training and validation data.")
    at = int(int(x[0].shape[0]) * (1.0 - validation_split))
    parts = [(slice(at), slice(at, None)), (x, y, sample_weights)]
    return tuple(None if arrays is None else [a[rows] for a in arrays] for rows in parts[0] for arrays in parts[1])


def unpack_validation_data(validation_data: Any) -> tuple:
    """(x, y, weights) of `validation_data`."""
    if isinstance(validation_data, (Dataset, DatasetIterator)) or inspect.isgenerator(validation_data):
        return validation_data, None, None
    if len(validation_data) not in (2, 3):
        raise ValueError("`validation_data` is (x, y) or (x, y, sample_weight).")
    return (*validation_data, None)[:3]


def validate_dataset_input(x: Any, y: Any, sample_weight: Any, validation_split: float | None = None) -> None:
    """ValueError where something is given beside a dataset that is in its elements."""
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            raise ValueError(f"`{name}` can't be given beside a dataset, whose elements have it: {x}")
    if validation_split:
        raise ValueError(f"`validation_split` is for arrays, and {x} is none.")


def check_generator_arguments(y: Any = None, sample_weight: Any = None, validation_split: float | None = None) -> None:
    """The same, beside a generator."""
    validate_dataset_input("a generator", y, sample_weight, validation_split)


def validate_input_types(inp: Any, orig_inp: Any, allow_dict: bool = True, field_name: str = "inputs") -> None:
    """ValueError unless data is arrays and tensors, in a list or, where it may be, a dict."""
    parts = inp if isinstance(inp, (list, tuple)) else [inp]
    if isinstance(inp, dict):
        if not allow_dict:
            raise ValueError(f"`{field_name}` can't be a dict here: {orig_inp}")
        parts = list(inp.values())
    for part in parts:
        if not isinstance(part, np.ndarray) and not isinstance(part, Tensor):
            raise ValueError(f"`{field_name}` is made of arrays and tensors; there is {part!r} in it.")


def check_loss_and_target_compatibility(targets: list, loss_fns: list, output_shapes: list) -> None:
    """ValueError where targets don't have the shape that a loss of Keras wants."""
    ends = []
    for loss, shape in zip(loss_fns, output_shapes):
        ends.append(endpoints.Endpoint(None, "", loss, None))
        ends[-1].known_shape = tuple(shape)
    data_checks.check_targets(targets, ends)


# --- tensors -------------------------------------------------------------------------------------


def has_symbolic_tensors(ls: Any) -> bool:
    """Whether there is a tensor of a graph among values."""
    return not executing_eagerly() and has_tensors(ls)


def has_tensors(ls: Any) -> bool:
    """Whether there is a tensor among values."""
    return any(isinstance(value, Tensor) for value in nest.flatten(ls))


def convert_eager_tensors_to_numpy(structure: Any) -> Any:
    """Values in place of tensors that have one."""
    return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, structure)


def list_to_tuple(maybe_list: Any) -> Any:
    """A tuple in place of a list."""
    return tuple(maybe_list) if isinstance(maybe_list, list) else maybe_list


def cast_single_tensor(x: Any, dtype: Any = None) -> Any:
    """A tensor, of Keras's type of numbers where it is one of floats."""
    x = convert_to_tensor(x) if isinstance(x, np.ndarray) else x
    wanted = dtypes.as_dtype(dtype or K.floatx())
    return math.cast(x, wanted) if isinstance(x, Tensor) and x.dtype.is_floating else x


def cast_if_floating_dtype(x: Any) -> Any:
    """Tensors, of Keras's type of numbers where they are of floats."""
    return nest.map_structure(cast_single_tensor, x)


def cast_if_floating_dtype_and_mismatch(targets: Any, outputs: Any) -> Any:
    """Targets of floats in the type of what they are compared with."""
    if isinstance(targets, Tensor):
        return cast_single_tensor(targets, nest.flatten(outputs)[0].dtype)
    return [
        cast_single_tensor(target, output.dtype)
        if not isinstance(target, Tensor) or target.dtype != output.dtype
        else target
        for target, output in zip(targets, outputs)
    ]


def cast_to_model_input_dtypes(x: Any, model: Any) -> Any:
    """Tensors in the types of a model's inputs."""
    wanted = nest.map_structure(lambda tensor: tensor.dtype, model.inputs)
    return nest.map_structure(math.cast, x, nest.pack_sequence_as(x, nest.flatten(wanted)))


class ModelInputs:
    """Inputs of a model with a `call` of its own: their names, and placeholders for them."""

    def __init__(self, inputs: Any) -> None:
        self._is_dict = isinstance(inputs, dict)
        self._is_single_input = not isinstance(inputs, (list, tuple, dict))
        if self._is_dict:
            self._input_names = sorted(inputs)
            self._flattened_inputs = [inputs[name] for name in self._input_names]
        else:
            self._flattened_inputs = nest.flatten(inputs)
            self._input_names = [f"input_{i + 1}" for i in range(len(self._flattened_inputs))]

    def get_input_names(self) -> list[str]:
        """A name for each."""
        return self._input_names

    def get_symbolic_inputs(self, return_single_as_list: bool = False) -> Any:
        """A placeholder for each, in the structure that the inputs have; tensors of a graph stay themselves."""
        with K.get_graph().as_default():
            made = [_placeholder_like(_column(x), name) for x, name in zip(self._flattened_inputs, self._input_names)]
        self._flattened_inputs = list(made)
        if self._is_single_input and not return_single_as_list:
            return made[0]
        return dict(zip(self._input_names, made)) if self._is_dict else made

    def as_dict(self) -> Iterator[tuple[str, Any]]:
        """(name, input) for each."""
        yield from zip(self._input_names, self._flattened_inputs)

    def as_list(self) -> list:
        """The inputs."""
        return self._flattened_inputs


def _column(x: Any) -> Any:
    return np.asarray([[x]], np.int64 if isinstance(x, int) else None) if isinstance(x, (int, float)) else x


# --- datasets ------------------------------------------------------------------------------------


def is_dataset_or_iterator(data: Any) -> bool:
    """Whether it is a dataset or an iterator over one."""
    return isinstance(data, (Dataset, DatasetIterator)) or type(data).__name__ == "IteratorV2"


def is_eager_dataset_or_iterator(data: Any) -> bool:
    """The same, where operations run at once."""
    return executing_eagerly() and is_dataset_or_iterator(data)


def get_iterator(dataset: Any) -> Any:
    """An iterator over a dataset, made ready."""
    if executing_eagerly():
        return iter(dataset)
    iterator = make_initializable_iterator(dataset)
    initialize_iterator(iterator)
    return iterator


def initialize_iterator(iterator: Any) -> None:
    """Let an iterator begin, and be known as one that needs to."""
    if not executing_eagerly():
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        K.get_session((iterator.initializer,)).run(iterator.initializer)


def extract_tensors_from_dataset(dataset: Any) -> tuple:
    """(x, y, weights) of a dataset's next element."""
    return unpack_iterator_input(get_iterator(dataset))


def unpack_iterator_input(iterator: Any) -> tuple:
    """(x, y, weights) of an iterator's next element."""
    element = next(iterator) if executing_eagerly() else iterator.get_next()
    if not isinstance(element, (list, tuple)):
        return element, None, None
    if len(element) not in (2, 3):
        raise ValueError(f"An element is x, (x, y) or (x, y, sample_weight), not a tuple of {len(element)}.")
    return (*element, None)[:3]


def infer_steps_for_dataset(
    model: Any, dataset: Any, steps: int | None, epochs: int = 1, steps_name: str = "steps"
) -> int | None:
    """How many batches a dataset has, where it is known; ValueError for one that never ends."""
    if steps is not None:
        return steps
    size = K.get_value(data_experimental.cardinality(dataset))
    if size == data_experimental.INFINITE_CARDINALITY:
        raise ValueError(f"The dataset never ends: say with `{steps_name}` how many batches an epoch has.")
    return int(size) if size >= 0 else None


# What of a dataset's making can be seen from its type; what functions of the program give, can't.
_SEEN_THROUGH = "Range Tensor TensorSlice SparseTensorSlice Zip Concatenate Repeat Cache Prefetch Map ParallelMap Filter Take Skip".split()


def _makings(dataset: Any) -> Iterator[str]:
    """The kinds of a dataset and of those that it is made of: "Map" for a MapDataset of any version."""
    if not isinstance(dataset, Dataset):
        raise ValueError(f"{dataset!r} is no dataset.")
    if dataset._made_by is not None:  # else it holds tensors, or is another one with options
        yield dataset._made_by.partition("Dataset")[0]
    for one in dataset._inputs():
        yield from _makings(one)


def _assert_not(dataset: Any, what: str, may_be: str) -> None:
    unclear = [kind for kind in _makings(dataset) if kind not in (*_SEEN_THROUGH, may_be)]
    if unclear:
        raise ValueError(f"A dataset without `{what}` is wanted, which can't be said of one made by {unclear}.")


def assert_not_batched(dataset: Any) -> None:
    """ValueError for a dataset of batches, or one of which that isn't to be seen."""
    _assert_not(dataset, "batch", may_be="Shuffle")


def assert_not_shuffled(dataset: Any) -> None:
    """ValueError for a dataset that is shuffled, or one of which that isn't to be seen."""
    _assert_not(dataset, "shuffle", may_be="Batch")


def verify_dataset_shuffled(x: Any) -> None:
    """A warning for a dataset that isn't shuffled."""
    if not any(kind.startswith("Shuffle") for kind in _makings(x)):
        logging.warning("The dataset isn't shuffled: `shuffle` lets training see its elements in ever new orders.")


# --- losses and metrics --------------------------------------------------------------------------

prepare_loss_functions = endpoints.loss_objects


def call_metric_function(metric_fn: Any, y_true: Any, y_pred: Any = None, weights: Any = None, mask: Any = None) -> Any:
    """A metric's result with a batch more."""
    return endpoints.call_metric(metric_fn, y_true, y_pred, weights, mask)


def get_loss_function(loss: Any) -> Any:
    """A loss object for what `compile` may be given."""
    return None if loss is None else endpoints._loss_object(loss)


def prepare_loss_weights(training_endpoints: list, loss_weights: Any = None) -> None:
    """Give each output the weight of its loss."""
    names = [endpoint.output_name for endpoint in training_endpoints]
    for endpoint, weight in zip(training_endpoints, endpoints.loss_weights(loss_weights, names)):
        endpoint.loss_weight = weight


def prepare_sample_weight_modes(training_endpoints: list, sample_weight_mode: Any) -> None:
    """Give each output its mode of weights."""
    names = [endpoint.output_name for endpoint in training_endpoints]
    for endpoint, mode in zip(training_endpoints, endpoints.sample_weight_modes(sample_weight_mode, names)):
        endpoint.sample_weight_mode = mode


def get_metric_name(metric: Any, weighted: bool = False) -> str:
    """What a metric is reported as."""
    return endpoints.metric_name(metric, weighted)


def get_metric_function(metric: Any, output_shape: Sequence | None = None, loss_fn: Any = None) -> Callable:
    """The function that a metric's name means for an output of this shape and its loss."""
    endpoint = endpoints.Endpoint(None, "", loss_fn, None)
    endpoint.known_shape = output_shape
    return endpoints.metric_function(metric, endpoint)


def collect_per_output_metric_info(
    metrics: Any, output_names: list[str], output_shapes: list, loss_fns: list, is_weighted: bool = False
) -> list[OrderedDict]:
    """For each output, its metric objects by name."""
    if not metrics:
        return [OrderedDict() for _ in output_names]
    found = []
    for asked, shape, loss in zip(endpoints.metrics_by_output(metrics, output_names), output_shapes, loss_fns):
        endpoint = endpoints.Endpoint(None, "", loss, None)
        endpoint.known_shape = shape
        found.append(OrderedDict(endpoints.metric_object(metric, endpoint, is_weighted) for metric in asked))
    return found


# --- loops ---------------------------------------------------------------------------------------


def should_run_validation(validation_freq: int | Iterable[int], epoch: int) -> bool:
    """Whether to validate after an epoch, counted from 0."""
    return _is_validated(validation_freq, epoch)


def generic_output_names(outputs_list: Sequence) -> list[str]:
    """Names for outputs that have none."""
    return [f"output_{i + 1}" for i in range(len(outputs_list))]


def get_progbar(model: Any, count_mode: str) -> ProgbarLogger:
    """The bar that shows how training goes."""
    made = ProgbarLogger(count_mode, stateful_metrics=model.metrics_names[1:] if model else None)
    made.set_model(model)
    return made


def is_feature_layer(layer: Any) -> bool:
    """Whether a layer is one of feature columns."""
    return getattr(layer, "_is_feature_layer", False)


def get_static_batch_size(layer: Any) -> int | None:
    """The size of batches that a layer was made for, where it was."""
    shape, _ = get_input_shape_and_dtype(layer)
    return None if shape is None else shape[0]


def get_input_shape_and_dtype(layer: Any) -> tuple:
    """(shape of batches, type) of what the first layer of a model takes; (None, None) where it isn't known."""
    while hasattr(layer, "layers") and layer.layers:
        layer = layer.layers[0]
    shape = getattr(layer, "_batch_input_shape", None)
    return (None, None) if shape is None else (shape, layer.dtype)


class TrainingLoop:
    """The base of what fits, evaluates and predicts."""

    def fit(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Train a model; subclasses say how."""
        raise NotImplementedError

    def evaluate(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Test a model; subclasses say how."""
        raise NotImplementedError

    def predict(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Let a model predict; subclasses say how."""
        raise NotImplementedError
