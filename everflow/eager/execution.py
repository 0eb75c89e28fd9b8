"""The engine of eager execution: finds an operation's kernel, calls it, and says what went wrong in TensorFlow's terms."""

from __future__ import annotations

import weakref

from everflow.framework import errors
from everflow.framework.shapes import TensorShape
from everflow.kernels.state import Buffer
from everflow.runtime.executor import LocalExecutor
from everflow.runtime.plan import binding, failures
from everflow.runtime.plan.program import Node, kernel_attribute
from everflow.runtime.state import RandomStreams, ResourceStore, Step

# They leave the variable whose handle they take as it is.
_READERS = frozenset("ReadVariableOp ResourceGather ResourceGatherNd VariableShape VarIsInitializedOp".split())
# Each of these has a name of its own, so keeping their bindings would only fill memory.
_NAMED = frozenset(["VarHandleOp"])
_UNKNOWN = TensorShape(None)


class _Functions:
    """Stands for the graph whose functions a session's state looks up."""

    def __init__(self):
        self._functions: dict = {}
        self.version = 0


class Engine:
    """Kernels bound to attributes, by op type, attributes and types of inputs; and the state they work on.

    A random operation's stream belongs to its binding, so calls with the same attributes go on with one stream, as in TensorFlow.
    """

    def __init__(self):
        self._owner = _Functions()
        self._executor = LocalExecutor(self._owner)
        self._state = self._executor.state
        # What no handle refers to any more is gone: there is no session whose end would take it.
        self._state.resources = ResourceStore(weakref.WeakValueDictionary)
        self._bindings: dict = {}

    @property
    def functions(self) -> dict:
        """Name → function; graphs of all threads share it."""
        return self._owner._functions

    def forget(self, name: str) -> None:
        """A function is defined anew: what was compiled for that name goes."""
        self._executor._functions.pop(name, None)

    def restart_random_streams(self) -> None:
        """Let random operations begin again, as setting the seed does."""
        self._bindings.clear()
        self._state.random = RandomStreams()

    def run(self, definition, attrs: dict, inputs, output_dtypes) -> list:
        """The values of an operation's outputs."""
        if definition.name in binding.RENAMES:
            return [inputs[0]._value]
        if definition.name in binding.NOTHING:
            return []
        if definition.name in binding.PLACEHOLDERS:
            raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
        node, bound = self._binding(definition, attrs, inputs, output_dtypes)
        values = [t._value for t in inputs]
        if definition.name not in _READERS:
            for value in values:
                if isinstance(value, Buffer):
                    value.unshare()
        keywords = {**bound.keywords, "step": Step(self._state)} if bound.takes_step else bound.keywords
        try:
            return binding.flat_results(node, bound.function(*binding.call_arguments(node, values), **keywords))
        except Exception as error:
            raise _translated(error, definition.name, values) from None

    def _binding(self, definition, attrs, inputs, output_dtypes):
        if definition.name in _NAMED:
            return self._bind(definition, attrs, inputs, output_dtypes)
        key = (definition.name, *(t._dtype for t in inputs), *(_frozen(v) for v in attrs.values()))
        try:
            found = self._bindings.get(key)
        except TypeError:  # an attribute without a hash: functions and tensors
            return self._bind(definition, attrs, inputs, output_dtypes)
        if found is None:
            found = self._bindings[key] = self._bind(definition, attrs, inputs, output_dtypes)
        return found

    def _bind(self, definition, attrs, inputs, output_dtypes):
        node = Node(len(self._bindings), None, f"{definition.name}_{len(self._bindings)}", definition.name)
        node.definition = definition
        node.set_attributes({name: kernel_attribute(value) for name, value in attrs.items()})
        node.output_dtypes = list(output_dtypes)
        node.output_shapes = [_UNKNOWN] * len(output_dtypes)
        for tensor in inputs:
            source = Node(0, None, "", "_Eager")
            source.output_dtypes, source.output_shapes = [tensor._dtype], [_UNKNOWN]
            node.inputs.append((source, 0))
        bound = binding.bind(node, self._state)
        if bound is None:
            raise binding.missing_kernel(node)
        return node, bound


def _frozen(value):
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _translated(error: Exception, op_type: str, values) -> Exception:
    """The error to raise for one that a kernel raised. There is no node to name, only the op type."""
    kind, message = failures.kind_and_message(error, values)
    if isinstance(error, errors.OpError) and error.op is not None:
        return error
    return kind(None, None, f"{message} [Op:{op_type}]")
