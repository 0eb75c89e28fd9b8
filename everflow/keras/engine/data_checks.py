"""What `fit` and its kin are given, brought into one form: lists of arrays in the order of the model's inputs and outputs, of fitting shapes."""

from __future__ import annotations

import numpy as np

from everflow.framework.composites import SparseTensorValue
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape


def is_symbolic(value):
    """Whether a value is a tensor of a graph rather than data."""
    return isinstance(value, Tensor) and not hasattr(value, "numpy")


def as_array(x):
    """One input or target as an array with at least two dimensions; tensors stay as they are."""
    if isinstance(x, Tensor) and hasattr(x, "numpy"):
        x = x.numpy()
    if x is None or isinstance(x, Tensor) or hasattr(x, "tocoo") or isinstance(x, SparseTensorValue):
        return x
    if hasattr(x, "iloc") or type(x).__module__.partition(".")[0] == "pandas":
        x = x.values
    if not hasattr(x, "shape"):
        x = np.asarray(x)
    return np.expand_dims(x, 1) if x.ndim == 1 else x


def _shape_of(x):
    return tuple(x.shape.as_list()) if isinstance(x.shape, TensorShape) else tuple(x.shape)


def standardize(data, names, shapes=None, check_batch_axis=True, exception_prefix=""):
    """`data` (an array, a list, or a dict by name) as a list of arrays in the order of `names`, checked against `shapes`."""
    if not names:
        if data is not None and (hasattr(data, "__len__") and len(data) or not hasattr(data, "__len__")):
            raise ValueError(f"Error when checking model {exception_prefix}: expected no data, but got:", data)
        return []
    if data is None:
        return [None] * len(names)
    if isinstance(data, dict):
        try:
            arrays = [as_array(data[name]) for name in names]
        except KeyError as e:
            raise ValueError(f'No data provided for "{e.args[0]}". Need data for each key in: {names}') from None
    elif isinstance(data, (list, tuple)):
        arrays = list(data)
        if len(names) == 1 and arrays and (isinstance(arrays[0], (float, int, list, tuple)) or np.ndim(arrays[0]) == 0):
            # A list of numbers or of rows is the array of the only input.
            arrays = [np.asarray(data)]
        arrays = [as_array(x) for x in arrays]
    else:
        arrays = [as_array(data)]
    if len(arrays) != len(names):
        if arrays and hasattr(arrays[0], "shape"):
            raise ValueError(
                f"Error when checking model {exception_prefix}: the list of Numpy arrays that you are passing to your model is not the size "
                f"the model expected. Expected to see {len(names)} array(s), but instead got the following list of {len(arrays)} arrays: {str(data)[:200]}..."
            )
        raise ValueError(
            f"Error when checking model {exception_prefix}: you are passing a list as input to your model, but the model expects a list of "
            f"{len(names)} Numpy arrays instead. The list you passed was: {str(data)[:200]}"
        )
    for name, array, shape in zip(names, arrays, shapes or [None] * len(names)):
        if shape is not None and array is not None:
            _check_shape(array, shape, name, check_batch_axis, exception_prefix)
    return arrays


def _check_shape(array, shape, name, check_batch_axis, prefix):
    if isinstance(array, Tensor) and array.shape.rank is None or isinstance(array, SparseTensorValue):
        return
    found = _shape_of(array)
    if len(found) != len(shape):
        raise ValueError(f"Error when checking {prefix}: expected {name} to have {len(shape)} dimensions, but got array with shape {found}")
    start = 0 if check_batch_axis else 1
    for size, wanted in zip(found[start:], shape[start:]):
        if wanted is not None and size is not None and size != wanted:
            raise ValueError(
                f"Error when checking {prefix}: expected {name} to have shape {tuple(shape[start:])} but got array with shape {found[start:]}"
            )


def _by_output(given, output_names, kind):
    """Weights given as one, a list or a dict, as a list for the outputs."""
    if given is None or (isinstance(given, (list, tuple)) and not len(given)):
        return [None] * len(output_names)
    if len(output_names) == 1:
        if isinstance(given, (list, tuple)) and len(given) == 1:
            return list(given)
        if isinstance(given, dict) and output_names[0] in given:
            return [given[output_names[0]]]
        return [given]
    if isinstance(given, (list, tuple)):
        if len(given) != len(output_names):
            raise ValueError(
                f"Provided `{kind}` was a list of {len(given)} elements, but the model has {len(output_names)} outputs. "
                f"You should provide one `{kind}` array per model output."
            )
        return list(given)
    if isinstance(given, dict):
        unknown = set(given) - set(output_names)
        if unknown:
            raise ValueError(f"Unknown entries in {kind} dictionary: {list(unknown)}. Only expected following keys: {output_names}")
        return [given.get(name) for name in output_names]
    raise TypeError(
        f"The model has multiple outputs, so `{kind}` should be either a list or a dict. Provided `{kind}` type not understood: {given}"
    )


def check_batch_size(model, batch_size):
    """ValueError where an input was made for batches of another size."""
    for tensor in model._feed_inputs if model.inputs else ():
        fixed = tensor.shape.as_list()[0] if tensor.shape.rank else None
        if batch_size is not None and fixed is not None and fixed != batch_size:
            raise ValueError(
                f"The `batch_size` argument value {batch_size} is incompatible with the specified batch size of your Input Layer: {fixed}"
            )


def class_weights_by_output(class_weight, output_names):
    """The weights of classes for each output."""
    if isinstance(class_weight, dict) and class_weight and all(isinstance(v, dict) for v in class_weight.values()):
        return [class_weight.get(name) for name in output_names]
    if isinstance(class_weight, (list, tuple)) or len(output_names) > 1 and class_weight is not None and not isinstance(class_weight, dict):
        return _by_output(class_weight, output_names, "class_weight")
    return [class_weight] * len(output_names) if len(output_names) == 1 else _by_output(class_weight, output_names, "class_weight")


def sample_weights_by_output(sample_weight, output_names):
    """The weights of samples for each output."""
    return _by_output(sample_weight, output_names, "sample_weight")


def standardize_weights(y, sample_weight=None, class_weight=None, mode=None):
    """The weight of each sample (or, with mode "temporal", of each time step), or None where all are alike."""
    if mode is not None and mode != "temporal":
        raise ValueError(f'"sample_weight_mode should be None or "temporal". Found: {mode}')
    if sample_weight is not None and not isinstance(sample_weight, Tensor):
        sample_weight = np.asarray(sample_weight)
    if mode == "temporal" and len(_shape_of(y)) < 3:
        raise ValueError(
            f"Found a sample_weight array for an input with shape {_shape_of(y)}. Timestep-wise sample weighting (use of "
            'sample_weight_mode="temporal") is restricted to outputs that are at least 3D, i.e. that have a time dimension.'
        )
    rank = None if sample_weight is None else len(_shape_of(sample_weight))
    if mode is None and rank is not None and rank != 1:
        raise ValueError(
            f"Found a sample_weight array with shape {_shape_of(sample_weight)}. In order to use timestep-wise sample weights, you should "
            'specify sample_weight_mode="temporal" in compile(). If you just mean to use sample-wise weights, make sure your sample_weight array is 1D.'
        )
    if sample_weight is not None and not is_symbolic(sample_weight) and y is not None:
        if len(sample_weight.shape) > len(_shape_of(y)):
            raise ValueError(
                f"Found a sample_weight with shape {sample_weight.shape}.Expected sample_weight with rank less than or equal to {len(_shape_of(y))}"
            )
        if tuple(_shape_of(y)[: sample_weight.ndim]) != sample_weight.shape:
            raise ValueError(
                f"Found a sample_weight array with shape {sample_weight.shape} for an input with shape {_shape_of(y)}. sample_weight cannot be broadcast."
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
        raise ValueError(
            f"`class_weight` must contain all classes in the data. The classes {missing} exist in the data but not in `class_weight`."
        )
    return np.asarray([class_weight[c] for c in classes])


def check_lengths(inputs, targets, weights=None):
    """All arrays must have as many samples as each other."""

    def lengths(arrays):
        return {_shape_of(a)[0] for a in arrays or () if a is not None and not is_symbolic(a) and not isinstance(a, SparseTensorValue)}

    xs, ys, ws = lengths(inputs), lengths(targets), lengths(weights)
    if len(xs) > 1:
        raise ValueError(f"All input arrays (x) should have the same number of samples. Got array shapes: {[_shape_of(x) for x in inputs]}")
    if len(ys) > 1:
        raise ValueError(
            f"All target arrays (y) should have the same number of samples. Got array shapes: {[_shape_of(y) for y in targets]}"
        )
    if xs and ys and xs != ys:
        raise ValueError(
            f"Input arrays should have the same number of samples as target arrays. Found {xs.pop()} input samples and {ys.pop()} target samples."
        )
    if ws and len(ws) > 1:
        raise ValueError(
            f"All sample_weight arrays should have the same number of samples. Got array shapes: {[_shape_of(w) for w in weights]}"
        )
    if ys and ws and ys != ws:
        raise ValueError(
            f"Sample_weight arrays should have the same number of samples as target arrays. Got {ws.pop()} input samples and {ys.pop()} target samples."
        )


def check_targets(targets, endpoints):
    """Targets must fit the outputs and losses they are for."""
    from everflow.keras import losses

    same_shape = ("mean_squared_error", "binary_crossentropy", "categorical_crossentropy")
    for y, endpoint in zip(targets, endpoints):
        if y is None or endpoint.loss is None or isinstance(y, Tensor):
            continue
        shape = endpoint.shape
        if losses.is_categorical_crossentropy(endpoint.loss) and y.shape[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {y.shape} while using as loss `categorical_crossentropy`. `categorical_crossentropy` "
                "expects targets to be binary matrices (1s and 0s) of shape (samples, classes). If your targets are integer classes, you can "
                "convert them with `tf.keras.utils.to_categorical(y_int)`, or use the loss `sparse_categorical_crossentropy`."
            )
        name = endpoint.loss_function_name
        if name not in same_shape or shape is None:
            continue
        for size, wanted in zip(y.shape[1:], shape[1:]):
            if wanted is not None and size != wanted:
                raise ValueError(
                    f"A target array with shape {y.shape} was passed for an output of shape {shape} while using as loss `{name}`. "
                    "This loss expects targets to have the same shape as the output."
                )


def slice_arrays(arrays, start=None, stop=None):
    """Part of each array: from start to stop, or the rows of an array of indices."""
    if hasattr(start, "__len__"):
        return [None if a is None else _rows(a, start) for a in arrays]
    return [None if a is None else a[start:stop] for a in arrays]


def _rows(array, indices):
    # Other things than arrays, such as a matrix in an HDF5 file, take lists only.
    return array.take(indices, axis=0) if isinstance(array, np.ndarray) else array[list(map(int, indices))]
