"""What was fed to a run: keys resolved to tensors, values checked and turned into what kernels take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.composites import CompositeTensor
from everflow.framework.operation import Tensor
from everflow.runtime import fetches

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.hints import FeedDict, Structure
    from everflow.runtime.hints import Value

# Python's own kinds of values: numpy makes a new array from them, which torch may take over as it is.
_PLAIN = frozenset([float, int, bool, list, tuple])


def resolve_key(graph: Graph, key: Any) -> Tensor:
    """The tensor that a key of feed_dict stands for."""
    try:
        tensor = graph.as_graph_element(key, allow_tensor=True, allow_operation=False)
    except Exception as e:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e.args[0] if e.args else e}") from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor.name} may not be fed.")
    return tensor


def flatten(graph: Graph, feed_dict: FeedDict) -> dict[Tensor, object]:
    """Tensor → value for everything a feed_dict holds: tuple keys, composites and registered classes taken apart."""
    if not isinstance(feed_dict, dict) and not hasattr(feed_dict, "items"):
        raise TypeError("input must be a dictionary")
    found: dict[Tensor, object] = {}
    for key, value in feed_dict.items():
        for part, part_value in _pairs(key, value):
            for single, single_value in _parts(part, part_value):
                found[resolve_key(graph, single)] = single_value
    return found


def _pairs(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Nested keys with equally nested values, one by one."""
    if not isinstance(key, tuple) or fetches.composite_parts(key) is not None:
        yield key, value
        return
    keys, values = _flat(key), _flat(value)
    if len(keys) != len(values):
        raise ValueError(
            f"Could not flatten dictionary: a key of {len(keys)} parts has a value of {len(values)}. Key: {keys}, value: {values}."
        )
    yield from zip(keys, values, strict=True)


def _flat(structure: Structure) -> list[Any]:
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in _flat(part)]
    return [structure]


def _parts(key: Any, value: Any) -> list[tuple[Any, Any]]:
    """A composite key's tensors with the parts of its value."""
    tensors = fetches.composite_parts(key)
    if tensors is not None:
        # Parts that the value lacks are computed instead of fed, as in TensorFlow.
        values = key._fed(value) if isinstance(key, CompositeTensor) else _value_parts(value)
        return list(zip(tensors, values, strict=False))
    entry = fetches.conversion_of(key)
    if entry is not None and entry.feed is not None:
        return entry.feed(key, value)
    return [(key, value)]


def _value_parts(value: Any) -> list[Any]:
    if isinstance(value, fetches.IndexedSlicesValue):
        return [value.values, value.indices] + ([] if value.dense_shape is None else [value.dense_shape])
    return list(value)


def check_list(graph: Graph, feeds: Iterable[Any]) -> list[Tensor]:
    """The tensors of a list of feeds, for `make_callable` and `partial_run_setup`."""
    result = []
    for feed in feeds:
        parts = fetches.composite_parts(feed)
        entry = fetches.conversion_of(feed) if parts is None else None
        if entry is not None and entry.feed_keys is not None:
            parts = entry.feed_keys(feed)
        for part in parts if parts is not None else [feed]:
            result.append(resolve_key(graph, part))
    return result


# Bytes from which on a read-only array, as a file in memory is, is fed without a copy.
_LARGE = 1 << 16


class Feeder:
    """Converts the values for one tensor: `array(value)` for numpy, `feed(value)` for the kernel's form. With
    `any_shape`, values of other shapes than the tensor's are taken.
    """

    def __init__(self, tensor: Tensor, any_shape: bool = False) -> None:
        self.tensor = tensor
        self.array, self.feed = _converters(tensor, any_shape)


def array_converter(tensor: Tensor, any_shape: bool = False) -> Callable:
    """A function from what a caller may feed for a tensor to a numpy array, checked."""
    dtype = tensor.dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return _keep
    numpy_type = dtype.as_numpy_dtype
    is_integer = dtype.is_integer
    is_compatible = _any if any_shape else _shape_test(tensor)
    asarray = np.asarray

    def array(value: Any) -> np.ndarray:
        if isinstance(value, Tensor):
            raise TypeError(
                f"{value} is fed for {tensor}, but a tensor has no value to feed: "
                "run it first, or give a number, text, a list, a numpy array or a TensorHandle."
            )
        if hasattr(value, "get_raw_handle"):  # a tensor that the session keeps
            value = value.eval()
        if isinstance(value, int):
            if is_integer:
                _check_int(value, numpy_type)
            elif dtype is dtypes.string:
                raise TypeError(f"Cannot feed the number {value} for the string Tensor {tensor.name!r}")
        try:
            result = asarray(value, numpy_type)
        except OverflowError:  # numpy 1 wrapped silently
            result = asarray(value).astype(numpy_type)
        except (TypeError, ValueError) as e:
            kind = ValueError if isinstance(e, ValueError) else TypeError
            raise kind(
                f"Cannot feed a value of {type(value)} for Tensor {tensor.name!r}, which has type {dtype.name!r}: {e}"
            ) from None
        if not is_compatible(result.shape):
            has = f"for Tensor {tensor.name!r}, which has shape {str(tensor.shape)!r}"
            raise ValueError(f"Cannot feed value of shape {result.shape!r} {has}")
        return result

    return array


def _converters(tensor: Tensor, any_shape: bool) -> tuple[Callable, Callable]:
    from everflow.kernels import tensors as kernel_tensors  # builds on this module

    dtype, array, asarray = tensor.dtype.base_dtype, array_converter(tensor, any_shape), np.asarray
    if dtype in (dtypes.resource, dtypes.variant):
        return _keep, _keep
    numpy_type = dtype.as_numpy_dtype
    if dtype is dtypes.string:
        return array, lambda value: text_values(array(value))
    import torch

    from_numpy = torch.from_numpy
    general = kernel_tensors.from_numpy
    if dtype is dtypes.bfloat16 or dtype.is_quantized:
        return array, lambda value: general(array(value))

    takes_scalars = _shape_test(tensor)(()) and dtype.is_floating

    def feed(value: Any) -> Value:
        if value.__class__ is float and takes_scalars:
            return from_numpy(asarray(value, numpy_type))
        made = array(value)
        kind = value.__class__
        # What numpy made anew is ours to use; the caller's own array may be read-only or run backwards.
        if kind in _PLAIN or (kind is np.ndarray and made is not value):
            return from_numpy(made)
        if made.nbytes >= _LARGE and not made.flags.writeable and made.flags.c_contiguous and made.dtype.isnative:
            return from_numpy(asarray(_Readable(made)))
        return general(made)

    return array, feed


class _Readable:
    """The memory of an array that must not be written, for torch, which has no such tensors: no kernel writes into what
    is fed.
    """

    def __init__(self, array: np.ndarray) -> None:
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}
        self._array = array


def _keep(value: Value) -> Value:
    return value


def _any(shape: tuple) -> bool:
    return True


def _check_int(value: int, numpy_type: type[np.generic]) -> None:
    try:
        fits = int(numpy_type(value)) == value
    except OverflowError:
        fits = False
    if not fits:
        raise TypeError(
            f"The number {value} (a {type(value)}) is fed to a tensor of {numpy_type}, which can't hold it. "
            "Make the tensor of a larger type, such as int64."
        )


def shapes_fit(tensors: Iterable[Tensor]) -> Callable[[Sequence[Any]], bool]:
    """A function that tells whether values, one for each tensor, have the shapes that these were declared with."""
    tests = [_shape_test(tensor) for tensor in tensors]
    return lambda values: all(fits(np.shape(value)) for fits, value in zip(tests, values, strict=True))


def _shape_test(tensor: Tensor) -> Callable[[tuple], bool]:
    """Whether an array's shape fits the tensor's static one, as quick as can be."""
    sizes = tensor.shape.as_list() if tensor.shape.ndims is not None else None
    if sizes is None:
        return lambda shape: True
    rank = len(sizes)
    known = [(i, size) for i, size in enumerate(sizes) if size is not None]
    if len(known) == rank:
        exact = tuple(sizes)
        return lambda shape: shape == exact
    if not known:
        return lambda shape: len(shape) == rank
    return lambda shape: len(shape) == rank and all(shape[i] == size for i, size in known)


def text_values(array: np.ndarray) -> np.ndarray:
    """An object array with text as UTF-8 bytes."""
    items = array.ravel().tolist()
    result = np.empty(array.shape, object)
    if set(map(type, items)) <= {bytes}:  # the usual case, and much quicker
        result[...] = array
        return result
    flat = result.reshape(-1)
    for i, item in enumerate(items):
        if isinstance(item, str):
            flat[i] = item.encode("utf-8")
        elif isinstance(item, bytes):
            flat[i] = bytes(item)
        else:
            raise errors.InternalError(None, None, f"Unsupported object type {type(item).__name__}")
    return result
