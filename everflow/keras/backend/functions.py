"""`K.function`: inputs, outputs and updates of a graph as one callable."""

from __future__ import annotations

import numpy as np

from everflow.framework import nest
from everflow.framework.composites import SparseTensorValue
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import control_dependencies, executing_eagerly
from everflow.keras.backend.state import get_graph, get_session
from everflow.keras.backend.values import flatten_to_tensors, is_sparse
from everflow.ops.array import identity
from everflow.ops.control_flow.grouping import group
from everflow.ops.functions.wrapped import pruned
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.ops.variables.variable import Variable

_SESSION_ARGUMENTS = ("feed_dict", "fetches", "options", "run_metadata")


class GraphExecutionFunction:
    """Runs `outputs` for values of `inputs`, then the updates, in Keras's session.

    `fetches` are run along with each call; `fetch_callbacks` are called with their values.
    """

    def __init__(self, inputs, outputs, updates=None, name=None, **session_kwargs):
        updates = updates or []
        if not isinstance(updates, (list, tuple)):
            raise TypeError(f"`updates` of K.function are a list or tuple of ops, not {updates!r}.")
        self._structure = outputs
        self.inputs = nest.flatten(inputs)
        self.outputs = flatten_to_tensors(outputs)
        # Updates come after the outputs were computed, which may read the same variables.
        with control_dependencies([self.outputs[0]] if self.outputs else None):
            self.updates_op = group(*[_as_update(update) for update in updates])
        self.name = name
        self.feed_dict = session_kwargs.pop("feed_dict", None) or {}
        self.fetches = [
            array if isinstance(array, Operation) else _identity(array)
            for array in session_kwargs.pop("fetches", None) or []
        ]
        self.run_options = session_kwargs.pop("options", None)
        self.run_metadata = session_kwargs.pop("run_metadata", None)
        self.fetch_callbacks = {}
        self.session_kwargs = session_kwargs
        if session_kwargs:
            raise ValueError(f"A function of a session has no arguments {list(session_kwargs)}.")
        self._prepared = None

    def __call__(self, inputs):
        # Of the graph that it was drawn in, which needn't be the default one now.
        session = get_session((self.updates_op,))
        feeds, values = [], []
        for tensor, value in zip(self.inputs, _flat_values(inputs)):
            if value is None:
                raise ValueError(f"A Keras function needs a value for each input; that of {tensor.name} is None.")
            if is_sparse(tensor):
                feeds += [tensor.indices, tensor.values, tensor.dense_shape]
                values += _value_to_feed(tensor, value)
                continue
            feeds.append(tensor)
            values.append(_value_to_feed(tensor, value))
        for tensor, value in self.feed_dict.items():
            feeds.append(tensor)
            values.append(np.asarray(value, dtype=tensor.dtype.base_dtype.name))
        symbolic = [i for i, value in enumerate(values) if isinstance(value, Tensor) and not hasattr(value, "numpy")]
        if symbolic:
            # Tensors of the graph, from an input pipeline for instance: all in one run, as they may come from one op.
            for i, value in zip(symbolic, session.run([values[i] for i in symbolic])):
                values[i] = value
        fetched = self._callable(session, feeds)(*values)
        for fetch, value in zip(self.fetches, fetched[len(self.outputs) :]):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        return nest.pack_sequence_as(self._structure, fetched[: len(self.outputs)])

    def _callable(self, session, feeds):
        """The function of the session for these feeds; made anew when anything of it changed."""
        key = (session, tuple(map(id, feeds)), tuple(map(id, self.fetches)), self.run_options, self.run_metadata)
        if self._prepared is None or self._prepared[0] != key:
            for output in self.outputs:
                if any(output is tensor for tensor in feeds):
                    raise InvalidArgumentError(None, None, f"{output.name} is both fed and fetched.")
            fetches = [*self.outputs, *self.fetches, self.updates_op]
            if self.run_options is not None or self.run_metadata is not None:
                call = session.make_callable(fetches, feed_list=feeds, accept_options=True)
                options, metadata = self.run_options, self.run_metadata
                self._prepared = key, lambda *values: call(*values, options=options, run_metadata=metadata)
            else:
                # A session that a debugger wraps only has the public one, which checks shapes.
                make = getattr(session, "_make_callable_for_any_shapes", session.make_callable)
                self._prepared = key, make(fetches, feeds)
        return self._prepared[1]


class EagerExecutionFunction:
    """Computes `outputs` for values of `inputs`, tensors of the graph that Keras draws when executing eagerly."""

    def __init__(self, inputs, outputs, updates=None, name=None):
        self.name = name
        self.inputs = nest.flatten(inputs)
        self.outputs = nest.flatten(outputs)
        self._structure = outputs
        graph = get_graph()
        with graph.as_default(), control_dependencies(self.outputs):
            drawn = [_as_update(update) for update in updates or ()]
        # What was updated at once, as all else is here, has been.
        drawn = [update for update in drawn if getattr(update, "graph", None) is graph]
        with graph.as_default(), control_dependencies(drawn):
            fetches = [_identity(output) for output in self.outputs]
        # What isn't among the inputs but has a value of its own, as the learning phase, keeps it.
        self._function = pruned(graph, self.inputs, fetches, name or "keras_function")

    def __call__(self, inputs):
        values = [
            convert_to_tensor(_value_to_feed(like, value)) for value, like in zip(nest.flatten(inputs), self.inputs)
        ]
        results = self._function(*values)
        return nest.pack_sequence_as(self._structure, [result.numpy() for result in results])


def _flat_values(inputs):
    """The values that are fed; a sparse one, though it is a tuple, is one."""
    if isinstance(inputs, SparseTensorValue):
        return [inputs]
    if isinstance(inputs, (list, tuple)):
        return [value for part in inputs for value in _flat_values(part)]
    return nest.flatten(inputs)


def _identity(tensor):
    return identity(tensor)


def _as_update(update):
    if isinstance(update, tuple):
        variable, new_value = update
        update = variable.assign(new_value)
    # The assignment itself; what an assign returns also reads the variable, which nobody needs here.
    return update.op if hasattr(update, "handle") and hasattr(update, "op") else update


def _value_to_feed(tensor, value):
    if isinstance(value, Variable):
        element = value._as_graph_element()
        return value.value() if element is None else element
    if isinstance(value, Tensor):
        return value
    if is_sparse(tensor):
        if hasattr(value, "tocoo"):
            matrix = value.tocoo()
            value = SparseTensorValue(np.stack([matrix.row, matrix.col], axis=1), matrix.data, matrix.shape)
        return value
    if isinstance(value, RaggedTensorValue):
        return value
    return dense(value, tensor.dtype.base_dtype.as_numpy_dtype)


def dense(value, dtype):
    """An array of a type, also of a sparse matrix of scipy."""
    return np.asarray(value.toarray() if hasattr(value, "tocoo") else value, dtype=dtype)


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A callable that takes a list of values for `inputs` and gives those of `outputs`, then runs `updates`.

    Args:
        inputs: The placeholders.
        outputs: The tensors to compute.
        updates: Operations to run as well: pairs (variable, new value) or operations.
        name: Its name.
        **kwargs: What `Session.run` takes.

    Returns:
        A callable; it returns a list of arrays.

    Raises:
        ValueError: If arguments are not known, or can't be used eagerly.

    Example:
        >>> K = tf.keras.backend
        >>> x = K.placeholder([None])
        >>> K.function([x], [x * 2])([np.array([1.0, 2.0])])
        [array([2., 4.], dtype=float32)]
    """
    for key in kwargs:
        if key not in _SESSION_ARGUMENTS:
            raise ValueError(
                f'Invalid argument "{key}": K.function takes {", ".join(_SESSION_ARGUMENTS)} besides its own.'
            )
    if executing_eagerly():
        if kwargs:
            raise ValueError(f"There is no session in eager execution that could take {kwargs}.")
        return EagerExecutionFunction(inputs, outputs, updates=updates, name=name)
    return GraphExecutionFunction(inputs, outputs, updates=updates, name=name, **kwargs)
