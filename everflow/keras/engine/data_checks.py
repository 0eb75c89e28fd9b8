"""What `fit` and its kin are given, as lists of arrays in the order of the model's inputs and outputs."""

from __future__ import annotations

import itertools

import numpy as np

from everflow.framework import nest
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras import losses
from everflow.keras.engine.batch_values import is_composite, row_count, rows, value_of
from everflow.keras.engine.per_output import from_dict, from_list
from everflow.ops.array import expand_dims
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.variables.variable import Variable


def is_symbolic(value):
    """Whether a value is a tensor of a graph rather than data."""
    return isinstance(value, Tensor) and not hasattr(value, "numpy")


def read_variables(data):
    """Data with tensors for variables in it."""
    if isinstance(data, Variable):
        return convert_to_tensor(data)
    if isinstance(data, (list, tuple)) and any(isinstance(x, Variable) for x in data):
        return type(data)(map(read_variables, data))
    if isinstance(data, dict) and any(isinstance(x, Variable) for x in data.values()):
        return {name: read_variables(x) for name, x in data.items()}
    return data


def run_tensors(structure):
    """A structure with its tensors replaced by their values, all of one run."""
    flat = nest.flatten(structure)
    tensors = [value for value in flat if is_symbolic(value)]
    values = iter(K.get_session(tensors).run(tensors))
    return nest.pack_sequence_as(structure, [next(values) if is_symbolic(value) else value for value in flat])


def as_array(x, rank=None):
    """One input or target as an array with at least two dimensions, if it isn't to have one; a graph's tensor stays one."""
    if isinstance(x, Tensor):
        if not hasattr(x, "numpy"):
            return expand_dims(x, 1) if x.shape.rank == 1 and rank != 1 else x
        x = x.numpy()
    if isinstance(x, (SparseTensor, RaggedTensor)):
        return value_of(x) if hasattr(nest.flatten(x, expand_composites=True)[0], "numpy") else x
    if x is None or hasattr(x, "tocoo") or is_composite(x):
        return x
    if hasattr(x, "iloc") or type(x).__module__.partition(".")[0] == "pandas":
        x = x.values
    if not hasattr(x, "shape"):
        x = np.asarray(x)
    return np.expand_dims(x, 1) if x.ndim == 1 and rank != 1 else x


def _shape_of(x):
    return tuple(x.shape.as_list()) if isinstance(x.shape, TensorShape) else tuple(x.shape)


def standardize(data, names, shapes=None, check_batch_axis=True, exception_prefix=""):
    """`data` (an array, a list, or a dict by name) as arrays in the order of `names`, checked against `shapes`."""
    if not names:
        if data is not None and (hasattr(data, "__len__") and len(data) or not hasattr(data, "__len__")):
            raise ValueError(f"Error when checking model {exception_prefix}: expected no data, but got:", data)
        return []
    if data is None:
        return [None] * len(names)
    ranks = [None if shape is None else len(shape) for shape in shapes or [None] * len(names)]
    if isinstance(data, dict):
        try:
            arrays = [as_array(data[name], rank) for name, rank in zip(names, ranks)]
        except KeyError as e:
            raise ValueError(f'No data provided for "{e.args[0]}". Need data for each key in: {names}') from None
    elif isinstance(data, (list, tuple)) and not is_composite(data):
        arrays = list(data)
        if (
            len(names) == 1
            and arrays
            and arrays[0] is not None
            and (
                isinstance(arrays[0], (float, int, list, tuple))
                or not isinstance(arrays[0], Tensor)
                and np.ndim(arrays[0]) == 0
            )
        ):
            # A list of numbers or of rows is the array of the only input.
            arrays = [np.asarray(data)]
        if exception_prefix == "input":
            arrays = arrays[: len(names)]  # What the model has no input for is left out, as in TensorFlow.
        arrays = [as_array(x, rank) for x, rank in itertools.zip_longest(arrays, ranks)][: len(arrays)]
    else:
        arrays = [as_array(data, ranks[0])]
    if len(arrays) != len(names):
        raise ValueError(
            f"Error when checking model {exception_prefix}: the model takes {len(names)} array(s), for {names}, and was given a list of "
            f"{len(arrays)}: {str(data)[:200]}"
        )
    for name, array, shape in zip(names, arrays, shapes or [None] * len(names)):
        if shape is not None and array is not None:
            _check_shape(array, shape, name, check_batch_axis, exception_prefix)
    return arrays


def _check_shape(array, shape, name, check_batch_axis, prefix):
    if isinstance(array, Tensor) and array.shape.rank is None or is_composite(array):
        return
    found = _shape_of(array)
    if len(found) != len(shape):
        raise ValueError(
            f"Error when checking {prefix}: expected {name} to have {len(shape)} dimensions, but got array with shape {found}"
        )
    start = 0 if check_batch_axis else 1
    for size, wanted in zip(found[start:], shape[start:]):
        if wanted is not None and size is not None and size != wanted:
            raise ValueError(
                f"Error when checking {prefix}: expected {name} to have shape {tuple(shape[start:])} but got array with shape {found[start:]}"
            )


def _by_output(x_weight, output_names, weight_type):
    """Weights given as one, a list or a dict, as a list for the outputs."""
    if not output_names:
        return []  # No target is fed, so there is nothing to weigh.
    if x_weight is None or (isinstance(x_weight, (list, tuple)) and not len(x_weight)):
        return [None] * len(output_names)
    if len(output_names) == 1:
        if isinstance(x_weight, (list, tuple)) and len(x_weight) == 1:
            return list(x_weight)
        if isinstance(x_weight, dict) and output_names[0] in x_weight:
            return [x_weight[output_names[0]]]
        return [x_weight]
    if isinstance(x_weight, (list, tuple)):
        return from_list(x_weight, output_names, weight_type)
    if isinstance(x_weight, dict):
        return from_dict(x_weight, output_names, weight_type)
    raise TypeError(
        f"`{weight_type}` of a model with several outputs, {output_names}, is a list or a dict, not {x_weight!r}."
    )


def fixed_batch_size(model):
    """The size of batches that the model's first input was made for, or None."""
    first = next(iter(model._feed_inputs), None) if model.inputs else None
    return first.shape.as_list()[0] if first is not None and first.shape.rank else None


def check_batch_size(model, batch_size):
    """ValueError where an input was made for batches of another size; samples can't be divided into batches of none."""
    if batch_size == 0:
        raise ZeroDivisionError("Samples can't be divided into batches of 0.")
    for tensor in model._feed_inputs if model.inputs else ():
        fixed = tensor.shape.as_list()[0] if tensor.shape.rank else None
        if batch_size is not None and fixed is not None and fixed != batch_size:
            raise ValueError(
                f"`batch_size` is {batch_size}, but the model's input {tensor.name} was made for batches of {fixed}."
            )


def class_weights_by_output(class_weight, output_names):
    """The weights of classes for each output."""
    return _by_output(class_weight, output_names, "class_weight")


def sample_weights_by_output(sample_weight, output_names):
    """The weights of samples for each output."""
    return _by_output(sample_weight, output_names, "sample_weight")


def standardize_weights(y, sample_weight=None, class_weight=None, mode=None):
    """The weight of each sample (or, with mode "temporal", of each time step), or None where all are alike."""
    mode = None if mode == "samplewise" else mode
    if mode is not None and mode != "temporal":
        raise ValueError(f'`sample_weight_mode` is None or "temporal", not {mode!r}.')
    if sample_weight is not None and not is_symbolic(sample_weight):
        sample_weight = np.asarray(sample_weight)
    if mode == "temporal" and len(_shape_of(y)) < 3:
        raise ValueError(
            f'sample_weight_mode="temporal" is for outputs with a time dimension, at least 3D; the target has shape {_shape_of(y)}.'
        )
    rank = None if sample_weight is None else len(_shape_of(sample_weight))
    if mode is None and rank is not None and rank != 1:
        raise ValueError(
            f"`sample_weight` has shape {_shape_of(sample_weight)}, and one weight for each sample is a 1D array. For a weight for each "
            'time step, compile with sample_weight_mode="temporal".'
        )
    if mode == "temporal" and rank is not None and rank != 2:
        raise ValueError(
            f'With sample_weight_mode="temporal" there is a weight for each time step of each sample, a 2D array; `sample_weight` has '
            f"shape {_shape_of(sample_weight)}."
        )
    if sample_weight is not None and not is_symbolic(sample_weight) and y is not None:
        if tuple(_shape_of(y)[: sample_weight.ndim]) != sample_weight.shape:
            raise ValueError(
                f"`sample_weight` of shape {sample_weight.shape} cannot be broadcast to targets of shape {_shape_of(y)}."
            )
    if not isinstance(class_weight, dict):
        return sample_weight
    class_sample_weight = _weights_of_classes(y, class_weight)
    return class_sample_weight if sample_weight is None else class_sample_weight * sample_weight


def _weights_of_classes(y, class_weight):
    if len(_shape_of(y)) > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    classes = np.argmax(y, axis=1) if len(y.shape) == 2 and y.shape[1] > 1 else np.reshape(y, y.shape[0])
    missing = set(np.unique(classes).tolist()) - set(class_weight)
    if missing:
        raise ValueError(f"`class_weight` must contain all classes that the targets have; it lacks {missing}.")
    return np.asarray([class_weight[c] for c in classes])


def check_lengths(inputs, targets, weights=None):
    """All arrays must have as many samples as each other."""

    def lengths(arrays):
        return {_shape_of(a)[0] for a in arrays or () if a is not None and not is_symbolic(a) and not is_composite(a)}

    found = {"inputs": lengths(inputs), "targets": lengths(targets), "sample weights": lengths(weights)}
    if len(set().union(*found.values())) > 1:
        counts = ", ".join(f"{kind} {sorted(numbers)}" for kind, numbers in found.items() if numbers)
        raise ValueError(f"Arrays for one call must have the same number of samples. Found: {counts}.")


def check_targets(targets, endpoints):
    """Targets must fit the outputs and losses they are for."""
    same_shape = ("mean_squared_error", "binary_crossentropy", "categorical_crossentropy")
    for y, endpoint in zip(targets, endpoints):
        if y is None or endpoint.loss is None or isinstance(y, Tensor):
            continue
        shape = endpoint.shape
        if losses.is_categorical_crossentropy(endpoint.loss) and y.shape[-1] == 1:
            raise ValueError(
                "`categorical_crossentropy` takes a row of ones and zeros for each sample, (samples, classes), not targets "
                f"of shape {y.shape}. For numbers of classes there is `sparse_categorical_crossentropy`; "
                "`tf.keras.utils.to_categorical(y)` makes rows of them."
            )
        name = endpoint.loss_function_name
        if name not in same_shape or shape is None:
            continue
        for size, wanted in zip(y.shape[1:], shape[1:]):
            if wanted is not None and size != wanted:
                raise ValueError(
                    f"`{name}` needs targets of the same shape as the output: they have {y.shape}, and output {endpoint.name} has {shape}."
                )


def targets_given_before(y, endpoints):
    """The targets of a call, or those that `compile` was given."""
    before = [endpoint.given_target for endpoint in endpoints]
    if all(tensor is None for tensor in before):
        return y
    if y is not None:
        raise ValueError("`y` can't be given where `compile` was given `target_tensors`.")
    return before


def slice_arrays(arrays, start=None, stop=None):
    """Part of each array: from start to stop, or the rows of an array of indices."""
    if hasattr(start, "__len__"):
        return [None if a is None else _rows(a, start) for a in arrays]
    return [
        None if a is None else rows(a, range(row_count(a))[start:stop]) if is_composite(a) else a[start:stop]
        for a in arrays
    ]


def _rows(array, indices):
    if is_composite(array):
        return rows(array, indices)
    # Other things than arrays, such as a matrix in an HDF5 file, take lists only.
    return array.take(indices, axis=0) if isinstance(array, np.ndarray) else array[list(map(int, indices))]
