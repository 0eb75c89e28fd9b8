"""`tensorflow.python.distribute.numpy_dataset`: arrays as datasets, kept in variables of a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.data import Dataset
from everflow.framework import nest
from everflow.framework.scopes import colocate_with, device, executing_eagerly
from everflow.ops import array
from everflow.ops.variables.variable import Variable


class SingleDevice:
    """In `colocate_with`'s sense, a place for what is made: one device."""

    def __init__(self, device: str) -> None:
        self.device = device


def _place(colocate: Any) -> Any:
    return device(colocate.device) if isinstance(colocate, SingleDevice) else colocate_with(colocate)


def init_var_from_numpy(input_var: Any, numpy_input: Any, session: Any) -> None:
    """Write an array to a variable; a session is fed with it, so that it isn't part of the graph."""
    if executing_eagerly():
        input_var.assign(numpy_input)
        return
    assert session is not None
    fed = array.placeholder(input_var.dtype.base_dtype, numpy_input.shape)
    session.run(input_var.initializer)
    session.run(input_var.assign(fed), {fed: numpy_input})


def one_host_numpy_dataset(numpy_input: Any, colocate_with: Any, session: Any) -> Dataset:
    """A dataset of the rows of arrays, which are kept in variables on one device; a list of them counts as a tuple."""

    def kept(value: np.ndarray) -> Any:
        value = np.asarray(value)
        with _place(colocate_with):
            made = Variable(array.zeros(value.shape, value.dtype), trainable=False, use_resource=True)
        init_var_from_numpy(made, value, session)
        return made.read_value()

    numpy_input = tuple(numpy_input) if isinstance(numpy_input, list) else numpy_input
    return Dataset.from_tensor_slices(nest.map_structure(kept, numpy_input))
