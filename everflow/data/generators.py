"""`Dataset.from_generator`: elements that a Python iterator yields, through `py_func`."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from everflow.data import structure
from everflow.data.dataset import Dataset, DatasetV1Adapter
from everflow.data.functions import StructuredFunction
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.forking import renewed
from everflow.framework.nest import parts_of
from everflow.framework.tensor_values import as_bytes_array
from everflow.framework.type_specs import TensorSpec
from everflow.ops.functions.python import numpy_function


class _Running:
    """The Python iterators that are under way, by number."""

    def __init__(self, generator):
        self._generator = generator
        self._lock = renewed(threading.RLock())  # the collector may finish one while another begins
        self._arguments: dict[int, tuple] = {}
        self._iterators: dict[int, object] = {}
        self._next = 0

    def begin(self, *arguments):
        with self._lock:
            number = self._next
            self._next += 1
            self._arguments[number] = arguments
        return np.array(number, np.int64)

    def iterator(self, number):
        number = int(number)
        with self._lock:
            if number not in self._iterators:
                self._iterators[number] = iter(self._generator(*self._arguments.pop(number)))
            return self._iterators[number]

    def finish(self, number):
        with self._lock:
            self._iterators.pop(int(number), None)
        return np.array(0, np.int64)


def from_generator(generator, output_types, output_shapes, args):
    """See `Dataset.from_generator`."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    spec = structure.from_legacy(output_types, output_shapes)
    arguments = tuple(convert_to_tensor(a, name=f"args_{i}") for i, a in enumerate(args or ()))
    types, shapes = structure.flat_types(spec), structure.flat_shapes(spec)
    running = _Running(generator)

    def get_iterator_id_fn(unused):
        return numpy_function(running.begin, list(arguments), dtypes.int64)

    def values_of(number):
        element = next(running.iterator(number))
        try:
            leaves = _leaves(spec, element)
        except (TypeError, ValueError) as e:
            raise TypeError(f"`generator` yielded {element}. The expected structure was {output_types}.") from e
        return [_converted(leaf, t, s) for leaf, t, s in zip(leaves, types, shapes)]

    def generator_next_fn(number):
        tensors = numpy_function(values_of, [number], types)
        for tensor, shape in zip(tensors, shapes):
            tensor.set_shape(shape)
        return structure.pack_as(spec, tensors)

    def finalize_fn(number):
        return numpy_function(running.finish, [number], dtypes.int64)

    def flat_map_fn(dummy):
        number = TensorSpec([], dtypes.int64)
        begin = StructuredFunction(get_iterator_id_fn, "Dataset.from_generator()", structure.spec_of(dummy))
        follow = StructuredFunction(generator_next_fn, "Dataset.from_generator()", number)
        finish = StructuredFunction(finalize_fn, "Dataset.from_generator()", number)
        functions = {"init_func": begin, "next_func": follow, "finalize_func": finish}
        captured = {f"{name}_other_args": list(function.captured_inputs) for name, function in functions.items()}
        captured["init_func_other_args"] = [dummy, *begin.captured_inputs]
        attributes = {name: function.attr for name, function in functions.items()}
        variant = raw.GeneratorDataset(**captured, **attributes, **structure.attributes(spec))
        return DatasetV1Adapter._make(variant, spec)

    return Dataset.from_tensors(0).flat_map(flat_map_fn)


def _leaves(spec, element) -> list:
    """The leaves of a yielded element; a list is no tuple, and below a leaf anything is one value."""
    if not structure.is_nested(spec):
        return [element]
    if not isinstance(spec, Mapping):
        kind = tuple if isinstance(spec, tuple) else type(spec)
        below = parts_of(spec)
        if not isinstance(element, kind) or len(parts_of(element)) != len(below):
            raise TypeError(f"expected {len(below)} parts")
        return [leaf for s, e in zip(below, parts_of(element)) for leaf in _leaves(s, e)]
    if set(element) != set(spec):
        raise ValueError("other keys")
    return [leaf for key in sorted(spec) for leaf in _leaves(spec[key], element[key])]


def _wrapped(value, kind):
    """An array of a type; numbers that are too large for it lose their upper bits."""
    try:
        return np.asarray(value, dtype=kind)
    except OverflowError:
        return np.asarray(value).astype(kind)


def _converted(value, dtype, shape):
    try:
        if dtype is dtypes.string:
            array = as_bytes_array(np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value))
        else:
            array = _wrapped(value, dtype.as_numpy_dtype)
    except (TypeError, ValueError, UnicodeError) as e:
        raise TypeError(
            f"`generator` yielded {value}, which could not be converted to {dtype.name}, its type in output_types"
        ) from e
    if not shape.is_compatible_with(array.shape):
        raise ValueError(f"`generator` yielded shape {array.shape}, and an element of shape {shape} was expected.")
    return array
