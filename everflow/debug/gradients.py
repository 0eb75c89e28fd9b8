"""GradientsDebugger: marks tensors whose gradients are to be looked at, and finds those gradients."""

from __future__ import annotations

import re
import uuid

from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient
from everflow.framework.scopes import get_default_graph

_gradient_debuggers: dict = {}
_GRADIENT_DEBUG_TAG = "gradient_debug_"


def clear_gradient_debuggers():
    """Forget all debuggers of gradients."""
    _gradient_debuggers.clear()


def _tensor_to_grad_debug_op_name(tensor, grad_debugger_uuid):
    """What the node is called that marks a tensor for a debugger."""
    name, _, slot = tensor.name.rpartition(":")
    return f"{name}_{slot}/{_GRADIENT_DEBUG_TAG}{grad_debugger_uuid}"


def _parse_grad_debug_op_name(op_name):
    """(debugger, tensor) of a node that marks a tensor."""
    tensor, _, last = op_name.rpartition("/")
    if not last.startswith(_GRADIENT_DEBUG_TAG):
        raise AssertionError(f"{op_name!r} is not what a node is called that marks a tensor")
    name, _, slot = tensor.rpartition("_")
    return last.removeprefix(_GRADIENT_DEBUG_TAG).partition("_")[0], f"{name}:{int(slot)}"


class GradientsDebugger:
    """Keeps the gradients of a `y` with respect to the tensors that were marked.

    >>> debugger = tf_debug.GradientsDebugger()
    >>> y = tf.square(debugger.identify_gradient(x))
    >>> with debugger:
    ...     tf.gradients(y, w)
    >>> debugger.gradient_tensor(x)
    """

    def __init__(self, y_tensor=None):
        self._id = uuid.uuid4().hex
        _gradient_debuggers[self._id] = self
        self._gradients: dict = {}
        self._y_tensor = y_tensor
        self._graph = y_tensor.graph if y_tensor is not None else None
        self._active = False

    y_tensor = property(lambda self: self._y_tensor, doc="What is differentiated.")
    graph = property(lambda self: self._graph, doc="Its graph.")

    def __enter__(self):
        self._active = True
        return self

    def __exit__(self, *exc):
        self._active = False

    def identify_gradient(self, input_tensor):
        """The tensor itself; its gradient will be known to this debugger."""
        name = get_default_graph().unique_name(_tensor_to_grad_debug_op_name(input_tensor, self._id))
        op_type = raw.DebugGradientRefIdentity if input_tensor.dtype._is_ref_dtype else raw.DebugGradientIdentity
        marked = op_type(input=input_tensor, name=name)
        marked.op._gradient_debugger = (self._id, input_tensor.name)
        return marked

    def watch_gradients_by_tensors(self, graph, tensors):
        """Mark tensors of a graph that is drawn already: whatever uses them uses the marked ones from now on."""
        tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        return self.watch_gradients_by_tensor_names(graph, "|".join(re.escape(tensor.name) + "$" for tensor in tensors))

    def watch_gradients_by_tensor_names(self, graph, tensor_name_regex):
        """Mark the tensors of a graph whose names match a pattern."""
        pattern = re.compile(tensor_name_regex)
        with graph.as_default():
            for op in graph.get_operations():
                for tensor in op.outputs:
                    if not pattern.match(tensor.name):
                        continue
                    users = [
                        (user, i) for user in tensor.consumers() for i, used in enumerate(user.inputs) if used is tensor
                    ]
                    marked = self.identify_gradient(tensor)
                    for user, i in users:
                        user._update_input(i, marked)
        return self

    def register_gradient_tensor(self, x_tensor_name, gradient_tensor):
        """Called while gradients are drawn."""
        if self._active or x_tensor_name not in self._gradients:
            self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor):
        """The gradient for a marked tensor; None where y doesn't depend on it."""
        name = x_tensor if isinstance(x_tensor, str) else x_tensor.name
        if name not in self._gradients:
            raise LookupError(
                f"No gradient has reached {name!r} yet: identify it with identify_gradient() before tf.gradients() is called."
            )
        return self._gradients[name]

    def gradient_tensors(self):
        """All gradients by the names of their tensors."""
        return dict(self._gradients)


def gradient_values_from_dump(grad_debugger, x_tensor, dump):
    """The dumped values of the gradient of a marked tensor."""
    found = grad_debugger.gradient_tensor(x_tensor)
    name, _, slot = found.name.rpartition(":")
    return dump.get_tensors(name, int(slot), "DebugIdentity")


@gradient("DebugGradientIdentity", "DebugGradientRefIdentity")
def _marked(op, grad):
    found = getattr(op, "_gradient_debugger", None)
    if found is not None:
        _gradient_debuggers[found[0]].register_gradient_tensor(found[1], grad)
    return grad
