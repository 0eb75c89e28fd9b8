"""Names that programs and tests take from inside TensorFlow's `keras.utils`: of shapes and structures, of metrics, of
enumerations for them.
"""

# ruff: noqa: F401  Names handed on are a purpose of this file.

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from everflow.framework import nest, strategy_context
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, executing_eagerly_outside_functions, init_scope
from everflow.keras import backend as K
from everflow.keras.engine.topology import refuse_legacy as assert_no_legacy_layers
from everflow.keras.metrics import confusion
from everflow.keras.metrics.curves import AUCCurve, AUCSummationMethod
from everflow.keras.metrics.reductions import Reduction
from everflow.keras.utils import for_layers
from everflow.keras.utils.sequences import Sequence as KerasSequence
from everflow.ops import array
from everflow.ops.checks.values import assert_equal
from everflow.ops.control_flow.conditionals import smart_constant_value
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.variables.variable import Variable

# --- generic_utils -------------------------------------------------------------------------------


def to_list(x: Any) -> list:
    """A list as it is, anything else as a list of one."""
    return x if isinstance(x, list) else [x]


def is_all_none(structure: Any) -> bool:
    """Whether there is nothing but None."""
    return all(value is None for value in nest.flatten(structure))


def has_arg(fn: Callable, name: str, accept_all: bool = False) -> bool:
    """Whether a function takes an argument of a name; with `accept_all`, also where it takes any."""
    spec = inspect.getfullargspec(fn)
    return name in (*spec.args, *spec.kwonlyargs) or accept_all and spec.varkw is not None


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """(first, one behind the last) of each batch."""
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def object_list_uid(object_list: Any) -> str:
    """A key for a list of objects, themselves."""
    return ", ".join(str(abs(id(x))) for x in nest.flatten(object_list))


def check_for_unexpected_keys(name: str, input_dict: Mapping, expected_values: Sequence) -> None:
    """ValueError where a dict has keys that are not wanted."""
    unknown = set(input_dict) - set(expected_values)
    if unknown:
        raise ValueError(f"`{name}` has {sorted(unknown)}; only these are known: {list(expected_values)}")


def validate_kwargs(
    kwargs: Mapping, allowed_kwargs: Any, error_message: str = "Keyword argument not understood:"
) -> None:
    """TypeError where there is an argument that isn't allowed."""
    for name in kwargs:
        if name not in allowed_kwargs:
            raise TypeError(error_message, name)


def slice_arrays(arrays: Any, start: Any = None, stop: int | None = None) -> Any:
    """Part of each of some arrays, from `start` to `stop` or the rows that a list names; None for what has no parts."""
    if arrays is None:
        return [None]
    if isinstance(start, list) and stop is not None:
        raise ValueError(f"Rows are named by a list, or go from `start` to `stop`: not {start} and {stop}")
    if hasattr(start, "shape"):
        start = start.tolist()
    if isinstance(arrays, list):
        part = start if isinstance(start, list) else slice(start, stop)
        return [x[part] if hasattr(x, "__getitem__") else None for x in arrays]
    if isinstance(start, list):
        return arrays[start]
    return [None]  # as in TensorFlow, a single array has no parts from one row to another


def serialize_keras_class_and_config(cls_name: str, cls_config: Mapping) -> dict[str, Any]:
    """A class and how its object was made, as plain data."""
    return {"class_name": cls_name, "config": cls_config}


# --- conv_utils ----------------------------------------------------------------------------------


def _windows(
    input_shape: Sequence[int], kernel_shape: Sequence[int], strides: Sequence[int], padding: str
) -> Iterator[tuple[tuple[int, ...], list[range]]]:
    """(position of an output, positions of inputs that it sees along each dimension) of a convolution."""
    if padding not in ("same", "valid"):
        raise NotImplementedError(f'Padding is "same" or "valid", not {padding!r}')
    if not len(input_shape) == len(kernel_shape) == len(strides):
        raise ValueError(f"Shapes {input_shape}, {kernel_shape} and strides {strides} must be of one length.")
    sizes = zip(input_shape, kernel_shape, strides)
    outputs = [for_layers.conv_output_length(size, kernel, padding, stride) for size, kernel, stride in sizes]
    for place in itertools.product(*map(range, outputs)):
        seen = []
        for at, size, kernel, stride in zip(place, input_shape, kernel_shape, strides):
            first = at * stride - (kernel // 2 if padding == "same" else 0)
            seen.append(range(max(0, first), min(size, first + kernel)))
        yield place, seen


def _for_all_axes(values: Any, rank: int) -> Sequence[int]:
    return [values] * rank if isinstance(values, int) else values


def conv_output_shape(input_shape: Sequence[int], kernel_shape: Any, strides: Any, padding: str) -> tuple[int, ...]:
    """The shape that a convolution gives, channels left aside."""
    kernel, steps = (_for_all_axes(x, len(input_shape)) for x in (kernel_shape, strides))
    sizes = zip(input_shape, kernel, steps)
    return tuple(for_layers.conv_output_length(size, window, padding, stride) for size, window, stride in sizes)


def conv_connected_inputs(
    input_shape: Sequence[int], kernel_shape: Any, output_position: Sequence[int], strides: Any, padding: str
) -> list[range]:
    """The positions of inputs that an output sees, along each dimension."""
    kernel, steps = (_for_all_axes(x, len(input_shape)) for x in (kernel_shape, strides))
    return dict(_windows(input_shape, kernel, steps, padding))[tuple(output_position)]


def conv_kernel_mask(input_shape: Sequence[int], kernel_shape: Any, strides: Any, padding: str) -> np.ndarray:
    """Whether an input is seen by an output, for all positions of inputs and outputs."""
    kernel, steps = (_for_all_axes(x, len(input_shape)) for x in (kernel_shape, strides))
    found = list(_windows(input_shape, kernel, steps, padding))
    outputs = [last + 1 for last in found[-1][0]] if found else []
    mask = np.zeros((*input_shape, *outputs), bool)
    for place, seen in found:
        for at in itertools.product(*seen):
            mask[(*at, *place)] = True
    return mask


def conv_kernel_idxs(
    input_shape: Sequence[int],
    kernel_shape: Any,
    strides: Any,
    padding: str,
    filters_in: int,
    filters_out: int,
    data_format: str,
) -> Iterator[tuple[int, int]]:
    """(number of an output, number of an input it sees), channels included, of arrays laid out in a row."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Data is channels_first or channels_last, not {data_format!r}")
    kernel, steps = (_for_all_axes(x, len(input_shape)) for x in (kernel_shape, strides))
    found = list(_windows(input_shape, kernel, steps, padding))
    outputs = [last + 1 for last in found[-1][0]] if found else []

    def number(shape: Sequence[int], place: tuple, channels: int, channel: int) -> int:
        if data_format == "channels_first":
            return int(np.ravel_multi_index((channel, *place), (channels, *shape)))
        return int(np.ravel_multi_index((*place, channel), (*shape, channels)))

    for place, seen in found:
        for at in itertools.product(*seen):
            for f_in, f_out in itertools.product(range(filters_in), range(filters_out)):
                yield number(outputs, place, filters_out, f_out), number(input_shape, at, filters_in, f_in)


# --- tf_utils ------------------------------------------------------------------------------------


class ListWrapper:
    """A list that functions over structures take as one thing."""

    def __init__(self, list_to_wrap: list) -> None:
        self._list = list_to_wrap

    def as_list(self) -> list:
        """The list."""
        return self._list


def constant_value(pred: Any) -> bool | None:
    """Whether a condition is true, where it is known already; ValueError for what is no condition."""
    return None if isinstance(pred, Variable) else smart_constant_value(pred)


def are_all_symbolic_tensors(tensors: Sequence) -> bool:
    """Whether all belong to a graph rather than holding a value."""
    return all(for_layers.is_symbolic_tensor(tensor) for tensor in tensors)


def is_tensor_or_variable(x: Any) -> bool:
    """Whether it is a tensor or a variable."""
    return isinstance(x, (Tensor, SparseTensor, RaggedTensor, Variable))


def is_tensor_or_tensor_list(v: Any) -> bool:
    """Whether it is a tensor, or the first of several."""
    flat = nest.flatten(v)
    return bool(flat) and isinstance(flat[0], Tensor)


def map_structure_with_atomic(is_atomic_fn: Callable[[Any], bool], map_fn: Callable, nested: Any) -> Any:
    """A structure with `map_fn` of each part that `is_atomic_fn` says is one thing."""
    if is_atomic_fn(nested):
        return map_fn(nested)
    if isinstance(nested, Mapping):
        return type(nested)((key, map_structure_with_atomic(is_atomic_fn, map_fn, nested[key])) for key in nested)
    if not isinstance(nested, (list, tuple)):
        raise ValueError(f"{nested!r} is neither one of the things that are mapped nor a structure of them.")
    return type(nested)(map_structure_with_atomic(is_atomic_fn, map_fn, value) for value in nested)


def convert_inner_node_data(nested: Any, wrap: bool = False) -> Any:
    """Where a layer's inputs come from, [layer, node, tensor, ...] each, as ListWrappers or, the other way, as lists."""

    def is_one(value: Any) -> bool:
        if isinstance(value, ListWrapper):
            return True
        return isinstance(value, (list, tuple)) and bool(value) and isinstance(value[0], str)

    def convert(value: Any) -> Any:
        held = value.as_list() if isinstance(value, ListWrapper) else value
        return ListWrapper(list(held)) if wrap else held

    return map_structure_with_atomic(is_one, convert, nested)


def maybe_init_scope(layer: Any) -> AbstractContextManager:
    """A context for variables: out of functions where all else runs at once."""
    return init_scope() if executing_eagerly_outside_functions() else nullcontext()


def graph_context_for_symbolic_tensors(*args: Any, **kwargs: Any) -> AbstractContextManager:
    """The graph of models, where some arguments belong to it; else no context."""
    if any(for_layers.is_symbolic_tensor(value) for value in nest.flatten([args, kwargs])):
        return K.get_graph().as_default()
    return nullcontext()


# --- losses_utils --------------------------------------------------------------------------------


def scale_loss_for_distribution(loss_value: Any) -> Any:
    """A replica's loss as its share of the total."""
    frame = strategy_context.current()
    replicas = 1 if frame is None else frame.strategy.num_replicas_in_sync
    return loss_value * (1.0 / replicas) if replicas > 1 else loss_value


# --- metrics_utils -------------------------------------------------------------------------------


class ConfusionMatrix(enum.Enum):
    """The cells of a confusion matrix."""

    TRUE_POSITIVES = "tp"
    FALSE_POSITIVES = "fp"
    TRUE_NEGATIVES = "tn"
    FALSE_NEGATIVES = "fn"


assert_thresholds_range = confusion.check_thresholds
_filter_top_k = confusion._only_top_k
NEG_INF = confusion._NEGATIVE_INFINITY


def parse_init_thresholds(thresholds: Any, default_threshold: float = 0.5) -> list:
    """Thresholds as a list, the default one where none are given."""
    return confusion._thresholds_or(thresholds, default_threshold)


def update_confusion_matrix_variables(
    variables_to_update: Mapping[ConfusionMatrix, Any],
    y_true: Any,
    y_pred: Any,
    thresholds: Any,
    top_k: int | None = None,
    class_id: int | None = None,
    sample_weight: Any = None,
) -> Any:
    """An op that adds a batch to the variables of cells, with an element for each threshold."""
    if variables_to_update is None:
        return None
    counts = {key.name.lower(): value for key, value in variables_to_update.items() if isinstance(key, ConfusionMatrix)}
    if not counts or len(counts) != len(variables_to_update):
        raise ValueError(f"Variables are given by cells, {list(ConfusionMatrix)}, not by {list(variables_to_update)}")
    y_pred, y_true = (
        flat[0] if isinstance(flat, (list, tuple)) else flat
        for flat in (ragged_assert_compatible_and_get_flat_values([x])[0] for x in (y_pred, y_true))
    )
    return confusion.update_confusion_matrix_variables(
        counts, y_true, y_pred, thresholds, top_k=top_k, class_id=class_id, sample_weight=sample_weight
    )


def ragged_assert_compatible_and_get_flat_values(values: Any, mask: Any = None) -> tuple[Any, Any]:
    """(values, mask) without rows, where the values are ragged and their rows are alike."""
    given = values if isinstance(values, list) else [values]
    ragged = [isinstance(value, RaggedTensor) for value in given]
    if any(ragged) and not all(ragged):
        raise TypeError("Some values are ragged and others are not.")
    if not any(ragged):
        return values, mask
    splits = given[0].nested_row_splits
    if any(len(value.nested_row_splits) != len(splits) for value in given):
        raise ValueError("Ragged values must have as many ragged dimensions as each other.")
    alike = [assert_equal(a, b) for value in given[1:] for a, b in zip(value.nested_row_splits, splits)]
    with control_dependencies([check for check in alike if check is not None]):
        flat = [array.expand_dims(value.flat_values, -1) for value in given]
    if isinstance(mask, RaggedTensor):
        mask = array.expand_dims(mask.flat_values, -1)
    return flat if isinstance(values, list) else flat[0], mask


def weakmethod(method: Callable) -> Callable:
    """A bound method that doesn't keep its object."""
    owner, function = weakref.ref(method.__self__), method.__func__

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(owner(), *args, **kwargs)

    return call


# --- data_utils ----------------------------------------------------------------------------------


def is_generator_or_sequence(x: Any) -> bool:
    """Whether it gives batches: a generator, a `Sequence`, or an iterator that is no tensor, array or string."""
    if isinstance(x, (Tensor, np.ndarray, str, list, tuple, dict, set)):
        return False
    return inspect.isgenerator(x) or isinstance(x, KerasSequence) or hasattr(x, "__next__")


def iter_sequence_infinite(seq: Any) -> Iterator:
    """The pieces of a Sequence, again and again."""
    while True:
        yield from (seq[i] for i in range(len(seq)))


def _hash_file(fpath: str, algorithm: str = "sha256", chunk_size: int = 65535) -> str:
    """The checksum of a file, in hexadecimal digits."""
    made = hashlib.sha256() if algorithm in ("sha256", "auto") else hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            made.update(chunk)
    return made.hexdigest()
